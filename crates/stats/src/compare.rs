//! Is one thing really faster than another?

use crate::random::Random;
use crate::sample::{mean, variance};
use crate::{Interval, mean_interval, student_t};

/// What several runs each of A and B say about the ratio A / B.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison {
    /// Geometric mean of A over geometric mean of B.
    pub ratio: f64,
    /// The 95 % confidence interval of the ratio.
    pub ci95: Interval,
    /// The conclusion.
    pub judgement: Judgement,
}

/// Which of two is larger, if that can be said (flash.md F6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judgement {
    /// A is larger than B.
    Larger,
    /// A is smaller than B.
    Smaller,
    /// They differ by less than 10 %, surely.
    Same,
    /// Too few runs, or too unlike each other, to say.
    Unclear,
}

/// Differences below this share are taken for noise unless the intervals of A and B do not even touch.
const NOISE: f64 = 0.10;

/// Compares the results of runs (rates or times, all positive) of A and B: the ratio with Welch's interval on the
/// logarithms, which allows for unlike spreads and few runs. `None` below two runs each, or with a value that is not
/// positive. Three runs each are the least to be published.
pub fn compare(a: &[f64], b: &[f64]) -> Option<Comparison> {
    let (a, b) = (logarithms(a)?, logarithms(b)?);
    let difference = mean(&a) - mean(&b);
    let half = welch_half_width(&a, &b);
    let ci95 = Interval {
        low: (difference - half).exp(),
        high: (difference + half).exp(),
    };
    let ratio = difference.exp();
    Some(Comparison {
        ratio,
        ci95,
        judgement: judge(ratio, ci95, are_disjoint(&a, &b)),
    })
}

fn judge(ratio: f64, ci95: Interval, disjoint: bool) -> Judgement {
    let noise = Interval {
        low: 1.0 / (1.0 + NOISE),
        high: 1.0 + NOISE,
    };
    if !ci95.contains(1.0) && (disjoint || !noise.contains(ratio)) {
        if ratio > 1.0 {
            Judgement::Larger
        } else {
            Judgement::Smaller
        }
    } else if noise.contains(ci95.low) && noise.contains(ci95.high) {
        Judgement::Same
    } else {
        Judgement::Unclear
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

/// The 95 % interval of mean(a) / mean(b) for two series of values, each correlated with its neighbours (windows of one run
/// each), by the stationary bootstrap: 1000 resamples made of blocks of geometric length, 2 n^(1/3) on average (Politis &
/// Romano 1994; flash.md F1). Equal seeds give equal intervals. `None` below ten values each (the bootstrap of a few values
/// is far too narrow: use [`compare`]) or where a mean of `b` is not positive.
pub fn bootstrap_ratio_interval(a: &[f64], b: &[f64], seed: u64) -> Option<Interval> {
    const RESAMPLES: usize = 1000;
    if a.len() < 10 || b.len() < 10 {
        return None;
    }
    let mut random = Random::new(seed);
    let mut ratios = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        let (a, b) = (
            resampled_mean(a, &mut random),
            resampled_mean(b, &mut random),
        );
        if b <= 0.0 || !a.is_finite() || !b.is_finite() {
            return None;
        }
        ratios.push(a / b);
    }
    ratios.sort_unstable_by(f64::total_cmp);
    Some(Interval {
        low: ratios[RESAMPLES / 40],
        high: ratios[RESAMPLES - 1 - RESAMPLES / 40],
    })
}

fn resampled_mean(values: &[f64], random: &mut Random) -> f64 {
    let n = values.len();
    let leave = 1.0 / (2.0 * (n as f64).cbrt());
    let mut at = random.below(n);
    let mut sum = 0.0;
    for _ in 0..n {
        sum += values[at];
        at = if random.unit() < leave {
            random.below(n)
        } else {
            (at + 1) % n
        };
    }
    sum / n as f64
}
