//! The journal: what a run is, then what came of it, one durable line after the other.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use record::{Cell, Ended, Fingerprint, Flag, Health, Host, Mark, Medium, PlannedCell, Run, Skip, Software, Target, Temperature};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::atomic::WriteError;
use crate::line::{frame, scan};
use crate::lock::Lock;

/// The version of the journal's form. A change of [`record::SCHEMA`] is a change of this too: the lines hold parts of a record.
pub const FORM: &str = "flashmark-journal/1";
const FORM_FAMILY: &str = "flashmark-journal/";

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
    /// Doubts from the start.
    pub flags: Vec<Flag>,
    /// What the caller needs to plan the rest again; not looked into here.
    pub command: serde_json::Value,
    /// How the medium is known again; none where there is no raw medium, and in journals of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<Fingerprint>,
}

/// One event of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Entry {
    /// A cell has ended.
    Cell(Box<Cell>),
    /// Something will not be run.
    Skip(Skip),
    /// A doubt about the run as a whole.
    Flag(Flag),
    /// The run was taken up again after an interruption.
    Resumed(Box<Resumed>),
    /// The run has ended, for now or for good.
    Ended(Ending),
    /// A cell that writes is begun: from here on its span holds what it wrote before it was cut short. The cell's id.
    Begun(String),
    /// What was read at some places after the last cell, where this run had written.
    Marked(Vec<Mark>),
}

impl From<Cell> for Entry {
    fn from(cell: Cell) -> Self {
        Entry::Cell(Box::new(cell))
    }
}

impl From<Skip> for Entry {
    fn from(skip: Skip) -> Self {
        Entry::Skip(skip)
    }
}

impl From<Flag> for Entry {
    fn from(flag: Flag) -> Self {
        Entry::Flag(flag)
    }
}

impl From<Resumed> for Entry {
    fn from(resumed: Resumed) -> Self {
        Entry::Resumed(Box::new(resumed))
    }
}

impl From<Ending> for Entry {
    fn from(ending: Ending) -> Self {
        Entry::Ended(ending)
    }
}

/// Who took a run up again, and where.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Resumed {
    /// RFC 3339; none for a simulated medium.
    pub started: Option<String>,
    /// The machine now; none for a simulated medium.
    pub host: Option<Host>,
    /// The program now.
    pub software: Software,
}

/// How and when a run ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ending {
    /// How.
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

/// A journal could not be read or continued.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// There is none, or it cannot be opened.
    #[error("cannot read the journal '{}': {source}; name another run, `flashmark runs` lists them", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The run is a single record file.
    #[error("'{}' is a record without its journal; it can be shown, not resumed", .0.display())]
    RecordOnly(PathBuf),
    /// It is empty, or its first line is incomplete.
    #[error("the journal '{}' does not say what was run: its first line is missing; start a new run", path.display())]
    NoHeader {
        /// The file.
        path: PathBuf,
    },
    /// A line is damaged, and not by an interrupted write.
    #[error("the journal '{}' is damaged in line {line}: {reason}; it cannot be resumed, start a new run", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// Written by a newer version.
    #[error("the journal '{}' is of form '{found}', this version reads '{FORM}'; a newer flashmark can resume it", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// What it says it is.
        found: String,
    },
    /// An event that would not be the same when read back (a number that is not finite). Nothing was written.
    #[error("this event cannot be kept in a journal: {0}")]
    Unrepresentable(#[from] serde_json::Error),
    /// The medium that holds the journal failed in a way that leaves its content in doubt. Nothing more is written to it.
    #[error("the journal '{}' is closed after a failed write; the cells before it are kept, `flashmark resume` continues", .0.display())]
    Closed(PathBuf),
    /// A line could not be written. Where it was for want of space, another try may succeed.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// What a journal says, in as much detail as `H` (of the header) and `E` (of each event) take from it.
#[derive(Debug, PartialEq)]
pub(crate) struct Contents<H, E> {
    pub opening: H,
    pub entries: Vec<E>,
    /// Length of the whole lines, in bytes.
    pub sound_bytes: u64,
    /// Whether a torn line follows them.
    pub torn_tail: bool,
}

/// The first line as it is written.
#[derive(Serialize)]
struct HeaderOut<'a> {
    form: &'static str,
    opening: &'a Opening,
}

/// The first line as it is read, once its form is known.
#[derive(Deserialize)]
struct HeaderIn<H> {
    opening: H,
}

#[derive(Deserialize)]
struct FormOnly {
    form: String,
}

/// The first line of a journal.
pub(crate) fn header(opening: &Opening) -> Result<String, serde_json::Error> {
    let json = serde_json::to_string(&HeaderOut { form: FORM, opening })?;
    serde_json::from_str::<HeaderIn<Opening>>(&json)?;
    Ok(frame(&json))
}

