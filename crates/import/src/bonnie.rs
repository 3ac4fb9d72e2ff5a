//! bonnie++: its tables, and the CSV of 1.03 and of 1.9x and 2.00 below them. Its K are 1024 bytes.
//!
//! A table and the CSV line below it are from one run: the CSV has more digits.

use super::prelude::*;

/// A line of CSV: what precedes its figures, and what is between those of data and of files.
macro_rules! csv {
    ($before:literal, $between:literal) => {
        concat!(
            "(?m)^[ \t]*",
            $before,
            r"(?<each_csv>(?<data>(?:(?:\+{3,}|[\d.]+[kmgKMG]?)?,){11}(?:\+{3,}|[\d.]+[kmgKMG]?)?)),?(?<files>[^,\n]*)",
            "(?:",
            $between,
            r",(?<creates>(?:(?:\+{3,}|[\d.]+[kmgKMG]?)?,){11}(?:\+{3,}|[\d.]+[kmgKMG]?)?),?(?<latency>.*))?$"
        )
    };
}
/// Name, size, figures, number of files, figures.
const OLD: &str = csv!(r"[^,\n]*,(?<span>[^,:\n]*[KMGTk])(?::(?<chunk>[^,\n]*))?,", "");
/// Version of the form, version of the program, name, concurrency, time, size, chunk, figures, number
/// of files, .., figures, longest times.
const NEW: &str = csv!(
    r"(?:1\.93c|1\.9[4-7]|2\.00)[^,\n]*,(?<version>[^,\n]*),[^,\n]*,(?<threads>\d+),(?<began>\d*),(?<span>[^,:\n]*)(?::[^,\n]*)?,(?<chunk>[^,\n]*),",
    r"(?:,[^,\n]*){4}"
);
/// It has the size of a seek's read and the number of processes that seek, too.
const NEWER: &str = csv!(
    r"1\.9[89][^,\n]*,(?<version>[^,\n]*),[^,\n]*,(?<threads>\d+),(?<began>\d*),(?<span>[^,:\n]*)(?::[^,\n]*)?,(?<chunk>[^,\n]*),[^,\n]*,[^,\n]*,",
    r"(?:,[^,\n]*){4}"
);

