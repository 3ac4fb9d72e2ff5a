//! Free space for a backup, reserved before anything is overwritten.

use std::fs::File;
use std::path::Path;

use rustix::fs::{FallocateFlags, fallocate, fstatvfs};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

use super::BackupError;
use crate::atomic::WriteError;

/// Reserves disk space for the file; where the file system cannot, compares the need with what is
/// free.
///
/// The length of the file does not change, so that its end is the end of the last piece.
pub(super) fn make(file: &File, directory: &Path, needed_bytes: u64) -> Result<(), BackupError> {
    // A write beyond this limit ends the process, and `fallocate` does not check it.
    if let Some(most_bytes) = getrlimit(Resource::Fsize).current.filter(|most| *most < needed_bytes)
    {
        return Err(BackupError::Limit {
            directory: directory.to_owned(),
            needed_bytes,
            most_bytes,
        });
    }
    let refused = |there_bytes| BackupError::Room {
        directory: directory.to_owned(),
        needed_bytes,
        there_bytes,
    };
    loop {
        return match fallocate(file, FallocateFlags::KEEP_SIZE, 0, needed_bytes) {
            Ok(()) => Ok(()),
            Err(Errno::INTR) => continue,
            Err(Errno::NOSPC | Errno::DQUOT | Errno::FBIG) => Err(refused(free(file, directory)?)),
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => {
                let there_bytes = free(file, directory)?;
                if there_bytes < needed_bytes { Err(refused(there_bytes)) } else { Ok(()) }
            }
            Err(error) => Err(WriteError::at(directory)(error.into()).into()),
        };
    }
}

/// Bytes that this user may still write to the file system of the file.
fn free(file: &File, directory: &Path) -> Result<u64, BackupError> {
    let there = fstatvfs(file).map_err(|error| WriteError::at(directory)(error.into()))?;
    Ok(there.f_bavail.saturating_mul(there.f_frsize))
}
