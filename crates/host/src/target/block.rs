//! Block devices, and the reasons to refuse one.

use std::fs;
use std::io;
use std::path::Path;

use record::Flag;

use super::{AS_ROOT, Access, BlockTarget, TargetError};
use crate::filesystems;
use crate::in_use::{InUseReason, exclusively_open};
use crate::inventory::{InventoryEntry, find_in};
use crate::layers;
use crate::open_files::{OpenFiles, settled};
use crate::roots::{DeviceNumber, Roots};
use crate::topology::{BlockDeviceEntry, BlockTopology};

/// The block device with that number, or the refusal.
pub(super) fn find(
    roots: &Roots,
    target: &str,
    number: DeviceNumber,
    access: Access,
) -> Result<BlockTarget, TargetError> {
    let mut topology = BlockTopology::read(roots);
    if topology.find(number).is_some_and(|(slot, _)| slot.size_bytes == 0) {
        // A reader whose card was out tells of the new one when it is opened
        // (disk_check_media_change in block/disk-events.c).
        drop(fs::File::open(roots.locate(Path::new(target))));
        topology = BlockTopology::read(roots);
    }
    let found = find_in(&topology, number).zip(topology.find(number));
    let ((disk, partition), (slot, _)) =
        found.ok_or_else(|| TargetError::Gone(target.to_owned()))?;
    let flags = flags(&topology, slot);
    let path = partition.as_ref().map_or(&disk.path, |partition| &partition.path).clone();
    let mut found = BlockTarget { path, disk, partition, flags };
    let seen = check(&topology, slot, target, &found, access)?;
    let note = super::unseen(&topology, &seen).note();
    found.flags.extend(note.map(|text| Flag::Note { text }));
    Ok(found)
}

/// Every reason to refuse a block device, the most telling first.
fn check(
    topology: &BlockTopology<'_>,
    slot: &BlockDeviceEntry,
    target: &str,
    found: &BlockTarget,
    access: Access,
) -> Result<OpenFiles, TargetError> {
    let (roots, disk) = (topology.roots, &found.disk);
    if found.size_bytes() == 0 {
        return Err(TargetError::Empty(disk.name.clone()));
    }
    refuse_used(target, found, disk.uses.clone())?;
    if access == Access::Write && found.is_read_only(roots) {
        return Err(TargetError::ReadOnlyMedium(disk.name.clone()));
    }
    may_open(roots, found, access).map_err(|error| open_failed(target, disk, error))?;
    let mut seen = OpenFiles::default();
    let used = settled(|| {
        seen = OpenFiles::look_for(topology, slot);
        seen.uses(topology, slot)
    });
    refuse_used(target, found, used)?;
    refuse_used(target, found, held_elsewhere(roots, found, &seen))?;
    Ok(seen)
}

/// Refuses a device if it or another part of the same medium is in use.
fn refuse_used(
    target: &str,
    found: &BlockTarget,
    uses: Vec<InUseReason>,
) -> Result<(), TargetError> {
    let target = target.to_owned();
    match &found.partition {
        _ if uses.is_empty() => Ok(()),
        Some(_) => Err(TargetError::SiblingInUse { target, disk: found.disk.name.clone(), uses }),
        None => Err(TargetError::InUse(target, uses)),
    }
}

fn may_open(roots: &Roots, found: &BlockTarget, access: Access) -> io::Result<()> {
    let write = access == Access::Write;
    fs::OpenOptions::new().read(true).write(write).open(roots.locate(&found.path)).map(drop)
}

/// Refusal for a failed open of a block device.
fn open_failed(target: &str, disk: &InventoryEntry, error: io::Error) -> TargetError {
    use rustix::io::Errno;
    let errno = error.raw_os_error().map(Errno::from_raw_os_error);
    let (target, device) = (target.to_owned(), disk.name.clone());
    match errno {
        Some(Errno::ACCESS | Errno::PERM) => {
            TargetError::NoRights { target, right: "open", way_out: AS_ROOT }
        }
        Some(Errno::ROFS) => TargetError::ReadOnlyMedium(device),
        Some(Errno::NOMEDIUM) => TargetError::Empty(device),
        Some(Errno::BUSY) => {
            let held = InUseReason::ExclusivelyOpen { device, open_in: Vec::new() };
            TargetError::InUse(target, vec![held])
        }
        Some(Errno::NXIO | Errno::NODEV | Errno::NOENT) => TargetError::Gone(target),
        _ => TargetError::Io(target, error),
    }
}

/// The device and its siblings that another program holds exclusively. A hold on a partition is
/// also one on its whole device, so the whole device is named only if no partition is the reason.
fn held_elsewhere(roots: &Roots, found: &BlockTarget, seen: &OpenFiles) -> Vec<InUseReason> {
    let held = |path: &Path, number: DeviceNumber, name: &str| {
        // whoever holds the whole holds its partitions, too
        let open_in = || {
            Some(seen.openers(number))
                .filter(|found| !found.is_empty())
                .unwrap_or_else(|| seen.openers(found.disk.number))
        };
        exclusively_open(roots, path)
            .then(|| InUseReason::ExclusivelyOpen { device: name.to_owned(), open_in: open_in() })
    };
    let disk = &found.disk;
    let Some(whole) = held(&disk.path, disk.number, &disk.name) else {
        return Vec::new();
    };
    let partitions: Vec<InUseReason> = disk
        .partitions
        .iter()
        .filter_map(|part| held(&part.path, part.number, &part.name))
        .collect();
    if partitions.is_empty() { vec![whole] } else { partitions }
}

/// Flags of a block device that is memory, or that uses the page cache of this host.
fn flags(topology: &BlockTopology<'_>, slot: &BlockDeviceEntry) -> Vec<Flag> {
    let mut flags = Vec::new();
    if slot.name.starts_with("ram") || slot.name.starts_with("zram") {
        flags.push(Flag::MemoryFilesystem);
    }
    for file in slot.files() {
        let mount = crate::mounts::mount_of(topology.roots, &topology.mounts, &file.path);
        let Some(mount) = mount else { continue };
        flags.extend(filesystems::flags(mount));
        let is_in_memory = layers::file_in_memory(topology, &file.path);
        if is_in_memory && !flags.contains(&Flag::MemoryFilesystem) {
            flags.push(Flag::MemoryFilesystem);
        }
    }
    if layers::is_host_cached(topology, slot.number) {
        flags.push(Flag::HostCached);
    }
    flags
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_failed_open_means() {
        let disk = InventoryEntry { name: "sdb".to_owned(), ..InventoryEntry::default() };
        let message =
            |errno: rustix::io::Errno| open_failed("/dev/sdb", &disk, errno.into()).to_string();
        insta::assert_snapshot!(message(rustix::io::Errno::ACCESS), @"no right to open '/dev/sdb'; run it as root, or name a directory on the medium instead");
        insta::assert_snapshot!(message(rustix::io::Errno::NOMEDIUM), @"sdb holds no medium (size 0); put one in, or see `flashmark list`");
        insta::assert_snapshot!(message(rustix::io::Errno::ROFS), @"sdb is write-protected; move the lock slider of the card or adapter");
        insta::assert_snapshot!(message(rustix::io::Errno::NXIO), @"'/dev/sdb' is a block device that the kernel does not know (any more); plug it in again, `flashmark list` shows what is there");
    }
}
