//! Health as a disk tells it: through smartctl, where it is installed (flash.md G4).

use record::Health;
use serde_json::Value;

use crate::inventory::Disk;
use crate::roots::Roots;
use crate::tool;

/// How long a disk may think about its health.
const PATIENCE_SECONDS: u64 = 10;

/// The health of a disk: what sysfs already said (eMMC), else what `smartctl` reads. `None` where the disk says nothing, the
/// program is not installed, or the user may not. Starts a program and sends the disk a command: not for lists.
pub fn health(roots: &Roots, disk: &Disk) -> Option<Health> {
    if disk.medium.health.is_some() {
        return disk.medium.health.clone();
    }
    let speaks = matches!(disk.medium.interface.as_deref(), Some("ata" | "nvme" | "scsi" | "usb"));
    if !roots.is_real() || !speaks {
        return None;
    }
    let path = disk.path.display().to_string();
    parse_smartctl(&tool::run_for("smartctl", &["--json", "--info", "--attributes", &path], PATIENCE_SECONDS)?)
}

/// Reads what `smartctl --json` prints.
///
/// NVMe data units are 512,000 bytes. Of the ATA attributes only those are taken whose meaning their name tells; the numbers alone
/// mean different things with every maker.
pub fn parse_smartctl(json: &str) -> Option<Health> {
    let all: Value = serde_json::from_str(json).ok()?;
    let nvme = &all["nvme_smart_health_information_log"];
    let used_percent = nvme["percentage_used"].as_f64().or_else(|| all["endurance_used"]["current_percent"].as_f64());
    let written_bytes = match nvme["data_units_written"].as_u64() {
        Some(units) => units.checked_mul(512_000),
        None => ata_written_bytes(&all),
    };
    let media_errors = nvme["media_errors"].as_u64();
    if used_percent.is_none() && written_bytes.is_none() && media_errors.is_none() {
        return None;
    }
    let version: Vec<String> = all["smartctl"]["version"].as_array()?.iter().filter_map(Value::as_u64).map(|n| n.to_string()).collect();
    Some(Health { used_percent, written_bytes, media_errors, pre_eol: None, source: Some(format!("smartctl {}", version.join("."))) })
}

/// `Total_LBAs_Written` counts logical blocks.
fn ata_written_bytes(all: &Value) -> Option<u64> {
    let table = all["ata_smart_attributes"]["table"].as_array()?;
    let written = table.iter().find(|row| row["name"] == "Total_LBAs_Written")?;
    let block_bytes = all["logical_block_size"].as_u64()?;
    written["raw"]["value"].as_u64()?.checked_mul(block_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nvme_health_is_read() {
        let json = r#"{"smartctl":{"version":[7,3]},"nvme_smart_health_information_log":
            {"percentage_used":3,"data_units_written":1000,"media_errors":2,"temperature":35}}"#;
        let health = parse_smartctl(json).unwrap();
        assert_eq!((health.used_percent, health.written_bytes, health.media_errors), (Some(3.0), Some(512_000_000), Some(2)));
        assert_eq!(health.source.as_deref(), Some("smartctl 7.3"));
    }

    #[test]
    fn ata_attributes_count_by_name_only() {
        let with = |name: &str| {
            let row = format!(r#"{{"id":241,"name":"{name}","raw":{{"value":100}}}}"#);
            format!(r#"{{"smartctl":{{"version":[7,3]}},"logical_block_size":512,"ata_smart_attributes":{{"table":[{row}]}}}}"#)
        };
        assert_eq!(parse_smartctl(&with("Total_LBAs_Written")).unwrap().written_bytes, Some(51_200));
        assert_eq!(parse_smartctl(&with("Host_Writes_32MiB")), None);
        assert_eq!(parse_smartctl("smartctl: no such device"), None);
    }
}
