//! What lies on a medium: partition table, file systems, members of arrays and volume groups, and
//! how sure that is.
//!
//! Every byte of it is somebody else's: a label may hold line breaks, escape sequences, or the
//! names of other keys.

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
use probe::{Part, ProbeWindow};

/// One thing that lies on a medium.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ContentItem {
    /// In which partition, by its place in the table; none for the medium as a whole.
    pub partition: Option<u32>,
    /// Where that begins, in bytes from the beginning of what was looked at.
    pub offset_bytes: u64,
    /// How long that is.
    pub size_bytes: u64,
    /// What it is, as libblkid names it ("ext4", "LVM2_member", "gpt"); `several` where signatures
    /// contradict one another; none for a partition without any.
    pub kind: Option<String>,
    /// True if it is a partition table.
    pub table: bool,
    /// Its label, as it stands there.
    pub label: Option<String>,
    /// UUID of the file system or partition table, as blkid or lsblk prints it; none where it has
    /// none.
    pub uuid: Option<String>,
    /// When it was last mounted, "2026-11-20 18:04 UTC", or "never"; none where its kind does not
    /// keep that or hides it.
    pub last_mounted: Option<String>,
}

/// What lies on a medium, as far as it can be told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// What was found, in order of place; the partition table first.
    pub things: Vec<ContentItem>,
    /// The reason why not everything could be looked at.
    pub unknown: Option<String>,
}

impl Contents {
    /// Nothing can be told, for this reason.
    pub fn unknown(why: impl Into<String>) -> Contents {
        Contents { things: Vec::new(), unknown: Some(why.into()) }
    }

    /// True if no signature lies on it; `None` where that cannot be told. Data without a signature,
    /// as an earlier run leaves it, counts as nothing.
    pub fn is_empty(&self) -> Option<bool> {
        match (&self.unknown, self.things.iter().any(|thing| thing.kind.is_some())) {
            (_, true) => Some(false),
            (None, false) => Some(true),
            (Some(_), false) => None,
        }
    }

    /// A line each for people, harmless on a terminal: "partition 1: ext4 'MYPHOTOS', 29.7 GiB,
    /// last mounted 2026-11-20 18:04 UTC".
    pub fn lines(&self) -> Vec<String> {
        words::lines(self)
    }

    /// All of it in one line for people, harmless on a terminal: "ext4 'MYPHOTOS'", "gpt with vfat
    /// 'BOOT', ext4 'ROOT'".
    pub fn summary(&self) -> String {
        words::summary(self)
    }

    /// What a medium is known again by, a line each: kinds, labels, UUIDs and places, and no times.
    /// The same as long as nobody partitions, formats or labels it anew.
    pub fn identity_lines(&self) -> Vec<String> {
        words::identity_lines(self)
    }
}

/// What lies on a whole medium and in each of its partitions. Reads the medium through `blkid`;
/// without the right to, what udev has seen of it is told (by `lsblk`), and that there may be more.
/// A medium that does not answer is left after some seconds.
pub fn contents(roots: &Roots, disk: &InventoryEntry) -> Contents {
    if let Some(reason) = not_there(roots, &disk.path, disk.number, disk.size_bytes) {
        return Contents::unknown(reason);
    }
    let of_kernel = |part: &Partition| Part {
        index: part.index,
        offset_bytes: part.offset_bytes,
        size_bytes: part.size_bytes,
    };
    let parts: Vec<Part> = disk.partitions.iter().map(of_kernel).collect();
    match probe::medium(&ProbeWindow::whole(&disk.path, disk.size_bytes), parts) {
        Ok(contents) => contents,
        Err(reason) => Contents {
            things: system_view::things(&disk.path, &disk.name, disk.size_bytes, &disk.partitions),
            unknown: Some(reason),
        },
    }
}

/// What lies on exactly what was named: the whole medium, or one partition of it.
pub fn contents_of(roots: &Roots, found: &BlockTarget) -> Contents {
    found.partition.as_ref().map_or_else(
        || contents(roots, &found.disk),
        |partition| contents_of_partition(roots, partition),
    )
}

/// What lies in one partition, as if it were a medium of its own.
fn contents_of_partition(roots: &Roots, partition: &Partition) -> Contents {
    if let Some(reason) = not_there(roots, &partition.path, partition.number, partition.size_bytes)
    {
        return Contents::unknown(reason);
    }
    match probe::medium(&ProbeWindow::whole(&partition.path, partition.size_bytes), Vec::new()) {
        Ok(contents) => contents,
        Err(reason) => {
            let things =
                system_view::things(&partition.path, &partition.name, partition.size_bytes, &[]);
            Contents { things, unknown: Some(reason) }
        }
    }
}

/// What lies in a regular file of that size, such as an image of a medium or the disk of a virtual
/// machine.
pub fn contents_of_file(path: &Path, size_bytes: u64) -> Contents {
    probe::medium(&ProbeWindow::file(path, size_bytes), Vec::new())
        .unwrap_or_else(Contents::unknown)
}

/// The reason why there is nothing to be looked at.
fn not_there(roots: &Roots, path: &Path, number: DeviceNumber, size_bytes: u64) -> Option<String> {
    if size_bytes == 0 {
        return Some("no medium is in it".to_owned());
    }
    if !roots.is_real() {
        return Some("it is on a machine that was copied".to_owned());
    }
    (roots.block_number(path) != Some(number)).then(|| "it is gone".to_owned())
}
