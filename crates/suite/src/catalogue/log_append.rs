//! `log-append`: lines that a logger appends at a steady pace, each made durable by an `fsync` on
//! ext4: the last block of the file again, the file system's journal, a flush, its commit block, a
//! flush. The latency of a line counts from the time when it was due until it is durable: a medium
//! that pauses delays all lines that were due meanwhile. Then lines follow each other without a
//! pause: a medium cannot defer its work until it is idle then.
//!
//! Parameters of a cell: `lines_per_s`, `paced_ns`. Metrics: `latency_ns` of a line at that pace;
//! `late_lines`: those of them that were durable only after the next one was due; `iops`: lines per
//! second without a pace. Series `slowest line of each stall` (ns since the cell began, ns): lines
//! that wait behind one another have one cause.

use record::{CountUnit, Estimate, Flag, Histogram, HostStall, Series, SeriesAxis, Stop, Sync};
use stats::{RateEstimator, StopRule, StopVerdict};

use super::durable::{Durable, DurableStep, PAGE_BYTES, preconditioned_span, written_bytes};
use super::prelude::*;
use super::stretch;
use crate::stop_rule::until_precise;
use stats::latency;

settings! {
    LogAppendSettings {
        span: Size = "32MiB", "file size; a raw medium is used from its middle on";
        time: Time = "12s", "how long";
        in_a_row: Time = "6s", "time limit lines then come one right after the other";
    }
}

spec! {
    /// Numbers of lines at a steady pace.
    LogAppendSpec {
        lines_per_s: u64,
        /// Duration in nanoseconds.
        paced_ns: u64,
    }
}

/// Appends durable lines at a steady pace, then one right after the other, in one cell.
pub struct LogAppend;

/// Lines a second of the steady pace.
const LINES_PER_S: u64 = 10;
/// The writes of a line that fits into the last block, and of one that needs a new block.
const OF_LINE: &[DurableStep] = &[DurableStep::Again(4 * KIB), DurableStep::Commit(8 * KIB)];
const OF_BLOCK: &[DurableStep] = &[DurableStep::Log(4 * KIB), DurableStep::Commit(16 * KIB)];
/// Most lines without a pace, and the precision that ends them earlier.
const MAX_UNPACED: u64 = 2000;
/// Fewest lines without a pace, even if they are all alike: work that the medium defers after
/// writes of 12 KiB may come once in a hundred lines.
const MIN_UNPACED: u64 = 200;
const CERTAINTY: f64 = 0.05;
/// Lines of about 200 bytes in a block.
const LINES_PER_BLOCK: u64 = 20;

impl Procedure for LogAppend {
    type Settings = LogAppendSettings;
    type Spec = LogAppendSpec;

    fn entry(&self) -> Entry {
        Entry {
            name: test::LOG_APPEND,
            about: "appends lines at a steady pace, each made durable: how late they are",
            source: "fsync(2); the kernel's Documentation/filesystems/ext4/journal.rst",
            needs: Needs::WRITING,
        }
    }

    fn plan(&self, settings: &Self::Settings, cells: &mut Cells<'_, LogAppendSpec>) -> Planned {
        let found = preconditioned_span(cells.target, settings.span);
        let Some(span) = cells.or_skip(found) else { return Ok(()) };
        let (lines_per_s, paced_ns) = (LINES_PER_S, settings.time);
        let writes = cells.writes(Region::Middle, span, Pattern::Sequential, PAGE_BYTES);
        let params = Params { sync: Sync::Data, ..writes };
        let paced_lines = paced_ns as f64 / SECOND_NS as f64 * lines_per_s as f64;
        let most_lines = paced_lines as u64 + 1 + MAX_UNPACED;
        cells.add(
            params,
            &LogAppendSpec { lines_per_s, paced_ns },
            paced_ns + settings.in_a_row,
            most_lines * written_bytes(OF_BLOCK),
        );
        Ok(())
    }

