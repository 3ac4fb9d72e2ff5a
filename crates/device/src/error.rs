//! Errors of I/Os, as a process sees them.

use std::fmt;

use record::units::Bytes;
use record::{CellError, Direction, IoErrorKind};

use crate::{Op, Request};

/// A failed I/O: its place, kind and description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IoError {
    /// Class of the failure, such as medium error, medium gone, no space.
    pub kind: IoErrorKind,
    /// Operation, offset and length in bytes of the I/O that failed; `None` if the error belongs to
    /// no I/O.
    pub request: Option<(Op, u64, u64)>,
    /// The kernel's error number, if it gave one.
    pub errno: Option<i32>,
    /// The observation in words ("read returned 0 bytes inside the medium").
    pub detail: String,
    /// True if later reads of the same place succeeded.
    pub reads_work: bool,
}

impl IoError {
    /// An error of this kind for this request.
    pub fn new(kind: IoErrorKind, request: &Request, detail: impl Into<String>) -> IoError {
        IoError {
            kind,
            request: Some((request.op, request.offset_bytes, request.length_bytes)),
            errno: None,
            detail: detail.into(),
            reads_work: false,
        }
    }

    /// An error that belongs to no request.
    pub fn general(kind: IoErrorKind, detail: impl Into<String>) -> IoError {
        IoError { kind, request: None, errno: None, detail: detail.into(), reads_work: false }
    }

    /// Adds the kernel's number.
    pub fn with_errno(mut self, errno: i32) -> IoError {
        self.errno = Some(errno);
        self
    }

    /// The same as part of the record, for the cell that it ends.
    pub fn of_cell(&self) -> CellError {
        let direction = self.request.and_then(|(op, ..)| match op {
            Op::Read => Some(Direction::Read),
            Op::Write => Some(Direction::Write),
            Op::Flush | Op::Discard => None,
        });
        CellError {
            kind: self.kind,
            direction,
            offset_bytes: self
                .request
                .filter(|(op, ..)| *op != Op::Flush)
                .map(|(_, offset, _)| offset),
            errno: self.errno,
            reads_work: self.reads_work,
        }
    }

    /// True if further I/Os are useless.
    pub fn is_gone(&self) -> bool {
        self.kind == IoErrorKind::Gone
    }
}

impl fmt::Display for IoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            IoErrorKind::Medium => "the medium reports an error",
            IoErrorKind::Gone => "the medium is gone",
            IoErrorKind::NoSpace => "no space is left",
            IoErrorKind::ReadOnly => "the medium refuses writes",
            IoErrorKind::Refused => "refused by flashmark's own guard",
            IoErrorKind::Unsupported => "not supported here",
            IoErrorKind::Other => "the system reports an error",
        };
        f.write_str(what)?;
        if let Some((op, offset, length)) = self.request {
            let op = match op {
                Op::Read => "reading",
                Op::Write => "writing",
                Op::Flush => "flushing",
                Op::Discard => "discarding",
            };
            match op {
                "flushing" => write!(f, " while flushing")?,
                _ => write!(f, " while {op} {} at byte {offset}", Bytes(length))?,
            }
        }
        if !self.detail.is_empty() {
            write!(f, ": {}", self.detail)?;
        }
        Ok(())
    }
}

impl std::error::Error for IoError {}
