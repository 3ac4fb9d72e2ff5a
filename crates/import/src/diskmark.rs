//! KDiskMark and CrystalDiskMark: the text that people paste.
//!
//! CrystalDiskMark's MB/s are 10^6 bytes. KDiskMark's are what fio counts in KiB/s divided by 1000,
//! although its head says otherwise: they are 2.3 % too low (4.6 % in 2020, when it divided by
//! 1024). The IOPS beside them are right, and tell which of these a line has.

use record::{Cell, Direction, Host, Params, Path, Pattern, Region};

use super::imported_run::{ImportTrouble, ImportedRun, cell, estimate, label, note, other};
use super::reading::Reading;
use super::text::{ImportText, between, decimal, short, size, wanted, whole};
use super::{Hints, Importer, Sign};

pub(super) const IMPORTER: Importer = Importer {
    name: "KDiskMark or CrystalDiskMark text",
    signs: &[
        Sign {
            what: "lines 'Random 4 KiB (Q= 1, T= 1): .. MB/s' or 'Sequential Read : .. MB/s'",
            is_there: |source| source.has(|line| result(line).is_some()),
        },
        Sign {
            what: "'[Read]' and '[Write]', or 'Read' and 'Write' in the lines",
            is_there: |source| source.has(|line| section(line).is_some() || way(line).is_some()),
        },
    ],
    read,
    chatter: |line| line.contains("MB/s = 1") || line.contains("[MB/s] = 1"),
};

/// What KDiskMark's "MB/s" have been, in bytes: 10^6, 1000 KiB, 1 MiB.
const MEGABYTES: [(f64, &str); 3] = [
    (1.0, ""),
    (1.024, "printed 2.3 % too low: its MB/s are 1000 KiB/s; corrected"),
    (1.048576, "printed 4.6 % too low: its MB/s are MiB/s; corrected"),
];

/// Head, MB/s, IOPS and microseconds of a line of results.
fn result(line: &str) -> Option<Parts<'_>> {
    let (head, rest) = line.split_once("MB/s")?;
    let (head, value) = head.rsplit_once(':')?;
    let begins = ["Sequential", "Random", "SEQ", "RND"]
        .iter()
        .any(|word| head.trim_start().starts_with(word));
    let known = begins && ["(Q", " Read", " Write"].iter().any(|word| head.contains(word));
    let iops = between(rest, "[", "IOPS");
    let us = between(rest, "<", "us>");
    known.then_some((head.trim(), value.trim(), iops.map(str::trim), us.map(str::trim)))
}

fn section(line: &str) -> Option<Option<Direction>> {
    let line = line.trim();
    match line.strip_prefix('[')?.split(']').next()? {
        "Read" => Some(Some(Direction::Read)),
        "Write" => Some(Some(Direction::Write)),
        "Mix" => Some(None),
        _ => None,
    }
}

/// "Sequential Read", "Random Write 4KiB ..": the direction in the line itself.
fn way(line: &str) -> Option<Direction> {
    let head = result(line)?.0.to_ascii_lowercase();
    match (head.contains(" read"), head.contains(" write")) {
        (true, false) => Some(Direction::Read),
        (false, true) => Some(Direction::Write),
        _ => None,
    }
}

/// The number after "Q=" or "T=", which may stand apart.
fn after<'a>(head: &'a str, mark: &str) -> Option<u32> {
    let rest: &'a str = head.split_once(mark)?.1.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest.get(..end)
        .and_then(whole)
        .and_then(|n| u32::try_from(n).ok())
        .filter(|n| (1..=65_536).contains(n))
}

/// "1 MiB", "4KiB", "512KB": binary, all of them.
fn block(head: &str) -> Option<u64> {
    let words: Vec<&str> = head.split([' ', '(']).filter(|word| !word.is_empty()).collect();
    let apart = words
        .windows(2)
        .find(|pair| whole(pair[0]).is_some() && is_unit(pair[1]))
        .map(|pair| pair.concat());
    let joined = words
        .iter()
        .find(|word| word.starts_with(|c: char| c.is_ascii_digit()) && word.ends_with('B'))
        .map(|word| (*word).to_owned());
    size(&apart.or(joined)?)
}

fn is_unit(word: &str) -> bool {
    ["KiB", "MiB", "KB", "MB"].contains(&word)
}

fn read(source: &ImportText, _: &Hints, reading: &mut Reading) -> Vec<ImportedRun> {
    let is_kdiskmark = source.contains("KDiskMark (")
        || source.contains("KDiskMark:")
        || source.contains("github.com/JonMagon/KDiskMark");
    let mut found = ImportedRun::by(if is_kdiskmark { "KDiskMark" } else { "CrystalDiskMark" });
    found.version = version(source, is_kdiskmark);
    let mut direction = None;
    let (span, runs) = test_line(source);
    for (at, line) in source.numbered() {
        if let Some(next) = section(line) {
            direction = next;
        }
        let Some(parts) = result(line) else { continue };
        let Some([rate, iops, us]) = reading.accept(at, numbers(at, parts)) else { continue };
        let Some(rate) = rate.filter(|rate| *rate > 0.0) else {
            let head = short(parts.0, 60);
            found.notes.push(format!("{head}: a rate of 0: the test failed or was not run"));
            reading.take(at);
            continue;
        };
        let mut cell = of_line(parts.0, way(line).or(direction), is_kdiskmark);
        cell.params.span_bytes = span;
        figures(&mut cell, rate, iops, is_kdiskmark);
        if let Some(us) = us.filter(|us| *us > 0.0) {
            other(&mut cell, "mean_latency_ns", us * 1e3, runs);
        }
        reading.add(&mut found, at, cell);
    }
    about(&mut found, source);
    vec![found]
}