    fn run(&self, cell: &TypedCell<LogAppendSpec>, context: &mut CellContext<'_>) -> CellOutcome {
        // A run that is short of time shortens both alike.
        let paced_ns = (cell.spec.paced_ns as f64 / cell.max_ns.max(1) as f64
            * context.allotted_ns as f64) as u64;
        let pace_ns = SECOND_NS / cell.spec.lines_per_s.max(1);
        let mut work = Durable::new(cell, cell.span(), context);
        let mut lines = Lines::default();
        let started_ns = device::Device::now(work.context.medium);
        let stop = paced(&mut work, &mut lines, pace_ns, paced_ns);
        lines.count_all(
            started_ns,
            pace_ns,
            &device::Device::host_stalls(work.context.medium, started_ns),
        );
        let stop = if stop == Stop::Time || stop == Stop::Ops {
            unpaced(&mut work, &mut lines).unwrap_or(stop)
        } else {
            stop
        };
        let mut outcome = work.outcome;
        outcome.end(stop, None);
        lines.add_results(&mut outcome);
        outcome
    }
}

/// Appends lines every `pace_ns` for `paced_ns`; returns the reason of the end.
fn paced(work: &mut Durable<'_, '_>, lines: &mut Lines, pace_ns: u64, paced_ns: u64) -> Stop {
    let started_ns = device::Device::now(work.context.medium);
    let share = paced_ns as f64 / work.context.allotted_ns.max(1) as f64;
    let most = paced_ns / pace_ns;
    for number in 0..most {
        let due_ns = started_ns + number * pace_ns;
        let early_ns = due_ns.saturating_sub(device::Device::now(work.context.medium));
        stretch::rest(early_ns, work.context);
        if work.context.must_stop() {
            return Stop::Interrupted;
        }
        if device::Device::now(work.context.medium) >= started_ns + paced_ns {
            return Stop::Time;
        }
        work.context
            .part(share * number as f64 / most as f64, share * (number + 1) as f64 / most as f64);
        let Some(busy_ns) = lines.write(work) else { return work.outcome.cell.stop };
        lines.paced.push([due_ns, device::Device::now(work.context.medium)]);
        if early_ns == 0 {
            lines.rate.push(busy_ns);
        }
    }
    Stop::Ops
}

/// Appends lines without a pace until their rate is precise enough; returns the reason of an
/// earlier end.
fn unpaced(work: &mut Durable<'_, '_>, lines: &mut Lines) -> Option<Stop> {
    let rule = StopRule { min_events: MIN_UNPACED, ..until_precise(CERTAINTY, SECOND_NS / 2) };
    for _ in 0..MAX_UNPACED {
        if work.context.must_stop() {
            return Some(Stop::Interrupted);
        }
        let is_certain =
            || rule.judge(lines.rate.total_ns(), &lines.rate, None) == StopVerdict::Converged;
        if work.context.time_left_ns() == 0 || is_certain() {
            return None;
        }
        let Some(busy_ns) = lines.write(work) else { return Some(work.outcome.cell.stop) };
        lines.rate.push(busy_ns);
    }
    None
}

/// Results of the lines.
#[derive(Default)]
struct Lines {
    written: u64,
    /// Time at which each paced line was due, and at which it was durable, in nanoseconds; until
    /// they are counted.
    paced: Vec<[u64; 2]>,
    /// Latencies of paced lines, from the time when they were due.
    histogram: Histogram,
    worst_ns: u64,
    late: u64,
    /// For each stall, the line with the longest delay: the time when it was due, and its delay, in
    /// nanoseconds.
    stalls: Vec<[u64; 2]>,
    /// Rate of the lines without a pace.
    rate: RateEstimator,
}

impl Lines {
    /// Makes the next line durable; returns the time on the medium in nanoseconds.
    fn write(&mut self, work: &mut Durable<'_, '_>) -> Option<u64> {
        let steps = if self.written.is_multiple_of(LINES_PER_BLOCK) { OF_BLOCK } else { OF_LINE };
        self.written += 1;
        Some(work.go(steps)?.max(1))
    }

