//! Messages while a medium does not answer before its run has begun: the screen of the run, which
//! prints them later, is not there yet.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use record::text::printable;
use record::{Asked, SLOW_NS, Wait};

/// Time before the first message; each further one comes after twice the time.
const FIRST: Duration = Duration::from_secs(4);

/// What looking at a medium before its run has cost.
#[derive(Default)]
pub struct Looked {
    /// Its time in nanoseconds, which a time limit counts.
    pub ns: u64,
    /// Its long waits.
    pub waits: Vec<Wait>,
}

impl Looked {
    /// A look at the contents by other programs: which of their reads waited is not known.
    pub fn at_contents(ns: u64) -> Looked {
        let wait = (ns >= SLOW_NS).then(|| Wait {
            turn: "before the start".to_owned(),
            asked: Asked::Look,
            offset_bytes: None,
            block_bytes: None,
            silent_ns: ns,
            idle_ns: 0,
            host_stall_ns: 0,
            error: None,
        });
        Looked { ns, waits: wait.into_iter().collect() }
    }
}

/// Prints from time to time that the medium has not answered, until it is dropped.
pub struct SlowAnswer {
    began: Instant,
    over: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl SlowAnswer {
    /// Watches over this target, as the user names it; with `quiet` nothing is printed.
    pub fn watch(target: &str, quiet: bool) -> SlowAnswer {
        let began = Instant::now();
        if quiet {
            return SlowAnswer { began, over: None, thread: None };
        }
        let (over, is_over) = channel();
        let target = printable(target);
        let thread = std::thread::spawn(move || {
            let mut wait = FIRST;
            while is_over.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                let seconds = began.elapsed().as_secs();
                program::say!(
                    "flashmark: looking at {target} has taken {seconds} s so far; it answers slowly or not at all (Ctrl-C ends)"
                );
                wait = 2 * FIRST;
            }
        });
        SlowAnswer { began, over: Some(over), thread: Some(thread) }
    }

    /// Ends the watch; returns its nanoseconds.
    pub fn end(self) -> u64 {
        self.began.elapsed().as_nanos() as u64
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
