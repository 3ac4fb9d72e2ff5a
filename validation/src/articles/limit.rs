//! The limit and the priority under which both sides measure, so that neither what the disk below
//! does at the moment nor other work on the machine shows in one of them.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Where the control groups of version 1 limit block devices.
const GROUPS: &str = "/sys/fs/cgroup/blkio";

/// The limit in words.
pub const WORDS: &str = "at most 30 MB/s and 400 I/Os a second";

/// Its kinds, with the values.
const LIMITS: [(&str, u64); 4] =
    [("read_bps", 30_000_000), ("write_bps", 30_000_000), ("read_iops", 400), ("write_iops", 400)];

/// Priority of this session on a machine whose scheduler has them (man 7 sched).
const SESSION: &str = "/proc/self/autogroup";
/// The highest of the ordinary priorities. The program takes it by itself, unless it was given one.
const HIGHEST: i32 = -20;

/// Limit on what this process and its children read and write on a device, at the highest priority;
/// it ends when this is dropped.
pub struct Limit {
    group: PathBuf,
}

impl Limit {
    /// Sets it.
    ///
    /// # Errors
    /// Without the group `blkio` of version 1, or without root.
    pub fn on(device: &Path) -> Result<Limit> {
        let name = device.file_name().context("a device has a name")?;
        let number = fs::read_to_string(Path::new("/sys/class/block").join(name).join("dev"))?;
        let group = Path::new(GROUPS).join(format!("validation-{}", std::process::id()));
        fs::create_dir(&group).with_context(|| format!("{GROUPS} (version 1) is needed"))?;
        let limit = Limit { group };
        for (kind, value) in LIMITS {
            let path = limit.group.join(format!("blkio.throttle.{kind}_device"));
            fs::write(path, format!("{} {value}", number.trim()))?;
        }
        enter(&limit.group)?;
        prefer(HIGHEST)?;
        Ok(limit)
    }
}

impl Drop for Limit {
    fn drop(&mut self) {
        let left = enter(Path::new(GROUPS)).and_then(|()| Ok(fs::remove_dir(&self.group)?));
        if let Err(error) = left.and_then(|()| prefer(0)) {
            eprintln!("{}: {error}", self.group.display());
        }
    }
}

fn enter(group: &Path) -> Result<()> {
    let path = group.join("cgroup.procs");
    fs::write(&path, std::process::id().to_string()).with_context(|| path.display().to_string())
}

fn prefer(nice: i32) -> Result<()> {
    if Path::new(SESSION).exists() {
        fs::write(SESSION, nice.to_string()).context(SESSION)?;
    }
    Ok(rustix::process::setpriority_process(None, nice)?)
}
