//! What consecutive values say about each other.

use crate::sample::mean;

/// How many independent values a correlated series is worth: n / (1 + 2 x sum of autocorrelations),
/// the sum cut where a pair of neighbouring lags turns negative (Geyer 1992). Never above n
/// (negative correlation earns nothing), never below 1.
pub fn effective_sample_size(samples: &[f64]) -> f64 {
    let n = samples.len() as f64;
    if samples.len() < 3 {
        return n;
    }
    let centre = mean(samples);
    let centred: Vec<f64> = samples.iter().map(|x| x - centre).collect();
    let covariance =
        |lag: usize| centred.iter().zip(&centred[lag..]).map(|(a, b)| a * b).sum::<f64>() / n;
    let variance = covariance(0);
    if variance <= 0.0 {
        return n;
    }
    // Lags are summed in pairs (0 + 1, 2 + 3, ..): for a reversible chain each pair is positive, so
    // the first that is not is noise, and so is all behind it.
    let pairs = (0..samples.len() / 2)
        .map(|pair| (covariance(2 * pair) + covariance(2 * pair + 1)) / variance);
    let sum: f64 = pairs.take_while(|&pair| pair > 0.0).sum();
    (n / (2.0 * sum - 1.0).max(1.0)).max(1.0)
}

/// Where the transient at the start of a series ends: the number of leading samples to leave out so
/// that the mean of the rest is known best (MSER-5; White 1997): the truncation that minimises
/// variance / count of what remains, in groups of five. `None` where that is in the second half (no
/// steady part was reached) or there are fewer than ten samples.
pub fn mser5(samples: &[f64]) -> Option<usize> {
    const GROUP: usize = 5;
    let groups: Vec<f64> = samples.chunks_exact(GROUP).map(mean).collect();
    if groups.len() < 2 {
        return None;
    }
    // From the back, so that mean and squared deviations of what remains are updated and not
    // recomputed (Welford).
    let (mut count, mut centre, mut squares) = (0.0, 0.0, 0.0);
    let mut best = (f64::INFINITY, 0);
    for (cut, &value) in groups.iter().enumerate().rev() {
        count += 1.0;
        let off = value - centre;
        centre += off / count;
        squares += off * (value - centre);
        let score = squares / (count * count);
        // Two groups or fewer agree by chance; equal scores go to the earlier cut.
        if count > 2.0 && score <= best.0 {
            best = (score, cut);
        }
    }
    (2 * best.1 <= groups.len()).then_some(best.1 * GROUP)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn autoregressive(rho: f64, n: usize, seed: u64) -> Vec<f64> {
        let mut random = Random::new(seed);
        let mut state = random.normal();
        let step = |_| {
            state = rho * state + (1.0 - rho * rho).sqrt() * random.normal();
            state
        };
        (0..n).map(step).collect()
    }

    #[test]
    fn effective_size_of_an_autoregressive_series_is_known() {
        for rho in [0.0, 0.5, 0.9] {
            let expected = 20_000.0 * (1.0 - rho) / (1.0 + rho);
            let found = effective_sample_size(&autoregressive(rho, 20_000, 3));
            assert!((found / expected - 1.0).abs() < 0.15, "rho {rho}: {found}, truth {expected}");
        }
    }

    #[test]
    fn effective_size_of_a_constant_is_its_size() {
        assert_eq!(effective_sample_size(&[4.0; 50]), 50.0);
    }

    #[test]
    fn mser_cuts_the_transient_and_nothing_else() {
        let mut samples = autoregressive(0.0, 400, 1);
        for (n, sample) in samples.iter_mut().take(60).enumerate() {
            *sample += 20.0 - n as f64 / 3.0;
        }
        let cut = mser5(&samples).expect("a steady part");
        assert!((45..=75).contains(&cut), "{cut}");
        assert!(mser5(&autoregressive(0.0, 400, 2)).is_some_and(|cut| cut <= 100));
    }

    #[test]
    fn mser_finds_no_steady_part_in_a_ramp_or_in_nothing() {
        let ramp: Vec<f64> = (0..200).map(f64::from).collect();
        assert_eq!(mser5(&ramp), None);
        assert_eq!(mser5(&[1.0; 9]), None);
    }

    /// 1, 2, 3, 4: covariances 1.25, 0.3125, -0.375, -0.5625; the first pair is worth 1.25, the
    /// second is negative; 4 / (2.5 - 1).
    #[test]
    fn effective_sizes_by_hand() {
        for (samples, expected) in [
            (vec![1.0, 2.0, 3.0, 4.0], 4.0 / 1.5),
            (vec![1.0, -1.0, 1.0, -1.0], 4.0),
            (vec![1.0, 2.0], 2.0),
            (vec![1.0, 2.0, 3.0], 3.0),
            // Pairs of lags (6 + 3) / 6, then negative.
            (vec![0.0, 0.0, 0.0, 2.0, 2.0, 2.0], 6.0 / 2.0),
        ] {
            let found = effective_sample_size(&samples);
            assert!((found - expected).abs() < 1e-12, "{samples:?}: {found}");
        }
    }

    #[test]
    fn the_cut_is_in_the_first_half_and_of_more_than_two_groups() {
        let groups =
            |means: &[f64]| -> Vec<f64> { means.iter().flat_map(|mean| [*mean; 5]).collect() };
        for (means, cut) in [
            (&[9.0, 8.0, 9.0, 0.0, 0.0, 0.0][..], Some(15)),
            (&[9.0, 8.0, 9.0, 8.0, 0.0, 0.0, 0.0], None),
            (&[9.0, 0.0, 0.0, 0.0], Some(5)),
            // The two last agree, but two are too few to tell.
            (&[9.0, 5.0, 0.0, 0.0], Some(5)),
            (&[1.0, 1.0, 1.0, 1.0, 1.0], Some(0)),
            (&[3.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0], Some(5)),
            (&[1.0, 1.0], Some(0)),
            (&[1.0], None),
        ] {
            assert_eq!(mser5(&groups(means)), cut, "{means:?}");
        }
    }
}
