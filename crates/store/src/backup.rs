//! Backup of what a run overwrites on a medium, kept on disk until it is restored.
//!
//! A file in the run's directory: pieces in succession, each with its own checksums. A damaged
//! piece costs only itself. A torn piece at the end was never sealed, so nothing was overwritten at
//! its place on the medium.

mod damage;
mod frame;
mod room;
mod survey;

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use record::units::Bytes;
use rustix::fs::OFlags;

pub use damage::BackupDamage;
use frame::frame;
use survey::{BackupSurvey, LocatedPiece, header_at, read, survey};

use crate::atomic::{WriteError, parent_of, sync_directory};

/// Name of the backup in a run's directory.
pub const BACKUP_FILE: &str = "undo.log";
/// Longest piece, in bytes.
pub const MAX_PIECE_BYTES: u64 = 1 << 20;

/// Backup that is not yet restored. Dropping it leaves the file for another process.
#[derive(Debug)]
pub struct BackupLog {
    file: File,
    path: PathBuf,
    medium: String,
    pieces: Vec<BackupPiece>,
    kept: Vec<LocatedPiece>,
    damage: Vec<BackupDamage>,
    /// Offset of the next piece in the file, in bytes.
    end: u64,
    next: u64,
    /// True after a failed write. The kernel forgets what it could not write: a second attempt
    /// would only seem to succeed.
    closed: bool,
}

/// Former content of one place on the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackupPiece {
    /// Offset on the medium, in bytes.
    pub offset_bytes: u64,
    /// Length in bytes.
    pub bytes: u64,
    /// True if the copy passes its checksum.
    pub sound: bool,
}

/// Summary of a backup that a run has not restored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unrestored {
    /// The medium in words for people; empty where that is damaged.
    pub medium: String,
    /// Number of pieces in the log whose headers can be read.
    pub pieces: usize,
    /// Bytes of all pieces together.
    pub bytes: u64,
    /// Lowest offset of a piece on the medium, in bytes; `None` where only damage is left.
    pub first_offset_bytes: Option<u64>,
}

