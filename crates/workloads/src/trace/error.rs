//! The reason why a trace cannot be read: one line, with what was found and what would do.

use std::fmt::Display;
use std::io;
use std::path::Path;

/// A trace that cannot be read; the reason in words.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct TraceError(String);

impl TraceError {
    /// The file cannot be opened or read.
    pub(super) fn unreadable(path: &Path, error: &io::Error) -> TraceError {
        TraceError(format!("cannot read the trace '{}': {error}", path.display()))
    }

    /// What is wrong with it: "is empty".
    pub(super) fn of(path: &Path, what: impl Display) -> TraceError {
        TraceError(format!("the trace '{}' {what}", path.display()))
    }

    /// It is broken in a place that is not its end: "line 12", "byte 4096".
    pub(super) fn damaged(path: &Path, place: impl Display, what: impl Display) -> TraceError {
        TraceError::of(path, format_args!("is damaged at {place}: {what}"))
    }

    /// Not a trace that anybody here knows; its first bytes in words.
    pub(super) fn unknown(path: &Path, begins: &str) -> TraceError {
        TraceError(format!(
            "'{}' is not a trace: it begins with {begins}; a file of blktrace's (NAME.blktrace.0) or a fio iolog (version 2 or 3) can be replayed",
            path.display()
        ))
    }
}
