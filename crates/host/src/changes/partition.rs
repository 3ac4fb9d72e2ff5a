//! A part of a medium as a device of its own, without a partition table.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::retry_while_busy;
use crate::change_error::ChangeError;
use crate::roots::{DeviceNumber, Roots};
use crate::target::BlockTarget;
use crate::tool::{self, ToolError};
use crate::topology::{BlockTopology, SECTOR_BYTES};

/// First number of our partitions: no table on removable media reaches so far, the kernel's limit
/// is 255.
const FIRST_INDEX: u32 = 64;

/// A partition that only the kernel knows, with everything that identifies it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KernelPartition {
    /// Kernel name of the whole device.
    disk: String,
    disk_number: DeviceNumber,
    diskseq: Option<u64>,
    index: u32,
    offset_bytes: u64,
    bytes: u64,
}

impl KernelPartition {
    /// One that is about to be made on a whole device.
    pub fn planned(target: &BlockTarget, offset_bytes: u64, bytes: u64) -> KernelPartition {
        let disk = &target.disk;
        let highest = disk.partitions.iter().map(|partition| partition.index).max().unwrap_or(0);
        KernelPartition {
            disk: disk.name.clone(),
            disk_number: disk.number,
            diskseq: disk.diskseq,
            index: (highest + 1).max(FIRST_INDEX),
            offset_bytes,
            bytes,
        }
    }

    /// Kernel name of the whole device.
    pub fn disk(&self) -> &str {
        &self.disk
    }

    fn node(&self) -> String {
        format!("/dev/{}", self.disk.replace('!', "/"))
    }

    /// Tells the kernel of it.
    pub fn add(&self) -> Result<(), ToolError> {
        let place = [self.offset_bytes, self.bytes].map(|bytes| (bytes / SECTOR_BYTES).to_string());
        let [start, length] = place;
        tool::run("addpart", [self.node(), self.index.to_string(), start, length]).map(drop)
    }

    /// Its node and number, if it exists: by number of the whole device, its sequence number,
    /// index, offset and size.
    pub fn find(&self, roots: &Roots) -> Option<(PathBuf, DeviceNumber)> {
        let topology = BlockTopology::read(roots);
        let (slot, _) = topology.find(self.disk_number)?;
        let same_medium = slot.name == self.disk
            && crate::roots::number(&slot.dir.join("diskseq")) == self.diskseq;
        let partition = slot.partitions.iter().find(|part| part.index == self.index)?;
        let same_place =
            partition.offset_bytes == self.offset_bytes && partition.size_bytes == self.bytes;
        (same_medium && same_place).then(|| (partition.path.clone(), partition.number))
    }

    /// Removes it, if it still exists and is exactly ours.
    pub fn remove(&self) -> Result<(), ChangeError> {
        if self.find(&Roots::default()).is_some() {
            let words = || [self.node(), self.index.to_string()];
            retry_while_busy(20, || tool::run("delpart", words()))?;
        }
        Ok(())
    }
}
