//! KDiskMark and CrystalDiskMark: their text reports.
//!
//! CrystalDiskMark's MB/s are 10^6 bytes. KDiskMark's are fio's KiB/s divided by 1000, although its
//! head says otherwise: they are 2.3 % too low (4.6 % in 2020, when it divided by 1024). The IOPS
//! beside them are right, and tell which of these units a line has.

use record::{Cell, Direction, Host, Params, Path, Pattern, Region};
use regex::Captures;

use super::imported_run::{
    ImportTrouble, ImportedRun, cell, io, label, note, other, our_test, rates, word,
};
use super::reading::Reading;
use super::text::{ImportText, decimal, group, re, short, size, wanted, whole};
use super::{Importer, sign};

pub(super) const IMPORTER: Importer = Importer {
    name: "KDiskMark or CrystalDiskMark text",
    signs: &[
        sign!("lines 'Random 4 KiB (Q= 1, T= 1): .. MB/s' or 'Sequential Read : .. MB/s'", RESULT),
        sign!(
            "'[Read]' and '[Write]', or 'Read' and 'Write' in the lines",
            r"(?m)^\s*(?:\[(?:Read|Write|Mix)\]|(?:Sequential|Random|SEQ|RND).* (?i:read|write))"
        ),
    ],
    read,
    apart: r"MB/s\]? = 1",
};

/// Head, MB/s, IOPS and microseconds of a line of results.
const RESULT: &str = r"(?m)^[ \t]*((?:Sequential|Random|SEQ|RND).*(?:\(Q| Read| Write).*):([^:\n]*)MB/s(?:.*?\[(.*?)IOPS)?(?:.*?<(.*?)us>)?";

/// Units that KDiskMark's "MB/s" have had, in units of 10^6 bytes: 10^6, 1000 KiB, 1 MiB.
const MEGABYTES: [(f64, &str); 3] = [
    (1.0, ""),
    (1.024, "printed 2.3 % too low: its MB/s are 1000 KiB/s; corrected"),
    (1.048576, "printed 4.6 % too low: its MB/s are MiB/s; corrected"),
];

fn read(source: &ImportText, _: &super::Hints, reading: &mut Reading) -> Vec<ImportedRun> {
    let is_kdiskmark =
        re!(r"KDiskMark[ ]?[(:]|github\.com/JonMagon/KDiskMark").is_match(source.text);
    let tool = if is_kdiskmark { "KDiskMark" } else { "CrystalDiskMark" };
    let mut found = ImportedRun::by(tool);
    let version =
        if is_kdiskmark { re!(r"KDiskMark \((.*?)\)") } else { re!("CrystalDiskMark (.*?) ") };
    found.version = source.first(version).map_or_else(String::new, |version| short(version, 20));
    // "Test: 1 GiB (x5) [Interval: 5 sec]": size of the file, and number of repetitions.
    let test = source
        .numbered()
        .find_map(|(_, line)| re!(r"^\s*Test[ :]*([^(\[]*)(?:.*\(x(\d+)\))?").captures(line));
    let span = test.as_ref().and_then(|test| size(&group(test, 1).replace(' ', "")));
    let runs = test.as_ref().and_then(|test| whole(group(test, 2))).unwrap_or(1);
    let mut section = None;
    for (at, line) in source.numbered() {
        if let Some(next) = re!(r"^\s*\[(Read|Write|Mix)\]").captures(line) {
            section = direction(&format!(" {}", group(&next, 1)));
        }
        let Some(parts) = re!(RESULT).captures(line) else { continue };
        let Some([rate, iops, us]) = reading.accept(at, numbers(at, &parts)) else { continue };
        let head = group(&parts, 1);
        let Some(rate) = rate.filter(|rate| *rate > 0.0) else {
            let head = short(head, 60);
            found.notes.push(format!("{head}: a rate of 0: the test failed or was not run"));
            reading.take(at);
            continue;
        };
        let mut cell = of_line(head, direction(head).or(section), tool);
        cell.params.span_bytes = span;
        figures(&mut cell, rate, iops, is_kdiskmark);
        if let Some(us) = us.filter(|us| *us > 0.0) {
            other(&mut cell, "mean_latency_ns", us * 1e3, runs);
        }
        reading.add(&mut found, at, cell);
    }
    if let Some(date) = source.first(re!(r"^\s*Date.*?:(.*)")) {
        found.notes.push(format!("measured {} by the clock of its host", short(date, 40)));
    }
    if let Some(kernel) = source.first(re!(r"^\s*OS.*?:.*\[linux (.*?)\]")) {
        found.host = Some(Host { kernel: Some(short(kernel, 60)), ..Host::default() });
    }
    vec![found]
}

