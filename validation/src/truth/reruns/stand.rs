//! An emulated card: a file system whose rate the kernel's block I/O controller (cgroup version 1)
//! keeps steady.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use host::Loop;
use host::loopdev::attach;
use tempfile::TempDir;

use crate::agree::loop_medium::write_whole;
use crate::mounted::Mounted;

/// Size of the loop device.
const DISK_BYTES: u64 = 2 << 30;
/// Mount point of the controller.
const CONTROLLER: &str = "/sys/fs/cgroup/blkio";
/// Files of the controller, and the cap in each, in bytes or I/Os a second: those of an ordinary
/// card, far less than any disk below it can do, and more IOPS than sequential I/O of 1 MiB needs.
pub const CAPS: [(&str, u64); 4] = [
    ("blkio.throttle.read_bps_device", 40_000_000),
    ("blkio.throttle.write_bps_device", 20_000_000),
    ("blkio.throttle.read_iops_device", 2000),
    ("blkio.throttle.write_iops_device", 1000),
];

/// An ext4 on a loop device whose rate is capped. Dropping it unmounts it, removes the group,
/// detaches the device and removes the file, in this order.
pub struct Card {
    mounted: Mounted,
    group: Group,
    _disk: Loop,
    _folder: TempDir,
}

impl Card {
    /// Makes the file system, with its file on the disk of the checkout. Needs root.
    pub fn make(root: &Path) -> Result<Card> {
        let folder = scratch(root)?;
        let file = folder.path().join("disk");
        write_whole(&file, DISK_BYTES).with_context(|| format!("writing {}", file.display()))?;
        let disk = attach(&file, true).context("a loop device needs root")?;
        let group = Group::make(&disk)?;
        let mounted = Mounted::make(root, "ext4", disk.path())?.before_everything_ordinary()?;
        Ok(Card { mounted, group, _disk: disk, _folder: folder })
    }

    /// Directory that it is mounted on.
    pub fn point(&self) -> &Path {
        self.mounted.point()
    }

    /// Command that runs `program` below the caps: a shell enters the group and becomes the program.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", "echo $$ > \"$0\" && exec \"$@\""]);
        command.arg(self.group.0.join("tasks")).arg(program);
        command
    }
}

/// Directory of a group of processes whose I/O on one device is capped; removed when dropped.
struct Group(PathBuf);

impl Group {
    /// Makes a group of this process's own. An error without root, or if the kernel has no throttle
    /// of version 1.
    fn make(disk: &Loop) -> Result<Group> {
        let controller = Path::new(CONTROLLER);
        let mut files = CAPS.iter().map(|(name, _)| controller.join(name));
        if let Some(missing) = files.find(|file| !file.exists()) {
            anyhow::bail!(
                "there is no {}: this needs the blkio controller of cgroup version 1 (mount -t cgroup \
                 -o blkio none {CONTROLLER}) of a kernel with CONFIG_BLK_DEV_THROTTLING; io.max of \
                 version 2 is not supported",
                missing.display()
            );
        }
        let group = Group(controller.join(format!("flashmark-{}", std::process::id())));
        fs::create_dir(&group.0)
            .with_context(|| format!("making the group {} needs root", group.0.display()))?;
        for (name, cap) in CAPS {
            let file = group.0.join(name);
            fs::write(&file, format!("{} {cap}\n", disk.number()))
                .with_context(|| format!("writing {cap} to {}", file.display()))?;
        }
        Ok(group)
    }

    /// Removes the group; a process that has just ended may be in it for a moment.
    fn remove(&self) -> Result<()> {
        for _ in 0..50 {
            match fs::remove_dir(&self.0) {
                Err(error) if error.kind() == ErrorKind::ResourceBusy => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                removed => return Ok(removed?),
            }
        }
        ensure!(!self.0.exists(), "a process is still in it");
        Ok(())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Err(error) = self.remove() {
            eprintln!("{} is still there: {error:#}", self.0.display());
        }
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
