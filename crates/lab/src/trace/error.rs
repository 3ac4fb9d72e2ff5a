//! Why a trace cannot be read: one line each, with what was found and what would do.

use std::io;
use std::path::PathBuf;

/// A trace that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file cannot be opened or read.
    #[error("cannot read the trace '{}': {source}", path.display())]
    Read {
        /// Which.
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
        /// Which.
        path: PathBuf,
        /// What it is.
        form: &'static str,
    },
    /// Not a trace that anybody here knows.
    #[error(
        "'{}' is not a trace: it begins with {begins}; a capture of flashmark's, a file of blktrace's (NAME.blktrace.0), \
         blkparse's text, or a fio iolog (version 2 or 3) can be replayed", path.display()
    )]
    Unknown {
        /// Which.
        path: PathBuf,
        /// Its first bytes.
        begins: String,
    },
    /// Of a version that this program does not read.
    #[error("the trace '{}' is {found}; this flashmark reads {reads}", path.display())]
    Version {
        /// Which.
        path: PathBuf,
        /// What it is.
        found: String,
        /// What would do.
        reads: &'static str,
    },
    /// It is of a known form, but broken in a place that is not its end.
    #[error("the trace '{}' is damaged at {place}: {what}", path.display())]
    Damaged {
        /// Which.
        path: PathBuf,
        /// "line 12", "byte 4096".
        place: String,
        /// What is wrong.
        what: String,
    },
}
