//! Microsoft's diskspd: its text, and its XML. Its KiB and MiB are powers of 1024, its times are ms.

mod xml;

use std::collections::BTreeMap;

use record::units::MIB;
use record::{Cell, Direction, Latency, Params, Path, Pattern, Region, Sync, test};

use super::imported_run::{
    ImportTrouble, ImportedRun, cell, estimate, keep_odd, note, percentiles, whole_ns,
};
use super::reading::Reading;
use super::text::{ImportText, number, short, size, wanted, with_unit};
use super::{Hints, Importer, Sign};

pub(super) use self::xml::IMPORTER as XML;

pub(super) const IMPORTER: Importer = Importer {
    name: "diskspd output",
    signs: &[
        Sign {
            what: "'Read IO' or 'Write IO' above a table",
            is_there: |source| source.has(|line| section(line).is_some_and(|way| way.is_some())),
        },
        Sign {
            what: "a head 'thread | bytes | I/Os | MiB/s | I/O per s'",
            is_there: |source| source.has(is_head),
        },
    ],
    read,
    chatter: |line| ["think time:", "duration:"].iter().any(|lead| line.trim().starts_with(lead)),
};

fn is_head(line: &str) -> bool {
    line.trim_start().starts_with("thread |") && line.contains("I/O per s")
}

/// Whose table follows; nothing for the sum of both.
fn section(line: &str) -> Option<Option<Direction>> {
    match line.trim() {
        "Read IO" => Some(Some(Direction::Read)),
        "Write IO" => Some(Some(Direction::Write)),
        "Total IO" => Some(None),
        _ => None,
    }
}

/// What the lines above the results say.
#[derive(Clone, Debug)]
struct Setting {
    block_bytes: Option<u64>,
    pattern: Option<Pattern>,
    queue_depth: u32,
    threads: u32,
    path: Path,
    is_through: bool,
    is_mixed: bool,
    file: String,
    span_bytes: Option<u64>,
    seconds: f64,
}

/// Percentiles by the words for them, in ms: of reads and of writes.
type Times = BTreeMap<String, [Option<f64>; 2]>;

/// A total of a table while its percentiles are not known.
struct Total {
    at: usize,
    direction: Direction,
    figures: [f64; 4],
    mean_ms: Option<f64>,
}

fn read(source: &ImportText, _: &Hints, reading: &mut Reading) -> Vec<ImportedRun> {
    let mut found = ImportedRun::by("diskspd");
    let begins = |line: &str| line.trim().starts_with("Command Line:");
    for part in source.parts(begins) {
        read_run(&part, &mut found, reading);
    }
    vec![found]
}

fn read_run(source: &ImportText, found: &mut ImportedRun, reading: &mut Reading) {
    let mut setting = Setting::of(source);
    let (mut totals, mut times) = (Vec::new(), Times::new());
    let mut way: Option<Option<Direction>> = None;
    for (at, line) in source.numbered() {
        way = section(line).or(way);
        let fields: Vec<&str> = line.trim().split('|').map(str::trim).collect();
        if let (Some(way), Some(first)) = (way, fields[0].strip_prefix("total:"))
            && fields.len() >= 4
        {
            reading.take(at);
            if let Some(direction) = way
                && let Some(figures) = reading.accept(at, total(at, first, &fields))
            {
                let mean_ms = fields.get(4).and_then(|text| number(text));
                totals.push(Total { at, direction, figures, mean_ms });
            }
        } else if fields.len() == 4 && !fields[0].starts_with('%') {
            times.insert(fields[0].to_owned(), [number(fields[1]), number(fields[2])]);
        } else if fields.len() == 8 && setting.span_bytes.is_none() {
            let file = fields[7].rsplit_once(" (").map(|(_, size)| size.trim_end_matches(')'));
            setting.span_bytes = file.and_then(size);
        }
    }
    if !setting.file.is_empty() {
        found.on(&setting.file);
    }
    for total in totals {
        let at = total.at;
        if total.figures[1] > 0.0 {
            reading.add(found, at, of_total(&setting, &times, total));
        }
    }
}

/// Bytes, I/Os, bytes a second, I/Os a second.
fn total(at: usize, bytes: &str, fields: &[&str]) -> Result<[f64; 4], ImportTrouble> {
    Ok([
        wanted(at, "the number of bytes", number(bytes))?,
        wanted(at, "the number of I/Os", number(fields[1]))?,
        wanted(at, "MiB/s", number(fields[2]))? * MIB as f64,
        wanted(at, "I/O per s", number(fields[3]))?,
    ])
}

