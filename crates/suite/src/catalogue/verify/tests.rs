use std::sync::atomic::AtomicBool;

use device::ExtentGuard;
use record::units::{KIB, MIB, SECOND_NS};
use record::{Cell, Ended};

use super::*;
use crate::catalogue::capacity::trial::Geometry;
use crate::catalogue::testing::TestBench;
use crate::{NoStage, Plan, RunEnd, RunOptions, TargetInfo, run};

/// A medium that keeps data, the site it is on, and a plan to verify it.
fn medium(geometry: &Geometry, test: &str) -> (TargetInfo, Plan, Box<dyn Device>) {
    let profile = sim::Profile::parse("trial", &geometry.profile()).unwrap();
    let device =
        sim::SimDevice::new(&profile, sim::SimOptions { seed: 1, capacity: None, keep_data: true });
    let mut bench = TestBench::raw(0, |_, _| 0);
    bench.target.facts = device.facts().clone();
    let plan = bench.plan(&[test]).unwrap();
    (bench.target, plan, Box::new(device))
}

fn go(
    guarded: &mut crate::Guarded,
    target: &TargetInfo,
    plan: &Plan,
    done: Vec<Cell>,
    lost: bool,
    listener: &mut dyn crate::RunListener,
    stop: &AtomicBool,
) -> RunEnd {
    let options = RunOptions { done, lost, ..RunOptions::new(9, target, stop) };
    run(guarded, &mut NoStage, plan, options, listener)
}

fn verified(geometry: &Geometry, test: &str) -> Vec<Cell> {
    let (target, plan, device) = medium(geometry, test);
    let mut guarded = plan.guard(device);
    go(&mut guarded, &target, &plan, Vec::new(), false, &mut (), &AtomicBool::new(false)).cells
}

/// A count over all parts.
fn sum(cells: &[Cell], name: &str) -> u64 {
    cells
        .iter()
        .filter_map(|cell| cell.metrics.other.get(name))
        .map(|figure| figure.value as u64)
        .sum()
}

fn first_bad(cells: &[Cell]) -> Option<u64> {
    cells
        .iter()
        .find_map(|cell| cell.metrics.other.get("first_bad_offset_bytes"))
        .map(|figure| figure.value as u64)
}

#[test]
fn a_good_medium_is_good_to_the_last_sector() {
    let cells = verified(&Geometry::good(64 * MIB), "verify");
    assert_eq!(cells.len(), 32);
    assert_eq!(sum(&cells, "good_sectors"), 64 * MIB / 512);
    for bad in ["changed_sectors", "overwritten_sectors", "corrupted_sectors", "unwritable_sectors"]
    {
        assert_eq!(sum(&cells, bad), 0);
    }
    assert_eq!(first_bad(&cells), None);
    assert!(cells.iter().all(|cell| cell.stop == Stop::Bytes && cell.metrics.bps.is_some()));
}

#[test]
fn a_fake_shows_where_its_data_went() {
    let (real, all) = (20 * MIB / 512, 64 * MIB / 512);
    let wrap = verified(&Geometry::wraparound(64 * MIB, 20 * MIB), "verify");
    assert_eq!((sum(&wrap, "good_sectors"), sum(&wrap, "overwritten_sectors")), (real, all - real));
    assert_eq!(first_bad(&wrap), Some(0), "what was written first is what was overwritten");
    let mut series = wrap.iter().flat_map(|cell| &cell.series);
    let points = &series.find(|series| series.name == "overwritten by").unwrap().points;
    let is_later = |[place, by]: &[f64; 2]| (by - place) % (20 * MIB) as f64 == 0.0 && by > place;
    assert!(points.len() <= MAX_POINTS && points.iter().all(is_later));

    let limbo = verified(&Geometry::limbo(64 * MIB, 20 * MIB), "verify");
    let names = ["good_sectors", "corrupted_sectors", "zero_sectors"];
    assert_eq!(names.map(|name| sum(&limbo, name)), [real, all - real, all - real]);
    assert_eq!(first_bad(&limbo), Some(20 * MIB));
}

