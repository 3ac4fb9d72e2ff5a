//! The directory of one run.

use std::io;
use std::path::{Path, PathBuf};

use record::{Cell, Ended, JournalEntry, Record, RecordError};

use crate::atomic::{WriteError, atomic_write, is_plain_name, parent_of};
use crate::backup::{self, BackupError, BackupLog, Unrestored};
use crate::journal::Journal;
use crate::journal_form::JournalError;
use crate::lock::{self, Lock, LockError};
use crate::reached::is_whole_record;
use crate::reading::{self, read_regular};
use crate::replay::{Replayed, replay};

/// Name of the journal in a run's directory.
pub const JOURNAL_FILE: &str = "journal.jsonl";
/// Name of the record in a run's directory.
pub const RECORD_FILE: &str = "record.json";

/// A run on disk: its directory, or a single record file that someone copied elsewhere, which can
/// only be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunDir {
    name: String,
    dir: PathBuf,
    record: PathBuf,
    has_journal: bool,
}

/// A run's record could not be read.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file could not be read.
    #[error("cannot read '{}': {source}", path.display())]
    Read {
        /// Path of the record file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The file is not a record that this version reads.
    #[error("'{}': {source}", path.display())]
    Record {
        /// Path of the record file.
        path: PathBuf,
        /// Error of the record.
        source: RecordError,
    },
    /// There is no record, and the journal cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// A record and the damage of its journal.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// The written record, or the replayed journal if that has more.
    pub record: Record,
    /// Damage of the journal, in words.
    pub damage: Option<String>,
}

impl RunDir {
    /// The run in this directory.
    pub(crate) fn of_directory(dir: &Path) -> RunDir {
        let named = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
        let name = named.file_name().unwrap_or(dir.as_os_str()).to_string_lossy().into_owned();
        RunDir { name, record: dir.join(RECORD_FILE), dir: dir.to_owned(), has_journal: true }
    }

    /// The run whose record this file is: that of its directory, if the file is in one.
    pub(crate) fn of_file(file: &Path) -> RunDir {
        let dir = parent_of(file);
        let belongs = [RECORD_FILE, JOURNAL_FILE].iter().any(|name| file.ends_with(name))
            && dir.join(JOURNAL_FILE).is_file();
        if belongs {
            return RunDir::of_directory(dir);
        }
        let name = file.file_stem().unwrap_or(file.as_os_str()).to_string_lossy();
        let name = name.strip_suffix(".json").unwrap_or(&name).to_owned();
        RunDir { name, record: file.to_owned(), dir: dir.to_owned(), has_journal: false }
    }

    /// Name in the store. Differs from the record's run id where that was taken (simulated runs
    /// repeat theirs).
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Directory of the run, or of a copied record file.
    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// Path of the record, which need not exist yet.
    pub fn record_path(&self) -> &Path {
        &self.record
    }

    /// Path of the journal.
    pub fn journal_path(&self) -> PathBuf {
        self.dir.join(JOURNAL_FILE)
    }

    /// Takes the right to write to this run. An error if another live process has it.
    pub fn lock(&self) -> Result<Lock, LockError> {
        if !self.has_journal {
            return Err(LockError::RecordOnly(self.record.clone()));
        }
        lock::take(&self.dir, &self.name)
    }

    /// True if a live process is writing this run at the moment.
    pub fn is_being_written(&self) -> bool {
        self.has_journal && lock::is_taken(&self.dir)
    }

    /// Opens the journal to add to it; what follows the last line that counts is cut off first. Cells
    /// that only a complete record holds are put back. The lock is held until the journal is dropped.
    pub fn journal(&self, lock: Lock) -> Result<Journal, JournalError> {
        let Replayed { record, unread, .. } = self.replay()?;
        let mut journal = Journal::continued(self.journal_path(), lock)?;
        if unread.is_some() && record.run.ended == Ended::Complete {
            record.cells.into_iter().try_for_each(|cell| journal.append(&cell.into()))?;
        }
        Ok(journal)
    }

    /// Replays the journal to the record so far, up to the first line that does not check. Changes
    /// nothing on disk.
    ///
    /// Only if lines of the journal are not used and the written record says that the run is
    /// complete, the written record is taken: finished cells are not measured again.
    pub fn replay(&self) -> Result<Replayed, JournalError> {
        if !self.has_journal {
            return Err(JournalError::RecordOnly(self.record.clone()));
        }
        let mut replayed = replay(reading::read(&self.journal_path(), JournalEntry::decode)?);
        if let Some(unread) = &mut replayed.unread
            && let Ok(written) = self.written_record()
            && is_the_whole_of(&written, &replayed.record)
        {
            unread.cells.clear();
            replayed.record = Record { findings: Vec::new(), ..written };
        }
        if self.unrestored().is_some() {
            // A backup proves that the cell which made it had begun, whatever is left of the journal;
            // of a run that keeps one no other cell writes.
            let Replayed { record, traces, .. } = &mut replayed;
            let writers = record.plan.iter().filter(|planned| planned.max_written_bytes > 0);
            let unsaid = writers.filter(|planned| !traces.begun.contains(&planned.id));
            let unsaid: Vec<String> = unsaid.map(|planned| planned.id.clone()).collect();
            traces.begun.extend(unsaid);
        }
        Ok(replayed)
    }

