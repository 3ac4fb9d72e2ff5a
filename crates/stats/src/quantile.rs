//! Intervals of quantiles from order statistics, for any distribution
//! (docs/field/statistics.md#percentiles; Hahn & Meeker 1991).

use crate::student::incomplete_beta;

/// The ranks (1-based) of the two order statistics that enclose the `q`-quantile with at least
/// `confidence`, out of `n` independent samples, with no more than half of the remaining
/// probability on either side; `None` where `n` is too small for that (95 %: below 6 for p50, 72
/// for p95, 368 for p99, 3688 for p99.9).
///
/// Correlated samples are worth fewer: see [`crate::QuantileEstimator`].
pub fn quantile_ranks(n: u64, q: f64, confidence: f64) -> Option<(u64, u64)> {
    if n < 2 || !(q > 0.0 && q < 1.0 && confidence > 0.0 && confidence < 1.0) {
        return None;
    }
    let tail = (1.0 - confidence) / 2.0;
    let low = last_rank(n, |rank| below(n, q, rank) <= tail);
    let high = last_rank(n, |rank| below(n, q, rank) < 1.0 - tail) + 1;
    (low >= 1 && high <= n).then_some((low, high))
}

/// The same as shares of a rank, so that an interval between neighbouring order statistics can be
/// taken: whole ranks leave out less than they may, and their intervals hold in 97 to 98 of 100
/// cases at some hundred samples (interpolated order statistics, Hettmansperger & Sheather 1986,
/// with the probabilities themselves as weights). `n` may be a fraction: so many independent
/// samples are worth it.
pub(crate) fn fractional_ranks(n: f64, q: f64, confidence: f64) -> Option<(f64, f64)> {
    let whole = n.floor() as u64;
    let (low, high) = quantile_ranks(whole, q, confidence)?;
    let tail = (1.0 - confidence) / 2.0;
    let between = |rank: u64, wanted: f64| {
        let (before, after) = (below(whole, q, rank), below(whole, q, rank + 1));
        if after > before { ((wanted - before) / (after - before)).clamp(0.0, 1.0) } else { 0.0 }
    };
    Some((low as f64 + between(low, tail), (high - 1) as f64 + between(high - 1, 1.0 - tail)))
}

/// The smallest sample whose largest value is above the `q`-quantile with 95 % confidence
/// (one-sided): 5 for p50, 59 for p95, 299 for p99, 2995 for p99.9
/// (docs/field/statistics.md#percentiles). With fewer, no such percentile is printed.
pub fn smallest_sample(q: f64) -> u64 {
    if q <= 0.0 {
        return 1;
    }
    if q >= 1.0 {
        return u64::MAX;
    }
    (0.05_f64.ln() / q.ln()).ceil() as u64
}

/// The probability that the order statistic of `rank` (1-based) is above the `q`-quantile: fewer
/// than `rank` of `n` samples fall below it, the binomial sum up to `rank - 1`.
fn below(n: u64, q: f64, rank: u64) -> f64 {
    if rank > n { 1.0 } else { incomplete_beta((n - rank + 1) as f64, rank as f64, 1.0 - q) }
}

/// The last rank in 0..=n for which `holds` (true at first, then false), by bisection; 0 if it
/// never holds.
fn last_rank(n: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut yes, mut no) = (0, n + 1);
    while no - yes > 1 {
        let middle = yes + (no - yes) / 2;
        if holds(middle) { yes = middle } else { no = middle }
    }
    yes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The binomial distribution function by plain summation, as a check of the incomplete beta
    /// function.
    fn binomial_below(n: u64, q: f64, rank: u64) -> f64 {
        let mut ln_term = n as f64 * (1.0 - q).ln();
        let mut sum = 0.0;
        for k in 0..rank.min(n + 1) {
            sum += ln_term.exp();
            ln_term += ((n - k) as f64 / (k + 1) as f64 * q / (1.0 - q)).ln();
        }
        sum
    }

    proptest! {
        #[test]
        fn ranks_leave_out_no_more_than_promised_and_are_the_tightest(n in 2u64..400, q in 0.01..0.99, confidence in 0.5..0.99) {
            let tail = (1.0 - confidence) / 2.0;
            match quantile_ranks(n, q, confidence) {
                None => prop_assert!((1.0 - q).powf(n as f64).max(q.powf(n as f64)) > tail - 1e-9),
                Some((low, high)) => {
                    prop_assert!(1 <= low && low < high && high <= n);
                    prop_assert!(binomial_below(n, q, low) <= tail + 1e-9);
                    prop_assert!(1.0 - binomial_below(n, q, high) <= tail + 1e-9);
                    prop_assert!(binomial_below(n, q, low + 1) > tail - 1e-9);
                    prop_assert!(1.0 - binomial_below(n, q, high - 1) > tail - 1e-9);
                }
            }
        }
    }
}
