//! Contents of a medium from udev's database (through lsblk), for users who may not read it.

use std::path::Path;

use serde_json::Value;

use super::ContentItem;
use crate::tool;
use crate::topology::Partition;

/// Time limit of lsblk in seconds: it probes devices itself if it has the right to.
const SECONDS: u64 = 10;
/// Most bytes of lsblk's output for one device.
const MAX_BYTES: u64 = 1 << 20;

/// Known contents of a device and its partitions; an empty result does not mean that there are
/// none.
pub fn items(
    path: &Path,
    name: &str,
    size_bytes: u64,
    partitions: &[Partition],
) -> Vec<ContentItem> {
    let path = path.to_string_lossy();
    let words = ["--json", "--output", "NAME,FSTYPE,LABEL,UUID,PTTYPE,PTUUID", "--", &path];
    let Ok(report) = tool::look("lsblk", &words, SECONDS, MAX_BYTES) else { return Vec::new() };
    let tree: Value = serde_json::from_slice(&report.output).unwrap_or_default();
    let rows = tree["blockdevices"].as_array().map(Vec::as_slice).unwrap_or_default();
    rows.iter()
        .filter(|row| row["name"] == *name)
        .flat_map(|row| of_row(row, size_bytes, partitions))
        .collect()
}

/// The table and the signature of a device, and the contents of its partitions.
pub fn of_row(row: &Value, size_bytes: u64, partitions: &[Partition]) -> Vec<ContentItem> {
    let table = word(row, "pttype").map(|kind| ContentItem {
        size_bytes,
        kind: Some(kind),
        table: true,
        uuid: word(row, "ptuuid"),
        ..ContentItem::default()
    });
    let own = Some(signed(row, None, (0, size_bytes))).filter(|item| item.kind.is_some());
    let children = row["children"].as_array().map(Vec::as_slice).unwrap_or_default();
    let of_partition = |part: &Partition| {
        let child = children.iter().find(|child| child["name"] == part.name)?;
        Some(signed(child, Some(part.index), (part.offset_bytes, part.size_bytes)))
    };
    table.into_iter().chain(own).chain(partitions.iter().filter_map(of_partition)).collect()
}

fn signed(
    row: &Value,
    partition: Option<u32>,
    (offset_bytes, size_bytes): (u64, u64),
) -> ContentItem {
    ContentItem {
        partition,
        offset_bytes,
        size_bytes,
        kind: word(row, "fstype"),
        label: word(row, "label"),
        uuid: word(row, "uuid"),
        ..ContentItem::default()
    }
}

fn word(row: &Value, key: &str) -> Option<String> {
    row[key].as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}
