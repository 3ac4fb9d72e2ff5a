//! Records in words: "medium.kind=sd; random-write 4KiB 900/s ci=3% span=32MiB". The head of
//! `fixtures/findings/thresholds.txt` says what can be said.

use record::units::MIB;
use record::{Cell, Estimate, Flag, Histogram, Record, Round, Series, SeriesAxis, Stop};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::table::parts;
use super::{cell, empty, exact, iops, known};

/// Units of a value, and what they make of it: bytes, nanoseconds, shares.
const UNITS: [(&str, f64); 12] = [
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("ns", 1.0),
    ("us", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("B", 1.0),
    ("%", 0.01),
];

fn number(text: &str) -> Option<f64> {
    let text = text.strip_suffix("/s").unwrap_or(text);
    let with_unit = UNITS
        .iter()
        .find_map(|(unit, times)| Some(text.strip_suffix(unit)?.parse::<f64>().ok()? * times));
    with_unit.or_else(|| text.parse().ok()).filter(|value| value.is_finite())
}

fn figure(text: &str) -> f64 {
    number(text).unwrap_or_else(|| panic!("{text:?} is no number"))
}

/// The parts of a word at a letter that it must have.
fn halves<'a>(text: &'a str, letter: &str) -> (&'a str, &'a str) {
    text.split_once(letter).unwrap_or_else(|| panic!("{text:?} has no {letter:?}"))
}

/// "4.5MB", "4.5MB~3%" (known to that share), "4(2..30)" (with its interval), each with "*24" where
/// it comes of so many.
fn estimate(text: &str) -> Estimate {
    let (text, n) = text.split_once('*').map_or((text, 400), |(text, n)| (text, figure(n) as u64));
    if let Some((value, share)) = text.split_once('~') {
        return known(figure(value), figure(share), n);
    }
    let (value, ends) = text.split_once('(').map_or((text, None), |(v, ends)| (v, Some(ends)));
    let ci95 = ends.map(|ends| {
        let (low, high) = halves(ends.trim_end_matches(')'), "..");
        [figure(low), figure(high)]
    });
    Estimate { value: figure(value), ci95, n }
}

/// A value of a field: JSON, a number with its unit, or a word.
fn value(text: &str) -> Value {
    match number(text) {
        _ if text.starts_with(['[', '{', '"']) => {
            serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
        }
        Some(whole) if whole >= 0.0 && (whole - whole.round()).abs() <= 1e-9 * whole => {
            json!(whole.round() as u64)
        }
        Some(part) => json!(part),
        None => match text {
            "true" => json!(true),
            "false" => json!(false),
            "null" => Value::Null,
            _ => json!(text),
        },
    }
}

