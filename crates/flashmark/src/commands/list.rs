//! `flashmark list`: media, what they are, whether they are in use and why, whether testing is
//! safe.

use std::thread;

use host::{Contents, InventoryEntry, Roots};
use record::Health;
use record::text::{self, printable};
use record::units::Bytes;
use report::display::padded;

use crate::cli::ListFlags;
use program::exit::{Exit, OrExit, Result, refuse};
use program::printing::{print, print_document};

/// Lists media, what they hold, what uses them and whether testing them is safe; exit code 0.
pub fn run(flags: &ListFlags) -> Result {
    let roots = Roots::default();
    if !host::sees_mounts(&roots) {
        return refuse(format_args!("cannot see which media are in use: {}", host::NO_MOUNTS));
    }
    let mut disks = host::list(&roots);
    let (all, told): (Vec<Contents>, Vec<Option<Health>>) =
        looks(&roots, &disks, flags.health).into_iter().unzip();
    for (disk, health) in disks.iter_mut().zip(told) {
        disk.medium.health = health.or(disk.medium.health.take());
    }
    let not_seen = host::not_seen(&roots).words();
    let seen = disks.iter().zip(&all);
    if flags.json {
        let list: Vec<serde_json::Value> =
            seen.map(|(disk, contents)| as_json(disk, contents, &not_seen)).collect();
        print_document(&format!(
            "{}
",
            escaped(&serde_json::to_string_pretty(&list).or_internal()?)
        ))?;
        return Ok(Exit::Done);
    }
    if disks.is_empty() {
        let command = report::display::unbroken("flashmark run . --suite quick");
        print(&format!("No storage media found. A directory can still be measured: {command}\n"))?;
    }
    for (disk, contents) in seen {
        print(&text::escaped(&as_text(disk, contents)))?;
        if flags.health {
            print(&text::escaped(&health(disk)))?;
        }
    }
    for words in not_seen {
        print(&format!("Not seen: {words}\n"))?;
    }
    Ok(Exit::Done)
}

