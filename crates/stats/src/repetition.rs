//! The interval of a repetition: the result of the same work, done again, would be inside it 95
//! times of 100. It is computed from rounds of that work that are separated in time.

use crate::sample::variance;
use crate::student_t;

/// The same distance from the figure for a repetition: the next run of the same length errs as much
/// as this one, and independently. Takes and returns distances in the logarithm.
pub fn of_repetition(of_long_run: f64) -> f64 {
    of_long_run * std::f64::consts::SQRT_2
}

/// The distance of the long-run rate from the distance of a repetition, both in the logarithm.
pub fn of_long_run(of_repetition: f64) -> f64 {
    of_repetition / std::f64::consts::SQRT_2
}

/// Standard deviation between rounds beyond their own intervals, in the logarithm of the rate
/// (Paule and Mandel 1982): what the medium or the host changed within the run. `None` for a single
/// round, or if one has no interval.
pub fn drift_between(rounds: &[RoundRate]) -> Option<f64> {
    let errors: Vec<f64> =
        rounds.iter().map(|round| Some(round.half_width? / NORMAL)).collect::<Option<_>>()?;
    let logarithms: Vec<f64> = rounds.iter().map(|round| round.rate.ln()).collect();
    let is_known = |number: &f64| number.is_finite() && *number > 0.0;
    let is_usable = errors.iter().all(is_known) && logarithms.iter().all(|rate| rate.is_finite());
    (rounds.len() > 1 && is_usable).then(|| variance_between(&logarithms, &errors).sqrt())
}

/// Fewest rounds whose differences are used.
const FEWEST: usize = 3;
/// Rounds that agree to less than this share do so by luck, or by the resolution of the clock.
const LEAST: f64 = 0.001;

/// A round: its rate and length, and half the width of its own 95 % interval, where it has one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundRate {
    /// Events per second.
    pub rate: f64,
    /// Duration: the weight of the round in the result. Any unit, the same for all.
    pub length: f64,
    /// Half the width of its own interval, in the logarithm.
    pub half_width: Option<f64>,
}

/// Half the width of the 95 % interval of a repetition, in the logarithm of the rate: the narrower
/// of two, each of which is valid on streams of its kind.
///
/// - *From the differences between rounds*: `R` rounds with the standard deviation `s` of their
///   logarithms, `t(R - 1) s sqrt(2 Σw²)`, as both this run and the next one are means of `R`
///   rounds, each with its share `w` of the time; for rounds of one length that is `t(R - 1) s
///   sqrt(2 / R)`.
/// - *From each round's own interval*, where few slow events decide and rounds are of different
///   length: in place of `s²` the square of each round's own uncertainty, and the variance between
///   rounds beyond it (Paule and Mandel 1982).
///
/// `None` for fewer than three rounds, or if a rate or length is not a positive number.
pub fn repetition_half_width(rounds: &[RoundRate]) -> Option<f64> {
    repetition(rounds).map(|found| found.half_width)
}

/// The interval of a repetition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Repetition {
    /// Half its width, in the logarithm of the rate.
    pub half_width: f64,
    /// Degrees of freedom of its variance.
    pub degrees: f64,
}

/// The same as [`repetition_half_width`], with its degrees of freedom.
pub fn repetition(rounds: &[RoundRate]) -> Option<Repetition> {
    let is_positive = |number: f64| number.is_finite() && number > 0.0;
    let is_usable = |round: &RoundRate| is_positive(round.rate) && is_positive(round.length);
    if rounds.len() < FEWEST || !rounds.iter().all(is_usable) {
        return None;
    }
    let total: f64 = rounds.iter().map(|round| round.length).sum();
    let shares: Vec<f64> = rounds.iter().map(|round| round.length / total).collect();
    let logarithms: Vec<f64> = rounds.iter().map(|round| round.rate.ln()).collect();
    let degrees = rounds.len() as f64 - 1.0;
    let t = student_t(0.975, degrees);
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    let between = t * (2.0 * squares * variance(&logarithms)).sqrt();
    let errors: Option<Vec<f64>> =
        rounds.iter().map(|round| round.half_width.map(|half| half / NORMAL)).collect();
    let weighed = errors.and_then(|errors| weighed(&logarithms, &errors, &shares, t));
    let by_rounds = Repetition { half_width: between, degrees };
    let narrower = weighed.filter(|weighed| weighed.half_width < between).unwrap_or(by_rounds);
    Some(Repetition { half_width: narrower.half_width.max(LEAST), ..narrower })
}

/// The 97.5 % quantile of the normal distribution.
pub const NORMAL: f64 = 1.96;
/// Bisection steps: enough to find a variance to one thousandth of a percent.
const HALVINGS: u32 = 17;
/// Degrees of freedom of a variance that is known exactly.
pub(crate) const KNOWN: f64 = 1e9;

