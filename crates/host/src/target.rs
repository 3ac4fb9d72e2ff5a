//! From the words a user types to the thing to be tested, or to a refusal that names the thing and the way out.

mod error;

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use record::units::KIB;
use record::{Filesystem, Flag, Target, TargetKind};

use crate::filesystems::{self, Nature, Space};
use crate::inventory::{Disk, find_in};
use crate::picture::{Below, Partition, Picture, Slot};
use crate::place::{Place, device_of_directory, free_space};
use crate::roots::{Node, Roots, flag, text};
use crate::uses::{Use, exclusively_open};
pub use error::TargetError;

/// Less free space than this is none: a test file of useful size does not fit.
const LEAST_FREE_BYTES: u64 = 64 * KIB;

/// What is to be done to a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read only: what a raw medium gets without `--erase`.
    Read,
    /// Written to.
    Write,
}

/// A directory: a test file is made in it and removed.
#[derive(Clone, Debug, PartialEq)]
pub struct DirectoryTarget {
    /// Where it is; `place.path` has all links resolved.
    pub place: Place,
    /// Its file system.
    pub filesystem: Filesystem,
    /// Doubts about anything measured there.
    pub flags: Vec<Flag>,
}

/// A regular file.
#[derive(Clone, Debug, PartialEq)]
pub struct FileTarget {
    /// Where it is; `place.path` has all links resolved.
    pub place: Place,
    /// Its length.
    pub size_bytes: u64,
    /// Its file system.
    pub filesystem: Filesystem,
    /// Doubts about anything measured there; [`Flag::Sparse`] where parts have no storage.
    pub flags: Vec<Flag>,
}

/// A block device, whole or a partition.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockTarget {
    /// The node as the kernel names it ("/dev/sda1"), whatever link the user gave.
    pub path: PathBuf,
    /// The whole device.
    pub disk: Disk,
    /// The partition that was named.
    pub partition: Option<Partition>,
    /// Doubts about anything measured there.
    pub flags: Vec<Flag>,
}

impl BlockTarget {
    /// The number of exactly what was named.
    pub fn number(&self) -> crate::DeviceNumber {
        self.partition.as_ref().map_or(self.disk.number, |partition| partition.number)
    }

    /// The size of exactly what was named.
    pub fn size_bytes(&self) -> u64 {
        self.partition.as_ref().map_or(self.disk.size_bytes, |partition| partition.size_bytes)
    }
}

/// What a target turned out to be.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    /// A directory.
    Directory(Box<DirectoryTarget>),
    /// A regular file.
    File(Box<FileTarget>),
    /// A block device.
    Block(Box<BlockTarget>),
}

impl Found {
    /// The medium that measurements are about, where there is one.
    pub fn medium(&self) -> Option<&Disk> {
        match self {
            Found::Directory(found) => found.place.medium(),
            Found::File(found) => found.place.medium(),
            Found::Block(found) => Some(&found.disk),
        }
    }

    /// Doubts about anything measured here.
    pub fn flags(&self) -> &[Flag] {
        match self {
            Found::Directory(found) => &found.flags,
            Found::File(found) => &found.flags,
            Found::Block(found) => &found.flags,
        }
    }

    /// As the record keeps it; `given` is what the user typed. The engine is the caller's to add.
    pub fn record(&self, roots: &Roots, given: &str) -> Target {
        let (kind, filesystem) = match self {
            Found::Directory(found) => (TargetKind::Directory, Some(found.filesystem.clone())),
            Found::File(found) => (TargetKind::File, Some(found.filesystem.clone())),
            Found::Block(_) => (TargetKind::Block, None),
        };
        let (top, partition) = match self {
            Found::Directory(found) => (found.place.disk.as_ref(), found.place.partition.as_ref()),
            Found::File(found) => (found.place.disk.as_ref(), found.place.partition.as_ref()),
            Found::Block(found) => (Some(&found.disk), found.partition.as_ref()),
        };
        let device = partition.map(|part| (part.name.clone(), part.number)).or(top.map(|disk| (disk.name.clone(), disk.number)));
        Target {
            kind,
            path: given.to_owned(),
            device: device.as_ref().map(|(name, _)| name.clone()),
            device_number: device.map(|(_, number)| number.to_string()),
            diskseq: top.and_then(|disk| disk.diskseq),
            filesystem,
            queue: top.map(|disk| disk.queue(roots)),
            link: self.medium().map(|disk| disk.link.clone()),
            engine: None,
            backing: top.and_then(|disk| backing(roots, disk)),
        }
    }
}

