//! SD cards and eMMC in a host slot: `/sys/block/mmcblkN/device` (docs/field/identity.md#registers,
//! docs/field/identity.md#manufacturer-ids).

use std::path::Path;

use record::{Health, Medium, MediumKind, SpeedClasses};

use super::registers::{self, Cid};
use crate::roots::{number, text};

/// Identity from the card's directory.
pub fn medium(card: &Path, common: Medium) -> Medium {
    let attribute = |name: &str| text(&card.join(name));
    let (kind, cid, known) = match attribute("type").as_deref() {
        Some("SD") => (MediumKind::Sd, attribute("cid").and_then(|cid| Cid::sd(&cid)), true),
        Some("MMC") => (MediumKind::Emmc, attribute("cid").and_then(|cid| Cid::mmc(&cid)), false),
        _ => (MediumKind::Unknown, None, false),
    };
    let id = cid
        .as_ref()
        .map(|cid| cid.manufacturer)
        .or(number(&card.join("manfid")).map(|id| id as u8));
    let name = |id| {
        if known { registers::sd_manufacturer(id) } else { registers::mmc_manufacturer(id) }
    };
    let classes = attribute("ssr").and_then(|ssr| registers::speed_classes(&ssr));
    Medium {
        kind,
        vendor: id.and_then(name).map(str::to_owned),
        model: attribute("name").or_else(|| cid.as_ref().map(|cid| cid.name.clone())),
        firmware: attribute("fwrev").or_else(|| cid.as_ref().map(|cid| cid.revision.clone())),
        serial: attribute("serial"),
        manufacturer: id
            .map(|id| name(id).map_or(format!("0x{id:02x}"), |name| format!("0x{id:02x} {name}"))),
        oem: cid.map(|cid| cid.oem).filter(|oem| !oem.is_empty()),
        made: attribute("date").and_then(|date| year_first(&date)),
        cid: attribute("cid"),
        csd: attribute("csd"),
        scr: attribute("scr"),
        ssr: attribute("ssr"),
        au_bytes: au_bytes(card, &classes),
        classes,
        health: health(card),
        behind_reader: Some(false),
        ..common
    }
}

/// Erase block in bytes: of an SD card the larger of the two units that the SSR declares (UHS cards
/// write in UHS_AU), of an eMMC the erase group. `preferred_erase_size` is not a declaration:
/// without an SSR the kernel derives it from the capacity.
fn au_bytes(card: &Path, classes: &Option<SpeedClasses>) -> Option<u64> {
    match text(&card.join("type")).as_deref() {
        Some("SD") => {
            classes.as_ref().and_then(|classes| classes.au_bytes.max(classes.uhs_au_bytes))
        }
        _ => number(&card.join("erase_size")).filter(|bytes| *bytes > 512),
    }
}

/// Turns the date of sysfs, "07/2019", into "2019-07".
fn year_first(date: &str) -> Option<String> {
    let (month, year) = date.split_once('/')?;
    Some(format!("{year}-{month}"))
}

/// Life time and reserve of an eMMC 5.0 or newer: in steps of 10 %, of which the upper end counts;
/// 0 is "not defined".
fn health(card: &Path) -> Option<Health> {
    let life = text(&card.join("life_time"))?;
    let steps = life
        .split_whitespace()
        .filter_map(|word| u32::from_str_radix(word.trim_start_matches("0x"), 16).ok());
    let used = steps.filter(|step| (1..=0xb).contains(step)).max();
    let pre_eol =
        number(&card.join("pre_eol_info")).map(|level| level as u32).filter(|level| *level != 0);
    (used.is_some() || pre_eol.is_some()).then(|| Health {
        used_percent: used.map(|step| f64::from(step) * 10.0),
        pre_eol,
        source: Some("sysfs".to_owned()),
        ..Health::default()
    })
}
