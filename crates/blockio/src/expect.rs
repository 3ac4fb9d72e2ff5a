//! What a path is expected to be, and why it could not be opened.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// What a path is expected to be; anything else is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// A regular file, which may grow to so many bytes. It is reached without following symbolic
    /// links, and held by flock(2) while it is open.
    File {
        /// Most bytes the file may grow to; the capacity of the device that is made of it.
        capacity_bytes: u64,
        /// Which file: the one that was looked at.
        identity: FileIdentity,
    },
    /// A block device, whole or a partition; symbolic links to its node are followed.
    Block {
        /// Its device number (`st_rdev`): that of the device that was looked at.
        number: u64,
    },
}

/// The reason why something could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The kernel refused to open it, or to tell what it is.
    #[error("cannot open {path}: {source}")]
    Refused {
        /// What was to be opened.
        path: PathBuf,
        /// What the kernel said; EBUSY for a block device that something else uses.
        source: io::Error,
    },
    /// It is something else.
    #[error("{path} is {found}, not {expected}")]
    WrongType {
        /// Path that was given to open.
        path: PathBuf,
        /// Kind of file that lies there: "a regular file", "a pipe", "something else".
        found: &'static str,
        /// What it should have been.
        expected: &'static str,
    },
    /// It is not what was looked at.
    #[error(
        "{path} was replaced by another file after it was looked at; nothing was written, look what it is now and start again"
    )]
    Replaced {
        /// What was to be opened.
        path: PathBuf,
    },
    /// Another program has a lock on it.
    #[error("{path} is locked by another program; wait for it, or end it first")]
    Locked {
        /// What was to be opened.
        path: PathBuf,
    },
    /// A block device without a medium.
    #[error("{path} has no size: there is no medium in it")]
    Empty {
        /// Path that was given to open.
        path: PathBuf,
    },
}

/// What tells a file from all others of a running system, whatever it is called: renamed, linked or
/// mounted elsewhere it stays the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileIdentity {
    /// Number of the device its file system is on (`st_dev`).
    pub device: u64,
    /// Its number in that file system (`st_ino`).
    pub inode: u64,
}

impl FileIdentity {
    /// Of what was looked at.
    pub fn of(metadata: &Metadata) -> FileIdentity {
        FileIdentity { device: metadata.dev(), inode: metadata.ino() }
    }
}