/// What a loop device is backed by, and whether it reads that directly.
fn backing(roots: &Roots, disk: &Disk) -> Option<String> {
    let dir = roots.sys.join("block").join(&disk.name).join("loop");
    let how = if flag(&dir.join("dio"))? { "direct" } else { "through the page cache" };
    Some(format!("{} ({how})", text(&dir.join("backing_file"))?))
}

const AS_ROOT: &str = "run it as root, or name a directory on the medium instead";
const OTHER_DIRECTORY: &str = "name a directory that is yours, or run it as root";

/// Finds out what the user named. Links, also those under `/dev/disk/by-id` and `by-path`, are followed; whether a medium is in
/// use is decided by device number. Opens a block device once, for reading, to learn whether it may and whether another program
/// holds it.
pub fn resolve(roots: &Roots, target: &str, access: Access) -> Result<Found, TargetError> {
    let path = Path::new(target);
    let given = || target.to_owned();
    let not_storage = |what: &str| TargetError::NotStorage { target: given(), what: what.to_owned() };
    match roots.node(path).map_err(|error| look_failed(roots, target, error))? {
        Node::Block(number) => {
            let picture = Picture::take(roots);
            let found = find_in(&picture, number).zip(picture.find(number));
            let ((disk, partition), (slot, _)) = found.ok_or_else(|| TargetError::Gone { target: given() })?;
            let flags = block_flags(&picture, slot);
            let path = partition.as_ref().map_or(&disk.path, |partition| &partition.path).clone();
            let found = BlockTarget { path, disk, partition, flags };
            check_block(roots, target, &found, access)?;
            Ok(Found::Block(Box::new(found)))
        }
        Node::Directory => directory(roots, target).map(|found| Found::Directory(Box::new(found))),
        Node::File => file(roots, target, access).map(|found| Found::File(Box::new(found))),
        Node::Character => Err(not_storage("character device")),
        Node::Fifo => Err(not_storage("named pipe")),
        Node::Socket => Err(not_storage("socket")),
    }
}

/// Tells apart what a failed stat can mean.
fn look_failed(roots: &Roots, target: &str, error: io::Error) -> TargetError {
    let link = fs::read_link(roots.locate(Path::new(target)));
    let target = target.to_owned();
    match (error.kind(), link) {
        (io::ErrorKind::NotFound, Ok(to)) => TargetError::Dangling { target, to },
        (io::ErrorKind::NotFound | io::ErrorKind::NotADirectory, Err(_)) => TargetError::Missing { target },
        (io::ErrorKind::PermissionDenied, _) => TargetError::NoRights { target, right: "look at", way_out: OTHER_DIRECTORY },
        _ => TargetError::Io { target, source: error },
    }
}

/// Everything that forbids a block device, most telling first.
fn check_block(roots: &Roots, target: &str, found: &BlockTarget, access: Access) -> Result<(), TargetError> {
    let target = target.to_owned();
    let disk = &found.disk;
    if found.size_bytes() == 0 {
        return Err(TargetError::Empty { device: disk.name.clone() });
    }
    refuse_used(&target, found, disk.uses.clone())?;
    let read_only = disk.read_only || found.partition.as_ref().is_some_and(|part| is_read_only(roots, disk, part));
    if access == Access::Write && read_only {
        return Err(TargetError::ReadOnlyMedium { device: disk.name.clone() });
    }
    may_open(roots, found, access).map_err(|error| open_failed(&target, disk, error))?;
    refuse_used(&target, found, held_elsewhere(roots, found))
}

/// Refuses a device that is in use, itself or elsewhere on the same medium.
fn refuse_used(target: &str, found: &BlockTarget, uses: Vec<Use>) -> Result<(), TargetError> {
    let target = target.to_owned();
    match &found.partition {
        _ if uses.is_empty() => Ok(()),
        Some(_) => Err(TargetError::SiblingInUse { target, disk: found.disk.name.clone(), uses }),
        None => Err(TargetError::InUse { target, uses }),
    }
}

fn is_read_only(roots: &Roots, disk: &Disk, partition: &Partition) -> bool {
    flag(&roots.sys.join("block").join(&disk.name).join(&partition.name).join("ro")).unwrap_or(false)
}

fn may_open(roots: &Roots, found: &BlockTarget, access: Access) -> io::Result<()> {
    let write = access == Access::Write;
    fs::OpenOptions::new().read(true).write(write).open(roots.locate(&found.path)).map(drop)
}

