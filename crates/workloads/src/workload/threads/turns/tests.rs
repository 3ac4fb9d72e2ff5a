use std::sync::atomic::AtomicBool;

use record::Histogram;

use super::super::{PHASES, metrics};
use super::*;

const BLOCK: u64 = 4096;
const RECORDS: u64 = 64;

fn form(time_ns: Option<u64>) -> Form {
    Form { name: "of a test", size_bytes: RECORDS * BLOCK, time_ns }
}

fn turns<'a>(phase: &'a Phase, form: Form, signals: &'a Signals) -> Turns<'a> {
    let limit_ns = form.time_ns.unwrap_or(u64::MAX);
    Turns { form, phase, block_bytes: BLOCK, order: None, limit_ns, signals }
}

/// A thread whose neighbour finishes while its I/O number `at` is in flight: its results, and the
/// number of I/Os that it did.
fn walled(phase: &Phase, form: Form, at: u64) -> (WorkerEnd, u64) {
    let signals = Signals::new(1);
    let turns = turns(phase, form, &signals);
    let mut done = 0;
    let end = turns.run(|place| {
        assert_eq!(place, done % RECORDS * BLOCK);
        done += 1;
        let before_ns = now_ns();
        while now_ns() == before_ns {}
        signals.stonewall.fetch_or(done == at, Ordering::Relaxed);
        signals.give_up.store(done == 3 * RECORDS, Ordering::Relaxed);
        Ok(())
    });
    (end.unwrap(), done)
}

/// Readers went on to the end of their files: the parent saw 0.77 to 0.80 of what iozone's parent
/// sees. Of the record under way at the stonewall the time counts, and not the bytes.
#[test]
fn readers_and_rewriters_end_at_the_stonewall_and_writers_finish_their_files() {
    for phase in &PHASES {
        for at in [1, 10, RECORDS] {
            let (end, done) = walled(phase, form(None), at);
            let all = if ["write", "random-write"].contains(&phase.name) { RECORDS } else { at };
            assert_eq!((done, end.moved_bytes), (all, all * BLOCK), "{}", phase.name);
            assert_eq!(end.ledger.ops(), at - 1, "{}", phase.name);
            assert!(end.elapsed_ns > 0 && !end.timed_out, "{}", phase.name);
        }
        assert_eq!(
            walled(phase, form(None), RECORDS + 1).0.ledger.ops(),
            RECORDS,
            "{}",
            phase.name
        );
    }
}

#[test]
fn with_a_time_of_its_own_no_thread_minds_the_others() {
    for phase in &PHASES {
        let (end, done) = walled(phase, form(Some(u64::MAX)), 10);
        let want = if phase.name == "write" { RECORDS } else { 3 * RECORDS };
        assert_eq!((end.ledger.ops(), done), (want, want), "{}", phase.name);
    }
}

#[test]
fn one_that_begins_after_the_stonewall_has_nothing() {
    let signals = Signals { stonewall: AtomicBool::new(true), ..Signals::new(1) };
    for phase in &PHASES {
        let end = turns(phase, form(None), &signals).run(|_| Ok(())).unwrap();
        let moved = if phase.finishes { RECORDS * BLOCK } else { 0 };
        assert_eq!(
            (end.ledger.ops(), end.moved_bytes, end.iops()),
            (0, moved, 0.0),
            "{}",
            phase.name
        );
    }
}

#[test]
fn the_parent_sees_all_counted_bytes_over_its_own_time() {
    let reread = &PHASES[3];
    let ends = [10, 20, RECORDS + 1].map(|at| walled(reread, form(None), at).0);
    let parent = metrics(&ends, &Histogram::default(), BLOCK, 500_000_000);
    assert_eq!(parent.other["parent_iops"].value, (9 + 19 + RECORDS) as f64 / 0.5);
    assert_eq!(parent.other["min_transferred_bytes"].value, (9 * BLOCK) as f64);
}
