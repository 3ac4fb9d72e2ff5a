//! Ctrl-C ends a run within a second, even if the medium does not answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use store::RunDir;

use crate::concluding::judged;
use crate::progress_display::IoWait;
use crate::request::RunRequest;
use crate::words::COPY_FIRST;
use program::exit::Exit;
use program::messages;

/// Longest time after Ctrl-C for a run to end by itself while an I/O is in flight.
const PATIENCE: Duration = Duration::from_millis(850);

/// Longest time if none is in flight: the run then writes its results, for which a busy machine may
/// need longer.
const PATIENCE_WITHOUT_IO: Duration = Duration::from_secs(30);

/// Last actions of a run that is interrupted while its medium does not answer: writes the record
/// and prints how to go on.
pub fn last_words(
    dir: &RunDir,
    request: &RunRequest,
    way_on: String,
) -> impl FnOnce() + Send + use<> {
    let (dir, request) = (dir.clone(), request.clone());
    move || {
        if let Ok(replayed) = dir.replay() {
            let record = judged(replayed.record, &request, &dir);
            let _ = dir.write_record(&record);
        }
        // A medium that hangs may answer never again.
        program::say!(
            "\nflashmark: interrupted while the medium did not answer; the finished cells are kept. {COPY_FIRST}; another reader or port may make it answer, and then {way_on}"
        );
    }
}

/// Ends the process if an interrupted run does not end by itself, because the medium does not
/// answer.
pub struct Watchdog {
    over: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Watchdog {
    /// Watches `stop` from now on. While something is to be restored (`pending`), it waits.
    /// `waiting` returns how long an I/O has been in flight. `last_words` is called right before
    /// the process ends.
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
                        program::say!(
                            "\nflashmark: interrupted; restoring the data that was on the medium first. A second Ctrl-C leaves it overwritten"
                        );
                    }
                } else if stop.load(Ordering::SeqCst) {
                    let patience = if waiting() > 0 { PATIENCE } else { PATIENCE_WITHOUT_IO };
                    if asked.get_or_insert_with(Instant::now).elapsed() > patience {
                        last_words();
                        messages::ended(Exit::Interrupted);
                        std::process::exit(Exit::Interrupted as i32);
                    }
                }
                std::thread::sleep(Duration::from_millis(50));
            }
        });
        Watchdog { over, thread }
    }

    /// Ends the watch: the run has ended by itself.
    pub fn end(self) {
        self.over.store(true, Ordering::SeqCst);
        let _ = self.thread.join();
    }
}
