//! Settings of the host around a medium that can be changed at run time, and their other values
//! (docs/field/linux-io.md#queue-attributes).

use std::fs;
use std::io;
use std::path::PathBuf;

use record::IoLimitKind;
use rustix::fs::access;
use serde::{Deserialize, Serialize};

use crate::inventory::InventoryEntry;
use crate::io_limits::{IoLimit, io_limits};
use crate::roots::{Roots, text};
use crate::scheduler::QueueOf;

/// A setting, its value, and other values worth trying.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostSetting {
    /// Name: a file of the medium's queue ("scheduler", "read_ahead_kb"), [`GOVERNOR`], or a limit
    /// of a control group ("rbps", "riops").
    pub name: &'static str,
    /// Present value.
    pub now: String,
    /// Other values to try; empty if there are none.
    pub others: Vec<String>,
    /// True if this user may change it.
    pub may_change: bool,
}

/// Value of a setting without a limit.
pub const UNLIMITED: &str = "max";
/// The frequency governor of all processors.
pub const GOVERNOR: &str = "governor";
/// Values of read-ahead that are tried, in KiB: the kernel's default, and one that helps slow
/// commands.
const READ_AHEADS_KB: [u64; 2] = [128, 4096];
/// Largest command that is tried, in KiB, beside the maximum of the hardware.
const SMALL_COMMAND_KB: u64 = 128;

/// The settings around this medium, as far as the kernel has files for them.
pub fn host_settings(roots: &Roots, disk: &InventoryEntry) -> Vec<HostSetting> {
    let queue = QueueOf::new(disk);
    let of_queue = |name: &'static str, others: Vec<String>| {
        let now = queue.get(name)?;
        let others = others.into_iter().filter(|other| *other != now).collect();
        Some(HostSetting { name, now, others, may_change: may_write(&queue.path(name)) })
    };
    let commands = || {
        let most = queue.get("max_hw_sectors_kb")?.parse::<u64>().ok()?;
        let mut sizes = vec![most, SMALL_COMMAND_KB.min(most)];
        sizes.dedup();
        Some(sizes.iter().map(u64::to_string).collect())
    };
    [
        of_queue("read_ahead_kb", READ_AHEADS_KB.iter().map(u64::to_string).collect()),
        of_queue("scheduler", queue.schedulers()),
        of_queue("max_sectors_kb", commands().unwrap_or_default()),
        governor(roots),
    ]
    .into_iter()
    .flatten()
    .chain(io_limits(roots, disk.number).iter().filter_map(read_limit))
    .collect()
}

/// A limit on reads; the other value is no limit.
fn read_limit(limit: &IoLimit) -> Option<HostSetting> {
    let is_of_reads = matches!(limit.kind, IoLimitKind::ReadBps | IoLimitKind::ReadIops);
    is_of_reads.then(|| HostSetting {
        name: limit.name(),
        now: limit.per_second.to_string(),
        others: vec![UNLIMITED.to_owned()],
        may_change: may_write(&limit.file),
    })
}

fn may_write(path: &std::path::Path) -> bool {
    access(path, rustix::fs::Access::WRITE_OK).is_ok()
}

/// The governor, if all processors have the same.
fn governor(roots: &Roots) -> Option<HostSetting> {
    let policies = policies(roots);
    let now = text(&policies.first()?.path(roots, "scaling_governor"))?;
    let offered = text(&policies.first()?.path(roots, "scaling_available_governors"))?;
    let wanted = ["performance", "powersave", "schedutil", "ondemand"];
    let others =
        wanted.iter().filter(|name| **name != now && offered.split(' ').any(|it| it == **name));
    Some(HostSetting {
        name: GOVERNOR,
        others: others.take(1).map(|name| (*name).to_owned()).collect(),
        may_change: policies.iter().all(|of| may_write(&of.path(roots, "scaling_governor"))),
        now,
    })
}

/// Processors that change their frequency together, by the kernel's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Policy(u32);

pub(crate) fn policies(roots: &Roots) -> Vec<Policy> {
    let names = fs::read_dir(roots.sys.join("devices/system/cpu/cpufreq")).into_iter().flatten();
    let names = names.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut found: Vec<Policy> =
        names.filter_map(|name| name.strip_prefix("policy")?.parse().ok().map(Policy)).collect();
    found.sort_by_key(|policy| policy.0);
    found
}

impl Policy {
    fn path(self, roots: &Roots, file: &str) -> PathBuf {
        roots.sys.join("devices/system/cpu/cpufreq").join(format!("policy{}", self.0)).join(file)
    }

    pub fn governor(self, roots: &Roots) -> Option<String> {
        text(&self.path(roots, "scaling_governor"))
    }

    /// Changes the governor; ignores processors that have gone.
    pub fn set_governor(self, roots: &Roots, name: &str) -> io::Result<()> {
        match self.governor(roots) {
            Some(now) if now != name => fs::write(self.path(roots, "scaling_governor"), name),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(governors: &[(&str, &str)]) -> (tempfile::TempDir, Roots) {
        let dir = tempfile::tempdir().unwrap();
        for (policy, governor) in governors {
            let folder = dir.path().join("devices/system/cpu/cpufreq").join(policy);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("scaling_governor"), governor).unwrap();
            fs::write(folder.join("scaling_available_governors"), "ondemand performance \n")
                .unwrap();
        }
        let roots = Roots { sys: dir.path().to_owned(), ..Roots::default() };
        (dir, roots)
    }

    #[test]
    fn the_governor_has_one_other_and_is_set_for_all() {
        let (_dir, roots) = with(&[("policy0", "ondemand\n"), ("policy4", "ondemand\n")]);
        let found = governor(&roots).unwrap();
        assert_eq!(
            (found.now.as_str(), found.others),
            ("ondemand", vec!["performance".to_owned()])
        );
        let all = policies(&roots);
        all.iter().for_each(|policy| policy.set_governor(&roots, "performance").unwrap());
        let now: Vec<_> = all.iter().map(|policy| policy.governor(&roots).unwrap()).collect();
        assert_eq!(now, ["performance", "performance"]);
        let (_dir, none) = with(&[]);
        assert_eq!(governor(&none), None);
    }
}
