//! Repeats recorded operations.

mod side;

use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use blockio::now_ns;
use rustix::fs::{self, Mode};
use rustix::io::Errno;
use stats::Random;

use self::side::side_by_side;
use super::NAME;
use crate::trace::files::{FileAction, FileOperation};
use crate::workload::WorkError;

/// Bytes of a piece into which longer transfers are split.
const PIECE_BYTES: u64 = 16 << 20;
/// Mode of new files; the file system keeps it, and it costs nothing.
const MODE: Mode = Mode::from_raw_mode(0o644);
/// Alignment in bytes that direct I/O needs at most.
const ALIGN_BYTES: usize = 4096;
/// Longest sleep, so that an interruption is noticed.
const NAP: Duration = Duration::from_millis(50);

/// Beginning and end of an operation, in nanoseconds.
pub(super) type OperationTimes = [u64; 2];

/// Open files, and the directory that they are in.
pub(super) struct FilePlayer<'a> {
    root: PathBuf,
    files: Mutex<HashMap<u64, Arc<OwnedFd>>>,
    stop: &'a AtomicBool,
    /// When the recording begins: no operation begins earlier than then. `None`: each begins as
    /// soon as those before it are done.
    begun_ns: Option<u64>,
    /// Data to write; random, so that a compressing file system or controller gains nothing.
    content: AlignedBuffer,
}

impl<'a> FilePlayer<'a> {
    /// Player in this directory, with transfers of at most so many bytes.
    pub fn new(
        root: &Path,
        stop: &'a AtomicBool,
        begun_ns: Option<u64>,
        longest_bytes: u64,
    ) -> FilePlayer<'a> {
        let mut content = AlignedBuffer::new(longest_bytes.min(PIECE_BYTES));
        let mut random = Random::for_purpose(0, "files/content");
        content.0.chunks_mut(8).for_each(|part| {
            part.copy_from_slice(&random.bits().to_ne_bytes()[..part.len()]);
        });
        FilePlayer { root: root.to_owned(), files: Mutex::default(), stop, begun_ns, content }
    }

    /// Repeats operations; those that overlapped in the recording run in parallel.
    pub fn play(&self, operations: &[FileOperation]) -> Result<Vec<OperationTimes>, WorkError> {
        let mut scratch = self.scratch();
        let mut done = Vec::with_capacity(operations.len());
        let mut rest = operations;
        while !rest.is_empty() {
            let (group, after) = rest.split_at(together(rest));
            rest = after;
            match group {
                [one] => done.push(self.one(one, &mut scratch)?),
                _ => done.extend(side_by_side(self, group)?),
            }
        }
        Ok(done)
    }

    /// Does one operation.
    pub fn one(
        &self,
        operation: &FileOperation,
        scratch: &mut AlignedBuffer,
    ) -> Result<OperationTimes, WorkError> {
        self.wait(operation)?;
        let begun_ns = now_ns();
        let performed = self.perform(&operation.action, scratch);
        let ended_ns = now_ns();
        performed.map_err(|error| refused(&operation.action, error))?;
        Ok([begun_ns, ended_ns])
    }

    /// Buffer for the reads of one thread.
    pub fn scratch(&self) -> AlignedBuffer {
        AlignedBuffer::new(self.content.room())
    }

    fn wait(&self, operation: &FileOperation) -> Result<(), WorkError> {
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Err(WorkError::interrupted(NAME));
            }
            let Some(begun_ns) = self.begun_ns else { return Ok(()) };
            let left_ns = begun_ns.saturating_add(operation.at_ns).saturating_sub(now_ns());
            if left_ns == 0 {
                return Ok(());
            }
            std::thread::sleep(Duration::from_nanos(left_ns).min(NAP));
        }
    }

    fn files(&self) -> MutexGuard<'_, HashMap<u64, Arc<OwnedFd>>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn file(&self, number: u64) -> io::Result<Arc<OwnedFd>> {
        self.files().get(&number).cloned().ok_or_else(|| Errno::BADF.into())
    }

    fn perform(&self, action: &FileAction, scratch: &mut AlignedBuffer) -> io::Result<()> {
        let at = |path: &str| self.root.join(path);
        match action {
            FileAction::Open { path, file, flags, .. } => {
                let opened = fs::open(at(path), *flags, MODE)?;
                self.files().insert(*file, Arc::new(opened));
            }
            FileAction::Close { file } => drop(self.files().remove(file)),
            FileAction::Read { file, offset, bytes } => {
                read(&*self.file(*file)?, scratch, *offset, *bytes)?;
            }
            FileAction::Write { file, offset, bytes } => {
                write_all_at(&*self.file(*file)?, &self.content, *offset, *bytes)?;
            }
            FileAction::Fsync { file } => fs::fsync(&*self.file(*file)?)?,
            FileAction::Fdatasync { file } => fs::fdatasync(&*self.file(*file)?)?,
            FileAction::Truncate { file, bytes } => fs::ftruncate(&*self.file(*file)?, *bytes)?,
            FileAction::Rename { from, to } => fs::rename(at(from), at(to))?,
            FileAction::Link { from, to } => fs::link(at(from), at(to))?,
            // A link as long that leads nowhere: what goes through the recorded one would leave the
            // directory, and change files of this machine.
            FileAction::Symlink { path, target } => {
                fs::symlink("-".repeat(target.len()), at(path))?
            }
            FileAction::Unlink { path } => fs::unlink(at(path))?,
            FileAction::Mkdir { path } => fs::mkdir(at(path), Mode::RWXU)?,
            FileAction::Rmdir { path } => fs::rmdir(at(path))?,
        }
        Ok(())
    }
}

