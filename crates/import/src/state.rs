//! What a medium says of itself, in `hdparm -I`, `smartctl -a`, `nvme smart-log` and `mmc extcsd
//! read`: model, serial number, firmware, capacity, and health. One table for all of them. A report
//! gives no result: it names the medium of the results in the same text.

use std::sync::LazyLock;

use record::units::{GIB, MIB};
use record::{Health, Medium, MediumKind};
use regex::{Captures, Regex};

use super::imported_run::{ImportedRun, room_for_another};
use super::table::{Tool, tool};
use super::text::{group, number, re, short};

pub(super) static TABLE: Tool = tool! {
    "", "a report of a medium's state", 1000.0;
    ["a line 'Model Number: ..' of hdparm -I, or the head of smartctl, nvme smart-log or mmc extcsd": HEAD]
}
.by_hand(|source, reading| {
        let mut found: Vec<ImportedRun> = Vec::new();
        let mut device = None;
        for (at, line) in source.numbered() {
            if let Some(named) = re!(DEVICE).captures(line) {
                device = Some(short(group(&named, 1), 200));
            }
            let begins = re!(HEAD).captures(line);
            let is_open = found.last().is_some_and(|run| at < run.begin + LONGEST);
            if let Some(head) = begins.filter(|head| !is_open || !goes_on(&found, head)) {
                if reading.accept(at, room_for_another(&found)).is_none() {
                    break;
                }
                let mut run = ImportedRun { begin: at, ..ImportedRun::by(tool_of(line)) };
                let own = head.get(1).map(|own| format!("/dev/{}", own.as_str()));
                own.or(device.take()).iter().for_each(|device| run.on(device));
                if line.starts_with("smartctl") {
                    run.version = short(line.split_whitespace().nth(1).unwrap_or_default(), 20);
                }
                found.push(run);
            }
            let Some(run) = found.last_mut().filter(|run| at < run.begin + LONGEST) else {
                continue;
            };
            if line.contains("self-assessment test result: FAILED") {
                run.notes.push("the medium's own test says that it fails".to_owned());
            }
            for (pattern, take) in &*PATTERNS {
                let Some(found) = pattern.captures(line) else { continue };
                take(&mut run.medium, group(&found, 1));
                reading.take(at);
            }
        }
        let described =
            |run: &ImportedRun| run.medium.model.is_some() || run.medium.health.is_some();
        found.retain(described);
        for run in &mut found {
            let source = format!("{} {}", run.tool, run.version).trim().to_owned();
            run.medium.health.iter_mut().for_each(|health| health.source = Some(source.clone()));
        }
        found
    });

/// First lines of a report; the group is the device.
const HEAD: &str = r"(?m)^\s*(?:smartctl \d|Smart Log for NVME device:\s*(\w+)|Extended CSD rev |(?:CompactFlash )?ATA device\b|Model Number:|Device Model:)";
/// A line that names the device of the report below it.
const DEVICE: &str = r"^(?:.*\b(?:smartctl|smart-log|extcsd|hdparm) .*)?(/dev/[\w/]+):?\s*$";
/// Most lines of a report.
const LONGEST: usize = 400;

type Take = fn(&mut Medium, &str);

