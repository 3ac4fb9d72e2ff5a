//! Test of media that are removed or refuse writes during a restore, of processes that are killed,
//! and of logs that fail.

use std::sync::atomic::AtomicBool;

use device::fault::{FaultInjection, FaultWindow, InjectedFault};
use device::{DataGenerator, IoErrorKind};

use super::backed_up::{image, used};
use super::*;
use crate::backup::failing::{BackupCall, FailingBackup};
use crate::backup::{Trust, restore};
use crate::catalogue::capacity::trial::{ProbeResult, run_probe};
use crate::{Backup, Guarded, RunEnd};

const SEED: u64 = 7;

/// A log that works.
fn log() -> FailingBackup {
    FailingBackup::new(|_| None)
}

/// A log that fails at keeping the piece of this number.
fn full_at(number: usize) -> FailingBackup {
    FailingBackup::new(move |call| {
        matches!(call, BackupCall::Keep(now) if now == number).then_some("the disk is full")
    })
}

/// A log that fails at the seal of this number. Data that was not sealed before cannot be read
/// either.
fn unsealed_at(time: u32) -> FailingBackup {
    let (mut seals, mut sealed, mut kept) = (0, 0, 0);
    FailingBackup::new(move |call| match call {
        BackupCall::Keep(number) => {
            kept = number + 1;
            None
        }
        BackupCall::Seal => {
            seals += 1;
            sealed = if seals == time { sealed } else { kept };
            (seals == time).then_some("the disk reports an error")
        }
        BackupCall::Read(number) => (seals == time && number >= sealed).then_some("it is torn"),
        BackupCall::Room => None,
    })
}

/// Probes a medium that must be restored, with these faults; their windows count from the beginning
/// of the probe.
fn tried(
    geometry: &Geometry,
    fault: Option<&dyn Fn(u64) -> InjectedFault>,
    log: &mut FailingBackup,
) -> (RunEnd, Guarded, Vec<u8>) {
    let mut device = used(geometry, SEED);
    let before = image(&mut device);
    let now_ns = device.now();
    let device = FaultInjection::new(device, fault.map(|fault| fault(now_ns)));
    let (end, guarded) = probed(device, true, Some(log));
    (end, guarded, before)
}

/// Probes a medium that must be restored or not, with or without a log.
fn probed(
    device: impl Device + 'static,
    must_restore: bool,
    log: Option<&mut FailingBackup>,
) -> (RunEnd, Guarded) {
    let why = must_restore.then(|| "it must be restored".into());
    let (log, stop) = (log.map(|log| log as &mut dyn Backup), AtomicBool::new(false));
    let (end, _, guarded) = run_probe(Box::new(device), SEED, why, &stop, &mut (), log, "");
    (end, guarded)
}

fn small() -> Geometry {
    Geometry { merges: false, ..Geometry::good(96 * MIB) }
}

fn first_wrong(before: &[u8], after: &[u8], holds: impl Fn(usize) -> bool) -> Option<usize> {
    (0..before.len())
        .step_by(512)
        .find(|at| holds(*at) && before[*at..at + 512] != after[*at..at + 512])
}

/// The medium is gone from some second on, until after the probe: nothing is lost, nothing is
/// concluded, and another process restores everything.
fn leaves_unrestored(fault: impl Fn(FaultWindow) -> InjectedFault, kind: IoErrorKind) {
    for second in [1, 3, 6] {
        let mut log = log();
        let during =
            |now_ns| fault(FaultWindow::Ns(now_ns + second * SECOND_NS, now_ns + 1000 * SECOND_NS));
        let (end, mut guarded, before) = tried(&small(), Some(&during), &mut log);
        assert_eq!(end.error.map(|error| error.kind), Some(kind), "after {second} s");
        let ruling = ProbeResult::of(end.cells[0].clone(), 0);
        let cell = &ruling.cell;
        assert_eq!((ruling.kind, cell.stop), (None, Stop::Error), "{:#?}", cell.metrics.other);
        assert!(!log.places().is_empty(), "after {second} s");
        // It is not lost, it lies in the log.
        assert_eq!(figure(cell, "unrestored_bytes"), 0.0);
        assert!(figure(cell, "owed_bytes") > 0.0);
        let text = notes(cell);
        assert!(text.contains("is not restored yet, the first at"), "{text}");
        assert!(text.contains("flashmark restore"), "{text}");
        guarded.idle(2000 * SECOND_NS);
        let found =
            restore(&mut guarded, &mut log, Trust::Look, &DataGenerator::new(SEED), &mut |_| true);
        assert!(found.is_whole(), "after {second} s: {found:?}");
        assert_eq!(log.places().len(), 0);
        assert_eq!(first_wrong(&before, &image(&mut guarded), |_| true), None, "after {second} s");
    }
}

