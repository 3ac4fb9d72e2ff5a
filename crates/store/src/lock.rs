//! One writer a run.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::WriteError;

/// The file that is locked. It holds the number of the process that locked it last.
pub const LOCK_FILE: &str = "lock";

/// The right to write to a run. Ends with this value, or with the process, however that dies: the
/// kernel keeps it (flock), so kill -9 leaves nothing that has to be cleaned up.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// A run cannot be written to.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process writes it.
    #[error("run '{run}' is being written by {}; wait for it, or end it first", writer(*process))]
    Taken {
        /// Name of the run.
        run: String,
        /// The process, where it said so.
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
    if !try_lock(&file).map_err(&at)? {
        return Err(LockError::Taken { run: run.to_owned(), process: holder(&mut file) });
    }
    // The number is only there to be shown: the lock holds without it, also on a full file system.
    let _ =
        file.set_len(0).and_then(|()| file.write_all(std::process::id().to_string().as_bytes()));
    Ok(Lock { _file: file })
}

/// Tries for a moment, because someone who lists the runs holds each lock (shared) for an instant.
fn try_lock(file: &File) -> std::io::Result<bool> {
    for _ in 0..20 {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(true),
            Err(Errno::WOULDBLOCK) => std::thread::sleep(Duration::from_millis(5)),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(false)
}

fn holder(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.rewind().ok()?;
    file.take(20).read_to_string(&mut text).ok()?;
    text.parse().ok()
}

/// Whether a live process writes to the run in `dir`. Where that cannot be found out, nobody does.
pub(crate) fn is_taken(dir: &Path) -> bool {
    let Ok(file) = File::open(dir.join(LOCK_FILE)) else { return false };
    matches!(flock(&file, FlockOperation::NonBlockingLockShared), Err(Errno::WOULDBLOCK))
}