/// Lines of all reports, and what their group is.
const LINES: [(&str, Take); 17] = [
    (r"^\s*(?:Device Model|Model Number):\s*(.*)", |medium, text| {
        medium.model = Some(short(text, 60))
    }),
    (r"^\s*Serial Number:\s*(.*)", |medium, text| medium.serial = Some(short(text, 60))),
    (r"^\s*Firmware (?:Revision|Version):\s*(.*)", |medium, text| {
        medium.firmware = Some(short(text, 40))
    }),
    (r"^\s*LBA(?:48)?\s+user addressable sectors:\s*(\d+)", |medium, text| {
        capacity(medium, text, 512.0)
    }),
    (r"^(?:User|Total NVM) Capacity:\s*([\d,.]+)", |medium, text| capacity(medium, text, 1.0)),
    (r"\[SEC_COUNT: 0x([0-9a-f]+)\]", |medium, text| {
        medium.capacity_bytes = u64::from_str_radix(text, 16).ok().and_then(|n| n.checked_mul(512));
    }),
    (r"^\s*(CompactFlash) ATA device", |medium, _| medium.kind = MediumKind::CompactFlash),
    (r"^Rotation Rate:\s*(.*)", |medium, text| {
        let is_solid = text.starts_with("Solid");
        medium.kind = if is_solid { MediumKind::Ssd } else { MediumKind::Disk };
    }),
    (r"^(?:Percentage Used|percentage_used)\s*:\s*(\d+)", |medium, text| {
        used(medium, number(text))
    }),
    (
        r"(?:Media_Wearout_Indicator|Wear_Leveling_Count|SSD_Life_Left|Percent_Life\w*|Remaining_Life\w*)\s+0x\w+\s+(\d+)",
        |medium, text| {
            used(medium, number(text).map(|left| 100.0 - left));
        },
    ),
    (r"LIFE_TIME_EST_TYP_[AB]\]: 0x([0-9a-f]+)", |medium, text| {
        medium.kind = MediumKind::Emmc;
        used(
            medium,
            u32::from_str_radix(text, 16).ok().filter(|n| *n > 0).map(|n| f64::from(n) * 10.0),
        );
    }),
    (r"PRE_EOL_INFO\]: 0x([0-9a-f]+)", |medium, text| {
        health(medium).pre_eol = u32::from_str_radix(text, 16).ok();
    }),
    (
        r"^(?:Data Units Written|data_units_written|Data Units Written)\s*:\s*([\d,.]+)",
        |medium, text| {
            medium.kind = MediumKind::Nvme;
            written(medium, text, 512_000.0);
        },
    ),
    (r"Total_LBAs_Written .* (\d+)\s*$", |medium, text| written(medium, text, 512.0)),
    (r"Host_Writes_32MiB .* (\d+)\s*$", |medium, text| written(medium, text, 32.0 * MIB as f64)),
    (r"Host_Writes_GiB .* (\d+)\s*$", |medium, text| written(medium, text, GIB as f64)),
    (r"^(?:Media and Data Integrity Errors|media_errors)\s*:\s*([\d,]+)", |medium, text| {
        health(medium).media_errors = whole_of(text).map(|n| n as u64);
    }),
];

static PATTERNS: LazyLock<Vec<(Regex, Take)>> = LazyLock::new(|| {
    let compiled = |(pattern, take)| (Regex::new(pattern).expect("a pattern of ours"), take);
    LINES.into_iter().map(compiled).collect()
});

/// True if a line is not the begin of another report, but of the one that is open: smartctl and
/// hdparm print the model below their heads.
fn goes_on(found: &[ImportedRun], head: &Captures) -> bool {
    let is_model = group(head, 0).ends_with("Model Number:") || group(head, 0).ends_with("Model:");
    is_model && found.last().is_some_and(|run| run.medium.model.is_none())
}

fn tool_of(line: &str) -> &'static str {
    let line = line.trim_start();
    match line {
        _ if line.starts_with("Smart Log") => "nvme smart-log",
        _ if line.starts_with("Extended") => "mmc extcsd",
        _ if line.contains("ATA device") || line.starts_with("Model") => "hdparm",
        _ => "smartctl",
    }
}

fn health(medium: &mut Medium) -> &mut Health {
    medium.health.get_or_insert_default()
}

/// Digits with points or commas between thousands.
fn whole_of(text: &str) -> Option<f64> {
    number(&text.replace([',', '.'], ""))
}

fn capacity(medium: &mut Medium, text: &str, unit: f64) {
    let bytes = whole_of(text).map(|count| count * unit).filter(|bytes| *bytes < 1e18);
    medium.capacity_bytes = medium.capacity_bytes.max(bytes.map(|bytes| bytes as u64));
}

fn used(medium: &mut Medium, percent: Option<f64>) {
    let health = health(medium);
    let most = health.used_percent.into_iter().chain(percent).reduce(f64::max);
    health.used_percent = most;
}

fn written(medium: &mut Medium, text: &str, unit: f64) {
    health(medium).written_bytes = whole_of(text).map(|count| (count * unit) as u64);
}
