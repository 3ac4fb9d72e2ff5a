//! Uncertainty of a difference of means of runs: the variance between runs and within them.

use super::{POOLED_FROM, RunRate};
use crate::repetition::KNOWN;
use crate::sample::{mean, variance};
use crate::student::f_upper_tail;
use crate::student_t;

/// The variance of one run of a side, in the logarithm of its rate.
#[derive(Debug, Clone, Copy, PartialEq)]
struct RunVariance {
    value: f64,
    degrees: f64,
}

impl RunVariance {
    /// Both as estimates of one variance.
    fn pooled(self, other: RunVariance) -> RunVariance {
        let degrees = self.degrees + other.degrees;
        let value = (self.value * self.degrees + other.value * other.degrees) / degrees;
        RunVariance { value, degrees }
    }
}

/// Variances of the runs of two sides, as far as they are known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Spread {
    runs: [f64; 2],
    /// From the differences between runs; `None` for a single run of each side.
    between: Option<[RunVariance; 2]>,
    /// From the runs' own intervals; `None` if a run has none.
    within: Option<[RunVariance; 2]>,
}

impl Spread {
    /// Variances from the logarithms of the runs' rates and from the runs; `None` if neither kind
    /// is known.
    pub fn of(logarithms: &[Vec<f64>; 2], runs: [&[RunRate]; 2]) -> Option<Spread> {
        let within = within(runs[0]).zip(within(runs[1])).map(<[RunVariance; 2]>::from);
        let has_rounds = runs.concat().iter().all(|run| run.degrees.is_some());
        let between = between(logarithms).map(|between| match within {
            Some(within) if has_rounds && is_consistent(between, within) => {
                [between[0].pooled(within[0]), between[1].pooled(within[1])]
            }
            _ => between,
        });
        let runs = runs.map(|runs| runs.len() as f64);
        (between.is_some() || within.is_some()).then_some(Spread { runs, between, within })
    }

    /// Half the width of the 95 % interval of the difference of both means.
    pub fn half_width(&self) -> f64 {
        if self.is_single() {
            let of_side = |within| self.of_mean(within, 0).hypot(self.of_mean(within, 1));
            return self.within.map_or(0.0, of_side);
        }
        let of = |sides: Option<_>| sides.map_or(0.0, |sides| self.satterthwaite(sides));
        of(self.between).max(of(self.within))
    }

    /// True if there is one run of each.
    pub fn is_single(&self) -> bool {
        self.runs == [1.0; 2]
    }

    /// True if the intervals of both means, `difference` apart, do not touch; always false for a
    /// single run.
    pub fn is_apart(&self, difference: f64) -> bool {
        let touch = |sides| self.of_mean(sides, 0) + self.of_mean(sides, 1) >= difference.abs();
        !self.runs.contains(&1.0) && self.between.is_some_and(|sides| !touch(sides))
    }

    /// The same with so many more runs of each, which vary as these.
    pub fn with(&self, more: u32) -> Spread {
        let more = f64::from(more);
        let runs = self.runs.map(|runs| runs + more);
        let between = self.between.or(self.within).map(|sides| {
            [0, 1].map(|side| {
                let own = if self.runs[side] > 1.0 { sides[side].degrees } else { 0.0 };
                RunVariance { degrees: own + more, ..sides[side] }
            })
        });
        let within = self.within.map(|sides| {
            [0, 1].map(|side| {
                let degrees = sides[side].degrees * runs[side] / self.runs[side];
                RunVariance { degrees, ..sides[side] }
            })
        });
        Spread { runs, between, within }
    }

    /// Half the width of the interval of the mean of one side.
    fn of_mean(&self, sides: [RunVariance; 2], side: usize) -> f64 {
        let RunVariance { value, degrees } = sides[side];
        student_t(0.975, degrees) * (value / self.runs[side]).sqrt()
    }

    /// Half the width of the interval of the difference, with the degrees of freedom of Welch and
    /// Satterthwaite; those of one side where the other is taken to vary as it does.
    fn satterthwaite(&self, sides: [RunVariance; 2]) -> f64 {
        let of_means = [0, 1].map(|side| sides[side].value / self.runs[side]);
        let both: f64 = of_means.iter().sum();
        if both <= 0.0 {
            return 0.0;
        }
        let share = |side: usize| (of_means[side] / both).powi(2) / sides[side].degrees;
        let degrees = if self.runs.contains(&1.0) {
            sides[0].degrees.min(sides[1].degrees)
        } else {
            1.0 / (share(0) + share(1))
        };
        student_t(0.975, degrees) * both.sqrt()
    }
}

/// The variance of a run of each side by how its runs differ; of a single run that of the other
/// side.
fn between(logarithms: &[Vec<f64>; 2]) -> Option<[RunVariance; 2]> {
    let of_side = |runs: &Vec<f64>| {
        let degrees = runs.len() as f64 - 1.0;
        (degrees > 0.0).then(|| RunVariance { value: variance(runs), degrees })
    };
    let [a, b] = [of_side(&logarithms[0]), of_side(&logarithms[1])];
    Some([a.or(b)?, b.or(a)?])
}

/// True if runs differ no more than what varies within them explains: an F test over both sides.
fn is_consistent(between: [RunVariance; 2], within: [RunVariance; 2]) -> bool {
    let degrees = |sides: [RunVariance; 2]| sides[0].degrees + sides[1].degrees;
    let times = |side: usize| between[side].degrees * between[side].value / within[side].value;
    let f = (times(0) + times(1)) / degrees(between);
    f_upper_tail(f, degrees(between), degrees(within)) > POOLED_FROM
}

/// The mean variance of the runs by their own intervals.
fn within(runs: &[RunRate]) -> Option<RunVariance> {
    let of_run = |run: &RunRate| {
        let degrees = run.degrees.unwrap_or(KNOWN);
        Some((run.half_width? / student_t(0.975, degrees)).powi(2))
    };
    let variances: Vec<f64> = runs.iter().map(of_run).collect::<Option<_>>()?;
    let degrees = runs.iter().map(|run| run.degrees.unwrap_or(KNOWN)).sum();
    Some(RunVariance { value: mean(&variances), degrees })
}
