//! A trend in a few values.

/// Fewest values that can show a trend: with fewer, any order may be chance.
const FEWEST: usize = 5;
/// Standard deviations of the statistic from which on there is a trend: five values that are all in
/// order reach it.
const TREND: f64 = 2.2;

/// True if values rise or fall in the order they have (Mann 1945, Kendall 1975): of series without
/// a trend, at most 3 of 100 seem to have one. Always false for fewer than five values.
pub fn has_trend(values: &[f64]) -> bool {
    if values.len() < FEWEST {
        return false;
    }
    let later = |at: usize| values[at + 1..].iter().map(move |value| value - values[at]);
    let sign = |difference: f64| if difference == 0.0 { 0.0 } else { difference.signum() };
    let sum: f64 = (0..values.len()).flat_map(later).map(sign).sum();
    let n = values.len() as f64;
    let variance = n * (n - 1.0) * (2.0 * n + 5.0) / 18.0;
    (sum.abs() - 1.0) / variance.sqrt() >= TREND
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    #[test]
    fn five_in_order_are_a_trend_and_four_are_not() {
        assert!(has_trend(&[1.0, 2.0, 3.0, 4.0, 5.0]) && has_trend(&[5.0, 4.0, 3.0, 2.0, 1.0]));
        assert!(!has_trend(&[1.0, 2.0, 3.0, 4.0]) && !has_trend(&[1.0; 12]));
        assert!(!has_trend(&[1.0, 2.0, 3.0, 5.0, 4.0]));
        assert!(has_trend(&[9.0, 8.0, 8.5, 7.0, 6.0, 6.5, 5.0, 4.0]));
    }

    #[test]
    fn chance_seems_one_in_three_of_a_hundred_series_at_most() {
        let mut random = Random::after(42, 1);
        for length in [5, 8, 12] {
            let seems =
                |_: &u32| has_trend(&(0..length).map(|_| random.normal()).collect::<Vec<_>>());
            let share = (0..4000).filter(seems).count() as f64 / 4000.0;
            assert!(share < 0.035 && share > 0.005, "{length}: {share}");
        }
    }
}
