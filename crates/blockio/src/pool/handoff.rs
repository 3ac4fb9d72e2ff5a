//! What threads and whoever gives them work hand each other: work, what came of it, the end. Of the
//! locks it knows what [`sync`](super::sync) has, so that a test can put others in their place that
//! try every order of threads.

use std::collections::VecDeque;
use std::time::Duration;

use super::sync::{Condvar, Mutex, MutexGuard, wait_while};

/// Work for threads, and what they made of it.
pub(super) struct Handoff<Work, Done> {
    state: Mutex<State<Work, Done>>,
    work: Condvar,
    finished: Condvar,
}

struct State<Work, Done> {
    waiting: VecDeque<Work>,
    ready: Vec<Done>,
    closing: bool,
    /// Threads that have nothing left to do but end.
    ended: usize,
}

impl<Work, Done> Handoff<Work, Done> {
    pub fn new() -> Handoff<Work, Done> {
        let state = State { waiting: VecDeque::new(), ready: Vec::new(), closing: false, ended: 0 };
        Handoff { state: Mutex::new(state), work: Condvar::new(), finished: Condvar::new() }
    }

    /// Gives work to whichever thread is free.
    pub fn submit(&self, work: Work) {
        self.lock().waiting.push_back(work);
        self.work.notify_one();
    }

    /// Waits until at least `min` are done, and puts all that are behind what is in `done`.
    pub fn reap(&self, min: usize, done: &mut Vec<Done>) {
        let mut state = self.lock();
        while state.ready.len() < min {
            state = self.finished.wait(state).expect("no thread panics while it holds the lock");
        }
        done.append(&mut state.ready);
    }

    /// What a thread does from beginning to end.
    pub fn serve(&self, mut act: impl FnMut(Work) -> Done) {
        while let Some(work) = self.next() {
            let done = act(work);
            self.lock().ready.push(done);
            self.finished.notify_one();
        }
        self.lock().ended += 1;
        self.finished.notify_one();
    }

    /// Lets the threads end once nothing is waiting, and waits for all of them, but not for longer
    /// than `patience`. Whether all have ended.
    pub fn close(&self, threads: usize, patience: Duration) -> bool {
        let mut state = self.lock();
        state.closing = true;
        self.work.notify_all();
        wait_while(&self.finished, state, patience, |state| state.ended < threads)
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
