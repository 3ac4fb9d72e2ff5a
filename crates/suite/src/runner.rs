//! The runner: executes cell after cell on a guarded device, and passes events to a listener.

mod intervals;
mod probe_recheck;
mod probe_repeat;
mod rounds;
#[cfg(test)]
mod tests;
mod waits;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};

use device::content::DataGenerator;
use device::{Device, Extent, IoError, IoErrorKind, WriteLog};
use record::units::{SECOND_NS, saturating_sum};
use record::{Cell, Ended, Flag, PlannedCell, Skip, Stop, TargetKind, test};

use crate::catalogue::read_back::ReadBackSpec;
use crate::catalogue::{capacity, record_ops, verify};
use crate::cell_context::{CellContext, Guarded};
use crate::events::{RunEvent, RunListener};
use crate::fingerprint::{read_marks, written_places};
use crate::io_loop::flush;
use crate::outcome::CellOutcome;
use crate::planned::{PROBE, span_of};
use crate::progress::ProgressReporter;
use crate::spec::CellSpec;
use crate::stage::KeptFile;
use crate::transient::mark_transient;
use crate::{Backup, FileStage, MemoryBackup, Plan, TargetInfo, catalogue, is_filling};
use stats::Random;

use self::probe_recheck::RecheckTime;
use self::waits::WaitsSoFar;

/// Number of failed cells in succession after which the run ends.
const CONSECUTIVE_FAILURES: u32 = 3;

/// Most repeats of a cell because of host stalls.
const MAX_RETRIES: u32 = 2;

/// Share of a run's time that is reserved for later probes and for reading back, one part in this
/// many: on a fake all other results are worthless, so no other cell takes it from them.
const PROBES_SHARE: u64 = 8;

/// Reason for skipping the rest.
const OF_A_FAKE: &str = "the medium is a fake";

/// Input of a run beside device and plan.
pub struct RunOptions<'a> {
    /// Seed of all random choices.
    pub seed: u64,
    /// The target of the run.
    pub target: &'a TargetInfo,
    /// Cells finished before an interruption; they are not run again.
    pub done: Vec<Cell>,
    /// Device time used before an interruption, in nanoseconds.
    pub used_ns: u64,
    /// True if preconditioned data is lost (a test file disappears with its process): it is written
    /// again first, without a result.
    pub lost: bool,
    /// Set from outside to end the run.
    pub stop: &'a AtomicBool,
    /// True to measure a medium that turns out to be a fake.
    pub anyway: bool,
    /// Backup of data to restore; `None` keeps it in memory, for media that exist no longer than
    /// the process.
    pub backup: Option<&'a mut dyn Backup>,
}

impl<'a> RunOptions<'a> {
    /// A run from its beginning, without earlier cells and with a backup in memory.
    pub fn new(seed: u64, target: &'a TargetInfo, stop: &'a AtomicBool) -> RunOptions<'a> {
        RunOptions {
            seed,
            target,
            done: Vec::new(),
            used_ns: 0,
            lost: false,
            stop,
            anyway: false,
            backup: None,
        }
    }
}

/// End of a run, and its results.
#[derive(Debug, Default)]
pub struct RunEnd {
    /// All cells, those done before an interruption included, in the plan's order.
    pub cells: Vec<Cell>,
    /// Cells skipped during the run.
    pub skipped: Vec<Skip>,
    /// Complete, or the reason of an early end.
    pub ended: Ended,
    /// The medium's last error, if any.
    pub error: Option<IoError>,
    /// The reason why the listener ended it, if it did.
    pub failed: Option<String>,
    /// Nanoseconds of device time used, earlier parts included.
    pub elapsed_ns: u64,
}

/// Outcome of a cell, and its writes.
struct Measured {
    outcome: CellOutcome,
    /// The reason why the listener ended it, if it did.
    failed: Option<String>,
    /// Last places that the cell wrote.
    written_last: Vec<Extent>,
}

