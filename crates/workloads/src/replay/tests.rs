use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use device::tracing::TracedIo;
use device::{Device, Extent, Facts, MemoryDevice, Op, Request, Tracing};
use proptest::prelude::*;

use super::*;
use crate::cases::{self, Case};
use crate::trace::tests::{self, all, any_requests, events, issue, written};
use crate::trace::{Trace, TraceSurvey, open};

const MIB: u64 = 1 << 20;

fn recorded(folder: &Path, requests: &[tests::Request]) -> Trace {
    let path = folder.join("trace");
    std::fs::write(&path, written(&events(requests))).unwrap();
    open(&path).unwrap()
}

fn settings(pace: Pace, fit: CapacityFit) -> ReplaySettings {
    ReplaySettings { pace, fit, depth: 1, reads_only: false, seed: 1 }
}

/// Replays on a medium in memory; returns it, the outcome and the cells.
fn play(
    trace: &Trace,
    capacity: u64,
    settings: ReplaySettings,
) -> Result<(Tracing<MemoryDevice>, ReplayOutcome, Vec<record::Cell>), ReplayError> {
    let mut device = Tracing::new(MemoryDevice::new(capacity));
    let replay = replay(trace, device.facts(), settings)?;
    let outcome = replay.play(&mut device, None, &AtomicBool::new(false), &mut |_| {}).unwrap();
    let cells = replay.cells(&outcome);
    Ok((device, outcome, cells))
}

fn survey(trace: &Trace) -> Result<TraceSurvey, TraceError> {
    TraceSurvey::of(trace, &AtomicBool::new(false)).map(Option::unwrap)
}

fn replay(trace: &Trace, facts: &Facts, settings: ReplaySettings) -> Result<Replay, ReplayError> {
    let room = Extent::new(0, facts.capacity_bytes);
    Replay::new(trace.clone(), survey(trace).unwrap(), settings, facts, room)
}

fn requests(log: &[TracedIo]) -> Vec<Request> {
    let submitted =
        |event: &TracedIo| if let TracedIo::Submitted(it) = event { Some(*it) } else { None };
    log.iter().filter_map(submitted).collect()
}

/// A recording as a case tells it: of blktrace, or line by line of fio.
#[derive(Default)]
struct Recording {
    requests: Vec<tests::Request>,
    iolog: String,
    /// Records of two processors.
    records: Vec<String>,
}

impl Recording {
    fn add(&mut self, time_ns: u64, took_ns: &str, [op, offset, length]: [&str; 3]) {
        let op = match op {
            "read" => Op::Read,
            "write" => Op::Write,
            "flush" => Op::Flush,
            _ => Op::Discard,
        };
        let done_ns = took_ns.parse::<u64>().ok().map(|took_ns| time_ns + took_ns);
        self.requests.push((issue(time_ns, op, number(offset), number(length)), done_ns));
    }
}

impl Recording {
    /// Events of the records, which are the same by any name and in either byte order.
    fn of_any_processor(&self, folder: &Path) -> String {
        let mut found = Vec::new();
        for big in [false, true] {
            for cpu in ["0", "1"] {
                let content = tests::of_processor(&self.records, cpu, big);
                std::fs::write(folder.join(format!("t.blktrace.{cpu}")), content).unwrap();
            }
            let names = ["t.blktrace.0", "t.blktrace.1", "t"].into_iter();
            found.extend(names.map(|name| told_events(&open(&folder.join(name)).unwrap())));
        }
        found.dedup();
        found.join("differs:\n")
    }
}

/// A number: "512", "2M".
fn number(text: &str) -> u64 {
    match text.strip_suffix('M') {
        Some(mib) => mib.parse::<u64>().unwrap() * MIB,
        None => text.parse().unwrap(),
    }
}

