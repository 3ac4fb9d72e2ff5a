//! Holding a block device so that nothing else mounts or takes it while it is tested.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use rustix::io::Errno;

use crate::in_use::{InUseReason, summary};
use crate::inventory::{InventoryEntry, find};
use crate::open_files::{Hold, Holding, LockKind, OpenFiles, settled};
use crate::roots::{DeviceNumber, Roots};
use crate::target::BlockTarget;
use crate::topology::BlockTopology;

/// An exclusive hold (O_EXCL) on a block device with a lock (flock) on its whole disk, and the
/// properties that the device had when it was claimed.
///
/// udev and partitioning tools respect the lock (<https://systemd.io/BLOCK_DEVICE_LOCKING>). Both
/// end on drop. While the device is held, mounting, `mkfs` and making it part of another device
/// fail with EBUSY; plain opens by the tests do not. It is released while a file system is staged
/// on the medium, and taken again afterwards.
#[derive(Debug)]
pub struct Claim {
    roots: Roots,
    path: PathBuf,
    number: DeviceNumber,
    disk: String,
    diskseq: Option<u64>,
    size_bytes: u64,
    held: Option<OwnedFd>,
    locked: Option<OwnedFd>,
}

/// The device could not be claimed, or is no longer the claimed one. Nothing may be written to it.
#[derive(Debug, thiserror::Error)]
pub enum ClaimError {
    /// Another program holds the device of this node.
    #[error("{} is held by another program or mounted; release it first (lsof or fuser name the program)", .0.display())]
    Held(PathBuf),
    /// Another program has a lock on the node of the whole disk.
    #[error("{} is {}; wait for it, or end it first; nothing was written", .0.display(), .1)]
    Locked(PathBuf, Holding),
    /// The device of this node has come into use since it was checked; the uses are never empty.
    #[error("{} has come into use: {}; nothing was written", .0.display(), summary(.1))]
    InUse(PathBuf, Vec<InUseReason>),
    /// The node or its device no longer exists, or has no medium.
    #[error("{} is gone; plug the medium in again and start over with it", .0.display())]
    Gone(PathBuf),
    /// Another medium is in its place.
    #[error("{} is not the medium it was: {what} was {before}, is {now}; nothing was written", path.display())]
    Changed {
        /// Device node of the claim: "/dev/sdb".
        path: PathBuf,
        /// "device number", "disk sequence number", "size".
        what: &'static str,
        /// Value when it was claimed.
        before: String,
        /// Present value from the kernel.
        now: String,
    },
    /// The node could not be opened: error of open(2) or fstat(2).
    #[error("cannot open {}: {}", .0.display(), .1)]
    Io(PathBuf, #[source] io::Error),
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
        locked: None,
    };
    claim.retake()?;
    Ok(claim)
}

impl Claim {
    /// Checks, right before the first write, that this is still the claimed medium: the node still
    /// has the device number, the kernel still counts the same medium, its size is the same, and no
    /// use of it has begun.
    pub fn still_same(&self) -> Result<(), ClaimError> {
        let gone = || ClaimError::Gone(self.path.clone());
        let now = self.roots.block_number(&self.path).ok_or_else(gone)?;
        self.has_number(now)?;
        let (disk, partition) = find(&self.roots, now).ok_or_else(gone)?;
        if disk.diskseq != self.diskseq {
            let (before, now) = (or_none(self.diskseq), or_none(disk.diskseq));
            return self.changed("disk sequence number", before, now);
        }
        let size_bytes =
            partition.as_ref().map_or(disk.size_bytes, |partition| partition.size_bytes);
        match size_bytes {
            _ if disk.name != self.disk => self.changed("name", self.disk.clone(), disk.name),
            0 => Err(gone()),
            size if size != self.size_bytes => {
                self.changed("size in bytes", self.size_bytes.to_string(), size.to_string())
            }
            _ => self.unused(disk),
        }
    }

    /// True if the kernel counts no other medium in the disk since it was claimed: what has it open
    /// goes on with another card as soon as anybody has opened that.
    pub fn is_same_medium(&self) -> bool {
        let path = format!("block/{}/diskseq", self.disk);
        crate::roots::number(&self.roots.sys.join(path)) == self.diskseq
    }