/// Runs the plan's cells that are not done yet.
pub fn run<'a>(
    medium: &mut Guarded,
    stage: &mut dyn FileStage,
    plan: &'a Plan,
    options: RunOptions<'a>,
    listener: &mut dyn RunListener,
) -> RunEnd {
    let started_ns = medium.now();
    let mut runner = Runner {
        generator: DataGenerator::new(options.seed),
        written_bytes: saturating_sum(options.done.iter().map(|cell| cell.written_bytes)),
        end: RunEnd {
            cells: options.done.clone(),
            ended: Ended::Complete,
            elapsed_ns: options.used_ns,
            ..RunEnd::default()
        },
        plan,
        medium,
        stage,
        listener,
        kept: None,
        memory: MemoryBackup::default(),
        options,
        started_ns,
        failures: 0,
        rechecked_bytes: 0,
        sought_images: false,
        probe_retried: false,
        waits: WaitsSoFar::default(),
        rounds_end_ns: None,
    };
    runner.go();
    runner.end
}

/// True for a cell that reads back what those before it wrote; the last one comes after all rounds.
fn is_read_back(cell: &PlannedCell) -> bool {
    cell.test == test::READ_BACK
}

/// True for a cell whose time no other cell takes.
fn is_reserved(cell: &PlannedCell) -> bool {
    cell.test == PROBE || is_read_back(cell)
}

struct Runner<'a, 'm> {
    plan: &'a Plan,
    medium: &'m mut Guarded,
    stage: &'m mut dyn FileStage,
    listener: &'m mut dyn RunListener,
    kept: Option<KeptFile>,
    /// Backup in memory, if the options have none.
    memory: MemoryBackup,
    options: RunOptions<'a>,
    generator: DataGenerator,
    started_ns: u64,
    written_bytes: u64,
    failures: u32,
    /// Bytes written by the run at the last check of the probe's marks.
    rechecked_bytes: u64,
    /// True if copies of the probe's ramp were sought again.
    sought_images: bool,
    /// True if the medium was probed a second time.
    probe_retried: bool,
    waits: WaitsSoFar,
    /// End of the rounds in nanoseconds of the run once they have begun; 0 once they are over.
    rounds_end_ns: Option<u64>,
    end: RunEnd,
}

impl Runner<'_, '_> {
    /// Runs all cells, rounds, and the checks after them.
    fn go(&mut self) {
        let plan = self.plan;
        if self.options.lost {
            self.repeat_fills();
        }
        let read_back = plan.cells.iter().rposition(is_read_back);
        if let Some(index) = read_back {
            self.log_writes(index);
        }
        let mut goes_on = true;
        for index in (0..plan.cells.len()).filter(|index| Some(*index) != read_back) {
            goes_on = goes_on && (self.is_done(index) || self.step(index));
        }
        if self.end.ended == Ended::Complete {
            match plan.times() {
                1 if plan.rounds => self.measure_rounds(),
                1 => {}
                _ => self.repeat(),
            }
        }
        self.rounds_end_ns = Some(0);
        self.complete_intervals();
        if self.end.ended == Ended::Complete {
            self.recheck_marks(plan.cells.len().saturating_sub(1), RecheckTime::Ended);
        }
        // All that is written is written by now.
        if let Some(index) = read_back.filter(|index| goes_on && !self.is_done(*index)) {
            self.finish_with(index);
        }
        if self.end.ended == Ended::Complete {
            self.repeat_probe();
        }
        if let Err(reason) = self.tell_waits() {
            self.fail(reason);
        }
        self.end.elapsed_ns = self.elapsed_ns();
        let place = |cell: &Cell| plan.cells.iter().position(|planned| planned.id == cell.id);
        self.end.cells.sort_by_key(place);
    }

    /// Keeps a log of as many writes as all cells that read back want; `index` is the last of them.
    fn log_writes(&mut self, index: usize) {
        let cells = &self.plan.cells;
        let seed = Random::for_purpose(self.options.seed, &cells[index].id).bits();
        let places = |cell: &PlannedCell| Some(ReadBackSpec::read(&cell.params.other).ok()?.places);
        let wanted: u64 = cells.iter().filter(|cell| is_read_back(cell)).filter_map(places).sum();
        self.medium.keep_log(WriteLog::new(seed, wanted as usize));
    }

    fn is_done(&self, index: usize) -> bool {
        self.options.done.iter().any(|cell| cell.id == self.plan.cells[index].id)
    }

    fn elapsed_ns(&mut self) -> u64 {
        self.options.used_ns.saturating_add(self.medium.now().saturating_sub(self.started_ns))
    }

