//! Errors of a work.

use std::io;

use device::{IoError, IoErrorKind};
use rustix::io::Errno;

use super::KINDS;

/// Reason why there is no result. Each is the failure of one work on one file system; others may go
/// on.
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    /// There is no such work.
    #[error("there is no work '{name}'; there are {known}, trace:FILE, and files:TRACE")]
    Unknown {
        /// Name as it was typed.
        name: String,
        /// Names of all works, separated by commas.
        known: String,
    },
    /// A setting is not possible.
    #[error(transparent)]
    Setting(#[from] suite::SettingError),
    /// The file system is full.
    #[error(
        "{work}: no space is left on the file system while {doing}; it needs a larger one, or smaller settings"
    )]
    NoSpace {
        /// Name of the work: "untar".
        work: String,
        /// Step that failed.
        doing: String,
    },
    /// The medium or the kernel returned an error.
    #[error("{work}: {doing} failed: {source}")]
    Failed {
        /// Name of the work: "untar".
        work: String,
        /// Step that failed.
        doing: String,
        /// Error of the kernel.
        source: io::Error,
    },
    /// The work is not possible on this file system or on this machine.
    #[error("{work}: {reason}")]
    Impossible {
        /// Name of the work: "untar".
        work: String,
        /// Reason, and what would help.
        reason: String,
    },
    /// The data read differ from the data written.
    #[error("{work}: the data came back damaged: {reason}")]
    Damaged {
        /// Name of the work: "untar".
        work: String,
        /// Data that were found instead, in words.
        reason: String,
    },
    /// Somebody set [`WorkloadContext::stop`](super::WorkloadContext::stop), as Ctrl-C does.
    #[error("{work} was interrupted")]
    Interrupted {
        /// Name of the work: "untar".
        work: String,
    },
}

impl WorkError {
    /// There is no work of this name.
    pub(super) fn unknown(name: &str) -> WorkError {
        let known = KINDS.iter().map(|kind| kind.name).collect::<Vec<_>>().join(", ");
        WorkError::Unknown { name: name.to_owned(), known }
    }

    /// Failure of a work by an error of the kernel while `doing` a step.
    pub fn io(work: &str, doing: impl Into<String>, source: io::Error) -> WorkError {
        let (work, doing) = (work.to_owned(), doing.into());
        // A quota that is used up is a full file system to whoever writes.
        let is_full = matches!(Errno::from_io_error(&source), Some(Errno::NOSPC | Errno::DQUOT));
        if is_full {
            WorkError::NoSpace { work, doing }
        } else {
            WorkError::Failed { work, doing, source }
        }
    }

    /// Failure of a work by an error of a device.
    pub fn device(work: &str, doing: impl Into<String>, error: &IoError) -> WorkError {
        let (work, doing) = (work.to_owned(), doing.into());
        match error.kind {
            IoErrorKind::NoSpace => WorkError::NoSpace { work, doing },
            _ => WorkError::Failed { work, doing, source: io::Error::other(error.to_string()) },
        }
    }

    /// True if the file system was full.
    pub fn is_no_space(&self) -> bool {
        matches!(self, WorkError::NoSpace { .. })
    }

    /// True after an error of the kernel, or if the data was damaged: the medium may have failed.
    pub fn is_of_kernel(&self) -> bool {
        matches!(self, WorkError::Failed { .. } | WorkError::Damaged { .. })
    }

    /// True if it was interrupted.
    pub fn is_interrupted(&self) -> bool {
        matches!(self, WorkError::Interrupted { .. })
    }
}
