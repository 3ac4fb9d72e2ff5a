//! The interval of a repetition: where the figure of the same work, done again, would lie 95 times of
//! 100, told from rounds of that work that lie apart.

#[cfg(test)]
use crate::sample::mean;
use crate::sample::variance;
use crate::student_t;

/// Fewer rounds tell nothing of how they differ.
const FEWEST: usize = 3;
/// Rounds that agree to less than this share do so by luck, or by the grain of the clock.
const LEAST: f64 = 0.001;

/// A round: its rate, and half the width of its own 95 % interval in the logarithm, where it has one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundRate {
    /// Events a second.
    pub rate: f64,
    /// Half the width of its own interval, in the logarithm.
    pub half_width: Option<f64>,
}

/// Half the width of the 95 % interval of a repetition, in the logarithm of the rate: the narrower of
/// two, each of which holds on streams of its kind.
///
/// - *By how rounds differ*: `R` rounds with the standard deviation `s` of their logarithms,
///   `t(R - 1) s sqrt(2 / R)`, as both this run and the next one are means of `R` rounds.
/// - *By what each knows of itself*, where few slow events decide and rounds are of different length:
///   rounds are weighed by their own uncertainty and by what they differ beyond it (DerSimonian and
///   Laird 1986).
///
/// `None` of fewer than three, or of one that is no positive number.
pub fn repetition_half_width(rounds: &[RoundRate]) -> Option<f64> {
    repetition(rounds).map(|found| found.half_width)
}

/// The interval of a repetition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Repetition {
    /// Half its width, in the logarithm of the rate.
    pub half_width: f64,
    /// Degrees of freedom of the variance that it comes from.
    pub degrees: f64,
}

/// The same as [`repetition_half_width`], with its degrees of freedom.
pub fn repetition(rounds: &[RoundRate]) -> Option<Repetition> {
    let is_rate = |round: &RoundRate| round.rate.is_finite() && round.rate > 0.0;
    if rounds.len() < FEWEST || !rounds.iter().all(is_rate) {
        return None;
    }
    let logarithms: Vec<f64> = rounds.iter().map(|round| round.rate.ln()).collect();
    let count = rounds.len() as f64;
    let t = student_t(0.975, count - 1.0);
    let between = t * variance(&logarithms).sqrt() * (2.0 / count).sqrt();
    let errors: Option<Vec<f64>> =
        rounds.iter().map(|round| round.half_width.map(|half| half / NORMAL)).collect();
    let weighed = errors.and_then(|errors| weighed(&logarithms, &errors, t));
    let by_rounds = Repetition { half_width: between, degrees: count - 1.0 };
    let narrower = weighed.filter(|weighed| weighed.half_width < between).unwrap_or(by_rounds);
    Some(Repetition { half_width: narrower.half_width.max(LEAST), ..narrower })
}

/// The 97.5 % quantile of the normal distribution.
const NORMAL: f64 = 1.96;
/// Degrees of freedom of a variance that is as good as known.
pub(crate) const KNOWN: f64 = 1e9;

/// The same from values with the standard error of each.
fn weighed(values: &[f64], errors: &[f64], t: f64) -> Option<Repetition> {
    if !errors.iter().all(|error| error.is_finite() && *error > 0.0) {
        return None;
    }
    let weights: Vec<f64> = errors.iter().map(|error| error.powi(-2)).collect();
    let sum: f64 = weights.iter().sum();
    let squares: f64 = weights.iter().map(|weight| weight * weight).sum();
    let centre =
        values.iter().zip(&weights).map(|(value, weight)| value * weight).sum::<f64>() / sum;
    let excess: f64 = values
        .iter()
        .zip(&weights)
        .map(|(value, weight)| weight * (value - centre).powi(2))
        .sum::<f64>()
        - (values.len() as f64 - 1.0);
    let more = (excess / (sum - squares / sum)).max(0.0);
    let (quantile, degrees) =
        if more > 0.0 { (t, values.len() as f64 - 1.0) } else { (NORMAL, KNOWN) };
    let information: f64 = errors.iter().map(|error| 1.0 / (error * error + more)).sum();
    Some(Repetition { half_width: quantile * (2.0 / information).sqrt(), degrees })
}

/// The geometric mean of these rates, which are positive.
#[cfg(test)]
fn typical_rate(rounds: &[RoundRate]) -> f64 {
    mean(&rounds.iter().map(|round| round.rate.ln()).collect::<Vec<_>>()).exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    #[test]
    fn it_holds_the_figure_of_the_next_run() {
        // Runs of a machine whose rate wanders: each round has its own level.
        let mut random = Random::after(42, 0);
        let mut run = |rounds: usize| -> Vec<RoundRate> {
            let level = |random: &mut Random| {
                let normal: f64 = (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
                let rate = 1000.0 * (0.1 * normal).exp();
                // Its own interval sees a tenth of it.
                RoundRate { rate, half_width: Some(0.02) }
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
        let of = |rates: &[f64]| {
            let round = |rate: &f64| RoundRate { rate: *rate, half_width: None };
            repetition_half_width(&rates.iter().map(round).collect::<Vec<_>>())
        };
        assert_eq!(of(&[1.0, 2.0]), None);
        assert_eq!(of(&[1.0, 2.0, 0.0]), None);
        assert_eq!(of(&[1.0, 2.0, f64::NAN]), None);
        assert_eq!(of(&[5.0, 5.0, 5.0]), Some(LEAST));
    }

    /// A stretch of seconds and four of a quarter of one, in which a rare slow event makes the rate:
    /// that the short ones differ says less than what the long one knows of itself.
    #[test]
    fn short_rounds_do_not_drown_a_long_one() {
        let short = [110.0, 90.0, 120.0, 84.0];
        let mut rounds: Vec<RoundRate> =
            short.iter().map(|rate| RoundRate { rate: *rate, half_width: Some(0.3) }).collect();
        rounds.push(RoundRate { rate: 100.0, half_width: Some(0.05) });
        let half = repetition_half_width(&rounds).unwrap();
        assert!((0.06..0.08).contains(&half), "{half}");
    }
}
