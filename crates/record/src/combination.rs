//! Combinations that a matrix tries, as the labels of its cells.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Cell;

/// One way to use a medium, and the work that is done on it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Combination {
    /// Name of the file system's recipe: "ext4-nojournal".
    pub filesystem: String,
    /// True if mkfs gets the size of the allocation units.
    pub align: bool,
    /// Mount options, separated by commas.
    pub mount_options: String,
    /// The scheduler of the medium's queue: "bfq".
    pub scheduler: String,
    /// Name of the work: "untar".
    pub work: String,
}

impl Combination {
    /// That of a cell; empty texts for labels that it does not have.
    pub fn of(cell: &Cell) -> Combination {
        let label = |name: &str| cell.label(name).to_owned();
        Combination {
            filesystem: label("filesystem"),
            align: cell.label("align") == "yes",
            mount_options: label("mount_options"),
            scheduler: label("scheduler"),
            work: label("work"),
        }
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

    /// Its id in a record: "record-ops/ext4+au/noatime/bfq". Stable.
    pub fn id(&self) -> String {
        let Combination { filesystem, align, mount_options, scheduler, work } = self;
        let align = if *align { "+au" } else { "" };
        format!("{work}/{filesystem}{align}/{mount_options}/{scheduler}")
    }

    /// The file system without the scheduler: "ext4, aligned to the erase block".
    pub fn filesystem_words(&self) -> String {
        let align = if self.align { ", aligned to the erase block" } else { "" };
        format!("{}{align}", self.filesystem)
    }

    /// "ext4 with bfq", with other options that differ within this matrix; outputs of other tools
    /// often have only one of them.
    pub fn words(&self) -> String {
        let part = |text: &str, lead: &str, tail: &str| {
            if text.is_empty() { String::new() } else { format!(" {lead}{text}{tail}") }
        };
        let options = part(&self.mount_options, "(", ")");
        format!("{}{options}{}", self.filesystem_words(), part(&self.scheduler, "with ", ""))
    }
}
