//! Detection of contents by libblkid's rules, through util-linux's tools, which only read here.

use std::path::Path;

use super::superblock;
use super::{ContentItem, Contents};
use crate::mounts::without_backslashes;
use crate::tool;

/// Time limit of one call in seconds: a medium that tries again and again to read a sector must not
/// block the program.
const SECONDS: u64 = 10;
/// Most bytes of a tool's output for one place; real answers have less than 1 kB.
const MAX_BYTES: u64 = 64 << 10;
/// Most partitions that are probed; GPT has room for 128.
const MAX_PARTITIONS: usize = 128;
/// Bytes at the beginning and at the end that must be readable before a place counts as empty:
/// signatures are there.
const EDGE_BYTES: u64 = 1 << 20;
/// Bytes of a sector in file systems, and the block size of dd here.
const SECTOR_BYTES: u64 = 512;

/// A range of a medium or file that is probed as if it were a whole medium.
#[derive(Clone, Copy)]
pub struct ProbeWindow<'a> {
    node: &'a Path,
    offset_bytes: u64,
    size_bytes: u64,
    /// True if it is the whole node.
    whole: bool,
    /// True if it is a regular file.
    file: bool,
}

impl<'a> ProbeWindow<'a> {
    /// The whole of a block device.
    pub fn whole(node: &'a Path, size_bytes: u64) -> ProbeWindow<'a> {
        ProbeWindow { node, offset_bytes: 0, size_bytes, whole: true, file: false }
    }

    /// The whole of a regular file.
    pub fn file(node: &'a Path, size_bytes: u64) -> ProbeWindow<'a> {
        ProbeWindow { file: true, ..ProbeWindow::whole(node, size_bytes) }
    }

    fn part(&self, part: &ProbedPartition) -> ProbeWindow<'a> {
        ProbeWindow {
            offset_bytes: part.offset_bytes,
            size_bytes: part.size_bytes,
            whole: false,
            ..*self
        }
    }
}

/// A partition: its number in the table, its offset and its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbedPartition {
    pub index: u32,
    pub offset_bytes: u64,
    pub size_bytes: u64,
}

/// The output of blkid for a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signature {
    pub kind: Option<String>,
    pub label: Option<String>,
    pub uuid: Option<String>,
    pub table: Option<String>,
    pub table_uuid: Option<String>,
}

/// Contents of a medium and of its partitions: those that the kernel knows, and those in its table.
/// `Err` is the reason why nothing could be read.
pub fn medium(
    window: &ProbeWindow<'_>,
    of_kernel: Vec<ProbedPartition>,
) -> Result<Contents, String> {
    let signature = look(window)?;
    let mut contents = Contents::default();
    let mut parts = of_kernel;
    if let Some(table) = &signature.table {
        contents.items.push(ContentItem {
            size_bytes: window.size_bytes,
            kind: Some(table.clone()),
            table: true,
            uuid: signature.table_uuid.clone(),
            ..ContentItem::default()
        });
        match table_of(window) {
            Ok(of_table) => parts.extend(of_table),
            Err(reason) => contents.unknown = Some(reason),
        }
    }
    if signature.kind.is_some() {
        contents.items.push(item(window, None, signature));
    }
    parts.sort_by_key(|part| (part.offset_bytes, part.index));
    parts.dedup_by_key(|part| (part.offset_bytes, part.size_bytes));
    look_into(window, &parts, &mut contents);
    Ok(contents)
}

/// Adds the contents of each partition. Stops after the first that cannot be read: each of the
/// others might take as long.
fn look_into(window: &ProbeWindow<'_>, parts: &[ProbedPartition], contents: &mut Contents) {
    if parts.len() > MAX_PARTITIONS {
        contents.unknown = Some(format!(
            "it has {} partitions, of which the first {MAX_PARTITIONS} were looked at",
            parts.len()
        ));
    }
    for part in parts.iter().take(MAX_PARTITIONS) {
        let place = window.part(part);
        match look(&place) {
            Ok(signature) => contents.items.push(item(&place, Some(part.index), signature)),
            Err(reason) => {
                contents.unknown = Some(format!("partition {}: {reason}", part.index));
                return;
            }
        }
    }
}

