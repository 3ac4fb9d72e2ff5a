//! Backup of what a run overwrites on a medium, kept on disk until it is restored.
//!
//! A file in the run's directory: pieces in succession, each with its own checksums. A damaged
//! piece costs only itself. A torn piece at the end was never sealed, so nothing was overwritten at
//! its place on the medium.

mod frame;

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use record::units::Bytes;
use rustix::fs::{FallocateFlags, OFlags, fallocate, fstatvfs};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

use frame::{HEADER_BYTES, MAGIC, PieceHeader, find_magic, frame};

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
    /// Pieces in the order of keeping; `None` for damage in which pieces may have been.
    pieces: Vec<Option<LocatedPiece>>,
    /// Place of the next piece in the file; `None` if nothing may be added: in a log that was left,
    /// and after a failed write. The kernel forgets what it could not write: a second attempt would
    /// only seem to succeed.
    end: Option<u64>,
}

/// Summary of a backup that a run has not restored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unrestored {
    /// The medium in words for people; empty where that is damaged.
    pub medium: String,
    /// Number of pieces in the log, and of damaged parts in which pieces may have been.
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
    /// The run already has a backup that is not restored.
    #[error("'{}' holds what this run has not restored yet; restore it first: flashmark restore", .0.display())]
    Unrestored(PathBuf),
    /// A piece does not pass its checksum.
    #[error("it fails its checksum in '{}'", .0.display())]
    Damaged(PathBuf),
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
        if let Some(left) = BackupLog::open(directory)? {
            // A log without pieces is of a process that ended before it kept anything.
            if !left.pieces.is_empty() {
                return Err(BackupError::Unrestored(path));
            }
            left.clear()?;
        }
        let mut create = OpenOptions::new();
        create.read(true).write(true).create_new(true).mode(0o600);
        let file = create.open(&path).map_err(WriteError::at(&path))?;
        let medium: String = medium.chars().take(250).collect();
        let mut log = BackupLog { file, path, medium, pieces: Vec::new(), end: Some(0) };
        let begun = log.begin(directory, room_bytes);
        begun.inspect_err(|_| drop(fs::remove_file(&log.path)))?;
        Ok(log)
    }

    fn begin(&mut self, directory: &Path, room_bytes: u64) -> Result<(), BackupError> {
        // A header takes 40 bytes: a hundredth of 4 KiB.
        let needed_bytes = room_bytes.saturating_add(room_bytes / 64).saturating_add(1 << 16);
        make_room(&self.file, directory, needed_bytes)?;
        self.append(0, 0, self.medium.clone().as_bytes())?;
        self.seal()?;
        Ok(sync_directory(directory).map_err(WriteError::at(&self.path))?)
    }

    /// Opens the log in a run's directory, if there is one.
    pub(crate) fn open(directory: &Path) -> Result<Option<BackupLog>, BackupError> {
        let path = directory.join(BACKUP_FILE);
        let unreadable = |source| BackupError::Read { path: path.clone(), source };
        let Some(file) = open_regular(&path).map_err(unreadable)? else { return Ok(None) };
        let (medium, pieces) = survey(&file).map_err(unreadable)?;
        Ok(Some(BackupLog { file, path, medium, pieces, end: None }))
    }

    /// Adds the data of one place on the medium, at most [`MAX_PIECE_BYTES`]. They are durable
    /// after the next [`BackupLog::seal`], not before.
    ///
    /// After a write error the log takes nothing more.
    pub fn keep(&mut self, offset_bytes: u64, data: &[u8]) -> Result<(), BackupError> {
        let piece = self.append(self.pieces.len() as u64 + 1, offset_bytes, data)?;
        self.pieces.push(Some(piece));
        Ok(())
    }

    fn append(
        &mut self,
        number: u64,
        offset_bytes: u64,
        data: &[u8],
    ) -> Result<LocatedPiece, BackupError> {
        let at = self.end.take().ok_or_else(|| BackupError::Closed(self.path.clone()))?;
        let too_long = || io::Error::from(io::ErrorKind::InvalidInput);
        let (header, framed) = (data.len() as u64 <= MAX_PIECE_BYTES)
            .then(|| frame(number, offset_bytes, data))
            .ok_or_else(too_long)
            .and_then(|framed| self.file.write_all_at(&framed.1, at).map(|()| framed))
            .map_err(WriteError::at(&self.path))?;
        self.end = Some(at + framed.len() as u64);
        Ok(LocatedPiece { header, at })
    }

    /// Makes everything kept so far durable: it then survives the end of the process and a power
    /// cut.
    pub fn seal(&mut self) -> Result<(), BackupError> {
        let end = self.end.take().ok_or_else(|| BackupError::Closed(self.path.clone()))?;
        self.file.sync_data().map_err(WriteError::at(&self.path))?;
        self.end = Some(end);
        Ok(())
    }

    /// Places of the pieces on the medium, offset and length in bytes, in the order in which they
    /// were kept. They are restored in the reverse order. `None` stands for damage in which pieces
    /// may have been whose places are unknown.
    pub fn places(&self) -> impl Iterator<Item = Option<(u64, u64)>> {
        let place = |kept: &LocatedPiece| (kept.header.offset_bytes, kept.header.length.into());
        self.pieces.iter().map(move |kept| kept.as_ref().map(place))
    }

    /// Reads a piece by its index in [`BackupLog::places`].
    ///
    /// # Errors
    /// It cannot be read, or does not pass its checksum.
    pub fn read(&mut self, number: usize, data: &mut Vec<u8>) -> Result<(), BackupError> {
        let damaged = || BackupError::Damaged(self.path.clone());
        let kept = self.pieces.get(number).copied().flatten().ok_or_else(damaged)?;
        let failed = |source| BackupError::Read { path: self.path.clone(), source };
        kept.read(&self.file, data).map_err(failed)?.then_some(()).ok_or_else(damaged)
    }

    /// Removes the log durably, once everything is restored.
    pub fn clear(self) -> Result<(), BackupError> {
        let at = WriteError::at(&self.path);
        fs::remove_file(&self.path).map_err(&at)?;
        Ok(sync_directory(parent_of(&self.path)).map_err(&at)?)
    }
}

