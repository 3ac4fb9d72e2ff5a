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
    Some((
        mean,
        Interval {
            low: mean - half,
            high: mean + half,
        },
    ))
}

/// The middle value (the mean of the two middle ones for an even count); `None` of nothing. Reorders `samples`.
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

/// The arithmetic mean; NaN of nothing.
pub(crate) fn mean(samples: &[f64]) -> f64 {
    samples.iter().sum::<f64>() / samples.len() as f64
}

/// The unbiased variance; needs two samples.
pub(crate) fn variance(samples: &[f64]) -> f64 {
    let mean = mean(samples);
    samples.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (samples.len() - 1) as f64
}
