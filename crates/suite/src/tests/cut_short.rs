//! Test of cells that are cut short: an error or Ctrl-C ends a cell in order and keeps its results
//! so far.

use record::Stop;
use record::units::{GIB, MILLISECOND_NS, SECOND_NS};

use crate::catalogue::CATALOGUE;
use crate::catalogue::testing::{BenchOutcome, TestBench};

/// Number of the I/O from which on all fail, or after which the user presses Ctrl-C.
#[derive(Clone, Copy, Debug)]
enum Cut {
    FailsAt(u64),
    StopsAt(u64),
}
use Cut::{FailsAt, StopsAt};

impl Cut {
    fn run(self, test: &str) -> Option<BenchOutcome> {
        let mut bench = TestBench::raw(4 * GIB, |_, _| MILLISECOND_NS);
        bench.target.files = Ok(());
        match self {
            FailsAt(number) => bench.fail_at = Some(number),
            StopsAt(number) => bench.stop_at = Some(number),
        }
        bench.plan(&[test]).is_ok().then(|| bench.run(&[test]))
    }

    fn stop(self) -> Stop {
        if matches!(self, FailsAt(_)) { Stop::Error } else { Stop::Interrupted }
    }
}

#[test]
fn every_test_ends_in_order() {
    for test in CATALOGUE {
        for cut in [FailsAt(0), FailsAt(5), FailsAt(40), StopsAt(5), StopsAt(45)] {
            let Some(ran) = cut.run(test.name()) else { continue };
            let Some(last) = ran.end.cells.last() else { continue };
            let context = format!("{} {cut:?}: {:?}", last.id, last.stop);
            assert!(last.stop == cut.stop() || !last.stop.cut_short(), "{context}");
            assert!(last.ops <= ran.requests.len() as u64, "{context}");
            assert_eq!(last.error.is_some(), last.stop == Stop::Error, "{context}");
        }
    }
}

/// At an I/O a second each cell ends at its limit, after the I/Os that are under way then.
#[test]
fn one_io_a_second_keeps_to_the_time() {
    for test in [
        "random-write max_time=60s certainty=0% slow_certainty=0%",
        "ext2-fill max_time=30s order=sync",
        "sector-write max_time=20s",
        "flush-cost block=4KiB form=flushed",
    ] {
        let bench = TestBench::raw(4 * GIB, |_, _| SECOND_NS);
        let planned = bench.planned(&[test]);
        let ran = bench.run(&[test]);
        for (cell, planned) in ran.end.cells.iter().zip(&planned) {
            assert!(cell.elapsed_ns <= planned.max_ns + 3 * SECOND_NS, "{}", cell.id);
            assert_eq!((cell.stop, &cell.id), (Stop::Time, &planned.id));
        }
    }
}

/// The cell that is cut short, and a result that it keeps.
#[test]
fn measured_figures_survive_an_interruption() {
    let mut wrong = Vec::new();
    for (test, cut, id, figure) in [
        ("buffered-read form=direct", FailsAt(70), "buffered-read/1", "first_run_bps"),
        ("random-read block=4KiB", FailsAt(40), "random-read/1", "access_time_ns"),
        ("random-read block=4KiB", StopsAt(40), "random-read/1", "access_time_ns"),
        ("commit form=wal", FailsAt(40), "commit/1", "iops"),
        ("ext2-format form=mke2fs", FailsAt(600), "ext2-format/1", "groups_per_s"),
        ("random-write block=4KiB overwhelm=1MiB", StopsAt(100), "random-write/1", "burst_iops"),
        ("open-aus", FailsAt(1065), "open-aus/2", "iops"),
        ("open-aus", StopsAt(45), "open-aus/1", "iops"),
        ("random-write block=4KiB overwhelm=1MiB", FailsAt(600), "random-write/1", "iops"),
        ("ext2-fill order=sync", FailsAt(500), "ext2-fill/1", "files_per_s"),
        ("flush-cost block=4KiB form=plain", FailsAt(10), "flush-cost/1", "write_ns"),
        ("zero-fill", FailsAt(5), "zero-fill/1", "iops"),
    ] {
        let ran = cut.run(test).unwrap_or_else(|| panic!("{test} is left out"));
        let cell = ran.cell(id);
        let kept = cell.metrics.iops.filter(|_| figure == "iops");
        let kept = kept.or(cell.metrics.other.get(figure).copied());
        if cell.stop != cut.stop() || kept.is_none_or(|kept| kept.value <= 0.0) {
            wrong.push(format!("{test} {cut:?}: {:?} {:?}", cell.stop, cell.metrics.other));
        }
    }
    assert_eq!(wrong, [""; 0]);
}
