//! Is one thing really faster than another?

use crate::random::Random;
use crate::sample::{mean, variance};
use crate::{Interval, mean_interval, student_t};

/// What several runs each of A and B say about the ratio A / B.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RatioEstimate {
    /// Geometric mean of A over geometric mean of B.
    pub ratio: f64,
    /// The 95 % confidence interval of the ratio.
    pub ci95: Interval,
    /// Which of the two is larger, if that can be said.
    pub judgement: LargerRate,
}

/// Which of two is larger, if that can be said (docs/field/statistics.md#comparing-runs).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LargerRate {
    /// A is larger than B.
    Larger,
    /// A is smaller than B.
    Smaller,
    /// They differ by less than 10 %, surely.
    Same,
    /// Too few runs, or too unlike each other, to say.
    Unclear,
}

/// Differences below this share are taken for noise unless the intervals of A and B do not even
/// touch.
const NOISE: f64 = 0.10;

/// Compares the results of runs (rates or times, all positive) of A and B: the ratio with Welch's
/// interval on the logarithms, which allows for unlike spreads and few runs. `None` below two runs
/// each, or with a value that is not positive. Three runs each are the least to be published.
pub fn compare(a: &[f64], b: &[f64]) -> Option<RatioEstimate> {
    let (a, b) = (logarithms(a)?, logarithms(b)?);
    let difference = mean(&a) - mean(&b);
    let half = welch_half_width(&a, &b);
    let ci95 = Interval { low: (difference - half).exp(), high: (difference + half).exp() };
    let ratio = difference.exp();
    Some(RatioEstimate { ratio, ci95, judgement: judge(ratio, ci95, are_disjoint(&a, &b)) })
}

fn judge(ratio: f64, ci95: Interval, disjoint: bool) -> LargerRate {
    let noise = Interval { low: 1.0 / (1.0 + NOISE), high: 1.0 + NOISE };
    if !ci95.contains(1.0) && (disjoint || !noise.contains(ratio)) {
        if ratio > 1.0 { LargerRate::Larger } else { LargerRate::Smaller }
    } else if noise.contains(ci95.low) && noise.contains(ci95.high) {
        LargerRate::Same
    } else {
        LargerRate::Unclear
    }
}

fn logarithms(runs: &[f64]) -> Option<Vec<f64>> {
    let usable = runs.len() >= 2 && runs.iter().all(|&x| x > 0.0 && x.is_finite());
    usable.then(|| runs.iter().map(|x| x.ln()).collect())
}

fn welch_half_width(a: &[f64], b: &[f64]) -> f64 {
    let share = |runs: &[f64]| variance(runs) / runs.len() as f64;
    let (from_a, from_b) = (share(a), share(b));
    let both = from_a + from_b;
    if both <= 0.0 {
        return 0.0;
    }
    let degrees = both * both
        / (from_a * from_a / (a.len() - 1) as f64 + from_b * from_b / (b.len() - 1) as f64);
    student_t(0.975, degrees) * both.sqrt()
}

fn are_disjoint(a: &[f64], b: &[f64]) -> bool {
    match (mean_interval(a), mean_interval(b)) {
        (Some((_, a)), Some((_, b))) => a.high < b.low || b.high < a.low,
        _ => false,
    }
}

/// The 95 % interval of mean(a) / mean(b) for two series of values, each correlated with its
/// neighbours (windows of one run each), by the stationary bootstrap: 1000 resamples made of blocks
/// of geometric length, 2 n^(1/3) on average (Politis & Romano 1994;
/// docs/field/statistics.md#percentiles). Equal seeds give equal intervals. `None` below ten values
/// each (the bootstrap of a few values is far too narrow: use [`compare`]) or where a mean of `b`
/// is not positive.
pub fn bootstrap_ratio_interval(a: &[f64], b: &[f64], seed: u64) -> Option<Interval> {
    const RESAMPLES: usize = 1000;
    if a.len() < 10 || b.len() < 10 {
        return None;
    }
    let mut random = Random::new(seed);
    let mut ratios = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        let (a, b) = (resampled_mean(a, &mut random), resampled_mean(b, &mut random));
        if b <= 0.0 || !a.is_finite() || !b.is_finite() {
            return None;
        }
        ratios.push(a / b);
    }
    ratios.sort_unstable_by(f64::total_cmp);
    Some(Interval { low: ratios[RESAMPLES / 40], high: ratios[RESAMPLES - 1 - RESAMPLES / 40] })
}

