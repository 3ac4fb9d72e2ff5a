//! What a loop device is over: by identity where the kernel tells it, by name where it does not.

use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use blockio::{FileIdentity, LoopBacking};

use super::BackedBy;
use crate::roots::{DeviceNumber, Roots, text};

/// A file that a stacked device has its content in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BackingFile {
    /// The name by which the kernel knows it; another file may have it by now.
    pub path: PathBuf,
    /// Which file it is, as the kernel says.
    known: Option<FileIdentity>,
}

impl BackingFile {
    /// One of which only the name is known.
    pub fn named(path: PathBuf) -> BackingFile {
        BackingFile { path, known: None }
    }

    /// Which file it is: as the kernel says, else what its name leads to.
    pub fn identity(&self) -> Option<FileIdentity> {
        self.known
            .or_else(|| fs::metadata(&self.path).ok().map(|metadata| FileIdentity::of(&metadata)))
    }

    /// True if the kernel did not say which file it is.
    pub fn is_by_name_only(&self) -> bool {
        self.known.is_none()
    }

    /// The block device that the file is on, as the kernel says; none for a file system without a
    /// device of its own.
    pub fn device(&self) -> Option<DeviceNumber> {
        let number = DeviceNumber::from_raw(self.known?.device);
        (!number.is_anonymous()).then_some(number)
    }
}

/// What the loop device `name`, described in `dir`, is over; sysfs calls it `path`.
pub(super) fn below_loop(roots: &Roots, name: &str, dir: &Path, path: String) -> BackedBy {
    let path = PathBuf::from(path);
    let number = text(&dir.join("dev")).and_then(|text| text.parse().ok());
    match number.and_then(|number| loop_backing_at(roots, &Path::new("/dev").join(name), number)) {
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

/// What the loop device with that number is over, as the kernel says; `None` without the rights to
/// ask, and in a copied tree.
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
