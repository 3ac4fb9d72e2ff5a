//! What the tests of the catalogue do on media of known cost, as text: `catalogue/cases.txt`.
//!
//! A case has a medium (`medium card 4GiB only=1GiB+12MiB`), what its requests take (`cost 20ms+50
//! write 4KiB number=297.. place=5GiB..6GiB every=10`: 20 ms and 50 ns a byte; the last line that fits
//! a request counts; `file cost` is that of files), and tests (`run prime span=4MiB; seek`). It asks
//! for parts of a cell (`? seek/1 ops seeks_per_s iops.ci`), `requests` and the `places` of all of one
//! kind, the `limits` of planned cells, and what is `left out` or `skipped`.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use device::{Extent, Op, Request};
use record::units::{Bytes, KIB, MIB, MILLISECOND_NS, Nanos};
use record::{Cell, Content, Estimate};

use super::plans::site;
use crate::cases::{self, Case};
use crate::catalogue::testing::{BenchOutcome, KnownFiles};

/// Time of the requests that it fits, in nanoseconds and nanoseconds a byte.
#[derive(Clone)]
struct Cost {
    fixed_ns: u64,
    byte_ns: u64,
    op: Option<Op>,
    is_zeros: bool,
    lengths: Range<u64>,
    numbers: Range<u64>,
    places: Range<u64>,
    every: u64,
}

fn bytes(text: &str) -> u64 {
    text.parse::<Bytes>().unwrap_or_else(|error| panic!("{error}")).0
}

/// "297..", "513..769" or "1000".
fn range(text: &str) -> Range<u64> {
    match text.split_once("..") {
        None => bytes(text)..bytes(text) + 1,
        Some((from, "")) => bytes(from)..u64::MAX,
        Some((from, to)) => bytes(from)..bytes(to),
    }
}

impl From<&str> for Cost {
    fn from(words: &str) -> Cost {
        let mut words = words.split(' ');
        let time = words.next().unwrap_or_default();
        let (fixed, byte) = time.split_once('+').unwrap_or((time, "0"));
        let any = 0..u64::MAX;
        let mut cost = Cost {
            fixed_ns: fixed.parse::<Nanos>().expect("a time").0,
            byte_ns: byte.parse().expect("nanoseconds a byte"),
            op: None,
            is_zeros: false,
            lengths: any.clone(),
            numbers: any.clone(),
            places: any,
            every: 1,
        };
        for word in words {
            match word.split_once('=').unwrap_or((word, "")) {
                ("write", _) => cost.op = Some(Op::Write),
                ("read", _) => cost.op = Some(Op::Read),
                ("flush", _) => cost.op = Some(Op::Flush),
                ("zeros", _) => cost.is_zeros = true,
                ("number", of) => cost.numbers = range(of),
                ("place", of) => cost.places = range(of),
                ("every", of) => cost.every = of.parse().expect("a number"),
                (length, _) => cost.lengths = range(length),
            }
        }
        cost
    }
}

impl Cost {
    fn fits(&self, request: &Request, number: u64) -> bool {
        self.op.is_none_or(|op| op == request.op)
            && (!self.is_zeros || request.content == Content::Zeros)
            && self.lengths.contains(&request.length_bytes)
            && self.numbers.contains(&number)
            && self.places.contains(&request.offset_bytes)
            && number % self.every == self.every - 1
    }
}

/// The time of a request by the last line that fits it: a millisecond if there is none.
fn time_by(costs: Vec<Cost>) -> impl Fn(&Request, u64) -> u64 {
    move |request, number| {
        let fitting = costs.iter().rev().find(|cost| cost.fits(request, number));
        fitting.map_or(MILLISECOND_NS, |it| it.fixed_ns + it.byte_ns * request.length_bytes)
    }
}

#[derive(Default)]
struct Bench {
    medium: String,
    costs: Vec<Cost>,
    file_costs: Vec<Cost>,
    tests: Vec<String>,
    no_file: bool,
    /// Its run, once a question needed it.
    ran: Option<BenchOutcome>,
}

impl Bench {
    fn tests(&self) -> Vec<&str> {
        self.tests.iter().map(String::as_str).collect()
    }

    fn ran(&mut self) -> &BenchOutcome {
        if self.ran.is_none() {
            let mut files = KnownFiles::new(time_by(self.file_costs.clone()));
            files.fails = self.no_file;
            let mut bench = site(&self.medium);
            bench.target.facts.keeps_data = false;
            bench.cost = Box::new(time_by(self.costs.clone()));
            let ran = bench.run_staged(&self.tests(), &mut files);
            assert_eq!(files.alive(), 0, "a file is left");
            self.ran = Some(ran);
        }
        self.ran.as_ref().expect("it was run")
    }
}

/// A number with seven digits.
fn number(value: f64) -> String {
    (value as f32).to_string()
}

/// The figure of a cell with this name, or its interval (`.ci`) or its count (`.n`).
fn figure(cell: &Cell, word: &str) -> String {
    let (name, part) = word.split_once('.').unwrap_or((word, ""));
    let found: Option<Estimate> = match name {
        "iops" => cell.metrics.iops,
        "bps" => cell.metrics.bps,
        name => cell.metrics.other.get(name).copied(),
    };
    match (found, part) {
        (None, _) => "none".to_owned(),
        (Some(found), "n") => found.n.to_string(),
        (Some(found), "ci") => match found.ci95 {
            None => "unknown".to_owned(),
            Some([low, high]) => format!("{} to {}", number(low), number(high)),
        },
        (Some(found), _) => number(found.value),
    }
}

