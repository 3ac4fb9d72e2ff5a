//! The error that ended a cell, for programs; its words are the cell's `reason`.

use serde::{Deserialize, Serialize};

use crate::params::Direction;

/// Class of a failed I/O, as far as it can be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum IoErrorKind {
    /// The medium reports an error at this place (EIO, ENODATA).
    Medium,
    /// The medium is no longer there (ENODEV, ENXIO, a read of 0 bytes or ENOSPC inside the medium,
    /// size 0).
    Gone,
    /// The file system is full.
    NoSpace,
    /// The medium or file system refuses writes.
    ReadOnly,
    /// A guard of ours refused: outside the span, over the budget, not allowed to write. Nothing
    /// was issued.
    Refused,
    /// The device cannot do this (discard, a block smaller than it addresses).
    Unsupported,
    /// Any other error of the kernel.
    Other,
}

/// The error that ended a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellError {
    /// Class of the failure.
    pub kind: IoErrorKind,
    /// Read or write; absent for a flush or a discard, or if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// First byte of the I/O that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset_bytes: Option<u64>,
    /// Error number of the kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errno: Option<i32>,
    /// True if later reads of the same place were tried and succeeded.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reads_work: bool,
}

impl CellError {
    /// An error of which only the class is known.
    pub const fn of(kind: IoErrorKind) -> CellError {
        CellError { kind, direction: None, offset_bytes: None, errno: None, reads_work: false }
    }
}
