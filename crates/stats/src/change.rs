use crate::sample::mean;

/// A stretch of a series over which its level does not change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Segment {
    /// Index of the first value.
    pub from: usize,
    /// Index after the last value.
    pub to: usize,
    /// The level: the geometric mean of the values.
    pub mean: f64,
}

/// No segment is shorter (docs/field/statistics.md#change-points).
const SHORTEST: usize = 8;
/// Steps smaller than a hundredth are beyond interest, however little noise there is.
const MIN_SIGMA: f64 = 0.01;

/// Cuts a series of positive rates into segments of constant level: the cut that minimises the
/// squared deviations of the logarithms over the noise variance, plus 3 ln n for each segment;
/// exact, by dynamic programming (optimal partitioning, Jackson 2005; quadratic in the number of
/// values, so join to a thousand windows or less first). Segments have at least 8 values; shorter
/// series are one segment, an empty one none. Values that are not positive count as a thousandth of
/// the median.
pub fn change_points(rates: &[f64]) -> Vec<Segment> {
    if rates.is_empty() {
        return Vec::new();
    }
    let logs = logarithms(rates);
    let cuts = best_cuts(&logs, 3.0 * (logs.len() as f64).ln() * noise_variance(&logs));
    let level = |from: usize, to: usize| Segment { from, to, mean: mean(&logs[from..to]).exp() };
    cuts.windows(2).map(|pair| level(pair[0], pair[1])).collect()
}

fn logarithms(rates: &[f64]) -> Vec<f64> {
    let mut positive: Vec<f64> =
        rates.iter().copied().filter(|r| *r > 0.0 && r.is_finite()).collect();
    let floor = crate::median(&mut positive).unwrap_or(1.0) / 1000.0;
    rates.iter().map(|&r| if r.is_finite() { r.max(floor).ln() } else { floor.ln() }).collect()
}

/// The noise about the level, from the median step between neighbours, which a few cliffs do not
/// move.
fn noise_variance(logs: &[f64]) -> f64 {
    let mut steps: Vec<f64> = logs.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
    // The median of |x - y| for two independent normal values is 0.6745 x sqrt(2) sigma.
    let sigma = crate::median(&mut steps).unwrap_or(0.0) / (0.6745 * std::f64::consts::SQRT_2);
    sigma.max(MIN_SIGMA).powi(2)
}

/// The bounds of the cheapest segments, 0 and n included.
fn best_cuts(logs: &[f64], penalty: f64) -> Vec<usize> {
    let n = logs.len();
    let cost = Cost::new(logs);
    // best[end]: the cheapest cut of the first `end` values and where its last segment begins.
    let mut best = vec![(f64::INFINITY, 0); n + 1];
    best[0].0 = -penalty;
    for end in SHORTEST.min(n)..=n {
        for from in (0..=end.saturating_sub(SHORTEST)).filter(|&from| from == 0 || from >= SHORTEST)
        {
            let total = best[from].0 + cost.of(from, end) + penalty;
            if total < best[end].0 {
                best[end] = (total, from);
            }
        }
    }
    let mut cuts = vec![n];
    while let Some(&end) = cuts.last().filter(|&&end| end > 0) {
        cuts.push(best[end].1);
    }
    cuts.reverse();
    cuts
}

/// Squared deviations from the mean of any stretch, in constant time.
struct Cost {
    sums: Vec<(f64, f64)>,
}

impl Cost {
    fn new(values: &[f64]) -> Self {
        let centre = mean(values);
        let mut sums = vec![(0.0, 0.0)];
        let mut sum = (0.0, 0.0);
        for value in values.iter().map(|v| v - centre) {
            sum = (sum.0 + value, sum.1 + value * value);
            sums.push(sum);
        }
        Cost { sums }
    }

    fn of(&self, from: usize, to: usize) -> f64 {
        let (first, last) = (self.sums[from], self.sums[to]);
        let sum = last.0 - first.0;
        (last.1 - first.1 - sum * sum / (to - from) as f64).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn noisy(levels: &[(usize, f64)], sigma: f64, seed: u64) -> Vec<f64> {
        let mut random = Random::new(seed);
        let mut draw = |level: f64| level * (sigma * random.normal()).exp();
        levels.iter().flat_map(|&(n, level)| vec![level; n]).map(&mut draw).collect()
    }

    fn bounds(rates: &[f64]) -> Vec<usize> {
        change_points(rates).iter().map(|segment| segment.to).collect()
    }

    #[test]
    fn a_cache_that_runs_full_twice() {
        let segments = change_points(&noisy(&[(40, 300.0), (60, 80.0), (100, 45.0)], 0.05, 1));
        let ends: Vec<usize> = segments.iter().map(|s| s.to).collect();
        assert_eq!(ends, [40, 100, 200]);
        for (segment, truth) in segments.iter().zip([300.0, 80.0, 45.0]) {
            assert!((segment.mean / truth - 1.0).abs() < 0.03, "{segment:?}");
        }
    }

    #[test]
    fn noise_alone_is_seldom_cut() {
        let cut =
            (0..100).filter(|&seed| bounds(&noisy(&[(200, 50.0)], 0.2, seed)).len() > 1).count();
        assert!(cut <= 5, "{cut} of 100");
    }

    #[test]
    fn invalid_rates_count_as_a_thousandth_of_the_median() {
        let floor = (4.0_f64 / 1000.0).ln();
        for strange in [f64::INFINITY, f64::NAN, 0.0, -3.0] {
            let logs = logarithms(&[strange, 4.0, strange, strange]);
            assert_eq!(logs, [floor, 4.0_f64.ln(), floor, floor], "{strange}");
        }
    }

    /// Steps of 0.3 between neighbours: 0.3 over 0.6745 x sqrt(2); never below a hundredth.
    #[test]
    fn noise_is_estimated_by_the_median_step() {
        for (logs, sigma) in [
            ([0.0, 0.3, 0.0, 0.3, 9.0], 0.314_503_5),
            ([0.0, 0.001, 0.0, 0.001, 0.0], 0.01),
            ([1.0, 1.0, 1.0, 1.0, 1.0], 0.01),
        ] {
            let found = noise_variance(&logs).sqrt();
            assert!((found - sigma).abs() < 1e-6, "{logs:?}: {found}");
        }
    }

    /// Squared deviations from the mean: of 1, 2, 6 these are 4 + 1 + 9.
    #[test]
    fn the_cost_of_a_stretch_by_hand() {
        let cost = Cost::new(&[5.0, 1.0, 2.0, 6.0, 6.0]);
        for (from, to, expected) in [(1, 4, 14.0), (3, 5, 0.0), (0, 2, 8.0)] {
            assert!((cost.of(from, to) - expected).abs() < 1e-12, "{from}..{to}");
        }
    }
}
