//! elbencho: its CSV by the names of its columns, and its table. Its MiB are 2^20 bytes.

use std::collections::BTreeMap;

use record::units::MIB;
use record::{Cell, Direction, Latency, Params, Path, Pattern, Region};

use super::imported_run::{
    BUFFERED, ImportTrouble, ImportedRun, cell, io, label, moved, note, other, rates, whole_ns,
    word,
};
use super::reading::Reading;
use super::text::{ImportText, group, number, re, size, wanted, whole};
use super::{Importer, sign};

const TABLE: &str = r"(?m)^OPERATION .*RESULT TYPE.*LAST DONE";

pub(super) const IMPORTER: Importer = Importer {
    name: "elbencho output",
    signs: &[sign!(
        "a head 'ISO date,label,path type,..' or 'OPERATION  RESULT TYPE  FIRST DONE'",
        r"(?m)^ISO date,label,path type,|^OPERATION .*RESULT TYPE.*LAST DONE"
    )],
    read: |source, _, reading| {
        let mut found = ImportedRun::by("elbencho");
        let mut names: Vec<&str> = Vec::new();
        for (at, line) in source.numbered() {
            if line.starts_with("ISO date,label,path type,") {
                names = line.split(',').map(str::trim).collect();
            } else if names.len() > 20 && line.split(',').count() >= names.len() {
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
    },
    is_ignored_line: |line| re!(r"^\s*(?:CPU util|IO lat|Files |Dirs )").is_match(line),
};

/// Fields of a row by the names of their columns; blank ones are absent.
type Row<'a> = BTreeMap<&'a str, &'a str>;

fn way(operation: &str) -> Option<Direction> {
    match operation {
        "READ" => Some(Direction::Read),
        "WRITE" => Some(Direction::Write),
        _ => None,
    }
}

/// Cell of a row that read or wrote; `None` for other operations.
fn of_row(at: usize, row: &Row) -> Result<Option<Cell>, ImportTrouble> {
    let figure = |name: &str| row.get(name).map(|text| wanted(at, name, number(text))).transpose();
    let Some(direction) = row.get("operation").and_then(|operation| way(operation)) else {
        return Ok(None);
    };
    let (Some(iops), Some(mib)) = (figure("IOPS [last]")?, figure("MiB/s [last]")?) else {
        return Ok(None);
    };
    let count = |name: &str| row.get(name).and_then(|text| whole(text));
    let small = |name: &str| count(name).and_then(|n| u32::try_from(n).ok()).unwrap_or(1).max(1);
    let is_on = |name: &str| row.get(name) == Some(&"1");
    let setting = Params {
        span_bytes: count("file size"),
        queue_depth: small("IO depth"),
        threads: small("threads").saturating_mul(small("hosts")),
        path: if is_on("direct IO") { Path::Direct } else { Path::Buffered },
        ..io(None, order(is_on("random")), count("block size"))
    };
    let mut cell = cell_of(&setting, direction, iops, mib);
    let bytes = count("MiB [last]").unwrap_or(0).saturating_mul(MIB);
    let ops = setting.block_bytes.and_then(|block| bytes.checked_div(block));
    moved(&mut cell, bytes, ops.unwrap_or(0));
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

fn order(is_random: bool) -> Pattern {
    if is_random { Pattern::Uniform } else { Pattern::Sequential }
}

/// Parameters from a command line; `None` if the line is not one.
fn of_command(line: &str) -> Option<Params> {
    let words: Vec<&str> = line.split_whitespace().map(|word| word.trim_matches('"')).collect();
    words.iter().position(|word| *word == "elbencho" || word.ends_with("/elbencho"))?;
    let after = |names: [&str; 2]| {
        let at = words.iter().position(|word| names.contains(word))?;
        words.get(at + 1).copied()
    };
    let small = |names| after(names).and_then(|text| text.parse().ok()).unwrap_or(1).max(1);
    Some(Params {
        span_bytes: after(["-s", "--size"]).and_then(size),
        queue_depth: small(["--iodepth"; 2]),
        threads: small(["-t", "--threads"]),
        path: if words.contains(&"--direct") { Path::Direct } else { Path::Buffered },
        ..io(None, order(words.contains(&"--rand")), after(["-b", "--block"]).and_then(size))
    })
}

fn cell_of(setting: &Params, direction: Direction, iops: f64, mib_per_s: f64) -> Cell {
    let (direction, region) = (Some(direction), Some(Region::File));
    let params = Params { direction, region, ..setting.clone() };
    let mut cell = cell(format!("elbencho:{}", word(direction)), params);
    rates(&mut cell, Some(iops), Some(mib_per_s * MIB as f64), 1);
    if setting.pattern.is_none() {
        let text =
            "the command is not in the text: order, block size, threads and path are not known";
        note(&mut cell, text);
    } else if setting.path == Path::Buffered {
        note(&mut cell, BUFFERED);
    }
    cell
}

/// Reads tables, in which the name of an operation is in its first row only.
fn read_tables(source: &ImportText, found: &mut ImportedRun, reading: &mut Reading) {
    let mut setting = Params { path: Path::Buffered, ..Params::default() };
    let (mut direction, mut iops, mut is_in_table) = (None, None, false);
    for (at, line) in source.numbered() {
        setting = of_command(line).unwrap_or(setting);
        is_in_table |= re!(TABLE).is_match(line);
        let row = re!(r"^(\s*)(\S*)(.*) : (.*)$").captures(line).filter(|_| is_in_table);
        let Some(row) = row else { continue };
        let mut head = group(&row, 3);
        if !line.starts_with(' ') {
            direction = way(group(&row, 2));
            iops = None;
        } else if head.is_empty() || group(&row, 2) == "Throughput" {
            head = line.rsplit_once(" : ").map_or("", |(head, _)| head.trim());
        }
        let last = group(&row, 4).split_whitespace().next_back().and_then(number);
        match (head, direction) {
            ("IOPS", Some(_)) => iops = last,
            ("Throughput MiB/s", Some(direction)) => {
                if let (Some(iops), Some(mib)) = (iops, last) {
                    reading.add(found, at, cell_of(&setting, direction, iops, mib));
                }
            }
            _ => {}
        }
        reading.take(at);
    }
}
