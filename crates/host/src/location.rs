//! Directories: free space, their device, and the proof of it.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use record::Flag;

use crate::filesystems::{self, FsClass, Space, fs_class};
use crate::inventory::{InventoryEntry, find_in};
use crate::layers::{self, StoredOn};
use crate::mounts::{Mount, mount_of};
use crate::roots::{DeviceNumber, Roots};
use crate::topology::{BlockTopology, Partition};

/// Location of a directory or file.
#[derive(Clone, Debug, PartialEq)]
pub struct Location {
    /// The path with all links resolved.
    pub path: PathBuf,
    /// Device number from stat; anonymous on btrfs, overlay, tmpfs and networks.
    pub number: DeviceNumber,
    /// Its mount.
    pub mount: Mount,
    /// The block device below, if there is one; of a stack (LVM, MD, LUKS) the uppermost; of an
    /// overlay that of its upper layer.
    pub disk: Option<InventoryEntry>,
    /// The partition of that device.
    pub partition: Option<Partition>,
    /// The single medium at the bottom of a stack; `None` if there are several or there is no
    /// stack.
    pub medium_below: Option<InventoryEntry>,
    /// True if data written there stays in memory: on tmpfs, on an overlay with its upper layer
    /// there, on a file system in a file there.
    pub in_memory: bool,
    /// True if a loop device below uses the page cache of this host.
    pub is_host_cached: bool,
}

impl Location {
    /// The medium that measurements in this place test; `None` for storage in memory, even if it
    /// has a device.
    pub fn medium(&self) -> Option<&InventoryEntry> {
        self.medium_below.as_ref().or(self.disk.as_ref()).filter(|_| !self.in_memory)
    }

    /// Caveats about anything measured in this place.
    pub fn flags(&self) -> Vec<Flag> {
        let mut flags = filesystems::flags(&self.mount);
        if self.in_memory && !flags.contains(&Flag::MemoryFilesystem) {
            flags.push(Flag::MemoryFilesystem);
        }
        if self.disk.is_none() && !flags.contains(&Flag::MemoryFilesystem) {
            flags.push(Flag::UnknownMedium);
        }
        if self.is_host_cached {
            flags.push(Flag::HostCached);
        }
        flags
    }
}

/// Location of a directory or file. Works for the running system and, given a mount table with its
/// paths, for a copied tree.
pub fn device_of_directory(roots: &Roots, path: &Path) -> io::Result<Location> {
    let path = fs::canonicalize(path)?;
    let number = DeviceNumber::from_raw(fs::metadata(&path)?.dev());
    let topology = BlockTopology::read(roots);
    let mount = mount_of(roots, &topology.mounts, &path).cloned();
    let mount = mount
        .ok_or_else(|| io::Error::other(format!("no mount is known to hold {}", path.display())))?;
    let stored_on = layers::stored_on(&topology, &mount, &path);
    let device = match stored_on {
        StoredOn::Device(number) => Some(number),
        StoredOn::Memory | StoredOn::Unknown => None,
    };
    let in_memory = stored_on == StoredOn::Memory
        || device.is_some_and(|number| layers::in_memory(&topology, number));
    let found = device.and_then(|number| find_in(&topology, number));
    let medium_below = device.and_then(|number| only_medium_below(&topology, number));
    let (disk, partition) = found.map_or((None, None), |(disk, partition)| (Some(disk), partition));
    let is_host_cached = device.is_some_and(|number| layers::is_host_cached(&topology, number));
    Ok(Location { path, number, mount, disk, partition, medium_below, in_memory, is_host_cached })
}

/// The medium under a stacked device, if it is a single one.
fn only_medium_below(topology: &BlockTopology<'_>, number: DeviceNumber) -> Option<InventoryEntry> {
    let (top, _) = topology.find(number)?;
    let below = topology.below(top);
    let mut bottoms = below.iter().filter(|slot| topology.below(slot).is_empty());
    let bottom = bottoms.next()?;
    if bottoms.next().is_some() {
        return None;
    }
    find_in(topology, bottom.number).map(|(disk, _)| disk)
}

/// Size and free space of the file system of `path`, in bytes.
pub fn free_space(path: &Path) -> io::Result<Space> {
    let stat = rustix::fs::statvfs(path)?;
    Ok(Space {
        size_bytes: stat.f_blocks * stat.f_frsize,
        free_bytes: stat.f_bavail * stat.f_frsize,
    })
}

/// A directory is not on the expected device. Nothing may be written there.
#[derive(Debug, thiserror::Error)]
pub enum NotProved {
    /// It is on another device: the mount failed or was undone.
    #[error("{} is on device {found}, not on {expected}: the mount it should be on is not there; nothing was written", path.display())]
    Elsewhere {
        /// The directory with all links resolved.
        path: PathBuf,
        /// The device it is on.
        found: DeviceNumber,
        /// The device it should be on.
        expected: DeviceNumber,
    },
    /// Its device cannot be found.
    #[error("cannot tell which device {} is on: {source}", path.display())]
    Unknown {
        /// The directory as the caller gave it.
        path: PathBuf,
        /// Error of resolving its links or of stat(2).
        source: io::Error,
    },
}

/// Proves that a directory which is to be filled is on the block device `expected`: by the device
/// number from stat, or, if the file system has a number of its own, by that of its mounted device.
/// A mount that failed must never send a fill to the root disk.
pub fn prove_on_device(
    roots: &Roots,
    directory: &Path,
    expected: DeviceNumber,
) -> Result<(), NotProved> {
    let unknown = |source| NotProved::Unknown { path: directory.to_owned(), source };
    let path = fs::canonicalize(directory).map_err(unknown)?;
    let mut found = DeviceNumber::from_raw(fs::metadata(&path).map_err(unknown)?.dev());
    if found.is_anonymous() {
        let topology = BlockTopology::read(roots);
        // memory and layers may call their source what they like; only a file system of its own
        // lies on it
        let mount = mount_of(roots, &topology.mounts, &path)
            .filter(|mount| fs_class(&mount.kind) == FsClass::Local);
        let source = mount.and_then(|mount| topology.device_of(mount));
        found = source.unwrap_or(found);
    }
    if found == expected { Ok(()) } else { Err(NotProved::Elsewhere { path, found, expected }) }
}