#[test]
fn damage_is_counted_and_what_follows_is_still_read() {
    let fault = |kind: &str| {
        format!("[[fault]]\nkind = \"{kind}\"\noffset = \"8 MiB\"\nsize = \"512 KiB\"\n")
    };
    let unreadable = verified(
        &Geometry::damaged(64 * MIB, fault("medium-error") + "direction = \"read\"\n"),
        "verify block=64KiB",
    );
    assert_eq!(sum(&unreadable, "unreadable_sectors"), 512 * KIB / 512);
    assert_eq!(sum(&unreadable, "good_sectors"), (64 * MIB - 512 * KIB) / 512);
    assert_eq!(first_bad(&unreadable), Some(8 * MIB));
    assert!(unreadable.iter().all(|cell| cell.stop == Stop::Bytes));

    let unwritable = verified(
        &Geometry::damaged(64 * MIB, fault("medium-error") + "direction = \"write\"\n"),
        "verify block=64KiB",
    );
    assert_eq!(
        (sum(&unwritable, "unwritable_sectors"), sum(&unwritable, "zero_sectors")),
        (1024, 1024)
    );

    let flipped = verified(&Geometry::damaged(64 * MIB, fault("corruption")), "verify");
    assert_eq!(
        (sum(&flipped, "changed_sectors"), sum(&flipped, "corrupted_sectors")),
        (128, 0),
        "one sector in each page of 4 KiB"
    );
}

#[test]
fn what_time_did_not_allow_to_write_is_not_called_bad() {
    let cells = verified(
        &Geometry { write_bps: 1_000_000, ..Geometry::good(64 * MIB) },
        "verify parts=1 max_time=20s",
    );
    let [written, read] = &cells[..] else { panic!("{cells:?}") };
    assert_eq!(written.stop, Stop::Time);
    let reached = written.params.span_bytes.unwrap();
    assert!(reached > 5 * MIB && reached < 20 * MIB);
    assert_eq!(
        (sum(&cells, "good_sectors"), read.params.span_bytes),
        (reached / 512, Some(reached))
    );
    assert_eq!(first_bad(&cells), None);
}

/// Presses Ctrl-C when the cell of this number is half done.
struct StopsAt<'a>(usize, &'a AtomicBool);

impl crate::RunListener for StopsAt<'_> {
    fn on_event(&mut self, event: &crate::RunEvent<'_>) -> Result<(), String> {
        if let crate::RunEvent::Progress(progress) = event
            && progress.index == self.0
            && progress.share > 0.4
        {
            assert!(
                progress.remaining_ns < 60 * SECOND_NS,
                "an estimate that has learnt from the parts before"
            );
            self.1.store(true, std::sync::atomic::Ordering::Relaxed);
        }
        Ok(())
    }
}

/// Stops in this cell and resumes; returns all cells and the bytes written in both runs.
fn interrupted(at: usize, lost: bool) -> (Vec<Cell>, [u64; 2]) {
    let (target, plan, device) = medium(
        &Geometry { merges: false, ..Geometry::good(64 * MIB) },
        "verify parts=4 max_time=8m",
    );
    let mut guarded = ExtentGuard::new(device, plan.writes());
    let stop = AtomicBool::new(false);
    let first = go(&mut guarded, &target, &plan, Vec::new(), false, &mut StopsAt(at, &stop), &stop);
    assert_eq!(first.ended, Ended::Interrupted);
    let before = guarded.written_bytes();
    if lost {
        guarded = ExtentGuard::new(medium(&Geometry::good(64 * MIB), "verify").2, plan.writes());
    }
    let done = first.cells.into_iter().filter(|cell| cell.stop != Stop::Interrupted).collect();
    let second = go(&mut guarded, &target, &plan, done, lost, &mut (), &AtomicBool::new(false));
    assert_eq!(second.ended, Ended::Complete);
    (
        second.cells,
        [before, if lost { guarded.written_bytes() } else { guarded.written_bytes() - before }],
    )
}

#[test]
fn a_finished_part_is_not_repeated() {
    let (cells, [before, after]) = interrupted(2, false);
    assert_eq!(sum(&cells, "good_sectors"), 64 * MIB / 512);
    assert!((32 * MIB..48 * MIB).contains(&before));
    assert_eq!(after, 32 * MIB, "the half-done part and the one after it");
    let (cells, [before, after]) = interrupted(6, false);
    assert_eq!((sum(&cells, "good_sectors"), before, after), (64 * MIB / 512, 64 * MIB, 0));
}

#[test]
fn data_lost_between_two_sessions_is_written_again() {
    let (cells, [_, after]) = interrupted(6, true);
    assert_eq!((sum(&cells, "good_sectors"), after), (64 * MIB / 512, 64 * MIB));
}
