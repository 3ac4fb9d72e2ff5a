//! Thresholds: each a line of a file, a record in words with a gap, and what fills it.

use std::fmt::Write as _;
use std::panic::catch_unwind;

use record::units::MIB;
use record::{Cell, Estimate, Flag, Histogram, Record, Series, SeriesAxis, Severity, Use};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::testing::{cell, empty, exact, iops, known};
use crate::{Analysis, add_caveats, conclude, conclude_for, genuineness, usability, use_levels};

const FILE: &str = include_str!("../../../../fixtures/findings/thresholds.txt");

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

/// "4.5MB", "4.5MB~3%" (known to that share), "4(2..30)" (with its interval), each with "*24" where
/// it comes of so many.
fn estimate(text: &str) -> Estimate {
    let (text, n) =
        text.split_once('*').map_or((text, 400), |(text, n)| (text, n.parse().unwrap()));
    if let Some((value, share)) = text.split_once('~') {
        return known(figure(value), figure(share), n);
    }
    let (value, ends) = text.split_once('(').map_or((text, None), |(v, ends)| (v, Some(ends)));
    let ci95 = ends.map(|ends| {
        let (low, high) = ends.trim_end_matches(')').split_once("..").unwrap();
        [figure(low), figure(high)]
    });
    Estimate { value: figure(value), ci95, n }
}

/// A value of a field: JSON, a number with its unit, or a word.
fn value(text: &str) -> Value {
    match number(text) {
        _ if text.starts_with(['[', '{', '"']) => serde_json::from_str(text).unwrap(),
        Some(whole) if whole.fract() == 0.0 && whole >= 0.0 => json!(whole as u64),
        Some(part) => json!(part),
        None if ["true", "false", "null"].contains(&text) => serde_json::from_str(text).unwrap(),
        None => json!(text),
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
        let (count, of) = part.split_once('x').unwrap();
        (count.parse().unwrap(), figure(of))
    })
}

