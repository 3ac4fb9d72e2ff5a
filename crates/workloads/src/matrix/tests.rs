//! Tests of the matrix on backends that fail in a chosen way, in virtual time.

use std::cell::Cell as Slot;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use record::{Cell, Estimate, Params};

use super::results::Results;
use super::*;
use crate::cases::{self, Case};
use crate::workload::{NamedWork, WorkError, Workload, WorkloadContext};

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
struct Tiny(&'static Slot<f64>, u64);

/// Figure that stands for an error of the kernel.
const IO_ERROR: f64 = -1.0;
/// Figure that stands for the same error, from a medium that has failed for good.
const DEAD: f64 = -2.0;

impl Workload for Tiny {
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
        cell.metrics.iops = Some(Estimate::of(self.0.get(), 1));
        Ok(vec![cell.clone(), cell])
    }
}

/// A matrix as a case tells it.
struct Bench {
    /// Figures of the tries of each combination; one without figures cannot be mounted.
    figures: BTreeMap<String, Vec<f64>>,
    limit_ns: Option<u64>,
    stop_after: usize,
    /// Combination whose file system cannot be unmounted.
    in_use: Option<String>,
    needs_bytes: u64,
    /// Cells of the sessions so far.
    cells: Vec<Cell>,
}

/// A backend of a bench. Every try takes a second.
struct Scripted<'a> {
    bench: &'a Bench,
    tries: Vec<String>,
    figure: &'static Slot<f64>,
    clock: &'a Slot<u64>,
    open: bool,
}

fn name_of(combination: &Combination) -> String {
    format!("{} {}", combination.filesystem, combination.scheduler)
}

impl MatrixBackend for Scripted<'_> {
    fn begin(&mut self, combination: &Combination) -> Result<Prepared, Unready> {
        assert!(!self.open, "the last one was not ended");
        let name = name_of(combination);
        self.clock.set(self.clock.get() + SECOND_NS);
        let repeat = self.tries.iter().filter(|tried| **tried == name).count();
        self.tries.push(name.clone());
        let figures = &self.bench.figures[&name];
        if figures.is_empty() {
            return Err(Unready::Combination(format!("cannot mount {name}")));
        }
        self.figure.set(figures[repeat % figures.len()]);
        self.open = true;
        let (directory, mkfs) = ("/nonexistent".into(), String::new());
        Ok(Prepared { directory, on: name, mkfs, free_bytes: 1000 })
    }
    fn end(&mut self) -> Result<(), String> {
        self.open = false;
        let is_used = self.tries.last() == self.bench.in_use.as_ref();
        if is_used { Err("it is in use".to_owned()) } else { Ok(()) }
    }
    fn answers(&mut self) -> Result<(), MediumFailure> {
        assert!(!self.open, "nothing is mounted while the medium is asked");
        if self.figure.get() == DEAD { Err("it answers nothing".to_owned().into()) } else { Ok(()) }
    }
}

impl Bench {
    fn new() -> Bench {
        let figures =
            axes().combinations(|_| true).0.iter().map(|it| (name_of(it), Vec::new())).collect();
        Bench {
            figures,
            limit_ns: None,
            stop_after: usize::MAX,
            in_use: None,
            needs_bytes: 1,
            cells: Vec::new(),
        }
    }

