//! Comparison of two groups of runs: the ratio of their results and its interval.

use crate::sample::mean;
use crate::{Interval, of_long_run};

mod spread;

use spread::Spread;

/// The result of one run and the uncertainty that the run itself reports.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunRate {
    /// A rate or a time, positive.
    pub rate: f64,
    /// Half the width of the 95 % interval of this run's level, in the logarithm.
    pub half_width: Option<f64>,
    /// Degrees of freedom of that interval where it comes from rounds; `None` of a single stretch.
    pub degrees: Option<f64>,
}

impl RunRate {
    /// A run whose uncertainty is unknown.
    pub fn bare(rate: f64) -> RunRate {
        RunRate { rate, half_width: None, degrees: None }
    }

    /// A run of several rounds, from half the width of the interval of a repetition (in the
    /// logarithm; see [`crate::repetition`]), which is of the difference of two such runs.
    pub fn of_rounds(rate: f64, repetition: f64, degrees: f64) -> RunRate {
        let half_width = Some(of_long_run(repetition));
        RunRate { rate, half_width, degrees: Some(degrees) }
    }

    /// The time of a rate, or the rate of a time.
    pub fn inverted(self) -> RunRate {
        RunRate { rate: 1.0 / self.rate, ..self }
    }
}

/// The ratio A / B of the results of runs of A and of B.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RatioEstimate {
    /// Geometric mean of A over geometric mean of B.
    pub ratio: f64,
    /// The 95 % confidence interval of the ratio.
    pub ci95: Interval,
    /// The larger of the two, if the interval decides it.
    pub judgement: LargerRate,
    spread: Spread,
}

/// The larger of two results, if the interval decides it (docs/field/statistics.md#comparing-runs).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LargerRate {
    /// A is larger than B.
    Larger,
    /// A is smaller than B.
    Smaller,
    /// They differ by less than 10 %, with 95 % confidence.
    Same,
    /// There are too few runs, or they vary too much, to decide.
    Unclear,
}

/// Differences below this share are taken for noise unless the intervals of A and B do not even
/// touch.
const NOISE: f64 = 0.10;
/// The variance between runs is pooled with that within them unless an F test at this level finds a
/// difference. At the usual 25 %, intervals of two runs each contain 92 of 100 drawn differences.
const POOLED_FROM: f64 = 0.4;
/// Most additional runs that are worth proposing.
const MAX_RUNS: u32 = 20;

/// Compares the results of runs (rates or times, all positive) of A and B of which nothing else is
/// known, as [`compare_runs`] does. `None` below two runs each; three are the least to be
/// published.
pub fn compare(a: &[f64], b: &[f64]) -> Option<RatioEstimate> {
    let bare = |runs: &[f64]| runs.iter().copied().map(RunRate::bare).collect::<Vec<_>>();
    let is_repeated = a.len().min(b.len()) > 1;
    compare_runs(&bare(a), &bare(b)).filter(|_| is_repeated)
}

/// Compares runs of A and B: the ratio of their geometric means, with its interval.
///
/// - *Two runs or more of each*: Welch's interval (1947) of the logarithms, from the variance
///   between runs. If rounds give the variance within runs and that between them is consistent with
///   it, both are pooled for more degrees of freedom (Bancroft 1944), as two or three runs have
///   few.
/// - *One run of one of both*: its variance is assumed to be that of the other side.
/// - *One run of each*: the runs' own intervals, which do not include changes between runs.
///
/// The interval is never narrower than the variation within runs allows (levels of variance after
/// Kalibera and Jones 2013). `None` without runs, with a value that is not positive, or with one
/// run of each if one has no interval.
pub fn compare_runs(a: &[RunRate], b: &[RunRate]) -> Option<RatioEstimate> {
    let logarithms = [logarithms(a)?, logarithms(b)?];
    let difference = mean(&logarithms[0]) - mean(&logarithms[1]);
    let spread = Spread::of(&logarithms, [a, b])?;
    let half = spread.half_width();
    let ci95 = Interval { low: (difference - half).exp(), high: (difference + half).exp() };
    let ratio = difference.exp();
    let judgement = judge(ratio, ci95, spread.is_apart(difference));
    Some(RatioEstimate { ratio, ci95, judgement, spread })
}

impl RatioEstimate {
    /// True if there is one run of A and one of B: changes between runs are then unknown.
    pub fn is_single(&self) -> bool {
        self.spread.is_single()
    }

    /// Runs to add on each side, at least one, until a difference of 10 % can be detected; where it
    /// can be already, until this ratio can be. `None` if more than 20 are needed.
    pub fn more_runs(&self) -> Option<u32> {
        let (noise, difference) = (NOISE.ln_1p(), self.ratio.ln().abs());
        let is_fine = self.spread.half_width() <= noise && !self.spread.is_single();
        let finer =
            if difference < noise { difference.max(noise - difference) } else { difference };
        self.more_runs_to(if is_fine { finer } else { noise })
    }

    /// Runs to add on each side, at least one, until the ratio can be distinguished from `limit`.
    /// `None` if more than 20 are needed.
    pub fn more_runs_from(&self, limit: f64) -> Option<u32> {
        self.more_runs_to((self.ratio / limit).ln().abs())
    }

    fn more_runs_to(&self, half_width: f64) -> Option<u32> {
        (1..=MAX_RUNS).find(|more| self.spread.with(*more).half_width() < half_width)
    }
}

fn judge(ratio: f64, ci95: Interval, disjoint: bool) -> LargerRate {
    let noise = Interval { low: 1.0 / (1.0 + NOISE), high: 1.0 + NOISE };
    if !ci95.contains(1.0) && (disjoint || !noise.contains(ratio)) {
        if ratio > 1.0 { LargerRate::Larger } else { LargerRate::Smaller }
    } else if noise.contains(ci95.low) && noise.contains(ci95.high) {
        LargerRate::Same
    } else {
        LargerRate::Unclear
    }
}

fn logarithms(runs: &[RunRate]) -> Option<Vec<f64>> {
    let is_usable = |run: &RunRate| run.rate > 0.0 && run.rate.is_finite();
    let usable = !runs.is_empty() && runs.iter().all(is_usable);
    usable.then(|| runs.iter().map(|run| run.rate.ln()).collect())
}

#[cfg(test)]
mod tests;
