//! Queue between threads and their caller: work, results, the end.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// Work for threads, and its results.
pub(super) struct Handoff<Work, Done> {
    state: Mutex<State<Work, Done>>,
    work: Condvar,
    finished: Condvar,
}

struct State<Work, Done> {
    waiting: VecDeque<Work>,
    ready: Vec<Done>,
    closing: bool,
    /// Number of threads that have ended their loop.
    ended: usize,
}

impl<Work, Done> Handoff<Work, Done> {
    pub fn new() -> Handoff<Work, Done> {
        let state = State { waiting: VecDeque::new(), ready: Vec::new(), closing: false, ended: 0 };
        Handoff { state: Mutex::new(state), work: Condvar::new(), finished: Condvar::new() }
    }

    /// Gives work to any free thread.
    pub fn submit(&self, work: Work) {
        self.lock().waiting.push_back(work);
        self.work.notify_one();
    }

    /// Waits until at least `min` results are ready, and appends all that are to `done`.
    pub fn reap(&self, min: usize, done: &mut Vec<Done>) {
        let mut state = self.lock();
        while state.ready.len() < min {
            state = self.finished.wait(state).expect("no thread panics while it holds the lock");
        }
        done.append(&mut state.ready);
    }

    /// Main loop of a thread.
    pub fn serve(&self, mut act: impl FnMut(Work) -> Done) {
        while let Some(work) = self.next() {
            let done = act(work);
            self.lock().ready.push(done);
            self.finished.notify_one();
        }
        self.lock().ended += 1;
        self.finished.notify_one();
    }

    /// Lets the threads end once nothing is waiting, and waits for them, at most for `patience`.
    /// True if all have ended.
    pub fn close(&self, threads: usize, patience: Duration) -> bool {
        let mut state = self.lock();
        state.closing = true;
        self.work.notify_all();
        let is_open = |state: &mut State<Work, Done>| state.ended < threads;
        let waited = self.finished.wait_timeout_while(state, patience, is_open);
        waited.is_ok_and(|(_, waited)| !waited.timed_out())
    }

    /// The next work; `None` at the end.
    fn next(&self) -> Option<Work> {
        let mut state = self.lock();
        loop {
            if let Some(work) = state.waiting.pop_front() {
                return Some(work);
            }
            if state.closing {
                return None;
            }
            state = self.work.wait(state).expect("no thread panics while it holds the lock");
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<Work, Done>> {
        self.state.lock().expect("no thread panics while it holds the lock")
    }
}
