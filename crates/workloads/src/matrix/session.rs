//! Tries the combinations one after the other.

use std::sync::atomic::{AtomicBool, Ordering};

use device::IoErrorKind;
use record::units::{Bytes, saturating_sum};
use record::{Cell, Combination, Params, Stop, metric};
use stats::Random;

use super::results::Results;
use super::{MatrixBackend, MediumFailure, Prepared, Unready};
use crate::fragmentation::{self, Fragmentation};
use crate::workload::{InspectionPoint, NamedWork, WorkError, WorkloadContext, WorkloadProgress};

/// Limits after which nothing more is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatrixLimits {
    /// Repeats of every combination.
    pub least_repeats: u32,
    /// Most repeats of those that may be best, while they are not significantly different.
    pub most_repeats: u32,
    /// Longest time of all sessions together, in nanoseconds.
    pub time_limit_ns: Option<u64>,
}

/// Input and means of a session.
pub struct MatrixTrial<'a> {
    /// Combinations to try; their numbers are positions in this list.
    pub combinations: &'a [Combination],
    /// The works that they name.
    pub works: &'a [NamedWork],
    /// Time since some fixed point, in nanoseconds.
    pub clock: &'a dyn Fn() -> u64,
    /// Seed of every random choice.
    pub seed: u64,
    /// Limits after which nothing more is tried.
    pub limits: MatrixLimits,
    /// Cells of earlier sessions.
    pub done: &'a [Cell],
    /// Time that earlier sessions took, in nanoseconds.
    pub used_ns: u64,
    /// Set from another thread to stop at once.
    pub stop: &'a AtomicBool,
}

/// Event of a session.
#[derive(Debug)]
pub enum MatrixEvent<'a> {
    /// A try begins.
    Begun {
        /// The combination that is tried now.
        combination: &'a Combination,
        /// Number of its repeat, from 1.
        repeat: u32,
        /// Number of finished tries.
        done: usize,
        /// Number of all tries, as far as it is known: there are more if the best two are not
        /// significantly different by then.
        of: usize,
        /// Time left in nanoseconds, estimated from the finished tries.
        left_ns: Option<u64>,
    },
    /// Progress of the work of that combination.
    Progress(WorkloadProgress),
    /// The try is done or has failed. When the listener returns, the cells are durable; the first
    /// is the headline.
    Finished(&'a [Cell]),
}

/// End of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// Everything is tried, and the best two of each work are significantly different or the
    /// repeats are used up.
    Complete,
    /// The time was up.
    TimeIsUp,
    /// Somebody set [`MatrixTrial::stop`], as Ctrl-C does.
    Interrupted,
    /// Nothing more can be tried; the reason.
    Failed(MediumFailure),
}

/// Listener of a session. An `Err` ends the session: what cannot be kept must not be measured.
pub type EventSink<'a> = &'a mut dyn FnMut(&MatrixEvent<'_>) -> Result<(), String>;

/// Number of combinations in succession with an error of the kernel that is no longer chance.
const TOO_MANY: usize = 3;

/// Tries the combinations that are left.
pub fn run(trial: &MatrixTrial<'_>, backend: &mut dyn MatrixBackend, events: EventSink<'_>) -> End {
    let results = Results::of(trial.combinations, trial.done);
    let mut session = Session { trial, backend, results, events, streak: Vec::new() };
    session.run().err().unwrap_or(End::Complete)
}

struct Session<'s> {
    trial: &'s MatrixTrial<'s>,
    backend: &'s mut dyn MatrixBackend,
    results: Results<'s>,
    events: EventSink<'s>,
    /// Tries that met an error of the kernel, without a good one between them. The medium answered
    /// after each.
    streak: Vec<Try>,
}

/// A try of a combination, by its number, with its cells as the record keeps them.
struct Try {
    number: usize,
    repeat: u32,
    cells: Vec<Cell>,
}

/// Cells of a try, how it went, and an error if its file system could not be removed.
type Attempt = (Vec<Cell>, Went, Result<(), String>);

/// How a try went, before the medium is checked.
#[derive(PartialEq)]
enum Went {
    /// It gave a figure.
    Well,
    /// The file system could not be made or mounted, or the work does not fit it.
    NotSuitable,
    /// The kernel returned an error to the work, or the work found its data damaged.
    WithError,
}

