//! Errors of a work.

use std::fmt::Display;
use std::io;

use device::{IoError, IoErrorKind};
use rustix::io::Errno;

use super::KINDS;

/// Reason why there is no result, in words that begin with the name of the work. Each is the failure
/// of one work on one file system; others may go on.
#[derive(Debug, thiserror::Error)]
#[error("{words}")]
pub struct WorkError {
    kind: WorkErrorKind,
    words: String,
}

#[derive(Debug, PartialEq)]
enum WorkErrorKind {
    Kernel,
    Damaged,
    Impossible,
    Interrupted,
}

impl From<suite::SettingError> for WorkError {
    fn from(error: suite::SettingError) -> WorkError {
        WorkError { kind: WorkErrorKind::Impossible, words: error.to_string() }
    }
}

impl WorkError {
    fn of(kind: WorkErrorKind, work: &str, words: impl Display) -> WorkError {
        WorkError { kind, words: format!("{work}: {words}") }
    }

    /// There is no work of this name.
    pub(super) fn unknown(name: &str) -> WorkError {
        let known = KINDS.iter().map(|kind| kind.name).collect::<Vec<_>>().join(", ");
        let words =
            format!("there is no work '{name}'; there are {known}, trace:FILE, and files:TRACE");
        WorkError { kind: WorkErrorKind::Impossible, words }
    }

    /// Not possible on this file system or on this machine; the reason, and what would help.
    pub fn impossible(work: &str, reason: impl Display) -> WorkError {
        WorkError::of(WorkErrorKind::Impossible, work, reason)
    }

    /// The data read differ from the data written; what was found instead.
    pub fn damaged(work: &str, reason: impl Display) -> WorkError {
        let words = format_args!("the data came back damaged: {reason}");
        WorkError::of(WorkErrorKind::Damaged, work, words)
    }

    /// Somebody set [`WorkloadContext::stop`](super::WorkloadContext::stop), as Ctrl-C does.
    pub fn interrupted(work: &str) -> WorkError {
        let words = format!("{work} was interrupted");
        WorkError { kind: WorkErrorKind::Interrupted, words }
    }

    /// The file system is full while `doing` a step.
    pub(super) fn no_space(work: &str, doing: impl Display) -> WorkError {
        let words = format_args!(
            "no space is left on the file system while {doing}; it needs a larger one, or smaller settings"
        );
        WorkError::of(WorkErrorKind::Impossible, work, words)
    }

    /// Failure of a work by an error of the kernel while `doing` a step.
    pub fn io(work: &str, doing: impl Display, source: io::Error) -> WorkError {
        // A quota that is used up is a full file system to whoever writes.
        match Errno::from_io_error(&source) {
            Some(Errno::NOSPC | Errno::DQUOT) => WorkError::no_space(work, doing),
            _ => {
                WorkError::of(WorkErrorKind::Kernel, work, format_args!("{doing} failed: {source}"))
            }
        }
    }

    /// Failure of a work by an error of a device.
    pub fn device(work: &str, doing: impl Display, error: &IoError) -> WorkError {
        match error.kind {
            IoErrorKind::NoSpace => WorkError::no_space(work, doing),
            _ => WorkError::io(work, doing, io::Error::other(error.to_string())),
        }
    }

    /// True after an error of the kernel, or if the data was damaged: the medium may have failed.
    pub fn is_of_kernel(&self) -> bool {
        matches!(self.kind, WorkErrorKind::Kernel | WorkErrorKind::Damaged)
    }

    /// True if it was interrupted.
    pub fn is_interrupted(&self) -> bool {
        self.kind == WorkErrorKind::Interrupted
    }
}
