//! The reason why nothing can be recorded.

use std::io;
use std::path::PathBuf;

use crate::watch::WatchError;

/// A recording could not be made, or broke off.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The process does not run as root (effective user id 0).
    #[error("recording needs root: the kernel shows the I/O of all users; run it with sudo")]
    NoRights,
    /// Tracefs is nowhere and cannot be mounted.
    #[error(
        "tracefs cannot be mounted: {why}; it needs root outside of a container, and a kernel with CONFIG_FTRACE. Where blktrace works, `blktrace -d DEV -o NAME` records, and NAME can be replayed"
    )]
    NoTracefs {
        /// The reason why mounting failed, in words: "the kernel is built without it".
        why: String,
    },
    /// A file of it cannot be used.
    #[error(
        "tracefs refuses '{what}': {source}; the kernel may be locked down (lockdown=confidentiality) or built without CONFIG_BLK_DEV_IO_TRACE. Where blktrace works, `blktrace -d DEV -o NAME` records, and NAME can be replayed"
    )]
    Refused {
        /// File or directory of tracefs: "trace_pipe_raw", "instances".
        what: String,
        /// Error of the system call on it.
        source: io::Error,
    },
    /// The kernel lays things out in a way this program does not know.
    #[error(
        "this kernel has another form of {what}; nothing is recorded rather than something wrong"
    )]
    Unknown {
        /// What is not in the known form: "the pages of its trace buffer", or an event.
        what: String,
    },
    /// The device to record cannot be found, or cannot be watched.
    #[error(transparent)]
    Device(#[from] WatchError),
    /// The directory to record cannot be opened.
    #[error("{}: this directory cannot be opened: {source}", directory.display())]
    Directory {
        /// The directory.
        directory: PathBuf,
        /// Error of opening it.
        source: io::Error,
    },
    /// The trace cannot be written.
    #[error("the trace cannot be written: {0}; what was recorded before is kept")]
    Write(io::Error),
}
