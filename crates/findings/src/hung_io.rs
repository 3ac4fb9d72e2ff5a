//! Single I/Os that took so long that the kernel would have given up on many devices.

use record::units::Nanos;
use record::{Cell, Direction, Finding, Record, Sample};

use crate::finding_builder::FindingBuilder;
use crate::stalls::SEVERAL;
use crate::{figure, usability};

/// Time after which Linux aborts a command to a disk and resets the device (`SD_TIMEOUT`,
/// drivers/scsi/sd.h): 30 s.
const LONG_NS: u64 = 30_000_000_000;
/// Acceptable time of a slow medium per byte of an I/O: 100 kB/s.
const NS_PER_BYTE: u64 = 10_000;
/// Least share of the I/O's time in which the kernel's counters show no completion, for both to be
/// the same event.
const MIN_SHARE: f64 = 0.8;

/// `hung_io`: the longest I/O of the run, if it was too long for any work. It counts against the
/// medium or its reader if the kernel saw the request at the device while the machine went on.
pub(crate) fn conclude(record: &Record) -> Option<Finding> {
    let single = record.cells.iter().filter(|cell| !SEVERAL.contains(&cell.test.as_str()));
    let (cell, ns) =
        single.filter_map(|cell| Some((cell, too_long_ns(cell)?))).max_by_key(|(_, ns)| *ns)?;
    let what = if cell.params.direction == Some(Direction::Read) { "read" } else { "write" };
    let took = format!("{}: slowest of {} I/Os {}", figure::named(cell), cell.ops, Nanos(ns));
    let still_ns = hung_ns(&cell.activity);
    let draft = if still_ns as f64 >= ns as f64 * MIN_SHARE {
        let statement = format!(
            "One {what} took {} while the machine kept running: do not trust a medium or reader that stops like this with data.",
            Nanos(ns)
        );
        FindingBuilder::failure("standstill", statement)
            .note(format!("it was at the device for {}, by the kernel's counters", Nanos(still_ns)))
    } else {
        let statement = format!(
            "One {what} took {}: the medium, its reader or this machine stood still. Run the test again before you trust it.",
            Nanos(ns)
        );
        FindingBuilder::warning("standstill", statement)
            .note("the kernel's counters do not show where the request was")
    };
    Some(
        draft
            .note(took)
            .note("Linux resets a disk after 30 s without an answer (SD_TIMEOUT)")
            .done(),
    )
}

/// Longest I/O of a cell in ns, if it exceeds the acceptable time of a slow medium with everything
/// queued before it.
fn too_long_ns(cell: &Cell) -> Option<u64> {
    let block_bytes = cell.params.block_bytes?;
    let limit_ns = LONG_NS
        .saturating_add(block_bytes.saturating_mul(NS_PER_BYTE))
        .saturating_mul(cell.params.in_flight());
    let longest_ns = cell.metrics.latency_ns.as_ref()?.max;
    (longest_ns > limit_ns && !usability::is_impossible(cell)).then_some(longest_ns)
}