impl Session<'_> {
    fn run(&mut self) -> Result<(), End> {
        let began = (self.trial.clock)();
        for repeat in 1..=self.trial.limits.most_repeats {
            let order = self.block(repeat);
            for (at, &number) in order.iter().enumerate() {
                if self.results.is_over(number, repeat) {
                    continue;
                }
                if self.is_stopped() {
                    return Err(End::Interrupted);
                }
                let used_ns = self.trial.used_ns + (self.trial.clock)().saturating_sub(began);
                if self.is_time_up(number, used_ns) {
                    return Err(End::TimeIsUp);
                }
                self.announce(repeat, &order[at..])?;
                self.try_one(number, repeat)?;
            }
        }
        Ok(())
    }

    fn is_stopped(&self) -> bool {
        self.trial.stop.load(Ordering::Relaxed)
    }

    /// Combinations of one block, in its own random order. It is drawn over all of them, so leaving
    /// some out (because they were done before an interruption, or are beaten) does not change the
    /// order of the others.
    fn block(&self, repeat: u32) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.trial.combinations.len()).collect();
        let purpose = format!("matrix block {repeat}");
        Random::for_purpose(self.trial.seed, &purpose).shuffle(&mut order);
        if repeat > self.trial.limits.least_repeats {
            let contenders = self.results.contenders();
            order.retain(|number| contenders.contains(number));
        }
        order
    }

    /// True if the expected time of this combination exceeds the limit. The first is always tried:
    /// without it nothing is known.
    fn is_time_up(&self, number: usize, used_ns: u64) -> bool {
        let expected_ns = self.results.expected_ns(number).unwrap_or(0);
        let limit_ns = self.trial.limits.time_limit_ns;
        limit_ns.is_some_and(|limit_ns| used_ns.saturating_add(expected_ns) > limit_ns)
    }

    /// Announces the first of the combinations that are left of a block.
    fn announce(&mut self, repeat: u32, left: &[usize]) -> Result<(), End> {
        let results = &self.results;
        let rest = left.iter().copied().filter(|number| !results.is_over(*number, repeat));
        let rest: Vec<usize> = rest.collect();
        let alive = (0..self.trial.combinations.len()).filter(|it| !results.failed.contains(it));
        let alive: Vec<usize> = alive.collect();
        let blocks_after = u64::from(self.trial.limits.least_repeats.saturating_sub(repeat));
        let sum = |numbers: &[usize]| {
            let expected: Option<Vec<u64>> =
                numbers.iter().map(|number| results.expected_ns(*number)).collect();
            expected.map(saturating_sum)
        };
        let left_ns = sum(&rest)
            .zip(sum(&alive))
            .map(|(rest, block)| rest.saturating_add(block.saturating_mul(blocks_after)));
        let begun = MatrixEvent::Begun {
            combination: &self.trial.combinations[left[0]],
            repeat,
            done: results.done(),
            of: results.done() + rest.len() + alive.len() * blocks_after as usize,
            left_ns,
        };
        (self.events)(&begun).map_err(end_failed)
    }

    /// Tries one combination once, and has its cells kept before anything else is done.
    fn try_one(&mut self, number: usize, repeat: u32) -> Result<(), End> {
        let began = (self.trial.clock)();
        let (mut cells, went, ended) = self.attempt(number, repeat)?;
        if ended.is_ok() {
            self.results.took(number, (self.trial.clock)().saturating_sub(began));
        }
        name(&self.trial.combinations[number], repeat, &mut cells);
        let tried = Try { number, repeat, cells };
        if went == Went::Well {
            self.streak.clear();
            self.keep(&tried)?;
            return ended.map_err(end_failed);
        }
        self.judge(tried, went, ended)
    }

    /// Mounts the file system, does the work, unmounts.
    fn attempt(&mut self, number: usize, repeat: u32) -> Result<Attempt, End> {
        let combination = &self.trial.combinations[number];
        let failed = |reason: &str| vec![failed_cell(combination, reason)];
        let prepared = match self.backend.begin(combination) {
            Ok(prepared) => prepared,
            Err(Unready::Medium(reason)) => return Err(end_failed(reason)),
            // Ctrl-C on a terminal reaches mkfs too: that it ended is no failure of its file system.
            Err(Unready::Combination(_)) if self.is_stopped() => return Err(End::Interrupted),
            Err(Unready::Combination(reason)) => {
                return Ok((failed(&reason), Went::NotSuitable, Ok(())));
            }
        };
        let worked = self.work(combination, repeat, &prepared);
        let ended = self.backend.end();
        let (mut cells, went) = match worked {
            Err(error) if error.is_interrupted() || self.is_stopped() => {
                return Err(ended.err().map_or(End::Interrupted, end_failed));
            }
            Err(error) if error.is_of_kernel() => (failed(&error.to_string()), Went::WithError),
            Err(error) => (failed(&error.to_string()), Went::NotSuitable),
            Ok(cells) if cells.is_empty() => {
                (failed("the work measured nothing"), Went::NotSuitable)
            }
            // What was measured is kept even if the file system cannot be taken away.
            Ok(cells) => (cells, Went::Well),
        };
        for cell in &mut cells {
            cell.on = Some(prepared.on.clone());
            cell.labels.insert("mkfs".to_owned(), prepared.mkfs.clone());
        }
        Ok((cells, went, ended))
    }

    /// Keeps a failed try as the combination's failure, or as the medium's, which ends the session.
    fn judge(&mut self, tried: Try, went: Went, ended: Result<(), String>) -> Result<(), End> {
        let message = tried.cells[0].reason.clone().unwrap_or_default();
        let answered = ended.map_err(MediumFailure::from).and_then(|()| {
            self.backend.answers().map_err(|failure| MediumFailure {
                reason: format!("{message}; asked again, the medium fails: {}", failure.reason),
                ..failure
            })
        });
        if let Err(failure) = answered {
            self.streak.push(tried);
            return Err(self.blame_medium(failure));
        }
        self.keep(&tried)?;
        if went == Went::WithError {
            self.streak.push(tried);
        }
        if self.streak.len() < TOO_MANY {
            return Ok(());
        }
        let reason = format!(
            "{TOO_MANY} tries in succession met an error, so the medium counts as failed; the last one: {message}"
        );
        Err(self.blame_medium(MediumFailure { reason, error: Some(IoErrorKind::Medium) }))
    }

    /// Keeps the tries of the streak as failures of the medium; returns the end of the session.
    fn blame_medium(&mut self, failure: MediumFailure) -> End {
        for mut tried in std::mem::take(&mut self.streak) {
            tried.cells.iter_mut().for_each(Cell::blame_medium);
            self.results.failed.remove(&tried.number);
            if let Err(end) = self.keep(&tried) {
                return end;
            }
        }
        End::Failed(failure)
    }

    /// Adds cells to the results and passes them on.
    fn keep(&mut self, tried: &Try) -> Result<(), End> {
        if !tried.cells[0].is_failed_by_medium() {
            self.results.add(tried.number, tried.repeat, &tried.cells[0]);
        }
        (self.events)(&MatrixEvent::Finished(&tried.cells)).map_err(end_failed)
    }

    /// Does the work, counts the extents of its files, and adds the fragmentation to the headline.
    fn work(
        &mut self,
        combination: &Combination,
        repeat: u32,
        prepared: &Prepared,
    ) -> Result<Vec<Cell>, WorkError> {
        let name = &combination.work;
        let work = self.trial.works.iter().find(|(known, _)| known == name);
        let (_, work) = work.ok_or_else(|| WorkError::impossible(name, "there is no such work"))?;
        if prepared.free_bytes < work.needs_bytes() {
            let (needs, free) = (Bytes(work.needs_bytes()), Bytes(prepared.free_bytes));
            let on = &combination.filesystem;
            let reason =
                format_args!("it needs {needs} and {on} has {free} free; a larger target would do");
            return Err(WorkError::impossible(name, reason));
        }
        let (mut before, mut after, mut cost) = (None, None, None);
        let mut look = |point| {
            let seen = Fragmentation::of(&prepared.directory, blockio::file_extents);
            match point {
                InspectionPoint::Before => before = Some(seen),
                InspectionPoint::After => {
                    after = Some(seen);
                    cost = fragmentation::cost(&prepared.directory);
                }
            }
        };
        let mut context = WorkloadContext {
            directory: &prepared.directory,
            // the same data and the same choices on every file system, others in every repeat
            seed: Random::for_purpose(self.trial.seed, &format!("{name} {repeat}")).bits(),
            stop: self.trial.stop,
            on_progress: &mut |progress| {
                // progress that is not heard is no reason to end
                let _ = (self.events)(&MatrixEvent::Progress(progress));
            },
            look: &mut look,
        };
        let mut cells = work.run(&mut context)?;
        if let Some(headline) = cells.first_mut() {
            add_fragmentation(headline, before, "before");
            add_fragmentation(headline, after, "after");
            add(headline, metric::FRAGMENTATION_READ_RATIO, cost, 1);
        }
        Ok(cells)
    }
}

