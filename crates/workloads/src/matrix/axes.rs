//! Axes of the matrix, and the combinations of their values.

use std::collections::BTreeMap;

use record::Cell;
use serde::{Deserialize, Serialize};

/// One way to use the medium, and the work that is done on it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Combination {
    /// Name of the recipe: "ext4-nojournal".
    pub filesystem: String,
    /// True if mkfs gets the size of the allocation units.
    pub align: bool,
    /// Mount options, separated by commas.
    pub mount_options: String,
    /// The scheduler of the medium's queue.
    pub scheduler: String,
    /// Name of the work.
    pub work: String,
}

impl Combination {
    /// Id of the combination in a record: "record-ops/ext4+au/noatime/bfq". Stable.
    pub fn id(&self) -> String {
        let align = if self.align { "+au" } else { "" };
        format!(
            "{}/{}{align}/{}/{}",
            self.work, self.filesystem, self.mount_options, self.scheduler
        )
    }

    /// For people: "record-ops on ext4 (fitted to the AU, noatime), bfq".
    pub fn words(&self) -> String {
        let align = if self.align { "fitted to the AU, " } else { "" };
        format!(
            "{} on {} ({align}{}), {}",
            self.work, self.filesystem, self.mount_options, self.scheduler
        )
    }

    /// Labels of a cell of this combination and repeat.
    pub fn labels(&self, repeat: u32) -> BTreeMap<String, String> {
        let align = if self.align { "yes" } else { "no" };
        [
            ("filesystem", self.filesystem.clone()),
            ("align", align.to_owned()),
            ("mount_options", self.mount_options.clone()),
            ("scheduler", self.scheduler.clone()),
            ("work", self.work.clone()),
            ("repeat", repeat.to_string()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }

    /// Combination and repeat of a cell; `None` if the cell belongs to no combination.
    pub fn of_cell(cell: &Cell) -> Option<(Combination, u32)> {
        let label = |name: &str| cell.labels.get(name).cloned();
        let combination = Combination {
            filesystem: label("filesystem")?,
            align: label("align")? == "yes",
            mount_options: label("mount_options")?,
            scheduler: label("scheduler")?,
            work: label("work")?,
        };
        Some((combination, label("repeat")?.parse().ok()?))
    }
}

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