    /// The record to show: the written one with its findings if it has as much as the journal, else
    /// the replayed journal.
    ///
    /// Either of the two may be damaged or missing without harm to the other. A run that is being
    /// written has `ended: running`.
    pub fn load(&self) -> Result<Record, LoadError> {
        self.load_with_damage().map(|loaded| loaded.record)
    }

    /// Loads the record as [`RunDir::load`] does, with the damage of the journal.
    pub fn load_with_damage(&self) -> Result<Loaded, LoadError> {
        let written = self.written_record();
        let is_all = |record: &Record| is_whole_record(record, &self.journal_path());
        if !self.has_journal || written.as_ref().is_ok_and(is_all) {
            return written.map(|record| Loaded { record, damage: None });
        }
        match (written, self.replay()) {
            (written, Ok(replayed)) => {
                let damage = replayed.unread.as_ref().map(ToString::to_string);
                let written =
                    written.ok().filter(|written| has_all_of_journal(written, &replayed.record));
                Ok(Loaded { record: written.unwrap_or_else(|| self.now(replayed.record)), damage })
            }
            // An imported run never had a journal.
            (Ok(record), Err(JournalError::Read { .. })) => Ok(Loaded { record, damage: None }),
            (Ok(record), Err(journal)) => {
                Ok(Loaded { record, damage: Some(format!("{journal}; its record stands alone")) })
            }
            // The error of a record that exists says more than that of a missing journal.
            (Err(written @ LoadError::Record { .. }), Err(JournalError::Read { .. })) => {
                Err(written)
            }
            (Err(_), Err(journal)) => Err(journal.into()),
        }
    }

    /// True if the written record can be read and holds all that the journal does. If not, it can
    /// be made again from the journal.
    pub fn has_its_record(&self) -> bool {
        match (self.written_record(), self.replay()) {
            (Ok(written), Ok(replayed)) => has_all_of_journal(&written, &replayed.record),
            (written, _) => written.is_ok(),
        }
    }

    /// Makes the run's backup, with room for `room_bytes`. `medium` names the medium for people.
    /// Fails before anything is overwritten: if there is too little room, or if the run has not
    /// restored an earlier backup.
    pub fn create_backup(&self, medium: &str, room_bytes: u64) -> Result<BackupLog, BackupError> {
        BackupLog::create(&self.dir, medium, room_bytes)
    }

    /// The backup that the run left, if there is one; only to be read.
    pub fn open_backup(&self) -> Result<Option<BackupLog>, BackupError> {
        if self.has_journal { BackupLog::open(&self.dir) } else { Ok(None) }
    }

    /// Summary of what is still to be restored, from the headers of the pieces alone: cheap, for
    /// lists. `None` where nothing is.
    pub fn unrestored(&self) -> Option<Unrestored> {
        self.has_journal.then(|| backup::unrestored(&self.dir))?
    }

    fn now(&self, mut record: Record) -> Record {
        if record.run.ended == Ended::Interrupted && self.is_being_written() {
            record.run.ended = Ended::Running;
        }
        record
    }

    fn written_record(&self) -> Result<Record, LoadError> {
        let path = &self.record;
        let bytes =
            read_regular(path).map_err(|source| LoadError::Read { path: path.clone(), source })?;
        let published = (!self.has_journal).then_some(self.name.as_str());
        Record::read(&bytes, published)
            .map_err(|source| LoadError::Record { path: path.clone(), source })
    }

    /// Writes `record.json`, whole or not at all.
    pub fn write_record(&self, record: &Record) -> Result<(), WriteError> {
        atomic_write(&self.record, record.to_json().as_bytes())
    }

    /// Writes another file (a report, a trace) into the directory, whole or not at all. `name` is a
    /// plain file name.
    pub fn write_file(&self, name: &str, bytes: &[u8]) -> Result<(), WriteError> {
        let path = self.dir.join(name);
        if !is_plain_name(name) {
            return Err(WriteError::at(&path)(io::Error::new(
                io::ErrorKind::InvalidInput,
                "this is not a plain file name",
            )));
        }
        atomic_write(&path, bytes)
    }
}

/// True if a written record holds all that the journal does.
fn has_all_of_journal(written: &Record, journal: &Record) -> bool {
    let mark = |record: &Record| (record.cells.len(), record.run.ended, record.run.resumed);
    mark(written) == mark(journal)
}

fn is_as_measured(written: &Cell, journal: &Cell) -> bool {
    written.id == journal.id && Cell { flags: journal.flags.clone(), ..written.clone() } == *journal
}

/// True if a written record is of the same run, is complete, and holds every finished cell of the
/// journal as it was measured. Flags may differ: some are given when the run is over.
fn is_the_whole_of(written: &Record, journal: &Record) -> bool {
    let who =
        |record: &Record| (record.run.id.clone(), record.run.seed, record.run.started.clone());
    let finished = journal.cells.iter().filter(|cell| !cell.stop.cut_short());
    written.run.ended == Ended::Complete
        && who(written) == who(journal)
        && written.run.resumed >= journal.run.resumed
        && written.plan == journal.plan
        && finished.into_iter().all(|cell| written.cells.iter().any(|it| is_as_measured(it, cell)))
}