fn part(cell: &Cell, word: &str) -> String {
    let latency = cell.metrics.latency_ns.as_ref();
    match word {
        "stop" => format!("{:?}", cell.stop),
        "reason" => cell.reason.clone().unwrap_or_default(),
        "ops" => cell.ops.to_string(),
        "bytes" => exact(cell.bytes),
        "written" => exact(cell.written_bytes),
        "elapsed" => Nanos(cell.elapsed_ns).to_string(),
        "longest" => latency.map_or_else(String::new, |it| Nanos(it.max).to_string()),
        "span" => cell.params.span_bytes.map_or_else(String::new, exact),
        "region" => format!("{:?}", cell.params.region),
        "form" => cell.params.form.clone().unwrap_or_default(),
        "on" => cell.on.clone().unwrap_or_default(),
        "flags" if cell.flags.is_empty() => "none".to_owned(),
        "flags" => cell.flags.iter().map(|flag| format!("\n  {flag}")).collect(),
        "curves" => cell
            .series
            .iter()
            .map(|series| {
                let at = |point: Option<&[f64; 2]>| {
                    point
                        .map_or_else(String::new, |[x, y]| format!("{}:{}", number(*x), number(*y)))
                };
                let (first, last) = (at(series.points.first()), at(series.points.last()));
                format!("\n  {}: {} from {first} to {last}", series.name, series.points.len())
            })
            .collect(),
        name => figure(cell, name),
    }
}

fn exact(bytes: u64) -> String {
    match bytes {
        bytes if bytes.is_multiple_of(MIB) => format!("{} MiB", bytes / MIB),
        bytes if bytes.is_multiple_of(KIB) => format!("{} KiB", bytes / KIB),
        bytes => format!("{bytes} B"),
    }
}

/// Requests in order; those of one kind that follow one another without a gap are one line.
fn requests(all: &[Request]) -> String {
    let is_next = |one: &Request, next: &Request| {
        let offset_bytes = one.offset_bytes + one.length_bytes;
        let expected = Request { offset_bytes, slot: next.slot, pass: next.pass, ..*one };
        expected == *next
    };
    let line = |run: &[Request]| {
        let Request { op, offset_bytes, length_bytes, path, content, sync, .. } = run[0];
        let (length, place) = (exact(length_bytes), exact(offset_bytes));
        let what = match op {
            Op::Flush => return format!("{} flush", run.len()),
            Op::Write => format!("{content:?}, sync {sync:?}"),
            _ => format!("{path:?}"),
        };
        format!("{} {op:?} of {length} from {place}: {what}", run.len())
    };
    all.chunk_by(is_next).map(line).collect::<Vec<_>>().join("\n")
}

/// Number, and first and last place, of each kind of request.
fn places(all: &[Request]) -> String {
    let mut kinds = BTreeMap::<String, (usize, Extent)>::new();
    for request in all.iter().filter(|request| request.op != Op::Flush) {
        let Request { op, length_bytes, path, sync, .. } = *request;
        let kind = format!("{op:?} of {}, {path:?}, sync {sync:?}", exact(length_bytes));
        let place = Extent::new(request.offset_bytes, length_bytes);
        let (count, places) = kinds.entry(kind).or_insert((0, place));
        let from = places.offset_bytes.min(place.offset_bytes);
        (*count, *places) = (*count + 1, Extent::new(from, places.end().max(place.end()) - from));
    }
    let line = |(kind, (count, places)): (String, (usize, Extent))| {
        format!("{count} {kind}: {} to {}", exact(places.offset_bytes), exact(places.end()))
    };
    kinds.into_iter().map(line).collect::<Vec<_>>().join("\n")
}

impl Case for Bench {
    fn build(&mut self, line: &str) {
        self.ran = None;
        match line.split_once(' ').expect("a word and what it is") {
            ("medium", words) => self.medium = words.to_owned(),
            ("cost", words) => self.costs.push(words.into()),
            ("file", "fails") => self.no_file = true,
            ("file", words) => self.file_costs.push(words.trim_start_matches("cost ").into()),
            ("run", tests) => self.tests = tests.split("; ").map(str::to_owned).collect(),
            _ => panic!("{line}"),
        }
    }

    fn answer(&mut self, question: &str) -> String {
        match question {
            "left out" => return site(&self.medium).left_out(&self.tests()),
            "limits" => {
                let limit = |cell: record::PlannedCell| {
                    format!("{}: {}", cell.id, exact(cell.max_written_bytes))
                };
                let planned = site(&self.medium).planned(&self.tests());
                return planned.into_iter().map(limit).collect::<Vec<_>>().join("\n");
            }
            _ => {}
        }
        let ran = self.ran();
        match question {
            "requests" => requests(&ran.requests),
            "places" => places(&ran.requests),
            "caches dropped" => format!("{:?}", ran.dropped_at),
            "rest" => Nanos(ran.idle_ns).to_string(),
            "elapsed" => Nanos(ran.end.elapsed_ns).to_string(),
            "cells" => {
                let ids: Vec<&str> = ran.end.cells.iter().map(|cell| cell.id.as_str()).collect();
                ids.join(" ")
            }
            "skipped" => {
                let skips = ran.end.skipped.iter();
                let skips = skips.map(|skip| format!("{}: {}", skip.test, skip.reason));
                skips.collect::<Vec<_>>().join("\n")
            }
            words => {
                let mut words = words.split(' ');
                let cell = ran.cell(words.next().unwrap_or_default());
                let parts =
                    words.map(|word| format!("{word} {}", part(cell, word)).replace(" \n", "\n"));
                parts.collect::<Vec<_>>().join("\n")
            }
        }
    }
}

#[test]
fn the_tests_of_the_catalogue_do_and_find_on_media_of_known_cost_what_the_cases_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    cases::check(&folder.join("src/catalogue/cases.txt"), Bench::default);
}
