//! Operations that overlapped in the recording: a thread for each recorded one. An operation begins
//! when all those are done that had ended before it began in the recording.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, PoisonError};

use super::{FilePlayer, OperationTimes, WorkError};
use crate::trace::files::FileOperation;

/// Most threads; further recorded threads share one of these.
const MAX_THREADS: u32 = 256;

/// Progress of all threads.
struct Progress {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    /// Operations done, by thread.
    done: Vec<usize>,
    failed: bool,
}

/// Does a group of operations; returns their times, in the same order.
pub(super) fn side_by_side(
    player: &FilePlayer<'_>,
    group: &[FileOperation],
) -> Result<Vec<OperationTimes>, WorkError> {
    let mut threads: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (number, operation) in group.iter().enumerate() {
        threads.entry(operation.thread % MAX_THREADS).or_default().push(number);
    }
    let threads: Vec<Vec<usize>> = threads.into_values().collect();
    let state = State { done: vec![0; threads.len()], failed: false };
    let progress = Progress { state: Mutex::new(state), changed: Condvar::new() };
    let results: Vec<_> = std::thread::scope(|scope| {
        let started: Vec<_> = (0..threads.len())
            .map(|own| {
                let (threads, progress) = (&threads, &progress);
                scope.spawn(move || one_thread(player, group, threads, own, progress))
            })
            .collect();
        started.into_iter().map(|thread| thread.join()).collect()
    });
    let mut all = vec![OperationTimes::default(); group.len()];
    for (result, numbers) in results.into_iter().zip(&threads) {
        let result = result.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        for (number, done) in numbers.iter().zip(result?) {
            all[*number] = done;
        }
    }
    Ok(all)
}

/// Does the operations of one thread, in their order; fewer if another one failed.
fn one_thread(
    player: &FilePlayer<'_>,
    group: &[FileOperation],
    threads: &[Vec<usize>],
    own: usize,
    progress: &Progress,
) -> Result<Vec<OperationTimes>, WorkError> {
    let mut scratch = player.scratch();
    let mut all = Vec::with_capacity(threads[own].len());
    for number in &threads[own] {
        if !progress.wait(&ended_before(group, threads, *number)) {
            break;
        }
        let done = player.one(&group[*number], &mut scratch);
        progress.count_done(own, done.is_err());
        all.push(done?);
    }
    Ok(all)
}

/// Number of operations of each thread that had ended before this one began. Only operations before
/// it in the recording count, so that no two wait for each other.
fn ended_before(group: &[FileOperation], threads: &[Vec<usize>], this: usize) -> Vec<usize> {
    let ended = |number: &usize| {
        let operation = &group[*number];
        let end_ns = operation.at_ns.saturating_add(operation.took_ns);
        *number < this && end_ns <= group[this].at_ns
    };
    let last = |numbers: &Vec<usize>| numbers.iter().rposition(ended);
    threads.iter().map(|numbers| last(numbers).map_or(0, |last| last + 1)).collect()
}

impl Progress {
    /// Waits until each thread has done so many; false if an operation failed.
    fn wait(&self, needed: &[usize]) -> bool {
        let behind = |state: &mut State| {
            !state.failed && state.done.iter().zip(needed).any(|(done, needed)| done < needed)
        };
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let state = self.changed.wait_while(state, behind);
        !state.unwrap_or_else(PoisonError::into_inner).failed
    }

    fn count_done(&self, own: usize, failed: bool) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.done[own] += 1;
        state.failed |= failed;
        drop(state);
        self.changed.notify_all();
    }
}
