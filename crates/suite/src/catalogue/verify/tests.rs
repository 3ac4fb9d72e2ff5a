use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use device::ExtentGuard;
use record::units::{Bytes, MIB, SECOND_NS};
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

/// A medium of 64 MiB in words.
fn geometry(words: &str) -> Geometry {
    let fault = |kind: &str, more: &str| {
        let place = "offset = \"8 MiB\"\nsize = \"512 KiB\"";
        Geometry::damaged(64 * MIB, format!("[[fault]]\nkind = \"{kind}\"\n{place}\n{more}\n"))
    };
    match words {
        "good" => Geometry::good(64 * MIB),
        "slow" => Geometry { write_bps: 1_000_000, ..Geometry::good(64 * MIB) },
        "wraparound" => Geometry::wraparound(64 * MIB, 20 * MIB),
        "limbo" => Geometry::limbo(64 * MIB, 20 * MIB),
        "unreadable" => fault("medium-error", "direction = \"read\""),
        "unwritable" => fault("medium-error", "direction = \"write\""),
        _ => fault("corruption", ""),
    }
}

/// What all parts of a medium found of its sectors, where the first bad one is, and how they ended.
fn found(question: &str) -> String {
    let (words, test) = question.split_once(": ").unwrap();
    let cells = verified(&geometry(words), test);
    let names: BTreeSet<&String> =
        cells.iter().flat_map(|cell| cell.metrics.other.keys()).collect();
    let sectors = names.into_iter().filter(|name| name.ends_with("_sectors"));
    let counts = sectors.map(|name| (name.trim_end_matches("_sectors"), sum(&cells, name)));
    let counted = counts.filter(|(_, n)| *n > 0).map(|(name, n)| format!("{name} {n}"));
    let counted = counted.collect::<Vec<_>>().join(", ");
    let bad = first_bad(&cells).map_or("none".to_owned(), |at| Bytes(at).to_string());
    let count = |is_it: fn(&&Cell) -> bool| cells.iter().filter(is_it).count();
    let ends = [
        count(|cell| cell.stop == Stop::Bytes),
        count(|cell| cell.stop == Stop::Time),
        count(|cell| cell.metrics.bps.is_some()),
    ];
    let of = |form: &str| -> u64 {
        let cells = cells.iter().filter(|cell| cell.params.form.as_deref() == Some(form));
        cells.filter_map(|cell| cell.params.span_bytes).sum()
    };
    format!(
        "{counted}; first bad {bad}; {} written, {} read; of {} cells {} whole, {} cut, {} with a rate",
        of("write"),
        of("read"),
        cells.len(),
        ends[0],
        ends[1],
        ends[2]
    )
}

#[test]
fn what_is_written_is_read_back_or_counted_as_what_became_of_it() {
    crate::cases::check_rows("src/catalogue/verify/rows.txt", found);
}

#[test]
fn what_was_written_over_a_sector_came_later_from_a_multiple_of_the_flash() {
    let wrap = verified(&geometry("wraparound"), "verify");
    let mut series = wrap.iter().flat_map(|cell| &cell.series);
    let points = &series.find(|series| series.name == "overwritten by").unwrap().points;
    let is_later = |[place, by]: &[f64; 2]| (by - place) % (20 * MIB) as f64 == 0.0 && by > place;
    assert!(points.len() <= MAX_POINTS && points.iter().all(is_later));
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
