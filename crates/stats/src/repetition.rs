//! The interval of a repetition: where the figure of the same work, done again, would lie 95 times of
//! 100, told from rounds of that work that lie apart.

use crate::sample::{mean, variance};
use crate::student_t;

/// Fewer rounds tell nothing of how they differ.
const FEWEST: usize = 3;
/// Rounds that agree to less than this share do so by luck, or by the grain of the clock.
const LEAST: f64 = 0.001;

/// Half the width of the 95 % interval of a repetition, in the logarithm of the rate: of `R` rounds
/// with the standard deviation `s` of their logarithms, `t(R - 1) s sqrt(2 / R)`, as both this run and
/// the next one are means of `R` rounds. `None` of fewer than three, or of one that is no positive
/// number.
pub fn repetition_half_width(rates: &[f64]) -> Option<f64> {
    if rates.len() < FEWEST || !rates.iter().all(|rate| rate.is_finite() && *rate > 0.0) {
        return None;
    }
    let logarithms: Vec<f64> = rates.iter().map(|rate| rate.ln()).collect();
    let rounds = rates.len() as f64;
    let spread = variance(&logarithms).sqrt();
    Some((student_t(0.975, rounds - 1.0) * spread * (2.0 / rounds).sqrt()).max(LEAST))
}

/// The geometric mean of these rates, which are positive.
pub fn typical_rate(rates: &[f64]) -> f64 {
    mean(&rates.iter().map(|rate| rate.ln()).collect::<Vec<_>>()).exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    #[test]
    fn it_holds_the_figure_of_the_next_run() {
        // Runs of a machine whose rate wanders: each round has its own level.
        let mut random = Random::after(42, 0);
        let mut run = |rounds: usize| -> Vec<f64> {
            let level = |random: &mut Random| {
                let normal: f64 = (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
                1000.0 * (0.1 * normal).exp()
            };
            (0..rounds).map(|_| level(&mut random)).collect()
        };
        for rounds in [3, 5, 8, 12] {
            let held = (0..4000).filter(|_| {
                let (this, next) = (run(rounds), run(rounds));
                let half = repetition_half_width(&this).unwrap();
                (typical_rate(&this) / typical_rate(&next)).ln().abs() <= half
            });
            let share = held.count() as f64 / 4000.0;
            assert!((0.93..=0.965).contains(&share), "{rounds} rounds: {share}");
        }
    }

    #[test]
    fn two_rounds_or_a_rate_that_is_none_tell_nothing() {
        assert_eq!(repetition_half_width(&[1.0, 2.0]), None);
        assert_eq!(repetition_half_width(&[1.0, 2.0, 0.0]), None);
        assert_eq!(repetition_half_width(&[1.0, 2.0, f64::NAN]), None);
        assert_eq!(repetition_half_width(&[5.0, 5.0, 5.0]), Some(LEAST));
    }
}