fn refused(action: &FileAction, error: io::Error) -> WorkError {
    let doing = match action {
        FileAction::Open { path, .. }
        | FileAction::Symlink { path, .. }
        | FileAction::Unlink { path }
        | FileAction::Mkdir { path }
        | FileAction::Rmdir { path } => format!("{} of '{path}'", action.name()),
        FileAction::Rename { from, to } | FileAction::Link { from, to } => {
            format!("{} of '{from}' to '{to}'", action.name())
        }
        _ => action.name().to_owned(),
    };
    WorkError::io(NAME, doing, error)
}

/// Number of operations from the first on of which each overlapped with one before it.
fn together(operations: &[FileOperation]) -> usize {
    let mut end_ns = 0;
    let joined = operations.iter().take_while(|operation| {
        let joins = end_ns == 0 || operation.at_ns < end_ns;
        end_ns = end_ns.max(operation.at_ns.saturating_add(operation.took_ns).max(1));
        joins
    });
    joined.count()
}

/// Bytes with the alignment that direct I/O needs.
pub(super) struct AlignedBuffer(Vec<u8>);

impl AlignedBuffer {
    fn new(bytes: u64) -> AlignedBuffer {
        AlignedBuffer(vec![0; bytes as usize + ALIGN_BYTES])
    }

    fn room(&self) -> u64 {
        (self.0.len() - ALIGN_BYTES) as u64
    }

    fn part(&self, bytes: u64) -> &[u8] {
        let from = self.0.as_ptr().align_offset(ALIGN_BYTES);
        &self.0[from..][..bytes as usize]
    }

    fn part_mut(&mut self, bytes: u64) -> &mut [u8] {
        let from = self.0.as_ptr().align_offset(ALIGN_BYTES);
        &mut self.0[from..][..bytes as usize]
    }
}

fn read(file: &OwnedFd, scratch: &mut AlignedBuffer, offset: u64, bytes: u64) -> io::Result<()> {
    let mut at = 0;
    loop {
        let length = (bytes - at).min(scratch.room());
        let got = rustix::io::pread(file, scratch.part_mut(length), offset + at)? as u64;
        at += got;
        if at >= bytes || got == 0 {
            return Ok(());
        }
    }
}

/// Writes `bytes` at the offset, or at the file's position.
fn write_all_at(
    file: &OwnedFd,
    content: &AlignedBuffer,
    offset: Option<u64>,
    bytes: u64,
) -> io::Result<()> {
    let mut at = 0;
    loop {
        let part = content.part((bytes - at).min(content.room()));
        at += match offset {
            Some(offset) => rustix::io::pwrite(file, part, offset + at)?,
            None => rustix::io::write(file, part)?,
        } as u64;
        if at >= bytes {
            return Ok(());
        }
    }
}
