//! Tests of the runner with journals that no run has written, and with files.

use record::units::{GIB, MIB};
use record::{Cell, Ended, Estimate, PlannedCell, Stop};

use crate::catalogue::testing::TestBench;

/// Tests of which all but the last are marked as done.
const TESTS: [&str; 3] =
    ["prime span=1MiB passes=1", "random-write span=1MiB", "zero-fill span=1MiB"];

#[test]
fn written_bytes_and_times_of_a_journal_may_overflow() {
    let mut bench = TestBench::file(64 * MIB, |_, _| 1_000_000);
    let planned = bench.planned(&TESTS);
    let (last, done) = planned.split_last().expect("three tests plan cells");
    assert!(done.len() >= 2, "{planned:?}");
    bench.done = done
        .iter()
        .map(|planned| {
            let mut cell = Cell::begun(&planned.id, &planned.test, planned.params.clone());
            (cell.written_bytes, cell.elapsed_ns) = (u64::MAX, u64::MAX);
            cell.stop = Stop::Converged;
            cell
        })
        .collect();
    bench.used_ns = u64::MAX;
    let ran = bench.run(&TESTS);
    assert_eq!((ran.end.ended, ran.end.elapsed_ns), (Ended::Complete, u64::MAX));
    assert!(ran.cell(&last.id).bytes > 0, "it is measured all the same");
    assert!(!ran.requests.is_empty());
}

/// Each test uses the findings of its own finished cells.
#[test]
fn unit_counts_and_rates_of_a_journal_may_be_impossible() {
    let tests = ["open-aus"];
    let mut bench = TestBench::raw(4 * GIB, |_, _| 1_000_000);
    let linear = |cell: &PlannedCell| cell.params.form.as_deref() == Some("linear");
    let planned: Vec<PlannedCell> = bench.planned(&tests).into_iter().filter(linear).collect();
    let figures = [(1.0, 4e7), (1e19, 4e7), (1.8e19, 1.0), (1e19, 4e7)];
    bench.done = planned
        .iter()
        .zip(figures)
        .map(|(planned, (n_aus, bps))| {
            let mut cell = Cell::begun(&planned.id, &planned.test, planned.params.clone());
            cell.params.other.insert("n_aus".into(), n_aus);
            cell.metrics.bps = Some(Estimate::of(bps, 9));
            cell.stop = Stop::Converged;
            cell
        })
        .collect();
    assert_eq!(bench.done.len(), figures.len());
    let ran = bench.run(&tests);
    assert_eq!(ran.end.ended, Ended::Complete);
    assert!(ran.end.cells.iter().all(|cell| cell.stop != Stop::Error), "{:?}", ran.end.cells);
}
