//! Microsoft's diskspd: its text, and its XML (`-Rxml`: each `<TimeSpan>` with a
//! `<TestTimeSeconds>` is a run; the `<Profile>` before it has its parameters). Its KiB and MiB are
//! powers of 1024, its times are ms.

use std::collections::BTreeMap;

use record::units::MIB;
use record::{Cell, Direction, Latency, Params, Path, Pattern, Region, Sync};

use super::imported_run::{
    BUFFERED, ImportTrouble, ImportedRun, cell, io, keep_odd, moved, note, our_test, percentiles,
    rates, whole_ns, word,
};
use super::reading::Reading;
use super::text::{ImportText, between, group, number, re, short, size, wanted, whole, with_unit};
use super::{Importer, sign};

pub(super) const IMPORTER: Importer = Importer {
    name: "diskspd output",
    signs: &[
        sign!("'Read IO' or 'Write IO' above a table", r"(?m)^\s*(?:Read|Write) IO\s*$"),
        sign!(
            "a head 'thread | bytes | I/Os | MiB/s | I/O per s'",
            r"(?m)^\s*thread \|.*I/O per s"
        ),
    ],
    read: |source, _, reading| {
        let mut found = ImportedRun::by("diskspd");
        for part in source.parts(|line| line.trim().starts_with("Command Line:")) {
            read_run(&part, &mut found, reading);
        }
        vec![found]
    },
    is_ignored_line: |line| re!(r"^\s*(?:think time|duration):").is_match(line),
};

pub(super) const XML: Importer = Importer {
    name: "diskspd XML",
    signs: &[sign!(
        "'<TestTimeSeconds>' and '<ReadBytes>'",
        "(?s)<TestTimeSeconds>.*<ReadBytes>|<ReadBytes>.*<TestTimeSeconds>"
    )],
    read: read_xml,
    is_ignored_line: |_| false,
};

/// Most runs in a file of XML.
const MAX_RUNS: usize = 1000;

/// Parameters of a run.
#[derive(Default)]
struct Setting {
    params: Params,
    is_through: bool,
    is_mixed: bool,
    file: String,
    seconds: f64,
    /// Percentiles under their names in the text, in ms: of reads and of writes.
    times: BTreeMap<String, [Option<f64>; 2]>,
}

/// Totals of reads or writes over all threads: bytes, I/Os, bytes a second, I/Os a second, mean ms.
struct Total {
    at: usize,
    direction: Direction,
    figures: [f64; 4],
    mean_ms: Option<f64>,
}

fn path(is_direct: bool) -> Path {
    if is_direct { Path::Direct } else { Path::Buffered }
}

fn read_run(source: &ImportText, found: &mut ImportedRun, reading: &mut Reading) {
    let mut setting = of_text(source);
    let mut totals = Vec::new();
    let mut way = None;
    for (at, line) in source.numbered() {
        way = re!(r"^\s*(Read|Write|Total) IO\s*$")
            .captures(line)
            .map(|found| group(&found, 1))
            .or(way);
        let fields: Vec<&str> = line.trim().split('|').map(str::trim).collect();
        if let (Some(way), Some(first)) = (way, fields[0].strip_prefix("total:"))
            && fields.len() >= 4
        {
            reading.take(at);
            let direction = if way == "Read" { Direction::Read } else { Direction::Write };
            if way != "Total" {
                totals.extend(reading.accept(at, total(at, direction, first, &fields)));
            }
        } else if fields.len() == 4 && !fields[0].starts_with('%') {
            setting.times.insert(fields[0].to_owned(), [number(fields[1]), number(fields[2])]);
        } else if fields.len() == 8 && setting.params.span_bytes.is_none() {
            let file = fields[7].rsplit_once(" (").map(|(_, size)| size.trim_end_matches(')'));
            setting.params.span_bytes = file.and_then(size);
        }
    }
    add(found, &setting, totals, reading);
}

fn add(found: &mut ImportedRun, setting: &Setting, totals: Vec<Total>, reading: &mut Reading) {
    found.on(&setting.file);
    for total in totals.into_iter().filter(|total| total.figures[1] > 0.0) {
        reading.add(found, total.at, of_total(setting, &total));
    }
}

