//! Pieces of work on all processors.

use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Result;

/// Does each of so many pieces of work once, on as many threads as there are processors.
pub fn on_all_processors(count: usize, work: impl Fn(usize) -> Result<()> + Sync) -> Result<()> {
    let next = AtomicUsize::new(0);
    let worker = || -> Result<()> {
        loop {
            match next.fetch_add(1, Ordering::Relaxed) {
                at if at < count => work(at)?,
                _ => return Ok(()),
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().try_for_each(|worker| {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    })
}
