//! Estimates from the order of consecutive values.

use crate::sample::mean;

/// The end of the transient at the start of a series: the number of leading samples to leave out so
/// that the mean of the rest is known best (MSER-5; White 1997). It is the truncation that
/// minimises variance / count of the rest, in groups of five. `None` if that is in the second half
/// (no steady part was reached) or there are fewer than ten samples.
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
