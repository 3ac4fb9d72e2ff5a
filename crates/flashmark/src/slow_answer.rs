//! What is said while a medium does not answer before its run has begun: the screen of the run, which
//! says it later, is not there yet.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// After so long it is said for the first time, and again each time it has passed twice.
const FIRST: Duration = Duration::from_secs(4);

/// Says from time to time that the medium has not answered, until it is dropped.
pub struct SlowAnswer {
    over: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl SlowAnswer {
    /// Of this target, as the user names it; silent where nothing but errors is to be said.
    pub fn watch(target: &str, quiet: bool) -> SlowAnswer {
        if quiet {
            return SlowAnswer { over: None, thread: None };
        }
        let (over, is_over) = channel();
        let target = report::words::clean(target);
        let thread = std::thread::spawn(move || {
            let began = Instant::now();
            let mut wait = FIRST;
            while is_over.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                let seconds = began.elapsed().as_secs();
                crate::say!(
                    "flashmark: looking at {target} has taken {seconds} s so far; it answers slowly or not at all (Ctrl-C ends)"
                );
                wait = 2 * FIRST;
            }
        });
        SlowAnswer { over: Some(over), thread: Some(thread) }
    }
}

impl Drop for SlowAnswer {
    fn drop(&mut self) {
        drop(self.over.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