impl Case for Recording {
    fn build(&mut self, line: &str) {
        if let Some(line) = line.strip_prefix('|') {
            return self.iolog += &format!("{line}\n");
        }
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["cpu" | "message", ..] => self.records.push(line.to_owned()),
            [count, "times", "every", gap_ns, took_ns, op, stride, length] => {
                for at in 0..number(count) {
                    let offset = (at * number(stride)).to_string();
                    self.add(at * number(gap_ns), took_ns, [op, &offset, length]);
                }
            }
            [time_ns, took_ns, op, offset, length] => {
                self.add(number(time_ns), took_ns, [op, offset, length]);
            }
            _ => panic!("{line}: no line of a recording"),
        }
    }

    fn answer(&mut self, question: &str) -> String {
        let dir = tempfile::tempdir().unwrap();
        if !self.records.is_empty() {
            return self.of_any_processor(dir.path());
        }
        let path = dir.path().join("trace");
        let content = if self.iolog.is_empty() {
            written(&events(&self.requests))
        } else {
            self.iolog.clone().into_bytes()
        };
        std::fs::write(&path, content).unwrap();
        let trace = open(&path).unwrap();
        match question.split(' ').collect::<Vec<_>>()[..] {
            ["events"] => told_events(&trace),
            ["survey"] => {
                let found = survey(&trace).unwrap();
                let longest_ns = found.by_op.each_ref().map(|recorded| recorded.latency.max());
                let TraceSurvey { completions, duration_ns, longest_bytes, depth, spans, .. } =
                    found;
                format!(
                    "{completions} completions in {duration_ns} ns, after at most {longest_ns:?} ns\nlongest {longest_bytes}, depth {depth}, {spans:?}"
                )
            }
            ["replay", speed, fit, capacity, ref more @ ..] => {
                let fit = match fit {
                    "scale" => CapacityFit::Scale,
                    "wrap" => CapacityFit::Wrap,
                    "skip" => CapacityFit::Skip,
                    _ => CapacityFit::Exact,
                };
                let pace = speed.parse().map_or(Pace::Max, Pace::Times);
                let reads_only = more == ["reads-only"];
                let depth = more.iter().find_map(|word| word.parse().ok()).unwrap_or(1);
                let settings = ReplaySettings { reads_only, depth, ..settings(pace, fit) };
                play(&trace, number(capacity), settings).map_or_else(|it| it.to_string(), told)
            }
            _ => panic!("{question}: no question to a recording"),
        }
    }
}

fn told_events(trace: &Trace) -> String {
    let events = all(&mut *trace.steps().unwrap()).unwrap();
    events.iter().map(|event| format!("{event:?}\n")).collect()
}

/// A replay in words.
fn told(
    (mut device, outcome, cells): (Tracing<MemoryDevice>, ReplayOutcome, Vec<record::Cell>),
) -> String {
    let log = device.take_log();
    let sent = requests(&log);
    let follows =
        |pair: &&[Request]| pair[1].offset_bytes == pair[0].offset_bytes + pair[0].length_bytes;
    let place = |it: &Request| format!("{:?} {}+{}", it.op, it.offset_bytes, it.length_bytes);
    let (mut now, mut most) = (0, 0);
    for event in &log {
        now += i64::from(matches!(event, TracedIo::Submitted(_)));
        now -= i64::from(matches!(event, TracedIo::Completed(_)));
        most = most.max(now);
    }
    let other = |name: &str| {
        let found = cells.iter().find_map(|cell| cell.metrics.other.get(name));
        found.map_or(String::new(), |it| format!(", {name} {:.1}", it.value))
    };
    let forms: Vec<_> = cells.iter().map(|cell| cell.params.form.clone().unwrap()).collect();
    [
        sent.iter().take(4).map(place).collect::<Vec<_>>().join(", "),
        format!(
            "{} requests, {} right behind the one before, at most {most} at once",
            sent.len(),
            sent.windows(2).filter(follows).count()
        ),
        format!("left out {:?}, widened {}", outcome.left, outcome.widened),
        format!(
            "{} ns, {} held back, the last due at {} and sent at {}, off by at most {} ns",
            outcome.elapsed_ns,
            outcome.held_back,
            outcome.last_ns.0,
            outcome.last_ns.1,
            outcome.error.max()
        ),
        format!(
            "cells {}{}{}",
            forms.join(", "),
            other("replay_timing_drift_percent"),
            other("p50_over_recorded_ratio")
        ),
    ]
    .join("\n")
}

#[test]
fn every_recording_is_replayed_as_it_is_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    cases::check(&folder.join("src/replay/cases.txt"), Recording::default);
}

