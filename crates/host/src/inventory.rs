//! Inventory of the block devices of the machine.

use std::path::PathBuf;

use record::{Link, Medium, Queue};

use crate::identity;
use crate::in_use::InUseReason;
use crate::open_files::OpenFiles;
use crate::roots::{DeviceNumber, Roots, flag, number};
use crate::topology::{BlockDeviceEntry, BlockTopology, Partition};

/// A whole block device: its identity, its link, and the reasons why it is in use.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InventoryEntry {
    /// Kernel name: "mmcblk0", "sda".
    pub name: String,
    /// Its device node: "/dev/mmcblk0".
    pub path: PathBuf,
    /// Device number of the whole device, `dev` in sysfs.
    pub number: DeviceNumber,
    /// The kernel's count of media: another medium in the same slot has another number. Kernel 5.15
    /// and newer.
    pub diskseq: Option<u64>,
    /// Size in bytes; 0 for a reader without a card.
    pub size_bytes: u64,
    /// True if the kernel refuses writes (the lock slider of a card).
    pub read_only: bool,
    /// Identity of the medium: kind, names, serial number, registers, from sysfs.
    pub medium: Medium,
    /// Link to the host.
    pub link: Link,
    /// Its partitions, in the order of the table.
    pub partitions: Vec<Partition>,
    /// The reasons why it must not be touched; empty when it is free. From sysfs and proc (see
    /// [`crate::uses()`]); [`list`] adds files that other processes have open.
    pub uses: Vec<InUseReason>,
}

impl InventoryEntry {
    /// Every identifier of this very medium: CID, serial number, names under `/dev/disk/by-id`. If
    /// it has none (a loop device), the path of its node.
    pub fn ids(&self) -> Vec<String> {
        self.ids_for(None)
    }

    /// Identifiers with which this medium, or that partition of it, may be released for erasing
    /// (`--erase ID`), the most specific first. The identifiers of the medium are valid for each of
    /// its partitions too: the target says which one. The name of a partition is never valid for
    /// the whole medium.
    pub fn ids_for(&self, partition: Option<&Partition>) -> Vec<String> {
        let of_partition = partition.into_iter().flat_map(|partition| &partition.by_id);
        let own = [&self.medium.cid, &self.medium.serial].into_iter().flatten();
        let ids: Vec<String> = of_partition.chain(own).chain(&self.medium.by_id).cloned().collect();
        if !ids.is_empty() {
            return ids;
        }
        let paths = partition.map(|partition| &partition.path).into_iter().chain([&self.path]);
        paths.map(|path| path.display().to_string()).collect()
    }

    /// True if `id` identifies this very medium as a whole, so that all of it may be erased
    /// (`--erase ID`).
    pub fn answers_to(&self, id: &str) -> bool {
        self.answers_for(None, id)
    }

    /// True if `id` identifies the target to erase: this medium, or that partition of it. Letter
    /// case does not matter in a CID or serial number, and does in names and paths; a name may have
    /// a leading `/dev/disk/by-id/`.
    pub fn answers_for(&self, partition: Option<&Partition>, id: &str) -> bool {
        let id = id.trim();
        let name = id.strip_prefix("/dev/disk/by-id/").unwrap_or(id);
        let registers = [&self.medium.cid, &self.medium.serial].into_iter().flatten();
        let by_register =
            registers.map(String::as_str).any(|known| known.trim().eq_ignore_ascii_case(id));
        !id.is_empty() && (by_register || self.ids_for(partition).iter().any(|known| known == name))
    }

    /// Limits of the block layer for this device (docs/field/linux-io.md#queue-attributes).
    pub fn queue(&self, roots: &Roots) -> Queue {
        identity::queue(&roots.sys.join("block").join(&self.name).join("queue"))
    }
}

/// Every whole block device worth naming, in natural order: without memory disks, optical drives,
/// hardware partitions of an eMMC (boot, RPMB) and empty loop, zram and network slots; with card
/// readers without a card. Starts no program and opens no device but attached loop devices, to find
/// their backing files.
pub fn list(roots: &Roots) -> Vec<InventoryEntry> {
    let topology = BlockTopology::read(roots);
    let open_files = OpenFiles::look(roots, &topology.backing_files());
    let found = topology.slots.iter().filter(|slot| worth_naming(slot)).map(|slot| {
        let mut disk = disk(&topology, slot);
        disk.uses.extend(open_files.uses(&topology, slot));
        disk
    });
    found.collect()
}

/// The whole device with that number or with a partition of that number, and the partition.
pub fn find(roots: &Roots, number: DeviceNumber) -> Option<(InventoryEntry, Option<Partition>)> {
    find_in(&BlockTopology::read(roots), number)
}

pub(crate) fn find_in(
    topology: &BlockTopology<'_>,
    number: DeviceNumber,
) -> Option<(InventoryEntry, Option<Partition>)> {
    let (slot, partition) = topology.find(number)?;
    Some((disk(topology, slot), partition.cloned()))
}

/// Everything about one device.
fn disk(topology: &BlockTopology<'_>, slot: &BlockDeviceEntry) -> InventoryEntry {
    let mut medium = identity::medium(topology.roots, &slot.dir);
    medium.by_id = topology.by_id(slot.number);
    medium.capacity_bytes = (slot.size_bytes > 0).then_some(slot.size_bytes);
    InventoryEntry {
        name: slot.name.clone(),
        path: slot.path.clone(),
        number: slot.number,
        diskseq: number(&slot.dir.join("diskseq")),
        size_bytes: slot.size_bytes,
        read_only: flag(&slot.dir.join("ro")).unwrap_or(false),
        link: identity::link(topology.roots, &slot.dir),
        partitions: slot.partitions.clone(),
        uses: topology.uses(slot),
        medium,
    }
}

fn worth_naming(slot: &BlockDeviceEntry) -> bool {
    let driver = slot.name.trim_end_matches(|c: char| c.is_ascii_digit());
    match driver {
        "ram" | "sr" | "fd" | "mtdblock" => false,
        "loop" | "zram" | "nbd" => slot.size_bytes > 0,
        _ => {
            !(slot.name.starts_with("mmcblk")
                && (slot.name.contains("boot") || slot.name.ends_with("rpmb")))
        }
    }
}
