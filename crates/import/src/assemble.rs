//! Assembly of records from the results in a text.

use std::collections::BTreeMap;

use crc::{CRC_64_NVME, Crc, Table};
use record::{Ended, Flag, Medium, MediumKind, Record, Run, Software, Stop};

use super::imported_run::ImportedRun;
use super::media::by_medium;
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
        joined(name, id(&tool, number), &tools, runs)
    };
    media.into_iter().zip(1..).map(of_medium).collect()
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

/// Joins the results of several tools, or of several calls of one, on a medium to one record.
fn joined(name: &str, id: String, tools: &[&str], mut runs: Vec<ImportedRun>) -> Record {
    runs.sort_by_key(ImportedRun::is_identity);
    let suite = "imported".to_owned();
    let software = Software { name: tools.join(", "), ..Software::default() };
    let run = Run { id, suite, software, ended: Ended::Complete, ..Run::default() };
    let mut whole = Record::new(run);
    for mut run in runs {
        if tools.len() > 1 {
            let tool = run.tool;
            run.notes.iter_mut().for_each(|text| *text = format!("{tool}: {text}"));
        }
        if run.target.path.is_empty() {
            run.target.path = short(name, 200);
        }
        add(&mut whole, run);
    }
    number(&mut whole.cells);
    whole
}

/// Adds the results of a tool, each labelled with it, and what its text says.
fn add(whole: &mut Record, found: ImportedRun) {
    let run = &mut whole.run;
    let measured_by = format!("{} {}", found.tool, found.version).trim_end().to_owned();
    for (_, mut cell) in found.cells {
        // A table of ours may hold results that were imported before.
        cell.labels.entry("tool".to_owned()).or_insert_with(|| measured_by.clone());
        run.elapsed_ns = run.elapsed_ns.saturating_add(cell.elapsed_ns);
        if cell.stop == Stop::Error {
            run.ended = Ended::Error;
        }
        whole.cells.push(cell);
    }
    run.started = run.started.take().or(found.started);
    run.finished = found.finished.or(run.finished.take());
    if run.command.is_empty() {
        run.command = found.command;
    }
    if run.software.version.is_empty() && run.software.name == found.tool {
        run.software.version = found.version;
    }
    let is_first = whole.target.path.is_empty();
    if is_first || whole.target.device.is_none() && found.target.device.is_some() {
        whole.target = found.target;
    }
    let is_loop = found.medium.kind == MediumKind::Loop;
    whole.medium = both(std::mem::take(&mut whole.medium), found.medium);
    whole.host = whole.host.take().or(found.host);
    let notes = found.notes.into_iter().map(|text| Flag::Note { text });
    for flag in notes.chain(is_loop.then_some(Flag::HostCached)) {
        if !whole.flags.contains(&flag) {
            whole.flags.push(flag);
        }
    }
}

/// A medium as one text describes it, and where that says nothing, as another does.
pub(super) fn both(one: Medium, other: Medium) -> Medium {
    Medium {
        model: one.model.or(other.model),
        vendor: one.vendor.or(other.vendor),
        serial: one.serial.or(other.serial),
        firmware: one.firmware.or(other.firmware),
        claims: one.claims.or(other.claims),
        health: one.health.or(other.health),
        capacity_bytes: one.capacity_bytes.or(other.capacity_bytes),
        kind: if one.kind == MediumKind::Unknown { other.kind } else { one.kind },
        ..other
    }
}

/// A tool's name in the form for a run's name.
fn plain(tool: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let plain: String = tool.chars().map(letter).collect();
    plain.trim_end_matches('-').to_owned()
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
