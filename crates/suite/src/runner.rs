//! The runner: cell after cell on a guarded device, telling a listener what happens.

use std::sync::atomic::{AtomicBool, Ordering};

use device::content::Filler;
use device::{Device, Extent, ExtentGuard, IoError, IoErrorKind};
use record::units::{MILLISECOND_NS, SECOND_NS};
use record::{Cell, Ended, Flag, Metrics, Path, PlannedCell, Skip, Stop};
use stats::StopRule;

use crate::drive::{Limits, Load, Places, Watch, drive, flush};
use crate::events::{Event, Listener, Progress};
use crate::random::Random;
use crate::stage::KeptFile;
use crate::{Plan, Site, Stage, Tally, catalogue};

/// The type through which suites write: nothing outside the planned spans gets through.
pub type Guarded = ExtentGuard<Box<dyn Device>>;

/// Time between two beats of progress, by the device's clock.
const BEAT_NS: u64 = 100 * MILLISECOND_NS;
/// Cells that may fail one after the other before the medium is given up.
const FAILURES_IN_A_ROW: u32 = 3;

/// What a run is given beside device and plan.
pub struct RunOptions<'a> {
    /// Every random choice comes from this.
    pub seed: u64,
    /// Where it takes place.
    pub site: &'a Site,
    /// Cells finished before an interruption; they are not run again.
    pub done: Vec<Cell>,
    /// Device time used before an interruption, in nanoseconds.
    pub used_ns: u64,
    /// What was primed is gone (a test file lives no longer than its process): it is primed again first, without being a result.
    pub lost: bool,
    /// Set from outside to end the run.
    pub stop: &'a AtomicBool,
}

/// How a run ended.
#[derive(Debug)]
pub struct RunEnd {
    /// All cells, those done before an interruption included, in the plan's order.
    pub cells: Vec<Cell>,
    /// Cells left out while running.
    pub skipped: Vec<Skip>,
    /// How.
    pub ended: Ended,
    /// The medium's last error, where there was one.
    pub error: Option<IoError>,
    /// Why the listener ended it, where it did.
    pub failed: Option<String>,
    /// Device time used, earlier parts included.
    pub elapsed_ns: u64,
}

/// What came of a cell.
#[derive(Debug)]
pub struct Outcome {
    /// The row of results.
    pub cell: Cell,
    /// The medium's error, where it ended by one.
    pub error: Option<IoError>,
    /// The reason why the cell could not be run after all; it is left out.
    pub left_out: Option<String>,
}

impl Outcome {
    /// Nothing measured yet.
    pub fn new(planned: &PlannedCell) -> Outcome {
        let cell = Cell {
            id: planned.id.clone(),
            test: planned.test.clone(),
            params: planned.params.clone(),
            metrics: Metrics::default(),
            histogram: None,
            series: Vec::new(),
            ops: 0,
            bytes: 0,
            written_bytes: 0,
            elapsed_ns: 0,
            stop: Stop::Ops,
            reason: None,
            flags: Vec::new(),
            on: None,
        };
        Outcome { cell, error: None, left_out: None }
    }

    /// A cell that cannot be run here.
    pub fn left_out(planned: &PlannedCell, reason: impl Into<String>) -> Outcome {
        Outcome { left_out: Some(reason.into()), ..Outcome::new(planned) }
    }

    /// A cell that failed before or beside its I/O.
    pub fn failed(planned: &PlannedCell, reason: impl Into<String>) -> Outcome {
        Outcome::new(planned).fail(reason)
    }

    /// A cell that the medium failed before its I/O began.
    pub fn broken(planned: &PlannedCell, error: IoError) -> Outcome {
        let mut outcome = Outcome::new(planned);
        outcome.end(Stop::Error, Some(error));
        outcome
    }

    /// Ends the cell by an error that is not the medium's.
    pub fn fail(mut self, reason: impl Into<String>) -> Outcome {
        self.cell.stop = Stop::Error;
        self.cell.reason = Some(reason.into());
        self
    }

    /// Takes over a stretch's counts, histogram and end. Metrics, series and flags stay as they are.
    pub fn absorb(&mut self, tally: Tally) {
        self.cell.ops += tally.ops;
        self.cell.bytes += tally.bytes;
        self.cell.elapsed_ns += tally.busy_ns;
        match &mut self.cell.histogram {
            Some(histogram) => histogram.merge(&tally.histogram),
            None if tally.histogram.is_empty() => {}
            none => *none = Some(tally.histogram),
        }
        self.end(tally.stop, tally.error);
    }