/// "host-stood-still,stood_still_ns=5s,left_out=1".
fn flag(text: &str) -> Flag {
    let mut words = text.split(',');
    let mut fields = Map::from_iter([("flag".to_owned(), json!(words.next().unwrap()))]);
    fields.extend(words.map(|word| {
        let (name, to) = word.split_once('=').unwrap();
        (name.to_owned(), value(to))
    }));
    serde_json::from_value(Value::Object(fields)).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// A record of cells in words; see the head of the file.
pub(crate) fn record_in_words(text: &str) -> Record {
    let mut record = empty();
    for (words, number) in parts(text, ';').iter().zip(1..) {
        let words = parts(words, ' ');
        if words[0].contains('=') {
            for word in &words {
                let (name, to) = word.split_once('=').unwrap();
                match name {
                    "flag" => record.flags.push(flag(to)),
                    _ => record = set(&record, name, value(to)),
                }
            }
        } else {
            record.cells.push(cell_in_words(&words, number));
        }
    }
    record
}

fn cell_in_words(words: &[String], number: u32) -> Cell {
    let [test, block, words @ ..] = words else { panic!("{words:?} names no test and block") };
    let block_bytes = figure(block) as u64;
    let is_rate = |word: &&String| word.ends_with("/s") && !word.contains('=');
    let Some(rate) = words.first().filter(is_rate) else {
        return words.iter().fold(cell(test, number, block_bytes), |cell, word| change(cell, word));
    };
    let of_bytes = if rate.ends_with("B/s") { block_bytes as f64 } else { 1.0 };
    let a_second = figure(rate) / of_bytes;
    let mut made = exact(iops(test, number, block_bytes, a_second, 1_000_000));
    made.elapsed_ns = (made.ops as f64 / a_second * 1e9) as u64;
    words[1..].iter().fold(made, |cell, word| change(cell, word))
}

fn change(mut cell: Cell, word: &str) -> Cell {
    let (name, to) = word.split_once('=').unwrap_or_else(|| panic!("{word:?} is no field"));
    if name.starts_with("host_state.") {
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
        "flag" => cell.flags.push(flag(to)),
        "content" | "region" | "form" | "pattern" | "direction" | "path" | "sync" => {
            return set(&cell, &format!("params.{name}"), value(to));
        }
        "span" => cell.params.span_bytes = Some(figure(to) as u64),
        "depth" => cell.params.queue_depth = to.parse().unwrap(),
        _ => match name.strip_prefix("metrics.") {
            Some("iops") => cell.metrics.iops = Some(estimate(to)),
            Some("bps") => cell.metrics.bps = Some(estimate(to)),
            Some(name) if !name.contains('.') => {
                cell.metrics.other.insert(name.into(), estimate(to));
            }
            _ => return set(&cell, name, value(to)),
        },
    }
    cell
}

/// "CutShort" as "cut-short", as the file has it.
fn word(of: &impl std::fmt::Debug) -> String {
    let mut word = String::new();
    for letter in format!("{of:?}").chars().take_while(|letter| letter.is_alphanumeric()) {
        if letter.is_uppercase() && !word.is_empty() {
            word.push('-');
        }
        word.extend(letter.to_lowercase());
    }
    word
}

fn level(record: &Record, wanted: Use) -> String {
    let of = |record: &Record| {
        let levels = use_levels(record);
        let found = levels.iter().find(|it| it.wanted == wanted);
        found.map_or_else(|| "none".into(), |it| it.level.word().replace(' ', "-"))
    };
    let actual = of(&Record { findings: conclude_for(record, &[wanted]), ..record.clone() });
    let silent = of(record);
    // Nobody asked for another rate of video, and where nothing can be told nothing is.
    if matches!(wanted, Use::Video { .. }) || silent == "not-tested" || actual == silent {
        return actual;
    }
    format!("{actual}, and {silent} without its findings")
}

/// How grave the finding of this id is, and all that it says.
fn found(record: &Record, id: &str) -> (String, String) {
    let (mut gravity, mut said) = ("no".to_owned(), String::new());
    for finding in conclude(record).iter().rev().filter(|finding| finding.id == id) {
        gravity = match finding.severity {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Failure => "failure",
        }
        .into();
        let _ = writeln!(said, "{}\n{}", finding.statement, finding.evidence.join("\n"));
    }
    (gravity, said)
}

/// What a record comes to, where it is not what the file has.
fn differs(asked: &str, record: &mut Record, expected: &[String]) -> Option<String> {
    let (kind, of) = asked.split_once(' ').unwrap_or((asked, ""));
    let last = || record.cells.last().unwrap();
    let actual = match kind {
        "level" => level(record, of.parse().unwrap()),
        "refuses" => usability::exclusion(record, last()).map_or("no".into(), |it| word(&it)),
        "accuses" => {
            usability::adverse_exclusion(record, last()).map_or("yes".into(), |it| word(&it))
        }
        "genuine" => match (genuineness::is_genuine(record), genuineness::is_fake(record)) {
            (true, true) => "both".into(),
            (true, false) => "yes".into(),
            (false, true) => "fake".into(),
            (false, false) => "open".into(),
        },
        "answers" => {
            let wanted: Vec<Use> = of.split_whitespace().map(|of| of.parse().unwrap()).collect();
            let summary = Analysis::of(record, &wanted).summary;
            [summary.genuine, summary.fit, summary.healthy].map(|it| word(&it)).join("/")
        }
        "flagged" => {
            add_caveats(record);
            let kind = |flag: &Flag| word(flag) == of;
            let cells = record.cells.iter().zip(1..);
            let flagged = cells.filter(|(cell, _)| cell.flags.iter().any(kind));
            let numbers: Vec<String> = flagged.map(|(_, number)| number.to_string()).collect();
            if numbers.is_empty() { "no".into() } else { numbers.join("+") }
        }
        "is" => {
            let (gravity, said) = found(record, of);
            let holds = |word: &String| match word.strip_prefix('-').unwrap_or(word) {
                text if text.starts_with('"') => {
                    said.contains(text.trim_matches('"')) != word.starts_with('-')
                }
                "told" => gravity != "no",
                _ => *word == gravity,
            };
            return (!expected.iter().all(holds)).then(|| format!("{gravity}: {said}"));
        }
        _ => panic!("nobody knows how to ask {asked:?}"),
    };
    (expected != [actual.as_str()]).then_some(actual)
}

/// Parts between these letters, but not within quotation marks.
fn parts(text: &str, letter: char) -> Vec<String> {
    let mut quoted = false;
    let parts = text.split(|at: char| {
        quoted ^= at == '"';
        at == letter && !quoted
    });
    parts
        .map(|part| part.trim().to_owned())
        .filter(|part| letter == '|' || !part.is_empty())
        .collect()
}

/// The lines of the file with their numbers: those that go on put together, names filled in.
fn lines() -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    let mut names: Vec<(String, String)> = Vec::new();
    for (line, number) in FILE.lines().zip(1..) {
        match line.strip_prefix(' ') {
            Some(rest) => lines.last_mut().unwrap().1.push_str(&format!(" {}", rest.trim())),
            None if !line.starts_with('#') && !line.is_empty() => lines.push((number, line.into())),
            None => {}
        }
    }
    lines.retain_mut(|(_, line)| {
        for (name, text) in names.iter().rev() {
            *line = line.replace(name, text);
        }
        let named = line.strip_prefix("let ").and_then(|line| line.split_once(" = "));
        names.extend(named.map(|(name, text)| (format!("${name}"), text.to_owned())));
        // A longer name may begin with a shorter one.
        names.sort_by_key(|(name, _)| name.len());
        named.is_none()
    });
    lines
}

#[test]
fn every_threshold_is_where_the_file_says() {
    let mut wrong = String::new();
    for (number, line) in lines() {
        let [asked, cells, cases] = &parts(&line, '|')[..] else {
            panic!("line {number} has not three parts: {line}")
        };
        for case in parts(cases, ',') {
            let words = parts(&case, ' ');
            let (value, expected) = words.split_first().unwrap();
            let mut cells = cells.replace("{}", value);
            for (part, at) in value.split(':').zip(1..) {
                cells = cells.replace(&format!("{{{at}}}"), part);
            }
            assert!(!expected.is_empty(), "line {number}: {case} says not what is expected");
            let actual = catch_unwind(|| differs(asked, &mut record_in_words(&cells), expected));
            if let Some(actual) = actual.unwrap_or_else(|_| Some("a panic, see above".into())) {
                let _ = writeln!(wrong, "line {number}, {asked}, {case}: it is {actual}");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
