use super::*;
use crate::random::Random;
use crate::{RoundRate, repetition, student_t};

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
    check(&[1.0, 1.0], &[1.0, 1.0], LargerRate::Same);
    check(&[1.05, 1.05], &[1.0, 1.0], LargerRate::Larger);
}

#[test]
fn not_comparable() {
    assert_eq!(compare(&[1.0], &[1.0, 2.0]), None);
    assert_eq!(compare_runs(&[RunRate::bare(1.0)], &[RunRate::bare(2.0)]), None);
    assert_eq!(compare_runs(&[], &[RunRate::bare(2.0)]), None);
    assert_eq!(compare(&[1.0, 0.0], &[1.0, 2.0]), None);
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
    let e = std::f64::consts::E;
    let found = compare(&[1.0, e], &[1.0, e.powi(3)]).expect("comparable");
    let expected = student_t(0.975, 6.25 / 5.125) * 2.5_f64.sqrt();
    let half = (found.ci95.high / found.ci95.low).ln() / 2.0;
    assert!((half / expected - 1.0).abs() < 1e-12, "{half}");
    assert!(compare(&[2.0, f64::INFINITY], &[1.0, 1.0]).is_none());
}

/// A run of rounds about a level of its own; spreads in the logarithm.
fn drawn(random: &mut Random, level: f64, between: f64, within: f64) -> RunRate {
    let own = level.ln() + between * random.normal();
    let rounds: Vec<RoundRate> = (0..5)
        .map(|_| (own + within * random.normal()).exp())
        .map(|rate| RoundRate { rate, length: 1.0, half_width: None })
        .collect();
    let mean = rounds.iter().map(|round| round.rate.ln()).sum::<f64>() / rounds.len() as f64;
    let found = repetition(&rounds).expect("five rounds");
    RunRate::of_rounds(mean.exp(), found.half_width, found.degrees)
}

fn side(random: &mut Random, runs: usize, level: f64, [between, within]: [f64; 2]) -> Vec<RunRate> {
    (0..runs).map(|_| drawn(random, level, between, within)).collect()
}

/// Of 2000 drawn comparisons of so many runs at one level, the percent whose interval holds 1.
fn coverage([one, other]: [usize; 2], spread: [f64; 2]) -> f64 {
    let mut random = Random::for_purpose(5, "coverage of comparisons");
    let held = (0..2000).filter(|_| {
        let (a, b) = (side(&mut random, one, 9.0, spread), side(&mut random, other, 9.0, spread));
        compare_runs(&a, &b).is_some_and(|found| found.ci95.contains(1.0))
    });
    held.count() as f64 / 20.0
}

#[test]
fn intervals_of_runs_with_rounds_hold_the_ratio() {
    let spreads = [[0.0, 0.03], [0.02, 0.02], [0.1, 0.02]];
    // One run against several is taken to vary as they do.
    for (runs, spreads, least) in [
        ([1, 1], &spreads[..1], 93.0),
        ([2, 2], &spreads, 93.0),
        ([3, 3], &spreads, 93.0),
        ([5, 5], &spreads, 93.0),
        ([1, 3], &spreads[1..], 92.0),
    ] {
        for spread in spreads {
            let held = coverage(runs, *spread);
            assert!((least..=98.0).contains(&held), "{runs:?} runs, {spread:?}: {held}");
        }
    }
}

/// Changes between runs are invisible to a single one: that is the reason for the rule of 10 %.
#[test]
fn single_runs_do_not_see_changes_between_runs() {
    assert!((55.0..75.0).contains(&coverage([1, 1], [0.02, 0.02])));
    assert!(coverage([1, 1], [0.1, 0.02]) < 30.0);
    let of = |rate| [RunRate::of_rounds(rate, 0.01, 4.0)];
    let judged = |a, b| compare_runs(&of(a), &of(b)).unwrap().judgement;
    assert_eq!(judged(1.09, 1.0), LargerRate::Unclear);
    assert_eq!(judged(1.11, 1.0), LargerRate::Larger);
    assert_eq!(judged(1.0, 1.11), LargerRate::Smaller);
}

/// A repetition's interval is of two runs; two of them were added as if each were of one.
#[test]
fn two_intervals_of_repetitions_are_one_difference() {
    let of = |half| [RunRate::of_rounds(100.0, half, 4.0)];
    let found = compare_runs(&of(0.03), &of(0.04)).unwrap();
    assert!((found.ci95.high.ln() - (0.0025_f64 / 2.0).sqrt()).abs() < 1e-12, "{found:?}");
    let stretch = |half| [RunRate { rate: 100.0, half_width: Some(half), degrees: None }];
    let found = compare_runs(&stretch(0.03), &stretch(0.04)).unwrap();
    assert!((found.ci95.high.ln() - 0.05).abs() < 1e-12, "{found:?}");
}

/// Runs that agree by luck know their ratio no better than they know themselves.
#[test]
fn the_interval_is_never_narrower_than_within_runs() {
    let run = RunRate { rate: 100.0, half_width: Some(0.03), degrees: None };
    let found = compare_runs(&[run; 3], &[run; 3]).unwrap();
    assert!((found.ci95.high.ln() - 0.03 * (2.0_f64 / 3.0).sqrt()).abs() < 1e-6, "{found:?}");
}

#[test]
fn three_runs_of_each_find_a_slowdown_of_a_fifth() {
    let mut random = Random::new(23);
    let mut count = |level: f64| {
        let slower = (0..100).filter(|_| {
            let spread = [0.014, 0.012];
            let (after, before) =
                (side(&mut random, 3, level, spread), side(&mut random, 3, 1.0, spread));
            let found = compare_runs(&after, &before).unwrap();
            found.ci95.high < 0.9 && found.judgement == LargerRate::Smaller
        });
        slower.count()
    };
    let (found, false_alarms) = (count(0.8), count(1.0));
    assert!(found >= 95 && false_alarms <= 2, "{found} found, {false_alarms} false alarms");
}

#[test]
fn more_runs_are_counted_until_they_decide() {
    let single = |sigma: f64| {
        let half = student_t(0.975, 4.0) * sigma;
        [RunRate { rate: 100.0, half_width: Some(half), degrees: Some(4.0) }]
    };
    let more = |sigma| compare_runs(&single(sigma), &single(sigma)).unwrap().more_runs();
    // Two runs of each: t(2) = 4.303 times sigma, and ln 1.1 = 0.0953.
    assert_eq!(more(0.02), Some(1));
    assert_eq!(more(0.023), Some(2));
    // t(2 n - 2) sigma sqrt(2 / n): 0.0989 of n = 10, 0.0938 of n = 11.
    assert_eq!(more(0.105), Some(10));
    assert_eq!(more(0.2), None);
    let runs = compare(&[100.0, 112.0], &[100.0, 112.0]).unwrap();
    let to = |limit| runs.more_runs_from(limit);
    assert!(to(0.5) < to(0.9) && to(0.999).is_none(), "{:?} {:?}", to(0.5), to(0.9));
    // Fine enough to tell 10 %, and this difference is 6 %.
    let close = compare(&[106.0, 108.0, 104.0], &[100.0, 103.0, 97.0]).unwrap();
    assert_eq!((close.judgement, close.more_runs().is_some()), (LargerRate::Unclear, true));
}
