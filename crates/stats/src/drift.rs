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
