//! sysbench fileio: of 1.0 ("reads/s:"), 1.1 ("read: IOPS=..") and 0.4 ("Operations performed").

use record::units::MIB;
use record::{Cell, Direction, Latency, Params, Path, Pattern, Region};

use super::imported_run::{ImportedRun, cell, estimate, note, whole_ns};
use super::reading::Reading;
use super::text::{ImportText, between, binary_rate, number, short, size, whole, with_unit};
use super::{Hints, Importer, Sign};

pub(super) const IMPORTER: Importer = Importer {
    name: "sysbench fileio output",
    signs: &[
        Sign { what: "a line 'sysbench ..'", is_there: |source| source.contains("sysbench") },
        Sign {
            what: "a line 'Doing random read test' or another of its tests",
            is_there: |source| source.has(|line| mode(line).is_some()),
        },
    ],
    read,
    chatter: is_detail,
};

/// Its tests by the words for them: mode, order.
const MODES: [(&str, &str, Pattern); 6] = [
    ("random r/w test", "rndrw", Pattern::Uniform),
    ("random read test", "rndrd", Pattern::Uniform),
    ("random write test", "rndwr", Pattern::Uniform),
    ("sequential read test", "seqrd", Pattern::Sequential),
    ("sequential write (creation) test", "seqwr", Pattern::Sequential),
    ("sequential rewrite test", "seqrewr", Pattern::Sequential),
];

fn mode(line: &str) -> Option<(&'static str, Pattern)> {
    let words = line.trim().strip_prefix("Doing ")?;
    MODES.iter().find(|(known, _, _)| words == *known).map(|(_, mode, order)| (*mode, *order))
}

fn is_detail(line: &str) -> bool {
    let line = line.trim();
    ["fsyncs/s", "fsync:", "total time:", "execution time", "Total file size", "Time limit"]
        .iter()
        .any(|lead| line.starts_with(lead))
        || line.contains("bytes written in") && line.contains("MiB/sec")
        || line.contains("approx.")
}

