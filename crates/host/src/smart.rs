//! Health of a disk as it reports it: through smartctl, if that is installed
//! (docs/field/identity.md#other-buses).

use record::{Health, MediumKind};
use serde_json::Value;

use crate::inventory::{self, InventoryEntry};
use crate::roots::Roots;
use crate::tool;

/// Time limit in seconds for a disk to report its health.
const PATIENCE_SECONDS: u64 = 10;

/// Present health of a disk: from sysfs (eMMC), otherwise from `smartctl`, and for an SD card in a
/// slot from `sdmon`. `None` if the disk reports nothing, is another one by now, the program is not
/// installed, or the user lacks the right. Starts a program and sends the disk a command: not for
/// lists.
pub fn health(roots: &Roots, disk: &InventoryEntry) -> Option<Health> {
    // An eMMC's registers were read when it was found, and wear on.
    let (now, _) = inventory::find(roots, disk.number)?;
    if now.diskseq != disk.diskseq {
        return None;
    }
    if now.medium.health.is_some() {
        return now.medium.health;
    }
    if !roots.is_real() {
        return None;
    }
    let path = now.path.display().to_string();
    if now.medium.kind == MediumKind::Sd {
        return parse_sdmon(&tool::run_for("sdmon", &[&path], PATIENCE_SECONDS)?);
    }
    let ask = |more: &[&str]| {
        let arguments = [&["--json", "--info", "--attributes"], more, &[path.as_str()]].concat();
        parse_smartctl(&tool::run_for("smartctl", &arguments, PATIENCE_SECONDS)?)
    };
    match now.medium.interface.as_deref() {
        Some("ata" | "nvme" | "scsi") => ask(&[]),
        // Bridges that smartctl does not know by their id mostly translate as the standard says.
        Some("usb") => ask(&[]).or_else(|| ask(&["--device", "sat"])),
        _ => None,
    }
}

/// Parses the output of `sdmon` for industrial SD cards that answer the general command CMD56.
pub fn parse_sdmon(json: &str) -> Option<Health> {
    let all: Value = serde_json::from_str(json).ok()?;
    let used = all["healthStatusPercentUsed"].as_f64();
    let left = all["enduranceRemainLifePercent"].as_f64();
    let used_percent = used
        .or_else(|| left.map(|left| 100.0 - left))
        .filter(|used| (0.0..=255.0).contains(used))?;
    let version = all["version"].as_str().and_then(|version| version.split_whitespace().next());
    let source = version.map_or_else(|| "sdmon".to_owned(), |version| format!("sdmon {version}"));
    Some(Health { used_percent: Some(used_percent), source: Some(source), ..Health::default() })
}

/// Parses the output of `smartctl --json`.
///
/// NVMe data units are 512,000 bytes. Of the ATA attributes only those are used whose name tells
/// their meaning; the numbers alone have different meanings with every maker.
pub fn parse_smartctl(json: &str) -> Option<Health> {
    let all: Value = serde_json::from_str(json).ok()?;
    let nvme = &all["nvme_smart_health_information_log"];
    let used_percent = nvme["percentage_used"]
        .as_f64()
        .or_else(|| all["endurance_used"]["current_percent"].as_f64())
        .or_else(|| ata_used_percent(&all));
    let written_bytes = match nvme["data_units_written"].as_u64() {
        Some(units) => units.checked_mul(512_000),
        None => ata_written_bytes(&all),
    };
    let media_errors = nvme["media_errors"].as_u64();
    if used_percent.is_none() && written_bytes.is_none() && media_errors.is_none() {
        return None;
    }
    let version: Vec<String> = all["smartctl"]["version"]
        .as_array()?
        .iter()
        .filter_map(Value::as_u64)
        .map(|n| n.to_string())
        .collect();
    Some(Health {
        used_percent,
        written_bytes,
        media_errors,
        pre_eol: None,
        source: Some(format!("smartctl {}", version.join("."))),
    })
}

/// Bytes written from `Total_LBAs_Written`, which counts logical blocks.
fn ata_written_bytes(all: &Value) -> Option<u64> {
    let table = all["ata_smart_attributes"]["table"].as_array()?;
    let written = table.iter().find(|row| row["name"] == "Total_LBAs_Written")?;
    let block_bytes = all["logical_block_size"].as_u64()?;
    written["raw"]["value"].as_u64()?.checked_mul(block_bytes)
}

/// Used life in percent, from attributes whose normalised value is the remaining share.
fn ata_used_percent(all: &Value) -> Option<f64> {
    const LEFT: [&str; 3] = ["SSD_Life_Left", "Media_Wearout_Indicator", "Percent_Life_Remaining"];
    let table = all["ata_smart_attributes"]["table"].as_array()?;
    let row =
        table.iter().find(|row| row["name"].as_str().is_some_and(|name| LEFT.contains(&name)))?;
    row["value"].as_f64().filter(|left| (0.0..=100.0).contains(left)).map(|left| 100.0 - left)
}
