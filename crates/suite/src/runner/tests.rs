//! What the runner makes of a journal that no run has written.

use record::units::MIB;
use record::{Cell, Ended, Stop};

use crate::catalogue::testing::Bed;

/// Two primings that are said to be done, and one that is to come.
const PRIMINGS: [&str; 3] =
    ["prime span=1MiB passes=1", "random-write span=1MiB", "zero-fill span=1MiB"];

#[test]
fn what_a_journal_says_was_written_and_taken_may_be_more_than_can_be_counted() {
    let mut bed = Bed::file(64 * MIB, |_, _| 1_000_000);
    let planned = bed.planned(&PRIMINGS);
    let (last, done) = planned.split_last().expect("three tests plan cells");
    assert!(done.len() >= 2, "{planned:?}");
    bed.done = done
        .iter()
        .map(|planned| {
            let mut cell = Cell::begun(&planned.id, &planned.test, planned.params.clone());
            (cell.written_bytes, cell.elapsed_ns) = (u64::MAX, u64::MAX);
            cell.stop = Stop::Converged;
            cell
        })
        .collect();
    bed.used_ns = u64::MAX;
    let ran = bed.run(&PRIMINGS);
    assert_eq!((ran.end.ended, ran.end.elapsed_ns), (Ended::Complete, u64::MAX));
    assert!(ran.cell(&last.id).bytes > 0, "it is measured all the same");
    assert!(!ran.requests.is_empty());
}
