//! Test of every order in which threads can take the lock (<https://docs.rs/loom>), with at most
//! two preemptions.

use std::time::Duration;

use loom::sync::Arc;
use loom::thread;

mod sync {
    pub use loom::sync::{Condvar, Mutex, MutexGuard};

    /// Waits without a clock: a wait for something that never comes is found as a deadlock.
    pub fn wait_while<T>(
        condvar: &Condvar,
        mut guard: MutexGuard<'_, T>,
        _patience: std::time::Duration,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> bool {
        while condition(&mut guard) {
            guard = condvar.wait(guard).unwrap();
        }
        true
    }
}

#[expect(clippy::duplicate_mod, reason = "the same source, with the locks of loom")]
#[path = "handoff.rs"]
mod handoff;

use handoff::Handoff;

fn in_every_order(act: impl Fn() + Sync + Send + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(act);
}

/// A pool of two threads, each doing its work by doubling it.
fn with_threads(act: impl FnOnce(&Handoff<u32, u32>)) {
    let handoff = Arc::new(Handoff::new());
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let handoff = handoff.clone();
            thread::spawn(move || handoff.serve(|work: u32| work * 2))
        })
        .collect();
    act(&handoff);
    assert!(handoff.close(2, Duration::ZERO));
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn all_that_is_handed_over_comes_back_once_in_whatever_order_threads_run() {
    in_every_order(|| {
        with_threads(|handoff| {
            handoff.submit(1);
            handoff.submit(2);
            let mut done = Vec::new();
            while done.len() < 2 {
                handoff.reap(1, &mut done);
            }
            done.sort_unstable();
            assert_eq!(done, [2, 4]);
        });
    });
}

#[test]
fn submitted_work_is_done_before_the_threads_end() {
    in_every_order(|| {
        with_threads(|handoff| {
            handoff.submit(1);
            assert!(handoff.close(2, Duration::ZERO));
            let mut done = Vec::new();
            handoff.reap(0, &mut done);
            assert_eq!(done, [2]);
        });
    });
}

#[test]
fn nothing_is_waited_for_where_nothing_is_asked() {
    in_every_order(|| with_threads(|handoff| handoff.reap(0, &mut Vec::new())));
}