/// What a failed open of a block device means.
fn open_failed(target: &str, disk: &Disk, error: io::Error) -> TargetError {
    use rustix::io::Errno;
    let errno = error.raw_os_error().map(Errno::from_raw_os_error);
    let (target, device) = (target.to_owned(), disk.name.clone());
    match errno {
        Some(Errno::ACCESS | Errno::PERM) => TargetError::NoRights { target, right: "open", way_out: AS_ROOT },
        Some(Errno::ROFS) => TargetError::ReadOnlyMedium { device },
        Some(Errno::NOMEDIUM) => TargetError::Empty { device },
        Some(Errno::BUSY) => TargetError::InUse { target, uses: vec![Use::ExclusivelyOpen { device }] },
        Some(Errno::NXIO | Errno::NODEV | Errno::NOENT) => TargetError::Gone { target },
        _ => TargetError::Io { target, source: error },
    }
}

/// The device and its siblings that another program holds exclusively. Holding a partition holds its whole device, too, so the
/// whole device is named only where no partition is the reason.
fn held_elsewhere(roots: &Roots, found: &BlockTarget) -> Vec<Use> {
    let held = |path: &Path, name: &str| exclusively_open(roots, path).then(|| Use::ExclusivelyOpen { device: name.to_owned() });
    let disk = &found.disk;
    let Some(whole) = held(&disk.path, &disk.name) else {
        return Vec::new();
    };
    let partitions: Vec<Use> = disk.partitions.iter().filter_map(|part| held(&part.path, &part.name)).collect();
    if partitions.is_empty() { vec![whole] } else { partitions }
}

/// Whether a block device is memory, or has the page cache of this host between itself and its medium.
fn block_flags(picture: &Picture<'_>, slot: &Slot) -> Vec<Flag> {
    let mut flags = Vec::new();
    if slot.name.starts_with("ram") || slot.name.starts_with("zram") {
        flags.push(Flag::MemoryFilesystem);
    }
    for below in &slot.below {
        if let Below::File(path) = below
            && let Some(mount) = crate::mounts::mount_of(picture.roots, &picture.mounts, path)
        {
            flags.extend(filesystems::flags(mount));
        }
    }
    if flag(&slot.dir.join("loop/dio")) == Some(false) {
        flags.push(Flag::HostCached);
    }
    flags
}

/// A directory in which a test file can be made.
fn directory(roots: &Roots, target: &str) -> Result<DirectoryTarget, TargetError> {
    let place = locate(roots, target)?;
    may_write(target, &place, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK)?;
    let space = space(target, &place)?;
    check_free(target, space)?;
    let filesystem = filesystem(&place, space);
    let flags = filesystems::flags(&place.mount);
    Ok(DirectoryTarget { place, filesystem, flags })
}

/// A regular file that nothing else lives in.
fn file(roots: &Roots, target: &str, access: Access) -> Result<FileTarget, TargetError> {
    let place = locate(roots, target)?;
    let metadata = fs::metadata(&place.path).map_err(|source| TargetError::Io { target: target.to_owned(), source })?;
    if let Some(what) = lives_in(roots, (metadata.dev(), metadata.ino())) {
        return Err(TargetError::FileInUse { target: target.to_owned(), what });
    }
    let wanted = match access {
        Access::Read => rustix::fs::Access::READ_OK,
        Access::Write => rustix::fs::Access::READ_OK | rustix::fs::Access::WRITE_OK,
    };
    may_write(target, &place, wanted)?;
    let filesystem = filesystem(&place, space(target, &place)?);
    let mut flags = filesystems::flags(&place.mount);
    let hole_bytes = metadata.len().saturating_sub(metadata.blocks() * 512);
    if hole_bytes > 0 {
        flags.push(Flag::Sparse { hole_bytes });
    }
    Ok(FileTarget { place, size_bytes: metadata.len(), filesystem, flags })
}

/// Where a directory or file is, refused where there is no medium of this machine below.
fn locate(roots: &Roots, target: &str) -> Result<Place, TargetError> {
    let path = roots.locate(Path::new(target));
    let place = device_of_directory(roots, &path).map_err(|error| look_failed(roots, target, error))?;
    check_nature(target, &place.mount)?;
    Ok(place)
}