    /// Repeats the fills of finished cells. Only the bytes written count; there are no results.
    fn repeat_fills(&mut self) {
        let fills = (0..self.plan.cells.len())
            .filter(|index| self.is_done(*index) && is_filling(&self.plan.cells[*index]));
        for index in fills.collect::<Vec<_>>() {
            let planned = &self.plan.cells[index];
            let Measured { outcome, .. } = self.measure(index, planned, planned.max_ns);
            self.end.error = outcome.error.or(self.end.error.take());
        }
    }

    /// Runs one cell; `false` ends the run.
    fn step(&mut self, index: usize) -> bool {
        if self.options.stop.load(Ordering::Relaxed) {
            return self.finish(Ended::Interrupted);
        }
        let planned = &self.plan.cells[index];
        let Some(allotted_ns) = self.allot(index) else {
            return self.skip(
                planned,
                format!("the time limit was reached; give it more with {}", self.plan.time_flag()),
            );
        };
        if !self.tell(&RunEvent::CellStarted { index, cell: planned, allotted_ns }) {
            return false;
        }
        let mut measured = self.measure(index, planned, allotted_ns);
        for _ in 0..MAX_RETRIES {
            if self.is_worth_another(index, &measured) {
                measured = self.measure_again(index, measured);
            }
        }
        let Measured { outcome, failed, written_last, .. } = measured;
        if !self.mark(planned, &outcome, &written_last) {
            self.end.cells.push(outcome.cell);
            return false;
        }
        if let Some(reason) = outcome.left_out {
            return self.skip(planned, reason);
        }
        let goes_on =
            self.keep(index, outcome, failed) && self.recheck_marks(index, RecheckTime::Written);
        if goes_on && !self.options.anyway && self.end.cells.iter().any(capacity::is_fake) {
            self.leave_out_rest(index);
            return false;
        }
        goes_on
    }

    /// Runs the cell that comes after all others, unless the run is over.
    fn finish_with(&mut self, index: usize) {
        let is_gone = |error: &IoError| error.kind != IoErrorKind::Medium;
        let is_over = self.end.ended == Ended::Interrupted
            || self.end.failed.is_some()
            || self.end.error.as_ref().is_some_and(is_gone);
        if !self.options.anyway && self.end.cells.iter().any(capacity::is_fake) {
            self.leave_out(self.plan.cells[index].test.clone(), OF_A_FAKE.to_owned());
        } else if !is_over {
            self.step(index);
        }
    }

    /// True if the host stood still for too much of a cell, and the time limit and the planned
    /// bytes allow another measurement.
    fn is_worth_another(&mut self, index: usize, measured: &Measured) -> bool {
        let (planned, cell) = (&self.plan.cells[index], &measured.outcome.cell);
        let is_over = cell.stop.cut_short()
            || measured.outcome.left_out.is_some()
            || measured.failed.is_some();
        let is_unrestored =
            self.options.backup.as_ref().is_some_and(|backup| !backup.places().is_empty());
        if is_over
            || is_unrestored
            || planned.test == PROBE
            || cell.host_stall_share() <= record::MAX_HOST_STALL_SHARE
        {
            return false;
        }
        let needed_ns = self
            .elapsed_ns()
            .saturating_add(planned.max_ns)
            .saturating_add(self.later_limits_ns(index));
        self.plan.time_limit_ns.is_none_or(|limit| needed_ns <= limit)
            && planned.max_written_bytes <= self.left_bytes(index)
    }

    /// Planned bytes of the cells up to this one that were not written.
    fn left_bytes(&self, index: usize) -> u64 {
        let planned_bytes =
            saturating_sum(self.plan.cells[..=index].iter().map(|cell| cell.max_written_bytes));
        planned_bytes.saturating_sub(self.written_bytes)
    }

    /// Measures a cell again; keeps the measurement with fewer host stalls, and notes those of the
    /// other.
    fn measure_again(&mut self, index: usize, first: Measured) -> Measured {
        let planned = &self.plan.cells[index];
        let second = self.measure(index, planned, planned.max_ns);
        let is_better = second.outcome.cell.stop == Stop::Error
            || second.outcome.cell.stop != Stop::Interrupted
                && second.outcome.cell.host_stall_share() < first.outcome.cell.host_stall_share();
        let written_bytes =
            saturating_sum([&first, &second].map(|measured| measured.outcome.cell.written_bytes));
        let (failed, written_last) = (second.failed.clone(), second.written_last.clone());
        let (mut kept, other) = if is_better { (second, first) } else { (first, second) };
        (kept.failed, kept.written_last, kept.outcome.cell.written_bytes) =
            (failed, written_last, written_bytes);
        let other_ns = other.outcome.cell.host_state.map_or(0, |seen| seen.host_stall_ns);
        kept.outcome.cell.host_state.get_or_insert_default().other_time_host_stall_ns =
            Some(other_ns);
        kept
    }