proptest! {
    /// The promise of a replay: count, offsets, sizes and order are those of the recording, and
    /// nothing is issued before the requests that it waited for are done.
    #[test]
    fn a_replay_is_the_recorded_io_in_the_recorded_order(all in any_requests(1, 1000), fast in any::<bool>()) {
        let dir = tempfile::tempdir().unwrap();
        let trace = recorded(dir.path(), &all);
        let pace = if fast { Pace::Max } else { Pace::Times(1.0) };
        let (mut device, outcome, _) = play(&trace, MIB, settings(pace, CapacityFit::Exact)).unwrap();
        let log = device.take_log();
        let seen: Vec<_> = requests(&log).iter().map(|r| (r.op, r.offset_bytes, r.length_bytes)).collect();
        let wanted: Vec<_> = all.iter().map(|(it, _)| (it.op, it.offset_bytes, it.length_bytes)).collect();
        prop_assert_eq!(&seen, &wanted);
        prop_assert_eq!(outcome.ops(), all.len() as u64);
        let mut in_slot = HashMap::new();
        let mut done = vec![false; all.len()];
        let mut at = 0;
        for event in &log {
            match event {
                TracedIo::Submitted(request) => {
                    in_slot.insert(request.slot, at);
                    for (other, (_, end)) in all.iter().enumerate() {
                        prop_assert!(end.is_none_or(|end| end > all[at].0.time_ns) || done[other], "{at} did not wait for {other}");
                    }
                    at += 1;
                }
                TracedIo::Completed(completion) => done[in_slot[&completion.slot]] = true,
                _ => {}
            }
        }
    }

    /// A trace fitted to any room stays inside, and moves as many bytes as were recorded.
    #[test]
    fn a_trace_made_to_fit_stays_inside(all in any_requests(1, 1000), sectors in 64u64..900, wrap in any::<bool>()) {
        let dir = tempfile::tempdir().unwrap();
        let trace = recorded(dir.path(), &all);
        let fit = if wrap { CapacityFit::Wrap } else { CapacityFit::Scale };
        let log = play(&trace, sectors * 512, settings(Pace::Max, fit)).unwrap().0.take_log();
        let moved: Vec<_> = requests(&log).iter().map(|request| (request.op, request.length_bytes)).collect();
        prop_assert_eq!(moved, all.iter().map(|(it, _)| (it.op, it.length_bytes)).collect::<Vec<_>>());
        prop_assert!(!log.iter().any(|event| matches!(event, TracedIo::Refused(..))));
    }
}

/// What is written follows from the trace and the seed.
#[test]
fn two_replays_leave_the_same_bytes_and_cells() {
    let dir = tempfile::tempdir().unwrap();
    let row = |i: u64| {
        let issue = issue(i * 1000, Op::Write, i * 37 % 300 * 512, 512 + i % 5 * 512);
        (issue, Some(i * 1000 + 500))
    };
    let trace = recorded(dir.path(), &(0..400).map(row).collect::<Vec<_>>());
    let left = |seed| {
        let settings = ReplaySettings { seed, ..settings(Pace::Max, CapacityFit::Wrap) };
        let (device, _, cells) = play(&trace, MIB, settings).unwrap();
        (device.into_inner().data().to_vec(), cells)
    };
    assert!(left(1) == left(1));
    assert!(left(1).0 != left(2).0, "the data is the seed's");
}

#[test]
fn a_medium_that_fails_or_a_stop_ends_it_with_what_was_done() {
    let dir = tempfile::tempdir().unwrap();
    let row = |i: u64| (issue(i * 10, Op::Read, i * 512, 512), Some(i * 10 + 5));
    let trace = recorded(dir.path(), &(0..10).map(row).collect::<Vec<_>>());
    // The medium that was looked at was larger than the one that is there.
    let settings = settings(Pace::Times(1.0), CapacityFit::Exact);
    let replay = replay(&trace, MemoryDevice::new(MIB).facts(), settings).unwrap();
    let ended = |stop| {
        let (mut device, stop) = (MemoryDevice::new(5 * 512), AtomicBool::new(stop));
        let outcome = replay.play(&mut device, None, &stop, &mut |_| {}).unwrap();
        (outcome.ops(), outcome.stop, outcome.failure.is_some())
    };
    assert_eq!(ended(false), (5, Some(record::Stop::Error), true));
    assert_eq!(ended(true), (0, Some(record::Stop::Interrupted), false));
    assert!(TraceSurvey::of(&trace, &AtomicBool::new(true)).unwrap().is_none());
}