/// The same with the field at this path ("medium.claims.write_bps") set.
fn set<T: Serialize + DeserializeOwned>(of: &T, path: &str, to: Value) -> T {
    let mut whole = serde_json::to_value(of).unwrap();
    let mut at = &mut whole;
    for name in path.split('.') {
        if !at.is_object() {
            *at = Value::Object(Map::new());
        }
        at = at.as_object_mut().unwrap().entry(name).or_insert(Value::Null);
    }
    *at = to;
    serde_json::from_value(whole).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// "40x60MB,8x30MB" as pairs.
fn many(text: &str) -> impl Iterator<Item = (u64, f64)> {
    text.split(',').map(|part| {
        let (count, of) = halves(part, "x");
        (figure(count) as u64, figure(of))
    })
}

/// "host-stood-still,stood_still_ns=5s,left_out=1".
fn flag(text: &str) -> Flag {
    let mut words = text.split(',');
    let mut fields = Map::from_iter([("flag".to_owned(), json!(words.next().unwrap()))]);
    fields.extend(words.map(|word| {
        let (name, to) = halves(word, "=");
        (name.to_owned(), value(to))
    }));
    serde_json::from_value(Value::Object(fields)).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// A record of cells in words.
pub(crate) fn record_in_words(text: &str) -> Record {
    let mut record = empty();
    for (words, number) in parts(text, ';').iter().zip(1..) {
        let words = parts(words, ' ');
        match &words[..] {
            [first, ..] if first.contains('=') => {
                for word in &words {
                    record = with_field(record, word);
                }
            }
            [first, way, figures, words @ ..] if first == "try" => {
                record.run.suite = crate::matrix::SUITE.to_owned();
                record.cells.extend(tries(way, figures).map(|cell| with_words(cell, words)));
            }
            _ => record.cells.push(cell_in_words(&words, number)),
        }
    }
    record
}

fn with_field(mut record: Record, word: &str) -> Record {
    let (name, to) = halves(word, "=");
    match name {
        "flag" => record.flags.push(flag(to)),
        _ => return set(&record, name, value(to)),
    }
    record
}

/// Tries of a work on a file system with a scheduler, one for each figure: "untar/ext4/none" and
/// "100,101,99", of files a second.
fn tries(way: &str, figures: &str) -> impl Iterator<Item = Cell> {
    let [work, filesystem, scheduler] = way.split('/').collect::<Vec<_>>()[..] else {
        panic!("{way} is no work, file system and scheduler")
    };
    let labels = [
        ("work", work),
        ("filesystem", filesystem),
        ("scheduler", scheduler),
        ("align", "no"),
        ("mount_options", "noatime"),
    ];
    figures.split(',').zip(1..).map(move |(value, repeat): (&str, u32)| {
        let mut cell =
            Cell::begun(format!("{work}/{filesystem}/{scheduler}#{repeat}"), work, <_>::default());
        cell.metrics.iops = Some(Estimate { value: figure(value), ci95: None, n: 1 });
        cell.labels = labels.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        cell.labels.insert("repeat".to_owned(), repeat.to_string());
        cell
    })
}

fn cell_in_words(words: &[String], number: u32) -> Cell {
    let [test, block, words @ ..] = words else { panic!("{words:?} names no test and block") };
    let block_bytes = figure(block) as u64;
    let is_rate = |word: &&String| word.ends_with("/s") && !word.contains('=');
    let Some(rate) = words.first().filter(is_rate) else {
        return with_words(cell(test, number, block_bytes), words);
    };
    let of_bytes = if rate.ends_with("B/s") { block_bytes as f64 } else { 1.0 };
    let a_second = figure(rate) / of_bytes;
    let mut made = exact(iops(test, number, block_bytes, a_second, 1_000_000));
    made.elapsed_ns = (made.ops as f64 / a_second * 1e9) as u64;
    with_words(made, &words[1..])
}

fn with_words(cell: Cell, words: &[String]) -> Cell {
    words.iter().fold(cell, |cell, word| change(cell, word))
}

fn change(mut cell: Cell, word: &str) -> Cell {
    let (name, to) = halves(word, "=");
    if name.starts_with("disturbance.") {
        cell.host_state.get_or_insert_default();
    }
    match name {
        "ci" => {
            let figures = [&mut cell.metrics.iops, &mut cell.metrics.bps].into_iter().flatten();
            figures.for_each(|it| *it = known(it.value, figure(to), it.n));
        }
        "times" => {
            let mut histogram = Histogram::default();
            many(to).for_each(|(count, ns)| histogram.record_n(ns as u64, count));
            cell.ops = many(to).map(|(count, _)| count).sum();
            let latency = cell.metrics.latency_ns.get_or_insert_default();
            latency.max = many(to).map(|(_, ns)| ns as u64).max().unwrap();
            latency.n = cell.ops;
            cell.histogram = Some(histogram);
        }
        "windows" => {
            let rates = many(to).flat_map(|(count, bps)| (0..count).map(move |_| bps));
            // As on a medium, no two windows are quite alike.
            let points = rates.zip(0..).map(|(bps, at): (f64, u64)| {
                let unlike = 1.0 + 0.02 * ((at * 7 % 5) as f64 - 2.0);
                [((at + 1) * 16 * MIB) as f64, bps * unlike]
            });
            let points: Vec<[f64; 2]> = points.filter(|[_, bps]| *bps > 0.0).collect();
            cell.bytes = points.len() as u64 * 16 * MIB;
            let name = "rate".into();
            cell.series.push(Series { name, x: SeriesAxis::Bytes, y: SeriesAxis::Bps, points });
        }
        "series" => cell.series.push(series(to)),
        "rounds" => cell.rounds = rounds(&cell, to),
        "flag" => cell.flags.push(flag(to)),
        "content" | "region" | "form" | "pattern" | "direction" | "path" | "sync" => {
            return set(&cell, &format!("params.{name}"), value(to));
        }
        "span" => cell.params.span_bytes = Some(figure(to) as u64),
        "depth" => cell.params.queue_depth = figure(to) as u32,
        // The medium or a person took it, without a figure.
        "failed" => {
            let reason = Some(to.trim_matches('"').to_owned());
            (cell.stop, cell.reason, cell.metrics.iops) = (Stop::Error, reason, None);
        }
        _ => match name.split_once('.') {
            Some(("marks", kind)) => mark(&mut cell, kind, to),
            Some(("labels", name)) => {
                cell.labels.insert(name.into(), to.trim_matches('"').into());
            }
            Some(("metrics", "iops")) if to == "null" => cell.metrics.iops = None,
            Some(("metrics", "iops")) => cell.metrics.iops = Some(estimate(to)),
            Some(("metrics", "bps")) => cell.metrics.bps = Some(estimate(to)),
            Some(("metrics", name)) if !name.contains('.') => {
                cell.metrics.other.insert(name.into(), estimate(to));
            }
            _ => return set(&cell, name, value(to)),
        },
    }
    cell
}

/// "rounds,elapsed_ns,iops,100,4x90": at 1, 2 and so on, "1..64" all of these; or each at its
/// place: "1GiB/10MB".
fn series(text: &str) -> Series {
    let mut words = text.split(',');
    let mut next = || words.next().unwrap_or_else(|| panic!("{text} has no name and two axes"));
    let name = next().replace('"', "");
    let [x, y] = [next(), next()].map(|axis| {
        serde_json::from_value(json!(axis)).unwrap_or_else(|error| panic!("{axis}: {error}"))
    });
    let mut points: Vec<[f64; 2]> = Vec::new();
    for word in words {
        if let Some((at, value)) = word.split_once('/') {
            points.push([figure(at), figure(value)]);
            continue;
        }
        let values: Vec<f64> = match (word.split_once(".."), word.split_once('x')) {
            (Some((from, to)), _) => {
                (figure(from) as u64..=figure(to) as u64).map(|value| value as f64).collect()
            }
            (None, Some((count, value))) => vec![figure(value); figure(count) as usize],
            (None, None) => vec![figure(word)],
        };
        for value in values {
            points.push([points.len() as f64 + 1.0, value]);
        }
    }
    Series { name, x, y, points }
}

/// "0.98,1,1.02": rounds of a second at these shares of the rate; "3s": one as long at the rate.
fn rounds(cell: &Cell, text: &str) -> Vec<Round> {
    let rate = cell.metrics.iops.map_or(0.0, |iops| iops.value);
    let round = |text: &str| {
        let (elapsed_ns, share) =
            if text.ends_with('s') { (figure(text), 1.0) } else { (1e9, figure(text)) };
        Round {
            began_ns: 0,
            ops: (rate * share * elapsed_ns / 1e9) as u64,
            elapsed_ns: elapsed_ns as u64,
            iops: rate * share,
            half_width: None,
        }
    };
    text.split(',').map(round).collect()
}

/// Marks of a probe at these places: "0..2GiB/128MiB" (every so many bytes), "7MiB+9MiB".
fn mark(cell: &mut Cell, kind: &str, places: &str) {
    let mut points = Vec::new();
    for part in places.split('+').filter(|part| !part.is_empty()) {
        match part.split_once("..") {
            None => points.push([figure(part), 0.0]),
            Some((from, rest)) => {
                let (to, step) = halves(rest, "/");
                let range = figure(from) as u64..figure(to) as u64;
                points.extend(range.step_by(figure(step) as usize).map(|at| [at as f64, 0.0]));
            }
        }
    }
    let count = Estimate { value: points.len() as f64, ci95: None, n: 1 };
    cell.metrics.other.insert(format!("marks_{kind}"), count);
    let [x, y] = [SeriesAxis::OffsetBytes; 2];
    cell.series.push(Series { name: format!("marks: {kind}"), x, y, points });
}