    /// Skips all later cells on a fake, whose results would be worthless. Each test is reported
    /// once.
    fn leave_out_rest(&mut self, index: usize) {
        let plan = self.plan;
        let rest: Vec<&PlannedCell> = (index + 1..plan.cells.len())
            .filter(|at| !self.is_done(*at))
            .map(|at| &plan.cells[at])
            .collect();
        for (at, planned) in rest.iter().enumerate() {
            let is_reported = rest[..at].iter().any(|earlier| earlier.test == planned.test);
            if !is_reported && !self.leave_out(planned.test.clone(), OF_A_FAKE.to_owned()) {
                return;
            }
        }
    }

    fn measure(&mut self, index: usize, planned: &PlannedCell, allotted_ns: u64) -> Measured {
        let test = match catalogue::find(&planned.test) {
            Ok(test) => test,
            Err(error) => {
                let outcome = CellOutcome::failed(planned, error.to_string());
                return Measured { outcome, failed: None, written_last: Vec::new() };
            }
        };
        // A staged file may lie on the medium itself: it must be gone before another test measures
        // there.
        self.kept.take_if(|kept| kept.test != planned.test);
        self.medium.begin_turn(&planned.id);
        // What a later cell reads back can be made anew.
        let is_needed = test.needs().data && !verify::is_writing(planned);
        self.medium.set_data_needed(is_needed, &self.generator);
        // A test that looks at data knows itself what it has written, and may put back old data.
        self.medium.log().into_iter().for_each(|log| log.set_on(!test.needs().data));
        let started_ns = self.medium.now();
        let run_ns = self.elapsed_ns();
        let later_ns = self.later_ns(index, run_ns, allotted_ns);
        let has_limit =
            self.plan.cells[index].has_time_limit() || self.plan.time_limit_ns.is_some();
        let reporter = ProgressReporter {
            listener: self.listener,
            stop: self.options.stop,
            phase: "starting",
            part: (0.0, 1.0),
            index,
            cell_started_ns: started_ns,
            run_ns,
            allotted_ns,
            has_limit,
            later_ns,
            next_ns: started_ns,
            written_bytes: self.written_bytes,
            written_last: VecDeque::new(),
            failed: None,
        };
        let named = if planned.test == PROBE && self.probe_retried {
            format!("{} anew", planned.id)
        } else {
            planned.id.clone()
        };
        let seed = Random::for_purpose(self.options.seed, &named).bits();
        let mut context = CellContext {
            medium: self.medium,
            stage: self.stage,
            target: self.options.target,
            kept: &mut self.kept,
            generator: &self.generator,
            backup: match &mut self.options.backup {
                Some(backup) => &mut **backup,
                None => &mut self.memory,
            },
            done: &self.end.cells,
            allotted_ns,
            seed,
            started_ns,
            reporter,
        };
        let mut outcome = test.run(planned, &mut context);
        let CellContext { reporter, .. } = context;
        outcome.cell.written_bytes = reporter.written_bytes - self.written_bytes;
        outcome.cell.run_written_bytes =
            (outcome.cell.written_bytes > 0).then_some(reporter.written_bytes);
        let host_state = outcome.cell.host_state.as_ref().filter(|seen| seen.left_out > 0);
        let host_stalled = host_state.map(|seen| Flag::HostStalled {
            host_stall_ns: seen.host_stall_ns,
            left_out: seen.left_out,
        });
        outcome.cell.flags.extend(host_stalled);
        mark_transient(&mut outcome.cell, self.plan.rounds);
        outcome.cell.round();
        let ProgressReporter { failed, written_bytes, written_last, .. } = reporter;
        self.written_bytes = written_bytes;
        let failed = failed.or(self.tell_waits().err());
        if record_ops::is_staged(planned) && !self.options.target.is_file() {
            self.medium.log().into_iter().for_each(|log| log.forget(span_of(planned)));
        }
        Measured { outcome, failed, written_last: written_last.into() }
    }

