//! The journal of a run: its description, then its events, each as one durable line.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;

use record::{Cell, JournalEntry, Opening};

use crate::atomic::WriteError;
use crate::journal_form::{FORM, JournalError};
use crate::line::{checksum, frame, numbered};
use crate::lock::Lock;
use crate::reading::{self, JournalContents};

/// Makes the first line of a journal.
pub(crate) fn header(opening: &Opening) -> Result<String, serde_json::Error> {
    let opening = opening.encode();
    Opening::decode(&opening)?;
    Ok(frame(&format!("{{\"line\":1,\"form\":\"{FORM}\",\"opening\":{opening}}}")))
}

/// Makes the line of an event. It is parsed once, because JSON has no infinities: a line that
/// nobody can read would spoil the journal.
fn line(json: &str, number: u64, of: u32) -> Result<String, serde_json::Error> {
    JournalEntry::decode(json)?;
    Ok(frame(&numbered(json, number, of)))
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
            reading::read(&path, JournalEntry::decode)?;
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
        self.add(&entry.encode())
    }

    /// The same for a cell that has ended, which stays with the caller: most of a journal is cells.
    pub fn append_cell(&mut self, cell: &Cell) -> Result<(), JournalError> {
        self.add(&format!("{{\"cell\":{}}}", cell.encode()))
    }

    fn add(&mut self, json: &str) -> Result<(), JournalError> {
        if self.closed {
            return Err(JournalError::Closed(self.path.clone()));
        }
        let line = line(json, self.next, self.of)?;
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