    /// How a stretch ended, and the cell with it. An error stays one.
    pub fn end(&mut self, stop: Stop, error: Option<IoError>) {
        if self.cell.stop != Stop::Error {
            self.cell.stop = stop;
        }
        if let Some(error) = error {
            self.cell.stop = Stop::Error;
            self.cell.reason.get_or_insert(error.to_string());
            self.error.get_or_insert(error);
        }
    }

    /// Whether it is over: an error or an interruption.
    pub fn is_over(&self) -> bool {
        matches!(self.cell.stop, Stop::Error | Stop::Interrupted)
    }
}

/// What a running cell holds.
pub struct Bench<'a> {
    /// The medium, guarded.
    pub medium: &'a mut Guarded,
    /// Files, for tests that work on them.
    pub stage: &'a mut dyn Stage,
    /// Where it takes place.
    pub site: &'a Site,
    /// A staged file that an earlier cell of the same test left, for the next one; dropped before another test begins.
    pub kept: &'a mut Option<KeptFile>,
    /// Makes what is written.
    pub filler: &'a Filler,
    /// The cells before this one.
    pub done: &'a [Cell],
    /// The most time this cell may take.
    pub allotted_ns: u64,
    seed: u64,
    started_ns: u64,
    pulse: Pulse<'a>,
}

impl Bench<'_> {
    /// Runs a stretch of I/O on the medium.
    pub fn drive(&mut self, phase: &'static str, load: &Load, limits: &Limits, next: Places<'_>) -> Tally {
        self.pulse.phase = phase;
        drive(self.medium, load, limits, self.filler, &mut self.pulse, next, None)
    }

    /// Runs a stretch of I/O on another device, a staged file.
    pub fn drive_on(&mut self, device: &mut dyn Device, phase: &'static str, load: &Load, limits: &Limits, next: Places<'_>) -> Tally {
        self.pulse.phase = phase;
        let (here_ns, there_ns) = (self.medium.now(), device.now());
        let tally = drive(device, load, limits, self.filler, &mut self.pulse, next, None);
        let (here_ns, there_ns) = (self.medium.now() - here_ns, device.now() - there_ns);
        // Real devices share one clock. A simulated file has a clock of its own: its time passes for the medium too.
        if here_ns < there_ns / 2 {
            self.medium.idle(there_ns - here_ns);
        }
        tally
    }

    /// Runs a stretch of I/O on the medium while `watch` sees every I/O and may end it.
    pub fn drive_watched(&mut self, phase: &'static str, load: &Load, limits: &Limits, next: Places<'_>, watch: Watch<'_>) -> Tally {
        self.pulse.phase = phase;
        drive(self.medium, load, limits, self.filler, &mut self.pulse, next, Some(watch))
    }

    /// Makes everything written durable; what that took, in nanoseconds.
    pub fn flush(&mut self) -> Result<u64, IoError> {
        flush(self.medium)
    }

    /// The stretch that follows is this part of the cell, from and to in shares of 0 to 1; it makes the estimate of what is left honest.
    pub fn part(&mut self, from: f64, to: f64) {
        self.pulse.part = (from, to);
    }

    /// Random numbers of this cell for one purpose: the same whenever and in whatever order cells run.
    pub fn random(&self, purpose: &str) -> Random {
        Random::new(self.seed, purpose)
    }

    /// What is left of the cell's time, in nanoseconds.
    pub fn time_left_ns(&mut self) -> u64 {
        let used = self.medium.now().saturating_sub(self.started_ns);
        self.allotted_ns.saturating_sub(used)
    }

    /// Whether the run is to end.
    pub fn must_stop(&self) -> bool {
        self.pulse.must_stop()
    }

    /// The range from the start of `span` on that this run has filled with incompressible data, if any.
    pub fn primed(&self, span: Extent) -> Option<Extent> {
        self.done
            .iter()
            .filter(|cell| matches!(cell.test.as_str(), "prime" | "random-fill") && cell.stop != Stop::Error)
            .filter_map(|cell| Some(Extent::new(cell.params.span_offset_bytes?, cell.params.span_bytes?)))
            .filter(|primed| primed.offset_bytes <= span.offset_bytes && primed.end() > span.offset_bytes)
            .map(|primed| Extent::new(span.offset_bytes, span.bytes.min(primed.end() - span.offset_bytes)))
            .max_by_key(|primed| primed.bytes)
    }
}

