//! Topology of the block devices of the machine: devices, mounts, swaps, loops and links, read once
//! and queried many times.

mod backing;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::mounts::{Mount, mounts, swaps};
use crate::roots::{DeviceNumber, Roots, device_number, link_name, names, number, text};
pub(crate) use backing::{BackingFile, loop_backing};
use blockio::FileIdentity;

/// Bytes of a sector in sysfs, for any logical block of the medium.
pub(crate) const SECTOR_BYTES: u64 = 512;

/// A part of a medium that the kernel shows as a device of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// Kernel name of the partition: "sda1", "mmcblk0p2".
    pub name: String,
    /// Its device node: "/dev/sda1".
    pub path: PathBuf,
    /// Its own device number, `dev` in sysfs.
    pub number: DeviceNumber,
    /// Its number in the partition table, from 1.
    pub index: u32,
    /// Offset in bytes on the medium.
    pub offset_bytes: u64,
    /// Length in bytes.
    pub size_bytes: u64,
    /// Names of the links under `/dev/disk/by-id` that lead to it, without the folder.
    pub by_id: Vec<String>,
}

/// A whole block device as sysfs shows it.
#[derive(Clone, Debug)]
pub(crate) struct BlockDeviceEntry {
    pub name: String,
    pub dir: PathBuf,
    pub path: PathBuf,
    pub number: DeviceNumber,
    pub size_bytes: u64,
    pub partitions: Vec<Partition>,
    /// Devices under this one: from `slaves/`, and the backing of a loop or zram device.
    pub backed_by: Vec<BackedBy>,
}

/// Storage of a stacked device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BackedBy {
    /// A block device, by its number.
    Device(DeviceNumber),
    /// A file on some file system.
    File(BackingFile),
}

/// The block devices of the machine and their stacking, as they were when read.
pub(crate) struct BlockTopology<'a> {
    pub roots: &'a Roots,
    pub slots: Vec<BlockDeviceEntry>,
    pub mounts: Vec<Mount>,
    /// Swap spaces on block devices, by number.
    pub swaps: Vec<DeviceNumber>,
    /// Members of mounted btrfs file systems, with the file system's id.
    pub btrfs: Vec<(DeviceNumber, String)>,
    by_id: BTreeMap<DeviceNumber, Vec<String>>,
}

impl<'a> BlockTopology<'a> {
    /// Reads sysfs, proc and `/dev`, and asks loop devices for their backing.
    pub fn read(roots: &'a Roots) -> BlockTopology<'a> {
        let by_id = by_id(roots);
        let slots = names(&roots.sys.join("block"))
            .iter()
            .filter_map(|name| slot(roots, name, &by_id))
            .collect();
        let swapped = swaps(roots);
        BlockTopology {
            roots,
            slots,
            mounts: mounts(roots),
            swaps: swapped.iter().filter_map(|path| roots.block_number(path)).collect(),
            btrfs: btrfs_members(roots),
            by_id,
        }
    }

    /// The whole device with that number, or the one that holds the partition with that number.
    pub fn find(&self, number: DeviceNumber) -> Option<(&BlockDeviceEntry, Option<&Partition>)> {
        self.slots.iter().find_map(|slot| {
            if slot.number == number {
                return Some((slot, None));
            }
            let partition = slot.partitions.iter().find(|partition| partition.number == number)?;
            Some((slot, Some(partition)))
        })
    }

    /// The whole device of that kernel name.
    pub fn named(&self, name: &str) -> Option<&BlockDeviceEntry> {
        self.slots.iter().find(|slot| slot.name == name)
    }

    /// Identity of a device's node in the kernel's table of locks; `None` if there is no such node.
    pub fn node_identity(&self, number: DeviceNumber, name: &str) -> Option<FileIdentity> {
        let path = Path::new("/dev").join(name.replace('!', "/"));
        let is_it = self.roots.block_number(&path) == Some(number);
        is_it
            .then(|| fs::metadata(self.roots.locate(&path)).ok())
            .flatten()
            .map(|metadata| FileIdentity::of(&metadata))
    }

    /// The files that hold the content of loop devices and their like.
    pub fn backing_files(&self) -> Vec<FileIdentity> {
        let files = self.slots.iter().flat_map(BlockDeviceEntry::files);
        files.filter_map(BackingFile::identity).collect()
    }

    /// Number of loop devices whose backing file is known only by its name.
    pub fn loops_by_name_only(&self) -> u32 {
        let is_by_name = |slot: &&BlockDeviceEntry| {
            slot.name.starts_with("loop") && slot.files().any(BackingFile::is_by_name_only)
        };
        let loops = self.slots.iter().filter(is_by_name);
        if self.roots.is_real() { u32::try_from(loops.count()).unwrap_or(u32::MAX) } else { 0 }
    }

    /// Names of a device under `/dev/disk/by-id`.
    pub fn by_id(&self, number: DeviceNumber) -> Vec<String> {
        self.by_id.get(&number).cloned().unwrap_or_default()
    }

    /// The block device of a mounted file system. If the file system has a number of its own
    /// (btrfs), the number of its mounted device.
    pub fn device_of(&self, mount: &Mount) -> Option<DeviceNumber> {
        if !mount.number.is_anonymous() {
            return Some(mount.number);
        }
        let source = Path::new(&mount.source);
        source.is_absolute().then(|| self.roots.block_number(source)).flatten()
    }
}

impl BlockDeviceEntry {
    /// The files that hold its content, if it is a loop device or its like.
    pub fn files(&self) -> impl Iterator<Item = &BackingFile> {
        self.backed_by.iter().filter_map(|below| match below {
            BackedBy::File(file) => Some(file),
            BackedBy::Device(_) => None,
        })
    }