/// What stands before and between the figures of a run.
#[derive(Clone, Debug, Default)]
struct Run {
    mode: Option<(&'static str, Pattern)>,
    threads: u32,
    block_bytes: Option<u64>,
    span_bytes: Option<u64>,
    is_direct: bool,
    has_fsync: bool,
    is_over: bool,
    elapsed_s: Option<f64>,
    events: Option<u64>,
    /// Shortest, mean, longest, 95th percentile, in ms.
    ms: [Option<f64>; 4],
    /// Of reads and of writes: place, I/Os a second, bytes a second.
    rates: [(usize, Option<f64>, Option<f64>); 2],
}

fn read(source: &ImportText, _: &Hints, reading: &mut Reading) -> Vec<ImportedRun> {
    let mut found = ImportedRun::by("sysbench");
    // What precedes the first run's banner belongs to it.
    for part in source.parts(|line| line.trim().starts_with("Running the test with")) {
        let mut run = Run { threads: 1, ..Run::default() };
        for (at, line) in part.numbered() {
            let line = line.trim();
            if let Some(version) = line.strip_prefix("sysbench ") {
                let version = version.split([' ', ':']).next().unwrap_or_default();
                found.version = short(version, 20);
            }
            if setting(&mut run, line) || !run.is_over && result(&mut run, at, line) {
                reading.take(at);
            }
            // Other tools' output may follow.
            run.is_over |= line.starts_with("Threads fairness");
        }
        add(&mut found, &run, reading);
    }
    vec![found]
}

/// Reads a line that says how it was measured.
fn setting(run: &mut Run, line: &str) -> bool {
    if let Some(mode) = mode(line) {
        run.mode = Some(mode);
    } else if let Some(count) = line.strip_prefix("Number of threads:").and_then(whole) {
        run.threads = u32::try_from(count).unwrap_or(1).max(1);
    } else if let Some(block) = line.strip_prefix("Block size ") {
        run.block_bytes = fileio_size(block);
    } else if let Some(span) = line.strip_suffix(" total file size") {
        run.span_bytes = fileio_size(span);
    } else if let Some(flags) = line.strip_prefix("Extra file open flags:") {
        run.is_direct = flags.contains("directio") || flags.trim() == "16384";
    } else {
        run.has_fsync |= line.contains("fsync() ") && line.contains("nabled");
        return false;
    }
    true
}

/// 0.4 prints "16Kb" and "2Gb".
fn fileio_size(text: &str) -> Option<u64> {
    size(&text.trim().replace('b', "B"))
}

/// Reads a line of results.
fn result(run: &mut Run, at: usize, line: &str) -> bool {
    let Some((name, value)) = line.split_once(':') else { return old_result(run, at, line) };
    let figure = || value.split_whitespace().next().and_then(|word| with_unit(word));
    let plain = figure().map(|(value, _)| value);
    match name.trim() {
        "reads/s" => run.rates[0] = (at, plain, run.rates[0].2),
        "writes/s" => run.rates[1] = (at, plain, run.rates[1].2),
        "read, MiB/s" => run.rates[0].2 = plain.map(|mib| mib * MIB as f64),
        "written, MiB/s" => run.rates[1].2 = plain.map(|mib| mib * MIB as f64),
        "read" if value.contains("IOPS=") => run.rates[0] = iops_line(at, value),
        "write" if value.contains("IOPS=") => run.rates[1] = iops_line(at, value),
        "total time" => run.elapsed_s = plain,
        "total number of events" => run.events = plain.map(|n| n as u64),
        "min" => run.ms[0] = plain,
        "avg" => run.ms[1] = plain,
        "max" => run.ms[2] = plain,
        "95th percentile" | "approx.  95 percentile" => run.ms[3] = plain,
        "Operations performed" => return operations(run, at, value),
        _ => return false,
    }
    true
}

/// "IOPS=1877.63 29.34 MiB/s (30.76 MB/s)".
fn iops_line(at: usize, value: &str) -> (usize, Option<f64>, Option<f64>) {
    let mut words = value.trim().trim_start_matches("IOPS=").split_whitespace();
    let iops = words.next().and_then(number);
    let bps = words.next().and_then(number).zip(words.next());
    (at, iops, bps.and_then(|(value, unit)| binary_rate(value, unit)))
}

/// "6000 Read, 4000 Write, 12800 Other = 22800 Total": counts until the time is known.
fn operations(run: &mut Run, at: usize, value: &str) -> bool {
    for (place, word) in [" Read", " Write"].into_iter().enumerate() {
        let count = value.split_once(word).map(|(before, _)| before);
        let count = count.and_then(|text| text.rsplit([' ', ',']).next()).and_then(number);
        run.rates[place] = (at, count.map(|count| -count), None);
    }
    true
}

/// "Read 93.75Mb  Written 62.5Mb  Total transferred 156.25Mb  (7.6435Mb/sec)" and "489.19
/// Requests/sec executed" repeat the counts in other units.
fn old_result(_: &mut Run, _: usize, line: &str) -> bool {
    between(line, "Read ", " Written").is_some() && line.contains("Total transferred")
        || line.ends_with("Requests/sec executed")
}

fn add(found: &mut ImportedRun, run: &Run, reading: &mut Reading) {
    let Some((mode, order)) = run.mode else { return };
    for (direction, (at, iops, bps)) in
        [Direction::Read, Direction::Write].into_iter().zip(run.rates)
    {
        // Counts of 0.4 stand there with a minus.
        let per_s = match (iops, run.elapsed_s) {
            (Some(count), Some(seconds)) if count < 0.0 && seconds > 0.0 => Some(-count / seconds),
            (iops, _) => iops,
        };
        let Some(iops) = per_s.filter(|iops| *iops > 0.0) else { continue };
        let mut cell = of_direction(run, mode, order, direction);
        let exact = run.block_bytes.map(|block| iops * block as f64);
        cell.metrics.iops = Some(estimate(iops, 1));
        cell.metrics.bps = exact.or(bps).map(|bps| estimate(bps, 1));
        cell.elapsed_ns = run.elapsed_s.map_or(0, |seconds| whole_ns(seconds * 1e9));
        reading.add(found, at, cell);
    }
}

fn of_direction(run: &Run, mode: &str, order: Pattern, direction: Direction) -> Cell {
    let is_mixed = mode == "rndrw";
    let params = Params {
        direction: Some(direction),
        pattern: Some(order),
        block_bytes: run.block_bytes,
        region: Some(Region::File),
        span_bytes: run.span_bytes,
        threads: run.threads,
        path: if run.is_direct { Path::Direct } else { Path::Buffered },
        form: is_mixed.then(|| if direction == Direction::Read { "read" } else { "write" }.into()),
        ..Params::default()
    };
    let mut cell = cell(format!("sysbench:{mode}"), params);
    if !run.is_direct {
        note(&mut cell, "through the page cache: part of this may be the speed of memory");
    }
    if let [Some(min), Some(mean), Some(max), p95] = run.ms.map(|ms| ms.map(|ms| ms * 1e6)) {
        let p95 = p95.filter(|ns| (min..=max).contains(ns)).map(whole_ns);
        let n = run.events.unwrap_or(0);
        let (min, max) = (whole_ns(min), whole_ns(max));
        cell.metrics.latency_ns = Some(Latency { n, min, mean, p95, max, ..Latency::default() });
    }
    if is_mixed {
        note(&mut cell, "its times are of reads, writes and fsyncs together");
    } else if run.has_fsync && direction == Direction::Write {
        note(&mut cell, "its times are of writes and fsyncs together");
    }
    cell
}
