//! Busy loops beside a measurement.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// Number of loops.
pub const LOOPS: usize = 4;

/// Running loops; they end when dropped.
pub struct Load {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Load {
    /// Starts the loops.
    pub fn begin() -> Load {
        let stop = Arc::new(AtomicBool::new(false));
        let threads = (0..LOOPS).map(|_| {
            let stop = stop.clone();
            thread::spawn(move || while !stop.load(Ordering::Relaxed) {})
        });
        Load { threads: threads.collect(), stop }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                eprintln!("a thread of the load has panicked");
            }
        }
    }
}
