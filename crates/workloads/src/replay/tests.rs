use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use device::tracing::TracedIo;
use device::{Device, Extent, Facts, MemoryDevice, Op, Request, Tracing};
use proptest::prelude::*;

use super::*;
use crate::trace::tests::{any_requests, events, issue, written};
use crate::trace::{self, Trace, TraceSurvey, open};

const MIB: u64 = 1 << 20;

/// When a request was issued and done, its operation, offset and length.
type Row = (u64, Option<u64>, Op, u64, u64);

/// A recording of blktrace's in a file.
fn trace(folder: &Path, rows: &[Row]) -> Trace {
    let request = |&(time_ns, done_ns, op, offset_bytes, length_bytes): &Row| {
        (issue(time_ns, op, offset_bytes, length_bytes), done_ns)
    };
    recorded(folder, &rows.iter().map(request).collect::<Vec<_>>())
}

fn recorded(folder: &Path, requests: &[trace::tests::Request]) -> Trace {
    let path = folder.join("trace");
    std::fs::write(&path, written(&events(requests))).unwrap();
    open(&path).unwrap()
}

fn settings(pace: Pace, fit: CapacityFit) -> ReplaySettings {
    ReplaySettings { pace, fit, depth: 1, reads_only: false, seed: 1 }
}

/// Replays on a medium in memory; returns the requests and the outcome.
fn play(
    trace: &Trace,
    capacity: u64,
    settings: ReplaySettings,
) -> Result<(Vec<TracedIo>, ReplayOutcome, Vec<record::Cell>), ReplayError> {
    let (mut device, outcome, cells) = played(trace, capacity, settings)?;
    Ok((device.take_log(), outcome, cells))
}

