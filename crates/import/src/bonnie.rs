//! bonnie++: its tables, and the CSV of 1.03 and of 1.9x and 2.00 below them. Its K are 1024 bytes.
//!
//! A table and the CSV line below it are from one run: the CSV has more digits.

use record::units::KIB;
use record::{Cell, Direction, Params, Path, Pattern, Region};

use super::imported_run::{ImportedRun, cell, io, label, note, other, rates};
use super::reading::Reading;
use super::text::{ImportText, group, number, prefix, re, short, size, time_ns, with_unit};
use super::{Importer, Sign};

pub(super) const IMPORTER: Importer = Importer {
    name: "bonnie++ output",
    signs: &[Sign {
        what: "a table headed '-Per Chr- --Block--' or a line of its CSV",
        is_there: |source| source.has(|line| line.contains("-Per Chr-") || csv(line).is_some()),
    }],
    read,
    apart: r"^\s*Latency ",
};

/// Tests in the order of its columns: name, form, direction, order. Rates of the first five are
/// KiB/s, all others are operations a second.
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
/// Bytes of each read and write by default.
const CHUNK_BYTES: u64 = 8 * KIB;

/// Results of one run. A figure is missing if it was not measured, or took too little time.
#[derive(Clone, Debug, Default)]
struct Results {
    version: String,
    span_bytes: Option<u64>,
    chunk_bytes: Option<u64>,
    threads: u32,
    /// Time of its beginning, in seconds since 1970.
    began: Option<i64>,
    files: String,
    /// Rate and percent of a processor for each test.
    figures: [Option<(f64, Option<f64>)>; 12],
    longest_ns: [Option<f64>; 12],
}