/// The run's heartbeat: tells progress at intervals and knows when to stop.
pub struct Pulse<'a> {
    listener: &'a mut dyn Listener,
    stop: &'a AtomicBool,
    phase: &'static str,
    /// Which part of the cell the present stretch is.
    part: (f64, f64),
    index: usize,
    cell_started_ns: u64,
    allotted_ns: u64,
    later_ns: u64,
    next_ns: u64,
    written_bytes: u64,
    failed: Option<String>,
}

impl Pulse<'_> {
    pub(crate) fn begin(&mut self, now_ns: u64) {
        self.next_ns = now_ns + BEAT_NS;
    }

    pub(crate) fn wrote(&mut self, bytes: u64) {
        self.written_bytes += bytes;
    }

    #[inline]
    pub(crate) fn is_due(&self, now_ns: u64) -> bool {
        now_ns >= self.next_ns
    }

    #[inline]
    pub(crate) fn must_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.failed.is_some()
    }

    /// At the pace so far, but never more than the cell may take.
    fn left_of_cell_ns(&self, elapsed_ns: u64, share: f64) -> u64 {
        let most_ns = self.allotted_ns.saturating_sub(elapsed_ns);
        let at_this_pace = elapsed_ns as f64 * (1.0 - share) / share.max(1e-3);
        if share > 0.02 { most_ns.min(at_this_pace as u64) } else { most_ns }
    }

    pub(crate) fn beat(&mut self, now_ns: u64, share: f64, tally: &Tally) {
        self.next_ns = now_ns + BEAT_NS;
        let elapsed_ns = now_ns.saturating_sub(self.cell_started_ns);
        let seconds = tally.busy_ns.max(1) as f64 / 1e9;
        let (from, to) = self.part;
        let share = from + (to - from) * share;
        let event = Event::Progress(Progress {
            index: self.index,
            phase: self.phase,
            share,
            ops: tally.ops,
            bytes: tally.bytes,
            elapsed_ns,
            iops: tally.ops as f64 / seconds,
            bps: tally.bytes as f64 / seconds,
            written_bytes: self.written_bytes,
            remaining_ns: self.left_of_cell_ns(elapsed_ns, share) + self.later_ns,
        });
        if let Err(reason) = self.listener.hear(&event) {
            self.failed = Some(reason);
        }
    }
}

/// Runs the plan's cells that are not done yet.
pub fn run(medium: &mut Guarded, stage: &mut dyn Stage, plan: &Plan, options: RunOptions<'_>, listener: &mut dyn Listener) -> RunEnd {
    let started_ns = medium.now();
    let mut runner = Runner {
        filler: Filler::new(options.seed),
        written_bytes: options.done.iter().map(|cell| cell.written_bytes).sum(),
        end: RunEnd {
            cells: options.done.clone(),
            skipped: Vec::new(),
            ended: Ended::Complete,
            error: None,
            failed: None,
            elapsed_ns: options.used_ns,
        },
        plan,
        kept: None,
        options,
        started_ns,
        failures: 0,
    };
    if runner.options.lost {
        runner.prime_again(medium, stage, listener);
    }
    for index in 0..plan.cells.len() {
        if runner.is_done(index) {
            continue;
        }
        if !runner.step(index, medium, stage, listener) {
            break;
        }
    }
    runner.end.elapsed_ns = runner.elapsed_ns(medium);
    let place = |cell: &Cell| plan.cells.iter().position(|planned| planned.id == cell.id);
    runner.end.cells.sort_by_key(place);
    runner.end
}

struct Runner<'a> {
    plan: &'a Plan,
    kept: Option<KeptFile>,
    options: RunOptions<'a>,
    filler: Filler,
    started_ns: u64,
    written_bytes: u64,
    failures: u32,
    end: RunEnd,
}

