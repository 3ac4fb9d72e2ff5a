//! Outliers: values that differ from all others of their kind.

use crate::median;

/// Fewest other values that a value is compared with.
pub const MIN_OTHERS: usize = 5;
/// One in this many of the other values is left out at each end: these may be outliers too.
const CUT: usize = 10;
/// A value is an outlier if its distance from the median of the others is more than this many times
/// the range of the rest of them, in logarithms ..
const RANGES: f64 = 3.0;
/// .. and more than this divided by their number: the range of a few values is often too small.
const RANGES_OF_FEW: f64 = 15.0;
/// .. and if it is at least this many times larger or smaller: values that repeat to a percent have
/// next to no range.
const MIN_RATIO: f64 = 1.25;

/// A value that is far from all others of its sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlier {
    /// Place of the value in the sample, from 0.
    pub place: usize,
    /// The value over the median of the others: 0.5 is half of it.
    pub ratio: f64,
    /// Median of the others.
    pub median: f64,
    /// Lowest and highest of the others, without the tenth of them at each end.
    pub middle: [f64; 2],
    /// Number of the others.
    pub others: usize,
}

/// Outliers among `values`, in their order. Values are compared as ratios; those that are not
/// positive and finite are left out. Empty if a value has fewer than [`MIN_OTHERS`] others.
pub fn outliers(values: &[f64]) -> Vec<Outlier> {
    let is_usable = |value: f64| value.is_finite() && value > 0.0;
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| is_usable(*value)).collect();
    sorted.sort_by(f64::total_cmp);
    if sorted.len() <= MIN_OTHERS {
        return Vec::new();
    }
    let outlier = |(place, value): (usize, &f64)| {
        let own = sorted.binary_search_by(|other| other.total_cmp(value)).ok()?;
        let other = |at: usize| sorted[if at < own { at } else { at + 1 }];
        let others = sorted.len() - 1;
        let cut = others / CUT;
        let middle = [other(cut), other(others - 1 - cut)];
        let median = median(&mut [other((others - 1) / 2), other(others / 2)])?;
        let ratio = value / median;
        let ranges = RANGES + RANGES_OF_FEW / others as f64;
        let least = MIN_RATIO.ln().max(ranges * (middle[1] / middle[0]).ln());
        (ratio.ln().abs() > least).then_some(Outlier { place, ratio, median, middle, others })
    };
    values.iter().enumerate().filter(|(_, value)| is_usable(**value)).filter_map(outlier).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    /// Values around 100 whose logarithms spread as `noise` does.
    fn drawn(count: usize, mut noise: impl FnMut() -> f64) -> Vec<f64> {
        (0..count).map(|_| 100.0 * (0.08 * noise()).exp()).collect()
    }

    #[test]
    fn one_that_is_three_times_slower_is_found_among_thirty() {
        let mut random = Random::new(1);
        let mut values = drawn(30, || random.normal());
        values[17] /= 3.0;
        let found = outliers(&values);
        assert_eq!(found.iter().map(|it| it.place).collect::<Vec<_>>(), [17]);
        let found = found[0];
        assert!((0.25..0.45).contains(&found.ratio) && found.others == 29, "{found:?}");
        assert!(found.middle[0] < found.median && found.median < found.middle[1], "{found:?}");
    }

    #[test]
    fn several_bad_ones_do_not_hide_each_other() {
        let mut random = Random::new(2);
        let mut values = drawn(30, || random.normal());
        values.iter_mut().take(3).for_each(|value| *value /= 3.0);
        assert_eq!(outliers(&values).iter().map(|it| it.place).collect::<Vec<_>>(), [0, 1, 2]);
    }

    #[test]
    fn few_or_equal_ones_are_not_named() {
        assert_eq!(outliers(&[100.0, 100.0, 100.0, 100.0, 20.0]), []);
        assert_eq!(outliers(&[100.0, 100.0, 100.0, 100.0, 100.0, 20.0]).len(), 1);
        assert_eq!(outliers(&[100.0, 100.0, 100.0, 100.0, 100.0, 85.0]), []);
        assert_eq!(outliers(&[0.0, f64::NAN, -1.0, 100.0, 100.0, 100.0, 100.0, 100.0]), []);
    }

    #[test]
    fn equal_ones_are_seldom_named() {
        let mut random = Random::new(3);
        let mut laplace = Random::new(4);
        for (count, times) in [(6, 4000), (12, 1000), (500, 20)] {
            let (mut normal, mut wide) = (0, 0);
            for _ in 0..times {
                normal += outliers(&drawn(count, || random.normal())).len();
                let noise = || {
                    let size = -(1.0 - laplace.unit()).ln();
                    if laplace.below(2) == 0 { size } else { -size }
                };
                wide += outliers(&drawn(count, noise)).len();
            }
            let all = (count * times) as f64;
            // Ten figures of a medium are looked at.
            assert!(10.0 * normal as f64 / all < 0.01, "{normal} of {all} with {count}");
            assert!(10.0 * wide as f64 / all < 0.02, "{wide} of {all} with {count}");
        }
    }
}
