//! Tables and limits of the estimators, worked out by others or by hand.

use crate::drift::{Drift, drift};
use crate::quantile::fractional_ranks;
use crate::{change_points, quantile_ranks, smallest_sample, student_t};

/// "8x10": eight times ten.
fn rates(words: &str) -> Vec<f64> {
    let rates = words.split(' ').filter(|word| !word.is_empty()).flat_map(|word| {
        let (times, rate) = word.split_once('x').unwrap_or(("1", word));
        vec![rate.parse().unwrap(); times.parse().unwrap()]
    });
    rates.collect()
}

/// To the ninth place.
fn exact(value: f64) -> f64 {
    (value * 1e9).round() / 1e9 + 0.0
}

fn answer(question: &str) -> String {
    let (what, words) = question.split_once(' ').unwrap_or((question, ""));
    let numbers = rates(words);
    let none = || "none".to_owned();
    match (what, &numbers[..]) {
        ("t", [p, degrees]) => format!("{:.3}", student_t(*p, *degrees)),
        ("drift", rates) => drift(rates).map_or_else(none, |drift| {
            let [range, slope] = [drift.range, drift.slope].map(exact);
            let is_steady = if drift.is_steady_within(0.0) { "steady" } else { "not steady" };
            format!("range {range}, slope {slope}, {is_steady}")
        }),
        ("steady", [within, range, slope]) => {
            let drift = Drift { range: *range, slope: *slope };
            if drift.is_steady_within(*within) { "yes" } else { "no" }.to_owned()
        }
        ("samples", [q]) => {
            let two_sided = (1..10_000).find(|n| quantile_ranks(*n, *q, 0.95).is_some());
            let two_sided = two_sided.map_or_else(none, |n| n.to_string());
            format!("{}, {two_sided}", smallest_sample(*q))
        }
        ("ranks", [n, q, confidence]) => quantile_ranks(*n as u64, *q, *confidence)
            .map_or_else(none, |(low, high)| format!("{low} {high}")),
        ("fractions", [n, q, confidence]) => fractional_ranks(*n, *q, *confidence)
            .map_or_else(none, |(low, high)| format!("{} {}", exact(low), exact(high))),
        ("cuts", rates) => {
            let ends = change_points(rates).into_iter().map(|segment| segment.to.to_string());
            let ends = ends.collect::<Vec<_>>().join(" ");
            if ends.is_empty() { none() } else { ends }
        }
        _ => panic!("{question}: no question to an estimator"),
    }
}

#[test]
fn estimators_have_the_values_and_limits_of_the_rows() {
    crate::cases::check_rows("src/tests/rows.txt", answer);
}
