//! Rounds: a fast cell is measured several times, with gaps and in changing order, after all cells
//! were measured once. One stretch of a second does not show its own slow changes; the differences
//! between rounds show the interval of the result if the run were repeated (docs/methodology.md,
//! "Rounds").

use std::sync::atomic::Ordering;

use record::units::{MILLISECOND_NS, SECOND_NS};
use record::{
    Cell, Ended, Estimate, Flag, MIN_ROUNDS, Metrics, PlannedCell, Round, Stop, metric, test,
};
use stats::{Random, latency_of_rounds, of_long_run, set_rates};

use super::{Measured, Runner, is_read_back};
use crate::events::RunEvent;
use crate::round_plan::{ROUND_NS, STEPS, is_repeated, limit_ns, round_ns, round_of};
use crate::spec::CellSpec;
use crate::stop_rule::{Precision, too_wide};

/// Mean latency in nanoseconds above which the interval of one stretch is valid (docs/truth.md).
const FAST_NS: f64 = 5.0 * MILLISECOND_NS as f64;
/// The same for sequential I/O, whose blocks take as long on a fast medium: a round of the shortest
/// length still has a dozen of them.
const FAST_SEQUENTIAL_NS: f64 = 20.0 * MILLISECOND_NS as f64;
/// Factor below which changes between rounds count as noise, in any order.
const CHANGED: f64 = 1.15;
/// Most nanoseconds between the starts of a cell's rounds: a host has slow changes that one moment
/// does not show. In a short run it is one part in [`APART_SHARE`] of the time limit.
const APART_NS: u64 = 3000 * MILLISECOND_NS;
const APART_SHARE: u64 = 15;
/// Nanoseconds that all rounds may always take; otherwise they take no longer than the measurements
/// before them.
const MIN_NS: u64 = 20 * SECOND_NS;
/// Nanoseconds within which a wait ends if the run is interrupted.
const STEP_NS: u64 = 100 * MILLISECOND_NS;
/// Ratio of the first writes to the steady level above which a round would not reach that level.
const FALLS: f64 = 1.5;