/// Direction in these words; `None` if they have neither or both.
fn direction(words: &str) -> Option<Direction> {
    let lower = words.to_ascii_lowercase();
    match (lower.contains(" read"), lower.contains(" write")) {
        (true, false) => Some(Direction::Read),
        (false, true) => Some(Direction::Write),
        _ => None,
    }
}

/// Rate, IOPS and latency.
fn numbers(at: usize, parts: &Captures) -> Result<[Option<f64>; 3], ImportTrouble> {
    let read = |what: &str, number: usize| {
        parts.get(number).map(|text| wanted(at, what, decimal(text.as_str().trim()))).transpose()
    };
    Ok([read("the rate", 2)?, read("IOPS", 3)?, read("the latency", 4)?])
}

fn of_line(head: &str, direction: Option<Direction>, tool: &'static str) -> Cell {
    let count = |found: Option<Captures>| {
        let count = found.and_then(|found| group(&found, 1).parse().ok());
        count.filter(|n| (1..=65_536).contains(n)).unwrap_or(1)
    };
    let depth = count(re!(r"(?i)q(?:d)?=\s*(\d+)").captures(head));
    let threads = count(re!(r"(?i)t=\s*(\d+)").captures(head));
    // All of its units are binary.
    let block = re!(r"(\d+) ?([KM]i?B)")
        .find(head)
        .and_then(|block| size(&block.as_str().replace(' ', "")));
    let is_random = re!("(?i)^(?:random|rnd)").is_match(head);
    let (kind, pattern) =
        if is_random { ("random", Pattern::Uniform) } else { ("sequential", Pattern::Sequential) };
    // KDiskMark runs fio for some seconds; CrystalDiskMark shows the best of its runs, which is
    // another figure.
    let is_kdiskmark = tool == "KDiskMark";
    let ours = direction.filter(|_| is_kdiskmark && depth == 1 && threads == 1);
    let test = match ours {
        Some(direction) => our_test(pattern, direction).to_owned(),
        None => format!("{tool}:{kind}-{}", word(direction)),
    };
    let params = Params {
        region: Some(Region::File),
        queue_depth: depth,
        threads,
        path: Path::Direct,
        ..io(direction, pattern, block)
    };
    let mut cell = cell(test, params);
    label(&mut cell, "line", head);
    if !is_kdiskmark {
        note(&mut cell, "the best of its runs, the first left out");
    } else if threads > 1 {
        note(&mut cell, "before May 2026 KDiskMark showed half of what several threads did");
    }
    cell
}

fn figures(cell: &mut Cell, rate: f64, iops: Option<f64>, is_kdiskmark: bool) {
    let block = cell.params.block_bytes;
    let ratio = iops.zip(block).map(|(iops, block)| iops * block as f64 / (rate * 1e6));
    let ratio = ratio.filter(|ratio| *ratio > 0.0);
    // Printed with three and one digits behind the point.
    let slack = 0.006 + 0.0005 / rate + iops.map_or(0.0, |iops| 0.05 / iops.max(0.05));
    let off = |factor: f64| ratio.map_or(f64::INFINITY, |ratio| (ratio / factor - 1.0).abs());
    let fitting: Vec<_> = MEGABYTES.iter().filter(|(factor, _)| off(*factor) < slack).collect();
    let usual = &MEGABYTES[usize::from(is_kdiskmark)];
    let (factor, text) = if let [only] = fitting[..] { only } else { usual };
    let bps = rate * 1e6 * factor;
    let of_rate = || block.map(|block| bps / block as f64);
    rates(cell, iops.filter(|iops| *iops > 0.0).or_else(of_rate), Some(bps), 1);
    if !text.is_empty() {
        note(cell, *text);
    }
    if ratio.is_some() && fitting.is_empty() {
        note(cell, "its MB/s and IOPS do not agree");
    }
}
