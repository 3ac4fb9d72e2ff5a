//! Holding a block device so that nothing else mounts or takes it while it is tested.

use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use rustix::fs::{Mode, OFlags, open};

use crate::inventory::{Disk, find};
use crate::roots::{DeviceNumber, Roots};
use crate::target::BlockTarget;
use crate::uses::{Use, summary};

/// An exclusive hold (O_EXCL) on a block device, and the memory of what the device was when it was taken.
///
/// Let go of on drop. While it is held, mounting, `mkfs` and making the device part of something else fail with EBUSY; plain
/// opens by the tests do not. It is released while a file system is staged on the medium, and taken again afterwards.
#[derive(Debug)]
pub struct Claim {
    roots: Roots,
    path: PathBuf,
    number: DeviceNumber,
    disk: String,
    diskseq: Option<u64>,
    size_bytes: u64,
    held: Option<OwnedFd>,
}

/// The device could not be claimed, or is no longer what was claimed. Nothing may be written to it.
#[derive(Debug, thiserror::Error)]
pub enum ClaimError {
    /// Another program holds it.
    #[error("{} is held by another program or mounted; release it first (lsof or fuser name the program)", path.display())]
    Held {
        /// The node.
        path: PathBuf,
    },
    /// It came into use since it was looked at.
    #[error("{} has come into use: {}; nothing was written", path.display(), summary(uses))]
    InUse {
        /// The node.
        path: PathBuf,
        /// Why.
        uses: Vec<Use>,
    },
    /// Unplugged.
    #[error("{} is gone; plug the medium in again and start over with it", path.display())]
    Gone {
        /// The node.
        path: PathBuf,
    },
    /// Another medium is in its place.
    #[error("{} is not the medium it was: {what} was {before}, is {now}; nothing was written", path.display())]
    Changed {
        /// The node.
        path: PathBuf,
        /// "device number", "disk sequence number", "size".
        what: &'static str,
        /// As it was claimed.
        before: String,
        /// As it is.
        now: String,
    },
    /// It could not be opened.
    #[error("cannot open {}: {source}", path.display())]
    Io {
        /// The node.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Claims a block device that [`crate::resolve`] found free.
pub fn claim(roots: &Roots, target: &BlockTarget) -> Result<Claim, ClaimError> {
    let mut claim = Claim {
        roots: roots.clone(),
        path: target.path.clone(),
        number: target.number(),
        disk: target.disk.name.clone(),
        diskseq: target.disk.diskseq,
        size_bytes: target.size_bytes(),
        held: None,
    };
    claim.retake()?;
    Ok(claim)
}

impl Claim {
    /// Checks, right before the first write, that this is still the claimed medium: the node still has the device number, the
    /// kernel still counts the same medium, its size is the same, and nothing on it has come into use.
    pub fn still_same(&self) -> Result<(), ClaimError> {
        let path = || self.path.clone();
        let changed = |what, before: String, now: String| Err(ClaimError::Changed { path: path(), what, before, now });
        let now = self.roots.block_number(&self.path).ok_or_else(|| ClaimError::Gone { path: path() })?;
        if now != self.number {
            return changed("device number", self.number.to_string(), now.to_string());
        }
        let (disk, partition) = find(&self.roots, now).ok_or_else(|| ClaimError::Gone { path: path() })?;
        if disk.diskseq != self.diskseq {
            return changed("disk sequence number", or_none(self.diskseq), or_none(disk.diskseq));
        }
        let size_bytes = partition.as_ref().map_or(disk.size_bytes, |partition| partition.size_bytes);
        match size_bytes {
            _ if disk.name != self.disk => changed("name", self.disk.clone(), disk.name),
            0 => Err(ClaimError::Gone { path: path() }),
            size if size != self.size_bytes => changed("size in bytes", self.size_bytes.to_string(), size.to_string()),
            _ => self.unused(disk),
        }
    }

    fn unused(&self, disk: Disk) -> Result<(), ClaimError> {
        if disk.uses.is_empty() { Ok(()) } else { Err(ClaimError::InUse { path: self.path.clone(), uses: disk.uses }) }
    }

    /// Whether the device is held at the moment.
    pub fn is_held(&self) -> bool {
        self.held.is_some()
    }

    /// Lets go of the device; what it was is remembered.
    pub fn release(&mut self) {
        self.held = None;
    }

    /// Takes the device again if it was released, and checks that it is still the same; if it is not, it is not held.
    pub fn retake(&mut self) -> Result<(), ClaimError> {
        if self.held.is_none() {
            let flags = OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC;
            let fd = open(self.roots.locate(&self.path), flags, Mode::empty()).map_err(|errno| self.open_failed(errno))?;
            self.held = Some(fd);
        }
        let same = self.still_same();
        if same.is_err() {
            self.release();
        }
        same
    }

    fn open_failed(&self, errno: rustix::io::Errno) -> ClaimError {
        use rustix::io::Errno;
        let path = self.path.clone();
        match errno {
            Errno::BUSY => ClaimError::Held { path },
            Errno::NOENT | Errno::NXIO | Errno::NODEV | Errno::NOMEDIUM => ClaimError::Gone { path },
            other => ClaimError::Io { path, source: other.into() },
        }
    }
}

fn or_none(count: Option<u64>) -> String {
    count.map_or_else(|| "none".to_owned(), |count| count.to_string())
}
