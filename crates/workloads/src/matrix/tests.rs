//! Tests of the matrix on backends that fail in a chosen way, in virtual time.

use std::cell::{Cell as Slot, RefCell};
use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use device::IoErrorKind;
use record::{Cell, Estimate, Params, Stop};

use super::results::Results;
use super::*;
use crate::workload::{WorkError, Workload, WorkloadContext};

const SECOND_NS: u64 = 1_000_000_000;

fn axes() -> Axes {
    let words = |text: &str| text.split(' ').map(str::to_owned).collect();
    Axes {
        filesystems: words("ext4 xfs vfat"),
        aligns: vec![false],
        mount_options: words("noatime"),
        schedulers: words("none bfq"),
        works: words("tiny"),
    }
}

/// A work that returns the figure that its backend has chosen for the combination.
struct Tiny<'a>(&'a Slot<f64>, u64);

/// Figure that stands for an error of the kernel.
const IO_ERROR: f64 = -1.0;
/// Figure that stands for the same error, from a medium that has failed for good.
const DEAD: f64 = -2.0;

impl Workload for Tiny<'_> {
    fn name(&self) -> &str {
        "tiny"
    }
    fn needs_bytes(&self) -> u64 {
        self.1
    }
    fn run(&self, context: &mut WorkloadContext<'_>) -> Result<Vec<Cell>, WorkError> {
        if context.stop.load(Ordering::Relaxed) {
            return Err(WorkError::interrupted("tiny"));
        }
        if [IO_ERROR, DEAD].contains(&self.0.get()) {
            return Err(WorkError::io("tiny", "writing", io::Error::from_raw_os_error(19)));
        }
        let mut cell = Cell::begun("tiny", "tiny", Params::default());
        cell.metrics.iops = Some(Estimate { value: self.0.get(), ci95: None, n: 1 });
        Ok(vec![cell.clone(), cell])
    }
}

/// A backend with a figure for each combination; one without a figure cannot be mounted. Every try
/// takes a second.
struct Scripted<'a> {
    figures: BTreeMap<String, Vec<f64>>,
    tries: RefCell<Vec<String>>,
    figure: &'a Slot<f64>,
    clock: &'a Slot<u64>,
    open: bool,
    unmountable: Option<String>,
    free_bytes: u64,
}

impl MatrixBackend for Scripted<'_> {
    fn begin(&mut self, combination: &Combination) -> Result<Prepared, Unready> {
        assert!(!self.open, "the last one was not ended");
        let name = format!("{} {}", combination.filesystem, combination.scheduler);
        self.tries.borrow_mut().push(name.clone());
        self.clock.set(self.clock.get() + SECOND_NS);
        let figures = self
            .figures
            .get(&name)
            .ok_or_else(|| Unready::Combination(format!("cannot mount {name}")))?;
        let repeat = self.tries.borrow().iter().filter(|tried| **tried == name).count();
        self.figure.set(figures[(repeat - 1) % figures.len()]);
        self.open = true;
        Ok(Prepared {
            directory: "/nonexistent".into(),
            on: name,
            mkfs: String::new(),
            free_bytes: self.free_bytes,
        })
    }
    fn end(&mut self) -> Result<(), String> {
        self.open = false;
        let last = self.tries.borrow().last().cloned();
        if last.is_some() && last == self.unmountable {
            Err("it is in use".to_owned())
        } else {
            Ok(())
        }
    }
    fn answers(&mut self) -> Result<(), MediumFailure> {
        assert!(!self.open, "nothing is mounted while the medium is asked");
        if self.figure.get() == DEAD { Err("it answers nothing".to_owned().into()) } else { Ok(()) }
    }
}

/// Course of a session.
struct Went {
    end: End,
    tries: Vec<String>,
    cells: Vec<Cell>,
    left_open: bool,
}

struct Bench {
    figures: BTreeMap<String, Vec<f64>>,
    limits: MatrixLimits,
    earlier: Vec<Cell>,
    stop_after: usize,
    unmountable: Option<String>,
    needs_bytes: u64,
}

impl Bench {
    fn new(figures: &[(&str, &[f64])]) -> Bench {
        Bench {
            figures: figures
                .iter()
                .map(|(name, figures)| ((*name).to_owned(), figures.to_vec()))
                .collect(),
            limits: MatrixLimits { least_repeats: 3, most_repeats: 8, time_limit_ns: None },
            earlier: Vec::new(),
            stop_after: usize::MAX,
            unmountable: None,
            needs_bytes: 1,
        }
    }

