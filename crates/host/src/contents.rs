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
}

/// Contents of a whole medium and each of its partitions. Reads the medium through `blkid`; without
/// the right to read it, returns the contents that udev has seen (from `lsblk`) and a note that
/// there may be more. Gives up after some seconds if a medium does not answer.
pub fn contents(roots: &Roots, disk: &InventoryEntry) -> Contents {
    look(roots, (&disk.path, &disk.name, disk.number), disk.size_bytes, &disk.partitions)
}

/// Contents of exactly the target: the whole medium, or one partition of it, as if that were a
/// medium of its own.
pub fn contents_of(roots: &Roots, found: &BlockTarget) -> Contents {
    let Some(part) = &found.partition else { return contents(roots, &found.disk) };
    look(roots, (&part.path, &part.name, part.number), part.size_bytes, &[])
}

/// Contents of a device by its node, kernel name and number, and of those of its partitions that
/// the kernel knows.
fn look(
    roots: &Roots,
    (path, name, number): (&Path, &str, DeviceNumber),
    size_bytes: u64,
    partitions: &[Partition],
) -> Contents {
    if let Some(reason) = not_there(roots, path, number, size_bytes) {
        return Contents::unknown(reason);
    }
    let of_kernel = |part: &Partition| ProbedPartition {
        index: part.index,
        offset_bytes: part.offset_bytes,
        size_bytes: part.size_bytes,
    };
    let parts: Vec<ProbedPartition> = partitions.iter().map(of_kernel).collect();
    probe::medium(&ProbeWindow::whole(path, size_bytes), parts).unwrap_or_else(|reason| Contents {
        items: system_view::items(path, name, size_bytes, partitions),
        unknown: Some(reason),
    })
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
