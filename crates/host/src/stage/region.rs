//! A part of a medium as a device of its own, without a partition table.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{StagingError, retry_while_busy};
use crate::loopdev::{self, Backing, LoopOptions};
use crate::roots::{DeviceNumber, Roots};
use crate::target::BlockTarget;
use crate::tool;
use crate::topology::{BlockTopology, SECTOR_BYTES};

/// First number of our partitions: no table on removable media reaches so far, the kernel's limit
/// is 255.
const FIRST_INDEX: u32 = 64;

/// The region, with everything that identifies it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "form")]
pub(super) enum StagedRegion {
    /// A partition that only the kernel knows.
    Partition {
        /// Kernel name and number of the whole device.
        disk: String,
        disk_number: DeviceNumber,
        diskseq: Option<u64>,
        index: u32,
        offset_bytes: u64,
        bytes: u64,
    },
    /// A loop device that is about to be made over the target: found again by its backing.
    Loop { backing: Backing },
    /// The whole target itself.
    Whole { path: PathBuf, number: DeviceNumber },
}

impl StagedRegion {
    /// Makes the region's device. Calls `note` with the region before it is made.
    pub fn make(
        target: &BlockTarget,
        offset_bytes: u64,
        bytes: u64,
        mut note: impl FnMut(&StagedRegion) -> Result<(), StagingError>,
    ) -> Result<StagedRegion, StagingError> {
        if bytes == target.size_bytes() {
            let whole = StagedRegion::Whole { path: target.path.clone(), number: target.number() };
            note(&whole)?;
            return Ok(whole);
        }
        if target.partition.is_none() {
            let planned = StagedRegion::planned_partition(target, offset_bytes, bytes);
            note(&planned)?;
            if planned.add_partition(target).is_ok() {
                return Ok(planned);
            }
        }
        let options = LoopOptions {
            direct_io: true,
            offset_bytes,
            size_bytes: bytes,
            ..LoopOptions::default()
        };
        let backing = loopdev::Backing::of(&target.path, options);
        let backing = backing
            .map_err(|source| loopdev::LoopError::Io { path: target.path.clone(), source })?;
        let planned = StagedRegion::Loop { backing };
        note(&planned)?;
        loopdev::attach_with(&target.path, options)?.keep();
        Ok(planned)
    }

    /// True if the kernel would refuse to mount it while the target is claimed: it is the target,
    /// or a partition of it.
    pub fn is_on_the_claimed(&self) -> bool {
        matches!(self, StagedRegion::Partition { .. } | StagedRegion::Whole { .. })
    }

    fn planned_partition(target: &BlockTarget, offset_bytes: u64, bytes: u64) -> StagedRegion {
        let disk = &target.disk;
        let highest = disk.partitions.iter().map(|partition| partition.index).max().unwrap_or(0);
        StagedRegion::Partition {
            disk: disk.name.clone(),
            disk_number: disk.number,
            diskseq: disk.diskseq,
            index: (highest + 1).max(FIRST_INDEX),
            offset_bytes,
            bytes,
        }
    }

    fn add_partition(&self, target: &BlockTarget) -> Result<(), tool::ToolError> {
        let StagedRegion::Partition { index, offset_bytes, bytes, .. } = self else {
            return Ok(());
        };
        let (start, length) = (offset_bytes / SECTOR_BYTES, bytes / SECTOR_BYTES);
        let words = [
            target.path.display().to_string(),
            index.to_string(),
            start.to_string(),
            length.to_string(),
        ];
        tool::run("addpart", words).map(drop)
    }

    /// The node and number of the region's device, once the kernel and udev have made them; only if
    /// it is exactly ours.
    pub fn device(&self) -> Result<(PathBuf, DeviceNumber), StagingError> {
        let roots = Roots::default();
        let node_is_there = || {
            let (path, number) = self.find(&roots).ok_or(())?;
            (roots.block_number(&path) == Some(number)).then_some((path, number)).ok_or(())
        };
        retry_while_busy(30, node_is_there)
            .map_err(|()| StagingError::NoDevice { device: self.name() })
    }

    fn name(&self) -> String {
        match self {
            StagedRegion::Partition { disk, .. } => disk.clone(),
            StagedRegion::Loop { .. } => "a loop device".to_owned(),
            StagedRegion::Whole { path, .. } => path.display().to_string(),
        }
    }

    /// The region's device, if it exists: by number of the whole device, its sequence number,
    /// index, offset and size, or by the backing of the loop device.
    pub fn find(&self, roots: &Roots) -> Option<(PathBuf, DeviceNumber)> {
        let topology = BlockTopology::read(roots);
        match self {
            StagedRegion::Partition { disk, disk_number, diskseq, index, offset_bytes, bytes } => {
                let (slot, _) =
                    topology.find(*disk_number).filter(|(slot, _)| slot.name == *disk)?;
                let same_medium = crate::roots::number(&slot.dir.join("diskseq")) == *diskseq;
                let partition = slot.partitions.iter().find(|part| part.index == *index)?;
                let same_place =
                    partition.offset_bytes == *offset_bytes && partition.size_bytes == *bytes;
                (same_medium && same_place).then(|| (partition.path.clone(), partition.number))
            }
            StagedRegion::Loop { backing } => {
                let slot = topology.slots.iter().find(|slot| {
                    slot.name.starts_with("loop") && backing.is_that_of(slot.number)
                })?;
                Some((slot.path.clone(), slot.number))
            }
            StagedRegion::Whole { path, number } => Some((path.clone(), *number)),
        }
    }

    /// Removes the region's device, if it still exists and is exactly ours.
    pub fn remove(&self) -> Result<(), StagingError> {
        let Some((path, _)) = self.find(&Roots::default()) else { return Ok(()) };
        retry_while_busy(20, || self.remove_once(&path))?;
        Ok(())
    }

    fn remove_once(&self, path: &Path) -> Result<(), tool::ToolError> {
        match self {
            StagedRegion::Partition { disk, index, .. } => {
                let disk = format!("/dev/{}", disk.replace('!', "/"));
                tool::run("delpart", [disk, index.to_string()]).map(drop)
            }
            StagedRegion::Loop { .. } => loopdev::detach_node(path),
            // the target was there before and stays
            StagedRegion::Whole { .. } => Ok(()),
        }
    }
}