impl<'a> Runner<'a, '_> {
    /// Measures fast cells in rounds, until their intervals are as narrow as wanted or the time is
    /// up.
    pub(super) fn measure_rounds(&mut self) {
        let places: Vec<usize> =
            (0..self.end.cells.len()).filter(|at| is_worth_rounds(&self.end.cells[*at])).collect();
        let began_ns = self.elapsed_ns();
        let until_ns = self.end_of_rounds_ns(began_ns);
        self.rounds_end_ns = Some(until_ns);
        let mut random = Random::for_purpose(self.options.seed, "order of rounds");
        for turn in 2..=STEPS[STEPS.len() - 1] {
            let is_wanted = |place: &usize| wants_round(&self.end.cells[*place], turn);
            if !places.iter().any(is_wanted) {
                // A run that was resumed has these rounds.
                continue;
            }
            let due_ns = began_ns + (turn as u64 - 1) * self.apart_ns();
            if due_ns + limit_ns(ROUND_NS[0]) > until_ns || !self.wait(due_ns) {
                break;
            }
            let mut order: Vec<(u64, usize)> =
                places.iter().map(|place| (random.bits(), *place)).collect();
            order.sort_unstable();
            for (_, place) in order {
                if !wants_round(&self.end.cells[place], turn) {
                    continue;
                }
                if self.options.stop.load(Ordering::Relaxed) {
                    self.finish(Ended::Interrupted);
                    return;
                }
                let now_ns = self.elapsed_ns();
                let cell = &self.end.cells[place];
                let is_over = now_ns + longest_round_ns(cell) > until_ns;
                let Some(planned) = self.planned(cell) else { continue };
                let round = PlannedRound::short(planned, cell, turn);
                if is_over || !self.round(place, &round) {
                    return self.end_rounds(&places, began_ns);
                }
            }
        }
        self.end_rounds(&places, began_ns);
    }

    /// Time of the run at which rounds end that begin at `began_ns`, in nanoseconds: they take no
    /// longer than the measurements before them. A round waits for what a cache puts off, which may
    /// take longer than the round.
    fn end_of_rounds_ns(&self, began_ns: u64) -> u64 {
        let until = |most_ns: u64| (most_ns / 10 * 9).saturating_sub(self.reserved_ns());
        let most_ns = self.plan.time_limit_ns.map_or(u64::MAX, until);
        most_ns.min(began_ns.saturating_add(began_ns.max(MIN_NS)))
    }

    /// Expected nanoseconds of rounds that begin at `began_ns`, if the cells to come are as fast as
    /// those before and need the least number of rounds.
    pub(super) fn expected_rounds_ns(&self, began_ns: u64) -> u64 {
        if !self.plan.rounds || self.plan.times() > 1 {
            return 0;
        }
        let done = self.end.cells.iter().filter(|cell| is_repeated(&cell.test));
        let fast = || done.clone().filter(|cell| is_worth_rounds(cell));
        let planned = self.plan.cells.iter().filter(|cell| is_repeated(&cell.test)).count();
        let open = planned.saturating_sub(done.clone().count()) as f64;
        let share = if open == planned as f64 {
            1.0
        } else {
            fast().count() as f64 / (planned as f64 - open)
        };
        // A round takes about half of its limit.
        let turn_ns = fast().map(longest_round_ns).sum::<u64>() / 2;
        let turn_ns = turn_ns + (open * share) as u64 * limit_ns(ROUND_NS[0]) / 2;
        if turn_ns == 0 {
            return 0;
        }
        let wanted_ns = (STEPS[0] as u64 - 1) * turn_ns.max(self.apart_ns());
        wanted_ns.min(self.end_of_rounds_ns(began_ns).saturating_sub(began_ns))
    }

    /// Nanoseconds of what comes after all rounds.
    fn reserved_ns(&self) -> u64 {
        self.plan.cells.iter().rfind(|cell| is_read_back(cell)).map_or(0, |cell| cell.max_ns)
    }

    /// Nanoseconds between the starts of a cell's rounds.
    fn apart_ns(&self) -> u64 {
        self.plan.time_limit_ns.map_or(APART_NS, |limit_ns| APART_NS.min(limit_ns / APART_SHARE))
    }

    /// Waits without I/O until `due_ns` of the run's time; `false` if the run must end.
    fn wait(&mut self, due_ns: u64) -> bool {
        while !self.options.stop.load(Ordering::Relaxed) {
            let left_ns = due_ns.saturating_sub(self.elapsed_ns());
            if left_ns == 0 {
                return true;
            }
            device::Device::idle(self.medium, left_ns.min(STEP_NS));
        }
        self.finish(Ended::Interrupted);
        false
    }

    /// Measures every cell with a rate again as planned, in the order of the plan, for the plan's
    /// number of repeats.
    pub(super) fn repeat(&mut self) {
        let places: Vec<usize> =
            (0..self.end.cells.len()).filter(|at| is_repeatable(&self.end.cells[*at])).collect();
        for number in 2..=self.plan.times() as usize {
            for place in &places {
                let cell = &self.end.cells[*place];
                // A run that was resumed has some of these.
                let is_done = cell.stop.cut_short() || cell.rounds.len() >= number;
                let Some(planned) = self.planned(cell).filter(|_| !is_done) else { continue };
                if self.options.stop.load(Ordering::Relaxed) {
                    self.finish(Ended::Interrupted);
                    return;
                }
                let once_ns = cell.elapsed_ns / cell.rounds.len().max(1) as u64;
                let most_ns = self.plan.time_limit_ns.unwrap_or(u64::MAX);
                let is_over = self.elapsed_ns().saturating_add(once_ns) > most_ns;
                let round = PlannedRound::whole(planned, number);
                if is_over || !self.round(*place, &round) {
                    return self.report_rounds(&places);
                }
            }
        }
        self.report_rounds(&places);
    }

    /// Reports that rounds are over, and the cells with too few of them; rounds began at
    /// `began_ns`.
    fn end_rounds(&mut self, places: &[usize], began_ns: u64) {
        if self.end.ended != Ended::Complete {
            return;
        }
        // One stretch predicts the next where no host drifts, or others show by how much.
        if self.drift().is_some() {
            return self.report_rounds(places);
        }
        let turn_ns: u64 =
            places.iter().map(|place| longest_round_ns(&self.end.cells[*place])).sum();
        let turns_ns = MIN_ROUNDS as u64 * turn_ns.max(self.apart_ns());
        let needed_ns = (began_ns + turns_ns + self.reserved_ns()) / 9 * 10;
        for place in places {
            let cell = &mut self.end.cells[*place];
            if cell.rounds.len() >= MIN_ROUNDS || cell.stop.cut_short() || cell.is_one_look() {
                continue;
            }
            cell.flags.push(Flag::OneLook { needed_ns });
            if !self.revised(*place) {
                return;
            }
        }
        self.report_rounds(places);
    }

    fn report_rounds(&mut self, places: &[usize]) {
        if places.is_empty() || self.end.ended != Ended::Complete {
            return;
        }
        if let Err(reason) =
            self.listener.on_event(&RunEvent::RoundsDone { cells: &self.end.cells })
        {
            self.fail(reason);
        }
    }

    /// The planned cell of a finished one.
    fn planned(&self, cell: &Cell) -> Option<&'a PlannedCell> {
        let plan = self.plan;
        plan.cells.iter().find(|planned| planned.id == cell.id)
    }

    /// Measures one round of a cell, twice if the host stood still; `false` ends the rounds.
    fn round(&mut self, place: usize, round: &PlannedRound) -> bool {
        let plan = self.plan;
        let PlannedRound { planned, measured: named, number } = round;
        for _ in 0..2 {
            let left_bytes = plan.max_written_bytes().saturating_sub(self.written_bytes);
            if named.max_written_bytes > left_bytes {
                return true;
            }
            if !self.tell(&RunEvent::RoundStarted { cell: planned, number: *number }) {
                return false;
            }
            let began_ns = self.elapsed_ns();
            let last = plan.cells.len() - 1;
            let Measured { outcome, failed, written_last } =
                self.measure(last, named, named.max_ns);
            if let Some(reason) = failed {
                return self.fail(reason);
            }
            let is_marked = self.mark(planned, &outcome, &written_last);
            let mut measured = outcome.cell;
            measured.id.clone_from(&planned.id);
            if !is_marked || !self.tell(&RunEvent::RoundFinished { cell: &measured }) {
                return false;
            }
            let host_stalled = measured.host_stall_share() > record::MAX_HOST_STALL_SHARE;
            let (stop, is_left_out) = (measured.stop, outcome.left_out.is_some());
            let cell = &mut self.end.cells[place];
            match stop {
                Stop::Interrupted => {
                    cell.written_bytes += measured.written_bytes;
                    return self.finish(Ended::Interrupted);
                }
                Stop::Error => {
                    (cell.stop, cell.reason, cell.error) =
                        (Stop::Error, measured.reason, measured.error);
                    cell.written_bytes += measured.written_bytes;
                }
                _ if host_stalled || is_left_out => cell.written_bytes += measured.written_bytes,
                _ => add_round(cell, measured, began_ns),
            }
            if !self.revised(place) {
                return false;
            }
            if stop == Stop::Error {
                self.end.error = outcome.error.or(self.end.error.take());
                return self.finish(Ended::Error);
            }
            if !host_stalled {
                return true;
            }
        }
        true
    }
}

