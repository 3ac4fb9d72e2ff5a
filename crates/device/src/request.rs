//! Requests to a device.

use record::{Content, Path, Sync};

/// Operation of an I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Moves data from the medium to the slot's buffer.
    Read,
    /// Moves data from the slot's buffer to the medium.
    Write,
    /// Make everything written durable. Offset and length are ignored.
    Flush,
    /// Tell the medium that a range is no longer needed; its contents are undefined afterwards.
    Discard,
}

/// Number, from 0, of the device's buffer that an I/O uses. A slot is busy from submission to
/// completion.
pub type Slot = u32;

/// One I/O as it is passed to [`Device::submit`](crate::Device::submit).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Operation: read, write, flush or discard.
    pub op: Op,
    /// Offset in bytes; a multiple of the logical block if `path` is direct.
    pub offset_bytes: u64,
    /// Length in bytes; at most the slot's size, except for a discard.
    pub length_bytes: u64,
    /// Buffer that the I/O uses; busy until its completion is reaped.
    pub slot: Slot,
    /// Condition under which a write counts as complete.
    pub sync: Sync,
    /// Past the page cache or through it.
    pub path: Path,
    /// Kind of data in the buffer. Real devices ignore it; simulated ones without data use it.
    pub content: Content,
    /// Pass of incompressible data of the run's generator in the buffer of a write; `None` for
    /// other data.
    pub pass: Option<u32>,
}

impl Request {
    /// A read past the page cache into the slot's buffer.
    pub fn read(slot: Slot, offset_bytes: u64, length_bytes: u64) -> Request {
        Request {
            op: Op::Read,
            offset_bytes,
            length_bytes,
            slot,
            sync: Sync::None,
            path: Path::Direct,
            content: Content::Incompressible,
            pass: None,
        }
    }

    /// A direct write of the slot's buffer.
    pub fn write(slot: Slot, offset_bytes: u64, length_bytes: u64) -> Request {
        Request { op: Op::Write, ..Request::read(slot, offset_bytes, length_bytes) }
    }

    /// A flush of everything written, without place and length.
    pub fn flush(slot: Slot) -> Request {
        Request { op: Op::Flush, ..Request::read(slot, 0, 0) }
    }

    /// True if it changes the medium.
    pub fn modifies(&self) -> bool {
        matches!(self.op, Op::Write | Op::Discard)
    }
}
