//! What is asked of a device.

use record::{Content, Path, Sync};

/// What an I/O does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Medium to buffer.
    Read,
    /// Buffer to medium.
    Write,
    /// Make everything written durable. Offset and length are ignored.
    Flush,
    /// Tell the medium that a range is no longer needed; its contents are undefined afterwards.
    Discard,
}

/// Which of the device's buffers an I/O uses, from 0. A slot is busy from submission to completion.
pub type Slot = u32;

/// One I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// What to do.
    pub op: Op,
    /// Where it begins, in bytes; a multiple of the logical block where `path` is direct.
    pub offset_bytes: u64,
    /// How much, in bytes; at most the slot's size, except for a discard.
    pub length_bytes: u64,
    /// The buffer.
    pub slot: Slot,
    /// When a write counts as done.
    pub sync: Sync,
    /// Past the page cache or through it.
    pub path: Path,
    /// What kind of data the buffer holds. Real devices ignore it; simulated ones without data go
    /// by it.
    pub content: Content,
}

impl Request {
    /// A direct read.
    pub fn read(slot: Slot, offset_bytes: u64, length_bytes: u64) -> Request {
        Request {
            op: Op::Read,
            offset_bytes,
            length_bytes,
            slot,
            sync: Sync::None,
            path: Path::Direct,
            content: Content::Incompressible,
        }
    }

    /// A direct write of what the slot's buffer holds.
    pub fn write(slot: Slot, offset_bytes: u64, length_bytes: u64) -> Request {
        Request { op: Op::Write, ..Request::read(slot, offset_bytes, length_bytes) }
    }

    /// A flush.
    pub fn flush(slot: Slot) -> Request {
        Request { op: Op::Flush, ..Request::read(slot, 0, 0) }
    }

    /// Whether it changes the medium.
    pub fn modifies(&self) -> bool {
        matches!(self.op, Op::Write | Op::Discard)
    }
}
