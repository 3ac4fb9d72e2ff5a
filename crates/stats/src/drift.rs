/// Change of a rate over its last five windows, as shares of their mean (SNIA PTS,
/// docs/field/statistics.md#snia-pts).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift {
    /// (largest - smallest) / mean.
    pub range: f64,
    /// Rise of the least-squares line from the first of the five windows to the last, over the
    /// mean; negative if the rate falls.
    pub slope: f64,
}

/// The number of rounds SNIA's definition looks at.
pub(crate) const ROUNDS: usize = 5;

impl Drift {
    /// SNIA's definition of steady state (range within 20 %, slope within 10 %) for windows that are
    /// fifths of a run whose mean is known to `relative_half_width` (95 %) only: what that uncertainty explains is no drift. A fifth then has the relative
    /// standard error s = half-width / 1.96 x sqrt(5); 95 % of the ranges of five such values are
    /// below 3.86 s (studentised range), and of the slopes below 1.96 x 4 / sqrt(10) s. Without
    /// this, noise alone would fail every other look at a rate known to 10 %.
    pub fn is_steady_within(&self, relative_half_width: f64) -> bool {
        let error = relative_half_width / 1.96 * (ROUNDS as f64).sqrt();
        self.range <= f64::max(0.20, 3.86 * error)
            && self.slope.abs() <= f64::max(0.10, 2.48 * error)
    }
}

/// The drift of the last five of `rates`; `None` where there are fewer, or their mean is not a
/// positive number.
pub fn drift(rates: &[f64]) -> Option<Drift> {
    let last = rates.last_chunk::<ROUNDS>()?;
    let mean = last.iter().sum::<f64>() / ROUNDS as f64;
    if !(mean.is_finite() && mean > 0.0) {
        return None;
    }
    let highest = last.iter().copied().fold(f64::MIN, f64::max);
    let lowest = last.iter().copied().fold(f64::MAX, f64::min);
    // Least squares on x = -2..2: slope per window = sum(x y) / sum(x x), and sum(x x) = 10.
    let per_window =
        last.iter().zip([-2.0, -1.0, 0.0, 1.0, 2.0]).map(|(y, x)| x * y).sum::<f64>() / 10.0;
    Some(Drift { range: (highest - lowest) / mean, slope: per_window * (ROUNDS - 1) as f64 / mean })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rates: [f64; 5], range: f64, slope: f64, steady: bool) {
        let found = drift(&rates).expect("five rates");
        assert!((found.range - range).abs() < 1e-12, "{rates:?}: {found:?}");
        assert!((found.slope - slope).abs() < 1e-12, "{rates:?}: {found:?}");
        assert_eq!(found.is_steady_within(0.0), steady, "{rates:?}: {found:?}");
    }

    /// SNIA's rule at its edges, by hand: the line of 95..105 gains exactly 10 % from end to end.
    #[test]
    fn snia_limits() {
        check([100.0; 5], 0.0, 0.0, true);
        check([95.0, 97.5, 100.0, 102.5, 105.0], 0.10, 0.10, true);
        check([94.0, 97.0, 100.0, 103.0, 106.0], 0.12, 0.12, false);
        check([106.0, 103.0, 100.0, 97.0, 94.0], 0.12, -0.12, false);
        check([90.0, 110.0, 100.0, 110.0, 90.0], 0.20, 0.0, true);
        check([89.0, 111.0, 100.0, 111.0, 89.0], 0.22, 0.0, false);
    }

    #[test]
    fn only_the_last_five_count() {
        assert_eq!(drift(&[1.0; 4]), None);
        assert_eq!(drift(&[9.0, 1.0, 1.0, 1.0, 1.0, 1.0]), Some(Drift { range: 0.0, slope: 0.0 }));
        assert_eq!(drift(&[0.0; 5]), None);
        assert_eq!(drift(&[1.0, 1.0, f64::NAN, 1.0, 1.0]), None);
    }

    #[test]
    fn differences_within_the_noise_are_no_drift() {
        let wandering = Drift { range: 0.3, slope: 0.15 };
        assert!(!wandering.is_steady_within(0.0));
        assert!(!wandering.is_steady_within(0.05));
        assert!(wandering.is_steady_within(0.10));
        // A rate known to 10 %: s = 0.1 / 1.96 x sqrt(5) = 0.11408, 3.86 s = 0.44036, 2.48 s =
        // 0.28293.
        for (range, slope, is_steady) in [
            (0.440, 0.0, true),
            (0.441, 0.0, false),
            (0.0, 0.2829, true),
            (0.0, 0.2830, false),
            (0.0, -0.2830, false),
        ] {
            assert_eq!(Drift { range, slope }.is_steady_within(0.10), is_steady, "{range} {slope}");
        }
        // What is known well leaves SNIA's limits as they are.
        let is_steady = |range, slope| Drift { range, slope }.is_steady_within(0.01);
        assert!(is_steady(0.2, 0.1) && !is_steady(0.21, 0.0));
    }
}
