//! Form of a journal, and the errors of reading and writing it.

use std::io;
use std::path::PathBuf;

use crate::atomic::WriteError;

/// Version of the journal's form. A change of [`record::SCHEMA`] is a change of this too: the lines
/// hold parts of a record.
pub const FORM: &str = "flashmark-journal/2";

pub(crate) const FORM_FAMILY: &str = "flashmark-journal/";

/// Name of the copy of a journal's first line, beside it: without that line nothing of the run
/// could be used.
pub const HEADER_FILE: &str = "header.jsonl";

/// A journal could not be read or continued.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The journal does not exist, or cannot be opened.
    #[error("cannot read the journal '{}': {source}; name another run, `flashmark runs` lists them", path.display())]
    Read {
        /// Path of the journal file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The run is a single record file.
    #[error("'{}' is a record without its journal; it can be shown, not resumed", .0.display())]
    RecordOnly(PathBuf),
    /// Neither its first line nor the copy of it can be read.
    #[error("the journal '{}' does not say what was run: {reason}; start a new run", path.display())]
    NoHeader {
        /// Path of the journal file.
        path: PathBuf,
        /// The reason why the first line cannot be read, in words.
        reason: String,
    },
    /// A newer version wrote it.
    #[error("the journal '{}' is of form '{found}', this version reads '{FORM}'; a newer flashmark can resume it", path.display())]
    Newer {
        /// Path of the journal file.
        path: PathBuf,
        /// Form that its first line names.
        found: String,
    },
    /// The event would not be the same when read back (a number is not finite). Nothing was
    /// written.
    #[error("this event cannot be kept in a journal: {0}")]
    Unrepresentable(#[from] serde_json::Error),
    /// The medium that holds the journal failed in a way that leaves its content in doubt. Nothing
    /// more is written to it.
    #[error("the journal '{}' is closed after a failed write; the cells before it are kept, `flashmark resume` continues", .0.display())]
    Closed(PathBuf),
    /// A line could not be written. After a lack of space the caller may try again.
    #[error(transparent)]
    Write(#[from] WriteError),
}
