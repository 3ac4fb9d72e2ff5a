//! Storage that is measured again and again: a throttled file system of its own, or a directory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use host::Loop;
use host::loopdev::attach;
use tempfile::TempDir;

use super::throttle::{Caps, Throttle};
use crate::agree::loop_medium::write_whole;
use crate::attached::medium::Program;
use crate::attached::works::Mounted;

/// Size of the loop device.
const DISK_BYTES: u64 = 2 << 30;

/// A directory, throttled or not.
pub trait Storage {
    /// Target for `check`.
    fn directory(&self) -> PathBuf;
    /// Command of the program for this storage.
    fn command(&self, program: &Program) -> Command;
}

/// A new directory on the disk of the checkout; removed when dropped.
pub struct OnDisk(TempDir);

impl OnDisk {
    /// Makes the directory below `root`/target.
    pub fn make(root: &Path) -> Result<OnDisk> {
        Ok(OnDisk(scratch(root)?))
    }
}

impl Storage for OnDisk {
    fn directory(&self) -> PathBuf {
        self.0.path().to_owned()
    }

    fn command(&self, program: &Program) -> Command {
        Command::new(program.word())
    }
}

/// An ext4 on a loop device whose rate is capped. Dropping it unmounts it, removes the group,
/// detaches the device and removes the file, in this order.
pub struct Throttled {
    mounted: Mounted,
    throttle: Throttle,
    _disk: Loop,
    _folder: TempDir,
}

impl Throttled {
    /// Makes the file system on the disk of the checkout. Needs root.
    pub fn make(root: &Path, caps: Caps) -> Result<Throttled> {
        let folder = scratch(root)?;
        let file = folder.path().join("disk");
        write_whole(&file, DISK_BYTES).with_context(|| format!("writing {}", file.display()))?;
        let disk = attach(&file, true).context("a loop device needs root")?;
        let throttle = Throttle::make(disk.number(), caps)?;
        let mounted = Mounted::make(root, "ext4", disk.path())?;
        Ok(Throttled { mounted, throttle, _disk: disk, _folder: folder })
    }

    /// Replaces the caps.
    pub fn set(&self, caps: Caps) -> Result<()> {
        self.throttle.set(caps)
    }
}

impl Storage for Throttled {
    fn directory(&self) -> PathBuf {
        self.mounted.point()
    }

    fn command(&self, program: &Program) -> Command {
        self.throttle.command(program.word())
    }
}

/// A directory below `root`/target; removed when dropped.
pub fn scratch(root: &Path) -> Result<TempDir> {
    let parent = root.join("target");
    fs::create_dir_all(&parent)?;
    tempfile::Builder::new()
        .prefix("flashmark-study-")
        .tempdir_in(&parent)
        .with_context(|| format!("no directory can be made in {}", parent.display()))
}