impl Setting {
    fn of(source: &ImportText) -> Setting {
        let after = |lead: &str| {
            let line = source.lines.iter().find_map(|line| line.trim().strip_prefix(lead))?;
            Some(line.trim())
        };
        let says = |words: &str| source.has(|line| line.trim().starts_with(words));
        let count = |text: Option<&str>| text.and_then(|text| text.parse().ok());
        let depth = after("number of outstanding I/O operations per thread:")
            .or(after("number of outstanding I/O operations:"));
        let pattern = if says("using random I/O") {
            Some(Pattern::Uniform)
        } else {
            says("using sequential I/O").then_some(Pattern::Sequential)
        };
        let seconds =
            after("actual test time:").and_then(with_unit).map_or(0.0, |(value, _)| value);
        Setting {
            block_bytes: after("block size:").and_then(size),
            pattern,
            queue_depth: count(depth).unwrap_or(1).max(1),
            threads: count(after("thread count:")).unwrap_or(1).max(1),
            path: if says("software cache disabled") { Path::Direct } else { Path::Buffered },
            is_through: says("hardware write cache disabled") || says("writethrough on"),
            is_mixed: says("performing mix test"),
            file: after("path: '").map_or_else(String::new, |path| short(path, 200)),
            span_bytes: None,
            seconds,
        }
        .without_quote()
    }

    fn without_quote(mut self) -> Setting {
        self.file.truncate(self.file.trim_end_matches('\'').len());
        self
    }
}

fn of_total(setting: &Setting, times: &Times, total: Total) -> Cell {
    let [bytes, ops, bps, iops] = total.figures;
    let writes = total.direction == Direction::Write;
    let (sync, word) = if writes { (setting.is_through, "write") } else { (false, "read") };
    let params = Params {
        direction: Some(total.direction),
        pattern: setting.pattern,
        block_bytes: setting.block_bytes,
        region: Some(Region::File),
        span_bytes: setting.span_bytes,
        queue_depth: setting.queue_depth,
        threads: setting.threads,
        sync: if sync { Sync::File } else { Sync::None },
        path: setting.path,
        form: setting.is_mixed.then(|| word.to_owned()),
        ..Params::default()
    };
    let mut cell = cell(name(setting, total.direction), params);
    (cell.bytes, cell.ops) = (bytes as u64, ops as u64);
    cell.written_bytes = if writes { cell.bytes } else { 0 };
    cell.elapsed_ns = whole_ns(setting.seconds * 1e9);
    cell.metrics.iops = Some(estimate(iops, cell.ops));
    cell.metrics.bps = Some(estimate(bps, cell.ops));
    if setting.path == Path::Buffered {
        note(&mut cell, "through the page cache: part of this may be the speed of memory");
    }
    add_times(&mut cell, times, writes, total.mean_ms);
    cell
}

/// Our test where the procedure is: one I/O at a time past the page cache, in one thread.
fn name(setting: &Setting, direction: Direction) -> String {
    let is_ours = setting.queue_depth == 1
        && setting.threads == 1
        && setting.path == Path::Direct
        && !setting.is_mixed;
    match (setting.pattern, direction) {
        _ if setting.is_mixed => "diskspd:mix".to_owned(),
        (Some(Pattern::Uniform), Direction::Read) if is_ours => test::RANDOM_READ.to_owned(),
        (Some(Pattern::Uniform), Direction::Write) if is_ours => test::RANDOM_WRITE.to_owned(),
        (Some(Pattern::Sequential), Direction::Read) if is_ours => test::SEQUENTIAL_READ.to_owned(),
        (Some(Pattern::Sequential), Direction::Write) if is_ours => {
            test::SEQUENTIAL_WRITE.to_owned()
        }
        (Some(Pattern::Uniform), Direction::Read) => "diskspd:random-read".to_owned(),
        (Some(Pattern::Uniform), Direction::Write) => "diskspd:random-write".to_owned(),
        (_, Direction::Read) => "diskspd:read".to_owned(),
        (_, Direction::Write) => "diskspd:write".to_owned(),
    }
}

fn add_times(cell: &mut Cell, times: &Times, writes: bool, mean_ms: Option<f64>) {
    let at = |name: &str| times.get(name)?[usize::from(writes)].map(|ms| ms * 1e6);
    let (Some(min), Some(max), Some(mean)) = (at("min"), at("max"), mean_ms) else { return };
    let mut latency = Latency {
        n: cell.ops,
        min: whole_ns(min),
        mean: mean * 1e6,
        max: whole_ns(max.max(min)),
        ..Latency::default()
    };
    let odd = percentiles(&mut latency, |share| match share {
        0.5 => at("50th"),
        0.9 => at("90th"),
        0.95 => at("95th"),
        0.99 => at("99th"),
        _ => at("3-nines"),
    });
    keep_odd(cell, &latency, &odd);
    cell.metrics.latency_ns = Some(latency);
}
