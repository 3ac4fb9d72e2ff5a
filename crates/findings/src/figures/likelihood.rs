//! Confidence of conclusions: probabilities from the intervals of their figures, and from fits. A
//! figure without an interval has no probability.

/// The share of a standard normal distribution below `z`, good to 1e-7 (Abramowitz & Stegun
/// 7.1.26).
pub(crate) fn normal_share(z: f64) -> f64 {
    if z.is_nan() {
        return 0.0;
    }
    let x = z.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let polynomial = t
        * (0.254_829_592
            + t * (-0.284_496_736
                + t * (1.421_413_741 + t * (-1.453_152_027 + t * 1.061_405_429))));
    let upper = polynomial * (-x * x).exp() / 2.0;
    if z.is_sign_negative() { upper } else { 1.0 - upper }
}

/// Probability that the true figure is above `threshold`, from its 95 % interval. The figure is
/// taken as lognormal: rates and times are positive, and their errors are relative. `None` unless
/// the interval is positive and finite.
pub(crate) fn above(ci95: [f64; 2], threshold: f64) -> Option<f64> {
    let [low, high] = ci95;
    let usable = threshold > 0.0 && high.is_finite() && high >= low && high > 0.0;
    if !usable {
        return None;
    }
    // The lower end is raised, as an interval down to 0 would be infinitely wide in the logarithm.
    let low = low.max(high / 1e6);
    let centre = f64::midpoint(low.ln(), high.ln());
    let sigma = (high / low).ln() / (2.0 * 1.96);
    if sigma == 0.0 {
        return Some(if centre >= threshold.ln() { 1.0 } else { 0.0 });
    }
    Some(normal_share((centre - threshold.ln()) / sigma))
}

/// Probabilities of several fits to the same `n` points, from their squared errors: the normalised
/// profile likelihood of equal, unknown noise. All fits have the same number of `parameters`. Empty
/// for no fits.
pub(crate) fn weights(squared_errors: &[f64], n: usize, parameters: usize) -> Vec<f64> {
    let degrees = n.saturating_sub(parameters) as f64;
    let best = squared_errors.iter().copied().fold(f64::INFINITY, f64::min);
    // A perfect fit leaves no noise to divide by; a share of the worst fit replaces it.
    let grain = squared_errors.iter().copied().fold(f64::MIN_POSITIVE, f64::max) * 1e-9;
    let raw: Vec<f64> =
        squared_errors.iter().map(|e| ((best + grain) / (e + grain)).powf(degrees / 2.0)).collect();
    let sum: f64 = raw.iter().sum();
    raw.into_iter().map(|weight| weight / sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A share to the number of places to which it is known.
    fn answer(question: &str) -> String {
        let (what, numbers) = question.split_once(' ').unwrap();
        let numbers: Vec<f64> = numbers.split(' ').map(|word| word.parse().unwrap()).collect();
        match (what, &numbers[..]) {
            ("normal", [z]) => format!("{:.6}", normal_share(*z)),
            ("above", [threshold, low, high]) => above([*low, *high], *threshold)
                .map_or_else(|| "none".to_owned(), |share| format!("{share:.3}")),
            _ => panic!("{question}: no question to a distribution"),
        }
    }

    #[test]
    fn shares_are_those_of_the_rows() {
        crate::cases::check_rows("src/figures/likelihood/rows.txt", answer);
    }

    #[test]
    fn the_best_fit_weighs_most_and_all_weigh_one() {
        let found = weights(&[1.0, 4.0, 4.0], 12, 2);
        assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-12 && found[0] > 0.99, "{found:?}");
        assert_eq!(weights(&[0.0, 0.0], 5, 2), [0.5, 0.5]);
        // One degree of freedom: the root of how many times smaller the error is, and of a perfect
        // fit that of a milliard.
        for (errors, times) in [([1.0, 4.0], 2.0), ([0.0, 1.0], 31_622.8)] {
            let [best, other] = weights(&errors, 3, 2)[..] else { panic!("two weights") };
            assert!((best / other / times - 1.0).abs() < 1e-5, "{errors:?}: {best} {other}");
        }
    }

    proptest::proptest! {
        #[test]
        fn shares_grow_with_z(a in -8.0..8.0f64, b in -8.0..8.0f64) {
            assert!((a - b) * (normal_share(a) - normal_share(b)) >= -1e-6);
        }
    }
}
