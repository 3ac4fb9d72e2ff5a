//! Caps on the rate of a block device, by the kernel's block I/O controller (cgroup version 1).

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use host::DeviceNumber;

/// Mount point of the controller.
const CONTROLLER: &str = "/sys/fs/cgroup/blkio";

/// Highest rates of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caps {
    pub read_bps: u64,
    pub write_bps: u64,
    pub read_iops: u64,
    pub write_iops: u64,
}

impl Caps {
    /// Caps of an ordinary card: far less than any disk below it can do, and more IOPS than
    /// sequential I/O of 1 MiB needs.
    pub const CARD: Caps =
        Caps { read_bps: 40_000_000, write_bps: 20_000_000, read_iops: 2000, write_iops: 1000 };

    /// Each cap lowered by this percentage.
    pub fn lowered(self, percent: u64) -> Caps {
        let lowered = |cap: u64| cap * (100 - percent) / 100;
        Caps {
            read_bps: lowered(self.read_bps),
            write_bps: lowered(self.write_bps),
            read_iops: lowered(self.read_iops),
            write_iops: lowered(self.write_iops),
        }
    }

    /// Files of the controller, and the value for each.
    fn files(self) -> [(&'static str, u64); 4] {
        [
            ("blkio.throttle.read_bps_device", self.read_bps),
            ("blkio.throttle.write_bps_device", self.write_bps),
            ("blkio.throttle.read_iops_device", self.read_iops),
            ("blkio.throttle.write_iops_device", self.write_iops),
        ]
    }
}

/// A group of processes whose I/O on one device is capped; removed when dropped.
pub struct Throttle {
    group: PathBuf,
    device: DeviceNumber,
}

impl Throttle {
    /// Makes a group of this process's own. An error without root, or if the kernel has no throttle
    /// of version 1.
    pub fn make(device: DeviceNumber, caps: Caps) -> Result<Throttle> {
        let controller = Path::new(CONTROLLER);
        let missing = caps.files().map(|(name, _)| controller.join(name));
        if let Some(missing) = missing.iter().find(|file| !file.exists()) {
            anyhow::bail!(
                "there is no {}: this needs the blkio controller of cgroup version 1 (mount -t cgroup \
                 -o blkio none {CONTROLLER}) of a kernel with CONFIG_BLK_DEV_THROTTLING; io.max of \
                 version 2 is not supported",
                missing.display()
            );
        }
        let group = controller.join(format!("flashmark-{}", std::process::id()));
        fs::create_dir(&group)
            .with_context(|| format!("making the group {} needs root", group.display()))?;
        let throttle = Throttle { group, device };
        throttle.set(caps)?;
        Ok(throttle)
    }

    /// Replaces the caps.
    pub fn set(&self, caps: Caps) -> Result<()> {
        for (name, cap) in caps.files() {
            let file = self.group.join(name);
            fs::write(&file, format!("{} {cap}\n", self.device))
                .with_context(|| format!("writing {cap} to {}", file.display()))?;
        }
        Ok(())
    }

    /// Command that runs `program` in the group: a shell enters it and becomes the program.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", "echo $$ > \"$0\" && exec \"$@\""]);
        command.arg(self.group.join("tasks")).arg(program);
        command
    }
}

impl Drop for Throttle {
    fn drop(&mut self) {
        if let Err(error) = remove(&self.group) {
            eprintln!("{} is still there: {error:#}", self.group.display());
        }
    }
}

/// Removes a group; a process that has just ended may be in it for a moment.
fn remove(group: &Path) -> Result<()> {
    for _ in 0..50 {
        match fs::remove_dir(group) {
            Err(error) if error.kind() == ErrorKind::ResourceBusy => {
                std::thread::sleep(Duration::from_millis(20));
            }
            removed => return Ok(removed?),
        }
    }
    ensure!(!group.exists(), "a process is still in it");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cap_is_lowered_by_the_same_share() {
        let lowered = Caps::CARD.lowered(20);
        assert_eq!(Caps::CARD.lowered(0), Caps::CARD);
        assert_eq!(lowered.files().map(|(_, cap)| cap), [32_000_000, 16_000_000, 1600, 800]);
    }
}
