//! Search for a medium that was taken out and put in again, under any node.

use std::path::PathBuf;

use record::{Medium, Record};

use crate::inventory::{InventoryEntry, list};
use crate::roots::Roots;
use crate::target::backing;

/// Nodes of media that may be the one of a record, by all identity data of the medium or its
/// reader. Behind a reader that is the reader's data, so the contents have to be checked as well.
/// Media in use are included: opening one returns the reason.
pub fn nodes_like(roots: &Roots, record: &Record) -> Vec<PathBuf> {
    list(roots).into_iter().filter_map(|disk| node_like(roots, disk, record)).collect()
}

fn node_like(roots: &Roots, disk: InventoryEntry, record: &Record) -> Option<PathBuf> {
    let size_bytes = record.medium.capacity_bytes?;
    let whole = disk.size_bytes == size_bytes;
    let partition = disk.partitions.iter().find(|partition| {
        partition.size_bytes == size_bytes
            && record.target.device.as_deref().and_then(last_number) == Some(partition.index)
    });
    let path = if whole { disk.path.clone() } else { partition?.path.clone() };
    let same = has_same_identity(&disk.medium, &record.medium)
        && backing(roots, &disk) == record.target.backing;
    same.then_some(path)
}

/// True if two media have the same identity data, except for their size: register, serial number,
/// maker and model.
fn has_same_identity(now: &Medium, then: &Medium) -> bool {
    let identity = |medium: &Medium| {
        (medium.cid.clone(), medium.serial.clone(), medium.vendor.clone(), medium.model.clone())
    };
    identity(now) == identity(then)
}

/// The number at the end of a kernel name: that of the partition.
fn last_number(name: &str) -> Option<u32> {
    let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    name[name.len() - digits..].parse().ok()
}