/// Longest time in ns in which the kernel counted no completed I/O and one in flight, while samples
/// were taken: a stalled host takes no samples.
fn hung_ns(activity: &[Sample]) -> u64 {
    let done = |sample: &Sample| sample.counters.read.ios + sample.counters.write.ios;
    let stretches = activity.chunk_by(|before, after| done(before) == done(after));
    let long = stretches.filter_map(|stretch| {
        let [first, .., last] = stretch else { return None };
        let ns = last.at_ns.saturating_sub(first.at_ns);
        let busy_ns =
            last.counters.busy_ms.saturating_sub(first.counters.busy_ms).saturating_mul(1_000_000);
        // The host may have stalled between two samples too: the longest such gap is not counted.
        let gap_ns =
            stretch.windows(2).map(|pair| pair[1].at_ns.saturating_sub(pair[0].at_ns)).max()?;
        (busy_ns as f64 >= ns as f64 * MIN_SHARE && gap_ns < ns / 4).then_some(ns)
    });
    long.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use record::{Counters, Served, Severity};

    use super::*;
    use crate::testing;

    const SECOND_NS: u64 = 1_000_000_000;

    /// A write of so many seconds, and looks at the counters once a second from the tenth on.
    fn run(took_s: u64, looks_at_s: impl Iterator<Item = u64>, busy: bool) -> Record {
        let mut record = testing::empty();
        let mut cell = testing::iops("random-write", 1, 4096, 50.0, took_s * SECOND_NS);
        let sample = |at_s: u64| {
            let busy_ms = if busy { at_s * 1000 } else { 0 };
            let ios = if (10..10 + took_s).contains(&at_s) { 500 } else { at_s * 50 };
            Sample {
                at_ns: at_s * SECOND_NS,
                counters: Counters {
                    write: Served { ios, ..Served::default() },
                    busy_ms,
                    ..Counters::default()
                },
            }
        };
        cell.activity = looks_at_s.map(sample).collect();
        record.cells = vec![cell];
        record
    }

    #[test]
    fn a_medium_that_stands_still_while_the_machine_goes_on_has_failed() {
        let record = run(90, 0..120, true);
        let finding = conclude(&record).unwrap();
        assert_eq!(finding.severity, Severity::Failure);
        assert!(finding.statement.starts_with("One write took 90"), "{}", finding.statement);
        let first = &crate::conclude(&record)[0];
        assert!(
            first.id == "verdict"
                && first.statement.starts_with("Do not use it. One write took 90"),
            "{first:?}"
        );
    }

    #[test]
    fn a_host_stall_is_not_the_mediums_fault() {
        // Nobody looked meanwhile, or nothing was at the device.
        for record in
            [run(90, (0..10).chain(100..120), true), run(90, 0..120, false), run(90, 0..0, true)]
        {
            let finding = conclude(&record).unwrap();
            assert_eq!(finding.severity, Severity::Warning, "{finding:?}");
            assert!(
                finding.statement.contains("or this machine stood still"),
                "{}",
                finding.statement
            );
        }
    }

    #[test]
    fn the_time_of_a_queue_or_a_slow_medium_is_no_host_stall() {
        assert_eq!(conclude(&run(29, 0..60, true)), None);
        for test in SEVERAL {
            let mut several = run(90, 0..0, true);
            several.cells[0].test = test.into();
            assert_eq!(conclude(&several), None, "{test}");
        }
        let mut deep = run(90, 0..120, true);
        deep.cells[0].params.queue_depth = 32;
        assert_eq!(conclude(&deep), None);
    }

    #[test]
    fn thirty_seconds_and_what_the_bytes_take_are_the_limit() {
        let of = |block: u64, ns: u64| {
            let mut cell = testing::iops("random-write", 1, block, 50.0, ns);
            cell.params.queue_depth = 1;
            too_long_ns(&cell)
        };
        // 4096 bytes at 100 kB/s are 40.96 ms.
        assert_eq!(of(4096, 30_040_960_000), None);
        assert_eq!(of(4096, 30_040_960_001), Some(30_040_960_001));
    }

    #[test]
    fn the_kernel_saw_it_where_it_was_busy_for_four_fifths_and_we_kept_looking() {
        let of = |busy_ms: u64, at_s: &[u64]| {
            let last = *at_s.last().unwrap();
            let samples: Vec<Sample> = at_s
                .iter()
                .map(|at_s| Sample {
                    at_ns: at_s * SECOND_NS,
                    counters: Counters { busy_ms: busy_ms * at_s / last, ..Counters::default() },
                })
                .collect();
            hung_ns(&samples)
        };
        let every_second: Vec<u64> = (0..=100).collect();
        assert_eq!(of(80_000, &every_second), 100 * SECOND_NS);
        assert_eq!(of(79_999, &every_second), 0);
        // A gap of a quarter of the time is no proof.
        assert_eq!(of(100_000, &[0, 20, 44, 52, 76, 100]), 100 * SECOND_NS);
        assert_eq!(of(100_000, &[0, 20, 45, 52, 76, 100]), 0);
    }
}
