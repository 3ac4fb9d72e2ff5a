//! A directory that is filled with files, on all processors.

use std::fs;
use std::io::BufWriter;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result};

/// A directory that is being filled.
pub struct Tree<'a> {
    dir: &'a Path,
    written: AtomicUsize,
}

impl<'a> Tree<'a> {
    pub fn new(dir: &'a Path) -> Tree<'a> {
        Tree { dir, written: AtomicUsize::new(0) }
    }

    /// How many files it has.
    pub fn written(self) -> usize {
        self.written.into_inner()
    }

    /// A file that is written bit by bit.
    pub fn create(&self, path: &str) -> Result<BufWriter<fs::File>> {
        let file = fs::File::create(self.dir.join(path))
            .with_context(|| format!("cannot write {path}"))?;
        self.written.fetch_add(1, Ordering::Relaxed);
        Ok(BufWriter::new(file))
    }

    /// A file that is written at once.
    pub fn write(&self, path: &str, text: &str) -> Result<()> {
        fs::write(self.dir.join(path), text).with_context(|| format!("cannot write {path}"))?;
        self.written.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

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
