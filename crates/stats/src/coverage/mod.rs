//! Coverage of intervals: the share that contains the truth, on streams of completion times whose
//! long-run truth is known.
//!
//! This is the proof behind the intervals of this crate: [`table`] runs every stream at several
//! lengths and under the stop rule, and counts. The tests run a small form of it; a program can
//! print the whole (200 runs of each take about ten seconds).

mod streams;

pub use streams::{STREAMS, Stream, StreamState};

use crate::{Interval, QuantileEstimator, RateEstimator, StopRule, StopVerdict};

/// The end of a simulated measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SimulationEnd {
    /// After this many events.
    Events(u64),
    /// When the rule says so; asked each time the event count has grown by a twentieth.
    Rule(StopRule),
}

/// The quantity of a stream that an interval is made for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Estimand {
    /// The rate, events per second.
    Rate,
    /// This quantile (0..1) of the time per event.
    Quantile(f64),
}

/// Result of many runs on one stream.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Coverage {
    /// Runs that gave an interval; the others had too few events for one.
    pub runs: u32,
    /// Runs whose 95 % interval contained the truth.
    pub covered: u32,
    /// Runs whose whole interval was below the truth.
    pub too_low: u32,
    /// Runs whose whole interval was above the truth.
    pub too_high: u32,
    /// Mean of the relative half-widths.
    pub half_width: f64,
    /// Mean number of events in a run.
    pub events: f64,
}

impl Coverage {
    /// The share of runs whose interval contained the truth; NaN where none gave one.
    pub fn share(&self) -> f64 {
        f64::from(self.covered) / f64::from(self.runs)
    }

    fn count(&mut self, interval: Interval, truth: f64, events: u64) {
        self.runs += 1;
        self.covered += u32::from(interval.contains(truth));
        self.too_low += u32::from(interval.high < truth);
        self.too_high += u32::from(interval.low > truth);
        let share = 1.0 / f64::from(self.runs);
        self.half_width += share * (interval.relative_half_width(truth) - self.half_width);
        self.events += share * (events as f64 - self.events);
    }
}

/// A row of the table of coverage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CoverageRow {
    /// Name of the stream, as in [`STREAMS`].
    pub stream: &'static str,
    /// The quantity that was estimated: the rate or a quantile.
    pub what: Estimand,
    /// When the runs ended.
    pub until: SimulationEnd,
    /// Number of intervals that contained the truth, and their width.
    pub coverage: Coverage,
}

/// The rule of the table: 5 %, at least 3 s (of events that take 1 ms when fast) and 30 events.
pub const RULE_OF_TRIAL: StopRule = StopRule {
    min_ns: 3_000_000_000,
    min_events: 30,
    relative_half_width: 0.05,
    max_ns: 180_000_000_000,
};

/// Results of every stream: rates, p50 and p99 after 100, 1000 and 10,000 events, and rates under
/// [`RULE_OF_TRIAL`]; `runs` runs of each.
pub fn table(runs: u32, seed: u64) -> Vec<CoverageRow> {
    let lengths = [100, 1000, 10_000].map(SimulationEnd::Events);
    let whats = [Estimand::Rate, Estimand::Quantile(0.5), Estimand::Quantile(0.99)];
    let fixed = lengths.into_iter().flat_map(|until| whats.map(|what| (what, until)));
    let cells: Vec<_> =
        fixed.chain([(Estimand::Rate, SimulationEnd::Rule(RULE_OF_TRIAL))]).collect();
    let row = |stream: &Stream, what, until| CoverageRow {
        stream: stream.name,
        what,
        until,
        coverage: cover(stream, what, until, runs, seed),
    };
    STREAMS
        .iter()
        .flat_map(|stream| cells.iter().map(move |&(what, until)| row(stream, what, until)))
        .collect()
}

/// Measures `stream` `runs` times, each with its own seed derived from `seed`.
pub fn cover(
    stream: &Stream,
    what: Estimand,
    until: SimulationEnd,
    runs: u32,
    seed: u64,
) -> Coverage {
    let truth = match what {
        Estimand::Rate => 1e9 / stream.mean_ns(),
        Estimand::Quantile(q) => stream.quantile_ns(q),
    };
    let mut seen = Coverage::default();
    for run in 0..runs {
        let seed = seed ^ (u64::from(run) << 32);
        let (rate, times) = measure(stream.start(seed), until, seed);
        let interval = match what {
            Estimand::Rate => rate.estimate().map(|estimate| estimate.ci95),
            Estimand::Quantile(q) => times.quantile(q).and_then(|estimate| estimate.ci95),
        };
        if let Some(interval) = interval {
            seen.count(interval, truth, rate.events());
        }
    }
    seen
}

fn measure(
    mut flow: StreamState,
    until: SimulationEnd,
    seed: u64,
) -> (RateEstimator, QuantileEstimator) {
    let (mut rate, mut times) = (RateEstimator::new(), QuantileEstimator::new(seed));
    let mut step = |rate: &mut RateEstimator| {
        let ns = flow.next_ns();
        rate.push(ns);
        times.push(ns);
    };
    match until {
        SimulationEnd::Events(n) => (0..n).for_each(|_| step(&mut rate)),
        SimulationEnd::Rule(rule) => {
            let mut next_look = rule.min_events;
            loop {
                step(&mut rate);
                if rate.events() < next_look {
                    continue;
                }
                if rule.judge(rate.total_ns(), &rate, None) != StopVerdict::Continue {
                    break;
                }
                next_look = rate.events() + (rate.events() / 20).max(1);
            }
        }
    }
    (rate, times)
}

#[cfg(test)]
mod tests;
