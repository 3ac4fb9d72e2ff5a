//! Estimates of streams drawn at random, compared with their values: level, spread, correlation,
//! steps, few values, values that are alike.

use crate::*;

/// Number of streams drawn.
const DRAWN: u64 = 300;
const LENGTHS: [usize; 15] = [0, 1, 2, 4, 5, 7, 8, 16, 24, 30, 40, 100, 257, 600, 1_500];

/// Positive values: a level with noise, with or without correlation, steps, a trend and rare large
/// ones.
fn stream(random: &mut Random) -> Vec<f64> {
    let (level, spread) = (random.log_uniform(1e2, 1e7), random.unit().powi(2));
    let (memory, trend) = (*random.pick(&[0.0, 0.0, 0.5, 0.95]), random.unit() - 0.5);
    let (seldom, steps) = (5 + random.below(200), random.below(4));
    let is_round = random.below(4) == 0;
    let length = *random.pick(&LENGTHS);
    let step_at: Vec<(u64, f64)> = (0..steps)
        .map(|_| (random.below(length.max(1) as u64), random.log_uniform(0.5, 2.0)))
        .collect();
    let mut noise = 0.0;
    (0..length)
        .map(|at| {
            noise = memory * noise + random.normal();
            let trended = 1.0 + trend * at as f64 / length as f64;
            let passed = step_at.iter().filter(|(from, _)| *from <= at as u64);
            let stepped: f64 = passed.map(|(_, factor)| factor).product();
            let rare = if random.below(seldom) == 0 { random.log_uniform(2.0, 50.0) } else { 1.0 };
            let value = level * trended * stepped * rare * (spread * noise).exp();
            if is_round { (value / level * 4.0).round() * level / 4.0 } else { value }
        })
        .collect()
}

/// Values within their intervals, of which the ends are numbers in order.
fn holds(interval: Interval, value: f64) {
    assert!(interval.low.is_finite() && interval.high.is_finite(), "{interval:?}");
    let slack = 1e-9 * value.abs();
    let is_inside = interval.low <= value + slack && value <= interval.high + slack;
    assert!(is_inside, "{interval:?} {value}");
}

/// The smallest and the largest of these.
fn ends(values: &[f64]) -> [f64; 2] {
    values.iter().fold([f64::INFINITY, 0.0], |[low, high], x| [low.min(*x), high.max(*x)])
}

fn is_within([low, high]: [f64; 2], value: f64) {
    assert!(value >= low * (1.0 - 1e-9) && value <= high * (1.0 + 1e-9), "{low} {value} {high}");
}

/// Segments follow each other without a gap, each with a level among its values.
fn check_segments(values: &[f64]) {
    let segments = change_points(values);
    let next = segments.iter().fold(0, |from, segment| {
        assert!(segment.from == from && segment.to > from, "{segments:?}");
        if values.iter().all(|value| *value > 0.0) {
            is_within(ends(&values[segment.from..segment.to]), segment.mean);
        }
        segment.to
    });
    assert_eq!(next, values.len());
    assert!(segments.len() < 2 || segments.iter().all(|it| it.to - it.from >= 8), "{segments:?}");
}

/// Means and medians lie among the values.
fn check_level(values: &[f64]) {
    let all = ends(values);
    if let Some((mean, interval)) = mean_interval(values) {
        holds(interval, mean);
        is_within(all, mean);
    }
    let middle = median(&mut values.to_vec());
    assert_eq!(middle.is_none(), values.is_empty());
    middle.into_iter().for_each(|middle| is_within(all, middle));
}

/// The rate is all events over all time; a lower precision is reached no later; the stop rule
/// agrees with the estimate.
fn check_rate(values: &[f64], random: &mut Random) {
    let rare = RareEvents { share: random.unit() / 50.0, excess: random.log_uniform(1.0, 20.0) };
    let is_expecting = random.below(2) == 0;
    let mut rate = if is_expecting { RateEstimator::expecting(rare) } else { RateEstimator::new() };
    let mut windows = Windows::new(*random.pick(&[16, 60, 240]));
    let together = random.below(3);
    for value in values {
        rate.push(*value as u64);
        rate.push_together(together);
        windows.push(4096.0, *value as u64);
        windows.push_together(4096.0, together);
    }
    assert_eq!(rate.events(), values.len() as u64 * (1 + together));
    assert_eq!(rate.total_ns(), values.iter().map(|value| *value as u64).sum::<u64>());
    if let Some(estimate) = rate.estimate() {
        let plain = estimate.n as f64 / (rate.total_ns() as f64 / 1e9);
        assert!((estimate.per_second / plain - 1.0).abs() < 1e-9, "{estimate:?} {plain}");
        holds(estimate.ci95, estimate.per_second);
        assert!(estimate.ci95.low >= 0.0 && estimate.lag1.abs() <= 1.5, "{estimate:?}");
    }
    let known = [0.02, 0.05, 0.2, 0.5].map(|width| rate.knows_rate_to(width));
    assert!(known.is_sorted(), "{known:?}");
    let rates = windows.rates(240);
    assert!(rates.iter().all(|(weight, rate)| *weight > 0.0 && rate.is_finite()), "{rates:?}");
    assert!(rates.is_sorted_by(|one, next| one.0 < next.0), "{rates:?}");
    check_stop(&rate, windows.drift(), random);
}

