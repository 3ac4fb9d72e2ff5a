//! What is recorded: a device or a part of one.

use host::{DeviceNumber, Roots};

use crate::trace::TraceHeader;
use crate::watch::{self, WatchError};

const SECTOR_BYTES: u64 = 512;

/// A device, or a partition of one, whose I/O is recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureSource {
    /// Kernel name of what was asked for.
    pub name: String,
    /// Size of the device or partition in bytes.
    pub size_bytes: u64,
    /// What stands in the kernel's events: the whole device, major << 20 | minor.
    device: u32,
    /// Where the partition begins and ends, in sectors of the whole device.
    part: Option<(u64, u64)>,
    /// True if its driver takes requests; device mapper, MD and zram take what file systems hand
    /// them, and have other events.
    has_requests: bool,
    logical_block_bytes: Option<u64>,
}

impl CaptureSource {
    /// Finds it by kernel name, path or name under `/dev/disk/by-id`.
    pub fn find(roots: &Roots, asked: &str) -> Result<CaptureSource, WatchError> {
        let watched = watch::find(roots, asked)?;
        let found = host::find(roots, watched.number);
        let (disk, partition) =
            found.ok_or_else(|| WatchError::NotCounted { name: watched.name.clone() })?;
        let part = partition.as_ref().map(|part| {
            (part.offset_bytes / SECTOR_BYTES, (part.offset_bytes + part.size_bytes) / SECTOR_BYTES)
        });
        Ok(CaptureSource {
            name: watched.name,
            size_bytes: partition.map_or(disk.size_bytes, |part| part.size_bytes),
            device: kernel_number(disk.number),
            part,
            has_requests: roots.sys.join(format!("dev/block/{}/mq", disk.number)).is_dir(),
            logical_block_bytes: disk.queue(roots).logical_block_bytes,
        })
    }

    /// What a trace of it says of itself.
    pub fn header(&self, started: Option<String>) -> TraceHeader {
        let release = rustix::system::uname().release().to_string_lossy().into_owned();
        TraceHeader {
            device: self.name.clone(),
            capacity_bytes: Some(self.size_bytes),
            logical_block_bytes: self.logical_block_bytes,
            recorder: "tracefs".into(),
            started,
            kernel: Some(release),
        }
    }

    /// The events by which a request begins, ends and goes back to the queue.
    pub(super) fn events(&self) -> [Option<&'static str>; 3] {
        match self.has_requests {
            true => [Some("block_rq_issue"), Some("block_rq_complete"), Some("block_rq_requeue")],
            false => [Some("block_bio_queue"), Some("block_bio_complete"), None],
        }
    }

    /// True if [`CaptureSource::events`] are those of requests.
    pub(super) fn has_requests(&self) -> bool {
        self.has_requests
    }

    /// The kernel's filter for these events. A flush has no place, so those of the whole device
    /// count for each of its partitions.
    pub(super) fn filter(&self) -> String {
        let device = format!("dev == {}", self.device);
        match self.part {
            None => device,
            Some((begin, end)) => {
                format!("{device} && ((sector >= {begin} && sector < {end}) || nr_sector == 0)")
            }
        }
    }

    /// Where a sector of the whole device lies in what is recorded, in bytes.
    pub(super) fn offset_bytes(&self, sector: u64) -> u64 {
        let begin = self.part.map_or(0, |(begin, _)| begin);
        sector.wrapping_sub(begin).wrapping_mul(SECTOR_BYTES)
    }
}

/// As the kernel has device numbers inside.
fn kernel_number(number: DeviceNumber) -> u32 {
    number.major << 20 | number.minor
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(part: Option<(u64, u64)>, has_requests: bool) -> CaptureSource {
        let device = kernel_number(DeviceNumber { major: 8, minor: 16 });
        CaptureSource {
            name: "sdb1".into(),
            size_bytes: 0,
            device,
            part,
            has_requests,
            logical_block_bytes: None,
        }
    }

    #[test]
    fn a_partition_is_a_range_of_its_device() {
        let part = source(Some((2048, 4096)), true);
        assert_eq!(
            part.filter(),
            "dev == 8388624 && ((sector >= 2048 && sector < 4096) || nr_sector == 0)"
        );
        assert_eq!(part.offset_bytes(2056), 4096);
        assert_eq!(source(None, true).filter(), "dev == 8388624");
        assert_eq!(source(None, false).events()[0], Some("block_bio_queue"));
    }
}
