//! What is plugged in.

use std::path::PathBuf;

use record::{Link, Medium, Queue};

use crate::identity;
use crate::picture::{Partition, Picture, Slot};
use crate::roots::{DeviceNumber, Roots, flag, number};
use crate::uses::Use;

/// A whole block device: what it is, how it is attached, and why it is in use.
#[derive(Clone, Debug, PartialEq)]
pub struct Disk {
    /// Kernel name: "mmcblk0", "sda".
    pub name: String,
    /// Its device node.
    pub path: PathBuf,
    /// Its device number.
    pub number: DeviceNumber,
    /// The kernel's count of media: another medium in the same slot has another one. Kernel 5.15 and newer.
    pub diskseq: Option<u64>,
    /// Size; 0 for a reader without a card.
    pub size_bytes: u64,
    /// Whether the kernel refuses writes (the lock slider of a card).
    pub read_only: bool,
    /// What it is.
    pub medium: Medium,
    /// How it is attached.
    pub link: Link,
    /// Its partitions, in order of their place in the table.
    pub partitions: Vec<Partition>,
    /// Why it must be left alone; empty when it is free. Of the traces in sysfs and proc only, see [`crate::uses()`].
    pub uses: Vec<Use>,
}

impl Disk {
    /// Every name by which this very medium can be told from others: CID, serial number, names under `/dev/disk/by-id`. Where
    /// it has none of these (a loop device), the path of its node.
    pub fn ids(&self) -> Vec<String> {
        let own = [&self.medium.cid, &self.medium.serial].into_iter().flatten().cloned();
        let ids: Vec<String> = own.chain(self.medium.by_id.iter().cloned()).collect();
        if ids.is_empty() { vec![self.path.display().to_string()] } else { ids }
    }

    /// Whether `id` names this very medium, so that it may be erased (`--erase ID`). Letter case does not matter, nor does a
    /// leading `/dev/disk/by-id/`; the name of a partition counts for its medium.
    pub fn answers_to(&self, id: &str) -> bool {
        let id = id.trim().trim_start_matches("/dev/disk/by-id/");
        let partitions = self.partitions.iter().flat_map(|partition| partition.by_id.iter().cloned());
        !id.is_empty() && self.ids().into_iter().chain(partitions).any(|known| known.eq_ignore_ascii_case(id))
    }

    /// Limits of the block layer for this device (flash.md G5).
    pub fn queue(&self, roots: &Roots) -> Queue {
        identity::queue(&roots.sys.join("block").join(&self.name).join("queue"))
    }
}

/// Every whole block device worth naming, in natural order: memory disks, optical drives, hardware partitions of an eMMC
/// (boot, RPMB) and empty loop, zram and network slots are left out; a card reader without a card is kept. Starts no program
/// and opens no device.
pub fn list(roots: &Roots) -> Vec<Disk> {
    let picture = Picture::take(roots);
    picture.slots.iter().filter(|slot| worth_naming(slot)).map(|slot| disk(&picture, slot)).collect()
}

/// The whole device with that number or with a partition of that number, and the partition.
pub fn find(roots: &Roots, number: DeviceNumber) -> Option<(Disk, Option<Partition>)> {
    find_in(&Picture::take(roots), number)
}

pub(crate) fn find_in(picture: &Picture<'_>, number: DeviceNumber) -> Option<(Disk, Option<Partition>)> {
    let (slot, partition) = picture.find(number)?;
    Some((disk(picture, slot), partition.cloned()))
}

/// Everything about one device.
fn disk(picture: &Picture<'_>, slot: &Slot) -> Disk {
    let mut medium = identity::medium(picture.roots, &slot.dir);
    medium.by_id = picture.by_id(slot.number);
    medium.capacity_bytes = (slot.size_bytes > 0).then_some(slot.size_bytes);
    Disk {
        name: slot.name.clone(),
        path: slot.path.clone(),
        number: slot.number,
        diskseq: number(&slot.dir.join("diskseq")),
        size_bytes: slot.size_bytes,
        read_only: flag(&slot.dir.join("ro")).unwrap_or(false),
        link: identity::link(picture.roots, &slot.dir),
        partitions: slot.partitions.clone(),
        uses: picture.uses(slot),
        medium,
    }
}

fn worth_naming(slot: &Slot) -> bool {
    let driver = slot.name.trim_end_matches(|c: char| c.is_ascii_digit());
    match driver {
        "ram" | "sr" | "fd" | "mtdblock" => false,
        "loop" | "zram" | "nbd" => slot.size_bytes > 0,
        _ => !(slot.name.starts_with("mmcblk") && (slot.name.contains("boot") || slot.name.ends_with("rpmb"))),
    }
}
