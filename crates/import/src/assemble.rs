//! Assembly of records from the results in a text.

use std::collections::BTreeMap;

use crc::{CRC_64_NVME, Crc, Table};
use record::units::saturating_sum;
use record::{Ended, Flag, MediumKind, Record, Run, Software, Stop};

use super::by_medium::by_medium;
use super::imported_run::ImportedRun;
use super::text::{ImportText, short};

static CRC_64: Crc<u64, Table<16>> = Crc::<u64, Table<16>>::new(&CRC_64_NVME);

/// Makes one record for each medium. The id comes from the bytes, so the same file gives the same
/// one again.
pub(super) fn records(
    name: &str,
    bytes: &[u8],
    source: &ImportText,
    found: Vec<ImportedRun>,
) -> Vec<Record> {
    let media = by_medium(source, found);
    let sum = CRC_64.checksum(bytes);
    let many = media.len() > 1;
    let id = |tool: &str, number: usize| {
        if many { format!("{tool}-{sum:016x}-{number}") } else { format!("{tool}-{sum:016x}") }
    };
    let of_medium = |(runs, number): (Vec<ImportedRun>, usize)| {
        let tools = tools_of(&runs);
        let tool = if let [tool] = tools[..] { plain(tool) } else { "log".to_owned() };
        joined(name, &id(&tool, number), &tools, runs)
    };
    media.into_iter().zip(1..).filter_map(of_medium).collect()
}

/// Tools that measured; those that only say what a medium is if none did.
fn tools_of(runs: &[ImportedRun]) -> Vec<&'static str> {
    let mut tools = Vec::new();
    let has_results = runs.iter().any(|run| !run.is_identity());
    for run in runs.iter().filter(|run| !has_results || !run.is_identity()) {
        if !tools.contains(&run.tool) {
            tools.push(run.tool);
        }
    }
    tools
}

/// Joins the results of several tools, or of several calls of one, on a medium to one record. Each
/// cell is labelled with its tool.
fn joined(name: &str, id: &str, tools: &[&str], mut runs: Vec<ImportedRun>) -> Option<Record> {
    runs.sort_by_key(ImportedRun::is_identity);
    let mut parts = runs.into_iter().map(|mut run| {
        if tools.len() > 1 {
            let tool = run.tool;
            run.notes.iter_mut().for_each(|text| *text = format!("{tool}: {text}"));
        }
        record(name, id.to_owned(), run)
    });
    let mut whole = parts.next()?;
    parts.for_each(|part| add(&mut whole, part));
    number(&mut whole.cells);
    if tools.len() > 1 {
        whole.run.software = Software { name: tools.join(", "), ..Software::default() };
    }
    Some(whole)
}

fn add(whole: &mut Record, part: Record) {
    let (run, new) = (&mut whole.run, part.run);
    run.elapsed_ns = run.elapsed_ns.saturating_add(new.elapsed_ns);
    run.started = run.started.take().or(new.started);
    run.finished = new.finished.or(run.finished.take());
    if run.command.is_empty() {
        run.command = new.command;
    }
    if new.ended == Ended::Error {
        run.ended = new.ended;
    }
    if run.software.version.is_empty() && run.software.name == new.software.name {
        run.software.version = new.software.version;
    }
    if whole.target.device.is_none() && part.target.device.is_some() {
        whole.target = part.target;
    }
    let (medium, new) = (&mut whole.medium, part.medium);
    medium.model = medium.model.take().or(new.model);
    medium.vendor = medium.vendor.take().or(new.vendor);
    medium.serial = medium.serial.take().or(new.serial);
    medium.firmware = medium.firmware.take().or(new.firmware);
    medium.health = medium.health.take().or(new.health);
    medium.capacity_bytes = medium.capacity_bytes.or(new.capacity_bytes);
    if medium.kind == MediumKind::Unknown {
        medium.kind = new.kind;
    }
    whole.host = whole.host.take().or(part.host);
    for flag in part.flags {
        if !whole.flags.contains(&flag) {
            whole.flags.push(flag);
        }
    }
    whole.cells.extend(part.cells);
}

/// A tool's name in the form for a run's name.
fn plain(tool: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let plain: String = tool.chars().map(letter).collect();
    plain.trim_end_matches('-').to_owned()
}

fn record(name: &str, id: String, found: ImportedRun) -> Record {
    let ImportedRun {
        tool,
        version,
        form: _,
        mut cells,
        places: _,
        begin: _,
        ordinal: _,
        medium,
        mut target,
        host,
        started,
        finished,
        command,
        notes,
    } = found;
    if target.path.is_empty() {
        target.path = short(name, 200);
    }
    let measured_by =
        if version.is_empty() { tool.to_owned() } else { format!("{tool} {version}") };
    for cell in &mut cells {
        // A table of ours may hold results that were imported before.
        cell.labels.entry("tool".to_owned()).or_insert_with(|| measured_by.clone());
    }
    let failed = cells.iter().any(|cell| cell.stop == Stop::Error);
    let mut flags: Vec<Flag> = notes.into_iter().map(|text| Flag::Note { text }).collect();
    if medium.kind == MediumKind::Loop {
        flags.push(Flag::HostCached);
    }
    let run = Run {
        id,
        started,
        finished,
        elapsed_ns: saturating_sum(cells.iter().map(|cell| cell.elapsed_ns)),
        suite: "imported".to_owned(),
        command,
        software: Software { name: tool.to_owned(), version, commit: None },
        ended: if failed { Ended::Error } else { Ended::Complete },
        ..Run::default()
    };
    Record { medium, host, target, cells, flags, ..Record::new(run) }
}

/// Numbers cells with the same name as runs of ours do: `random-write/2`.
fn number(cells: &mut [record::Cell]) {
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for cell in cells {
        let count = seen.entry(cell.test.clone()).or_insert(0);
        *count += 1;
        cell.id = format!("{}/{count}", cell.test);
    }
}