/// Summary of the backup in a run's directory, from headers only; `None` where there is no log, or
/// an empty one.
pub(crate) fn unrestored(directory: &Path) -> Option<Unrestored> {
    let log = BackupLog::open(directory).ok().flatten().filter(|log| !log.pieces.is_empty())?;
    let bytes = log.places().flatten().map(|(_, bytes)| bytes).sum();
    let first_offset_bytes = log.places().flatten().map(|(offset_bytes, _)| offset_bytes).min();
    Some(Unrestored { pieces: log.pieces.len(), bytes, first_offset_bytes, medium: log.medium })
}

/// Reserves disk space for the file; where the file system cannot, compares the need with what is
/// free. The length of the file does not change, so that its end is the end of the last piece.
fn make_room(file: &File, directory: &Path, needed_bytes: u64) -> Result<(), BackupError> {
    let failed = |error: io::Error| BackupError::from(WriteError::at(directory)(error));
    // A write beyond this limit ends the process, and `fallocate` does not check it.
    if getrlimit(Resource::Fsize).current.is_some_and(|most_bytes| most_bytes < needed_bytes) {
        return Err(failed(io::ErrorKind::FileTooLarge.into()));
    }
    let free = fstatvfs(file).map_err(|error| failed(error.into()))?;
    let there_bytes = free.f_bavail.saturating_mul(free.f_frsize);
    let directory = directory.to_owned();
    let too_little = BackupError::Room { directory, needed_bytes, there_bytes };
    loop {
        return match fallocate(file, FallocateFlags::KEEP_SIZE, 0, needed_bytes) {
            Ok(()) => Ok(()),
            Err(Errno::INTR) => continue,
            Err(Errno::OPNOTSUPP | Errno::NOSYS) if there_bytes >= needed_bytes => Ok(()),
            Err(Errno::NOSPC | Errno::DQUOT | Errno::FBIG | Errno::OPNOTSUPP | Errno::NOSYS) => {
                Err(too_little)
            }
            Err(error) => Err(failed(error.into())),
        };
    }
}

