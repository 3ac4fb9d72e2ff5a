//! Pieces of work on all processors.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Result;

/// Results of `count` pieces of work, in their order.
///
/// # Errors
/// The first error that `work` returns; its thread then begins no other piece.
pub fn each_of<T: Send + Sync>(
    count: usize,
    work: impl Fn(usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let done: Vec<OnceLock<T>> = (0..count).map(|_| OnceLock::new()).collect();
    on_all_processors(count, |at| {
        // Each place is set once.
        let _ = done[at].set(work(at)?);
        Ok(())
    })?;
    Ok(done.into_iter().filter_map(OnceLock::into_inner).collect())
}

/// Does each of `count` pieces of work once, on as many threads as there are processors, at most 8.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_and_an_error_is_returned() {
        assert_eq!(each_of(1000, |at| Ok(at * 2)).unwrap()[999], 1998);
        assert!(each_of(10, |at| if at == 7 { anyhow::bail!("seven") } else { Ok(at) }).is_err());
    }
}
