//! Lock of a run: one process writes to it at a time.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::WriteError;

/// Name of the file that is locked. It holds the number of the process that locked it last.
pub const LOCK_FILE: &str = "lock";

/// Right to write to a run. It ends with this value, or with the process, however that ends: the
/// kernel keeps it (flock), so kill -9 leaves nothing to clean up.
#[derive(Debug)]
pub struct Lock {
    _file: File,
    is_held: bool,
}

impl Lock {
    /// True if the kernel keeps it. A file system without locks keeps nobody out.
    pub fn is_held(&self) -> bool {
        self.is_held
    }
}

/// A run cannot be written to.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process writes it.
    #[error("run '{run}' is being written by {}; wait for it, or end it first", writer(*process))]
    Taken {
        /// Name of the run.
        run: String,
        /// Number of the process, if it wrote that to the file.
        process: Option<u32>,
    },
    /// A single file (not a run directory) is only ever read.
    #[error("'{}' is a record without its journal; it can be shown, not resumed", .0.display())]
    RecordOnly(PathBuf),
    /// The lock file could not be made.
    #[error(transparent)]
    Write(#[from] WriteError),
}

fn writer(process: Option<u32>) -> String {
    process.map_or("another process".to_owned(), |number| format!("process {number}"))
}

/// Takes the lock in `dir`, or says who has it.
pub(crate) fn take(dir: &Path, run: &str) -> Result<Lock, LockError> {
    let path = dir.join(LOCK_FILE);
    let at = WriteError::at(&path);
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .map_err(&at)?;
    let state = try_lock(&file).map_err(&at)?;
    if state == LockState::Taken {
        return Err(LockError::Taken { run: run.to_owned(), process: holder(&mut file) });
    }
    // The number is only shown: the lock holds without it, also on a full file system.
    let _ =
        file.set_len(0).and_then(|()| file.write_all(std::process::id().to_string().as_bytes()));
    Ok(Lock { _file: file, is_held: state == LockState::Held })
}

/// Result of an attempt to lock a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LockState {
    /// The lock is ours.
    Held,
    /// Somebody else has it.
    Taken,
    /// The file system knows no locks (NFS mounted with `nolock`, some FUSE file systems).
    Unknown,
}

impl LockState {
    /// Maps the result of flock(2); errors other than these three are returned.
    fn of(result: Result<(), Errno>) -> std::io::Result<LockState> {
        match result {
            Ok(()) => Ok(LockState::Held),
            Err(Errno::WOULDBLOCK) => Ok(LockState::Taken),
            // ENOTSUP is the same number as EOPNOTSUPP.
            Err(Errno::NOLCK | Errno::OPNOTSUPP | Errno::NOSYS) => Ok(LockState::Unknown),
            Err(error) => Err(error.into()),
        }
    }
}

/// Tries several times, because a process that lists the runs holds each lock (shared) for an
/// instant.
fn try_lock(file: &File) -> std::io::Result<LockState> {
    for _ in 0..20 {
        match LockState::of(flock(file, FlockOperation::NonBlockingLockExclusive))? {
            LockState::Taken => std::thread::sleep(Duration::from_millis(5)),
            state => return Ok(state),
        }
    }
    Ok(LockState::Taken)
}

fn holder(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.rewind().ok()?;
    file.take(20).read_to_string(&mut text).ok()?;
    text.parse().ok()
}

/// True if a live process writes to the run in `dir`; false where that cannot be found out.
pub(crate) fn is_taken(dir: &Path) -> bool {
    let Ok(file) = File::open(dir.join(LOCK_FILE)) else { return false };
    matches!(flock(&file, FlockOperation::NonBlockingLockShared), Err(Errno::WOULDBLOCK))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_system_without_locks_is_no_error() {
        for errno in [Errno::NOLCK, Errno::OPNOTSUPP, Errno::NOTSUP, Errno::NOSYS] {
            assert_eq!(LockState::of(Err(errno)).unwrap(), LockState::Unknown, "{errno}");
        }
        assert_eq!(LockState::of(Ok(())).unwrap(), LockState::Held);
        assert_eq!(LockState::of(Err(Errno::WOULDBLOCK)).unwrap(), LockState::Taken);
        for errno in [Errno::IO, Errno::INTR, Errno::BADF] {
            LockState::of(Err(errno)).unwrap_err();
        }
        assert!(take(tempfile::tempdir().unwrap().path(), "run").unwrap().is_held());
    }
}
