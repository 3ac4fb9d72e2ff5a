//! How sure a conclusion may be: probabilities from the intervals of the figures it rests on, and
//! from fits. Nothing here is made up; where a figure has no interval there is no probability.

/// The share of a standard normal distribution below `z`, good to 1e-7 (Abramowitz & Stegun
/// 7.1.26).
pub(crate) fn normal_share(z: f64) -> f64 {
    if !z.is_finite() {
        return if z > 0.0 { 1.0 } else { 0.0 };
    }
    let x = z.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let polynomial = t
        * (0.254_829_592
            + t * (-0.284_496_736
                + t * (1.421_413_741 + t * (-1.453_152_027 + t * 1.061_405_429))));
    let upper = polynomial * (-x * x).exp() / 2.0;
    if z < 0.0 { upper } else { 1.0 - upper }
}

/// The probability that the true figure is above `threshold`, from its 95 % interval, taken for
/// lognormal: rates and times are positive, and their errors are shares of them. `None` for
/// anything that is not a positive finite interval.
pub(crate) fn above(ci95: [f64; 2], threshold: f64) -> Option<f64> {
    let [low, high] = ci95;
    let usable = threshold > 0.0 && high.is_finite() && high >= low && high > 0.0;
    if !usable {
        return None;
    }
    // An interval that reaches down to nothing: as wide as a figure can be without saying nothing
    // at all.
    let low = low.max(high / 1e6);
    let centre = f64::midpoint(low.ln(), high.ln());
    let sigma = (high / low).ln() / (2.0 * 1.96);
    if sigma == 0.0 {
        return Some(if centre >= threshold.ln() { 1.0 } else { 0.0 });
    }
    Some(normal_share((centre - threshold.ln()) / sigma))
}

/// How likely each of several fits to the same `n` points is, from their squared errors: the
/// profile likelihood of equal, unknown noise, normalised. `parameters` of each fit are the same
/// number. Empty for nothing.
pub(crate) fn weights(squared_errors: &[f64], n: usize, parameters: usize) -> Vec<f64> {
    let degrees = n.saturating_sub(parameters) as f64;
    let best = squared_errors.iter().copied().fold(f64::INFINITY, f64::min);
    // A perfect fit leaves no noise to divide by; a share of the worst fit stands for the grain of
    // the figures.
    let grain = squared_errors.iter().copied().fold(0.0, f64::max) * 1e-9 + f64::MIN_POSITIVE;
    let raw: Vec<f64> =
        squared_errors.iter().map(|e| ((best + grain) / (e + grain)).powf(degrees / 2.0)).collect();
    let sum: f64 = raw.iter().sum();
    raw.into_iter().map(|weight| weight / sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_normal_distribution_matches_its_table() {
        for (z, share) in
            [(0.0, 0.5), (1.0, 0.841_345), (1.96, 0.975_002), (-1.96, 0.024_998), (3.0, 0.998_650)]
        {
            assert!((normal_share(z) - share).abs() < 2e-6, "{z}: {}", normal_share(z));
        }
    }

    #[test]
    fn an_interval_that_ends_at_the_threshold_leaves_one_fortieth() {
        assert!((above([90.0, 120.0], 90.0).unwrap() - 0.975).abs() < 1e-3);
        assert!((above([60.0, 90.0], 90.0).unwrap() - 0.025).abs() < 1e-3);
        assert!((above([81.0, 100.0], 90.0).unwrap() - 0.5).abs() < 1e-3);
        assert_eq!(above([5.0, 5.0], 4.0), Some(1.0));
        for [low, high] in [[f64::NAN, 1.0], [2.0, 1.0], [0.0, 0.0], [1.0, f64::INFINITY]] {
            assert_eq!(above([low, high], 1.0), None, "{low} {high}");
        }
    }

    #[test]
    fn the_best_fit_weighs_most_and_all_weigh_one() {
        let found = weights(&[1.0, 4.0, 4.0], 12, 2);
        assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-12 && found[0] > 0.99, "{found:?}");
        assert_eq!(weights(&[0.0, 0.0], 5, 2), [0.5, 0.5]);
    }

    proptest::proptest! {
        #[test]
        fn shares_grow_with_z(a in -8.0..8.0f64, b in -8.0..8.0f64) {
            assert!((a - b) * (normal_share(a) - normal_share(b)) >= -1e-6);
        }
    }
}
