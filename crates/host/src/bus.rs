//! Media that share a data path: a USB bus, a reader's host controller, a link, or a medium below
//! both.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, PathBuf};

use crate::layers::{self, Level, StoredOn};
use crate::roots::{DeviceNumber, Roots};
use crate::topology::{BlockDeviceEntry, BlockTopology};

/// Everything that carries I/O for a block device and may carry another's as well: paths in sysfs,
/// and the mount for storage without a device. Two devices with a common entry share it.
pub fn buses(roots: &Roots, number: DeviceNumber) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    layers::any_level(&BlockTopology::read(roots), number, &mut |level| {
        match level {
            Level::Device(slot) if slot.backed_by.is_empty() => found.insert(bus(slot)),
            Level::File(mount, StoredOn::Memory | StoredOn::Unknown) => {
                found.insert(mount.at.clone())
            }
            Level::Device(_) | Level::File(_, StoredOn::Device(_)) => false,
        };
        false
    });
    found
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