/// End of a session for another reason than an error of the medium.
fn end_failed(reason: String) -> End {
    End::Failed(reason.into())
}

fn failed_cell(combination: &Combination, reason: &str) -> Cell {
    let mut cell = Cell::begun("", combination.work.clone(), Params::default());
    cell.stop = Stop::Error;
    cell.reason = Some(reason.to_owned());
    cell
}

/// Gives the cells of a try their ids and labels.
fn name(combination: &Combination, repeat: u32, cells: &mut [Cell]) {
    for (part, cell) in cells.iter_mut().enumerate() {
        let detail = if part == 0 { String::new() } else { format!("/{part}") };
        cell.id = format!("{}#{repeat}{detail}", combination.id());
        cell.labels.extend(combination.labels(repeat));
        if part > 0 {
            cell.labels.insert("part".to_owned(), part.to_string());
        }
    }
}

fn add(cell: &mut Cell, name: &str, value: Option<f64>, n: u64) {
    cell.metrics.put(name, value.filter(|value| value.is_finite()), n);
}

fn add_fragmentation(cell: &mut Cell, seen: Option<Fragmentation>, when: &str) {
    let Some(seen) = seen else { return };
    add(cell, &format!("extents_per_file_{when}"), seen.extents_per_file(), seen.files);
    add(
        cell,
        &format!("extents_{when}"),
        (seen.files > 0).then_some(seen.extents as f64),
        seen.files,
    );
}
