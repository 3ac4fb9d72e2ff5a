//! Tries the combinations one after the other.

use std::sync::atomic::{AtomicBool, Ordering};

use device::IoErrorKind;
use record::units::saturating_sum;
use record::{Cell, Estimate, Params, Stop, metric};
use stats::Random;

use super::error_streak::{ErrorStreak, FailedTry};
use super::{Combination, MatrixBackend, MediumFailure, Prepared, Results, Unready, order};
use crate::fragmentation::{self, CountExtents, Fragmentation, OpenAsDevice};
use crate::workload::{InspectionPoint, WorkError, Workload, WorkloadContext, WorkloadProgress};

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
    pub works: &'a [Box<dyn Workload>],
    /// Opens a file on the file system as a device.
    pub open: OpenAsDevice<'a>,
    /// Counts the extents of a file.
    pub count_extents: CountExtents<'a>,
    /// Time since some fixed point, in nanoseconds.
    pub clock: &'a dyn Fn() -> u64,
    /// Seed of every random choice.
    pub seed: u64,
    /// Limits after which nothing more is tried.
    pub limits: MatrixLimits,
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
    /// Message for people.
    Note(String),
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

/// Tries the combinations that are left. `results` holds the results of earlier sessions.
pub fn run(
    trial: &MatrixTrial<'_>,
    backend: &mut dyn MatrixBackend,
    results: &mut Results,
    events: EventSink<'_>,
) -> End {
    let began = (trial.clock)();
    let mut row = ErrorStreak::default();
    let every: Vec<usize> = (0..trial.combinations.len()).collect();
    for repeat in 1..=trial.limits.most_repeats {
        let chosen = if repeat <= trial.limits.least_repeats {
            every.clone()
        } else {
            results.contenders(trial.combinations)
        };
        let order = order::block(trial.seed, repeat, trial.combinations.len(), |number| {
            chosen.contains(&number)
        });
        for (at, &number) in order.iter().enumerate() {
            if results.is_over(number, repeat) {
                continue;
            }
            let used_ns = trial.used_ns + (trial.clock)().saturating_sub(began);
            let combination = &trial.combinations[number];
            if trial.stop.load(Ordering::Relaxed) {
                return End::Interrupted;
            }
            if is_time_up(trial, results, combination, used_ns) {
                return End::TimeIsUp;
            }
            let rest: Vec<usize> = order[at..]
                .iter()
                .copied()
                .filter(|number| !results.is_over(*number, repeat))
                .collect();
            let announced = announce(trial, results, (combination, repeat), &rest, events);
            if let Err(reason) = announced
                .and_then(|()| one(trial, backend, results, &mut row, (number, repeat), events))
            {
                return reason;
            }
        }
    }
    End::Complete
}

/// True if the expected time of this combination exceeds the limit. The first is always tried:
/// without it nothing is known.
fn is_time_up(
    trial: &MatrixTrial<'_>,
    results: &Results,
    combination: &Combination,
    used_ns: u64,
) -> bool {
    let expected_ns = results.expected_ns(combination).unwrap_or(0);
    trial
        .limits
        .time_limit_ns
        .is_some_and(|limit_ns| used_ns.saturating_add(expected_ns) > limit_ns)
}

fn announce(
    trial: &MatrixTrial<'_>,
    results: &Results,
    (combination, repeat): (&Combination, u32),
    rest: &[usize],
    events: EventSink<'_>,
) -> Result<(), End> {
    let expected = |number: usize| results.expected_ns(&trial.combinations[number]);
    let blocks_after = u64::from(trial.limits.least_repeats.saturating_sub(repeat));
    let alive: Vec<usize> =
        (0..trial.combinations.len()).filter(|number| !results.failed().contains(number)).collect();
    let sum = |numbers: &[usize]| {
        let expected: Option<Vec<u64>> = numbers.iter().map(|number| expected(*number)).collect();
        expected.map(saturating_sum)
    };
    let left_ns = sum(rest)
        .zip(sum(&alive))
        .map(|(rest, block)| rest.saturating_add(block.saturating_mul(blocks_after)));
    let of = results.done() + rest.len() + alive.len() * blocks_after as usize;
    events(&MatrixEvent::Begun { combination, repeat, done: results.done(), of, left_ns })
        .map_err(end_failed)
}

