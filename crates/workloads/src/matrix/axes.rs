//! Axes of the matrix, and the combinations of their values.

use record::Combination;
use serde::{Deserialize, Serialize};

/// Values to try, one list for each axis.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Axes {
    /// Names of the recipes for the file systems: "ext4-nojournal".
    pub filesystems: Vec<String>,
    /// File systems without (false) and with (true) fitting to the allocation units.
    pub aligns: Vec<bool>,
    /// Sets of mount options, each separated by commas.
    pub mount_options: Vec<String>,
    /// Schedulers of the medium's queue: "none", "bfq".
    pub schedulers: Vec<String>,
    /// Names of the works: "record-ops", "untar".
    pub works: Vec<String>,
}

/// Value that is not tried, and the reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// "jfs", "scheduler bfq", "btrfs fitted to the AU".
    pub what: String,
    /// Reason in one sentence, for people.
    pub why: String,
}

impl Axes {
    /// All combinations in the order of the lists; the work changes last. `fits` tells whether mkfs
    /// of a file system takes the size of the allocation units. A file system that does not is
    /// tried without fitting only; if fitting was asked for, it is in the second list.
    pub fn combinations(&self, fits: impl Fn(&str) -> bool) -> (Vec<Combination>, Vec<LeftOut>) {
        let (mut all, mut left_out) = (Vec::new(), Vec::new());
        for filesystem in &self.filesystems {
            if self.aligns.contains(&true) && !fits(filesystem) {
                let why =
                    format!("mkfs.{filesystem} has no option for allocation units of this size");
                left_out.push(LeftOut { what: format!("{filesystem} fitted to the AU"), why });
            }
        }
        for work in &self.works {
            for filesystem in &self.filesystems {
                for align in self.aligns.iter().copied().filter(|align| !align || fits(filesystem))
                {
                    for mount_options in &self.mount_options {
                        all.extend(self.schedulers.iter().map(|scheduler| Combination {
                            filesystem: filesystem.clone(),
                            align,
                            mount_options: mount_options.clone(),
                            scheduler: scheduler.clone(),
                            work: work.clone(),
                        }));
                    }
                }
            }
        }
        (all, left_out)
    }
}