impl Runner<'_> {
    fn is_done(&self, index: usize) -> bool {
        self.options.done.iter().any(|cell| cell.id == self.plan.cells[index].id)
    }

    fn elapsed_ns(&self, medium: &mut Guarded) -> u64 {
        self.options.used_ns + medium.now().saturating_sub(self.started_ns)
    }

    /// Fills what the finished `prime` cells had filled. Its figures are no results; only the writing counts.
    fn prime_again(&mut self, medium: &mut Guarded, stage: &mut dyn Stage, listener: &mut dyn Listener) {
        let primes = (0..self.plan.cells.len()).filter(|index| self.is_done(*index) && self.plan.cells[*index].test == "prime");
        for index in primes.collect::<Vec<_>>() {
            let (outcome, _, written_bytes) = self.measure(index, self.plan.cells[index].max_ns, medium, stage, listener);
            self.written_bytes = written_bytes;
            self.end.error = outcome.error.or(self.end.error.take());
        }
    }

    /// Runs one cell; `false` ends the run.
    fn step(&mut self, index: usize, medium: &mut Guarded, stage: &mut dyn Stage, listener: &mut dyn Listener) -> bool {
        if self.options.stop.load(Ordering::Relaxed) {
            return self.finish(Ended::Interrupted);
        }
        let planned = &self.plan.cells[index];
        let Some(allotted_ns) = self.allot(index, medium) else {
            return self.skip(planned, "the time limit was reached; give it more with --time-limit".into(), listener);
        };
        if let Err(reason) = listener.hear(&Event::CellStarted { index, cell: planned, allotted_ns }) {
            self.end.failed = Some(reason);
            return self.finish(Ended::Error);
        }
        let (outcome, failed, written_bytes) = self.measure(index, allotted_ns, medium, stage, listener);
        self.written_bytes = written_bytes;
        if let Some(reason) = outcome.left_out {
            return self.skip(planned, reason, listener);
        }
        self.keep(index, outcome, failed, listener)
    }

    fn measure(
        &mut self,
        index: usize,
        allotted_ns: u64,
        medium: &mut Guarded,
        stage: &mut dyn Stage,
        listener: &mut dyn Listener,
    ) -> (Outcome, Option<String>, u64) {
        let planned = &self.plan.cells[index];
        let test = match catalogue::find(&planned.test) {
            Ok(test) => test,
            Err(error) => return (Outcome::failed(planned, error.to_string()), None, self.written_bytes),
        };
        // A staged file may lie on the medium itself: it must be gone before another test measures there.
        self.kept.take_if(|kept| kept.test != planned.test);
        let started_ns = medium.now();
        let later_ns = self.later_ns(index);
        let pulse = Pulse {
            listener,
            stop: self.options.stop,
            phase: "starting",
            part: (0.0, 1.0),
            index,
            cell_started_ns: started_ns,
            allotted_ns,
            later_ns,
            next_ns: started_ns + BEAT_NS,
            written_bytes: self.written_bytes,
            failed: None,
        };
        let seed = Random::new(self.options.seed, &planned.id).next();
        let mut bench = Bench {
            medium,
            stage,
            site: self.options.site,
            kept: &mut self.kept,
            filler: &self.filler,
            done: &self.end.cells,
            allotted_ns,
            seed,
            started_ns,
            pulse,
        };
        let mut outcome = test.run(planned, &mut bench);
        let Bench { pulse, .. } = bench;
        outcome.cell.written_bytes = pulse.written_bytes - self.written_bytes;
        outcome.cell.flags.extend(impossible(&outcome.cell, self.options.site));
        (outcome, pulse.failed, pulse.written_bytes)
    }

    /// Keeps a cell; `false` ends the run.
    fn keep(&mut self, index: usize, outcome: Outcome, failed: Option<String>, listener: &mut dyn Listener) -> bool {
        let Outcome { cell, error, .. } = outcome;
        let stop = cell.stop;
        if stop == Stop::Interrupted {
            // An interrupted cell is not a result: it is measured again on resume. What was measured stays in the record only.
            self.end.cells.push(cell);
            self.end.failed = failed;
            return self.finish(if self.end.failed.is_some() { Ended::Error } else { Ended::Interrupted });
        }
        let heard = listener.hear(&Event::CellFinished { index, cell: &cell });
        self.end.cells.push(cell);
        if let Err(reason) = heard {
            self.end.failed = Some(reason);
            return self.finish(Ended::Error);
        }
        if stop != Stop::Error {
            self.failures = 0;
            return true;
        }
        self.failures += 1;
        let hopeless = error.as_ref().is_some_and(|e| matches!(e.kind, IoErrorKind::Gone | IoErrorKind::Refused | IoErrorKind::NoSpace));
        self.end.error = error.or(self.end.error.take());
        self.end.ended = Ended::Error;
        !hopeless && self.failures < FAILURES_IN_A_ROW
    }

    fn skip(&mut self, planned: &PlannedCell, reason: String, listener: &mut dyn Listener) -> bool {
        let skip = Skip { test: planned.id.clone(), reason };
        let heard = listener.hear(&Event::Skipped(&skip));
        self.end.skipped.push(skip);
        match heard {
            Ok(()) => true,
            Err(reason) => {
                self.end.failed = Some(reason);
                self.finish(Ended::Error)
            }
        }
    }

    fn finish(&mut self, ended: Ended) -> bool {
        self.end.ended = ended;
        false
    }

    /// The time a cell may take: its own limit, or its share of what is left of the run's limit. `None` when nothing is left.
    fn allot(&self, index: usize, medium: &mut Guarded) -> Option<u64> {
        let own_ns = self.plan.cells[index].max_ns;
        let Some(limit_ns) = self.plan.time_limit_ns else { return Some(own_ns) };
        let left_ns = limit_ns.saturating_sub(self.elapsed_ns(medium));
        let wanted_ns = own_ns.saturating_add(self.rest_ns(index));
        if left_ns == 0 {
            None
        } else if wanted_ns <= left_ns {
            Some(own_ns)
        } else {
            // A long first cell may borrow from later ones, which on most media converge long before their limit.
            let fair = own_ns as f64 / wanted_ns as f64 * left_ns as f64;
            Some((fair * 1.5).min(own_ns as f64).min(left_ns as f64) as u64)
        }
    }

    fn rest_ns(&self, index: usize) -> u64 {
        let rest = self.plan.cells.iter().enumerate().skip(index + 1).filter(|(later, _)| !self.is_done(*later));
        rest.fold(0u64, |sum, (_, cell)| sum.saturating_add(cell.max_ns))
    }

    /// What the later cells will take: their limits, shrunk as those before stayed under theirs.
    fn later_ns(&self, index: usize) -> u64 {
        let before = self.plan.cells[..index].iter().map(|cell| cell.max_ns).fold(0u64, u64::saturating_add);
        let took: u64 = self.end.cells.iter().map(|cell| cell.elapsed_ns).sum();
        let habit = if before > 10 * SECOND_NS { (took as f64 / before as f64).clamp(0.02, 1.0) } else { 1.0 };
        let later = self.rest_ns(index) as f64 * habit;
        let left = self.plan.time_limit_ns.map_or(f64::INFINITY, |limit| limit.saturating_sub(took) as f64);
        later.min(left) as u64
    }
}

