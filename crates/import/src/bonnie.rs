//! bonnie++: its tables, and the CSV of 1.03 and of 1.9x and 2.00 below them. Its K are 1024 bytes.
//!
//! A table and the CSV line below it are of one run: the CSV has more digits.

mod csv;

use record::units::KIB;
use record::{Cell, Direction, Params, Path, Pattern, Region};

use super::imported_run::{ImportedRun, cell, estimate, label, other};
use super::reading::Reading;
use super::text::{ImportText, number, prefix, size, time_ns, with_unit};
use super::{Hints, Importer, Sign};

pub(super) const IMPORTER: Importer = Importer {
    name: "bonnie++ output",
    signs: &[Sign {
        what: "a table headed '-Per Chr- --Block--' or a line of its CSV",
        is_there: |source| {
            source.has(|line| line.contains("-Per Chr-") || csv::line(line).is_some())
        },
    }],
    read,
    chatter: |line| line.trim_start().starts_with("Latency "),
};

/// What it measures in its order: name, form, direction, order. Rates of the first five are KiB/s,
/// all others are operations a second.
const TESTS: [(&str, &str, Option<Direction>, Pattern); 12] = [
    ("write", "per-character", Some(Direction::Write), Pattern::Sequential),
    ("write", "block", Some(Direction::Write), Pattern::Sequential),
    ("rewrite", "block", None, Pattern::Sequential),
    ("read", "per-character", Some(Direction::Read), Pattern::Sequential),
    ("read", "block", Some(Direction::Read), Pattern::Sequential),
    ("seeks", "", None, Pattern::Uniform),
    ("create", "sequential", None, Pattern::Sequential),
    ("stat", "sequential", None, Pattern::Sequential),
    ("delete", "sequential", None, Pattern::Sequential),
    ("create", "random", None, Pattern::Uniform),
    ("stat", "random", None, Pattern::Uniform),
    ("delete", "random", None, Pattern::Uniform),
];
const SEEKS: usize = 5;
const FILES: usize = 6;
/// What bonnie++ reads and writes at once where nobody says otherwise.
const CHUNK_BYTES: u64 = 8 * KIB;

/// The results of one run. A figure is missing where it was not measured, or too quick to be.
#[derive(Clone, Debug, Default, PartialEq)]
struct Results {
    version: String,
    span_bytes: Option<u64>,
    chunk_bytes: Option<u64>,
    threads: u32,
    /// Seconds since 1970.
    began: Option<i64>,
    files: String,
    /// Rate and percent of a processor of each test.
    figures: [Option<(f64, Option<f64>)>; 12],
    longest_ns: [Option<f64>; 12],
}

fn read(source: &ImportText, _: &Hints, reading: &mut Reading) -> Vec<ImportedRun> {
    let mut found = ImportedRun::by("bonnie++");
    // A table that is not known to have a CSV line below it.
    let mut pending: Option<(usize, Results)> = None;
    let mut is_of_files = false;
    for (at, line) in source.numbered() {
        if let Some(results) = csv::line(line) {
            if let Some((at, table)) = pending.take().filter(|(_, table)| !is_one(table, &results))
            {
                add(&mut found, at, &table, reading);
            }
            add(&mut found, at, &results, reading);
            continue;
        }
        if let Some(rest) = line.trim().strip_prefix("Version ").filter(|_| line.contains("---")) {
            is_of_files = line.contains("Create");
            // `-s 0` leaves the first table out.
            if !is_of_files || pending.is_none() {
                flush(&mut found, &mut pending, reading);
                let version = rest.split_whitespace().next().unwrap_or_default().to_owned();
                pending = Some((at, Results { version, threads: 1, ..Results::default() }));
            }
            continue;
        }
        let Some((place, table)) = &mut pending else { continue };
        if line.contains("-Sequential Create-") {
            is_of_files = true;
        } else if let Some(threads) = line.trim().strip_prefix("Concurrency ") {
            let threads = threads.split_whitespace().next().and_then(|text| text.parse().ok());
            table.threads = threads.unwrap_or(1);
        } else if table_line(table, line, is_of_files) {
            *place = (*place).max(at);
            reading.take(at);
        }
    }
    flush(&mut found, &mut pending, reading);
    vec![found]
}

fn flush(found: &mut ImportedRun, pending: &mut Option<(usize, Results)>, reading: &mut Reading) {
    if let Some((at, table)) = pending.take() {
        add(found, at, &table, reading);
    }
}

/// True if a table says what the CSV does, with fewer digits.
fn is_one(table: &Results, csv: &Results) -> bool {
    let pairs = table.figures.iter().zip(&csv.figures);
    let is_near = |a: f64, b: f64| (a - b).abs() <= 0.06 * b.max(1.0);
    table.span_bytes == csv.span_bytes
        && pairs
            .filter_map(|(a, b)| Some(((*a)?, *b)))
            .all(|(a, b)| b.is_some_and(|b| is_near(a.0, b.0)))
}

