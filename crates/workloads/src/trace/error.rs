//! The reason why a trace cannot be read: one line each, with what was found and what would do.

use std::io;
use std::path::PathBuf;

/// A trace that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file cannot be opened or read.
    #[error("cannot read the trace '{}': {source}", path.display())]
    Read {
        /// File that cannot be opened or read.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// There is nothing in it.
    #[error("the trace '{}' is empty", .0.display())]
    Empty(PathBuf),
    /// There are events in it, but none that moves data.
    #[error("the trace '{}' ({form}) holds no read, write, flush or discard", path.display())]
    NoIo {
        /// File of the trace, or the first of several.
        path: PathBuf,
        /// What wrote it, in words: "blktrace", "a fio iolog".
        form: &'static str,
    },
    /// Not a trace that anybody here knows.
    #[error(
        "'{}' is not a trace: it begins with {begins}; a file of blktrace's (NAME.blktrace.0) \
         or a fio iolog (version 2 or 3) can be replayed", path.display()
    )]
    Unknown {
        /// File that was to be a trace.
        path: PathBuf,
        /// Its first bytes, 16 at most, as quoted text or in hexadecimal.
        begins: String,
    },
    /// Of a version that this program does not read.
    #[error("the trace '{}' is {found}; this flashmark reads {reads}", path.display())]
    Version {
        /// File of the trace, or one of several.
        path: PathBuf,
        /// Form and version that were found: "a fio iolog of version 1".
        found: String,
        /// Versions that can be read: "versions 2 and 3".
        reads: &'static str,
    },
    /// It is of a known form, but broken in a place that is not its end.
    #[error("the trace '{}' is damaged at {place}: {what}", path.display())]
    Damaged {
        /// File of the trace, or one of several.
        path: PathBuf,
        /// "line 12", "byte 4096".
        place: String,
        /// What is wrong there: "a block's checksum does not match".
        what: String,
    },
}