/// Opens a regular file for reading, never a link, pipe or device; `None` where there is none.
fn open_regular(path: &Path) -> io::Result<Option<File>> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    Ok(Some(file))
}

/// A piece and the offset of its header in the file.
#[derive(Clone, Copy, Debug)]
struct LocatedPiece {
    header: PieceHeader,
    at: u64,
}

impl LocatedPiece {
    /// The first piece with a whole header from this offset in the file on.
    fn next(file: &File, from: u64) -> io::Result<Option<LocatedPiece>> {
        let (mut at, mut bytes) = (from, vec![0; HEADER_BYTES as usize]);
        loop {
            let got = read_up_to(file, at, &mut bytes)?;
            match find_magic(&bytes[..got]) {
                Some(0) => {
                    let header = PieceHeader::read(&bytes[..got.min(HEADER_BYTES as usize)]);
                    match header.filter(|it| u64::from(it.length) <= MAX_PIECE_BYTES) {
                        Some(header) => return Ok(Some(LocatedPiece { header, at })),
                        None => at += 1,
                    }
                }
                Some(place) => at += place as u64,
                None if got < bytes.len() => return Ok(None),
                // The end may hold the beginning of the next magic.
                None => at += (got - MAGIC.len() + 1) as u64,
            }
            // Mostly the first header is where it is looked for.
            bytes.resize(1 << 16, 0);
        }
    }

    /// Offset in the file at which the next piece begins.
    fn end(&self) -> u64 {
        self.at + HEADER_BYTES + u64::from(self.header.length)
    }

    /// Reads the data; returns true if it passes its checksum.
    fn read(&self, file: &File, data: &mut Vec<u8>) -> io::Result<bool> {
        data.resize(self.header.length as usize, 0);
        let got = read_up_to(file, self.at + HEADER_BYTES, data)?;
        self.header.unmask(data);
        Ok(got == data.len() && self.header.fits(data))
    }
}

/// Reads all headers: the description of the medium, and the pieces with the damage between them.
/// Goes from header to header by their lengths, and from a damaged one to the next that is whole.
fn survey(file: &File) -> io::Result<(String, Vec<Option<LocatedPiece>>)> {
    let size = file.metadata()?.len();
    let (mut medium, mut pieces) = (String::new(), Vec::new());
    let (mut end, mut before, mut next) = (0, 0, LocatedPiece::next(file, 0)?);
    while let Some(piece) = next {
        let number = piece.header.number;
        if number > std::mem::replace(&mut before, number).saturating_add(1) {
            pieces.push(None);
        }
        end = piece.end();
        next = LocatedPiece::next(file, end)?;
        if end != size && next.is_none_or(|next| next.at != end) {
            // Bytes of its data may be missing.
            next = LocatedPiece::next(file, piece.at + HEADER_BYTES)?;
        }
        if end > size && next.is_none() {
            // It was being kept when the program ended: nothing has been overwritten there.
            return Ok((medium, pieces));
        }
        if number > 0 {
            pieces.push(Some(piece));
            continue;
        }
        let mut data = Vec::new();
        if piece.read(file, &mut data)? {
            medium = String::from_utf8_lossy(&data).into_owned();
        }
    }
    // What is shorter than a header is the beginning of one; zeros were never written.
    if size >= end + HEADER_BYTES && !is_zeros(file, end)? {
        pieces.push(None);
    }
    Ok((medium, pieces))
}

/// True if the file has only zeros from this offset on.
fn is_zeros(file: &File, from: u64) -> io::Result<bool> {
    let (mut at, mut bytes) = (from, vec![0; 1 << 16]);
    loop {
        let got = read_up_to(file, at, &mut bytes)?;
        if got == 0 || bytes[..got].iter().any(|byte| *byte != 0) {
            return Ok(got == 0);
        }
        at += got as u64;
    }
}

/// Fills the buffer as far as the file goes; returns the number of bytes read.
fn read_up_to(file: &File, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
    let mut got = 0;
    while got < buffer.len() {
        match file.read_at(&mut buffer[got..], at + got as u64) {
            Ok(0) => break,
            Ok(more) => got += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(got)
}