    fn unused(&self, disk: InventoryEntry) -> Result<(), ClaimError> {
        let in_use = |uses| Err(ClaimError::InUse(self.path.clone(), uses));
        if !disk.uses.is_empty() {
            return in_use(disk.uses);
        }
        let topology = BlockTopology::read(&self.roots);
        let held = || {
            let slot = topology.named(&self.disk);
            slot.map_or_else(Vec::new, |slot| {
                OpenFiles::look_for(&topology, slot).uses(&topology, slot)
            })
        };
        let uses = settled(held);
        if uses.is_empty() { Ok(()) } else { in_use(uses) }
    }

    /// True if the device is held now.
    pub fn is_held(&self) -> bool {
        self.held.is_some()
    }

    /// Releases the device; its properties are remembered.
    pub fn release(&mut self) {
        if let Some(locked) = self.locked.take() {
            // a program that was started in this instant may have inherited the descriptor
            let _ = flock(locked, FlockOperation::Unlock);
        }
        self.held = None;
    }

    /// Takes the device again if it was released, and checks that it is still the same; if not,
    /// releases it again.
    pub fn retake(&mut self) -> Result<(), ClaimError> {
        if self.held.is_none() {
            self.held = Some(self.open_alone().map_err(|errno| self.open_failed(errno))?);
        }
        let same = self.is_the_number().and_then(|()| self.lock()).and_then(|()| self.still_same());
        if same.is_err() {
            self.release();
        }
        same
    }

    /// Opens it exclusively. Waits for short uses: udev probes a new medium, and a program that was
    /// just started inherits its parent's open files.
    fn open_alone(&self) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC;
        let node = self.roots.locate(&self.path);
        let mut opened = open(&node, flags, Mode::empty());
        let _ = settled(|| {
            if matches!(opened, Err(Errno::BUSY)) {
                opened = open(&node, flags, Mode::empty());
            }
            if matches!(opened, Err(Errno::BUSY)) { vec![()] } else { Vec::new() }
        });
        opened
    }

    /// Checks that the opened device has the expected number; a node of a copied tree has none.
    fn is_the_number(&self) -> Result<(), ClaimError> {
        let Some(held) = self.held.as_ref().filter(|_| self.roots.is_real()) else { return Ok(()) };
        let stat = rustix::fs::fstat(held).map_err(|errno| self.open_failed(errno))?;
        self.has_number(DeviceNumber::from_raw(stat.st_rdev))
    }

    fn has_number(&self, now: DeviceNumber) -> Result<(), ClaimError> {
        if now == self.number {
            return Ok(());
        }
        self.changed("device number", self.number.to_string(), now.to_string())
    }

    fn changed(&self, what: &'static str, before: String, now: String) -> Result<(), ClaimError> {
        Err(ClaimError::Changed { path: self.path.clone(), what, before, now })
    }

    /// Locks the whole disk; waits for udev, which locks a device while it probes it.
    fn lock(&mut self) -> Result<(), ClaimError> {
        if self.locked.is_some() {
            return Ok(());
        }
        let path = Path::new("/dev").join(self.disk.replace('!', "/"));
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fd = open(self.roots.locate(&path), flags, Mode::empty())
            .map_err(|errno| self.open_failed(errno))?;
        let refusals = settled(|| match flock(&fd, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => vec![()],
            _ => Vec::new(),
        });
        if refusals.is_empty() {
            self.locked = Some(fd);
            return Ok(());
        }
        let flock = Hold::Lock(LockKind::Flock);
        let holdings = OpenFiles::look(&self.roots, &[])
            .of_block(self.roots.block_number(&path).unwrap_or(self.number));
        let holding = holdings.into_iter().next().unwrap_or(Holding { how: flock, by: None });
        Err(ClaimError::Locked(path, holding))
    }

    fn open_failed(&self, errno: Errno) -> ClaimError {
        let path = self.path.clone();
        match errno {
            Errno::BUSY => ClaimError::Held(path),
            Errno::NOENT | Errno::NXIO | Errno::NODEV | Errno::NOMEDIUM => ClaimError::Gone(path),
            other => ClaimError::Io(path, other.into()),
        }
    }
}

fn or_none(count: Option<u64>) -> String {
    count.map_or_else(|| "none".to_owned(), |count| count.to_string())
}