    fn run(&self) -> Went {
        let (figure, clock, stop) = (Slot::new(0.0), Slot::new(0), AtomicBool::new(false));
        let (combinations, _) = axes().combinations(|_| true);
        // The figure outlives the works, but boxed works may borrow nothing: so it is leaked, a few
        // bytes a test.
        let figure: &'static Slot<f64> = Box::leak(Box::new(figure));
        let works: Vec<Box<dyn Workload>> = vec![Box::new(Tiny(figure, self.needs_bytes))];
        let mut backend = Scripted {
            figures: self.figures.clone(),
            tries: RefCell::default(),
            figure,
            clock: &clock,
            open: false,
            unmountable: self.unmountable.clone(),
            free_bytes: 1000,
        };
        let mut cells = Vec::new();
        let trial = MatrixTrial {
            combinations: &combinations,
            works: &works,
            clock: &|| clock.get(),
            seed: 7,
            limits: self.limits,
            done: &self.earlier,
            used_ns: 0,
            stop: &stop,
        };
        let end = run(&trial, &mut backend, &mut |event| {
            if let MatrixEvent::Finished(found) = event {
                cells.extend_from_slice(found);
                if cells.iter().filter(|cell| cell.label("part").is_empty()).count()
                    == self.stop_after
                {
                    stop.store(true, Ordering::Relaxed);
                }
            }
            Ok(())
        });
        Went { end, tries: backend.tries.into_inner(), cells, left_open: backend.open }
    }
}

const CLEAR: &[(&str, &[f64])] = &[
    ("ext4 none", &[100.0, 101.0, 99.0]),
    ("ext4 bfq", &[50.0, 51.0, 49.0]),
    ("xfs none", &[70.0, 71.0, 69.0]),
    ("xfs bfq", &[40.0, 41.0, 39.0]),
    ("vfat none", &[20.0, 21.0, 20.5]),
    ("vfat bfq", &[10.0, 10.5, 10.2]),
];

#[test]
fn each_block_tries_every_combination_in_its_own_order() {
    let went = Bench::new(CLEAR).run();
    assert_eq!((went.end, went.tries.len(), went.left_open), (End::Complete, 18, false));
    // one of each in every block
    for block in went.tries.chunks(6) {
        let mut sorted = block.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), 6, "{block:?}");
    }
    assert_ne!(went.tries[..6], went.tries[6..12], "each block has its own order");
    let (combinations, _) = axes().combinations(|_| true);
    let best = Results::of(&combinations, &went.cells).places("tiny")[0].group;
    assert_eq!((best, combinations[best].scheduler.as_str()), (0, "none"));
    assert_eq!(went.cells[0].label("repeat"), "1");
    assert_eq!((went.cells[1].label("part"), went.cells[1].id.ends_with("#1/1")), ("1", true));
}

#[test]
fn close_ones_go_on_and_beaten_ones_do_not() {
    let mut figures = CLEAR.to_vec();
    figures[1] = ("ext4 bfq", &[96.0, 140.0, 70.0]);
    let went = Bench::new(&figures).run();
    let count = |name: &str| went.tries.iter().filter(|tried| *tried == name).count();
    assert!(count("ext4 bfq") > 3 && count("ext4 none") == count("ext4 bfq"), "{:?}", went.tries);
    assert_eq!((count("xfs bfq"), count("vfat none")), (3, 3));
}

#[test]
fn one_that_cannot_be_mounted_is_tried_once_and_the_rest_goes_on() {
    let went = Bench::new(&CLEAR[1..]).run();
    assert_eq!(went.end, End::Complete);
    let failed: Vec<&Cell> = went.cells.iter().filter(|cell| cell.stop == Stop::Error).collect();
    assert_eq!((failed.len(), failed[0].reason.as_deref()), (1, Some("cannot mount ext4 none")));
    assert_eq!(went.tries.len(), 16);
}

#[test]
fn a_workload_that_does_not_fit_is_skipped_with_what_it_needs() {
    let went = Bench { needs_bytes: 5000, ..Bench::new(CLEAR) }.run();
    let reason = went.cells[0].reason.clone().unwrap();
    assert!(
        reason.ends_with("needs 5000 B and vfat has 1000 B free; a larger target would do")
            || reason.contains("has 1000 B free"),
        "{reason}"
    );
    assert_eq!((went.tries.len(), went.left_open), (6, false));
}

#[test]
fn a_resumed_session_does_what_is_left_and_nothing_twice() {
    let whole = Bench::new(CLEAR).run();
    let first = Bench { stop_after: 8, ..Bench::new(CLEAR) }.run();
    assert_eq!((first.end, first.tries.len()), (End::Interrupted, 8));
    let second = Bench { earlier: first.cells.clone(), ..Bench::new(CLEAR) }.run();
    assert_eq!(second.end, End::Complete);
    assert_eq!([first.tries, second.tries].concat(), whole.tries);
}

#[test]
fn what_failed_before_an_interruption_stays_failed() {
    let first = Bench { stop_after: 6, ..Bench::new(&CLEAR[1..]) }.run();
    let second = Bench { earlier: first.cells, ..Bench::new(CLEAR) }.run();
    assert!(!second.tries.contains(&"ext4 none".to_owned()), "{:?}", second.tries);
}