/// The item at a place. A table in a partition (BSD's, a virtual machine's disk) counts as its
/// contents.
fn item(window: &ProbeWindow<'_>, partition: Option<u32>, signature: Signature) -> ContentItem {
    let kind =
        if partition.is_some() { signature.kind.or(signature.table) } else { signature.kind };
    let last_mounted = match kind.as_deref() {
        Some("ext2" | "ext3" | "ext4" | "ext4dev") => {
            read(window, 0, 4 * SECTOR_BYTES).ok().and_then(|head| superblock::ext_mounted(&head))
        }
        _ => None,
    };
    ContentItem {
        partition,
        offset_bytes: window.offset_bytes,
        size_bytes: window.size_bytes,
        kind,
        table: false,
        label: signature.label,
        uuid: signature.uuid,
        last_mounted,
    }
}

/// Runs blkid on one place. An empty result counts only if the edges of the place can be read:
/// blkid takes a sector that it cannot read for one without a signature.
fn look(window: &ProbeWindow<'_>) -> Result<Signature, String> {
    let (offset, size) = (window.offset_bytes.to_string(), window.size_bytes.to_string());
    // the tags that are wanted: a partition's name in a GPT, which may hold anything, is not
    let mut words = vec![
        "-p", "-o", "export", "-s", "TYPE", "-s", "LABEL", "-s", "UUID", "-s", "PTTYPE", "-s",
        "PTUUID",
    ];
    if !window.whole {
        words.extend(["-O", &offset, "-S", &size]);
    }
    let node = window.node.to_string_lossy();
    words.extend(["--", &node]);
    let report =
        tool::look("blkid", &words, SECONDS, MAX_BYTES).map_err(|error| error.to_string())?;
    match (report.code, report.complaint.is_empty()) {
        (Some(0), _) => {
            let signature = parse(&String::from_utf8_lossy(&report.output));
            if signature.kind.is_none() && signature.table.is_none() {
                nothing(window)
            } else {
                Ok(signature)
            }
        }
        (Some(2), true) => nothing(window),
        (Some(8), _) => Ok(Signature { kind: Some("several".to_owned()), ..Signature::default() }),
        _ => Err(complaint(&report.complaint)),
    }
}

/// The signature of a place in which blkid finds none: at most an image format. An error if its
/// edges cannot be read.
fn nothing(window: &ProbeWindow<'_>) -> Result<Signature, String> {
    let edge_bytes = EDGE_BYTES.min(window.size_bytes);
    let head = read(window, 0, edge_bytes)?;
    read(window, (window.size_bytes - edge_bytes) / SECTOR_BYTES * SECTOR_BYTES, edge_bytes)?;
    let kind = if window.file && window.whole { superblock::image(&head) } else { None };
    Ok(Signature { kind: kind.map(str::to_owned), ..Signature::default() })
}

/// Reads from a place, by a separate process that can be abandoned when the medium hangs.
fn read(window: &ProbeWindow<'_>, offset_bytes: u64, bytes: u64) -> Result<Vec<u8>, String> {
    let node = window.node.to_string_lossy();
    let words = [
        format!("if={node}"),
        format!("bs={SECTOR_BYTES}"),
        format!("skip={}", (window.offset_bytes + offset_bytes) / SECTOR_BYTES),
        format!("count={}", bytes.div_ceil(SECTOR_BYTES)),
        "status=none".to_owned(),
    ];
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let report = tool::look("dd", &words, SECONDS, EDGE_BYTES + SECTOR_BYTES)
        .map_err(|error| error.to_string())?;
    match report.code {
        Some(0) if report.output.len() as u64 >= bytes / SECTOR_BYTES * SECTOR_BYTES => {
            Ok(report.output)
        }
        Some(0) => Err(format!(
            "only {} of {bytes} bytes could be read at byte {}",
            report.output.len(),
            window.offset_bytes + offset_bytes
        )),
        _ => Err(complaint(&report.complaint)),
    }
}

