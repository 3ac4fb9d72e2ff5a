//! Resolution of a target: from the user's words to the object to be tested, or to a refusal that
//! names the object and the way out.

mod block;
mod error;
mod file;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use blockio::FileIdentity;
use record::units::KIB;
use record::{Filesystem, Flag, Target, TargetKind, WholeMedium};

use crate::filesystems::{self, FsClass, Space};
use crate::inventory::InventoryEntry;
use crate::io_limits::io_limits;
use crate::location::{Location, device_of_directory, free_space};
use crate::mounts::sees_mounts;
use crate::open_files::{NotSeen, OpenFiles};
use crate::roots::{Node, Roots, flag, text};
use crate::topology::{BlockTopology, Partition};
pub use error::{NO_MOUNTS, TargetError};

/// Least free space in bytes: less has no room for a test file of useful size.
const MIN_FREE_BYTES: u64 = 64 * KIB;

/// Kind of access to a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read only: all that a raw medium allows without `--erase`.
    Read,
    /// Read and written, as with `--erase`.
    Write,
}

/// A directory: a test file is made in it and removed.
#[derive(Clone, Debug, PartialEq)]
pub struct DirectoryTarget {
    /// Location of the directory; `place.path` has all links resolved.
    pub place: Location,
    /// Its file system, in the form of the record.
    pub filesystem: Filesystem,
    /// Caveats about anything measured there.
    pub flags: Vec<Flag>,
}

/// A regular file that is itself read or written.
#[derive(Clone, Debug, PartialEq)]
pub struct FileTarget {
    /// Location of the file; `place.path` has all links resolved.
    pub place: Location,
    /// Identity of the file, even if its name leads elsewhere later.
    pub identity: FileIdentity,
    /// Length in bytes when it was resolved.
    pub size_bytes: u64,
    /// Its file system, in the form of the record.
    pub filesystem: Filesystem,
    /// Caveats about anything measured there; [`Flag::Sparse`] if parts have no storage.
    pub flags: Vec<Flag>,
}

/// A block device, whole or a partition.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockTarget {
    /// The node as the kernel names it ("/dev/sda1"), for any link that the user gave.
    pub path: PathBuf,
    /// The whole device, also if a partition of it was named.
    pub disk: InventoryEntry,
    /// The partition that was named.
    pub partition: Option<Partition>,
    /// Caveats about anything measured there.
    pub flags: Vec<Flag>,
}

impl BlockTarget {
    /// The device number of exactly the target.
    pub fn number(&self) -> crate::DeviceNumber {
        self.partition.as_ref().map_or(self.disk.number, |partition| partition.number)
    }

    /// True if the kernel refuses writes to the target.
    pub fn is_read_only(&self, roots: &Roots) -> bool {
        let of_partition = |partition: &Partition| {
            let dir = roots.sys.join("block").join(&self.disk.name).join(&partition.name);
            flag(&dir.join("ro")).unwrap_or(false)
        };
        self.disk.read_only || self.partition.as_ref().is_some_and(of_partition)
    }

    /// The size of exactly the target, in bytes.
    pub fn size_bytes(&self) -> u64 {
        self.partition.as_ref().map_or(self.disk.size_bytes, |partition| partition.size_bytes)
    }
}

/// A target after resolution.
#[derive(Clone, Debug, PartialEq)]
pub enum ResolvedTarget {
    /// A directory, in which a test file is made.
    Directory(Box<DirectoryTarget>),
    /// A regular file that is itself read or written.
    File(Box<FileTarget>),
    /// A block device, whole or a partition.
    Block(Box<BlockTarget>),
}

impl ResolvedTarget {
    /// Location and file system of a directory or file.
    fn place(&self) -> Option<(&Location, &Filesystem)> {
        match self {
            ResolvedTarget::Directory(found) => Some((&found.place, &found.filesystem)),
            ResolvedTarget::File(found) => Some((&found.place, &found.filesystem)),
            ResolvedTarget::Block(_) => None,
        }
    }

    /// The medium that measurements test, if there is one.
    pub fn medium(&self) -> Option<&InventoryEntry> {
        match self {
            ResolvedTarget::Block(found) => Some(&found.disk),
            _ => self.place()?.0.medium(),
        }
    }

