//! YABS: its table of fio's results.
//!
//! Its jobs are random reads and writes, half of each, in two threads with queue depth 64 past the
//! page cache. Its MB are 1000 KiB, since it divides fio's KiB/s by 1000; from v2026-07-03 on they
//! are 10^6 bytes. The IOPS beside them tell which.

use record::{Cell, Direction, Params, Path, Pattern, Region};

use super::imported_run::{ImportTrouble, ImportedRun, cell, io, note, rates, word};
use super::reading::Reading;
use super::text::{ImportText, group, prefix, re, size, wanted, with_unit};
use super::{Importer, sign};

const HEAD: &str = r"(?m)^[ \t]*Block Size\s*\|(.*\(IOPS\).*)";
const ROW: &str = r"(?m)^[ \t]*(Read|Write)[ \t]*\|(.*B/s.*)";

pub(super) const IMPORTER: Importer = Importer {
    name: "the fio table of YABS",
    signs: &[
        sign!("a line 'Block Size | 4k (IOPS) | 64k (IOPS)'", HEAD),
        sign!("lines 'Read | .. MB/s (..k) | ..'", ROW),
    ],
    // Each output begins with the head of its table.
    read: |source, _, reading| {
        let parts = source.parts(|line| line.contains("fio Disk Speed Tests"));
        parts.iter().map(|part| read_one(part, reading)).collect()
    },
    is_ignored_line: |line| line.trim().starts_with("Total ") && line.contains("B/s"),
};

fn read_one(source: &ImportText, reading: &mut Reading) -> ImportedRun {
    let mut found = ImportedRun::by("YABS");
    source.first(re!(r"\(Partition (.*?)\)")).into_iter().for_each(|device| found.on(device));
    let mut sizes = Vec::new();
    for (at, line) in source.numbered() {
        if let Some(head) = re!(HEAD).captures(line) {
            let blocks = group(&head, 1).split('|');
            let blocks = blocks.map(|column| size(column.split_whitespace().next()?));
            sizes = blocks.collect::<Option<_>>().unwrap_or(sizes);
        }
        let Some(row) = re!(ROW).captures(line) else { continue };
        let direction = if group(&row, 1) == "Read" { Direction::Read } else { Direction::Write };
        for (block, column) in sizes.iter().zip(group(&row, 2).split('|')) {
            if let Some(cell) = reading.accept(at, of_column(at, direction, *block, column)) {
                reading.add(&mut found, at, cell);
            }
        }
    }
    found
}

/// Parses a column: "12.80 MB/s    (3.2k)".
fn of_column(
    at: usize,
    direction: Direction,
    block: u64,
    column: &str,
) -> Result<Cell, ImportTrouble> {
    // Figures, and the largest relative error of each by its digits: 0.05/3.2 of "3.2k".
    let found = re!(r"^\s*([^(]*?)(?:B/s)?\s*(?:\((.*?)\).*)?$").captures(column);
    let figure = |number: usize| {
        let text = found.as_ref().map_or("", |found| group(found, number));
        let (value, unit) = with_unit(text)?;
        let decimals =
            re!(r"\.(\d{1,9})").captures(text).map_or(0, |digits| group(&digits, 1).len());
        Some((value * prefix(unit, 1000.0)?, 0.5 / 10_f64.powi(decimals as i32) / value))
    };
    let (rate, of_iops) = (figure(1), figure(2));
    let bps = wanted(at, "the rate", rate.map(|(bps, _)| bps).filter(|_| column.contains("B/s")))?;
    let iops = wanted(at, "IOPS", of_iops.map(|(iops, _)| iops))?;
    let params = Params {
        region: Some(Region::File),
        queue_depth: 64,
        threads: 2,
        path: Path::Direct,
        form: Some(word(Some(direction)).into()),
        ..io(direction, Pattern::Permutation, block)
    };
    let mut cell = cell("fio:randrw", params);
    let slack: f64 = rate.iter().chain(&of_iops).map(|(_, error)| error).sum();
    let fits = |factor: f64| (iops * block as f64 / bps / factor - 1.0).abs() <= slack;
    let (factor, text) = match (fits(1.0), fits(1.024)) {
        (true, false) => (1.0, ""),
        (false, true) => (1.024, "printed 2.3 % too low: its MB/s are 1000 KiB/s; corrected"),
        _ => (1.0, "its MB/s may be 1000 KiB/s, and IOPS do not tell; not corrected"),
    };
    rates(&mut cell, Some(iops), Some(bps * factor), 1);
    if !text.is_empty() {
        note(&mut cell, text);
    }
    Ok(cell)
}