    /// Counts the paced lines, without those that the host delayed: due or in flight during a host
    /// stall, or waiting behind those.
    fn count_all(&mut self, started_ns: u64, pace_ns: u64, stalls: &[HostStall]) {
        let (mut hosts_until_ns, mut late_until_ns) = (0, 0);
        for [due_ns, done_ns] in std::mem::take(&mut self.paced) {
            let is_hosts = due_ns < hosts_until_ns
                || stalls.iter().any(|stall| stall.from_ns < done_ns && stall.to_ns > due_ns);
            if is_hosts {
                hosts_until_ns = done_ns;
                continue;
            }
            let took_ns = done_ns.saturating_sub(due_ns);
            self.histogram.record(took_ns);
            self.worst_ns = self.worst_ns.max(took_ns);
            if took_ns > pace_ns {
                self.late += 1;
                self.stall([due_ns - started_ns, took_ns], due_ns < late_until_ns);
                late_until_ns = done_ns;
            }
        }
    }

    /// Adds one more late line; `has_waited` if it waited behind another.
    fn stall(&mut self, line: [u64; 2], has_waited: bool) {
        match self.stalls.last_mut().filter(|_| has_waited) {
            Some(latest) if latest[1] >= line[1] => {}
            Some(latest) => *latest = line,
            None => self.stalls.push(line),
        }
    }

    fn add_results(self, outcome: &mut CellOutcome) {
        let n = self.histogram.len();
        if n == 0 {
            return;
        }
        let cell = &mut outcome.cell;
        let (rate, unpaced_lines) = (self.rate.estimate(), self.rate.events());
        let ci95 = rate.as_ref().map(|rate| [rate.ci95.low, rate.ci95.high]);
        let per_second = unpaced_lines as f64 * 1e9 / self.rate.total_ns().max(1) as f64;
        cell.metrics.iops =
            (unpaced_lines > 0).then_some(Estimate { value: per_second, ci95, n: unpaced_lines });
        cell.metrics.latency_ns = Some(latency(&self.histogram, self.worst_ns));
        cell.metrics.put(metric::LATE_LINES, self.late as f64, n);
        if !self.stalls.is_empty() {
            let points = self.stalls.iter().map(|point| point.map(|ns| ns as f64)).collect();
            cell.series.push(Series::new(
                "slowest line of each stall",
                [SeriesAxis::ElapsedNs, SeriesAxis::LatencyNs],
                points,
            ));
        }
        cell.elapsed_ns = (self.histogram.mean() * n as f64) as u64;
        (cell.unit, cell.histogram) = (Some(CountUnit::Lines), Some(self.histogram));
        if n < 30 || ci95.is_none() {
            cell.flags.push(Flag::TooFewSamples { n: n.min(unpaced_lines) });
        }
    }
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn lines_that_the_host_made_late_do_not_count() {
        // The host stands still from 1050 to 1350: the line under way then, those due meanwhile,
        // and one that waited behind them are its own.
        let ends = [910, 1360, 1370, 1380, 1405, 1415, 1510];
        let paced = (9..).map(|turn| turn * 100).zip(ends).map(|(due, end)| [due, end]).collect();
        let mut lines = Lines { paced, ..Lines::default() };
        lines.count_all(0, 100, &[HostStall { from_ns: 1050, to_ns: 1350 }]);
        assert_eq!((lines.histogram.len(), lines.worst_ns, lines.late), (2, 10, 0));
    }

    #[test]
    fn late_lines_that_wait_behind_one_another_are_one_stall() {
        let paced = vec![[0, 150], [100, 280], [200, 290], [300, 310], [400, 650], [500, 660]];
        let mut lines = Lines { paced, ..Lines::default() };
        lines.count_all(0, 100, &[]);
        assert_eq!((lines.late, lines.stalls), (4, vec![[100, 180], [400, 250]]));
    }
}