/// The same with the medium.
fn played(
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

fn replay(trace: &Trace, facts: &Facts, settings: ReplaySettings) -> Result<Replay, ReplayError> {
    let survey = TraceSurvey::of(trace, &AtomicBool::new(false)).unwrap().unwrap();
    let room = Extent::new(0, facts.capacity_bytes);
    Replay::new(trace.clone(), survey, settings, facts, room)
}

fn requests(log: &[TracedIo]) -> Vec<Request> {
    log.iter()
        .filter_map(
            |event| if let TracedIo::Submitted(request) = event { Some(*request) } else { None },
        )
        .collect()
}

/// A log of fio's in a file, which has places that are not in sectors: reads and writes one after
/// the other, as (what, offset, length).
fn log(folder: &Path, rows: &[(&str, u64, u64)]) -> Trace {
    let path = folder.join("log");
    let mut text = "fio version 2 iolog\n".to_owned();
    for (what, offset_bytes, length_bytes) in rows {
        text += &format!("f {what} {offset_bytes} {length_bytes}\n");
    }
    std::fs::write(&path, text).unwrap();
    open(&path).unwrap()
}

/// A request of 513 bytes touches at most two blocks of 512 bytes, wherever it begins: a medium of
/// two blocks is large enough, but the request was refused.
#[test]
fn a_request_is_refused_only_where_its_blocks_have_no_room() {
    let dir = tempfile::tempdir().unwrap();
    let played = |length_bytes, offset_bytes, capacity| {
        let trace = log(dir.path(), &[("read", 9_000, 1), ("read", offset_bytes, length_bytes)]);
        let (log, ..) = play(&trace, capacity, settings(Pace::Max, CapacityFit::Wrap))?;
        Ok::<u64, ReplayError>(requests(&log)[1].length_bytes)
    };
    assert_eq!(played(513, 511, 1024).unwrap(), 1024);
    assert_eq!(played(1, 700, 512).unwrap(), 512);
    assert_eq!(played(514, 511, 1536).unwrap(), 1536);
    for (length_bytes, offset_bytes, capacity) in [(514, 511, 1024), (512, 100, 512)] {
        let error = played(length_bytes, offset_bytes, capacity).unwrap_err().to_string();
        assert!(error.contains("more than the"), "{error}");
    }
}

proptest! {
    /// The promise of a replay: count, offsets, sizes and order are those of the recording, and
    /// nothing is issued before the requests that it waited for are done.
    #[test]
    fn a_replay_is_the_recorded_io_in_the_recorded_order(all in any_requests(1, 1000), fast in any::<bool>()) {
        let dir = tempfile::tempdir().unwrap();
        let trace = recorded(dir.path(), &all);
        let pace = if fast { Pace::Max } else { Pace::Times(1.0) };
        let (log, outcome, _) = play(&trace, MIB, settings(pace, CapacityFit::Exact)).unwrap();
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
        let (log, ..) = play(&trace, sectors * 512, settings(Pace::Max, fit)).unwrap();
        let moved: Vec<_> = requests(&log).iter().map(|request| (request.op, request.length_bytes)).collect();
        prop_assert_eq!(moved, all.iter().map(|(it, _)| (it.op, it.length_bytes)).collect::<Vec<_>>());
        prop_assert!(!log.iter().any(|event| matches!(event, TracedIo::Refused(..))));
    }
}

/// What is written follows from the trace and the seed.
#[test]
fn two_replays_leave_the_same_bytes_and_cells() {
    let dir = tempfile::tempdir().unwrap();
    let row =
        |i: u64| (i * 1000, Some(i * 1000 + 500), Op::Write, i * 37 % 300 * 512, 512 + i % 5 * 512);
    let trace = trace(dir.path(), &(0..400).map(row).collect::<Vec<Row>>());
    let left = |seed| {
        let settings = ReplaySettings { seed, ..settings(Pace::Max, CapacityFit::Wrap) };
        let (device, _, cells) = played(&trace, MIB, settings).unwrap();
        (device.into_inner().data().to_vec(), cells)
    };
    assert!(left(1) == left(1));
    assert!(left(1).0 != left(2).0, "the data is the seed's");
}

#[test]
fn as_recorded_each_request_has_its_time() {
    let dir = tempfile::tempdir().unwrap();
    let rows: Vec<Row> = (0..400)
        .map(|i| (i * 1_000_000, Some(i * 1_000_000 + 500_000), Op::Write, i * 512, 512))
        .collect();
    let trace = trace(dir.path(), &rows);
    for times in [1.0, 4.0] {
        let (log, outcome, cells) =
            play(&trace, MIB, settings(Pace::Times(times), CapacityFit::Exact)).unwrap();
        let submitted: Vec<u64> = log
            .iter()
            .filter_map(|event| {
                if let TracedIo::Completed(done) = event { Some(done.submitted_ns) } else { None }
            })
            .collect();
        let due: Vec<u64> = rows.iter().map(|row| (row.0 as f64 / times) as u64).collect();
        assert_eq!(submitted, due);
        assert_eq!(outcome.held_back, 0);
        let drift = cells[0].metrics.other["replay_timing_drift_percent"].value;
        assert_eq!(drift, 0.0);
        assert_eq!(outcome.error.max(), 1, "nothing counts as one nanosecond");
    }
}

/// A medium slower than the recorded one: requests that waited still wait, and late ones are
/// counted.
#[test]
fn on_a_slower_medium_what_waited_still_waits_and_is_late() {
    let dir = tempfile::tempdir().unwrap();
    // Every I/O of the medium in memory takes 10 us; these took 1.
    let rows: Vec<Row> =
        (0..100).map(|i| (i * 2_000, Some(i * 2_000 + 1_000), Op::Write, i * 512, 512)).collect();
    let (_, outcome, cells) =
        play(&trace(dir.path(), &rows), MIB, settings(Pace::Times(1.0), CapacityFit::Exact))
            .unwrap();
    assert_eq!(outcome.elapsed_ns, 100 * 10_000);
    // Each is 8 us later than the one before; from 0.1 ms on it counts.
    assert_eq!(outcome.held_back, 87);
    assert_eq!(outcome.last_ns, (198_000, 990_000));
    let drift = cells[0].metrics.other["replay_timing_drift_percent"].value;
    assert!((drift - 400.0).abs() < 1e-9, "{drift}");
    let ratio = cells[1].metrics.other["p50_over_recorded_ratio"];
    assert!((ratio.value - 10.0).abs() < 0.1, "{ratio:?}");
}

#[test]
fn without_completions_the_given_queue_depth_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let rows: Vec<Row> = (0..50).map(|i| (i, None, Op::Read, i * 512, 512)).collect();
    let trace = trace(dir.path(), &rows);
    for depth in [1, 4] {
        let (log, ..) =
            play(&trace, MIB, ReplaySettings { depth, ..settings(Pace::Max, CapacityFit::Exact) })
                .unwrap();
        let mut now = 0i64;
        let most = log
            .iter()
            .map(|event| {
                now += i64::from(matches!(event, TracedIo::Submitted(_)))
                    - i64::from(matches!(event, TracedIo::Completed(_)));
                now
            })
            .max();
        assert_eq!(most, Some(i64::from(depth)));
    }
}

