//! The file or block device behind a device.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path as FsPath;
use std::sync::atomic::AtomicBool;

use device::Request;
use record::Path;
use rustix::fs::{major, minor};

use crate::ioctl;

/// Directory of all block devices by number, as long as the kernel knows them.
const BLOCK_DEVICES: &str = "/sys/dev/block";

/// True if the block device of this number is missing from the directory `all`. False without that
/// directory, or for a file system without a device of its own (major number 0).
fn is_unknown(all: &FsPath, number: u64) -> bool {
    let (major, minor) = (major(number), minor(number));
    major != 0 && all.is_dir() && !all.join(format!("{major}:{minor}")).exists()
}

/// Kind of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    File,
    Block,
}

/// An open target, twice: past the page cache and through it.
pub(crate) struct Target {
    pub kind: FileKind,
    /// Through the page cache.
    pub buffered: OwnedFd,
    /// Past it; `None` if that was refused: then `buffered` is used.
    pub direct: Option<OwnedFd>,
    /// True if it failed everywhere and waiting did not help: it is not a card that was just pulled
    /// out, and further errors do not wait.
    pub silent: AtomicBool,
}

impl Target {
    /// An open file or device, by both ways.
    pub fn of(kind: FileKind, buffered: OwnedFd, direct: Option<OwnedFd>) -> Target {
        Target { kind, buffered, direct, silent: false.into() }
    }

    /// The descriptor for an I/O of this path.
    #[inline]
    pub fn fd(&self, path: Path) -> BorrowedFd<'_> {
        match (path, &self.direct) {
            (Path::Direct, Some(direct)) => direct.as_fd(),
            _ => self.buffered.as_fd(),
        }
    }

    /// True if the medium has been taken out: a block device then has no size, and the kernel no
    /// longer knows the device of a file.
    pub fn is_gone(&self) -> bool {
        match self.kind {
            FileKind::Block => !ioctl::capacity_bytes(&self.buffered).is_ok_and(|bytes| bytes > 0),
            FileKind::File => rustix::fs::fstat(&self.buffered)
                .is_ok_and(|stat| is_unknown(FsPath::new(BLOCK_DEVICES), stat.st_dev)),
        }
    }

    /// True if the file is long enough for the request.
    pub fn reaches(&self, request: &Request) -> bool {
        rustix::fs::fstat(&self.buffered).is_ok_and(|stat| {
            stat.st_size as u64 >= request.offset_bytes.saturating_add(request.length_bytes)
        })
    }
}

#[cfg(test)]
mod tests {
    use rustix::fs::makedev;

    use super::*;

    /// Regression: a stick that was pulled out during a write to a file on it was called a bad
    /// medium.
    #[test]
    fn the_device_of_a_file_goes_when_the_kernel_forgets_it() {
        let all = tempfile::tempdir().unwrap();
        std::fs::create_dir(all.path().join("8:17")).unwrap();
        let gone = |number| is_unknown(all.path(), number);
        assert!(!gone(makedev(8, 17)));
        assert!(gone(makedev(8, 33)));
        assert!(!gone(makedev(0, 33)), "btrfs, overlay or tmpfs");
        assert!(!is_unknown(&all.path().join("none"), makedev(8, 33)), "no sysfs");
    }
}
