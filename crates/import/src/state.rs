//! What a medium says of itself, in `hdparm -I`, `smartctl -a`, `nvme smart-log` and `mmc extcsd
//! read`: model, serial number, firmware, capacity, and health. One table for all of them. A report
//! gives no result: it names the medium of the results in the same text.

use record::{Health, Medium};
use regex::Captures;

use super::prelude::*;

pub(super) static TABLE: Tool = tool! {
    "", "a report of a medium's state", 1000.0, by_hand: Some(read);
    ["a line 'Model Number: ..' of hdparm -I, or the head of smartctl, nvme smart-log or mmc extcsd": HEAD]
};

fn read(source: &ImportText, reading: &mut Reading) -> Vec<ImportedRun> {
    let mut found: Vec<ImportedRun> = Vec::new();
    let mut device = None;
    for (at, line) in source.numbered() {
        if let Some(named) = re!(DEVICE).captures(line) {
            device = Some(short(group(&named, 1), 200));
        }
        let begins = re!(HEAD).captures(line);
        let is_open = found.last().is_some_and(|run| at < run.begin + LONGEST);
        if let Some(head) = begins.filter(|head| !is_open || !goes_on(&found, head)) {
            if !reading.has_room(at, found.len()) {
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
        if take_facts(&mut run.medium, line) {
            reading.take(at);
        }
    }
    let described = |run: &ImportedRun| run.medium.model.is_some() || run.medium.health.is_some();
    found.retain(described);
    for run in &mut found {
        let source = format!("{} {}", run.tool, run.version).trim().to_owned();
        run.medium.health.iter_mut().for_each(|health| health.source = Some(source.clone()));
    }
    found
}

/// First lines of a report; the group is the device.
const HEAD: &str = r"(?m)^\s*(?:smartctl \d|Smart Log for NVME device:\s*(\w+)|Extended CSD rev |(?:CompactFlash )?ATA device\b|Model Number:|Device Model:)";
/// A line that names the device of the report below it.
const DEVICE: &str = r"^(?:.*\b(?:smartctl|smart-log|extcsd|hdparm) .*)?(/dev/[\w/]+):?\s*$";
/// Most lines of a report.
const LONGEST: usize = 400;

/// Takes the facts of a line; true if it has one. Lines of all reports, and what their group is.
fn take_facts(medium: &mut Medium, line: &str) -> bool {
    let mut is_fact = false;
    macro_rules! facts {
        ($text:ident: $($pattern:expr => $take:expr;)*) => {
            $(if let Some(found) = re!($pattern).captures(line) {
                let $text = group(&found, 1);
                $take;
                is_fact = true;
            })*
        };
    }
    facts! { text:
        r"^\s*(?:Device Model|Model Number):\s*(.*)" => medium.model = Some(short(text, 60));
        r"^\s*Serial Number:\s*(.*)" => medium.serial = Some(short(text, 60));
        r"^\s*Firmware (?:Revision|Version):\s*(.*)" => medium.firmware = Some(short(text, 40));
        r"^\s*LBA(?:48)?\s+user addressable sectors:\s*(\d+)" => capacity(medium, whole_of(text), 512.0);
        r"^(?:User|Total NVM) Capacity:\s*([\d,.]+)" => capacity(medium, whole_of(text), 1.0);
        r"\[SEC_COUNT: 0x([0-9a-f]+)\]" => capacity(medium, hex(text), 512.0);
        r"^\s*(CompactFlash) ATA device" => medium.kind = kind(text);
        r"^Rotation Rate:\s*(.*)" => medium.kind = kind(text);
        r"^(?:Percentage Used|percentage_used)\s*:\s*(\d+)" => used(medium, number(text));
        r"(?:Media_Wearout_Indicator|Wear_Leveling_Count|SSD_Life_Left|Percent_Life\w*|Remaining_Life\w*)\s+0x\w+\s+(\d+)" => used(medium, number(text).map(|left| 100.0 - left));
        r"LIFE_TIME_EST_TYP_[AB]\]: 0x([0-9a-f]+)" => {
            medium.kind = MediumKind::Emmc;
            used(medium, hex(text).filter(|tenths| *tenths > 0.0).map(|tenths| tenths * 10.0));
        };
        r"PRE_EOL_INFO\]: 0x([0-9a-f]+)" => health(medium).pre_eol = hex(text).map(|n| n as u32);
        r"^(?:Data Units Written|data_units_written)\s*:\s*([\d,.]+)" => {
            medium.kind = MediumKind::Nvme;
            written(medium, text, 512_000.0);
        };
        r"Total_LBAs_Written .* (\d+)\s*$" => written(medium, text, 512.0);
        r"Host_Writes_32MiB .* (\d+)\s*$" => written(medium, text, 32.0 * MIB as f64);
        r"Host_Writes_GiB .* (\d+)\s*$" => written(medium, text, GIB as f64);
        r"^(?:Media and Data Integrity Errors|media_errors)\s*:\s*([\d,]+)" => health(medium).media_errors = whole_of(text).map(|n| n as u64);
    }
    is_fact
}

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

fn kind(text: &str) -> MediumKind {
    match text {
        "CompactFlash" => MediumKind::CompactFlash,
        text if text.starts_with("Solid") => MediumKind::Ssd,
        _ => MediumKind::Disk,
    }
}

fn hex(text: &str) -> Option<f64> {
    u32::from_str_radix(text, 16).ok().map(f64::from)
}

fn capacity(medium: &mut Medium, count: Option<f64>, unit: f64) {
    let bytes = count.map(|count| count * unit).filter(|bytes| *bytes < 1e18);
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
