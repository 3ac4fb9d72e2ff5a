//! `flashmark list`: media, what they are, whether they are in use and why, whether testing is safe.

use host::{Disk, Roots};
use record::units::Bytes;

use crate::cli::ListFlags;
use crate::exit::{Exit, OrExit, Result};
use crate::outputs::print;

/// Runs the command.
pub fn run(flags: &ListFlags) -> Result {
    let disks = host::list(&Roots::default());
    if flags.json {
        let list: Vec<serde_json::Value> = disks.iter().map(as_json).collect();
        print(&format!("{}\n", serde_json::to_string_pretty(&list).or_internal()?))?;
        return Ok(Exit::Done);
    }
    if disks.is_empty() {
        print("No storage media found. A directory can still be measured: flashmark run . --suite quick\n")?;
    }
    for disk in &disks {
        print(&as_text(disk))?;
    }
    Ok(Exit::Done)
}

fn name(disk: &Disk) -> String {
    let parts = [&disk.medium.vendor, &disk.medium.model];
    let name: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
    if name.is_empty() { "no name".to_owned() } else { report::words::clean(&name.join(" ")) }
}

fn kind(disk: &Disk) -> String {
    serde_json::to_value(disk.medium.kind).ok().and_then(|kind| kind.as_str().map(str::to_owned)).unwrap_or_default()
}

fn as_text(disk: &Disk) -> String {
    let mut text =
        format!("{:<14} {:>9}  {:<13} {}\n", disk.path.display().to_string(), Bytes(disk.size_bytes).to_string(), kind(disk), name(disk));
    let mode = [disk.link.driver.clone(), disk.link.mode.clone()].into_iter().flatten().collect::<Vec<_>>().join(", ");
    if !mode.is_empty() {
        text += &format!("{:15}attached by {mode}\n", "");
    }
    if disk.medium.behind_reader == Some(true) {
        text += &format!("{:15}a card reader: the card's own registers cannot be seen through it\n", "");
    }
    if disk.uses.is_empty() {
        let id = disk.ids().into_iter().next().unwrap_or_default();
        text += &format!("{:15}free; reading is safe, --erase {id} allows it to be overwritten\n", "");
    } else {
        text += &format!("{:15}IN USE: {}\n", "", host::summary(&disk.uses));
    }
    text
}

fn as_json(disk: &Disk) -> serde_json::Value {
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
        "in_use": disk.uses.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "safe_to_erase": disk.uses.is_empty() && !disk.read_only,
    })
}
