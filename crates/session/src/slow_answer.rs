//! Messages while a medium does not answer before its run has begun: the screen of the run, which
//! prints them later, is not there yet.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use record::text::printable;

/// Time before the first message; each further one comes after twice the time.
const FIRST: Duration = Duration::from_secs(4);

/// Prints from time to time that the medium has not answered, until it is dropped.
pub struct SlowAnswer {
    over: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl SlowAnswer {
    /// Watches over this target, as the user names it; with `quiet` nothing is printed.
    pub fn watch(target: &str, quiet: bool) -> SlowAnswer {
        if quiet {
            return SlowAnswer { over: None, thread: None };
        }
        let (over, is_over) = channel();
        let target = printable(target);
        let thread = std::thread::spawn(move || {
            let began = Instant::now();
            let mut wait = FIRST;
            while is_over.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                let seconds = began.elapsed().as_secs();
                program::say!(
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
