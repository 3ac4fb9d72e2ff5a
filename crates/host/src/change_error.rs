//! The error of a change of the machine.

use std::io;
use std::path::Path;

use crate::claim::ClaimError;
use crate::location::NotProved;
use crate::tool::ToolError;

/// The error of a change that could not be made, noted or undone. What is not undone stays noted.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// The medium has come into use, or is another one.
    #[error(transparent)]
    Claim(#[from] ClaimError),
    /// A program failed: mkfs, losetup, delpart.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// A mount is not on the expected device.
    #[error(transparent)]
    NotProved(#[from] NotProved),
    /// A system call failed.
    #[error("cannot {what}: {source}")]
    Io {
        /// The failed action and its object: "make /tmp/x", "set scheduler of sdb to 'bfq'".
        what: String,
        /// Error of the system call.
        source: io::Error,
    },
    /// Something asked for is impossible, or the result of a change is another one than was asked
    /// for: a sentence.
    #[error("{0}")]
    Other(String),
}

impl ChangeError {
    /// The error of an action on a path; `what` is a verb: "make", "remove", "write".
    pub(crate) fn on(what: &'static str, path: &Path) -> impl Fn(io::Error) -> ChangeError + use<> {
        let what = format!("{what} {}", path.display());
        move |source| ChangeError::Io { what: what.clone(), source }
    }
}
