//! The file or device behind a loop device: by identity if the kernel reports it, otherwise by
//! name.

use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use blockio::{FileIdentity, LoopBacking};

use super::BackedBy;
use crate::roots::{DeviceNumber, Roots, device_number};

/// A file that holds the content of a stacked device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BackingFile {
    /// The name by which the kernel knows it; another file may have the name by now.
    pub path: PathBuf,
    /// Identity of the file, from the kernel.
    known: Option<FileIdentity>,
}

impl BackingFile {
    /// A backing file of which only the name is known.
    pub fn named(path: PathBuf) -> BackingFile {
        BackingFile { path, known: None }
    }

    /// Identity of the file: from the kernel, otherwise of the file that now has its name.
    pub fn identity(&self) -> Option<FileIdentity> {
        self.known
            .or_else(|| fs::metadata(&self.path).ok().map(|metadata| FileIdentity::of(&metadata)))
    }

    /// True if the kernel did not report its identity.
    pub fn is_by_name_only(&self) -> bool {
        self.known.is_none()
    }

    /// The block device of the file, from the kernel; `None` for a file system without a device of
    /// its own.
    pub fn device(&self) -> Option<DeviceNumber> {
        let number = DeviceNumber::from_raw(self.known?.device);
        (!number.is_anonymous()).then_some(number)
    }
}

/// The file or device behind the loop device `name`, described in `dir`; `path` is its name in
/// sysfs.
pub(super) fn below_loop(roots: &Roots, name: &str, dir: &Path, path: String) -> BackedBy {
    let path = PathBuf::from(path);
    match device_number(dir)
        .and_then(|number| loop_backing_at(roots, &Path::new("/dev").join(name), number))
    {
        Some(known) if known.rdevice != 0 => {
            BackedBy::Device(DeviceNumber::from_raw(known.rdevice))
        }
        Some(known) => BackedBy::File(BackingFile {
            path,
            known: Some(FileIdentity { device: known.device, inode: known.inode }),
        }),
        None => roots
            .block_number(&path)
            .map_or(BackedBy::File(BackingFile::named(path)), BackedBy::Device),
    }
}

/// The file or device behind the loop device with that number, from the kernel; `None` without the
/// rights to ask, and in a copied tree.
pub(crate) fn loop_backing(roots: &Roots, number: DeviceNumber) -> Option<LoopBacking> {
    let name = fs::canonicalize(roots.sys.join(format!("dev/block/{number}"))).ok()?;
    loop_backing_at(roots, &Path::new("/dev").join(name.file_name()?), number)
}

fn loop_backing_at(roots: &Roots, node: &Path, number: DeviceNumber) -> Option<LoopBacking> {
    if !roots.is_real() {
        return None;
    }
    let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let node = File::options().read(true).custom_flags(nonblocking).open(node).ok()?;
    let is_it = node.metadata().is_ok_and(|metadata| metadata.rdev() == number.to_raw());
    is_it.then(|| blockio::loop_backing(&node).ok()).flatten()
}