fn check_nature(target: &str, mount: &crate::Mount) -> Result<(), TargetError> {
    let (target, kind) = (target.to_owned(), mount.kind.clone());
    match filesystems::nature(&kind) {
        Nature::Remote => Err(TargetError::Remote { target, kind, source_name: mount.source.clone() }),
        Nature::Pseudo => Err(TargetError::NotStorage { target, what: format!("pseudo file system ({kind})") }),
        Nature::Local | Nature::Memory | Nature::Overlay => Ok(()),
    }
}

/// Whether the wanted access is given; a read-only file system is told from missing rights.
fn may_write(target: &str, place: &Place, wanted: rustix::fs::Access) -> Result<(), TargetError> {
    use rustix::fs::{AtFlags, CWD, accessat};
    let target = target.to_owned();
    let read_only =
        || TargetError::ReadOnlyFilesystem { target: target.clone(), kind: place.mount.kind.clone(), at: place.mount.at.clone() };
    if wanted.contains(rustix::fs::Access::WRITE_OK) && place.mount.has_option("ro") {
        return Err(read_only());
    }
    match accessat(CWD, &place.path, wanted, AtFlags::EACCESS) {
        Ok(()) => Ok(()),
        Err(rustix::io::Errno::ROFS) => Err(read_only()),
        Err(rustix::io::Errno::ACCESS | rustix::io::Errno::PERM) => {
            let right = if wanted.contains(rustix::fs::Access::WRITE_OK) { "write to" } else { "read" };
            Err(TargetError::NoRights { target, right, way_out: OTHER_DIRECTORY })
        }
        Err(error) => Err(TargetError::Io { target, source: error.into() }),
    }
}

fn space(target: &str, place: &Place) -> Result<Space, TargetError> {
    free_space(&place.path).map_err(|source| TargetError::Io { target: target.to_owned(), source })
}

fn check_free(target: &str, space: Space) -> Result<(), TargetError> {
    if space.free_bytes >= LEAST_FREE_BYTES {
        return Ok(());
    }
    Err(TargetError::Full { target: target.to_owned(), free_bytes: space.free_bytes })
}

fn filesystem(place: &Place, space: Space) -> Filesystem {
    filesystems::describe(&place.mount, Some(space), place.partition.as_ref().map(|partition| partition.offset_bytes))
}

/// What lives in the file with that device and inode: swap space, or the content of a loop device.
fn lives_in(roots: &Roots, file: (u64, u64)) -> Option<String> {
    let same = |path: &Path| fs::metadata(path).is_ok_and(|other| (other.dev(), other.ino()) == file);
    if crate::mounts::swaps(roots).iter().any(|swap| same(swap)) {
        return Some("swap space".to_owned());
    }
    let picture = Picture::take(roots);
    let holds = |slot: &&Slot| slot.below.iter().any(|below| matches!(below, Below::File(path) if same(path)));
    picture.slots.iter().find(holds).map(|slot| format!("the content of {}", slot.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_directory_is_refused() {
        let full = Space { size_bytes: 1 << 30, free_bytes: 4096 };
        let message = check_free("/mnt/card", full).unwrap_err().to_string();
        insta::assert_snapshot!(message, @"'/mnt/card' has 4 KiB free; delete something there or name another directory");
        assert!(check_free("/mnt/card", Space { free_bytes: 1 << 20, ..full }).is_ok());
    }

    #[test]
    fn what_a_failed_open_means() {
        let disk = Disk {
            name: "sdb".to_owned(),
            path: "/dev/sdb".into(),
            number: crate::DeviceNumber { major: 8, minor: 16 },
            diskseq: None,
            size_bytes: 1 << 30,
            read_only: false,
            medium: record::Medium::default(),
            link: record::Link::default(),
            partitions: Vec::new(),
            uses: Vec::new(),
        };
        let say = |errno: rustix::io::Errno| open_failed("/dev/sdb", &disk, errno.into()).to_string();
        insta::assert_snapshot!(say(rustix::io::Errno::ACCESS), @"no right to open '/dev/sdb'; run it as root, or name a directory on the medium instead");
        insta::assert_snapshot!(say(rustix::io::Errno::NOMEDIUM), @"sdb holds no medium (size 0); put one in, or see `flashmark list`");
        insta::assert_snapshot!(say(rustix::io::Errno::ROFS), @"sdb is read-only; move the lock slider of the card or adapter, or leave out --erase for the tests that only read");
        insta::assert_snapshot!(say(rustix::io::Errno::NXIO), @"'/dev/sdb' is a block device that the kernel does not know (any more); plug it in again, `flashmark list` shows what is there");
    }
}