/// Cells of a try, and its failure.
struct Tried {
    cells: Vec<Cell>,
    /// Kind of the failure; `None` if the try gave a figure.
    failure: Option<Failure>,
}

/// Kind of a failure, before the medium is checked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Failure {
    /// The file system could not be made or mounted, or the work does not fit it.
    NotSuitable,
    /// The kernel returned an error to the work, or the work found its data damaged.
    Error,
}

/// Tries one combination once, and has its cells kept before anything else is done.
fn one(
    trial: &MatrixTrial<'_>,
    backend: &mut dyn MatrixBackend,
    results: &mut Results,
    row: &mut ErrorStreak,
    which: (usize, u32),
    events: EventSink<'_>,
) -> Result<(), End> {
    let combination = &trial.combinations[which.0];
    let began = (trial.clock)();
    let (tried, ended) = attempt(trial, backend, which, events)?;
    if ended.is_ok() {
        results.took(combination, (trial.clock)().saturating_sub(began));
    }
    let cells = named(combination, which.1, tried.cells);
    match tried.failure {
        None => {
            row.end();
            keep(results, trial, which, &cells, events)?;
            ended.map_err(end_failed)
        }
        Some(failure) => {
            judge(trial, backend, results, row, (which, failure, cells, ended), events)
        }
    }
}

/// Mounts the file system, does the work, unmounts. The second value is an error if the file system
/// could not be removed.
fn attempt(
    trial: &MatrixTrial<'_>,
    backend: &mut dyn MatrixBackend,
    (number, repeat): (usize, u32),
    events: EventSink<'_>,
) -> Result<(Tried, Result<(), String>), End> {
    let combination = &trial.combinations[number];
    let prepared = match backend.begin(combination) {
        Err(Unready::Medium(reason)) => return Err(end_failed(reason)),
        // Ctrl-C on a terminal reaches mkfs too: that it ended is no failure of its file system.
        Err(Unready::Combination(_)) if trial.stop.load(Ordering::Relaxed) => {
            return Err(End::Interrupted);
        }
        Err(Unready::Combination(reason)) => {
            return Ok((
                Tried {
                    cells: vec![failed_cell(combination, &reason)],
                    failure: Some(Failure::NotSuitable),
                },
                Ok(()),
            ));
        }
        Ok(prepared) => prepared,
    };
    let worked = work(trial, combination, repeat, &prepared, events);
    let ended = backend.end();
    let (cells, failure) = match worked {
        Err(error) if error.is_interrupted() || trial.stop.load(Ordering::Relaxed) => {
            return Err(ended.err().map_or(End::Interrupted, end_failed));
        }
        Err(error) => {
            let failure = if error.is_of_kernel() { Failure::Error } else { Failure::NotSuitable };
            (vec![failed_cell(combination, &error.to_string())], Some(failure))
        }
        Ok(cells) if cells.is_empty() => (
            vec![failed_cell(combination, "the work measured nothing")],
            Some(Failure::NotSuitable),
        ),
        // What was measured is kept even if the file system cannot be taken away.
        Ok(cells) => (cells, None),
    };
    let cells = cells.into_iter().map(|cell| made_on(&prepared, cell)).collect();
    Ok((Tried { cells, failure }, ended))
}

/// Keeps a failed try as the combination's failure, or as the medium's, which ends the session.
fn judge(
    trial: &MatrixTrial<'_>,
    backend: &mut dyn MatrixBackend,
    results: &mut Results,
    row: &mut ErrorStreak,
    (which, failure, cells, ended): ((usize, u32), Failure, Vec<Cell>, Result<(), String>),
    events: EventSink<'_>,
) -> Result<(), End> {
    let failed = FailedTry { number: which.0, repeat: which.1, cells };
    let message = failed.reason().to_owned();
    let answered = ended.map_err(MediumFailure::from).and_then(|()| {
        backend.answers().map_err(|failure| MediumFailure {
            reason: format!("{message}; asked again, the medium fails: {}", failure.reason),
            ..failure
        })
    });
    if let Err(failure) = answered {
        let all = row.take().into_iter().chain([failed]).collect();
        return Err(blame_medium(trial, results, all, failure, events));
    }
    keep(results, trial, which, &failed.cells, events)?;
    match (failure == Failure::Error).then(|| row.add(failed)).flatten() {
        Some(all) => {
            let reason = format!(
                "{} tries in succession met an error, so the medium counts as failed; the last one: {message}",
                all.len()
            );
            let failure = MediumFailure { reason, error: Some(IoErrorKind::Medium) };
            Err(blame_medium(trial, results, all, failure, events))
        }
        None => Ok(()),
    }
}