fn total(
    at: usize,
    direction: Direction,
    bytes: &str,
    fields: &[&str],
) -> Result<Total, ImportTrouble> {
    let figures = [
        wanted(at, "the number of bytes", number(bytes))?,
        wanted(at, "the number of I/Os", number(fields[1]))?,
        wanted(at, "MiB/s", number(fields[2]))? * MIB as f64,
        wanted(at, "I/O per s", number(fields[3]))?,
    ];
    Ok(Total { at, direction, figures, mean_ms: fields.get(4).and_then(|text| number(text)) })
}

fn of_text(source: &ImportText) -> Setting {
    let has_line = |words: &str| source.has(|line| line.trim().starts_with(words));
    let after = |lead: &str| {
        source.lines.iter().find_map(|line| line.trim().strip_prefix(lead)).map(str::trim)
    };
    let count = |text: Option<&str>| text.and_then(|text| text.parse().ok()).unwrap_or(1).max(1);
    let depth = after("number of outstanding I/O operations per thread:")
        .or(after("number of outstanding I/O operations:"));
    let random = has_line("using random I/O").then_some(Pattern::Uniform);
    let pattern = random.or(has_line("using sequential I/O").then_some(Pattern::Sequential));
    Setting {
        params: Params {
            queue_depth: count(depth),
            threads: count(after("thread count:")),
            path: path(has_line("software cache disabled")),
            ..io(None, pattern, after("block size:").and_then(size))
        },
        is_through: has_line("hardware write cache disabled") || has_line("writethrough on"),
        is_mixed: has_line("performing mix test"),
        file: after("path: '")
            .map_or_else(String::new, |path| short(path, 200).trim_end_matches('\'').to_owned()),
        seconds: after("actual test time:").and_then(with_unit).map_or(0.0, |(value, _)| value),
        times: BTreeMap::new(),
    }
}

fn of_total(setting: &Setting, total: &Total) -> Cell {
    let [bytes, ops, bps, iops] = total.figures;
    let (direction, asked) = (total.direction, &setting.params);
    let writes = direction == Direction::Write;
    let is_ours = asked.queue_depth == 1 && asked.threads == 1 && asked.path == Path::Direct;
    let name = match asked.pattern {
        _ if setting.is_mixed => "diskspd:mix".to_owned(),
        // Our test if the procedure is the same: one I/O at a time past the page cache, in one
        // thread.
        Some(pattern) if is_ours => our_test(pattern, direction).to_owned(),
        Some(Pattern::Uniform) => format!("diskspd:random-{}", word(Some(direction))),
        _ => format!("diskspd:{}", word(Some(direction))),
    };
    let params = Params {
        direction: Some(direction),
        region: Some(Region::File),
        sync: if writes && setting.is_through { Sync::File } else { Sync::None },
        form: setting.is_mixed.then(|| word(Some(direction)).to_owned()),
        ..asked.clone()
    };
    let mut cell = cell(name, params);
    moved(&mut cell, bytes as u64, ops as u64);
    cell.elapsed_ns = whole_ns(setting.seconds * 1e9);
    rates(&mut cell, Some(iops), Some(bps), ops as u64);
    if asked.path == Path::Buffered {
        note(&mut cell, BUFFERED);
    }
    let at = |name: &str| setting.times.get(name)?[usize::from(writes)].map(|ms| ms * 1e6);
    if let (Some(min), Some(max), Some(mean)) = (at("min"), at("max"), total.mean_ms) {
        let (n, min, max) = (cell.ops, whole_ns(min), whole_ns(max.max(min)));
        let mut latency = Latency { n, min, mean: mean * 1e6, max, ..Latency::default() };
        let odd = percentiles(&mut latency, |share| match share {
            0.999 => at("3-nines"),
            share => at(&format!("{}th", (share * 100.0).round())),
        });
        keep_odd(&mut cell, &latency, &odd);
        cell.metrics.latency_ns = Some(latency);
    }
    cell
}