    /// Reads places that a cell wrote and reports their checksums, to identify the medium later.
    /// This comes before the event that the cell has finished: every finished cell has marks, even
    /// if the process is killed at any moment. Its reads do not count as the cell's. Errors of the
    /// medium are ignored; `false` ends the run.
    fn mark(
        &mut self,
        planned: &PlannedCell,
        outcome: &CellOutcome,
        written_last: &[Extent],
    ) -> bool {
        let is_kept = matches!(self.options.target.kind, TargetKind::Block | TargetKind::File)
            && self.medium.facts().keeps_data;
        let is_written = planned.max_written_bytes > 0
            && !record_ops::is_staged(planned)
            && outcome.left_out.is_none();
        let is_there = outcome.error.as_ref().is_none_or(|error| error.kind == IoErrorKind::Medium);
        // It is going to be restored.
        let is_unrestored =
            self.options.backup.as_ref().is_some_and(|backup| !backup.places().is_empty());
        if !is_kept || !is_written || !is_there || is_unrestored {
            return true;
        }
        self.medium.begin_turn(&format!("checksums after {}", planned.id));
        // What is told to be there must still be there after a power cut.
        let flushed = flush(self.medium);
        let places =
            written_places(self.medium.facts(), span_of(planned), written_last, self.options.seed);
        match flushed.and_then(|_| read_marks(self.medium, &places, Some(&self.generator))) {
            Ok(marks) => self.tell(&RunEvent::Marked(&marks)),
            Err(_) => true,
        }
    }

    /// Adds a finished cell to the results; `false` ends the run.
    fn keep(&mut self, index: usize, outcome: CellOutcome, failed: Option<String>) -> bool {
        let CellOutcome { cell, error, .. } = outcome;
        let stop = cell.stop;
        if stop == Stop::Interrupted {
            // An interrupted cell is not a result: it is measured again on resume. What was
            // measured stays in the record only.
            self.end.cells.push(cell);
            self.end.failed = failed;
            return self.finish(if self.end.failed.is_some() {
                Ended::Error
            } else {
                Ended::Interrupted
            });
        }
        let goes_on = self.tell(&RunEvent::CellFinished { index, cell: &cell });
        self.end.cells.push(cell);
        if !goes_on {
            return false;
        }
        if stop != Stop::Error {
            self.failures = 0;
            return true;
        }
        self.failures += 1;
        let hopeless = error.as_ref().is_some_and(|e| {
            matches!(e.kind, IoErrorKind::Gone | IoErrorKind::Refused | IoErrorKind::NoSpace)
        });
        // Restoring comes first: nothing else is done to a medium that could not be restored.
        let unrestored =
            self.options.backup.as_ref().is_some_and(|backup| !backup.places().is_empty());
        self.end.error = error.or(self.end.error.take());
        self.end.ended = Ended::Error;
        !hopeless && !unrestored && self.failures < CONSECUTIVE_FAILURES
    }

    fn skip(&mut self, planned: &PlannedCell, reason: String) -> bool {
        self.leave_out(planned.id.clone(), reason)
    }

    fn leave_out(&mut self, test: String, reason: String) -> bool {
        let skip = Skip::new(test, reason);
        let goes_on = self.tell(&RunEvent::Skipped(&skip));
        self.end.skipped.push(skip);
        goes_on
    }

    /// Passes an event to the listener; `false` ends the run.
    fn tell(&mut self, event: &RunEvent<'_>) -> bool {
        match self.listener.on_event(event) {
            Ok(()) => true,
            Err(reason) => self.fail(reason),
        }
    }

    /// Passes the changed cell at this place of the results to the listener; `false` ends the run.
    fn revised(&mut self, place: usize) -> bool {
        let cell = &self.end.cells[place];
        match self.listener.on_event(&RunEvent::CellRevised { cell }) {
            Ok(()) => true,
            Err(reason) => self.fail(reason),
        }
    }

    /// Ends the run because the listener failed.
    fn fail(&mut self, reason: String) -> bool {
        self.end.failed = Some(reason);
        self.finish(Ended::Error)
    }

    fn finish(&mut self, ended: Ended) -> bool {
        self.end.ended = ended;
        false
    }

