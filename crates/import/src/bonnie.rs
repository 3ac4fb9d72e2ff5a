//! bonnie++: its tables, and the CSV of 1.03 and of 1.9x and 2.00 below them. Its K are 1024 bytes.
//!
//! A table and the CSV line below it are from one run: the CSV has more digits.

use record::units::KIB;
use record::{Cell, Direction, Params, Path, Pattern, Region};

use super::imported_run::{ImportedRun, cell, io, label, note, other, rates};
use super::table::{Known, Made, Tool, tool};
use super::text::{number, prefix, short, size, time, with_unit};

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
    "bonnie++", "bonnie++ output", 1024.0;
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
}
.facts(of_run).ends(|known| Ok(of_results(known, &Results::of_table(known))));

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

/// Results of one run, in the order of [`TESTS`]. A figure is missing if it was not measured, or took
/// too little time.
struct Results {
    /// Begin of the names of its groups.
    prefix: &'static str,
    /// Rate and percent of a processor.
    figures: Vec<Option<(f64, Option<f64>)>>,
    longest_ns: Vec<Option<f64>>,
}

impl Results {
    fn of_table(known: &Known) -> Results {
        if !known.has("version") {
            return Results::of("", &[], &[], &[]);
        }
        let words: Vec<&str> = known.text("data").split_whitespace().collect();
        let data = if words.len() == 2 * FILES { words } else { columns(known.text("row")) };
        let creates: Vec<&str> = known.text("creates").split_whitespace().collect();
        let mut latencies: Vec<Vec<&str>> =
            known.each("each_latency").map(|line| line.split_whitespace().collect()).collect();
        if data.is_empty() {
            latencies.insert(0, Vec::new());
        }
        latencies.iter_mut().for_each(|words| words.resize(FILES, ""));
        Results::of("", &data, &creates, &latencies.concat())
    }

    fn of_csv(known: &Known) -> Results {
        let [data, creates, latencies] = ["csv_data", "csv_creates", "csv_latency"]
            .map(|name| known.text(name).split(',').map(str::trim).collect::<Vec<_>>());
        Results::of("csv_", &data, &creates, &latencies)
    }

    fn of(prefix: &'static str, data: &[&str], creates: &[&str], latencies: &[&str]) -> Results {
        let figure =
            |pair: &[&str]| Some((rate_of(pair[0])?, pair.get(1).and_then(|text| number(text))));
        let mut figures: Vec<_> = data.chunks(2).map(figure).collect();
        figures.resize(FILES, None);
        figures.extend(creates.chunks(2).map(figure));
        figures.resize(TESTS.len(), None);
        let mut longest_ns: Vec<_> = latencies.iter().map(|word| time(word)).collect();
        longest_ns.resize(TESTS.len(), None);
        Results { prefix, figures, longest_ns }
    }

    /// True if a table has the figures of a CSV line, with fewer digits.
    fn is_of(&self, csv: &Results) -> bool {
        let is_near = |a: f64, b: f64| (a - b).abs() <= 0.06 * b.max(1.0);
        let mut pairs = self.figures.iter().zip(&csv.figures).filter(|(a, _)| a.is_some());
        pairs.all(|(a, b)| a.zip(*b).is_some_and(|(a, b)| is_near(a.0, b.0)))
    }
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
    let began = known.count("csv_began").and_then(|began| i64::try_from(began).ok());
    let began = began.and_then(|began| jiff::Timestamp::from_second(began).ok());
    run.started = run.started.take().or(began.map(|moment| moment.to_string()));
    if known.has("csv_data") {
        ["version", "row", "data", "creates"].iter().for_each(|name| known.drop(name));
    }
}

fn of_csv(known: &Known) -> Made {
    let (table, csv) = (Results::of_table(known), Results::of_csv(known));
    let is_one = table.is_of(&csv);
    let mut cells = if is_one { Vec::new() } else { of_results(known, &table) };
    cells.extend(of_results(known, &csv));
    Ok(cells)
}

/// Cells of all tests; one that was too quick for a figure may have a longest time.
fn of_results(known: &Known, results: &Results) -> Vec<Cell> {
    let figures = results.figures.iter().zip(&results.longest_ns).enumerate();
    let measured = figures.filter(|(_, (figure, ns))| figure.is_some() || ns.is_some());
    measured
        .map(|(test, (figure, ns))| of_test(known, results.prefix, test, *figure, *ns))
        .collect()
}

fn of_test(
    known: &Known,
    prefix: &str,
    test: usize,
    figure: Option<(f64, Option<f64>)>,
    longest_ns: Option<f64>,
) -> Cell {
    let (value, percent) = figure.unzip();
    let (name, form, direction, pattern) = TESTS[test];
    let of = |name: &str| format!("{prefix}{name}");
    let chunk = size(known.text(&of("chunk"))).filter(|bytes| *bytes > 0).unwrap_or(CHUNK_BYTES);
    let params = Params {
        region: Some(Region::File),
        span_bytes: size(known.text(&of("span"))).filter(|bytes| *bytes > 0 && test < FILES),
        threads: known.text(&of("threads")).parse().unwrap_or(1).clamp(1, 65_536),
        path: Path::Buffered,
        form: (!form.is_empty()).then(|| form.to_owned()),
        ..io(direction, pattern, (form == "block" || test == SEEKS).then_some(chunk))
    };
    let mut cell = cell(format!("bonnie++:{name}"), params);
    if test < SEEKS {
        rates(&mut cell, None, value.map(|value| value * KIB as f64), 1);
    } else {
        rates(&mut cell, value, None, 1);
    }
    if test >= FILES {
        label(&mut cell, "files", &short(known.text(&of("files")), 40));
    }
    if let Some(percent) = percent.flatten() {
        other(&mut cell, "cpu_percent", percent, 1);
    }
    if let Some(ns) = longest_ns {
        other(&mut cell, "longest_latency_ns", ns, 1);
    }
    if test == SEEKS {
        note(&mut cell, "several processes seek and read, and write one in ten back");
    }
    cell
}