    /// Numbers of the whole device and of each partition, with their names.
    pub fn nodes(&self) -> impl Iterator<Item = (DeviceNumber, &str, PathBuf)> {
        let whole = (self.number, self.name.as_str(), self.dir.clone());
        let parts = self
            .partitions
            .iter()
            .map(|part| (part.number, part.name.as_str(), self.dir.join(&part.name)));
        std::iter::once(whole).chain(parts)
    }
}

/// Reads one directory of `/sys/block`.
fn slot(
    roots: &Roots,
    name: &str,
    by_id: &BTreeMap<DeviceNumber, Vec<String>>,
) -> Option<BlockDeviceEntry> {
    let dir = roots.sys.join("block").join(name);
    let partition = |name: String| -> Option<Partition> {
        let dir = dir.join(&name);
        let index = number(&dir.join("partition"))?;
        let device = device_number(&dir)?;
        Some(Partition {
            path: Path::new("/dev").join(&name),
            name,
            number: device,
            index: u32::try_from(index).ok()?,
            offset_bytes: number(&dir.join("start"))? * SECTOR_BYTES,
            size_bytes: number(&dir.join("size"))? * SECTOR_BYTES,
            by_id: by_id.get(&device).cloned().unwrap_or_default(),
        })
    };
    let entries = names(&dir).into_iter().filter(|entry| entry.starts_with(name));
    Some(BlockDeviceEntry {
        number: device_number(&dir)?,
        size_bytes: number(&dir.join("size")).unwrap_or(0) * SECTOR_BYTES,
        partitions: entries.filter_map(partition).collect(),
        backed_by: backed_by(roots, name, &dir),
        // sysfs writes a '!' where the node's name has a '/' ("cciss!c0d0")
        path: Path::new("/dev").join(name.replace('!', "/")),
        name: name.to_owned(),
        dir,
    })
}

/// Storage of a stacked device.
fn backed_by(roots: &Roots, name: &str, dir: &Path) -> Vec<BackedBy> {
    let slaves = dir.join("slaves");
    let slave_number = |name: &String| device_number(&slaves.join(name)).map(BackedBy::Device);
    let mut below: Vec<BackedBy> = names(&slaves).iter().filter_map(slave_number).collect();
    below.extend(
        text(&dir.join("loop/backing_file"))
            .map(|path| backing::below_loop(roots, name, dir, path)),
    );
    // what zram writes back to
    let path =
        text(&dir.join("backing_dev")).filter(|path| path.starts_with('/')).map(PathBuf::from);
    below.extend(path.map(|path| {
        roots
            .block_number(&path)
            .map_or_else(|| BackedBy::File(BackingFile::named(path)), BackedBy::Device)
    }));
    below
}

/// All links under `/dev/disk/by-id`, by the number of the device they lead to.
fn by_id(roots: &Roots) -> BTreeMap<DeviceNumber, Vec<String>> {
    let mut found: BTreeMap<DeviceNumber, Vec<String>> = BTreeMap::new();
    for name in names(&roots.dev.join("disk/by-id")) {
        if let Some(number) = roots.block_number(&Path::new("/dev/disk/by-id").join(&name)) {
            found.entry(number).or_default().push(name);
        }
    }
    found
}

/// Every device of every mounted btrfs: the mount table names only one of them.
fn btrfs_members(roots: &Roots) -> Vec<(DeviceNumber, String)> {
    let root = roots.sys.join("fs/btrfs");
    let mut members = Vec::new();
    for id in names(&root) {
        let devices = root.join(&id).join("devices");
        for device in names(&devices) {
            members.extend(device_number(&devices.join(device)).map(|number| (number, id.clone())));
        }
    }
    members
}

/// The chain of directories in sysfs from a block device up to the machine, links resolved.
pub(crate) fn ancestors(dir: &Path) -> Vec<PathBuf> {
    let Ok(real) = fs::canonicalize(dir) else { return Vec::new() };
    real.ancestors().take_while(|path| !path.ends_with("sys")).map(Path::to_owned).collect()
}

/// The first driver above a block device that is not the generic one of its class
/// (docs/field/identity.md#other-buses: `usb-storage` or `uas`, not `sd`).
pub(crate) fn driver(dir: &Path) -> Option<String> {
    const CLASS_DRIVERS: [&str; 4] = ["sd", "sr", "mmcblk", "st"];
    ancestors(dir)
        .iter()
        .filter_map(|path| link_name(&path.join("driver")))
        .find(|name| !CLASS_DRIVERS.contains(&name.as_str()))
}