fn check_stop(rate: &RateEstimator, drift: Option<Drift>, random: &mut Random) {
    let rule = StopRule {
        min_ns: 1_000_000,
        min_events: 30,
        relative_half_width: *random.pick(&[0.02, 0.05, 0.2]),
        max_ns: 50_000_000,
    };
    let lasted_ns = rate.total_ns();
    match rule.judge(lasted_ns, rate, drift) {
        StopVerdict::Converged => {
            assert!(lasted_ns >= rule.min_ns && rate.events() >= rule.min_events);
            assert!(rate.knows_rate_to(rule.relative_half_width));
        }
        StopVerdict::TimeUp => assert!(lasted_ns >= rule.max_ns),
        StopVerdict::Continue => assert!(lasted_ns < rule.max_ns),
    }
}

/// Quantiles are in order, within their intervals, and equal to values of the stream.
fn check_quantiles(number: u64, values: &[f64], random: &mut Random) {
    let mut estimator = match *random.pick(&[1, 1, 8]) {
        1 => QuantileEstimator::new(number),
        in_flight => QuantileEstimator::overlapping(number, in_flight),
    };
    let same = 1 + random.below(3);
    values.iter().for_each(|value| estimator.push_same(*value as u64, same));
    let found = [0.5, 0.9, 0.99, 0.999].map(|q| estimator.quantile(q));
    let known: Vec<&QuantileEstimate> = found.iter().flatten().collect();
    assert!(known.is_sorted_by(|one, next| one.value <= next.value), "{known:?}");
    assert!(found.is_sorted_by_key(Option::is_none), "a higher one needs more: {found:?}");
    for quantile in known {
        assert!(values.iter().any(|value| *value as u64 as f64 == quantile.value), "{quantile:?}");
        quantile.ci95.iter().for_each(|interval| holds(*interval, quantile.value));
        let effective = quantile.effective;
        assert!(effective > 0.0 && effective <= quantile.n as f64, "{quantile:?}");
    }
    let (q, n) = (*random.pick(&[0.5, 0.9, 0.99, 0.999]), random.below(4_000));
    if let Some((low, high)) = quantile_ranks(n, q, 0.95) {
        let at = q * n as f64;
        assert!(low >= 1 && low < high && high <= n, "{low} {high} of {n}");
        assert!(low as f64 <= at + 1.0 && at <= high as f64, "{low} {at} {high}");
    }
}

/// A comparison is the inverse of itself turned round; the best of a contest is not beaten.
fn check_contest(groups: &[Vec<f64>; 3], is_larger_better: bool) {
    let both = (compare(&groups[0], &groups[1]), compare(&groups[1], &groups[0]));
    if let (Some(one), Some(other)) = both {
        assert!((one.ratio * other.ratio - 1.0).abs() < 1e-9, "{one:?} {other:?}");
        holds(one.ci95, one.ratio);
        let turned = match other.judgement {
            LargerRate::Larger => LargerRate::Smaller,
            LargerRate::Smaller => LargerRate::Larger,
            same => same,
        };
        assert_eq!(one.judgement, turned, "{one:?} {other:?}");
    }
    let places = contest(groups, is_larger_better);
    let centres: Vec<f64> = places.iter().map(|place| place.centre).collect();
    let is_ordered =
        |one: &f64, next: &f64| if is_larger_better { one >= next } else { one <= next };
    assert!(centres.is_sorted_by(is_ordered), "{places:?}");
    let best = places.iter().filter(|place| place.rank == ContestRank::Best).count();
    assert_eq!(best, places.len().min(1), "{places:?}");
}

#[test]
fn estimates_of_drawn_streams_follow_from_their_values() {
    for number in 0..DRAWN {
        let mut random = Random::after(2026, number << 32);
        let (values, other) = (stream(&mut random), stream(&mut random));
        let third: Vec<f64> = other.iter().map(|it| it * random.log_uniform(0.8, 1.2)).collect();
        let groups = [values.clone(), other, third].map(|mut group| {
            group.truncate(2 + number as usize % 9);
            group
        });
        check_segments(&values);
        check_level(&values);
        check_rate(&values, &mut random);
        check_quantiles(number, &values, &mut random);
        check_contest(&groups, random.below(2) == 0);
        let (p, degrees) = (random.unit(), random.log_uniform(1.0, 400.0));
        let (t, next) = (student_t(p, degrees), student_t((p + 1.0) / 2.0, degrees));
        assert!(t < next && (t + student_t(1.0 - p, degrees)).abs() < 1e-6, "{p} {degrees}: {t}");
    }
}