/// Reads a line of a table into its results; false where it is none.
fn table_line(table: &mut Results, line: &str, is_of_files: bool) -> bool {
    let from = if is_of_files { FILES } else { 0 };
    let words: Vec<&str> = line.split_whitespace().collect();
    if words.first() == Some(&"Latency") {
        for (at, word) in words[1..].iter().take(FILES).enumerate() {
            table.longest_ns[from + at] = latency_ns(word);
        }
        return true;
    }
    if words.len() < 3 || line.contains("%CP") || line.contains("--") {
        return false;
    }
    let first = words.len().saturating_sub(12);
    let has_all = words.len() >= 13 && words[first..].iter().all(|word| is_figure(word));
    let figures = if has_all { words[first..].to_vec() } else { columns(line) };
    let (Some(of), 12) = (words.get(if has_all { first - 1 } else { 1 }), figures.len()) else {
        return false;
    };
    if is_of_files {
        table.files = (*of).to_owned();
    } else {
        let Some((span, chunk)) = size_and_chunk(of) else { return false };
        (table.span_bytes, table.chunk_bytes) = (Some(span), chunk);
    }
    for (at, pair) in figures.chunks(2).enumerate() {
        table.figures[from + at] = rate(pair[0]).map(|rate| (rate, number(pair[1])));
    }
    true
}

/// The twelve columns of a table in which some are blank (`-f` leaves out single characters).
fn columns(line: &str) -> Vec<&str> {
    const WIDTHS: [usize; 2] = [6, 4];
    let mut from = 20;
    let mut columns = Vec::new();
    for width in WIDTHS.into_iter().cycle().take(12) {
        let end = (from + width).min(line.len());
        let Some(word) = line.get(from.min(end)..end).map(str::trim) else { return Vec::new() };
        if !(word.is_empty() || is_figure(word)) {
            return Vec::new();
        }
        columns.push(word);
        from += width;
    }
    if columns.iter().any(|word| number(word).is_some()) { columns } else { Vec::new() }
}

fn is_figure(word: &str) -> bool {
    word.starts_with("+++") || rate(word).is_some()
}

/// "1424", "1424k", "201m": KiB/s without a letter, bytes in units of 1024 with one.
fn rate(word: &str) -> Option<f64> {
    let (value, letter) = with_unit(word)?;
    if letter.is_empty() { Some(value) } else { Some(value * prefix(letter, 1024.0)? / 1024.0) }
}

/// "2G", "32080M", "1G:32k".
fn size_and_chunk(word: &str) -> Option<(u64, Option<u64>)> {
    let (span, chunk) = word.split_once(':').map_or((word, None), |(a, b)| (a, Some(b)));
    let has_unit = span.ends_with(['K', 'M', 'G', 'T', 'k']);
    let span = has_unit.then(|| size(span)).flatten()?;
    Some((span, chunk.and_then(size)))
}

fn latency_ns(word: &str) -> Option<f64> {
    let (value, unit) = with_unit(word)?;
    time_ns(value, unit)
}

fn add(found: &mut ImportedRun, at: usize, results: &Results, reading: &mut Reading) {
    if found.version.is_empty() {
        found.version.clone_from(&results.version);
    }
    if found.started.is_none() {
        let began = results.began.and_then(|began| jiff::Timestamp::from_second(began).ok());
        found.started = began.map(|moment| moment.to_string());
    }
    let measured = (0..TESTS.len()).filter_map(|test| Some((test, results.figures[test]?)));
    let cells: Vec<Cell> = measured.map(|(test, figure)| of_test(results, test, figure)).collect();
    // What was too quick for a figure was read, too.
    reading.add_all(found, at, cells);
}

fn of_test(results: &Results, test: usize, (rate, percent): (f64, Option<f64>)) -> Cell {
    let (name, form, direction, pattern) = TESTS[test];
    let is_of_blocks = form == "block" || test == SEEKS;
    let chunk = results.chunk_bytes.unwrap_or(CHUNK_BYTES);
    let params = Params {
        direction,
        pattern: Some(pattern),
        block_bytes: is_of_blocks.then_some(chunk),
        region: Some(Region::File),
        span_bytes: results.span_bytes.filter(|_| test < FILES),
        threads: results.threads.max(1),
        path: Path::Buffered,
        form: (!form.is_empty()).then(|| form.to_owned()),
        ..Params::default()
    };
    let mut cell = cell(format!("bonnie++:{name}"), params);
    if test < SEEKS {
        cell.metrics.bps = Some(estimate(rate * KIB as f64, 1));
        if is_of_blocks {
            cell.metrics.iops = Some(estimate(rate * KIB as f64 / chunk as f64, 1));
        }
    } else {
        cell.metrics.iops = Some(estimate(rate, 1));
    }
    if test >= FILES {
        label(&mut cell, "files", &results.files);
    }
    if let Some(percent) = percent {
        other(&mut cell, "cpu_percent", percent, 1);
    }
    if let Some(ns) = results.longest_ns[test] {
        other(&mut cell, "longest_latency_ns", ns, 1);
    }
    if test == SEEKS {
        super::imported_run::note(
            &mut cell,
            "several processes seek and read, and write one in ten back",
        );
    }
    cell
}
