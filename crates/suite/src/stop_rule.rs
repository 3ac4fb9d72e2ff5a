//! The stop rule: with which precision a cell has been measured for long enough. Which precision a
//! test asks for is its setting `certainty`, with the published value as default; the suites
//! (`suites/*.toml`) ask for their own.

use stats::StopRule;

/// I/Os at least (docs/field/statistics.md#stop-rule).
const LEAST_IOS: u64 = 30;

/// The stop rule of docs/field/statistics.md#stop-rule: at least `min_ns` and 30 I/Os, then a 95 %
/// confidence interval whose half-width is at most `relative_half_width` of the rate.
pub fn until_precise(relative_half_width: f64, min_ns: u64) -> StopRule {
    StopRule { min_ns, min_events: LEAST_IOS, relative_half_width, max_ns: u64::MAX }
}
