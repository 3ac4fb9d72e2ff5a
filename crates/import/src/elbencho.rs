//! elbencho: its CSV (by the names of the columns) and its table. Of "first done" and "last done"
//! the last counts: what all threads together came to. MiB are 2^20 bytes.

use std::collections::BTreeMap;

use record::units::MIB;
use record::{Cell, Direction, Latency, Params, Path, Pattern, Region};

use super::imported_run::{
    ImportTrouble, ImportedRun, cell, estimate, label, note, other, whole_ns,
};
use super::reading::Reading;
use super::text::{ImportText, number, size, wanted, whole};
use super::{Hints, Importer, Sign};

pub(super) const IMPORTER: Importer = Importer {
    name: "elbencho output",
    signs: &[Sign {
        what: "a head 'ISO date,label,path type,..' or 'OPERATION  RESULT TYPE  FIRST DONE'",
        is_there: |source| source.has(|line| is_head(line) || is_table(line)),
    }],
    read,
    chatter: |line| {
        ["CPU util", "IO lat", "Files ", "Dirs "].iter().any(|lead| line.trim().starts_with(lead))
    },
};

fn is_head(line: &str) -> bool {
    line.starts_with("ISO date,label,path type,")
}

fn is_table(line: &str) -> bool {
    line.starts_with("OPERATION ") && line.contains("RESULT TYPE") && line.contains("LAST DONE")
}

/// Fields of a row by the names of their columns; blank ones are absent.
type Row<'a> = BTreeMap<&'a str, &'a str>;

fn read(source: &ImportText, _: &Hints, reading: &mut Reading) -> Vec<ImportedRun> {
    let mut found = ImportedRun::by("elbencho");
    let mut names: Vec<&str> = Vec::new();
    for (at, line) in source.numbered() {
        if is_head(line) {
            names = line.split(',').map(str::trim).collect();
        } else if line.split(',').count() >= names.len() && names.len() > 20 {
            let fields = names.iter().copied().zip(line.split(',').map(str::trim));
            let row: Row = fields.filter(|(_, text)| !text.is_empty()).collect();
            if let Some(Some(cell)) = reading.accept(at, of_row(at, &row)) {
                reading.add(&mut found, at, cell);
            }
            reading.take(at);
        }
    }
    read_tables(source, &mut found, reading);
    vec![found]
}

fn way(operation: &str) -> Option<Direction> {
    match operation {
        "READ" => Some(Direction::Read),
        "WRITE" => Some(Direction::Write),
        _ => None,
    }
}

/// The cell of a row that read or wrote.
fn of_row(at: usize, row: &Row) -> Result<Option<Cell>, ImportTrouble> {
    let Some(direction) = row.get("operation").and_then(|operation| way(operation)) else {
        return Ok(None);
    };
    let figure = |name: &str| row.get(name).map(|text| wanted(at, name, number(text))).transpose();
    let (Some(iops), Some(mib)) = (figure("IOPS [last]")?, figure("MiB/s [last]")?) else {
        return Ok(None);
    };
    let count = |name: &str| row.get(name).and_then(|text| whole(text));
    let small = |name: &str| count(name).and_then(|n| u32::try_from(n).ok()).unwrap_or(1).max(1);
    let is_on = |name: &str| row.get(name).is_some_and(|text| *text == "1");
    let setting = Setting {
        block_bytes: count("block size"),
        span_bytes: count("file size"),
        queue_depth: small("IO depth"),
        threads: small("threads").saturating_mul(small("hosts")),
        is_direct: is_on("direct IO"),
        is_random: Some(is_on("random")),
    };
    let mut cell = setting.cell(direction, iops, mib);
    cell.bytes = count("MiB [last]").unwrap_or(0).saturating_mul(MIB);
    cell.written_bytes = if direction == Direction::Write { cell.bytes } else { 0 };
    cell.ops = cell.params.block_bytes.and_then(|block| cell.bytes.checked_div(block)).unwrap_or(0);
    cell.elapsed_ns = figure("time ms [last]")?.map_or(0, |ms| whole_ns(ms * 1e6));
    if let Some(first) = figure("MiB/s [first]")? {
        other(&mut cell, "first_done_bps", first * MIB as f64, 1);
    }
    let us = [figure("IO lat us [min]")?, figure("IO lat us [avg]")?, figure("IO lat us [max]")?];
    if let [Some(min), Some(mean), Some(max)] = us.map(|us| us.map(|us| us * 1e3)) {
        let (n, min, max) = (cell.ops, whole_ns(min), whole_ns(max));
        cell.metrics.latency_ns = Some(Latency { n, min, mean, max, ..Latency::default() });
    }
    label(&mut cell, "label", row.get("label").copied().unwrap_or_default());
    Ok(Some(cell))
}