fn read(source: &ImportText, _: &super::Hints, reading: &mut Reading) -> Vec<ImportedRun> {
    let mut found = ImportedRun::by("bonnie++");
    // A table that is not known to have a CSV line below it.
    let mut pending: Option<(usize, Results)> = None;
    let mut is_of_files = false;
    for (at, line) in source.numbered() {
        if let Some(results) = csv(line) {
            pending = pending.filter(|(_, table)| !is_one(table, &results));
            flush(&mut found, &mut pending, reading);
            add(&mut found, at, &results, reading);
        } else if let Some(head) = re!(r"^\s*Version\s+(\S+).*---").captures(line) {
            is_of_files = line.contains("Create");
            // `-s 0` leaves the first table out.
            if !is_of_files || pending.is_none() {
                flush(&mut found, &mut pending, reading);
                let version = group(&head, 1).to_owned();
                pending = Some((at, Results { version, threads: 1, ..Results::default() }));
            }
        } else if let Some((place, table)) = &mut pending {
            if line.contains("-Sequential Create-") {
                is_of_files = true;
            } else if let Some(threads) = re!(r"^\s*Concurrency\s+(\S+)").captures(line) {
                table.threads = group(&threads, 1).parse().unwrap_or(1);
            } else if table_line(table, line, is_of_files) {
                *place = (*place).max(at);
                reading.take(at);
            }
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

/// True if a table has the figures of the CSV line, with fewer digits.
fn is_one(table: &Results, csv: &Results) -> bool {
    let is_near = |a: f64, b: f64| (a - b).abs() <= 0.06 * b.max(1.0);
    let mut pairs = table.figures.iter().zip(&csv.figures).filter(|(a, _)| a.is_some());
    table.span_bytes == csv.span_bytes
        && pairs.all(|(a, b)| a.zip(*b).is_some_and(|(a, b)| is_near(a.0, b.0)))
}

/// Reads a line of a table into its results; false if it is not such a line.
fn table_line(table: &mut Results, line: &str, is_of_files: bool) -> bool {
    let from = if is_of_files { FILES } else { 0 };
    let words: Vec<&str> = line.split_whitespace().collect();
    if words.first() == Some(&"Latency") {
        let longest = words[1..].iter().take(FILES).map(|word| latency_ns(word));
        table.longest_ns[from..].iter_mut().zip(longest).for_each(|(place, ns)| *place = ns);
        return true;
    }
    if words.len() < 3 || line.contains("%CP") || line.contains("--") {
        return false;
    }
    let first = words.len().saturating_sub(2 * FILES);
    let has_all = words.len() > 2 * FILES && words[first..].iter().all(|word| is_figure(word));
    let texts = if has_all { words[first..].to_vec() } else { columns(line) };
    let (Some(of), 12) = (words.get(if has_all { first - 1 } else { 1 }), texts.len()) else {
        return false;
    };
    if is_of_files {
        table.files = (*of).to_owned();
    } else {
        let Some((span, chunk)) = size_and_chunk(of) else { return false };
        (table.span_bytes, table.chunk_bytes) = (Some(span), chunk);
    }
    fill(table, from, &texts);
    true
}

/// The twelve columns of a table in which some are blank (`-f` leaves out single characters).
fn columns(line: &str) -> Vec<&str> {
    let mut from = 20;
    let mut columns = Vec::new();
    for width in [6, 4].into_iter().cycle().take(2 * FILES) {
        let end = (from + width).min(line.len());
        columns.extend(line.get(from.min(end)..end).map(str::trim));
        from += width;
    }
    let are_figures = columns.iter().all(|word| word.is_empty() || is_figure(word));
    let has_one = columns.iter().any(|word| number(word).is_some());
    if columns.len() == 2 * FILES && are_figures && has_one { columns } else { Vec::new() }
}

fn is_figure(word: &str) -> bool {
    word.starts_with("+++") || rate_of(word).is_some()
}

/// Parses pairs of rate and percent into the results.
fn fill(results: &mut Results, from: usize, texts: &[&str]) {
    for (place, pair) in results.figures[from..].iter_mut().zip(texts.chunks(2)) {
        *place = rate_of(pair[0]).map(|rate| (rate, pair.get(1).and_then(|text| number(text))));
    }
}

/// Bytes a second of "1424", "1424k", "201m": KiB/s without a letter, units of 1024 with one.
fn rate_of(word: &str) -> Option<f64> {
    let (value, letter) = with_unit(word)?;
    if letter.is_empty() { Some(value) } else { Some(value * prefix(letter, 1024.0)? / 1024.0) }
}

/// File size and chunk of "2G", "32080M", "1G:32k", in bytes.
fn size_and_chunk(word: &str) -> Option<(u64, Option<u64>)> {
    let found = re!(r"^([^:]*[KMGTk])(?::(.*))?$").captures(word)?;
    Some((size(group(&found, 1))?, size(group(&found, 2))))
}

fn latency_ns(word: &str) -> Option<f64> {
    let (value, unit) = with_unit(word)?;
    time_ns(value, unit)
}

/// Parses a line of CSV. Version 1.03 has name, size, figures, number of files, figures. Versions
/// 1.9x and 2.00 have version of the form, version of the program, name, concurrency, time, size,
/// chunk, figures, number of files, .., figures, longest times.
fn csv(line: &str) -> Option<Results> {
    let line = line.trim();
    if line.len() > 1000 || line.matches(',').count() < 13 {
        return None;
    }
    let fields: Vec<&str> = line.split(',').map(str::trim).collect();
    let is_new = re!(r"^(?:1\.93c|1\.9[4-9]|2\.00)").is_match(fields[0]);
    // 1.98 has the size of a seek's read and the number of processes that seek, too.
    let (first, gap) = match fields[0].get(..4) {
        Some("1.98" | "1.99") if is_new => (9, 5),
        _ if is_new => (7, 5),
        _ => (2, 1),
    };
    let mut results = Results { version: "1.03".to_owned(), threads: 1, ..Results::default() };
    let span = *fields.get(if is_new { 5 } else { 1 })?;
    // `-s 0` measures no data.
    if !(is_new && ["", "0"].contains(&span)) {
        let (span, chunk) = size_and_chunk(span)?;
        (results.span_bytes, results.chunk_bytes) = (Some(span), chunk);
    }
    if is_new {
        results.version = short(fields.get(1)?, 20);
        results.chunk_bytes = fields.get(6).and_then(|text| size(text)).filter(|chunk| *chunk > 0);
        results.threads = fields.get(3)?.parse().ok().filter(|n| (1..=65_536).contains(n))?;
        results.began = fields.get(4).and_then(|text| text.parse().ok());
    }
    let files = first + 2 * FILES;
    let is_figures = |texts: &[&str]| texts.iter().all(|text| text.is_empty() || is_figure(text));
    fill(&mut results, 0, fields.get(first..files).filter(|texts| is_figures(texts))?);
    results.files = fields.get(files).map(|text| short(text, 40)).unwrap_or_default();
    if let Some(of_files) = fields.get(files + gap..files + gap + 2 * FILES) {
        fill(&mut results, FILES, Some(of_files).filter(|texts| is_figures(texts))?);
    }
    let latencies = fields.get(files + gap + 2 * FILES..).filter(|_| is_new).unwrap_or_default();
    for (place, text) in results.longest_ns.iter_mut().zip(latencies) {
        *place = latency_ns(text);
    }
    Some(results)
}

fn add(found: &mut ImportedRun, at: usize, results: &Results, reading: &mut Reading) {
    if found.version.is_empty() {
        found.version.clone_from(&results.version);
    }
    if found.started.is_none() {
        let began = results.began.and_then(|began| jiff::Timestamp::from_second(began).ok());
        found.started = began.map(|moment| moment.to_string());
    }
    // A test that was too quick for a figure may have a longest time.
    let measured =
        |test: &usize| results.figures[*test].is_some() || results.longest_ns[*test].is_some();
    let cells: Vec<Cell> =
        (0..TESTS.len()).filter(measured).map(|test| of_test(results, test)).collect();
    reading.add_all(found, at, cells);
}

fn of_test(results: &Results, test: usize) -> Cell {
    let (value, percent) = results.figures[test].unzip();
    let (name, form, direction, pattern) = TESTS[test];
    let is_of_blocks = form == "block" || test == SEEKS;
    let chunk = is_of_blocks.then(|| results.chunk_bytes.unwrap_or(CHUNK_BYTES));
    let params = Params {
        region: Some(Region::File),
        span_bytes: results.span_bytes.filter(|_| test < FILES),
        threads: results.threads.max(1),
        path: Path::Buffered,
        form: (!form.is_empty()).then(|| form.to_owned()),
        ..io(direction, pattern, chunk)
    };
    let mut cell = cell(format!("bonnie++:{name}"), params);
    if test < SEEKS {
        rates(&mut cell, None, value.map(|value| value * KIB as f64), 1);
    } else {
        rates(&mut cell, value, None, 1);
    }
    if test >= FILES {
        label(&mut cell, "files", &results.files);
    }
    if let Some(percent) = percent.flatten() {
        other(&mut cell, "cpu_percent", percent, 1);
    }
    if let Some(ns) = results.longest_ns[test] {
        other(&mut cell, "longest_latency_ns", ns, 1);
    }
    if test == SEEKS {
        note(&mut cell, "several processes seek and read, and write one in ten back");
    }
    cell
}