/// The partitions in the table of a medium, known to the kernel or not.
fn table_of(window: &ProbeWindow<'_>) -> Result<Vec<ProbedPartition>, String> {
    let node = window.node.to_string_lossy();
    let words =
        ["--bytes", "--raw", "--noheadings", "--output", "NR,START,SECTORS,TYPE", "--", &node];
    let report =
        tool::look("partx", &words, SECONDS, MAX_BYTES).map_err(|error| error.to_string())?;
    match report.code {
        Some(0) => Ok(parse_table(&String::from_utf8_lossy(&report.output))),
        _ if report.complaint.contains("failed to read partition table") => {
            Err("its partition table cannot be read".to_owned())
        }
        _ => Err(complaint(&report.complaint)),
    }
}

/// Parses partx's output; an extended partition only contains others and is left out.
fn parse_table(text: &str) -> Vec<ProbedPartition> {
    const EXTENDED: [&str; 3] = ["0x5", "0xf", "0x85"];
    let one = |line: &str| -> Option<ProbedPartition> {
        let mut words = line.split_whitespace();
        let (index, start, sectors) = (words.next()?.parse().ok()?, words.next()?, words.next()?);
        let bytes = |word: &str| word.parse::<u64>().ok()?.checked_mul(SECTOR_BYTES);
        let part =
            ProbedPartition { index, offset_bytes: bytes(start)?, size_bytes: bytes(sectors)? };
        words.next().is_none_or(|kind| !EXTENDED.contains(&kind)).then_some(part)
    };
    text.lines().filter_map(one).collect()
}

/// Parses blkid's lines `KEY=value`.
///
/// blkid puts backslashes before special characters of a shell. A label may hold line breaks, and so lines that look like another key's. The keys that decide
/// come after the label (libblkid writes TYPE last), so the last one of them counts, and the first
/// of the labels.
pub fn parse(text: &str) -> Signature {
    const KEYS: [&str; 7] = ["LABEL", "UUID", "TYPE", "PTTYPE", "PTUUID", "DEVNAME", "USAGE"];
    let mut pairs: Vec<(&str, String)> = Vec::new();
    for line in text.split('\n') {
        let pair = line.split_once('=').filter(|(key, _)| KEYS.contains(key));
        match (pair, pairs.last_mut()) {
            (Some((key, value)), _) => pairs.push((key, without_backslashes(value))),
            (None, Some((_, value))) => *value = format!("{value}\n{}", without_backslashes(line)),
            (None, None) => {}
        }
    }
    let of = |pair: &(&str, String)| {
        Some(pair.1.trim_end().to_owned()).filter(|value| !value.is_empty())
    };
    let last = |key: &str| pairs.iter().rev().find(|pair| pair.0 == key).and_then(of);
    Signature {
        kind: last("TYPE"),
        label: pairs.iter().find(|pair| pair.0 == "LABEL").and_then(of),
        uuid: last("UUID"),
        table: last("PTTYPE"),
        table_uuid: last("PTUUID"),
    }
}

/// The error message of a tool without the names of the tool and the node.
fn complaint(text: &str) -> String {
    let reason = text.rsplit(": ").next().unwrap_or_default().trim();
    match reason {
        "Permission denied" | "Operation not permitted" => {
            let is_root = rustix::process::geteuid().is_root();
            let way_on = if is_root { "" } else { "; run it as root" };
            format!("no right to read it{way_on}")
        }
        "No medium found" => "no medium is in it".to_owned(),
        "" => "blkid does not say why".to_owned(),
        _ => format!("reading it failed: {reason}"),
    }
}
