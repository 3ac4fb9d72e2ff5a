//! Ctrl-C ends a run within a second, even if the medium does not answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::exit::Exit;
use crate::progress_display::IoWait;
use crate::progress_events;

/// How long after Ctrl-C a run may take to end by itself while an I/O is out on the medium.
const PATIENCE: Duration = Duration::from_millis(850);

/// The same while none is: the run then writes down what it has found, for which a busy machine may
/// need longer.
const PATIENCE_WITHOUT_IO: Duration = Duration::from_secs(30);

/// Ends the process if an interrupted run does not end by itself, because the medium does not
/// answer.
pub struct Watchdog {
    over: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Watchdog {
    /// Looks at `stop` from now on. What is to be done before the process ends is `last_words`.
    /// While something is to be restored (`pending`), it waits. `waiting` says how long an
    /// I/O has been out.
    pub fn start(
        stop: &Arc<AtomicBool>,
        pending: &Arc<AtomicBool>,
        waiting: IoWait,
        last_words: impl FnOnce() + Send + 'static,
    ) -> Watchdog {
        let over = Arc::new(AtomicBool::new(false));
        let (stop, pending, is_over) = (Arc::clone(stop), Arc::clone(pending), Arc::clone(&over));
        let thread = std::thread::spawn(move || {
            let mut asked: Option<Instant> = None;
            while !is_over.load(Ordering::SeqCst) {
                if pending.load(Ordering::SeqCst) {
                    if stop.load(Ordering::SeqCst) && asked.replace(Instant::now()).is_none() {
                        crate::say!(
                            "\nflashmark: interrupted; restoring the data that was on the medium first. A second Ctrl-C leaves it overwritten"
                        );
                    }
                } else if stop.load(Ordering::SeqCst) {
                    let patience = if waiting() > 0 { PATIENCE } else { PATIENCE_WITHOUT_IO };
                    if asked.get_or_insert_with(Instant::now).elapsed() > patience {
                        last_words();
                        progress_events::ended(Exit::Interrupted);
                        std::process::exit(Exit::Interrupted as i32);
                    }
                }
                std::thread::sleep(Duration::from_millis(50));
            }
        });
        Watchdog { over, thread }
    }

    /// The run has ended by itself.
    pub fn end(self) {
        self.over.store(true, Ordering::SeqCst);
        let _ = self.thread.join();
    }
}
