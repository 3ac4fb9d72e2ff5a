//! What decides whether a medium is usable, in the order of DESIGN 6: random write first, always at four sizes.

use record::units::{Bytes, KIB, MIB, significant};
use record::{Cell, Content, Record, Region};

use crate::figure::{self, Shown};
use crate::{doubts, words, yardstick};

/// The sizes random write is always told at: media exist with 261 IOPS at 4 KiB and 4 at 16 KiB (flash.md E2).
pub(crate) const RANDOM_WRITE_SIZES: [u64; 4] = [512, 4 * KIB, 16 * KIB, 64 * KIB];

/// One line of the headline.
pub(crate) struct Row<'a> {
    /// "Random write, 4 KiB".
    pub label: String,
    /// The number, or why there is none.
    pub shown: Shown,
    /// How many times the yardstick disk.
    pub times_disk: Option<f64>,
    /// The cell it comes from.
    pub cell: Option<&'a Cell>,
}

impl Row<'_> {
    /// Why the cell ended.
    pub fn stop(&self) -> &'static str {
        self.cell.map(|cell| words::stop(cell.stop)).unwrap_or("")
    }

    /// The longest a single I/O took.
    pub fn worst(&self) -> String {
        self.cell.and_then(figure::worst_ns).map(|ns| words::quantity("_ns", ns)).unwrap_or_else(|| "-".to_owned())
    }
}

/// Which of several cells stands for a test: the middle of the medium or a file before the whole and the front, one thread at depth
/// one, incompressible data.
fn standing(cell: &Cell) -> (u8, u32, u32, u8) {
    let region = match cell.params.region {
        Some(Region::Middle | Region::File) => 0,
        None => 1,
        Some(Region::Whole) => 2,
        Some(Region::Front) => 3,
    };
    let content = match cell.params.content {
        Some(Content::Incompressible) => 0,
        None => 1,
        Some(_) => 2,
    };
    (region, cell.params.threads, cell.params.queue_depth, content)
}

/// The cell that stands for a test, at a block size where one is asked for.
pub(crate) fn standard_cell<'a>(record: &'a Record, test: &'a str, block_bytes: Option<u64>) -> Option<&'a Cell> {
    let fits = |cell: &&Cell| block_bytes.is_none() || cell.params.block_bytes == block_bytes;
    record.cells_of(test).filter(fits).min_by_key(|cell| standing(cell))
}

/// Whether a cell is of the kind that stands for its test; others are variants.
pub(crate) fn is_standard(record: &Record, cell: &Cell) -> bool {
    let best = record.cells_of(&cell.test).map(standing).min();
    best == Some(standing(cell))
}

fn row<'a>(record: &'a Record, label: String, test: &str, cell: Option<&'a Cell>, metrics: &[&str], disk: f64) -> Row<'a> {
    let estimate = |cell: &'a Cell| {
        metrics.iter().find_map(|&name| {
            let estimate = match name {
                "iops" => cell.metrics.iops.as_ref(),
                "bps" => cell.metrics.bps.as_ref(),
                other => cell.metrics.other.get(other),
            };
            Some((name, estimate?))
        })
    };
    let shown = match cell {
        None => Shown::Withheld(doubts::absence(record, test)),
        Some(cell) => match estimate(cell) {
            Some((name, estimate)) => figure::show(cell, name, estimate),
            None => Shown::Withheld(figure::impossible(cell).unwrap_or_else(|| "nothing measured".to_owned())),
        },
    };
    let times_disk = shown.value().map(|value| value / disk);
    Row { label, shown, times_disk, cell }
}

/// Random write at the four sizes; what a run did not plan is said, not left out.
pub(crate) fn random_writes(record: &Record) -> Vec<Row<'_>> {
    RANDOM_WRITE_SIZES
        .iter()
        .map(|&size| {
            let cell = standard_cell(record, "random-write", Some(size));
            row(record, format!("Random write, {}", Bytes(size)), "random-write", cell, &["iops"], yardstick::DISK_IOPS)
        })
        .collect()
}

/// The block size nearest to 1 MiB from below that a sequential test was run at.
pub(crate) fn streaming<'a>(record: &'a Record, test: &'a str) -> Option<&'a Cell> {
    let largest = record.cells_of(test).filter_map(|cell| cell.params.block_bytes).filter(|&bytes| bytes <= MIB).max();
    standard_cell(record, test, largest)
}