fn read_xml(source: &ImportText, _: &super::Hints, reading: &mut Reading) -> Vec<ImportedRun> {
    let mut found = ImportedRun::by("diskspd");
    let (mut from, mut profile) = (0, "");
    for _ in 0..MAX_RUNS {
        let rest = source.text.get(from..).unwrap_or_default();
        let Some(begin) = rest.find("<TestTimeSeconds>") else { break };
        // The profile of the next document precedes it.
        profile = between(&rest[..begin], "<Profile>", "</Profile>").unwrap_or(profile);
        let run = &rest[begin..];
        let length = run.find("</TimeSpan>").unwrap_or(run.len());
        let at = source.place_of(from + begin);
        let last = source.place_of(from + begin + length);
        reading.take_many(at, last + 1 - at);
        if let Some(totals) = reading.accept(at, of_elements(at, &run[..length])) {
            add(&mut found, &of_xml(profile, &run[..length]), totals, reading);
        }
        from += begin + length.max(1);
    }
    vec![found]
}

/// Text of the first element of a name.
fn value<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    between(text, &format!("<{name}>"), "</").map(str::trim)
}

/// Totals of reads and of writes, over all threads.
fn of_elements(at: usize, run: &str) -> Result<Vec<Total>, ImportTrouble> {
    let seconds = value(run, "TestTimeSeconds").and_then(number).filter(|seconds| *seconds > 0.0);
    let seconds = seconds
        .ok_or_else(|| ImportTrouble::at(at, "the time of the test is not a number of seconds"))?;
    // The sum of all elements of a name.
    let sum = |name: String| {
        run.split(&format!("<{name}>")).skip(1).try_fold(0.0, |sum, rest| {
            let figure = rest.split('<').next().and_then(number);
            let bad = || ImportTrouble::at(at, format_args!("a <{name}> is no number"));
            Ok(sum + figure.ok_or_else(bad)?)
        })
    };
    let ways = [(Direction::Read, "Read"), (Direction::Write, "Write")];
    let of = |(direction, word): (_, &str)| {
        let (bytes, ops) = (sum(format!("{word}Bytes"))?, sum(format!("{word}Count"))?);
        let figures = [bytes, ops, bytes / seconds, ops / seconds];
        let mean_ms = value(run, &format!("Average{word}Milliseconds")).and_then(number);
        Ok(Total { at, direction, figures, mean_ms })
    };
    ways.into_iter().map(of).collect()
}

fn of_xml(profile: &str, run: &str) -> Setting {
    let count = |text: &str, name: &str| value(text, name).and_then(whole);
    let small =
        |text, name| count(text, name).and_then(|n| u32::try_from(n).ok()).unwrap_or(1).max(1);
    let has = |name: &str| value(profile, name).is_some_and(|text| text != "false");
    let ratio = value(profile, "WriteRatio").and_then(number).unwrap_or(0.0);
    let pattern = if has("Random") { Pattern::Uniform } else { Pattern::Sequential };
    let mut times = BTreeMap::new();
    for bucket in run.split("<Bucket>").skip(1) {
        let bucket = bucket.split("</Bucket>").next().unwrap_or_default();
        let name = match value(bucket, "Percentile").and_then(number) {
            Some(0.0) => "min".to_owned(),
            Some(99.9) => "3-nines".to_owned(),
            Some(100.0) => "max".to_owned(),
            Some(percent) => format!("{percent}th"),
            None => continue,
        };
        let ms = |word: &str| value(bucket, word).and_then(number);
        times.insert(name, [ms("ReadMilliseconds"), ms("WriteMilliseconds")]);
    }
    Setting {
        params: Params {
            span_bytes: count(run, "FileSize"),
            queue_depth: small(profile, "RequestCount"),
            threads: small(run, "ThreadCount"),
            path: path(has("DisableOSCache") || has("DisableAllCache")),
            ..io(None, pattern, count(profile, "BlockSize"))
        },
        is_through: has("WriteThrough") || has("DisableAllCache"),
        is_mixed: ratio > 0.0 && ratio < 100.0,
        file: value(run, "Path").map_or_else(String::new, |path| short(path, 200)),
        seconds: value(run, "TestTimeSeconds").and_then(number).unwrap_or(0.0),
        times,
    }
}
