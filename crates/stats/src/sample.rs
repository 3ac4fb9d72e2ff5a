//! Small independent samples.

use crate::{Interval, student_t};

/// The mean of independent samples and its 95 % interval by Student's t; `None` below two samples.
pub fn mean_interval(samples: &[f64]) -> Option<(f64, Interval)> {
    if samples.len() < 2 {
        return None;
    }
    let n = samples.len() as f64;
    let mean = mean(samples);
    let half = student_t(0.975, n - 1.0) * (variance(samples) / n).sqrt();
    Some((mean, Interval { low: mean - half, high: mean + half }))
}

/// The geometric mean; `None` for an empty sample. [`crate::compare`] gives the ratio of two of
/// these.
pub fn geometric_mean(samples: &[f64]) -> Option<f64> {
    // Against the first, so that equal samples have exactly their mean.
    let first = *samples.first()?;
    let logarithms: f64 = samples.iter().map(|sample| (sample / first).ln()).sum();
    Some(first * (logarithms / samples.len() as f64).exp())
}

/// The median (the mean of the two middle values for an even count); `None` for an empty sample.
/// Reorders `samples`.
pub fn median(samples: &mut [f64]) -> Option<f64> {
    if samples.is_empty() {
        return None;
    }
    let upper = samples.len() / 2;
    let even = samples.len().is_multiple_of(2);
    let (left, middle, _) = samples.select_nth_unstable_by(upper, f64::total_cmp);
    let middle = *middle;
    let neighbour = left.iter().copied().max_by(f64::total_cmp).filter(|_| even);
    Some(neighbour.map_or(middle, |below| f64::midpoint(below, middle)))
}

/// The arithmetic mean; NaN for an empty sample.
pub(crate) fn mean(samples: &[f64]) -> f64 {
    samples.iter().sum::<f64>() / samples.len() as f64
}

/// The unbiased variance; needs two samples.
pub(crate) fn variance(samples: &[f64]) -> f64 {
    let mean = mean(samples);
    samples.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (samples.len() - 1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_interval_by_hand() {
        // mean 3, variance 2.5, t(0.975, 4) = 2.776445: half-width 2.776445 x sqrt(0.5).
        let (mean, interval) = mean_interval(&[1.0, 2.0, 3.0, 4.0, 5.0]).expect("five samples");
        assert_eq!(mean, 3.0);
        assert!((interval.high - 4.963_243).abs() < 1e-6, "{interval:?}");
        assert!((interval.low - 1.036_757).abs() < 1e-6, "{interval:?}");
        assert_eq!(mean_interval(&[1.0]), None);
    }

    #[test]
    fn median_of_odd_even_and_nothing() {
        assert_eq!(median(&mut []), None);
        assert_eq!(median(&mut [7.0]), Some(7.0));
        assert_eq!(median(&mut [9.0, 1.0, 5.0]), Some(5.0));
        assert_eq!(median(&mut [9.0, 1.0, 5.0, 2.0]), Some(3.5));
    }
}
