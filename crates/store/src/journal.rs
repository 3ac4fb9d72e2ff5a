//! The journal: what a run is, then what came of it, one durable line after the other.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use record::{
    Cell, Ended, Fingerprint, FingerprintMark, Flag, Health, Host, Medium, PlannedCell, Run, Skip,
    Software, Target, Temperature,
};
use serde::{Deserialize, Serialize};

use crate::atomic::{WriteError, atomic_write};
use crate::journal_form::{FORM, JournalError};
use crate::line::frame;
use crate::lock::Lock;
use crate::numbering::Numbering;
use crate::reading::{self, JournalContents, Tail};

/// What a run is, known before its first cell: the first line of its journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Opening {
    /// This execution, as far as it is known.
    pub run: Run,
    /// The thing under test.
    pub medium: Medium,
    /// The machine; none for a simulated medium.
    pub host: Option<Host>,
    /// The way to the medium.
    pub target: Target,
    /// What is to be done.
    pub plan: Vec<PlannedCell>,
    /// What is left out from the start.
    pub skipped: Vec<Skip>,
    /// Caveats from the start.
    pub flags: Vec<Flag>,
    /// What the caller needs to plan the rest again; not looked into here.
    pub command: serde_json::Value,
    /// How the medium is known again; none where there is no raw medium, and in journals of earlier
    /// versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<Fingerprint>,
}

/// One event of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JournalEntry {
    /// A cell has ended.
    Cell(Box<Cell>),
    /// Something will not be run.
    Skip(Skip),
    /// A caveat about the run as a whole.
    Flag(Flag),
    /// The run was taken up again after an interruption.
    Resumed(Box<Resumed>),
    /// The run has ended, for now or for good.
    Ended(Ending),
    /// A cell that writes is begun: from here on its span holds what it wrote before it was cut
    /// short. The cell's id.
    Begun(String),
    /// What was read at some places after the last cell, where this run had written.
    Marked(Vec<FingerprintMark>),
}

impl From<Cell> for JournalEntry {
    fn from(cell: Cell) -> Self {
        JournalEntry::Cell(Box::new(cell))
    }
}

impl From<Skip> for JournalEntry {
    fn from(skip: Skip) -> Self {
        JournalEntry::Skip(skip)
    }
}

impl From<Flag> for JournalEntry {
    fn from(flag: Flag) -> Self {
        JournalEntry::Flag(flag)
    }
}

impl From<Resumed> for JournalEntry {
    fn from(resumed: Resumed) -> Self {
        JournalEntry::Resumed(Box::new(resumed))
    }
}

impl From<Ending> for JournalEntry {
    fn from(ending: Ending) -> Self {
        JournalEntry::Ended(ending)
    }
}

/// Who took a run up again, and where.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Resumed {
    /// RFC 3339; none for a simulated medium.
    pub started: Option<String>,
    /// The machine now; none for a simulated medium.
    pub host: Option<Host>,
    /// The program that took it up again, with its version.
    pub software: Software,
}

/// How and when a run ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ending {
    /// Whether it is complete, was interrupted, or failed.
    pub ended: Ended,
    /// RFC 3339; none for a simulated medium.
    pub finished: Option<String>,
    /// By the device's clock, all sittings of a resumed run together.
    pub elapsed_ns: u64,
    /// What the thermometers said at the end; matched by sensor to those of the start.
    pub temperatures: Vec<Temperature>,
    /// What the medium said of its own health at the end.
    #[serde(default)]
    pub health: Option<Health>,
}

/// The first line as it is written.
#[derive(Serialize)]
struct HeaderOut<'a> {
    line: u64,
    form: &'static str,
    opening: &'a Opening,
}

/// The first line as it is read back.
#[derive(Deserialize)]
struct HeaderIn {
    #[serde(rename = "opening")]
    _opening: Opening,
}

/// The first line of a journal.
pub(crate) fn header(opening: &Opening) -> Result<String, serde_json::Error> {
    let json = serde_json::to_string(&HeaderOut { line: 1, form: FORM, opening })?;
    serde_json::from_str::<HeaderIn>(&json)?;
    Ok(frame(&json))
}

/// The line of an event. It is read back first, because JSON has no infinities: a line that no
/// reader takes would spoil the journal.
fn line(entry: &JournalEntry, numbering: Numbering) -> Result<String, serde_json::Error> {
    let json = serde_json::to_string(entry)?;
    serde_json::from_str::<JournalEntry>(&json)?;
    Ok(frame(&numbering.number(&json)))
}

/// A journal being written. Holds the run's lock.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    /// Length of what is known to be durable.
    sound_bytes: u64,
    numbering: Numbering,
    closed: bool,
    _lock: Lock,
}

impl Journal {
    /// Opens the journal at its end. A torn last line is cut off; what is damaged before it stays
    /// as it is.
    pub(crate) fn continued(path: PathBuf, lock: Lock) -> Result<Journal, JournalError> {
        let JournalContents { tail, numbering, header, .. } =
            reading::read::<serde::de::IgnoredAny, serde::de::IgnoredAny>(&path)?;
        let at = WriteError::at(&path);
        let sound_bytes = mend(&path, tail).map_err(&at)?;
        let file = OpenOptions::new().append(true).open(&path).map_err(&at)?;
        drop(at);
        keep_header(&path, &header)?;
        Ok(Journal { file, path, sound_bytes, numbering, closed: false, _lock: lock })
    }

    /// Adds an event. When this returns `Ok`, the event is on the medium that holds the journal and
    /// survives kill -9 and power loss.
    ///
    /// After [`JournalError::Write`] the event is not in the journal; where the reason was a lack
    /// of space, appending can be tried again. When even that cannot be made sure, this and every
    /// later call returns [`JournalError::Closed`] or the first reason.
    pub fn append(&mut self, entry: &JournalEntry) -> Result<(), JournalError> {
        if self.closed {
            return Err(JournalError::Closed(self.path.clone()));
        }
        let line = line(entry, self.numbering)?;
        if let Err(error) = self.file.write_all(line.as_bytes()) {
            // Half a line in the middle would be taken for damage later.
            self.closed = self.file.set_len(self.sound_bytes).is_err();
            return Err(WriteError::at(&self.path)(error).into());
        }
        if let Err(error) = self.file.sync_data() {
            // The kernel forgets what it could not write; a second fdatasync would only seem to
            // succeed.
            self.closed = true;
            return Err(WriteError::at(&self.path)(error).into());
        }
        self.sound_bytes += line.len() as u64;
        self.numbering.advance();
        Ok(())
    }
}

/// Makes the journal end with a newline: what is torn goes, and a damaged newline behind a whole
/// line is written again. Its length.
fn mend(path: &Path, tail: Tail) -> io::Result<u64> {
    if !tail.torn {
        return Ok(tail.sound_bytes);
    }
    let file = OpenOptions::new().write(true).open(path)?;
    let mut length = tail.sound_bytes;
    if tail.open {
        // First the newline, then the cut: between the two the line before it must not look torn.
        file.write_all_at(b"\n", length)?;
        file.sync_all()?;
        length += 1;
    }
    file.set_len(length)?;
    file.sync_all()?;
    Ok(length)
}

/// Writes the copy of the first line where there is none that can be read: journals of earlier
/// versions have none.
fn keep_header(journal: &Path, header: &[u8]) -> Result<(), WriteError> {
    let line = frame(&String::from_utf8_lossy(header));
    if reading::copy_of_header(journal) == line.as_bytes() {
        return Ok(());
    }
    atomic_write(reading::header_path(journal), line.as_bytes())
}
