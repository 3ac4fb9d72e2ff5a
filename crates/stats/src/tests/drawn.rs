//! What every estimator says of streams drawn at random: level, spread, memory, steps, few values,
//! values that are alike. A sum for each estimator: where a constant or a comparison changes, one of
//! them does.

use std::collections::BTreeMap;
use std::fmt::{Debug, Write as _};

use crate::*;

/// Streams that are drawn.
const DRAWN: u64 = 300;
/// Streams in a line of the snapshot.
const A_LINE: u64 = 30;
const LENGTHS: [usize; 15] = [0, 1, 2, 4, 5, 7, 8, 16, 24, 30, 40, 100, 257, 600, 1_500];

/// Positive values: a level with noise, with or without memory, steps, a trend and rare large ones.
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

/// Figures of four digits: what a library of mathematics does in the last is not ours.
fn in_text(of: &impl Debug) -> String {
    let text = format!("{of:?}");
    let is_figure = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let mut short = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c| is_figure(c) != is_figure(first)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        match word.parse::<f64>() {
            Ok(figure) if word.contains(['.', 'e']) => _ = write!(short, "{figure:.3e}"),
            _ => short += word,
        }
        rest = after;
    }
    short
}

/// FNV-1a, as the sum must be the same on every machine.
fn sum_of(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |sum: u64, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// What each estimator says of one stream.
fn said(number: u64) -> Vec<(&'static str, String)> {
    let mut random = Random::after(2026, number << 32);
    let (values, other) = (stream(&mut random), stream(&mut random));
    let in_flight = *random.pick(&[1, 1, 8]);
    let rare = RareEvents { share: random.unit() / 50.0, excess: random.log_uniform(1.0, 20.0) };
    let is_expecting = random.below(2) == 0;
    let mut rate = if is_expecting { RateEstimator::expecting(rare) } else { RateEstimator::new() };
    let mut windows = Windows::new(*random.pick(&[16, 60, 240]));
    let mut quantiles = match in_flight {
        1 => QuantileEstimator::new(number),
        _ => QuantileEstimator::overlapping(number, in_flight),
    };
    let together = random.below(3);
    for value in &values {
        let ns = *value as u64;
        rate.push(ns);
        rate.push_together(together);
        windows.push(4096.0, ns);
        windows.push_together(4096.0, together);
        quantiles.push_same(ns, 1 + together);
    }
    let width = *random.pick(&[0.02, 0.05, 0.2]);
    let rule = StopRule {
        min_ns: 1_000_000,
        min_events: 30,
        relative_half_width: width,
        max_ns: 50_000_000,
    };
    let estimate = rate.estimate();
    let mut steady = SteadyState::new(25);
    let rounds: Vec<Rounds> = values.iter().take(30).map(|value| steady.push(*value)).collect();
    let segments = change_points(&values);
    let cliffs: Vec<bool> = segments.windows(2).map(|two| two[0].is_cliff_to(&two[1])).collect();
    let third: Vec<f64> = other.iter().map(|value| value * random.log_uniform(0.8, 1.2)).collect();
    let groups = [values.clone(), other.clone(), third].map(|mut group| {
        group.truncate(2 + number as usize % 9);
        group
    });
    let is_larger_better = random.below(2) == 0;
    let places = contest(&groups, is_larger_better);
    let (q, n) = (*random.pick(&[0.5, 0.9, 0.99, 0.999]), random.below(4_000));
    let (p, degrees) = (random.unit(), random.log_uniform(1.0, 400.0));
    let level =
        in_text(&(mean_interval(&values), median(&mut values.clone()), pairwise_median(&values)));
    vec![
        ("change", in_text(&(&segments, cliffs))),
        (
            "compare",
            in_text(&(
                compare(&values, &other),
                bootstrap_ratio_interval(&groups[0], &groups[1], number),
            )),
        ),
        ("contest", in_text(&(is_open(&places), places))),
        (
            "drift",
            in_text(&(drift(&values), windows.drift().map(|drift| drift.is_steady_within(width)))),
        ),
        ("level", level),
        ("modes", in_text(&split_modes(&values))),
        ("percentiles", in_text(&[0.5, 0.9, 0.99, 0.999].map(|q| quantiles.quantile(q)))),
        ("ranks", in_text(&(quantile_ranks(n, q, 0.95), smallest_sample(q)))),
        (
            "rate",
            in_text(&(
                estimate,
                rate.knows_rate_to(width),
                estimate.map(|of| of.relative_half_width()),
            )),
        ),
        ("series", in_text(&(effective_sample_size(&values), mser5(&values)))),
        ("steady", in_text(&rounds)),
        ("stop", in_text(&rule.judge(rate.total_ns(), &rate, windows.drift()))),
        ("student", in_text(&student_t(p, degrees))),
        ("windows", in_text(&(windows.rates(), windows.drift()))),
    ]
}

#[test]
fn what_is_estimated_of_drawn_streams_is_what_it_was() {
    let mut table = String::new();
    for first in (0..DRAWN).step_by(A_LINE as usize) {
        let mut texts: BTreeMap<&str, String> = BTreeMap::new();
        for (name, text) in (first..first + A_LINE).flat_map(said) {
            *texts.entry(name).or_default() += &text;
        }
        for (name, text) in texts {
            let _ = writeln!(table, "{first} {name} {:016x}", sum_of(&text));
        }
    }
    insta::assert_snapshot!(table);
}