/// A backup could not be made, added to, read or removed.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// There is too little free space for it. Nothing was kept.
    #[error("what is overwritten is kept in '{}' first: {} are needed there, {} are there; set FLASHMARK_HOME to a directory with more room", directory.display(), Bytes(*needed_bytes), Bytes(*there_bytes))]
    Room {
        /// Directory of the backup.
        directory: PathBuf,
        /// Bytes of disk space that the log needs.
        needed_bytes: u64,
        /// Bytes that this user may still write there.
        there_bytes: u64,
    },
    /// This process may not make files of that size. Nothing was kept.
    #[error("what is overwritten is kept in '{}' first: {} are needed there, and no file may grow beyond {}; raise the limit (ulimit -f), or set FLASHMARK_HOME to another file system", directory.display(), Bytes(*needed_bytes), Bytes(*most_bytes))]
    Limit {
        /// Directory of the backup.
        directory: PathBuf,
        /// Bytes that the log needs in one file.
        needed_bytes: u64,
        /// The largest file that is allowed.
        most_bytes: u64,
    },
    /// The run already has a backup that is not restored.
    #[error("'{}' holds what this run has not restored yet; restore it first: flashmark restore", .0.display())]
    Unrestored(PathBuf),
    /// A piece is longer than [`MAX_PIECE_BYTES`].
    #[error("{} are too much for one piece of an undo log; at most {} go in one", Bytes(*.0), Bytes(MAX_PIECE_BYTES))]
    TooLong(u64),
    /// The log has no piece of this number.
    #[error("the undo log '{}' has {there} pieces; there is no piece {number} (the first is 0)", path.display())]
    NoPiece {
        /// Path of the backup.
        path: PathBuf,
        /// Number that was asked for, from 0.
        number: usize,
        /// Number of pieces in the log.
        there: usize,
    },
    /// A piece does not pass its checksum.
    #[error("{} at {} cannot be restored: the copy in '{}' is damaged", Bytes(*bytes), Bytes(*offset_bytes), path.display())]
    Damaged {
        /// Path of the backup.
        path: PathBuf,
        /// Offset of the piece on the medium, in bytes.
        offset_bytes: u64,
        /// Length of the piece, in bytes.
        bytes: u64,
    },
    /// The backup could not be read.
    #[error("cannot read the undo log '{}': {source}; it is needed to restore what was overwritten, make it readable and try again", path.display())]
    Read {
        /// Path of the backup.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// A write to it has failed; nothing more is kept, and nothing more may be overwritten.
    #[error("the undo log '{}' is closed after a failed write; what was kept before can be restored: flashmark restore", .0.display())]
    Closed(PathBuf),
    /// The backup could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl BackupLog {
    /// Creates the log in a run's directory, with room for `room_bytes` in pieces of 4 KiB and
    /// more.
    pub(crate) fn create(
        directory: &Path,
        medium: &str,
        room_bytes: u64,
    ) -> Result<BackupLog, BackupError> {
        let path = directory.join(BACKUP_FILE);
        remove_empty(&path)?;
        let at = WriteError::at(&path);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .map_err(&at)?;
        drop(at);
        let mut log = BackupLog::over(file, path, BackupSurvey::default());
        log.next = 0;
        // A header takes 40 bytes: a hundredth of 4 KiB.
        let needed_bytes = room_bytes.saturating_add(room_bytes / 64).saturating_add(1 << 16);
        let medium: String = medium.chars().take(250).collect();
        let begun = room::make(&log.file, directory, needed_bytes)
            .and_then(|()| log.keep(0, medium.as_bytes()))
            .and_then(|()| log.seal())
            .and_then(|()| Ok(sync_directory(directory).map_err(WriteError::at(&log.path))?));
        if let Err(error) = begun {
            // An empty log has nothing to restore; the next one takes its place.
            let _ = fs::remove_file(&log.path);
            return Err(error);
        }
        log.medium = medium;
        log.pieces.clear();
        log.kept.clear();
        Ok(log)
    }

    /// Opens the log in a run's directory, if there is one. Every piece is read once to check its
    /// checksum.
    pub(crate) fn open(directory: &Path) -> Result<Option<BackupLog>, BackupError> {
        let path = directory.join(BACKUP_FILE);
        let unreadable = |source| BackupError::Read { path: path.clone(), source };
        let Some(file) = open_regular(&path, true).map_err(unreadable)? else { return Ok(None) };
        let found = survey(&file, true).map_err(unreadable)?;
        Ok(Some(BackupLog::over(file, path, found)))
    }

    fn over(file: File, path: PathBuf, found: BackupSurvey) -> BackupLog {
        let BackupSurvey { pieces: kept, medium, damage, end, next, .. } = found;
        let pieces = kept.iter().map(piece).collect();
        BackupLog {
            file,
            path,
            medium: medium.unwrap_or_default(),
            pieces,
            kept,
            damage,
            end,
            next,
            closed: false,
        }
    }

    /// Description of the medium for people, as it was given; empty where it is damaged.
    pub fn medium(&self) -> &str {
        &self.medium
    }

    /// Adds the data of one place on the medium, at most [`MAX_PIECE_BYTES`]. They are durable
    /// after the next [`BackupLog::seal`], not before.
    ///
    /// After a write error the log takes nothing more.
    pub fn keep(&mut self, offset_bytes: u64, data: &[u8]) -> Result<(), BackupError> {
        if self.closed {
            return Err(BackupError::Closed(self.path.clone()));
        }
        let bytes = data.len() as u64;
        if bytes > MAX_PIECE_BYTES {
            return Err(BackupError::TooLong(bytes));
        }
        let framed = frame(self.next, offset_bytes, data);
        self.write(&framed)?;
        let header = header_at(&self.file, self.end).ok().flatten();
        let Some(header) = header else {
            return Err(self.close(io::Error::other("what was written cannot be read back")));
        };
        self.kept.push(LocatedPiece { header, at: self.end, sound: true });
        self.pieces.push(BackupPiece { offset_bytes, bytes, sound: true });
        self.end += framed.len() as u64;
        self.next = self.next.saturating_add(1);
        Ok(())
    }

    fn write(&mut self, framed: &[u8]) -> Result<(), BackupError> {
        // A torn piece of an earlier process is overwritten, and may be longer.
        let cut = self.file.metadata().and_then(|meta| {
            if meta.len() > self.end { self.file.set_len(self.end) } else { Ok(()) }
        });
        cut.and_then(|()| self.file.write_all_at(framed, self.end))
            .map_err(|error| self.close(error))
    }

    fn close(&mut self, error: io::Error) -> BackupError {
        self.closed = true;
        WriteError::at(&self.path)(error).into()
    }

    /// Makes everything kept so far durable: it then survives the end of the process and a power
    /// cut.
    pub fn seal(&mut self) -> Result<(), BackupError> {
        if self.closed {
            return Err(BackupError::Closed(self.path.clone()));
        }
        self.file.sync_data().map_err(|error| self.close(error))
    }

    /// Pieces in the order in which they were kept. They are restored in the reverse order.
    pub fn pieces(&self) -> &[BackupPiece] {
        &self.pieces
    }

    /// Reads a piece by its index in [`BackupLog::pieces`]; returns its offset on the medium, in
    /// bytes.
    pub fn read(&mut self, number: usize, data: &mut Vec<u8>) -> Result<u64, BackupError> {
        let kept = self.piece(number)?;
        let BackupPiece { offset_bytes, bytes, .. } = piece(&kept);
        let failed = |source| BackupError::Read { path: self.path.clone(), source };
        let is_header_sound = header_at(&self.file, kept.at).map_err(failed)? == Some(kept.header);
        if !is_header_sound || !read(&self.file, &kept, data).map_err(failed)? {
            data.clear();
            return Err(BackupError::Damaged { path: self.path.clone(), offset_bytes, bytes });
        }
        Ok(offset_bytes)
    }

    fn piece(&self, number: usize) -> Result<LocatedPiece, BackupError> {
        let there = self.kept.len();
        self.kept.get(number).copied().ok_or_else(|| BackupError::NoPiece {
            path: self.path.clone(),
            number,
            there,
        })
    }

    /// Damage that was found when the log was opened.
    pub fn damage(&self) -> &[BackupDamage] {
        &self.damage
    }

    /// Removes the log durably, once everything is restored.
    pub fn clear(self) -> Result<(), BackupError> {
        let at = WriteError::at(&self.path);
        fs::remove_file(&self.path).map_err(&at)?;
        Ok(sync_directory(parent_of(&self.path)).map_err(&at)?)
    }
}

