//! From what was found to records.

use std::collections::BTreeMap;

use crc::{CRC_64_NVME, Crc, Table};
use record::units::saturating_sum;
use record::{Ended, Flag, MediumKind, Record, Run, Software, Stop};

use super::imported_run::ImportedRun;
use super::text::short;

static CRC_64: Crc<u64, Table<16>> = Crc::<u64, Table<16>>::new(&CRC_64_NVME);

/// One record for each tool and medium. The id comes from the bytes, so the same file gives the
/// same one again.
pub(super) fn records(name: &str, bytes: &[u8], found: Vec<ImportedRun>) -> Vec<Record> {
    let sum = CRC_64.checksum(bytes);
    let many = found.len() > 1;
    let id = |tool: &str, number: usize| {
        if many { format!("{tool}-{sum:016x}-{number}") } else { format!("{tool}-{sum:016x}") }
    };
    found
        .into_iter()
        .zip(1..)
        .map(|(found, number)| record(name, id(&plain(found.tool), number), found))
        .collect()
}

/// A tool's name as part of a run's.
fn plain(tool: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    tool.chars().map(letter).collect()
}

fn record(name: &str, id: String, found: ImportedRun) -> Record {
    let ImportedRun {
        tool,
        version,
        at: _,
        mut cells,
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
    number(&mut cells);
    let measured_by =
        if version.is_empty() { tool.to_owned() } else { format!("{tool} {version}") };
    for cell in &mut cells {
        // A table of ours may hold what was imported before.
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

/// Names cells as runs of ours do: `random-write/2`.
fn number(cells: &mut [record::Cell]) {
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for cell in cells {
        let count = seen.entry(cell.test.clone()).or_insert(0);
        *count += 1;
        cell.id = format!("{}/{count}", cell.test);
    }
}
