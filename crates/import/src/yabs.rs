//! YABS: the table it makes of fio. Its jobs are its own: reads and writes at random, half of each,
//! two threads with 64 I/Os in flight each, past the page cache.
//!
//! Its MB are 1000 KiB, since it divides fio's KiB/s by 1000; from v2026-07-03 on they are 10^6
//! bytes. The IOPS beside them tell which.

use record::{Cell, Direction, Params, Path, Pattern, Region};

use super::imported_run::{ImportTrouble, ImportedRun, cell, estimate, note};
use super::reading::Reading;
use super::text::{ImportText, between, prefix, size, wanted, with_unit};
use super::{Hints, Importer, Sign};

pub(super) const IMPORTER: Importer = Importer {
    name: "the fio table of YABS",
    signs: &[
        Sign {
            what: "a line 'Block Size | 4k (IOPS) | 64k (IOPS)'",
            is_there: |source| source.has(|line| blocks(line).is_some()),
        },
        Sign {
            what: "lines 'Read | .. MB/s (..k) | ..'",
            is_there: |source| source.has(|line| direction(line).is_some()),
        },
    ],
    read,
    chatter: |line| line.trim().starts_with("Total ") && line.contains("B/s"),
};

const DEPTH: u32 = 64;
const THREADS: u32 = 2;

/// The block sizes of a head.
fn blocks(line: &str) -> Option<Vec<u64>> {
    let rest = line.trim().strip_prefix("Block Size")?.trim_start().strip_prefix('|')?;
    rest.contains("(IOPS)").then_some(())?;
    rest.split('|').map(|column| size(column.split_whitespace().next()?)).collect()
}

/// "Read" or "Write", and the columns.
fn direction(line: &str) -> Option<(Direction, &str)> {
    let (word, rest) = line.split_once('|').filter(|(_, rest)| rest.contains("B/s"))?;
    match word.trim() {
        "Read" => Some((Direction::Read, rest)),
        "Write" => Some((Direction::Write, rest)),
        _ => None,
    }
}

/// One output after the other: each begins with the head of its table.
fn read(source: &ImportText, _: &Hints, reading: &mut Reading) -> Vec<ImportedRun> {
    let parts = source.parts(|line| line.contains("fio Disk Speed Tests"));
    parts.iter().map(|part| read_one(part, reading)).collect()
}

fn read_one(source: &ImportText, reading: &mut Reading) -> ImportedRun {
    let mut found = ImportedRun::by("YABS");
    if let Some(device) = between(source.text, "(Partition ", ")") {
        found.on(device);
    }
    let mut sizes = Vec::new();
    for (at, line) in source.numbered() {
        sizes = blocks(line).unwrap_or(sizes);
        let Some((direction, columns)) = direction(line) else { continue };
        for (block, column) in sizes.iter().zip(columns.split('|')) {
            if let Some(cell) = reading.accept(at, of_column(at, direction, *block, column)) {
                reading.add(&mut found, at, cell);
            }
        }
    }
    found
}

/// "12.80 MB/s    (3.2k)".
fn of_column(
    at: usize,
    direction: Direction,
    block: u64,
    column: &str,
) -> Result<Cell, ImportTrouble> {
    let (rate, _) = column.split_once('(').unwrap_or((column, ""));
    let bps = with_unit(rate).and_then(|(value, unit)| {
        let letter = unit.strip_suffix("B/s")?;
        Some(value * prefix(letter, 1000.0)?)
    });
    let iops = between(column, "(", ")").and_then(with_unit);
    let iops = iops.and_then(|(value, unit)| Some(value * prefix(unit, 1000.0)?));
    let params = Params {
        direction: Some(direction),
        pattern: Some(Pattern::Permutation),
        block_bytes: Some(block),
        region: Some(Region::File),
        queue_depth: DEPTH,
        threads: THREADS,
        path: Path::Direct,
        form: Some(if direction == Direction::Read { "read" } else { "write" }.into()),
        ..Params::default()
    };
    let mut cell = cell("fio:randrw", params);
    let (bps, iops) = (wanted(at, "the rate", bps)?, wanted(at, "IOPS", iops)?);
    let slack = rounding(rate) + rounding(between(column, "(", ")").unwrap_or_default());
    let (factor, text) = unit(iops * block as f64 / bps, slack);
    cell.metrics.bps = Some(estimate(bps * factor, 1));
    cell.metrics.iops = Some(estimate(iops, 1));
    if !text.is_empty() {
        note(&mut cell, text);
    }
    Ok(cell)
}

/// The largest relative error of a printed number by its digits: 0.05/3.2 of "3.2k".
fn rounding(text: &str) -> f64 {
    let value = with_unit(text).map_or(0.0, |(value, _)| value);
    let decimals = text.trim().split_once('.').map_or("", |(_, rest)| rest);
    let count = decimals.bytes().take_while(u8::is_ascii_digit).count().min(9) as i32;
    0.5 / 10_f64.powi(count) / value
}

/// The factor of a rate, and a note of it, by the ratio of IOPS and block size to the rate.
fn unit(ratio: f64, slack: f64) -> (f64, &'static str) {
    let fits = |factor: f64| (ratio / factor - 1.0).abs() <= slack;
    match (fits(1.0), fits(1.024)) {
        (true, false) => (1.0, ""),
        (false, true) => (1.024, "printed 2.3 % too low: its MB/s are 1000 KiB/s; corrected"),
        _ => (1.0, "its MB/s may be 1000 KiB/s, and IOPS do not tell; not corrected"),
    }
}
