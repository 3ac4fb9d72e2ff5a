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
            r"(?<csv_data>(?:(?:\+{3,}|[\d.]+[kmgKMG]?)?,){11}(?:\+{3,}|[\d.]+[kmgKMG]?)?),?(?<csv_files>[^,\n]*)",
            "(?:",
            $between,
            r",(?<csv_creates>(?:(?:\+{3,}|[\d.]+[kmgKMG]?)?,){11}(?:\+{3,}|[\d.]+[kmgKMG]?)?),?(?<csv_latency>.*))?$"
        )
    };
}
/// Name, size, figures, number of files, figures.
const OLD: &str = csv!(r"[^,\n]*,(?<csv_span>[^,:\n]*[KMGTk])(?::(?<csv_chunk>[^,\n]*))?,", "");
/// Version of the form, version of the program, name, concurrency, time, size, chunk, figures, number
/// of files, .., figures, longest times.
const NEW: &str = csv!(
    r"(?:1\.93c|1\.9[4-7]|2\.00)[^,\n]*,(?<csv_version>[^,\n]*),[^,\n]*,(?<csv_threads>\d+),(?<csv_began>\d*),(?<csv_span>[^,:\n]*)(?::[^,\n]*)?,(?<csv_chunk>[^,\n]*),",
    r"(?:,[^,\n]*){4}"
);
/// It has the size of a seek's read and the number of processes that seek, too.
const NEWER: &str = csv!(
    r"1\.9[89][^,\n]*,(?<csv_version>[^,\n]*),[^,\n]*,(?<csv_threads>\d+),(?<csv_began>\d*),(?<csv_span>[^,:\n]*)(?::[^,\n]*)?,(?<csv_chunk>[^,\n]*),[^,\n]*,[^,\n]*,",
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

/// Rate, percent of a processor and longest time of a test. All are missing if it was not measured,
/// the first two if it took too little time.
type Figures = [Option<f64>; 3];

/// Figures in the order of [`TESTS`].
fn figures(data: &[&str], creates: &[&str], latencies: &[&str]) -> Vec<Figures> {
    let of_test = |test: usize| {
        let words = if test < FILES { data } else { creates };
        let mut words = words.iter().skip(2 * (test % FILES));
        let rate = words.next().and_then(|word| rate_of(word));
        let percent = words.next().and_then(|word| number(word)).filter(|_| rate.is_some());
        [rate, percent, latencies.get(test).and_then(|word| time(word))]
    };
    (0..TESTS.len()).map(of_test).collect()
}

fn of_end(known: &Known) -> Made {
    Ok(of_results(known, "", &of_table(known)))
}

fn of_table(known: &Known) -> Vec<Figures> {
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
    figures(&data, &creates, &latencies.concat())
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
    let version = if known.has("csv_data") { "csv_version" } else { "version" };
    if run.version.is_empty() && (known.has("csv_data") || known.has("version")) {
        run.version = short(if known.has(version) { known.text(version) } else { "1.03" }, 20);
    }
    let began = known.number("csv_began").and_then(moment);
    run.started = run.started.take().or(began);
    if known.has("csv_data") {
        ["version", "row", "data", "creates"].iter().for_each(|name| known.drop(name));
    }
}

/// Results of a line of CSV, and of the table above it if that has other figures than the line with
/// fewer digits.
fn of_csv(known: &Known) -> Made {
    let [data, creates, latencies] = ["csv_data", "csv_creates", "csv_latency"]
        .map(|name| known.text(name).split(',').map(str::trim).collect::<Vec<_>>());
    let (table, csv) = (of_table(known), figures(&data, &creates, &latencies));
    let is_near = |a: f64, b: f64| (a - b).abs() <= 0.06 * b.max(1.0);
    let mut rates = table.iter().zip(&csv).filter_map(|(a, b)| Some((a[0]?, b[0])));
    let is_one = rates.all(|(a, b)| b.is_some_and(|b| is_near(a, b)));
    let mut cells = if is_one { Vec::new() } else { of_results(known, "", &table) };
    cells.extend(of_results(known, "csv_", &csv));
    Ok(cells)
}

/// Cells of all tests; `prefix` begins the names of their groups.
fn of_results(known: &Known, prefix: &str, figures: &[Figures]) -> Vec<Cell> {
    let measured = figures.iter().enumerate().filter(|(_, [rate, _, ns])| rate.or(*ns).is_some());
    measured.map(|(test, figures)| of_test(known, prefix, test, *figures)).collect()
}

fn of_test(known: &Known, prefix: &str, test: usize, [value, percent, ns]: Figures) -> Cell {
    let (name, form, direction, pattern) = TESTS[test];
    let of = |name: &str| format!("{prefix}{name}");
    let chunk = size(known.text(&of("chunk"))).filter(|bytes| *bytes > 0).unwrap_or(CHUNK_BYTES);
    let block = (form == "block" || test == SEEKS).then_some(chunk);
    let mut cell = cell(format!("bonnie++:{name}"), direction, pattern, block)
        .region(Region::File)
        .span(size(known.text(&of("span"))).filter(|bytes| *bytes > 0 && test < FILES))
        .path(Path::Buffered);
    cell.params.threads = known.text(&of("threads")).parse().unwrap_or(1).clamp(1, 65_536);
    cell.params.form = (!form.is_empty()).then(|| form.to_owned());
    let kib = value.filter(|_| test < SEEKS).map(|value| value * KIB as f64);
    let mut cell = cell.rates(value.filter(|_| test >= SEEKS), kib, 1);
    if test >= FILES {
        cell = cell.label("files", &short(known.text(&of("files")), 40));
    }
    for (name, value) in [("cpu_percent", percent), ("longest_latency_ns", ns)] {
        cell = value.into_iter().fold(cell, |cell, value| cell.other(name, value, 1));
    }
    let text = "several processes seek and read, and write one in ten back";
    cell.note_if(test == SEEKS, text)
}