fn resampled_mean(values: &[f64], random: &mut Random) -> f64 {
    let n = values.len();
    let leave = 1.0 / (2.0 * (n as f64).cbrt());
    let mut at = random.below(n as u64) as usize;
    let mut sum = 0.0;
    for _ in 0..n {
        sum += values[at];
        at = if random.unit() < leave { random.below(n as u64) as usize } else { (at + 1) % n };
    }
    sum / n as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(a: &[f64], b: &[f64], expected: LargerRate) {
        let found = compare(a, b).expect("comparable");
        assert_eq!(found.judgement, expected, "{found:?}");
        assert!(found.ci95.contains(found.ratio));
        let turned = compare(b, a).expect("comparable");
        assert!((turned.ratio * found.ratio - 1.0).abs() < 1e-12);
    }

    #[test]
    fn judgements() {
        check(&[200.0, 205.0, 198.0], &[100.0, 101.0, 103.0], LargerRate::Larger);
        check(&[100.0, 101.0, 103.0], &[200.0, 205.0, 198.0], LargerRate::Smaller);
        check(&[100.0, 101.0, 99.0], &[100.5, 99.5, 100.0], LargerRate::Same);
        check(&[100.0, 150.0, 80.0], &[120.0, 90.0, 100.0], LargerRate::Unclear);
    }

    #[test]
    fn a_small_difference_needs_intervals_apart() {
        // 4 %: Welch's interval leaves out 1, but the intervals of A and B touch.
        check(&[104.0, 105.5, 102.5, 104.0], &[100.0, 102.0, 98.5, 99.5], LargerRate::Same);
        check(&[104.0, 104.1, 103.9, 104.0], &[100.0, 100.1, 99.9, 100.0], LargerRate::Larger);
    }

    #[test]
    fn not_comparable() {
        assert_eq!(compare(&[1.0], &[1.0, 2.0]), None);
        assert_eq!(compare(&[1.0, 0.0], &[1.0, 2.0]), None);
        assert_eq!(bootstrap_ratio_interval(&[1.0; 9], &[1.0; 20], 1), None);
        assert_eq!(bootstrap_ratio_interval(&[1.0; 20], &[0.0; 20], 1), None);
    }

    #[test]
    fn welch_covers_the_truth_with_three_runs_each() {
        let mut random = Random::new(11);
        let mut runs = |level: f64, sigma: f64| -> Vec<f64> {
            (0..3).map(|_| level * (sigma * random.normal()).exp()).collect()
        };
        let covered = (0..500).filter(|_| {
            let (a, b) = (runs(3.0, 0.1), runs(2.0, 0.03));
            compare(&a, &b).is_some_and(|c| c.ci95.contains(1.5))
        });
        let share = covered.count() as f64 / 500.0;
        assert!((0.92..=0.985).contains(&share), "{share}");
    }

    #[test]
    fn the_bootstrap_covers_correlated_series() {
        let mut random = Random::new(4);
        let mut series = |level: f64| -> Vec<f64> {
            let mut state = random.normal();
            let step = |_| {
                state = 0.5 * state + 0.75_f64.sqrt() * random.normal();
                level + state
            };
            (0..200).map(step).collect()
        };
        let covered = (0..150).filter(|&seed| {
            let (a, b) = (series(20.0), series(10.0));
            bootstrap_ratio_interval(&a, &b, seed).is_some_and(|ci| ci.contains(2.0))
        });
        let share = covered.count() as f64 / 150.0;
        assert!(share >= 0.88, "{share}");
        let (a, b) = (series(20.0), series(10.0));
        assert_eq!(bootstrap_ratio_interval(&a, &b, 3), bootstrap_ratio_interval(&a, &b, 3));
    }

    #[test]
    fn ten_percent_is_noise_unless_the_intervals_are_apart() {
        use LargerRate::*;
        for (ratio, low, high, disjoint, expected) in [
            (1.2, 1.05, 1.3, false, Larger),
            (1.2, 0.99, 1.3, false, Unclear),
            (1.2, 0.99, 1.3, true, Unclear),
            (1.09, 1.01, 1.2, false, Unclear),
            (1.09, 1.01, 1.2, true, Larger),
            (1.11, 1.01, 1.2, false, Larger),
            (0.92, 0.85, 0.99, false, Unclear),
            (0.92, 0.85, 0.99, true, Smaller),
            (0.90, 0.85, 0.99, false, Smaller),
            (1.0, 0.91, 1.09, false, Same),
            (1.0, 0.90, 1.09, false, Unclear),
            (1.0, 0.91, 1.11, false, Unclear),
            (1.05, 1.01, 1.09, true, Larger),
        ] {
            let found = judge(ratio, Interval { low, high }, disjoint);
            assert_eq!(found, expected, "{ratio} {low} {high} {disjoint}");
        }
    }

    /// Logarithms 0 and 1 against 0 and 3: variances 0.5 and 4.5, halves of them 0.25 and 2.25,
    /// 6.25 / (0.0625 + 5.0625) degrees of freedom, sqrt(2.5) for an error.
    #[test]
    fn the_width_of_welch_by_hand() {
        let found = welch_half_width(&[0.0, 1.0], &[0.0, 3.0]);
        let expected = student_t(0.975, 6.25 / 5.125) * 2.5_f64.sqrt();
        assert!((found / expected - 1.0).abs() < 1e-12, "{found}");
        assert_eq!(welch_half_width(&[1.0, 1.0], &[2.0, 2.0]), 0.0);
        assert!(compare(&[2.0, 2.0], &[1.0, 1.0]).is_some(), "two runs each are enough");
        assert!(compare(&[2.0, f64::INFINITY], &[1.0, 1.0]).is_none());
    }

    #[test]
    fn intervals_that_touch_are_not_apart() {
        assert!(!are_disjoint(&[1.0, 1.0], &[1.0, 1.0]));
        assert!(are_disjoint(&[1.0, 1.0], &[1.5, 1.5]) && are_disjoint(&[1.5, 1.5], &[1.0, 1.0]));
    }

    #[test]
    fn the_bootstrap_needs_ten_numbers_each() {
        let of = |a: &[f64], b: &[f64]| bootstrap_ratio_interval(a, b, 1).is_some();
        assert!(of(&[1.0; 10], &[1.0; 10]));
        assert!(!of(&[1.0; 9], &[1.0; 10]) && !of(&[1.0; 10], &[1.0; 9]));
        assert!(!of(&[f64::INFINITY; 10], &[1.0; 10]) && !of(&[1.0; 10], &[f64::INFINITY; 10]));
    }

    /// Equal seeds give equal intervals, now and in the next version.
    #[test]
    fn the_interval_of_a_seed_does_not_change() {
        let a: Vec<f64> = (0..30).map(|n| f64::from(n % 7) + 10.0).collect();
        let b: Vec<f64> = (0..27).map(|n| f64::from(n * n % 11) + 5.0).collect();
        let found = bootstrap_ratio_interval(&a, &b, 5).expect("enough values");
        assert_eq!((found.low, found.high), (1.307_480_314_960_630_2, 1.579_017_857_142_857_3));
    }
}