    /// Time limit of a cell in nanoseconds: its own limit, or its share of the rest of the run's
    /// limit. `None` when nothing is left.
    fn allot(&mut self, index: usize) -> Option<u64> {
        let own_ns = self.plan.cells[index].max_ns;
        let Some(limit_ns) = self.plan.time_limit_ns else { return Some(own_ns) };
        let (later_ns, probes_ns) = self.rest_ns(index);
        let left_ns = limit_ns.saturating_sub(self.elapsed_ns());
        if is_reserved(&self.plan.cells[index]) {
            // Cells before it may have taken longer than they were allotted.
            let has_least = index > 0 && !is_read_back(&self.plan.cells[index]);
            let least_ns = if has_least { limit_ns / PROBES_SHARE } else { 0 };
            return Some(own_ns.min(left_ns.max(least_ns))).filter(|allotted_ns| *allotted_ns > 0);
        }
        let left_ns = left_ns.saturating_sub(probes_ns.min(limit_ns / PROBES_SHARE));
        let wanted_ns = own_ns.saturating_add(later_ns - probes_ns);
        if left_ns == 0 {
            None
        } else if wanted_ns <= left_ns {
            Some(own_ns)
        } else {
            // A long first cell may borrow from later ones, which on most media converge long
            // before their limit.
            let fair = own_ns as f64 / wanted_ns as f64 * left_ns as f64;
            Some((fair * 1.5).min(own_ns as f64).min(left_ns as f64) as u64)
        }
    }

    /// The sum of the limits of later cells, and of those among them whose time is reserved, in
    /// nanoseconds.
    fn rest_ns(&self, index: usize) -> (u64, u64) {
        let rest = self
            .plan
            .cells
            .iter()
            .enumerate()
            .skip(index + 1)
            .filter(|(later, _)| !self.is_done(*later));
        rest.fold((0u64, 0u64), |(all, probes), (_, cell)| {
            let of_probe = if is_reserved(cell) { cell.max_ns } else { 0 };
            (all.saturating_add(cell.max_ns), probes.saturating_add(of_probe))
        })
    }

    /// Expected nanoseconds of what comes after this cell, which has `allotted_ns` and begins at
    /// `run_ns` of the run: the later cells and the rounds; `None` if that is unknown.
    fn later_ns(&self, index: usize, run_ns: u64, allotted_ns: u64) -> Option<u64> {
        if let Some(end_ns) = self.rounds_end_ns {
            return Some(end_ns.saturating_sub(run_ns.saturating_add(allotted_ns)));
        }
        let cells_ns = self.later_cells_ns(index)?;
        Some(cells_ns.saturating_add(self.expected_rounds_ns(run_ns.saturating_add(cells_ns))))
    }

    /// Expected nanoseconds of the later cells: those with a limit by [`Runner::later_limits_ns`],
    /// the others at the rate of similar I/O so far; `None` if that is unknown.
    fn later_cells_ns(&self, index: usize) -> Option<u64> {
        let later = self.plan.cells.iter().enumerate().skip(index + 1);
        let mut later = later.filter(|(at, _)| !self.is_done(*at)).map(|(_, cell)| cell);
        if self.plan.time_limit_ns.is_some() || later.clone().all(PlannedCell::has_time_limit) {
            return Some(self.later_limits_ns(index));
        }
        later.try_fold(0u64, |all, cell| {
            let own_ns = if cell.has_time_limit() {
                cell.max_ns
            } else {
                crate::pace::expected_ns(cell, &self.end.cells)?
            };
            Some(all.saturating_add(own_ns))
        })
    }

    /// The limits of the later cells in nanoseconds, reduced by the ratio at which earlier cells
    /// stayed below theirs.
    fn later_limits_ns(&self, index: usize) -> u64 {
        let before = saturating_sum(self.plan.cells[..index].iter().map(|cell| cell.max_ns));
        let took = saturating_sum(self.end.cells.iter().map(|cell| cell.elapsed_ns));
        let habit = if before > 10 * SECOND_NS {
            (took as f64 / before as f64).clamp(0.02, 1.0)
        } else {
            1.0
        };
        let later = self.rest_ns(index).0 as f64 * habit;
        let left = self
            .plan
            .time_limit_ns
            .map_or(f64::INFINITY, |limit| limit.saturating_sub(took) as f64);
        later.min(left) as u64
    }
}