    /// Caveats about anything measured here.
    pub fn flags(&self) -> &[Flag] {
        match self {
            ResolvedTarget::Directory(found) => &found.flags,
            ResolvedTarget::File(found) => &found.flags,
            ResolvedTarget::Block(found) => &found.flags,
        }
    }

    fn flags_mut(&mut self) -> &mut Vec<Flag> {
        match self {
            ResolvedTarget::Directory(found) => &mut found.flags,
            ResolvedTarget::File(found) => &mut found.flags,
            ResolvedTarget::Block(found) => &mut found.flags,
        }
    }

    /// The target in the form of the record; `given` is the user's word. The caller adds the
    /// engine.
    pub fn record(&self, roots: &Roots, given: &str) -> Target {
        let kind = match self {
            ResolvedTarget::Directory(_) => TargetKind::Directory,
            ResolvedTarget::File(_) => TargetKind::File,
            ResolvedTarget::Block(_) => TargetKind::Block,
        };
        let (top, partition) = match (self, self.place()) {
            (ResolvedTarget::Block(found), _) => (Some(&found.disk), found.partition.as_ref()),
            (_, Some((place, _))) => (place.disk.as_ref(), place.partition.as_ref()),
            (_, None) => (None, None),
        };
        let device = partition
            .map(|part| (part.name.clone(), part.number))
            .or(top.map(|disk| (disk.name.clone(), disk.number)));
        let part_of = match (self, partition) {
            (ResolvedTarget::Block(found), Some(_)) => Some(WholeMedium {
                device: found.disk.name.clone(),
                capacity_bytes: found.disk.size_bytes,
            }),
            _ => None,
        };
        Target {
            kind,
            path: given.to_owned(),
            part_of,
            device: device.as_ref().map(|(name, _)| name.clone()),
            device_number: device.map(|(_, number)| number.to_string()),
            diskseq: top.and_then(|disk| disk.diskseq),
            filesystem: self.place().map(|(_, filesystem)| filesystem.clone()),
            queue: top.map(|disk| disk.queue(roots)),
            link: self.medium().map(|disk| disk.link.clone()),
            engine: None,
            backing: top.and_then(|disk| backing(roots, disk)),
        }
    }
}

/// The backing file of a loop device, and "direct" if it bypasses the page cache.
pub(crate) fn backing(roots: &Roots, disk: &InventoryEntry) -> Option<String> {
    let dir = roots.sys.join("block").join(&disk.name).join("loop");
    let how = if flag(&dir.join("dio"))? { "direct" } else { "through the page cache" };
    Some(format!("{} ({how})", text(&dir.join("backing_file"))?))
}

const AS_ROOT: &str = "run it as root, or name a directory on the medium instead";
const OTHER_DIRECTORY: &str = "name a directory that is yours, or run it as root";

/// Resolves the user's target. Follows links, also those under `/dev/disk/by-id` and `by-path`;
/// decides by device number (of a file, by device and inode), never by name, if a medium is in use.
/// Opens a block device once, for reading, to check the rights and exclusive holds of other
/// programs. Repeats the search for open files for about a second before it refuses: udev and its
/// like close them again.
pub fn resolve(roots: &Roots, target: &str, access: Access) -> Result<ResolvedTarget, TargetError> {
    let path = Path::new(target);
    let not_storage = |what: &str| TargetError::NotStorage(target.to_owned(), what.to_owned());
    let node = roots.node(path).map_err(|error| look_failed(roots, target, error))?;
    if !sees_mounts(roots) {
        return Err(TargetError::Blind);
    }
    let mut found = match node {
        Node::Block(number) => {
            ResolvedTarget::Block(Box::new(block::find(roots, target, number, access)?))
        }
        Node::Directory => ResolvedTarget::Directory(Box::new(directory(roots, target)?)),
        Node::File => ResolvedTarget::File(Box::new(file::find(roots, target, access)?)),
        Node::Character => return Err(not_storage("character device")),
        Node::Fifo => return Err(not_storage("named pipe")),
        Node::Socket => return Err(not_storage("socket")),
    };
    let limits = found.medium().map(|disk| io_limits(roots, disk.number)).unwrap_or_default();
    found.flags_mut().extend(limits);
    Ok(found)
}

/// Parts of the uses of media and files that could not be seen.
pub fn not_seen(roots: &Roots) -> NotSeen {
    unseen(&BlockTopology::read(roots), &OpenFiles::look(roots, &[]))
}

