//! A directory that is filled with files: made, or taken over from the tree that it replaces.
//!
//! A hidden file ([`SourceDigests`]) says of what each page was made. The same program makes the
//! same page of the same data: then the old file is hard-linked and not made again.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result};
use flate2::Compression;
use record::unpacked;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::repository::judging::RunInShort;
use crate::repository::write_packed;

/// Name of the file that says of what a tree was made.
const MADE: &str = ".flashmark-made.json.gz";

/// Digests of what a tree was made of; empty if there is no tree or another program made it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SourceDigests {
    /// A digest of the program.
    program: String,
    /// Runs without cells, by the digest of the file that they came from.
    pub runs: BTreeMap<String, RunInShort>,
    /// Digest of the sources of each file, by its path.
    files: BTreeMap<String, String>,
    /// The pieces of the Parquet files, in their order.
    pub pieces: Vec<ParquetGroup>,
}

/// Runs that are in the Parquet files together.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ParquetGroup {
    /// A digest of the runs.
    pub key: String,
    /// Row groups in the file of runs and in that of cells.
    pub groups: [usize; 2],
}

impl SourceDigests {
    fn of(dir: &Path) -> Option<SourceDigests> {
        let packed = fs::read(dir.join(MADE)).ok()?;
        serde_json::from_slice(&unpacked(&packed, usize::MAX - 1).ok()?).ok()
    }
}

/// A digest of pieces of text, each told apart from the next.
#[derive(Default)]
pub struct TextDigest(Sha256);

impl TextDigest {
    #[must_use]
    pub fn with(mut self, part: impl AsRef<[u8]>) -> TextDigest {
        self.0.update((part.as_ref().len() as u64).to_le_bytes());
        self.0.update(part);
        self
    }

    pub fn text(self) -> String {
        record::text::hex(&self.0.finalize())
    }
}

/// A directory that is being filled.
pub struct Tree<'a> {
    dir: &'a Path,
    old_dir: PathBuf,
    old: SourceDigests,
    made: Mutex<SourceDigests>,
    written: AtomicUsize,
}

impl<'a> Tree<'a> {
    /// A tree in `dir`, which will replace that in `old_dir`.
    pub fn new(dir: &'a Path, old_dir: &Path) -> Result<Tree<'a>> {
        let program = fs::read(std::env::current_exe()?).context("cannot read this program")?;
        let program = TextDigest::default().with(program).text();
        let old =
            SourceDigests::of(old_dir).filter(|old| old.program == program).unwrap_or_default();
        let made = Mutex::new(SourceDigests { program, ..SourceDigests::default() });
        let old_dir = old_dir.to_owned();
        Ok(Tree { dir, old_dir, old, made, written: AtomicUsize::new(0) })
    }

    /// Digests of what the old tree was made of.
    pub fn old(&self) -> &SourceDigests {
        &self.old
    }

    /// Path of the same file in the old tree.
    pub fn old_file(&self, path: &str) -> PathBuf {
        self.old_dir.join(path)
    }

    /// Notes of what this tree is made.
    pub fn note(&self, note: impl FnOnce(&mut SourceDigests)) {
        note(&mut self.made.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
    }

    /// Writes of what the tree is made; returns the number of its files.
    pub fn finish(self) -> Result<usize> {
        let made = self.made.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        let file = BufWriter::new(fs::File::create(self.dir.join(MADE))?);
        write_packed(file, Compression::fast(), &serde_json::to_string(&made)?)?.flush()?;
        Ok(self.written.into_inner())
    }

    /// Makes files unless the old tree has them under the same `key`, the digest of their sources.
    pub fn make(
        &self,
        paths: &[&str],
        key: TextDigest,
        make: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let key = key.text();
        let is_same = |path: &&str| self.old.files.get(*path) == Some(&key);
        let has_all = paths.iter().all(is_same) && paths.iter().all(|path| self.take_over(path));
        if !has_all {
            for path in paths {
                self.remove(path);
            }
            make()?;
        }
        self.note(|made| {
            made.files.extend(paths.iter().map(|path| ((*path).to_owned(), key.clone())));
        });
        Ok(())
    }

    /// Links or copies a file of the old tree into this one; true if that worked.
    pub fn take_over(&self, path: &str) -> bool {
        let (old, new) = (self.old_file(path), self.dir.join(path));
        let is_there =
            new.exists() || fs::hard_link(&old, &new).is_ok() || fs::copy(old, &new).is_ok();
        self.written.fetch_add(usize::from(is_there), Ordering::Relaxed);
        is_there
    }

    /// Removes a file, if it is there.
    pub fn remove(&self, path: &str) {
        if fs::remove_file(self.dir.join(path)).is_ok() {
            self.written.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Removes the files of runs that are not published after all.
    pub fn keep_runs(&self, is_kept: &dyn Fn(&str) -> bool) -> Result<()> {
        for entry in fs::read_dir(self.dir.join("data/run"))? {
            let name = entry?.file_name();
            let name = name.to_string_lossy();
            if !name.strip_suffix(".json.gz").is_some_and(is_kept) {
                self.remove(&format!("data/run/{name}"));
            }
        }
        Ok(())
    }

    /// A file of this tree, to be read.
    pub fn file(&self, path: &str) -> Result<fs::File> {
        fs::File::open(self.dir.join(path)).with_context(|| format!("cannot read {path}"))
    }

    /// Creates a file that is written piece by piece.
    pub fn create(&self, path: &str) -> Result<BufWriter<fs::File>> {
        self.create_new(path)?.with_context(|| format!("{path} is there twice"))
    }

    /// The same; `None` if the file is there already.
    pub fn create_new(&self, path: &str) -> Result<Option<BufWriter<fs::File>>> {
        match fs::File::create_new(self.dir.join(path)) {
            Ok(file) => {
                self.written.fetch_add(1, Ordering::Relaxed);
                Ok(Some(BufWriter::new(file)))
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(None),
            Err(error) => Err(error).with_context(|| format!("cannot write {path}")),
        }
    }

    /// Writes a file at once.
    pub fn write(&self, path: &str, bytes: impl AsRef<[u8]>) -> Result<()> {
        let mut file = self.create(path)?;
        file.write_all(bytes.as_ref())
            .and_then(|()| file.flush())
            .with_context(|| format!("cannot write {path}"))
    }
}
