//! Contents of a medium in words, safe to print on a terminal.

use record::units::Bytes;

use super::{ContentItem, Contents};

/// Most characters that are shown of a text; UDF's labels are the longest, with 127.
const MAX_CHARACTERS: usize = 128;
/// Most items that are named in one line.
const MAX_NAMED: usize = 4;
/// Text for a medium without signatures: it may still have data.
const NOTHING: &str = "nothing that is recognised; data without a signature would not be";

impl Contents {
    /// One line for each item, safe to print on a terminal: "partition 1: ext4 'MYPHOTOS', 29.7
    /// GiB, last mounted 2026-11-20 18:04 UTC"; and one more if some contents are unknown.
    pub fn lines(&self) -> Vec<String> {
        let partitions = self.items.iter().filter(|item| item.partition.is_some()).count();
        let mut lines: Vec<String> = self.items.iter().map(|item| line(item, partitions)).collect();
        match (&self.unknown, lines.is_empty()) {
            (Some(why), true) => lines.push(format!("cannot be told: {}", shown(why))),
            (Some(why), false) => lines.push(format!("there may be more: {}", shown(why))),
            (None, true) => lines.push(NOTHING.to_owned()),
            (None, false) => {}
        }
        lines
    }

    /// All items in one line, safe to print on a terminal: "ext4 'MYPHOTOS'", "gpt with vfat
    /// 'BOOT', ext4 'ROOT'".
    pub fn summary(&self) -> String {
        let table = self.items.iter().find(|item| item.table).and_then(|item| item.kind.as_deref());
        let others: Vec<String> =
            self.items.iter().filter(|item| !item.table && item.kind.is_some()).map(name).collect();
        let mut named = others.iter().take(MAX_NAMED).cloned().collect::<Vec<_>>().join(", ");
        if others.len() > MAX_NAMED {
            named += &format!(", and {} more", others.len() - MAX_NAMED);
        }
        match (table.map(shown), named.is_empty(), &self.unknown) {
            (Some(table), true, _) => format!("a partition table ({table})"),
            (Some(table), false, _) => format!("{table} with {named}"),
            (None, false, _) => named,
            (None, true, Some(why)) => format!("cannot be told: {}", shown(why)),
            (None, true, None) => "nothing that is known".to_owned(),
        }
    }

    /// Lines that identify a medium by its contents: kinds, labels, UUIDs and offsets, without
    /// times. They stay the same until somebody partitions, formats or labels it.
    pub fn identity_lines(&self) -> Vec<String> {
        let unknown = self.unknown.iter().map(|_| "unknown".to_owned());
        self.items.iter().map(identity_line).chain(unknown).collect()
    }
}

fn identity_line(item: &ContentItem) -> String {
    let what = if item.table { "partition table" } else { "signature" };
    let known = [("kind", &item.kind), ("label", &item.label), ("uuid", &item.uuid)];
    let known = known
        .into_iter()
        .filter_map(|(key, value)| Some(format!(" {key}={}", value.as_deref()?.escape_debug())));
    format!("{what} at {}+{}{}", item.offset_bytes, item.size_bytes, known.collect::<String>())
}

fn line(item: &ContentItem, partitions: usize) -> String {
    if item.table {
        let count = match partitions {
            0 => "without partitions".to_owned(),
            1 => "1 partition".to_owned(),
            n => format!("{n} partitions"),
        };
        return format!(
            "partition table {}, {count}",
            shown(item.kind.as_deref().unwrap_or_default())
        );
    }
    let place = item.partition.map(|index| format!("partition {index}: ")).unwrap_or_default();
    let mounted = match item.last_mounted.as_deref() {
        Some("never") => ", never mounted".to_owned(),
        Some(time) => format!(", last mounted {time}"),
        None => String::new(),
    };
    format!("{place}{}, {}{mounted}", name(item), Bytes(item.size_bytes))
}

/// Kind and label: "ext4 'MYPHOTOS'", "LVM2_member (part of a volume group)".
fn name(item: &ContentItem) -> String {
    let Some(kind) = &item.kind else { return "nothing that is known".to_owned() };
    let meaning = match kind.as_str() {
        "several" => return "several signatures that contradict one another".to_owned(),
        "LVM2_member" | "LVM1_member" => " (part of a volume group)",
        "zfs_member" => " (part of a pool)",
        "bcache" => " (part of a cache set)",
        "crypto_LUKS" | "BitLocker" => " (encrypted)",
        raid if raid.ends_with("_raid_member") => " (part of an array)",
        _ => "",
    };
    let label =
        item.label.as_deref().map(|label| format!(" '{}'", shown(label))).unwrap_or_default();
    format!("{}{label}{meaning}", shown(kind))
}

/// Text of a medium made visible: characters that would move the cursor, colour the screen, hide
/// text or change its direction are escaped.
fn shown(text: &str) -> String {
    let mut characters = text.chars();
    let mut shown: String = characters.by_ref().take(MAX_CHARACTERS).flat_map(escaped).collect();
    if characters.next().is_some() {
        shown += "...";
    }
    shown
}

fn escaped(character: char) -> Vec<char> {
    if record::text::is_hidden(character) {
        record::text::escape(character).chars().collect()
    } else {
        vec![character]
    }
}
