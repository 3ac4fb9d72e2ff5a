use crate::median;

/// A sample that falls into a fast and a slow part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Modes {
    /// Values up to here are fast: halfway (geometrically) between the slowest fast value and the
    /// fastest slow one.
    pub threshold: f64,
    /// The share of fast values, 0..1.
    pub fast_share: f64,
    /// Median of the fast values.
    pub fast_median: f64,
    /// Median of the slow values.
    pub slow_median: f64,
    /// How much of the variance of the logarithm the split explains, 0..1 (a normal distribution
    /// cut in two: 0.64).
    pub explained: f64,
}

/// Each part needs this many values...
const FEWEST: usize = 3;
/// ...the medians this ratio...
const RATIO: f64 = 2.0;
/// ...and the split has to explain this much; uniform logarithms come to 0.75.
const EXPLAINED: f64 = 0.85;

/// Splits positive values in two where the logarithms of the parts differ most (Otsu 1979): "80 %
/// take 1 ms, the others 900 ms" (docs/field/statistics.md#change-points). `None` where one hump
/// describes them as well, or a value is not positive. Order does not matter.
pub fn split_modes(samples: &[f64]) -> Option<Modes> {
    if samples.len() < 2 * FEWEST || samples.iter().any(|&x| !(x > 0.0 && x.is_finite())) {
        return None;
    }
    let mut sorted = samples.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let logs: Vec<f64> = sorted.iter().map(|x| x.ln()).collect();
    let (cut, explained) = otsu(&logs)?;
    let threshold = (sorted[cut - 1] * sorted[cut]).sqrt();
    let fast_share = cut as f64 / sorted.len() as f64;
    let (fast, slow) = sorted.split_at_mut(cut);
    let modes = Modes {
        threshold,
        fast_share,
        fast_median: median(fast)?,
        slow_median: median(slow)?,
        explained,
    };
    (explained >= EXPLAINED && modes.slow_median >= RATIO * modes.fast_median).then_some(modes)
}

/// The split of sorted values that explains most of their variance: the size of the lower part, and
/// the share explained.
fn otsu(sorted: &[f64]) -> Option<(usize, f64)> {
    let n = sorted.len() as f64;
    let centre = sorted.iter().sum::<f64>() / n;
    let variance = sorted.iter().map(|x| (x - centre).powi(2)).sum::<f64>() / n;
    let mut below = 0.0;
    let mut best = None;
    for (size, value) in (1..).zip(sorted) {
        below += value - centre;
        if size < FEWEST || sorted.len() - size < FEWEST {
            continue;
        }
        // Between-class variance, from the lower part's sum about the common mean alone.
        let share = size as f64 / n;
        let between = (below / n).powi(2) / (share * (1.0 - share));
        if best.is_none_or(|(_, most)| between > most) {
            best = Some((size, between));
        }
    }
    best.filter(|_| variance > 0.0).map(|(size, between)| (size, between / variance))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn a_bypass_and_its_merges_are_told_apart() {
        let mut random = Random::new(5);
        let mut draw = |n: usize| {
            let cost = if n.is_multiple_of(5) { 900.0 } else { 20.0 };
            cost * (0.15 * random.normal()).exp()
        };
        let samples: Vec<f64> = (0..1000).map(&mut draw).collect();
        let modes = split_modes(&samples).expect("two modes");
        assert_eq!(modes.fast_share, 0.8);
        assert!((modes.fast_median / 20.0 - 1.0).abs() < 0.03, "{modes:?}");
        assert!((modes.slow_median / 900.0 - 1.0).abs() < 0.03, "{modes:?}");
        assert!((40.0..500.0).contains(&modes.threshold), "{modes:?}");
    }

    #[test]
    fn one_slow_operation_of_a_hundred_is_found() {
        let samples: Vec<f64> = (0..400).map(|n| if n % 100 == 0 { 50.0 } else { 1.0 }).collect();
        assert_eq!(split_modes(&samples).map(|m| m.fast_share), Some(0.99));
    }

    #[test]
    fn one_hump_is_not_split_however_wide() {
        for sigma in [0.01, 0.2, 1.0, 2.0] {
            let mut random = Random::new(9);
            let samples: Vec<f64> = (0..500).map(|_| (sigma * random.normal()).exp()).collect();
            assert_eq!(split_modes(&samples), None, "sigma {sigma}");
        }
        assert_eq!(split_modes(&[3.0; 40]), None);
        assert_eq!(split_modes(&[0.0, 0.0, 0.0, 5.0, 5.0, 5.0]), None);
    }

    #[test]
    fn three_of_each_twice_as_long_and_well_apart() {
        let e = |log: f64| log.exp();
        let wide = |off: f64| [e(-off), 1.0, e(off), e(5.0 - off), e(5.0), e(5.0 + off)];
        for (samples, is_split) in [
            (&[1.0, 1.0, 1.0, 2.0, 2.0, 2.0][..], true),
            (&[1.0, 1.0, 1.0, 1.99, 1.99, 1.99], false),
            (&[1.0, 1.0, 9.0, 9.0, 9.0], false),
            (&[1.0, 1.0, 9.0, 9.0, 9.0, 9.0], false),
            // Of the variance 25 / 4 + 2 off^2 / 3 the split explains 0.856 and 0.847.
            (&wide(1.256), true),
            (&wide(1.3), false),
            (&[1.0, 1.0, 1.0, 9.0, 9.0, f64::INFINITY], false),
            (&[0.0, 1.0, 1.0, 9.0, 9.0, 9.0], false),
        ] {
            assert_eq!(split_modes(samples).is_some(), is_split, "{samples:?}");
        }
        let modes = split_modes(&[1.0, 2.0, 3.0, 48.0, 50.0, 60.0, 70.0]).expect("two modes");
        assert_eq!((modes.threshold, modes.fast_median, modes.slow_median), (12.0, 2.0, 55.0));
        assert!((modes.fast_share - 3.0 / 7.0).abs() < 1e-12);
    }
}