pub(super) static TABLE: Tool = tool! {
    "bonnie++", "bonnie++ output", 1024.0, facts: of_run, ends: of_end;
    ["a table headed '-Per Chr- --Block--' or a line of its CSV": "-Per Chr-", OLD, NEW, NEWER]
    Begins r"^\s*Version\s+(?<version>\S+) .*Output-";
    // `-s 0` leaves the first table out.
    Says r"^\s*Version\s+(?<version>\S+) .*-Sequential Create-";
    Says r"^\s*Concurrency\s+(?<threads>\d+)";
    Says r"^\s*(?<row>(?:\S+\s+)?(?<span>\d[\d.]*[KMGTk])(?::(?<chunk>\S+))?(?<data>(?:\s+(?:\+{3,}|[\d.]+[kmgKMG]?)){2,12}))\s*$";
    Says r"^\s*(?:\S+\s+)?(?<files>\d\S*)(?<creates>(?:\s+(?:\+{3,}|[\d.]+)){12})\s*$";
    Says r"^\s*Latency\s+(?<each_latency>.*)";
    Gives NEW => of_csv;
    Gives NEWER => of_csv;
    Gives OLD => of_csv;
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

/// Results in the order of [`TESTS`], from the words of data and files (a rate and a percentage of a
/// processor for each test) and the longest times; `of` has their facts.
fn results(of: &Known, data: &[&str], files: &[&str], longest: &[&str]) -> Vec<Option<Cell>> {
    let of_test = |test: usize| {
        let words = if test < FILES { data } else { files };
        let mut words = words.iter().skip(2 * (test % FILES));
        let rate = words.next().and_then(|word| rate_of(word));
        let percent = words.next().and_then(|word| number(word)).filter(|_| rate.is_some());
        let ns = longest.get(test).and_then(|word| time(word));
        rate.or(ns).map(|_| result(of, test, rate, [percent, ns]))
    };
    (0..TESTS.len()).map(of_test).collect()
}

fn of_end(known: &Known) -> Made {
    Ok(of_table(known).into_iter().flatten().collect())
}

fn of_table(known: &Known) -> Vec<Option<Cell>> {
    if !known.has("version") {
        return Vec::new();
    }
    let words: Vec<&str> = known.text("data").split_whitespace().collect();
    let data = if words.len() == 2 * FILES { words } else { columns(known.text("row")) };
    let creates: Vec<&str> = known.text("creates").split_whitespace().collect();
    let latencies =
        known.each("each_latency").map(|it| it.text("each_latency").split_whitespace().collect());
    let mut latencies: Vec<Vec<&str>> = latencies.collect();
    if data.is_empty() {
        latencies.insert(0, Vec::new());
    }
    latencies.iter_mut().for_each(|words| words.resize(FILES, ""));
    results(known, &data, &creates, &latencies.concat())
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
    let are_figures = columns.iter().all(|word| !word.contains(' '));
    if columns.len() == 2 * FILES && are_figures { columns } else { Vec::new() }
}

/// KiB a second of "1424", "1424k", "201m": KiB without a letter, units of 1024 with one.
fn rate_of(word: &str) -> Option<f64> {
    let (value, letter) = with_unit(word)?;
    if letter.is_empty() { Some(value) } else { Some(value * prefix(letter, 1024.0)? / 1024.0) }
}

/// Takes version and time; a line of CSV is the end of a run.
fn of_run(known: &mut Known, run: &mut ImportedRun) {
    let Some(csv) = known.each("each_csv").last() else { return };
    if run.version.is_empty() {
        run.version = csv.short("version", 20).unwrap_or("1.03".to_owned());
    }
    run.started = run.started.take().or(csv.number("began").and_then(moment));
    ["version", "row", "data", "creates"].iter().for_each(|name| known.drop(name));
}

/// Results of a line of CSV, and of the table above it if that has other figures than the line with
/// fewer digits.
fn of_csv(known: &Known) -> Made {
    let Some(csv) = known.each("each_csv").last() else { return Ok(Vec::new()) };
    let words = |name| csv.text(name).split(',').map(str::trim).collect::<Vec<_>>();
    let in_csv = results(csv, &words("data"), &words("creates"), &words("latency"));
    let in_table = of_table(known);
    let figure = |cell: &Option<Cell>| {
        let metrics = &cell.as_ref()?.metrics;
        metrics.bps.or(metrics.iops).map(|figure| figure.value)
    };
    let is_near = |a: f64, b: f64| (a - b).abs() <= 0.06 * b.max(1.0);
    let mut both = in_table.iter().zip(&in_csv);
    let is_one =
        both.all(|(a, b)| figure(a).is_none_or(|a| figure(b).is_some_and(|b| is_near(a, b))));
    let of_table = in_table.into_iter().filter(|_| !is_one);
    Ok(of_table.chain(in_csv).flatten().collect())
}

fn result(of: &Known, test: usize, value: Option<f64>, [percent, ns]: [Option<f64>; 2]) -> Cell {
    let (name, form, direction, pattern) = TESTS[test];
    let chunk = size(of.text("chunk")).filter(|bytes| *bytes > 0).unwrap_or(CHUNK_BYTES);
    let block = (form == "block" || test == SEEKS).then_some(chunk);
    let kib = value.filter(|_| test < SEEKS).map(|value| value * KIB as f64);
    let files = if test < FILES { "" } else { of.text("files") };
    let text = "several processes seek and read, and write one in ten back";
    let mut cell = cell(format!("bonnie++:{name}"), direction, pattern, block)
        .region(Region::File)
        .span(size(of.text("span")).filter(|bytes| *bytes > 0 && test < FILES))
        .path(Path::Buffered)
        .rates(value.filter(|_| test >= SEEKS), kib, 1)
        .label("files", &short(files, 40))
        .other("cpu_percent", percent, 1)
        .other("longest_latency_ns", ns, 1)
        .note_if(test == SEEKS, text);
    cell.params.threads = of.text("threads").parse().unwrap_or(1).clamp(1, 65_536);
    cell.params.form = (!form.is_empty()).then(|| form.to_owned());
    cell
}