#[test]
fn a_medium_that_is_gone_or_refuses_writes_is_restored_later_and_loses_nothing() {
    leaves_unrestored(InjectedFault::GoneDuring, IoErrorKind::Gone);
    leaves_unrestored(InjectedFault::RefusesWritesDuring, IoErrorKind::ReadOnly);
    leaves_unrestored(InjectedFault::FailsWritesDuring, IoErrorKind::ReadOnly);
}

#[test]
fn a_medium_whose_writes_fail_for_a_time_is_put_right_and_not_called_damaged() {
    // Where nothing is read first, a shorter time is enough to strike, and a longer one would last
    // to the end.
    for (must_restore, from_ns, lasts_ns, is_back) in [
        (true, SECOND_NS, SECOND_NS, true),
        (false, SECOND_NS, SECOND_NS / 6, true),
        (false, 4 * SECOND_NS, u64::MAX / 2, false),
    ] {
        let mut device = used(&small(), SEED);
        let (before, now_ns) = (image(&mut device), device.now());
        let window = FaultWindow::Ns(now_ns + from_ns, now_ns + from_ns + lasts_ns);
        let device = FaultInjection::new(device, [InjectedFault::FailsWritesDuring(window)]);
        let mut log = log();
        let (end, mut guarded) = probed(device, must_restore, Some(&mut log));
        let ruling = ProbeResult::of(end.cells[0].clone(), 0);
        assert_eq!(ruling.kind, None, "{must_restore} {from_ns}: {:#?}", ruling.cell.metrics.other);
        if !is_back {
            assert_eq!(ruling.cell.stop, Stop::Error);
            assert_eq!(end.error.map(|error| error.kind), Some(IoErrorKind::ReadOnly));
            continue;
        }
        assert!(notes(&ruling.cell).contains("unavailable for a time"), "{}", notes(&ruling.cell));
        if must_restore {
            let wrong = first_wrong(&before, &image(&mut guarded), |_| true);
            assert_eq!((wrong, log.places().len()), (None, 0));
            assert_eq!(figure(&ruling.cell, "unrestored_bytes"), 0.0);
        }
    }
}

#[test]
fn without_a_log_unrestored_data_is_lost_and_reported() {
    let mut device = used(&small(), SEED);
    let now_ns = device.now();
    image(&mut device);
    let gone = InjectedFault::GoneDuring(FaultWindow::Ns(now_ns + 20 * SECOND_NS, u64::MAX));
    let (end, _) = probed(FaultInjection::new(device, [gone]), true, None);
    assert!(figure(&end.cells[0], "unrestored_bytes") > 0.0);
    assert!(notes(&end.cells[0]).contains("could not be restored, the first at"));
}

#[test]
fn nothing_is_written_where_there_is_no_room_to_keep_it() {
    let mut log = FailingBackup::new(|call| {
        matches!(call, BackupCall::Room).then_some("there is no room for it")
    });
    let (end, mut guarded, before) = tried(&small(), None, &mut log);
    assert!(end.cells.is_empty());
    assert!(end.skipped[0].reason.contains("there is no room for"), "{:?}", end.skipped);
    assert_eq!((guarded.written_bytes(), image(&mut guarded) == before), (0, true));
}

#[test]
fn nothing_is_overwritten_while_something_is_to_be_restored() {
    let mut log = log();
    log.keep(MIB, &[1; 512]).unwrap();
    let (end, guarded, _) = tried(&small(), None, &mut log);
    assert!(end.skipped[0].reason.contains("flashmark restore"), "{:?}", end.skipped);
    assert_eq!((guarded.written_bytes(), log.places().len()), (0, 1));
}

#[test]
fn where_the_log_fails_no_more_is_overwritten_and_everything_is_restored() {
    for mut log in [full_at(0), full_at(60), unsealed_at(1), unsealed_at(4)] {
        let (end, mut guarded, before) = tried(&small(), None, &mut log);
        let cell = &end.cells[0];
        assert_eq!(cell.stop, Stop::Error);
        assert!(cell.reason.as_ref().is_some_and(|why| why.contains("could not be kept")));
        assert_eq!(
            (first_wrong(&before, &image(&mut guarded), |_| true), log.places().len()),
            (None, 0)
        );
        assert_eq!(figure(cell, "unrestored_bytes"), 0.0);
        assert!(!cell.metrics.other.contains_key("type"));
    }
}