fn unseen(topology: &BlockTopology<'_>, open_files: &OpenFiles) -> NotSeen {
    NotSeen { loops: topology.loops_by_name_only(), ..open_files.not_seen().clone() }
}

/// Refusal for a failed stat, by its error.
fn look_failed(roots: &Roots, target: &str, error: io::Error) -> TargetError {
    let link = fs::read_link(roots.locate(Path::new(target)));
    let target = target.to_owned();
    match (error.kind(), link) {
        (io::ErrorKind::NotFound, Ok(to)) => TargetError::Dangling(target, to),
        (io::ErrorKind::NotFound | io::ErrorKind::NotADirectory, Err(_)) => {
            TargetError::Missing(target)
        }
        (io::ErrorKind::PermissionDenied, _) => {
            TargetError::NoRights { target, right: "look at", way_out: OTHER_DIRECTORY }
        }
        _ => TargetError::Io(target, error),
    }
}

/// A directory in which a test file can be made.
fn directory(roots: &Roots, target: &str) -> Result<DirectoryTarget, TargetError> {
    let place = locate(roots, target)?;
    may_write(target, &place, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK)?;
    let space = space(target, &place)?;
    check_free(target, space)?;
    let filesystem = filesystem(&place, space);
    let flags = place.flags();
    Ok(DirectoryTarget { place, filesystem, flags })
}

/// Location of a directory or file; refused if there is no medium of this machine below it.
fn locate(roots: &Roots, target: &str) -> Result<Location, TargetError> {
    let path = roots.locate(Path::new(target));
    let place =
        device_of_directory(roots, &path).map_err(|error| look_failed(roots, target, error))?;
    check_fs_class(target, &place.mount)?;
    Ok(place)
}

fn check_fs_class(target: &str, mount: &crate::Mount) -> Result<(), TargetError> {
    let (target, kind) = (target.to_owned(), mount.kind.clone());
    match filesystems::fs_class(&kind) {
        FsClass::Remote => {
            Err(TargetError::Remote { target, kind, source_name: mount.source.clone() })
        }
        FsClass::Pseudo => {
            Err(TargetError::NotStorage(target, format!("pseudo file system ({kind})")))
        }
        FsClass::Local | FsClass::Memory | FsClass::Overlay => Ok(()),
    }
}

/// Checks that the wanted access is granted; distinguishes a read-only file system from missing
/// rights.
fn may_write(
    target: &str,
    place: &Location,
    wanted: rustix::fs::Access,
) -> Result<(), TargetError> {
    use rustix::fs::{AtFlags, CWD, accessat};
    let target = target.to_owned();
    let read_only = || TargetError::ReadOnlyFilesystem {
        target: target.clone(),
        kind: place.mount.kind.clone(),
        at: place.mount.at.clone(),
    };
    if wanted.contains(rustix::fs::Access::WRITE_OK) && place.mount.has_option("ro") {
        return Err(read_only());
    }
    match accessat(CWD, &place.path, wanted, AtFlags::EACCESS) {
        Ok(()) => Ok(()),
        Err(rustix::io::Errno::ROFS) => Err(read_only()),
        Err(rustix::io::Errno::ACCESS | rustix::io::Errno::PERM) => {
            let right =
                if wanted.contains(rustix::fs::Access::WRITE_OK) { "write to" } else { "read" };
            Err(TargetError::NoRights { target, right, way_out: OTHER_DIRECTORY })
        }
        Err(error) => Err(TargetError::Io(target, error.into())),
    }
}

fn space(target: &str, place: &Location) -> Result<Space, TargetError> {
    free_space(&place.path).map_err(|source| TargetError::Io(target.to_owned(), source))
}

fn check_free(target: &str, space: Space) -> Result<(), TargetError> {
    if space.free_bytes >= MIN_FREE_BYTES {
        return Ok(());
    }
    Err(TargetError::Full(target.to_owned(), space.free_bytes))
}

/// The file system of a place in the form of the record.
fn filesystem(place: &Location, space: Space) -> Filesystem {
    Filesystem {
        kind: Some(place.mount.kind.clone()),
        options: Some(place.mount.joined_options()),
        source: Some(place.mount.source.clone()),
        size_bytes: Some(space.size_bytes),
        free_bytes: Some(space.free_bytes),
        partition_offset_bytes: place.partition.as_ref().map(|partition| partition.offset_bytes),
    }
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
}
