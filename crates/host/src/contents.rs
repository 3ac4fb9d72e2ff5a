//! Contents of a medium: partition table, file systems, members of arrays and volume groups, and
//! the reason if they are not fully known.
//!
//! Every byte of it is untrusted: a label may hold line breaks, escape sequences, or the names of
//! other keys.

mod probe;
mod superblock;
mod system_view;
#[cfg(test)]
mod tests;
mod words;

use std::path::Path;

use serde::Serialize;

use crate::inventory::InventoryEntry;
use crate::roots::{DeviceNumber, Roots};
use crate::target::BlockTarget;
use crate::topology::Partition;
use probe::{ProbeWindow, ProbedPartition};

/// One item on a medium.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ContentItem {
    /// Number of its partition in the table; `None` for the medium as a whole.
    pub partition: Option<u32>,
    /// Offset in bytes from the beginning of the medium, partition or file.
    pub offset_bytes: u64,
    /// Length in bytes.
    pub size_bytes: u64,
    /// Kind as libblkid names it ("ext4", "LVM2_member", "gpt"); `several` if signatures contradict
    /// one another; `None` for a partition without any.
    pub kind: Option<String>,
    /// True if it is a partition table.
    pub table: bool,
    /// Label, exactly as stored on the medium.
    pub label: Option<String>,
    /// UUID of the file system or partition table, as blkid or lsblk prints it; `None` if it has
    /// none.
    pub uuid: Option<String>,
    /// Time of the last mount, "2026-11-20 18:04 UTC", or "never"; `None` if its kind does not
    /// store that or hides it.
    pub last_mounted: Option<String>,
}

/// Contents of a medium, as far as they are known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// Items in order of offset; the partition table first.
    pub items: Vec<ContentItem>,
    /// The reason why some contents are unknown; `None` if all are known.
    pub unknown: Option<String>,
}

impl Contents {
    /// Contents that are unknown for this reason.
    pub fn unknown(why: impl Into<String>) -> Contents {
        Contents { items: Vec::new(), unknown: Some(why.into()) }
    }

    /// True if it has no signature; `None` if that is unknown. Data without a signature, as an
    /// earlier run leaves it, does not count.
    pub fn is_empty(&self) -> Option<bool> {
        match (&self.unknown, self.items.iter().any(|item| item.kind.is_some())) {
            (_, true) => Some(false),
            (None, false) => Some(true),
            (Some(_), false) => None,
        }
    }

    /// One line for each item, safe to print on a terminal: "partition 1: ext4 'MYPHOTOS', 29.7
    /// GiB, last mounted 2026-11-20 18:04 UTC".
    pub fn lines(&self) -> Vec<String> {
        words::lines(self)
    }

    /// All items in one line, safe to print on a terminal: "ext4 'MYPHOTOS'", "gpt with vfat
    /// 'BOOT', ext4 'ROOT'".
    pub fn summary(&self) -> String {
        words::summary(self)
    }

    /// Lines that identify a medium by its contents: kinds, labels, UUIDs and offsets, without
    /// times. They stay the same until somebody partitions, formats or labels it.
    pub fn identity_lines(&self) -> Vec<String> {
        words::identity_lines(self)
    }
}

/// Contents of a whole medium and each of its partitions. Reads the medium through `blkid`; without
/// the right to read it, returns the contents that udev has seen (from `lsblk`) and a note that
/// there may be more. Gives up after some seconds if a medium does not answer.
pub fn contents(roots: &Roots, disk: &InventoryEntry) -> Contents {
    if let Some(reason) = not_there(roots, &disk.path, disk.number, disk.size_bytes) {
        return Contents::unknown(reason);
    }
    let of_kernel = |part: &Partition| ProbedPartition {
        index: part.index,
        offset_bytes: part.offset_bytes,
        size_bytes: part.size_bytes,
    };
    let parts: Vec<ProbedPartition> = disk.partitions.iter().map(of_kernel).collect();
    match probe::medium(&ProbeWindow::whole(&disk.path, disk.size_bytes), parts) {
        Ok(contents) => contents,
        Err(reason) => Contents {
            items: system_view::items(&disk.path, &disk.name, disk.size_bytes, &disk.partitions),
            unknown: Some(reason),
        },
    }
}

/// Contents of exactly the target: the whole medium, or one partition of it.
pub fn contents_of(roots: &Roots, found: &BlockTarget) -> Contents {
    found.partition.as_ref().map_or_else(
        || contents(roots, &found.disk),
        |partition| contents_of_partition(roots, partition),
    )
}

/// Contents of one partition, as if it were a medium of its own.
fn contents_of_partition(roots: &Roots, partition: &Partition) -> Contents {
    if let Some(reason) = not_there(roots, &partition.path, partition.number, partition.size_bytes)
    {
        return Contents::unknown(reason);
    }
    match probe::medium(&ProbeWindow::whole(&partition.path, partition.size_bytes), Vec::new()) {
        Ok(contents) => contents,
        Err(reason) => {
            let items =
                system_view::items(&partition.path, &partition.name, partition.size_bytes, &[]);
            Contents { items, unknown: Some(reason) }
        }
    }
}

/// Contents of a regular file of that size, such as an image of a medium or the disk of a virtual
/// machine.
pub fn contents_of_file(path: &Path, size_bytes: u64) -> Contents {
    probe::medium(&ProbeWindow::file(path, size_bytes), Vec::new())
        .unwrap_or_else(Contents::unknown)
}

/// The reason why there is nothing to read.
fn not_there(roots: &Roots, path: &Path, number: DeviceNumber, size_bytes: u64) -> Option<String> {
    if size_bytes == 0 {
        return Some("no medium is in it".to_owned());
    }
    if !roots.is_real() {
        return Some("it is on a machine that was copied".to_owned());
    }
    (roots.block_number(path) != Some(number)).then(|| "it is gone".to_owned())
}