#[test]
fn a_trace_larger_than_the_medium_is_refused_or_made_to_fit() {
    let dir = tempfile::tempdir().unwrap();
    let far = 10 * MIB;
    let rows = [
        (0, Some(10), Op::Write, 0, 4096),
        (20, Some(30), Op::Write, far, 4096),
        (40, Some(50), Op::Read, 4096, 4096),
    ];
    let trace = trace(dir.path(), &rows);
    let play = |fit| play(&trace, 2 * MIB, settings(Pace::Max, fit));
    insta::assert_snapshot!(play(CapacityFit::Exact).unwrap_err(), @"the trace reaches to byte 10489856, the target has 2097152 bytes (2 MiB): say with --fit what becomes of the rest (scale: the whole trace is squeezed into the target, wrap: it goes on at the beginning, skip: it is left out)");
    let offsets = |fit| {
        requests(&play(fit).unwrap().0)
            .iter()
            .map(|request| request.offset_bytes)
            .collect::<Vec<_>>()
    };
    // The eleventh MiB of eleven becomes the second of two.
    assert_eq!(offsets(CapacityFit::Scale), [0, MIB, 4096]);
    assert_eq!(offsets(CapacityFit::Wrap), [0, 0, 4096]);
    assert_eq!(offsets(CapacityFit::Skip), [0, 4096]);
    assert_eq!(play(CapacityFit::Skip).unwrap().1.left, [1, 0, 0]);
}

/// Scaling moves whole MiBs: sequential requests stay sequential.
#[test]
fn scaling_keeps_runs_together() {
    let dir = tempfile::tempdir().unwrap();
    let rows: Vec<Row> =
        (0..512).map(|i| (i * 10, Some(i * 10 + 5), Op::Write, i * 16_384, 16_384)).collect();
    let (log, ..) =
        play(&trace(dir.path(), &rows), 2 * MIB, settings(Pace::Max, CapacityFit::Scale)).unwrap();
    let places: Vec<u64> = requests(&log).iter().map(|request| request.offset_bytes).collect();
    let sequential_pairs = places.windows(2).filter(|pair| pair[1] == pair[0] + 16_384).count();
    // Eight MiBs become two; at each of seven borders but one the run begins again.
    assert_eq!(sequential_pairs, 511 - 6);
}

#[test]
fn what_is_not_in_blocks_is_widened_and_counted() {
    let dir = tempfile::tempdir().unwrap();
    let trace = log(dir.path(), &[("write", 700, 100), ("write", 1000, 100)]);
    let (log, outcome, _) = play(&trace, MIB, settings(Pace::Max, CapacityFit::Exact)).unwrap();
    let places: Vec<_> =
        requests(&log).iter().map(|request| (request.offset_bytes, request.length_bytes)).collect();
    assert_eq!(places, [(512, 512), (512, 1024)]);
    assert_eq!(outcome.widened, 2);
}

#[test]
fn only_reads_leaves_out_what_changes_the_medium() {
    let dir = tempfile::tempdir().unwrap();
    let rows = [
        (0, Some(9), Op::Write, 0, 512),
        (10, Some(19), Op::Read, 0, 512),
        (20, Some(29), Op::Flush, 0, 0),
    ];
    let only = ReplaySettings { reads_only: true, ..settings(Pace::Max, CapacityFit::Exact) };
    let (log, outcome, cells) = play(&trace(dir.path(), &rows), MIB, only).unwrap();
    assert_eq!(requests(&log).iter().map(|request| request.op).collect::<Vec<_>>(), [Op::Read]);
    assert_eq!(outcome.left, [0, 2, 0]);
    assert_eq!(
        cells.iter().map(|cell| cell.params.form.clone().unwrap()).collect::<Vec<_>>(),
        ["as fast as possible", "reads"]
    );
    let none = trace(dir.path(), &rows[..1]);
    insta::assert_snapshot!(play(&none, MIB, only).unwrap_err(), @"the trace has no reads; without its writes there is nothing to replay");
}

#[test]
fn a_medium_that_fails_or_a_stop_ends_it_with_what_was_done() {
    let dir = tempfile::tempdir().unwrap();
    let rows: Vec<Row> =
        (0..10).map(|i| (i * 10, Some(i * 10 + 5), Op::Read, i * 512, 512)).collect();
    let trace = trace(dir.path(), &rows);
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
