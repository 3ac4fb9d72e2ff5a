//! Media that share a data path: a USB bus, a reader's host controller, a link, or a medium below
//! both.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::layers::{self, StoredOn};
use crate::mounts::mount_of;
use crate::roots::{DeviceNumber, Roots};
use crate::topology::{BackedBy, BlockDeviceEntry, BlockTopology};

/// Greatest depth of a stack that is followed: files under loop devices may be stacked any number
/// of times.
const DEEPEST: usize = 8;

/// Everything that carries I/O for a block device and may carry another's as well: paths in sysfs,
/// and the mount for storage without a device. Two devices with a common entry share it.
pub fn buses(roots: &Roots, number: DeviceNumber) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    collect(&BlockTopology::read(roots), number, &mut found, 0);
    found
}

fn collect(
    topology: &BlockTopology<'_>,
    number: DeviceNumber,
    found: &mut BTreeSet<PathBuf>,
    depth: usize,
) {
    let Some((slot, _)) = topology.find(number).filter(|_| depth < DEEPEST) else { return };
    if slot.backed_by.is_empty() {
        found.insert(bus(slot));
    }
    for below in &slot.backed_by {
        match below {
            BackedBy::Device(number) => collect(topology, *number, found, depth + 1),
            BackedBy::File(file) => of_file(topology, &file.path, found, depth + 1),
        }
    }
}

/// Adds the storage of a file under a loop device.
fn of_file(topology: &BlockTopology<'_>, file: &Path, found: &mut BTreeSet<PathBuf>, depth: usize) {
    let Some(mount) = mount_of(topology.roots, &topology.mounts, file) else { return };
    match layers::stored_on(topology, mount, file) {
        StoredOn::Device(number) => collect(topology, number, found, depth),
        StoredOn::Memory | StoredOn::Unknown => {
            found.insert(mount.at.clone());
        }
    }
}

/// The part of a device's path in sysfs that others may share: up to the USB bus, the card host,
/// the ATA port or the NVMe controller; otherwise the device itself.
fn bus(slot: &BlockDeviceEntry) -> PathBuf {
    let path = fs::canonicalize(&slot.dir).unwrap_or_else(|_| slot.dir.clone());
    let parts: Vec<Component<'_>> = path.components().collect();
    let shared = parts.iter().position(|part| is_shared(&part.as_os_str().to_string_lossy()));
    let up_to = shared.map_or(parts.len(), |at| at + 1);
    parts[..up_to].iter().collect()
}

/// True for names of the kernel's directories of buses: `usb1`, `mmc0`, `ata3`, `nvme0`.
fn is_shared(name: &str) -> bool {
    ["usb", "mmc", "ata", "nvme"].iter().any(|kind| {
        let number = name.strip_prefix(kind).unwrap_or_default();
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}