/// What [`result`] finds in a line.
type Parts<'a> = (&'a str, &'a str, Option<&'a str>, Option<&'a str>);

/// Rate, IOPS and latency.
fn numbers(at: usize, (_, rate, iops, us): Parts) -> Result<[Option<f64>; 3], ImportTrouble> {
    let read = |what: &str, text: Option<&str>| {
        text.map(|text| wanted(at, what, decimal(text))).transpose()
    };
    Ok([read("the rate", Some(rate))?, read("IOPS", iops)?, read("the latency", us)?])
}

fn version(source: &ImportText, is_kdiskmark: bool) -> String {
    let after_name = |name: &str, end: &str| {
        source
            .lines
            .iter()
            .find_map(|line| between(line, name, end))
            .map(|version| short(version, 20))
    };
    if is_kdiskmark { after_name("KDiskMark (", ")") } else { after_name("CrystalDiskMark ", " ") }
        .unwrap_or_default()
}

/// "Test: 1 GiB (x5) [Interval: 5 sec]": size of the file, and how often.
fn test_line(source: &ImportText) -> (Option<u64>, u64) {
    let line =
        source.lines.iter().map(|line| line.trim()).find_map(|line| line.strip_prefix("Test"));
    let text = line.map(|rest| rest.trim_start_matches([' ', ':'])).unwrap_or_default();
    let amount = text.split(['(', '[']).next().unwrap_or_default().replace(' ', "");
    let runs = between(text, "(x", ")").and_then(whole).unwrap_or(1);
    (size(&amount), runs)
}

fn of_line(head: &str, direction: Option<Direction>, is_kdiskmark: bool) -> Cell {
    let lower = head.to_ascii_lowercase().replace('(', " (");
    let is_random = lower.starts_with("random") || lower.starts_with("rnd");
    let depth = after(&lower, "q=").or_else(|| after(&lower, "qd=")).unwrap_or(1);
    let threads = after(&lower, "t=").unwrap_or(1);
    let (kind, pattern) =
        if is_random { ("random", Pattern::Uniform) } else { ("sequential", Pattern::Sequential) };
    let word = match direction {
        Some(Direction::Read) => "read",
        Some(Direction::Write) => "write",
        None => "mix",
    };
    // KDiskMark is fio for some seconds; CrystalDiskMark shows the best of its runs, which is
    // another figure.
    let is_ours = is_kdiskmark && depth == 1 && threads == 1 && direction.is_some();
    let tool = if is_kdiskmark { "KDiskMark" } else { "CrystalDiskMark" };
    let test = if is_ours { format!("{kind}-{word}") } else { format!("{tool}:{kind}-{word}") };
    let params = Params {
        direction,
        pattern: Some(pattern),
        block_bytes: block(head),
        region: Some(Region::File),
        queue_depth: depth,
        threads,
        path: Path::Direct,
        ..Params::default()
    };
    let mut cell = cell(test, params);
    label(&mut cell, "line", head);
    if !is_kdiskmark {
        note(&mut cell, "the best of its runs, the first left out");
    }
    if is_kdiskmark && threads > 1 {
        note(&mut cell, "before May 2026 KDiskMark showed half of what several threads did");
    }
    cell
}

fn figures(cell: &mut Cell, rate: f64, iops: Option<f64>, is_kdiskmark: bool) {
    let ratio = iops
        .zip(cell.params.block_bytes)
        .map(|(iops, block)| iops * block as f64 / (rate * 1e6))
        .filter(|ratio| *ratio > 0.0);
    // Printed with three and one digits behind the point.
    let slack = 0.006 + 0.0005 / rate + iops.map_or(0.0, |iops| 0.05 / iops.max(0.05));
    let fitting = |(factor, _): &&(f64, &str)| {
        ratio.is_some_and(|ratio| (ratio / factor - 1.0).abs() < slack)
    };
    let closest = MEGABYTES.iter().filter(fitting).min_by(|a, b| {
        let off = |factor: f64| ratio.map_or(0.0, |ratio| (ratio / factor - 1.0).abs());
        off(a.0).total_cmp(&off(b.0))
    });
    let usual = if is_kdiskmark { &MEGABYTES[1] } else { &MEGABYTES[0] };
    let several = MEGABYTES.iter().filter(fitting).count() > 1;
    let (factor, text) = closest.filter(|_| !several).unwrap_or(usual);
    cell.metrics.bps = Some(estimate(rate * 1e6 * factor, 1));
    cell.metrics.iops = iops
        .filter(|iops| *iops > 0.0)
        .or(cell.params.block_bytes.map(|block| rate * 1e6 * factor / block as f64))
        .map(|iops| estimate(iops, 1));
    if !text.is_empty() {
        note(cell, *text);
    }
    if ratio.is_some() && closest.is_none() {
        note(cell, "its MB/s and IOPS do not agree");
    }
}

fn about(found: &mut ImportedRun, source: &ImportText) {
    let value = |name: &str| {
        let line =
            source.lines.iter().map(|line| line.trim()).find(|line| line.starts_with(name))?;
        line.split_once(':').map(|(_, rest)| rest.trim())
    };
    if let Some(date) = value("Date") {
        found.notes.push(format!("measured {} by the clock of its host", short(date, 40)));
    }
    if let Some(kernel) = value("OS").and_then(|os| between(os, "[linux ", "]")) {
        found.host = Some(Host { kernel: Some(short(kernel, 60)), ..Host::default() });
    }
}
