//! How a work fails.

use std::io;

use device::{IoError, IoErrorKind};
use rustix::io::Errno;

use super::KINDS;

/// The reason why there is no result. Each is the failure of one work on one file system; others
/// may go on.
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    /// There is no such work.
    #[error("there is no work '{name}'; there are {known}, trace:FILE, and files:TRACE")]
    Unknown {
        /// What was asked for.
        name: String,
        /// Names of all works, separated by commas.
        known: String,
    },
    /// A setting that cannot be.
    #[error(transparent)]
    Setting(#[from] suite::SettingError),
    /// The file system is full.
    #[error(
        "{work}: no space is left on the file system while {doing}; it needs a larger one, or smaller settings"
    )]
    NoSpace {
        /// Name of the work: "untar".
        work: String,
        /// What it was doing.
        doing: String,
    },
    /// The medium or the kernel refused.
    #[error("{work}: {doing} failed: {source}")]
    Failed {
        /// Name of the work: "untar".
        work: String,
        /// What it was doing.
        doing: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// It cannot be done on this file system, or not with what this machine has.
    #[error("{work}: {reason}")]
    Impossible {
        /// Name of the work: "untar".
        work: String,
        /// Why, and what would help.
        reason: String,
    },
    /// What was written is not what is there.
    #[error("{work}: the data came back damaged: {reason}")]
    Damaged {
        /// Name of the work: "untar".
        work: String,
        /// What was found instead, in words.
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

    /// An error of the kernel.
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

    /// An error of a device.
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

    /// True if the kernel told of an error, or the data was damaged: the medium may have failed.
    pub fn is_of_kernel(&self) -> bool {
        matches!(self, WorkError::Failed { .. } | WorkError::Damaged { .. })
    }

    /// True if it was ended from outside.
    pub fn is_interrupted(&self) -> bool {
        matches!(self, WorkError::Interrupted { .. })
    }
}
