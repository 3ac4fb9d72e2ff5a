//! Storage that is measured again and again: a throttled file system of its own, or a directory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use host::Loop;
use host::loopdev::attach;
use tempfile::TempDir;

use super::Target;
use super::throttle::{Caps, Throttle};
use crate::agree::loop_medium::write_whole;
use crate::attached::medium::Program;
use crate::mounted::Mounted;

/// Size of the loop device.
const DISK_BYTES: u64 = 2 << 30;

/// Storage behind the targets, each made when it is first needed.
pub struct Places<'a> {
    root: &'a Path,
    throttled: Option<Throttled>,
    on_disk: Option<TempDir>,
}

impl<'a> Places<'a> {
    /// Nothing is made yet. `root`: the checkout, on whose disk all will be.
    pub fn new(root: &'a Path) -> Places<'a> {
        Places { root, throttled: None, on_disk: None }
    }

    /// Directory of a target, and command of the program that measures it.
    pub fn of(&mut self, target: Target, program: &Program) -> Result<(PathBuf, Command)> {
        let Some(percent) = target.lowered else {
            let on_disk = match &mut self.on_disk {
                Some(made) => made,
                none => none.insert(scratch(self.root)?),
            };
            return Ok((on_disk.path().to_owned(), Command::new(program.word())));
        };
        let throttled = match &mut self.throttled {
            Some(made) => made,
            none => none.insert(Throttled::make(self.root)?),
        };
        throttled.throttle.set(Caps::CARD.lowered(percent))?;
        let command = throttled.throttle.command(program.word());
        Ok((throttled.mounted.point().to_owned(), command))
    }
}

/// An ext4 on a loop device whose rate is capped. Dropping it unmounts it, removes the group,
/// detaches the device and removes the file, in this order.
struct Throttled {
    mounted: Mounted,
    throttle: Throttle,
    _disk: Loop,
    _folder: TempDir,
}

impl Throttled {
    /// Makes the file system. Needs root.
    fn make(root: &Path) -> Result<Throttled> {
        let folder = scratch(root)?;
        let file = folder.path().join("disk");
        write_whole(&file, DISK_BYTES).with_context(|| format!("writing {}", file.display()))?;
        let disk = attach(&file, true).context("a loop device needs root")?;
        let throttle = Throttle::make(disk.number(), Caps::CARD)?;
        let mounted = Mounted::make(root, "ext4", disk.path())?.before_everything_ordinary()?;
        Ok(Throttled { mounted, throttle, _disk: disk, _folder: folder })
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
