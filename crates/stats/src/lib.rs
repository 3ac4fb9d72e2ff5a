//! Estimators, confidence intervals under autocorrelation, stop rules and robust comparison.
//!
//! Pure numbers in, pure numbers out: this room knows neither media nor clocks nor files. What the methods are and why
//! they were chosen is told in docs/methodology.md, "How certain a rate is".

mod drift;
mod interval;
mod quantile;
mod rate;
mod sample;
mod stop;
mod student;
mod windows;

pub use drift::{Drift, drift};
pub use interval::Interval;
pub use quantile::{quantile_ranks, smallest_sample};
pub use rate::{RateEstimate, RateEstimator};
pub use sample::{mean_interval, median};
pub use stop::{StopRule, Verdict};
pub use student::student_t;
pub use windows::Windows;