/// A repeated measurement of a cell.
pub(super) struct PlannedRound<'a> {
    /// The cell as it was planned.
    pub planned: &'a PlannedCell,
    /// The cell as it is measured this time.
    pub measured: PlannedCell,
    /// Number of the measurement; 2 for the first round.
    pub number: usize,
}

impl<'a> PlannedRound<'a> {
    /// A measurement as long as a round.
    fn short(planned: &'a PlannedCell, cell: &Cell, number: usize) -> PlannedRound<'a> {
        let bps = cell.metrics.bps.map_or(0.0, |bps| bps.value);
        PlannedRound::new(planned, round_of(planned, round_ns(cell), bps), number)
    }

    /// A measurement as planned.
    pub fn whole(planned: &'a PlannedCell, number: usize) -> PlannedRound<'a> {
        PlannedRound::new(planned, planned.clone(), number)
    }

    fn new(planned: &'a PlannedCell, measured: PlannedCell, number: usize) -> PlannedRound<'a> {
        let id = format!("{} round {number}", planned.id);
        PlannedRound { planned, measured: PlannedCell { id, ..measured }, number }
    }
}

/// True for a cell whose result improves with rounds: one of fast I/Os, in a state that a round
/// reaches.
fn is_worth_rounds(cell: &Cell) -> bool {
    let Some((iops, latency)) = cell.metrics.iops.zip(cell.metrics.latency_ns.as_ref()) else {
        return false;
    };
    let other = |name: &str| cell.metrics.value(name);
    let has_level = other(metric::BURST_IOPS).is_none_or(|burst| burst < FALLS * iops.value);
    let is_paid = other(metric::PAID_IOPS).is_none_or(|paid| paid * FALLS > iops.value);
    is_repeated(&cell.test)
        && !cell.stop.cut_short()
        && cell.histogram.is_some()
        && iops.ci95.is_some()
        && latency.mean <= longest_ns(&cell.test)
        && cell.transient().is_none()
        && has_level
        && is_paid
}

/// True for a cell with a rate that can be measured again as planned.
fn is_repeatable(cell: &Cell) -> bool {
    let is_rate = cell.metrics.iops.is_some_and(|iops| iops.ci95.is_some());
    let is_state = [test::PRIME, test::CAPACITY, test::VERIFY].contains(&cell.test.as_str());
    is_rate && !is_state && cell.histogram.is_some() && !cell.stop.cut_short()
}

/// Largest mean latency of a cell with rounds, in nanoseconds.
fn longest_ns(of_test: &str) -> f64 {
    match of_test {
        test::SEQUENTIAL_READ | test::SEQUENTIAL_WRITE => FAST_SEQUENTIAL_NS,
        _ => FAST_NS,
    }
}

/// Time limit of a round of this cell, in nanoseconds.
fn longest_round_ns(cell: &Cell) -> u64 {
    limit_ns(round_ns(cell))
}

/// True if a cell has fewer rounds than it needs by now.
fn wants_round(cell: &Cell, turn: usize) -> bool {
    let done = cell.rounds.len().max(1);
    if cell.stop.cut_short() || done >= turn {
        return false;
    }
    !STEPS.contains(&done) || !relative_half_width(cell).is_some_and(|width| width <= asked(cell))
}

/// Wanted precision of the cell: half the width of its interval over the result; 0 if none is
/// wanted.
fn asked(cell: &Cell) -> f64 {
    Precision::read(&cell.params.other).map_or(0.0, |precision| precision.certainty)
}

fn relative_half_width(cell: &Cell) -> Option<f64> {
    cell.metrics.iops.and_then(|iops| iops.relative_half_width())
}

/// Adds the results of a round: counts and histogram to those of the cell, its rate to the rounds.
fn add_round(cell: &mut Cell, round: Cell, began_ns: u64) {
    let Some(iops) = round.metrics.iops.filter(|_| round.ops > 0) else {
        cell.written_bytes += round.written_bytes;
        return;
    };
    if let Some(first) = cell.metrics.iops.filter(|_| cell.rounds.is_empty()) {
        cell.rounds.push(round_at(0, cell, first));
    }
    cell.rounds.push(round_at(began_ns, &round, iops));
    let before_ops = cell.ops;
    cell.ops += round.ops;
    cell.bytes += round.bytes;
    cell.elapsed_ns += round.elapsed_ns;
    cell.written_bytes += round.written_bytes;
    if let (Some(all), Some(more)) = (&mut cell.histogram, &round.histogram) {
        all.merge(more);
    }
    if let Some(host_state) = round.host_state {
        cell.host_state.get_or_insert_default().add(host_state);
    }
    for flag in round.flags {
        let is_there =
            |known: &Flag| std::mem::discriminant(known) == std::mem::discriminant(&flag);
        if !is_of_one_stretch(&flag) && !cell.flags.iter().any(is_there) {
            cell.flags.push(flag);
        }
    }
    add_means(cell, before_ops, round.ops, &round.metrics);
    sum_up(cell, &round.metrics);
}

/// Combines means per I/O, weighted by the number of I/Os.
fn add_means(cell: &mut Cell, before_ops: u64, ops: u64, round: &Metrics) {
    for name in [metric::RUN_DELAY_NS, metric::CPU_NS_PER_IO] {
        if let Some((mean, more)) = cell.metrics.other.get_mut(name).zip(round.other.get(name)) {
            let sum = mean.value * before_ops as f64 + more.value * ops as f64;
            (mean.value, mean.n) = (sum / (before_ops + ops) as f64, before_ops + ops);
        }
    }
}

fn round_at(began_ns: u64, cell: &Cell, iops: Estimate) -> Round {
    let half_width = iops.ci95.map(|[low, high]| of_long_run((high / low).ln() / 2.0));
    Round { began_ns, ops: cell.ops, elapsed_ns: cell.elapsed_ns, iops: iops.value, half_width }
}

/// True for a caveat of one stretch that is resolved by rounds.
fn is_of_one_stretch(flag: &Flag) -> bool {
    matches!(
        flag,
        Flag::NotConverged { .. }
            | Flag::Autocorrelated { .. }
            | Flag::Drifting { .. }
            | Flag::TooFewSamples { .. }
            | Flag::OneLook { .. }
            | Flag::Trend { .. }
    )
}

/// Computes the results of all rounds together, with the interval of a repetition.
fn sum_up(cell: &mut Cell, latest: &Metrics) {
    let worst_ns = [&cell.metrics, latest]
        .into_iter()
        .filter_map(|metrics| metrics.latency_ns.as_ref())
        .map(|latency| latency.max)
        .max()
        .unwrap_or(0);
    if let Some(histogram) = &cell.histogram {
        let known = cell.metrics.latency_ns.as_ref();
        cell.metrics.latency_ns = Some(latency_of_rounds(histogram, worst_ns, known));
    }
    if let (Some(stall), Some(later)) = (
        cell.metrics.other.get_mut(metric::WORST_STALL_NS),
        latest.other.get(metric::WORST_STALL_NS),
    ) {
        stall.value = stall.value.max(later.value);
        stall.n += later.n;
    }
    if set_rates(cell) {
        note_certainty(cell);
    }
    cell.round();
}

/// Replaces the caveats of single stretches by those of the rounds, such as a wide interval.
fn note_certainty(cell: &mut Cell) {
    cell.flags.retain(|flag| !is_of_one_stretch(flag));
    let asked = asked(cell);
    cell.flags.extend(relative_half_width(cell).and_then(|width| too_wide(width, asked)));
    cell.flags.extend(trend(&cell.rounds));
}

/// Caveat that rounds changed during the run by more than chance explains, and by enough to matter.
fn trend(rounds: &[Round]) -> Option<Flag> {
    let rates: Vec<f64> = rounds.iter().map(|round| round.iops).collect();
    let third = rates.len().div_ceil(3);
    let mean = |rates: &[f64]| rates.iter().sum::<f64>() / rates.len() as f64;
    let (from, to) = (mean(&rates[..third]), mean(&rates[rates.len() - third..]));
    let factor = (to / from).max(from / to);
    (stats::has_trend(&rates) && factor > CHANGED).then_some(Flag::Trend { from, to })
}