/// The rows after random write, without those the run did not plan: sustained write, random read, sequential read, fills.
fn others(record: &Record) -> Vec<Row<'_>> {
    let known = |test: &str| {
        record.cells_of(test).next().is_some() || record.plan.iter().any(|cell| cell.test == test) || record.skipped.iter().any(|s| s.test == test)
    };
    let mut rows = Vec::new();
    let sized = |name: &str, cell: Option<&Cell>| match cell.and_then(|cell| cell.params.block_bytes) {
        Some(bytes) => format!("{name}, {}", Bytes(bytes)),
        None => name.to_owned(),
    };
    if known("sequential-write") {
        let cell = streaming(record, "sequential-write");
        let sustained = cell.is_some_and(|cell| cell.metrics.other.contains_key("sustained_bps"));
        let label = sized(if sustained { "Sustained write" } else { "Sequential write" }, cell);
        rows.push(row(record, label, "sequential-write", cell, &["sustained_bps", "bps"], yardstick::DISK_BPS));
    }
    if known("random-read") {
        let cell = standard_cell(record, "random-read", Some(4 * KIB));
        rows.push(row(record, "Random read, 4 KiB".to_owned(), "random-read", cell, &["iops"], yardstick::DISK_IOPS));
    }
    if known("sequential-read") {
        let cell = streaming(record, "sequential-read");
        rows.push(row(record, sized("Sequential read", cell), "sequential-read", cell, &["bps"], yardstick::DISK_BPS));
    }
    for (test, label) in [("random-fill", "Fill, incompressible"), ("zero-fill", "Fill, zeros")] {
        if known(test) {
            let cell = standard_cell(record, test, None);
            rows.push(row(record, label.to_owned(), test, cell, &["bps"], yardstick::DISK_BPS));
        }
    }
    rows
}

/// The whole headline.
pub(crate) fn rows(record: &Record) -> Vec<Row<'_>> {
    let mut rows = random_writes(record);
    rows.extend(others(record));
    rows
}

/// Tests the headline speaks of; all others have a table of their own.
pub(crate) const TESTS: [&str; 7] =
    ["prime", "zero-fill", "random-fill", "sequential-read", "sequential-write", "random-read", "random-write"];

/// Two or three sentences made from numbers alone; judging them is the business of findings.
pub(crate) fn sentences(record: &Record) -> Vec<String> {
    let writes = random_writes(record);
    let mut said: Vec<String> = random_write_sentence(&writes).into_iter().collect();
    said.extend(worst_sentence(&writes));
    let rate = |test| streaming(record, test).and_then(|cell| figure::show(cell, "bps", cell.metrics.bps.as_ref()?).value());
    let rates = [("writes", rate("sequential-write")), ("reads", rate("sequential-read"))];
    let rates: Vec<String> = rates.iter().filter_map(|(what, bps)| Some(format!("{what} {}", words::quantity("bps", (*bps)?)))).collect();
    if !rates.is_empty() {
        said.push(format!("In sequence it {}.", rates.join(" and ")));
    }
    said
}

/// "Random writes of 4 KiB: 49.2 IOPS, 0.55 times a 5400 rpm laptop disk (90 IOPS); of 16 KiB only 2.20."
fn random_write_sentence(writes: &[Row]) -> Option<String> {
    let measured: Vec<(u64, f64)> =
        RANDOM_WRITE_SIZES.iter().zip(writes).filter_map(|(&size, row)| Some((size, row.shown.value()?))).collect();
    let &(size, iops) = measured.iter().find(|(size, _)| *size == 4 * KIB).or(measured.first())?;
    let times = words::times(iops / yardstick::DISK_IOPS);
    let mut text = format!("Random writes of {}: {} IOPS, {times} a {} ({} IOPS)", Bytes(size), significant(iops), yardstick::DISK, yardstick::DISK_IOPS);
    let collapse = measured.iter().filter(|(other, slow)| *other <= 16 * KIB && *slow < iops / 4.0).min_by(|a, b| a.1.total_cmp(&b.1));
    if let Some((other, slow)) = collapse {
        text.push_str(&format!("; of {} only {}", Bytes(*other), significant(*slow)));
    }
    Some(text + ".")
}

fn worst_sentence(writes: &[Row]) -> Option<String> {
    let worst = writes.iter().filter_map(|row| figure::worst_ns(row.cell?)).max_by(f64::total_cmp)?;
    Some(format!("The longest a single random write took: {}.", words::quantity("_ns", worst)))
}
