//! The kind of file that a path must lead to, and the errors of opening it.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// The kind of file that a path must lead to; anything else is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedFile {
    /// A regular file, which may grow to so many bytes. It is reached without following symbolic
    /// links, and held by flock(2) while it is open.
    File {
        /// Most bytes the file may grow to; the capacity of the device that is made of it.
        capacity_bytes: u64,
        /// Identity of the file that was checked.
        identity: FileIdentity,
    },
    /// A block device, whole or a partition; symbolic links to its node are followed.
    Block {
        /// Device number (`st_rdev`) of the device that was checked.
        number: u64,
    },
}

/// The reason why something could not be opened; the path is the one that was given to open.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The kernel refused to open it, or to report its kind.
    #[error("cannot open {path}: {source}")]
    Refused {
        /// Path that was given to open.
        path: PathBuf,
        /// Error of the kernel; EBUSY for a block device that something else uses.
        source: io::Error,
    },
    /// It is of another kind.
    #[error("{path} is {found}, not {expected}")]
    WrongType {
        /// Path that was given to open.
        path: PathBuf,
        /// Kind of file that was found: "a regular file", "a pipe", "something else".
        found: &'static str,
        /// Kind of file that was expected.
        expected: &'static str,
    },
    /// It is not the file that was checked.
    #[error(
        "{0} was replaced by another file after it was looked at; nothing was written, look what it is now and start again"
    )]
    Replaced(PathBuf),
    /// Another program has a lock on it.
    #[error("{0} is locked by another program; wait for it, or end it first")]
    Locked(PathBuf),
    /// A block device without a medium.
    #[error("{0} has no size: there is no medium in it")]
    Empty(PathBuf),
}

/// Identity of a file on a running system. It stays the same when the file is renamed, linked or
/// mounted elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileIdentity {
    /// Number of the device its file system is on (`st_dev`).
    pub device: u64,
    /// Its number in that file system (`st_ino`).
    pub inode: u64,
}

impl FileIdentity {
    /// Identity of the file with this metadata.
    pub fn of(metadata: &Metadata) -> FileIdentity {
        FileIdentity { device: metadata.dev(), inode: metadata.ino() }
    }
}
