//! Streams of completion times whose long-run truth is known, and how often an interval contains that truth.
//!
//! This is the proof behind the intervals of this room: [`table`] runs every stream at several lengths, and under the stop
//! rule, and counts. The tests run a small form of it; `cargo xtask truth` may print the whole.

mod streams;

pub use streams::{Flow, STREAMS, Stream};

use crate::{RateEstimator, StopRule, Verdict};

/// When a simulated measurement ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Until {
    /// After this many events.
    Events(u64),
    /// When the rule says so; asked each time the event count has grown by a twentieth.
    Rule(StopRule),
}

/// What became of many runs on one stream.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coverage {
    /// Runs made.
    pub runs: u32,
    /// Runs whose 95 % interval contained the truth.
    pub covered: u32,
    /// Runs whose interval lay wholly below the truth.
    pub too_low: u32,
    /// Runs whose interval lay wholly above the truth.
    pub too_high: u32,
    /// Mean of the relative half-widths.
    pub half_width: f64,
    /// Mean number of events in a run.
    pub events: f64,
}

impl Coverage {
    /// The share of runs whose interval contained the truth.
    pub fn share(&self) -> f64 {
        f64::from(self.covered) / f64::from(self.runs)
    }
}

/// Measures `stream` `runs` times, each with its own seed derived from `seed`.
pub fn cover(stream: &Stream, until: Until, runs: u32, seed: u64) -> Coverage {
    let truth = 1e9 / stream.mean_ns();
    let mut seen = Coverage {
        runs,
        covered: 0,
        too_low: 0,
        too_high: 0,
        half_width: 0.0,
        events: 0.0,
    };
    for run in 0..runs {
        let rate = measure(stream.start(seed ^ (u64::from(run) << 32)), until);
        let Some(estimate) = rate.estimate() else {
            continue;
        };
        seen.covered += u32::from(estimate.ci95.contains(truth));
        seen.too_low += u32::from(estimate.ci95.high < truth);
        seen.too_high += u32::from(estimate.ci95.low > truth);
        seen.half_width += estimate.ci95.relative_half_width(estimate.per_second) / f64::from(runs);
        seen.events += estimate.n as f64 / f64::from(runs);
    }
    seen
}

fn measure(mut flow: Flow, until: Until) -> RateEstimator {
    let mut rate = RateEstimator::new();
    match until {
        Until::Events(n) => (0..n).for_each(|_| rate.push(flow.next_ns())),
        Until::Rule(rule) => {
            let mut next_look = rule.min_events;
            loop {
                rate.push(flow.next_ns());
                if rate.events() < next_look {
                    continue;
                }
                if rule.judge(rate.total_ns(), &rate, None) != Verdict::Continue {
                    break;
                }
                next_look = rate.events() + (rate.events() / 20).max(1);
            }
        }
    }
    rate
}