/// The same from values, the standard error of each, and their weights in the result.
fn weighed(values: &[f64], errors: &[f64], shares: &[f64], t: f64) -> Option<Repetition> {
    if !errors.iter().all(|error| error.is_finite() && *error > 0.0) {
        return None;
    }
    let more = variance_between(values, errors);
    let (quantile, degrees) =
        if more > 0.0 { (t, values.len() as f64 - 1.0) } else { (NORMAL, KNOWN) };
    let of_each = errors.iter().zip(shares);
    let of_mean: f64 = of_each.map(|(error, share)| share * share * (error * error + more)).sum();
    Some(Repetition { half_width: quantile * (2.0 * of_mean).sqrt(), degrees })
}

/// The variance of values beyond their own errors: the one at which the sum of their squared
/// deviations from the weighted mean, each over its variance, equals the degrees of freedom (Paule
/// and Mandel 1982).
fn variance_between(values: &[f64], errors: &[f64]) -> f64 {
    let excess = |more: f64| {
        let weights: Vec<f64> = errors.iter().map(|error| 1.0 / (error * error + more)).collect();
        let weighed = values.iter().zip(&weights).map(|(value, weight)| value * weight);
        let centre = weighed.sum::<f64>() / weights.iter().sum::<f64>();
        let squares = values.iter().zip(&weights);
        squares.map(|(value, weight)| weight * (value - centre).powi(2)).sum::<f64>()
            - (values.len() as f64 - 1.0)
    };
    if excess(0.0) <= 0.0 {
        return 0.0;
    }
    // At the whole sum of squares no excess is left, and it falls all the way.
    let (mut low, mut high) = (0.0, variance(values) * values.len() as f64);
    for _ in 0..HALVINGS {
        let middle = (low + high) / 2.0;
        if excess(middle) > 0.0 { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    #[test]
    fn it_holds_the_figure_of_the_next_run() {
        // Runs of a machine whose rate wanders: each round has its own level.
        let mut random = Random::after(42, 0);
        let mut run = |lengths: &[f64]| -> Vec<RoundRate> {
            let level = |length: &f64| {
                let normal: f64 = (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
                let rate = 1000.0 * (0.1 * normal).exp();
                // Its own interval sees a tenth of it.
                RoundRate { rate, length: *length, half_width: Some(0.02) }
            };
            lengths.iter().map(level).collect()
        };
        let figure = |rounds: &[RoundRate]| -> f64 {
            let logarithms = rounds.iter().map(|round| round.length * round.rate.ln());
            logarithms.sum::<f64>() / rounds.iter().map(|round| round.length).sum::<f64>()
        };
        let long_and_short = [4.0, 1.0, 1.0, 1.0, 1.0];
        for lengths in [&[1.0; 3][..], &[1.0; 5], &[1.0; 8], &[1.0; 12], &long_and_short] {
            let held = (0..4000).filter(|_| {
                let (this, next) = (run(lengths), run(lengths));
                let half = repetition_half_width(&this).unwrap();
                (figure(&this) - figure(&next)).abs() <= half
            });
            let share = held.count() as f64 / 4000.0;
            assert!((0.93..=0.965).contains(&share), "{lengths:?}: {share}");
        }
    }

    #[test]
    fn two_rounds_or_an_invalid_rate_give_no_interval() {
        let of = |rates: &[f64]| {
            let round = |rate: &f64| RoundRate { rate: *rate, length: 1.0, half_width: None };
            repetition_half_width(&rates.iter().map(round).collect::<Vec<_>>())
        };
        assert_eq!(of(&[1.0, 2.0]), None);
        assert_eq!(of(&[1.0, 2.0, 0.0]), None);
        assert_eq!(of(&[1.0, 2.0, f64::NAN]), None);
        assert_eq!(of(&[5.0, 5.0, 5.0]), Some(LEAST));
    }

    /// One round of seconds and four of a quarter of a second, in which a rare slow event decides
    /// the rate: the differences of the short rounds say less than the long round's own interval.
    #[test]
    fn short_rounds_do_not_drown_a_long_one() {
        let short = [110.0, 90.0, 120.0, 84.0];
        let round = |rate: &f64| RoundRate { rate: *rate, length: 1.0, half_width: Some(0.3) };
        let mut rounds: Vec<RoundRate> = short.iter().map(round).collect();
        rounds.push(RoundRate { rate: 100.0, length: 36.0, half_width: Some(0.05) });
        let half = repetition_half_width(&rounds).unwrap();
        assert!((0.06..0.08).contains(&half), "{half}");
    }
}