fn piece(kept: &LocatedPiece) -> BackupPiece {
    BackupPiece {
        offset_bytes: kept.header.offset_bytes,
        bytes: u64::from(kept.header.length),
        sound: kept.sound,
    }
}

/// Summary of the backup in a run's directory, from headers only; `None` where there is no log, or
/// an empty one.
pub(crate) fn unrestored(directory: &Path) -> Option<Unrestored> {
    let file = open_regular(&directory.join(BACKUP_FILE), false).ok().flatten()?;
    let found = survey(&file, false).ok()?;
    if !is_unrestored(&found) {
        return None;
    }
    let bytes = found.pieces.iter().map(|kept| u64::from(kept.header.length)).sum();
    let first_offset_bytes = found.pieces.iter().map(|kept| kept.header.offset_bytes).min();
    Some(Unrestored {
        medium: found.medium.unwrap_or_default(),
        pieces: found.pieces.len(),
        bytes,
        first_offset_bytes,
    })
}

fn is_unrestored(found: &BackupSurvey) -> bool {
    !found.pieces.is_empty() || found.damage.iter().any(BackupDamage::is_loss)
}

/// Removes a backup without pieces: its process ended before it kept anything.
fn remove_empty(path: &Path) -> Result<(), BackupError> {
    let unreadable = |source| BackupError::Read { path: path.to_owned(), source };
    let Some(file) = open_regular(path, false).map_err(unreadable)? else { return Ok(()) };
    if is_unrestored(&survey(&file, false).map_err(unreadable)?) {
        return Err(BackupError::Unrestored(path.to_owned()));
    }
    Ok(fs::remove_file(path).map_err(WriteError::at(path))?)
}

/// Opens a regular file, never a link, pipe or device; `None` where there is none. A file that
/// cannot be written to is opened for reading: its pieces can still be restored.
fn open_regular(path: &Path, to_write: bool) -> io::Result<Option<File>> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let open =
        |to_write| OpenOptions::new().read(true).write(to_write).custom_flags(flags).open(path);
    let may_not = |error: &io::Error| {
        matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
    };
    let file = match open(to_write) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if to_write && may_not(&error) => open(false)?,
        other => other?,
    };
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    Ok(Some(file))
}
