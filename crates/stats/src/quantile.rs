//! What order statistics say about a quantile, whatever the distribution (flash.md F1; Hahn & Meeker 1991).

use crate::student::incomplete_beta;

/// The ranks (1-based) of the two order statistics that enclose the `q`-quantile with at least `confidence`, out of
/// `n` independent samples; `None` where `n` is too small for any such pair (two-sided 95 %: 6 for p50, 72 for p95,
/// 368 for p99, 3688 for p99.9).
pub fn quantile_ranks(n: u64, q: f64, confidence: f64) -> Option<(u64, u64)> {
    if n < 2 || !(q > 0.0 && q < 1.0 && confidence > 0.0 && confidence < 1.0) {
        return None;
    }
    let coverage = |low: u64, high: u64| below(n, q, high) - below(n, q, low);
    if coverage(1, n) < confidence {
        return None;
    }
    let tail = (1.0 - confidence) / 2.0;
    // Equal tails first: the largest low rank and the smallest high rank that leave no more than `tail` outside.
    let mut low = last_rank(n, |rank| below(n, q, rank) <= tail).max(1);
    let mut high = (last_rank(n, |rank| below(n, q, rank) < 1.0 - tail) + 1).min(n);
    // Near the ends one tail has no room: what is missing there must be given back at the other end.
    while coverage(low, high) < confidence {
        if low > 1 { low -= 1 } else { high += 1 }
    }
    Some((low, high))
}

/// The smallest sample whose largest value lies above the `q`-quantile with 95 % confidence (one-sided): 5 for p50,
/// 59 for p95, 299 for p99, 2995 for p99.9 (flash.md F1). With fewer, no such percentile is printed.
pub fn smallest_sample(q: f64) -> u64 {
    if q <= 0.0 {
        return 1;
    }
    if q >= 1.0 {
        return u64::MAX;
    }
    (0.05_f64.ln() / q.ln()).ceil() as u64
}

/// The probability that the order statistic of `rank` (1-based) lies above the `q`-quantile: fewer than `rank` of `n`
/// samples fall below it, the binomial sum up to `rank - 1`.
fn below(n: u64, q: f64, rank: u64) -> f64 {
    if rank > n {
        1.0
    } else {
        incomplete_beta((n - rank + 1) as f64, rank as f64, 1.0 - q)
    }
}

/// The last rank in 0..=n for which `holds` (true at first, then false), by bisection; 0 if it never holds.
fn last_rank(n: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut yes, mut no) = (0, n + 1);
    while no - yes > 1 {
        let middle = yes + (no - yes) / 2;
        if holds(middle) {
            yes = middle
        } else {
            no = middle
        }
    }
    yes
}
