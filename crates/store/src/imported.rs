//! Puts imported records into the store, many at once.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use record::Record;

use crate::atomic::{Scratch, WriteError, atomic_write, is_plain_name, sweep, unique_name};
use crate::run_dir::{JOURNAL_FILE, RECORD_FILE};
use crate::{CreateError, Store};

/// Name of the file beside a record with the text from which it was made.
pub const SOURCE_FILE: &str = "imported.txt";

/// Result of adding a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptRecord {
    /// Name under which `flashmark runs` lists it.
    pub name: String,
    /// Way in which it got into the store.
    pub how: KeptHow,
}

/// Way in which a record got into the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptHow {
    /// The store had no record of the same text.
    New,
    /// The store had the same record.
    AlreadyThere,
    /// The store had another record of the same text, which this one replaced.
    Corrected,
}

/// Record of the same text in the store, if there is one.
#[must_use]
pub fn stored_record(store: &Store, id: &str) -> Option<Record> {
    let path = is_plain_name(id).then(|| store.root().join(id).join(RECORD_FILE))?;
    Record::from_json(&fs::read_to_string(path).ok()?).ok()
}

/// Runs on their way into the store. They appear in [`Batch::finish`], all of them durable; without
/// it none does.
///
/// A run that is measured is made durable line by line. Imported ones can be imported again, so
/// they share one sync.
pub struct Batch<'a> {
    store: &'a Store,
    made: Vec<(Scratch, PathBuf)>,
    names: BTreeSet<String>,
}

impl<'a> Batch<'a> {
    /// Makes the directory for the runs if there is none.
    ///
    /// # Errors
    /// If that fails.
    pub fn new(store: &'a Store) -> Result<Batch<'a>, CreateError> {
        store.make_root()?;
        sweep(store.root());
        Ok(Batch { store, made: Vec::new(), names: BTreeSet::new() })
    }

    /// Writes a record and its source text. A new record stays hidden; one of the same text is
    /// replaced at once.
    ///
    /// # Errors
    /// If its id is not a valid name, or it cannot be written.
    pub fn add(&mut self, record: &Record, source: &[u8]) -> Result<KeptRecord, CreateError> {
        let name = record.run.id.clone();
        if !is_plain_name(&name) {
            return Err(CreateError::BadId(name));
        }
        let dir = self.store.root().join(&name);
        if !self.names.insert(name.clone()) {
            return Ok(KeptRecord { name, how: KeptHow::AlreadyThere });
        }
        if dir.exists() {
            let how = correct(&dir, record, source)?;
            return Ok(KeptRecord { name, how });
        }
        let scratch = Scratch(self.store.root().join(unique_name()));
        write(&scratch.0, record, source).map_err(WriteError::at(&scratch.0))?;
        self.made.push((scratch, dir));
        Ok(KeptRecord { name, how: KeptHow::New })
    }

    /// Makes all records durable, then visible.
    ///
    /// # Errors
    /// If a sync or rename fails. Records that are visible by then stay.
    pub fn finish(self) -> Result<(), CreateError> {
        if self.made.is_empty() {
            return Ok(());
        }
        let root = self.store.root();
        sync_filesystem(root).map_err(WriteError::at(root))?;
        for (scratch, dir) in &self.made {
            fs::rename(&scratch.0, dir).map_err(WriteError::at(dir))?;
        }
        // The names alone are not enough: those of FAT are empty until what was renamed is written
        // once more.
        sync_filesystem(root).map_err(WriteError::at(root))?;
        Ok(())
    }
}

/// Replaces a record of the same text; refuses to replace any other.
fn correct(dir: &Path, record: &Record, source: &[u8]) -> Result<KeptHow, CreateError> {
    let (path, text) = (dir.join(RECORD_FILE), record.to_json());
    let is_of_this = !dir.join(JOURNAL_FILE).exists()
        && fs::read(dir.join(SOURCE_FILE)).is_ok_and(|old| old == source);
    if !is_of_this || fs::read_to_string(&path).is_ok_and(|old| old == text) {
        return Ok(KeptHow::AlreadyThere);
    }
    atomic_write(path, text.as_bytes())?;
    Ok(KeptHow::Corrected)
}

fn write(dir: &Path, record: &Record, source: &[u8]) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(dir)?;
    fs::write(dir.join(RECORD_FILE), record.to_json())?;
    fs::write(dir.join(SOURCE_FILE), source)
}

/// Syncs everything written to the file system so far.
fn sync_filesystem(path: &Path) -> io::Result<()> {
    Ok(rustix::fs::syncfs(File::open(path)?)?)
}