    /// A session after those so far: how it ended, and its tries as they were kept, block by block.
    fn session(&mut self) -> String {
        let (clock, stop) = (Slot::new(0), AtomicBool::new(false));
        let (combinations, _) = axes().combinations(|_| true);
        // The figure outlives the works, but boxed works may borrow nothing: so it is leaked, a few
        // bytes a test.
        let figure: &'static Slot<f64> = Box::leak(Box::new(Slot::new(0.0)));
        let works: [NamedWork; 1] = [("tiny".into(), Box::new(Tiny(figure, self.needs_bytes)))];
        let (tries, open) = (Vec::new(), false);
        let mut backend = Scripted { bench: self, tries, figure, clock: &clock, open };
        let limits =
            MatrixLimits { least_repeats: 3, most_repeats: 8, time_limit_ns: self.limit_ns };
        let trial = MatrixTrial {
            combinations: &combinations,
            works: &works,
            clock: &|| clock.get(),
            seed: 7,
            limits,
            done: &self.cells,
            used_ns: 0,
            stop: &stop,
        };
        let (mut kept, mut cells) = (Vec::new(), Vec::new());
        let end = run(&trial, &mut backend, &mut |event| {
            if let MatrixEvent::Finished(found) = event {
                kept.push(found[0].clone());
                cells.extend_from_slice(found);
                stop.fetch_or(kept.len() == self.stop_after, Ordering::Relaxed);
            }
            Ok(())
        });
        assert!(!backend.open);
        let mut lines = vec![format!("{end:?} after {} tries", backend.tries.len())];
        for block in kept.chunk_by(|a, b| a.label("repeat") == b.label("repeat")) {
            let tries: Vec<String> = block.iter().map(told).collect();
            lines.push(format!("{}: {}", block[0].label("repeat"), tries.join(", ")));
        }
        self.keep(cells);
        let results = Results::of(&combinations, &self.cells);
        let named = |numbers: &mut dyn Iterator<Item = usize>| {
            let names: Vec<String> = numbers.map(|at| name_of(&combinations[at])).collect();
            if names.is_empty() { "none".to_owned() } else { names.join(", ") }
        };
        let best = named(&mut results.places("tiny").iter().map(|placed| placed.group));
        lines.push(format!("best first: {best}"));
        lines.push(format!("failed by themselves: {}", named(&mut results.failed.into_iter())));
        lines.join("\n")
    }

    /// Keeps cells as a journal is read: of several cells of one name the last counts.
    fn keep(&mut self, cells: Vec<Cell>) {
        for cell in cells {
            self.cells.retain(|known| known.id != cell.id);
            self.cells.push(cell);
        }
    }
}

/// A try as it was kept.
fn told(cell: &Cell) -> String {
    let result = match cell.work_result() {
        Some((figure, _)) if cell.reason.is_none() => figure.to_string(),
        _ if cell.is_failed_by_medium() => "(the medium)".to_owned(),
        _ => format!("({})", cell.reason.as_deref().unwrap_or_default()),
    };
    format!("{} {} {result}", cell.label("filesystem"), cell.label("scheduler"))
}

impl Case for Bench {
    fn build(&mut self, line: &str) {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["limit", seconds] => {
                self.limit_ns = Some((seconds.parse::<f64>().unwrap() * 1e9) as u64);
            }
            ["stop", "after", tries] => self.stop_after = tries.parse().unwrap(),
            ["go", "on"] => self.stop_after = usize::MAX,
            ["in", "use", ref name @ ..] => self.in_use = Some(name.join(" ")),
            ["needs", bytes] => self.needs_bytes = bytes.parse().unwrap(),
            [filesystem, scheduler, ref figures @ ..] => {
                let figure = |word: &&str| match *word {
                    "error" => IO_ERROR,
                    "dead" => DEAD,
                    number => number.parse().unwrap(),
                };
                let figures = figures.iter().map(figure).collect();
                self.figures.insert(format!("{filesystem} {scheduler}"), figures);
            }
            _ => panic!("{line}: no line of a matrix"),
        }
    }

    fn answer(&mut self, _: &str) -> String {
        self.session()
    }
}

#[test]
fn every_session_goes_as_it_is_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    cases::check(&folder.join("src/matrix/cases.txt"), Bench::new);
}

#[test]
fn a_try_has_a_headline_and_details() {
    let mut bench = Bench::new();
    bench.build("ext4 none 1");
    bench.session();
    let detail = bench.cells.iter().find(|cell| !cell.label("part").is_empty()).unwrap();
    assert_eq!((detail.label("part"), detail.id.ends_with("#1/1")), ("1", true));
}

#[test]
fn file_systems_that_cannot_be_aligned_are_listed_as_left_out() {
    let both = Axes { aligns: vec![false, true], ..axes() };
    let (all, left_out) = both.combinations(|filesystem| filesystem != "vfat");
    assert_eq!((all.len(), left_out.len()), (10, 1));
    assert_eq!(left_out[0].what, "vfat fitted to the AU");
}