/// Numbers that cannot be the medium's (flash.md F; peers.md wish 4).
fn impossible(cell: &Cell, site: &Site) -> Vec<Flag> {
    let mut flags = Vec::new();
    let through_cache = cell.params.path == Path::Buffered;
    let Some(bps) = cell.metrics.bps.map(|bps| bps.value).filter(|_| !through_cache) else { return flags };
    if let Some(link_bps) = site.link_bps.filter(|link| bps > link * 1.02) {
        flags.push(Flag::FasterThanLink { bps, link_bps });
    }
    if let Some(memory_bps) = site.memory_bps.filter(|memory| bps > *memory) {
        flags.push(Flag::FasterThanMemory { bps, memory_bps });
    }
    let splits = |block: u64, limit: u64| block > limit && block % limit != 0;
    if let (Some(block_bytes), Some(max_transfer_bytes)) = (cell.params.block_bytes, site.facts.max_transfer_bytes)
        && splits(block_bytes, max_transfer_bytes)
    {
        flags.push(Flag::SplitCommand { block_bytes, max_transfer_bytes });
    }
    flags
}

/// The stop rule of flash.md F3: at least 3 s and 30 I/Os, then a 95 % half-width of at most `relative_half_width`.
pub fn certainty(relative_half_width: f64, min_ns: u64) -> StopRule {
    StopRule { min_ns, min_events: 30, relative_half_width, max_ns: u64::MAX }
}