#[test]
fn time_ends_it_before_one_that_would_not_fit() {
    let limits = MatrixLimits {
        least_repeats: 3,
        most_repeats: 8,
        time_limit_ns: Some(7 * SECOND_NS + SECOND_NS / 2),
    };
    let went = Bench { limits, ..Bench::new(CLEAR) }.run();
    assert_eq!((went.end, went.tries.len()), (End::TimeIsUp, 7));
}

#[test]
fn a_file_system_that_cannot_be_taken_away_ends_everything_and_its_figure_is_kept() {
    let went = Bench { unmountable: Some("xfs none".to_owned()), ..Bench::new(CLEAR) }.run();
    assert_eq!(went.end, End::Failed("it is in use".to_owned().into()));
    let last = went.cells.last().unwrap();
    assert_eq!((last.label("filesystem"), last.label("scheduler")), ("xfs", "none"));
}

#[test]
fn file_systems_that_cannot_be_aligned_are_listed_as_left_out() {
    let both = Axes { aligns: vec![false, true], ..axes() };
    let (all, left_out) = both.combinations(|filesystem| filesystem != "vfat");
    assert_eq!((all.len(), left_out.len()), (10, 1));
    assert_eq!(left_out[0].what, "vfat fitted to the AU");
}

/// Numbers of the combinations that failed for reasons of their own.
fn failed_by_themselves(went: &Went) -> Vec<usize> {
    let (combinations, _) = axes().combinations(|_| true);
    Results::of(&combinations, &last_of_each(&went.cells)).failed.into_iter().collect()
}

#[test]
fn a_medium_that_fails_ends_everything_and_is_no_failure_of_the_combinations() {
    let mut figures = CLEAR.to_vec();
    figures[2] = ("xfs none", &[70.0, 71.0, DEAD]);
    let went = Bench::new(&figures).run();
    let End::Failed(MediumFailure { reason, .. }) = &went.end else { panic!("{:?}", went.end) };
    assert!(
        reason.contains("it answers nothing")
            && reason.contains("tiny: writing failed: No such device"),
        "{reason}"
    );
    assert_eq!((failed_by_themselves(&went), went.left_open), (vec![], false));
    let (combinations, _) = axes().combinations(|_| true);
    let results = Results::of(&combinations, &went.cells);
    assert_eq!(results.places("tiny").len(), 6, "the repeats before it count");
    let last = went.cells.last().unwrap();
    assert_eq!((last.stop, last.is_failed_by_medium()), (Stop::Error, true));

    let resumed = Bench { earlier: went.cells.clone(), ..Bench::new(CLEAR) }.run();
    assert_eq!(
        (resumed.end, resumed.tries[0].as_str()),
        (End::Complete, "xfs none"),
        "what the medium failed is tried again"
    );
    assert_eq!(went.tries.len() + resumed.tries.len(), 19);
}

#[test]
fn three_consecutive_combinations_with_an_error_are_a_failing_medium() {
    let failing: Vec<(&str, Vec<f64>)> =
        CLEAR.iter().map(|(name, figures)| (*name, vec![figures[0], IO_ERROR])).collect();
    let figures: Vec<(&str, &[f64])> =
        failing.iter().map(|(name, figures)| (*name, &figures[..])).collect();
    let went = Bench::new(&figures).run();
    assert!(
        matches!(&went.end, End::Failed(MediumFailure { reason, error: Some(IoErrorKind::Medium) }) if reason.contains("3 tries in succession")),
        "{:?}",
        went.end
    );
    assert_eq!((went.tries.len(), failed_by_themselves(&went)), (9, vec![]));
    let resumed = Bench { earlier: last_of_each(&went.cells), ..Bench::new(CLEAR) }.run();
    assert_eq!((resumed.end, resumed.tries.len()), (End::Complete, 12));
}

/// Cells as a journal is read: of several cells of one name the last counts.
fn last_of_each(cells: &[Cell]) -> Vec<Cell> {
    let by_id: BTreeMap<&str, &Cell> = cells.iter().map(|cell| (cell.id.as_str(), cell)).collect();
    by_id.into_values().cloned().collect()
}

#[test]
fn an_error_that_one_combination_alone_meets_is_its_own() {
    let mut figures = CLEAR.to_vec();
    figures[2] = ("xfs none", &[70.0, IO_ERROR, 71.0]);
    let went = Bench::new(&figures).run();
    assert_eq!((went.end.clone(), failed_by_themselves(&went)), (End::Complete, vec![2]));
}

#[test]
fn a_work_that_fails_where_nothing_can_be_unmounted_is_tried_again() {
    let mut figures = CLEAR.to_vec();
    figures[2] = ("xfs none", &[DEAD]);
    let went = Bench { unmountable: Some("xfs none".to_owned()), ..Bench::new(&figures) }.run();
    assert!(matches!(went.end, End::Failed(_)));
    assert_eq!(
        (failed_by_themselves(&went), went.cells.last().unwrap().is_failed_by_medium()),
        (vec![], true)
    );
}