/// The line of an event. It is read back first, because JSON has no infinities: a line that no reader takes would spoil the journal.
fn line(entry: &Entry) -> Result<String, serde_json::Error> {
    let json = serde_json::to_string(entry)?;
    serde_json::from_str::<Entry>(&json)?;
    Ok(frame(&json))
}

/// Reads a journal file.
pub(crate) fn read<H: DeserializeOwned, E: DeserializeOwned>(path: &Path) -> Result<Contents<H, E>, JournalError> {
    let unreadable = |source| JournalError::Read { path: path.to_owned(), source };
    parse(&read_regular(path).map_err(unreadable)?, path)
}

/// The bytes of a file that has an end: never a pipe or a device.
pub(crate) fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    fs::read(path)
}

/// Reads the bytes of a journal; `path` is only for the messages.
pub(crate) fn parse<H: DeserializeOwned, E: DeserializeOwned>(bytes: &[u8], path: &Path) -> Result<Contents<H, E>, JournalError> {
    let corrupt = |line, reason| JournalError::Corrupt { path: path.to_owned(), line, reason };
    let found = scan(bytes).map_err(|bad| corrupt(bad.number, bad.reason.to_owned()))?;
    let (first, rest) = found.lines.split_first().ok_or_else(|| JournalError::NoHeader { path: path.to_owned() })?;
    check_form(first, path)?;
    let HeaderIn { opening } = serde_json::from_slice(first).map_err(|error| corrupt(1, without_place(&error)))?;
    let entries =
        rest.iter().zip(2..).map(|(json, number)| serde_json::from_slice(json).map_err(|error| corrupt(number, without_place(&error))));
    Ok(Contents { opening, entries: entries.collect::<Result<_, _>>()?, sound_bytes: found.sound_bytes, torn_tail: found.torn_tail })
}

/// The error without the line serde_json counts, which is always the first: it sees one line at a time.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line 1 column").map_or(text.as_str(), |(what, _)| what).to_owned()
}

/// Whether the first line is that of a journal of this version.
fn check_form(header: &[u8], path: &Path) -> Result<(), JournalError> {
    let form = serde_json::from_slice::<FormOnly>(header).map(|header| header.form).unwrap_or_default();
    let version = |form: &str| form.strip_prefix(FORM_FAMILY)?.parse::<u32>().ok();
    match version(&form) {
        _ if form == FORM => Ok(()),
        found if found > version(FORM) => Err(JournalError::Newer { path: path.to_owned(), found: form }),
        _ => Err(JournalError::Corrupt {
            path: path.to_owned(),
            line: 1,
            reason: "it is not the first line of a flashmark journal".to_owned(),
        }),
    }
}

/// A journal being written. Holds the run's lock.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    /// Length of what is known to be durable.
    sound_bytes: u64,
    closed: bool,
    _lock: Lock,
}

impl Journal {
    /// Opens the journal at its end. A torn last line is cut off.
    pub(crate) fn continued(path: PathBuf, lock: Lock) -> Result<Journal, JournalError> {
        let Contents { sound_bytes, torn_tail, .. } = read::<Opening, Entry>(&path)?;
        let at = WriteError::at(&path);
        let file = OpenOptions::new().append(true).open(&path).map_err(&at)?;
        if torn_tail {
            file.set_len(sound_bytes).and_then(|()| file.sync_all()).map_err(&at)?;
        }
        drop(at);
        Ok(Journal { file, path, sound_bytes, closed: false, _lock: lock })
    }

    /// Adds an event. When this returns `Ok`, the event is on the medium that holds the journal and survives kill -9 and power loss.
    ///
    /// After [`JournalError::Write`] the event is not in the journal; where the reason was a lack of space, appending can be tried
    /// again. When even that cannot be made sure, this and every later call returns [`JournalError::Closed`] or the first reason.
    pub fn append(&mut self, entry: &Entry) -> Result<(), JournalError> {
        if self.closed {
            return Err(JournalError::Closed(self.path.clone()));
        }
        let line = line(entry)?;
        if let Err(error) = self.file.write_all(line.as_bytes()) {
            // Half a line in the middle would be taken for damage later.
            self.closed = self.file.set_len(self.sound_bytes).is_err();
            return Err(WriteError::at(&self.path)(error).into());
        }
        if let Err(error) = self.file.sync_data() {
            // The kernel forgets what it could not write; a second fdatasync would only seem to succeed.
            self.closed = true;
            return Err(WriteError::at(&self.path)(error).into());
        }
        self.sound_bytes += line.len() as u64;
        Ok(())
    }
}
