//! The journal of a run: its description, then its events, each as one durable line.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;

use record::{
    Cell, Ended, Fingerprint, FingerprintMark, Flag, Health, Host, Medium, PlannedCell, Run, Skip,
    Software, Target, Temperature,
};
use serde::{Deserialize, Serialize};

use crate::atomic::WriteError;
use crate::journal_form::{FORM, JournalError};
use crate::line::{checksum, frame, numbered};
use crate::lock::Lock;
use crate::reading::{self, JournalContents};

/// Description of a run, known before its first cell: the first line of its journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Opening {
    /// This execution, as far as it is known then.
    pub run: Run,
    /// The thing under test.
    pub medium: Medium,
    /// The machine; none for a simulated medium.
    pub host: Option<Host>,
    /// The way to the medium.
    pub target: Target,
    /// Cells to be measured, in order.
    pub plan: Vec<PlannedCell>,
    /// Tests and cells that are left out from the start.
    pub skipped: Vec<Skip>,
    /// Caveats from the start.
    pub flags: Vec<Flag>,
    /// Request of the caller, with which it plans the rest again; this crate does not read it.
    pub command: serde_json::Value,
    /// Content by which `resume` recognises the medium; `None` where there is no raw medium.
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
    /// The run was resumed after an interruption.
    Resumed(Box<Resumed>),
    /// The run has ended, for now or for good.
    Ended(Ending),
    /// A cell that writes has begun, by its id. If it is cut short, its span holds what it wrote by
    /// then.
    Begun(String),
    /// Content of some places that this run had written, read after the last cell.
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

/// Time, host and program of a resumption.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Resumed {
    /// RFC 3339; none for a simulated medium.
    pub started: Option<String>,
    /// The machine now; none for a simulated medium.
    pub host: Option<Host>,
    /// The program that resumed it, with its version.
    pub software: Software,
}

/// State and time at the end of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ending {
    /// State of the run: complete, interrupted or failed.
    pub ended: Ended,
    /// RFC 3339; none for a simulated medium.
    pub finished: Option<String>,
    /// Nanoseconds by the device's clock, all sessions of a resumed run together.
    pub elapsed_ns: u64,
    /// Temperatures at the end; matched by sensor to those of the start.
    pub temperatures: Vec<Temperature>,
    /// Health that the medium reported at the end.
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

/// Makes the first line of a journal.
pub(crate) fn header(opening: &Opening) -> Result<String, serde_json::Error> {
    let json = serde_json::to_string(&HeaderOut { line: 1, form: FORM, opening })?;
    serde_json::from_str::<HeaderIn>(&json)?;
    Ok(frame(&json))
}

/// Makes the line of an event. It is parsed once, because JSON has no infinities: a line that
/// nobody can read would spoil the journal.
fn line(entry: &JournalEntry, number: u64, of: u32) -> Result<String, serde_json::Error> {
    let json = serde_json::to_string(entry)?;
    serde_json::from_str::<JournalEntry>(&json)?;
    Ok(frame(&numbered(&json, number, of)))
}

/// A journal being written. Holds the run's lock.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    /// Length that is known to be durable, in bytes.
    sound_bytes: u64,
    /// Number of the next line.
    next: u64,
    /// Checksum of the first line.
    of: u32,
    closed: bool,
    _lock: Lock,
}

impl Journal {
    /// Opens the journal behind the last line that counts; what follows it is cut off.
    pub(crate) fn continued(path: PathBuf, lock: Lock) -> Result<Journal, JournalError> {
        let JournalContents { sound_bytes, next, header, .. } =
            reading::read::<serde::de::IgnoredAny, JournalEntry>(&path)?;
        let at = WriteError::at(&path);
        let mut file = OpenOptions::new().append(true).open(&path).map_err(&at)?;
        let sound_bytes = cut(&mut file, sound_bytes, &header).map_err(&at)?;
        drop(at);
        let of = checksum(header.as_bytes());
        Ok(Journal { file, path, sound_bytes, next, of, closed: false, _lock: lock })
    }

    /// Adds an event. When this returns `Ok`, the event is durable and survives kill -9 and power
    /// loss.
    ///
    /// After [`JournalError::Write`] the event is not in the journal; where the reason was a lack
    /// of space, the caller may try again. If that state cannot be guaranteed either, this and
    /// every later call returns [`JournalError::Closed`] or the first reason.
    pub fn append(&mut self, entry: &JournalEntry) -> Result<(), JournalError> {
        if self.closed {
            return Err(JournalError::Closed(self.path.clone()));
        }
        let line = line(entry, self.next, self.of)?;
        if let Err(error) = self.file.write_all(line.as_bytes()) {
            // Nothing that follows half a line is read.
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
        self.next += 1;
        Ok(())
    }
}

/// Makes the journal end behind the lines that count. If not even the first one does, it is written
/// anew from its copy. Returns the length in bytes.
fn cut(file: &mut File, sound_bytes: u64, header: &str) -> io::Result<u64> {
    if sound_bytes > 0 && file.metadata()?.len() == sound_bytes {
        return Ok(sound_bytes);
    }
    file.set_len(sound_bytes)?;
    if sound_bytes == 0 {
        file.write_all(frame(header).as_bytes())?;
    }
    file.sync_all()?;
    Ok(file.metadata()?.len())
}