/// Contents of each medium, and its health if that is asked for, of all of them in parallel: one
/// that does not answer delays no other.
fn looks(roots: &Roots, disks: &[InventoryEntry], health: bool) -> Vec<(Contents, Option<Health>)> {
    let health = |disk| health.then(|| host::health(roots, disk)).flatten();
    let look = |disk| (host::contents(roots, disk), health(disk));
    thread::scope(|scope| {
        let looks: Vec<_> = disks.iter().map(|disk| scope.spawn(move || look(disk))).collect();
        looks
            .into_iter()
            .map(|look| look.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

/// JSON in which characters that could harm a terminal are escaped: it contains labels of media.
fn escaped(json: &str) -> String {
    text::replaced(json, |c| format!("\\u{:04x}", u32::from(c)))
}

/// True and why, if a medium may be erased by its name alone; else false and the reason against it.
fn why(disk: &InventoryEntry, contents: &Contents) -> (bool, String) {
    if disk.size_bytes == 0 {
        return (false, "no medium is in it".to_owned());
    }
    if !disk.uses.is_empty() {
        return (false, format!("it is in use: {}", host::summary(&disk.uses)));
    }
    if disk.read_only {
        return (false, "it is read-only".to_owned());
    }
    match contents.is_empty() {
        Some(true) => (true, "it is free and empty".to_owned()),
        Some(false) => (false, format!("it holds {}", contents.summary())),
        None => (false, format!("what it holds {}", contents.summary())),
    }
}

fn name(disk: &InventoryEntry) -> String {
    let parts = [&disk.medium.vendor, &disk.medium.model];
    let name: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
    if name.is_empty() { "no name".to_owned() } else { printable(&name.join(" ")) }
}

fn kind(disk: &InventoryEntry) -> String {
    serde_json::to_value(disk.medium.kind)
        .ok()
        .and_then(|kind| kind.as_str().map(str::to_owned))
        .unwrap_or_default()
}

/// What a medium says of its wear, and the source.
fn health(disk: &InventoryEntry) -> String {
    let said = disk.medium.health.as_ref().map(|health| {
        let source = health.source.as_deref().unwrap_or("its registers");
        format!("{} ({source})", health.words().join(", "))
    });
    let said = said.unwrap_or("not known: nothing came from sysfs, smartctl or sdmon".to_owned());
    format!("{:15}health: {said}\n", "")
}

fn as_text(disk: &InventoryEntry, contents: &Contents) -> String {
    let mut text = format!(
        "{} {:>9}  {:<13} {}\n",
        padded(&disk.path.display().to_string(), 14),
        Bytes(disk.size_bytes).to_string(),
        kind(disk),
        name(disk)
    );
    let mode = [disk.link.driver.clone(), disk.link.mode.clone()]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(", ");
    if !mode.is_empty() {
        text += &format!("{:15}attached by {mode}\n", "");
    }
    if disk.medium.behind_reader == Some(true) {
        text += &format!(
            "{:15}a card reader: the card's own registers cannot be seen through it\n",
            ""
        );
    }
    if disk.size_bytes > 0 {
        let begin = if contents.is_empty().is_none() { "what it holds" } else { "holds" };
        for (number, line) in contents.lines().iter().enumerate() {
            text += &if number == 0 {
                format!("{:15}{begin} {line}\n", "")
            } else {
                format!("{:15}  {line}\n", "")
            };
        }
    }
    if disk.size_bytes == 0 && disk.uses.is_empty() {
        text += &format!("{:15}no medium is in it\n", "");
    } else if disk.read_only && disk.uses.is_empty() {
        text += &format!("{:15}write-protected: it can only be read\n", "");
    } else if disk.uses.is_empty() {
        let id = disk.ids().into_iter().next().unwrap_or_default();
        // A command that erases is not printed ready to be copied under what it would destroy.
        text += &if contents.is_empty() == Some(true) {
            format!("{:15}free; reading is safe, --erase {id} allows it to be overwritten\n", "")
        } else {
            format!(
                "{:15}free; reading is safe; what it holds would be lost by --erase; its name: {id}\n",
                ""
            )
        };
    } else {
        text += &format!("{:15}IN USE: {}\n", "", host::summary(&disk.uses));
    }
    text
}

fn as_json(disk: &InventoryEntry, contents: &Contents, not_seen: &[String]) -> serde_json::Value {
    let (safe, why) = why(disk, contents);
    let partitions: Vec<serde_json::Value> = disk
        .partitions
        .iter()
        .map(|part| serde_json::json!({ "path": part.path, "size_bytes": part.size_bytes, "offset_bytes": part.offset_bytes }))
        .collect();
    serde_json::json!({
        "path": disk.path,
        "device_number": disk.number.to_string(),
        "size_bytes": disk.size_bytes,
        "read_only": disk.read_only,
        "medium": disk.medium,
        "link": disk.link,
        "ids": disk.ids(),
        "partitions": partitions,
        "not_seen": not_seen,
        "in_use": disk.uses.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "contents": contents.items,
        "contents_unknown": contents.unknown,
        "safe_to_erase": safe,
        "why": why,
    })
}

#[cfg(test)]
mod tests {
    use host::{ContentItem, DeviceNumber, InUseReason};
    use record::units::GIB;
    use record::{Link, Medium, MediumKind};

    use super::*;

    fn disk(name: &str, size_bytes: u64, medium: Medium, uses: Vec<InUseReason>) -> InventoryEntry {
        let driver = if name.starts_with("sd") { "usb-storage" } else { "mmcblk" };
        InventoryEntry {
            name: name.into(),
            path: format!("/dev/{name}").into(),
            number: DeviceNumber { major: 179, minor: 0 },
            diskseq: None,
            size_bytes,
            read_only: false,
            medium,
            link: Link { driver: Some(driver.into()), ..Link::default() },
            partitions: Vec::new(),
            uses,
        }
    }

    fn table(kind: &str) -> Contents {
        let table = ContentItem {
            partition: None,
            offset_bytes: 0,
            size_bytes: 0,
            kind: Some(kind.into()),
            table: true,
            label: None,
            uuid: None,
            last_mounted: None,
        };
        Contents { items: vec![table], unknown: None }
    }

    /// A free empty card, the system's disk, a card behind a reader that may not be read, a reader
    /// without a card.
    fn all() -> String {
        let card = Medium {
            kind: MediumKind::Sd,
            model: Some("SC16G".into()),
            vendor: Some("SanDisk".into()),
            cid: Some("035344534331364780a1b2c3d4014a00".into()),
            ..Medium::default()
        };
        let behind = Medium {
            kind: MediumKind::Usb,
            model: Some("STORAGE DEVICE".into()),
            vendor: Some("Generic".into()),
            behind_reader: Some(true),
            by_id: vec!["usb-Generic_STORAGE_DEVICE_000000000821-0:0".into()],
            ..Medium::default()
        };
        let system = Medium { kind: MediumKind::Emmc, ..Medium::default() };
        let root = vec![InUseReason::Root { at: "/".into() }];
        let seen = [
            (disk("mmcblk0", 16 * GIB, card, Vec::new()), Contents::default()),
            (disk("mmcblk1", 8 * GIB, system, root), table("gpt")),
            (
                disk("sda", 32 * GIB, behind.clone(), Vec::new()),
                Contents::unknown("no right to read it"),
            ),
            (disk("sdb", 0, behind, Vec::new()), Contents::default()),
        ];
        seen.iter().map(|(disk, contents)| as_text(disk, contents)).collect()
    }

    #[test]
    fn media_are_listed_at_every_width() {
        insta::assert_snapshot!(report::text::fold(&all(), 80, true), @"
        /dev/mmcblk0      16 GiB  sd            SanDisk SC16G
                       attached by mmcblk
                       holds nothing that is recognised; data without a signature would
                         not be
                       free; reading is safe, --erase 035344534331364780a1b2c3d4014a00
                         allows it to be overwritten
        /dev/mmcblk1       8 GiB  emmc          no name
                       attached by mmcblk
                       holds partition table gpt, without partitions
                       IN USE: the running system is on it (/)
        /dev/sda          32 GiB  usb           Generic STORAGE DEVICE
                       attached by usb-storage
                       a card reader: the card's own registers cannot be seen through it
                       what it holds cannot be told: no right to read it
                       free; reading is safe; what it holds would be lost by --erase;
                         its name: usb-Generic_STORAGE_DEVICE_000000000821-0:0
        /dev/sdb             0 B  usb           Generic STORAGE DEVICE
                       attached by usb-storage
                       a card reader: the card's own registers cannot be seen through it
                       no medium is in it
        ");
        for columns in [40, 120] {
            let text = report::text::fold(&all(), columns, true);
            assert!(text.lines().all(|line| line.len() <= columns), "{text}");
        }
    }
}
