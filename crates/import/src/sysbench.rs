//! sysbench fileio: of 1.0 ("reads/s:"), 1.1 ("read: IOPS=..") and 0.4 ("Operations performed").

use record::units::MIB;
use record::{Cell, Direction, Latency, Params, Path, Pattern, Region};

use super::imported_run::{BUFFERED, ImportedRun, cell, io, note, rates, whole_ns, word};
use super::reading::Reading;
use super::text::{ImportText, binary_rate, group, number, re, short, size, whole, with_unit};
use super::{Importer, sign};

const MODE: &str = r"(?m)^\s*Doing (random r/w|random read|random write|sequential read|sequential write \(creation\)|sequential rewrite) test\s*$";

pub(super) const IMPORTER: Importer = Importer {
    name: "sysbench fileio output",
    signs: &[
        sign!("a line 'sysbench ..'", "sysbench"),
        sign!("a line 'Doing random read test' or another of its tests", MODE),
    ],
    read: |source, _, reading| {
        let mut found = ImportedRun::by("sysbench");
        // Lines before the first run's banner belong to it.
        for part in source.parts(|line| line.trim().starts_with("Running the test with")) {
            read_run(&part, &mut found, reading);
        }
        vec![found]
    },
    is_ignored_line: |line| {
        re!(r"^\s*(?:fsyncs/s|fsync:|total time:|execution time|Total file size|Time limit)|bytes written in.*MiB/sec|approx\.").is_match(line)
    },
};

/// Parameters and figures of a run while its lines are read.
#[derive(Default)]
struct Run {
    mode: Option<(&'static str, Pattern)>,
    threads: u32,
    block_bytes: Option<u64>,
    span_bytes: Option<u64>,
    is_direct: bool,
    has_fsync: bool,
    elapsed_s: Option<f64>,
    events: Option<u64>,
    /// Shortest, mean, longest, 95th percentile, in ms.
    ms: [Option<f64>; 4],
    /// Place, I/Os a second (or their count) and bytes a second, of reads and of writes.
    rates: [(usize, Option<f64>, Option<f64>); 2],
    is_counted: bool,
}

fn read_run(source: &ImportText, found: &mut ImportedRun, reading: &mut Reading) {
    let mut run = Run { threads: 1, ..Run::default() };
    let mut is_over = false;
    for (at, line) in source.numbered() {
        if let Some(version) = re!(r"^\s*sysbench ([^ :]*)").captures(line) {
            found.version = short(group(&version, 1), 20);
        }
        if setting(&mut run, line.trim()) || !is_over && result(&mut run, at, line.trim()) {
            reading.take(at);
        }
        // Other tools' output may follow.
        is_over |= line.trim().starts_with("Threads fairness");
    }
    let Some((mode, order)) = run.mode else { return };
    for (direction, (at, iops, bps)) in
        [Direction::Read, Direction::Write].into_iter().zip(run.rates)
    {
        let seconds = run.elapsed_s.filter(|seconds| run.is_counted && *seconds > 0.0);
        let Some(iops) = iops.map(|iops| iops / seconds.unwrap_or(1.0)).filter(|iops| *iops > 0.0)
        else {
            continue;
        };
        if run.is_counted && seconds.is_none() {
            continue;
        }
        let mut cell = of_direction(&run, mode, order, direction);
        let exact = run.block_bytes.map(|block| iops * block as f64);
        rates(&mut cell, Some(iops), exact.or(bps), 1);
        cell.elapsed_ns = run.elapsed_s.map_or(0, |seconds| whole_ns(seconds * 1e9));
        reading.add(found, at, cell);
    }
}

/// Parses a line with a parameter; false if it is not one.
fn setting(run: &mut Run, line: &str) -> bool {
    // 0.4 prints "16Kb" and "2Gb".
    let size_of = |text: &str| size(&text.trim().replace('b', "B"));
    if let Some(mode) = re!(MODE).captures(line) {
        run.mode = Some(match group(&mode, 1) {
            "random r/w" => ("rndrw", Pattern::Uniform),
            "random read" => ("rndrd", Pattern::Uniform),
            "random write" => ("rndwr", Pattern::Uniform),
            "sequential read" => ("seqrd", Pattern::Sequential),
            "sequential rewrite" => ("seqrewr", Pattern::Sequential),
            _ => ("seqwr", Pattern::Sequential),
        });
    } else if let Some(count) = line.strip_prefix("Number of threads:").and_then(whole) {
        run.threads = u32::try_from(count).unwrap_or(1).max(1);
    } else if let Some(block) = line.strip_prefix("Block size ") {
        run.block_bytes = size_of(block);
    } else if let Some(span) = line.strip_suffix(" total file size") {
        run.span_bytes = size_of(span);
    } else if let Some(flags) = line.strip_prefix("Extra file open flags:") {
        run.is_direct = flags.contains("directio") || flags.trim() == "16384";
    } else {
        run.has_fsync |= line.contains("fsync() ") && line.contains("nabled");
        return false;
    }
    true
}

/// Parses a line of results; false if it is not one.
fn result(run: &mut Run, at: usize, line: &str) -> bool {
    // "Operations performed:  6000 Read, 4000 Write, 12800 Other = 22800 Total".
    if let Some(counts) =
        re!(r"^Operations performed\s*:(?:.*?([\d.]+) Read)?(?:.*?([\d.]+) Write)?").captures(line)
    {
        run.is_counted = true;
        run.rates = [1, 2].map(|way| (at, number(group(&counts, way)), None));
        return true;
    }
    // "read: IOPS=1877.63 29.34 MiB/s (30.76 MB/s)".
    if let Some(found) = re!(r"^(read|write)\s*:\s*IOPS=(\S+)\s*(\S*)\s*(\S*)").captures(line) {
        let bps = number(group(&found, 3)).and_then(|value| binary_rate(value, group(&found, 4)));
        let way = usize::from(group(&found, 1) == "write");
        run.rates[way] = (at, number(group(&found, 2)), bps);
        return true;
    }
    let Some((name, value)) = line.split_once(':') else {
        // The same counts of 0.4 in other units.
        return re!("Read .* Written.*Total transferred|Requests/sec executed$").is_match(line);
    };
    let plain = value.split_whitespace().next().and_then(with_unit).map(|(value, _)| value);
    match name.trim() {
        "reads/s" => (run.rates[0].0, run.rates[0].1) = (at, plain),
        "writes/s" => (run.rates[1].0, run.rates[1].1) = (at, plain),
        "read, MiB/s" => run.rates[0].2 = plain.map(|mib| mib * MIB as f64),
        "written, MiB/s" => run.rates[1].2 = plain.map(|mib| mib * MIB as f64),
        "total time" => run.elapsed_s = plain,
        "total number of events" => run.events = plain.map(|n| n as u64),
        "min" => run.ms[0] = plain,
        "avg" => run.ms[1] = plain,
        "max" => run.ms[2] = plain,
        "95th percentile" | "approx.  95 percentile" => run.ms[3] = plain,
        _ => return false,
    }
    true
}

fn of_direction(run: &Run, mode: &str, order: Pattern, direction: Direction) -> Cell {
    let is_mixed = mode == "rndrw";
    let params = Params {
        region: Some(Region::File),
        span_bytes: run.span_bytes,
        threads: run.threads,
        path: if run.is_direct { Path::Direct } else { Path::Buffered },
        form: is_mixed.then(|| word(Some(direction)).into()),
        ..io(direction, order, run.block_bytes)
    };
    let mut cell = cell(format!("sysbench:{mode}"), params);
    if !run.is_direct {
        note(&mut cell, BUFFERED);
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
