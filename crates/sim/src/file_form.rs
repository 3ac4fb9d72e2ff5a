//! A file on a simulated medium: every synchronous write also writes the inode
//! (docs/field/iozone.md#single-file).

use device::{Device, Extent, Facts, IoError, IoErrorKind, Op, Request};
use record::{Path, Sync};

use crate::{SimDevice, truth};

/// Resolution of a file's modification time in nanoseconds: one jiffy (at 250 Hz).
const JIFFY_NS: u64 = 4_000_000;

/// Block of the file system in bytes, and so the size of an inode write.
const BLOCK_BYTES: u64 = 4096;

/// Distance in bytes between the inode table and the data, so that they never share an allocation
/// unit.
const DISTANCE_BYTES: u64 = 64 << 20;

/// A file on ext4 without a journal, as iozone uses it: a simulated device for the file variant of
/// `record-ops`.
///
/// A write with [`Sync::File`] is also a write of 4 KiB to a fixed place in the inode table,
/// whenever size or modification time have changed: at every write that makes the file longer,
/// otherwise once in 4 ms. With [`Sync::Data`] only the size counts. The file is contiguous, in the
/// second half of the medium.
pub struct FileForm {
    inner: SimDevice,
    facts: Facts,
    /// First byte of the file on the medium.
    start: u64,
    inode: Extent,
    length_bytes: u64,
    /// The modification time on the medium, in jiffies.
    modified: Option<u64>,
}

impl FileForm {
    /// An empty file on a medium. It may grow to `bytes`, or to the size of the second half of the
    /// medium if that is less.
    pub fn new(device: SimDevice, bytes: u64) -> FileForm {
        let medium = device.facts();
        let inode = truth::middle_bytes(medium.capacity_bytes);
        let start =
            inode + DISTANCE_BYTES.min(medium.capacity_bytes / 8 / BLOCK_BYTES * BLOCK_BYTES);
        let capacity_bytes = bytes.min(medium.capacity_bytes - start) / BLOCK_BYTES * BLOCK_BYTES;
        let facts = Facts { capacity_bytes, discards: false, ..medium.clone() };
        FileForm {
            inner: device,
            facts,
            start,
            inode: Extent::new(inode, BLOCK_BYTES),
            length_bytes: 0,
            modified: None,
        }
    }

    /// The inode, if this write must write it too.
    fn inode_of(&mut self, request: &Request) -> Option<Extent> {
        let end = request.offset_bytes + request.length_bytes;
        let grows = end > self.length_bytes;
        self.length_bytes = self.length_bytes.max(end);
        let jiffy = self.inner.now() / JIFFY_NS;
        let written = match request.sync {
            Sync::None => false,
            Sync::Data => grows,
            Sync::File => grows || self.modified != Some(jiffy),
        };
        if written {
            self.modified = Some(jiffy);
        }
        written.then_some(self.inode)
    }
}

impl Device for FileForm {
    device::forward!(now prepare buffer reap idle drop_caches cpu_ns);

    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn submit(&mut self, request: Request) -> Result<(), IoError> {
        if request.op == Op::Flush {
            return self.inner.submit(request);
        }
        let end = request.offset_bytes.checked_add(request.length_bytes);
        if end.is_none_or(|end| end > self.facts.capacity_bytes) {
            return Err(IoError::new(
                IoErrorKind::Refused,
                &request,
                "it does not lie in the file",
            ));
        }
        if request.op == Op::Discard {
            return Err(IoError::new(
                IoErrorKind::Unsupported,
                &request,
                "a file takes no discards",
            ));
        }
        let aligned = (request.offset_bytes | request.length_bytes)
            .is_multiple_of(self.facts.logical_block_bytes);
        let inode = if request.op == Op::Write && (aligned || request.path == Path::Buffered) {
            self.inode_of(&request)
        } else {
            None
        };
        self.inner
            .take(Request { offset_bytes: self.start + request.offset_bytes, ..request }, inode)
    }
}

#[cfg(test)]
mod tests {
    use device::do_io;

    use super::*;
    use crate::{Profile, SimOptions};

    /// A file of so many bytes on this medium.
    fn file_on(profile: &str, bytes: u64) -> FileForm {
        let options = SimOptions { keep_data: false, ..SimOptions::default() };
        let mut file =
            FileForm::new(SimDevice::new(Profile::builtin(profile).unwrap(), options), bytes);
        file.prepare(1, 4096).unwrap();
        file
    }

    /// Nanoseconds of a first write of 4 KiB and of a second one to the same place.
    fn writes_ns(sync: Sync) -> [u64; 2] {
        let mut file = file_on("a1", 1 << 20);
        [(); 2].map(|()| {
            do_io(&mut file, Request { sync, ..Request::write(0, 8192, 4096) })
                .unwrap()
                .latency_ns()
        })
    }

    #[test]
    fn a_durable_write_takes_the_inode_along_when_it_has_changed() {
        let ([plain, _], [grown, same_jiffy]) = (writes_ns(Sync::None), writes_ns(Sync::File));
        let (grown, same_jiffy) = (grown as f64 / plain as f64, same_jiffy as f64 / plain as f64);
        assert!((1.5..3.0).contains(&grown), "{grown}");
        assert!((0.5..1.5).contains(&same_jiffy), "{same_jiffy}");
    }

    #[test]
    fn on_a_card_with_several_open_units_the_inode_costs_random_writes_little() {
        let mut file = file_on("class10", 512 << 20);
        for i in 0..5000u64 {
            // A full-period permutation of the first blocks of all allocation units.
            let block = (i * 77 % 128) * 1024;
            let request = Request { sync: Sync::File, ..Request::write(0, block * 4096, 4096) };
            do_io(&mut file, request).unwrap();
        }
        let in_file = 5000.0 * 1e9 / file.now() as f64;
        let raw =
            truth::random_write_iops(Profile::builtin("class10").unwrap(), 4096, 512 << 20, 1);
        // 0.7 to 1, as docs/field/cautions.md#cautions says.
        assert!((0.7..1.05).contains(&(in_file / raw)), "{in_file} {raw}");
    }

    #[test]
    fn a_file_keeps_the_contract_of_a_device() {
        let medium = SimDevice::new(Profile::builtin("a1").unwrap(), SimOptions::default());
        device::conformance::device_conformance(&mut FileForm::new(medium, 1 << 20));
    }
}
