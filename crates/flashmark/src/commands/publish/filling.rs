//! A directory that is filled with files.

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
