//! Estimators, confidence intervals under autocorrelation, stop rules and robust comparison.
//!
//! Numbers in, numbers out: this crate knows neither media nor clocks nor files. `figures` takes them
//! from cells of records, so that whoever has a record draws the same figures from it. The
//! methods and the reasons for them are described in docs/methodology.md, "How certain a rate is".

#[cfg(test)]
#[path = "../../../tests/cases.rs"]
#[allow(clippy::disallowed_methods, reason = "the cases are a file")]
mod cases;
mod change;
mod compare;
mod contest;
pub mod coverage;
mod drift;
mod figures;
mod interval;
mod linear;
mod percentile;
mod quantile;
mod random;
mod rate;
mod repetition;
mod sample;
mod stop;
mod student;
#[cfg(test)]
mod tests;
mod trend;
mod windows;

pub use change::{Segment, change_points};
pub use compare::{LargerRate, RatioEstimate, RunRate, compare, compare_runs};
pub use contest::{ContestRank, RankedGroup, contest, is_open};
pub use drift::Drift;
pub use figures::{
    FLOOR, TAIL_OF_FLASH, distances_on_a_host, drift_of_run, inverse, latency, latency_of_rounds,
    per_second, rate, set_interval, set_rates,
};
pub use interval::Interval;
pub use linear::least_squares;
pub use percentile::{QuantileEstimate, QuantileEstimator};
pub use quantile::{quantile_ranks, smallest_sample};
pub use random::Random;
pub use rate::{RareEvents, RateEstimate, RateEstimator};
pub use repetition::{
    NORMAL, Repetition, RoundRate, drift_between, of_long_run, of_repetition, repetition,
    repetition_half_width,
};
pub use sample::{geometric_mean, mean_interval, median};
pub use stop::{StopRule, StopVerdict};
pub use student::student_t;
pub use trend::has_trend;
pub use windows::{SHORTEST_NS, Windows, rates_of};