/// How it was measured.
#[derive(Clone, Copy, Debug, Default)]
struct Setting {
    block_bytes: Option<u64>,
    span_bytes: Option<u64>,
    queue_depth: u32,
    threads: u32,
    is_direct: bool,
    is_random: Option<bool>,
}

impl Setting {
    /// What a command line says, where there is one.
    fn of_command(line: &str) -> Option<Setting> {
        let words: Vec<&str> = line.split_whitespace().map(|word| word.trim_matches('"')).collect();
        words.iter().position(|word| *word == "elbencho" || word.ends_with("/elbencho"))?;
        let after = |names: [&str; 2]| {
            let at = words.iter().position(|word| names.contains(word))?;
            words.get(at + 1).copied()
        };
        let small = |names| after(names).and_then(|text| text.parse().ok()).unwrap_or(1).max(1);
        Some(Setting {
            block_bytes: after(["-b", "--block"]).and_then(size),
            span_bytes: after(["-s", "--size"]).and_then(size),
            queue_depth: small(["--iodepth", "--iodepth"]),
            threads: small(["-t", "--threads"]),
            is_direct: words.contains(&"--direct"),
            is_random: Some(words.contains(&"--rand")),
        })
    }

    fn cell(self, direction: Direction, iops: f64, mib_per_s: f64) -> Cell {
        let pattern = self
            .is_random
            .map(|is_random| if is_random { Pattern::Uniform } else { Pattern::Sequential });
        let params = Params {
            direction: Some(direction),
            pattern,
            block_bytes: self.block_bytes,
            region: Some(Region::File),
            span_bytes: self.span_bytes,
            queue_depth: self.queue_depth,
            threads: self.threads,
            path: if self.is_direct { Path::Direct } else { Path::Buffered },
            ..Params::default()
        };
        let word = if direction == Direction::Read { "read" } else { "write" };
        let mut cell = cell(format!("elbencho:{word}"), params);
        cell.metrics.iops = Some(estimate(iops, 1));
        cell.metrics.bps = Some(estimate(mib_per_s * MIB as f64, 1));
        if self.is_random.is_none() {
            note(
                &mut cell,
                "the command is not in the text: order, block size, threads and path are not known",
            );
        } else if !self.is_direct {
            note(&mut cell, "through the page cache: part of this may be the speed of memory");
        }
        cell
    }
}

/// Tables: an operation's name stands in its first row only.
fn read_tables(source: &ImportText, found: &mut ImportedRun, reading: &mut Reading) {
    let mut setting: Option<Setting> = None;
    let mut direction = None;
    let mut iops: Option<f64> = None;
    let mut is_in_table = false;
    for (at, line) in source.numbered() {
        setting = Setting::of_command(line).or(setting);
        is_in_table |= is_table(line);
        let Some((head, values)) = line.rsplit_once(" : ").filter(|_| is_in_table) else {
            continue;
        };
        if !line.starts_with(' ') {
            direction = head.split_whitespace().next().and_then(way);
            iops = None;
        }
        let last = values.split_whitespace().next_back().and_then(number);
        match (head.trim(), direction) {
            ("IOPS", Some(_)) => iops = last,
            ("Throughput MiB/s", Some(direction)) => {
                reading.take(at);
                if let (Some(iops), Some(mib)) = (iops, last) {
                    let setting = setting.unwrap_or(Setting { threads: 1, ..Setting::default() });
                    reading.add(found, at, setting.cell(direction, iops, mib));
                }
            }
            _ => {}
        }
        reading.take(at);
    }
}