/// Keeps these tries as failures of the medium; returns the end of the session.
fn blame_medium(
    trial: &MatrixTrial<'_>,
    results: &mut Results,
    all: Vec<FailedTry>,
    failure: MediumFailure,
    events: EventSink<'_>,
) -> End {
    for failed in all {
        results.remove_failure(failed.number);
        let failed = failed.by_medium();
        if let Err(end) =
            keep(results, trial, (failed.number, failed.repeat), &failed.cells, events)
        {
            return end;
        }
    }
    End::Failed(failure)
}

/// End of a session for another reason than an error of the medium.
fn end_failed(reason: String) -> End {
    End::Failed(reason.into())
}

/// Adds to a cell the file system on which it was measured.
fn made_on(prepared: &Prepared, mut cell: Cell) -> Cell {
    cell.on = Some(prepared.on.clone());
    cell.labels.insert("mkfs".to_owned(), prepared.mkfs.clone());
    cell
}

fn failed_cell(combination: &Combination, reason: &str) -> Cell {
    let mut cell = Cell::begun("", combination.work.clone(), Params::default());
    cell.stop = Stop::Error;
    cell.reason = Some(reason.to_owned());
    cell
}

/// Gives the cells of a try their ids and labels.
fn named(combination: &Combination, repeat: u32, mut cells: Vec<Cell>) -> Vec<Cell> {
    for (part, cell) in cells.iter_mut().enumerate() {
        let detail = if part == 0 { String::new() } else { format!("/{part}") };
        cell.id = format!("{}#{repeat}{detail}", combination.id());
        cell.labels.extend(combination.labels(repeat));
        if part > 0 {
            cell.labels.insert("part".to_owned(), part.to_string());
        }
    }
    cells
}

/// Adds cells to the results and passes them on.
fn keep(
    results: &mut Results,
    trial: &MatrixTrial<'_>,
    (number, repeat): (usize, u32),
    cells: &[Cell],
    events: EventSink<'_>,
) -> Result<(), End> {
    if !cells[0].is_failed_by_medium() {
        results.add(trial.combinations, number, repeat, &cells[0]);
    }
    events(&MatrixEvent::Finished(cells)).map_err(end_failed)
}

/// Does the work, counts the extents of its files, and adds the fragmentation to the headline.
fn work(
    trial: &MatrixTrial<'_>,
    combination: &Combination,
    repeat: u32,
    prepared: &Prepared,
    events: EventSink<'_>,
) -> Result<Vec<Cell>, WorkError> {
    let name = combination.work.clone();
    let impossible = |reason: String| WorkError::impossible(&name, reason);
    let work = trial.works.iter().find(|work| work.name() == combination.work);
    let work = work.ok_or_else(|| impossible("there is no such work".to_owned()))?;
    if prepared.free_bytes < work.needs_bytes() {
        let (needs, free) =
            (record::units::Bytes(work.needs_bytes()), record::units::Bytes(prepared.free_bytes));
        return Err(impossible(format!(
            "it needs {needs} and {} has {free} free; a larger target would do",
            combination.filesystem
        )));
    }
    let (mut before, mut after, mut cost) = (None, None, None);
    let mut look = |point| {
        let seen = Fragmentation::of(&prepared.directory, trial.count_extents);
        match point {
            InspectionPoint::Before => before = Some(seen),
            InspectionPoint::After => {
                after = Some(seen);
                cost = fragmentation::cost(&prepared.directory, trial.open);
            }
        }
    };
    let mut context = WorkloadContext {
        directory: &prepared.directory,
        open: &mut |path, bytes| (trial.open)(path, bytes),
        // the same data and the same choices on every file system, others in every repeat
        seed: Random::for_purpose(trial.seed, &format!("{} {repeat}", combination.work)).bits(),
        stop: trial.stop,
        on_progress: &mut |progress| {
            // progress that is not heard is no reason to end
            let _ = events(&MatrixEvent::Progress(progress));
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

fn add(cell: &mut Cell, name: &str, value: Option<f64>, n: u64) {
    if let Some(value) = value.filter(|value| value.is_finite()) {
        cell.metrics.other.insert(name.to_owned(), Estimate { value, ci95: None, n });
    }
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
