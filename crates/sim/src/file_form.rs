//! A file on a simulated medium: every synchronous write takes the inode along (flash.md A5).

use device::{Completion, Device, Extent, Facts, IoError, IoErrorKind, Op, Request, Slot};
use record::{Path, Sync};

use crate::{Options, Profile, SimDevice};

/// The modification time of a file moves once in a jiffy (250 Hz).
const JIFFY_NS: u64 = 4_000_000;

/// Block of the file system, and thus of what is written of an inode.
const BLOCK_BYTES: u64 = 4096;

/// Room between the inode table and the data, so that they never share an allocation unit.
const DISTANCE_BYTES: u64 = 64 << 20;

/// A file on ext4 without a journal, as iozone sees it: a device double for the file variant of `record-ops`.
///
/// A write with [`Sync`] is also a write of 4 KiB to a fixed place in the inode table, whenever size or modification time have changed: at every write that
/// makes the file longer, else once in 4 ms. The file lies in one piece in the second half of the medium.
pub struct FileForm {
    device: SimDevice,
    facts: Facts,
    /// Where the file begins on the medium.
    start: u64,
    inode: Extent,
    length_bytes: u64,
    /// The jiffy of the modification time on the medium.
    modified: Option<u64>,
}

impl FileForm {
    /// An empty file that may grow to `file_bytes` on a fresh medium of this profile.
    ///
    /// # Errors
    /// If the second half of the medium has no room for it.
    pub fn new(profile: &Profile, options: Options, file_bytes: u64) -> Result<FileForm, IoError> {
        let device = SimDevice::new(profile, options);
        let capacity = device.facts().capacity_bytes;
        let inode = capacity / 2 >> 23 << 23;
        let start = inode + DISTANCE_BYTES.min(capacity / 8 / BLOCK_BYTES * BLOCK_BYTES);
        if start.checked_add(file_bytes).is_none_or(|end| end > capacity) {
            let room = record::units::Bytes(capacity.saturating_sub(start));
            return Err(IoError::general(IoErrorKind::NoSpace, format!("the second half of the medium has room for a file of {room}")));
        }
        let facts = Facts { capacity_bytes: file_bytes, discards: false, ..device.facts().clone() };
        Ok(FileForm { device, facts, start, inode: Extent::new(inode, BLOCK_BYTES), length_bytes: 0, modified: None })
    }

    /// The inode, if this write must take it along.
    fn inode_of(&mut self, request: &Request) -> Option<Extent> {
        let jiffy = self.device.now() / JIFFY_NS;
        let end = request.offset_bytes + request.length_bytes;
        let changed = end > self.length_bytes || self.modified != Some(jiffy);
        self.length_bytes = self.length_bytes.max(end);
        if request.sync == Sync::None || !changed {
            return None;
        }
        self.modified = Some(jiffy);
        Some(self.inode)
    }
}

impl Device for FileForm {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn now(&mut self) -> u64 {
        self.device.now()
    }

    fn prepare(&mut self, slots: u32, slot_bytes: usize) -> Result<(), IoError> {
        self.device.prepare(slots, slot_bytes)
    }

    fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        self.device.buffer(slot)
    }

    fn submit(&mut self, request: Request) -> Result<(), IoError> {
        if request.op == Op::Flush {
            return self.device.submit(request);
        }
        let end = request.offset_bytes.checked_add(request.length_bytes);
        if end.is_none_or(|end| end > self.facts.capacity_bytes) {
            return Err(IoError::new(IoErrorKind::Refused, &request, "it does not lie in the file"));
        }
        if request.op == Op::Discard {
            return Err(IoError::new(IoErrorKind::Unsupported, &request, "a file takes no discards"));
        }
        let aligned = (request.offset_bytes | request.length_bytes).is_multiple_of(self.facts.logical_block_bytes);
        let inode = if request.op == Op::Write && (aligned || request.path == Path::Buffered) { self.inode_of(&request) } else { None };
        self.device.take(Request { offset_bytes: self.start + request.offset_bytes, ..request }, inode)
    }

    fn reap(&mut self, min: usize, done: &mut Vec<Completion>) -> Result<(), IoError> {
        self.device.reap(min, done)
    }

    fn idle(&mut self, duration_ns: u64) {
        self.device.idle(duration_ns);
    }

    fn drop_caches(&mut self) -> Result<(), IoError> {
        self.device.drop_caches()
    }

    fn cpu_ns(&mut self) -> Option<u64> {
        self.device.cpu_ns()
    }
}
