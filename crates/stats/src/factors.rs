//! Analysis of variance: the share of each of several factors in the differences between results.
//! Additive effects by least squares, on grids that may be incomplete, unbalanced and repeated
//! (Scheffe, The Analysis of Variance, 1959, chapters 4 and 5). If results are logarithms of rates,
//! effects are factors by which rates are multiplied.

mod linear;

use std::collections::BTreeMap;

use crate::student::f_upper_tail;
use crate::student_t;
pub use linear::least_squares;
use linear::{Fit, rank};

/// A result and the levels of the factors under which it was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct FactorRun {
    /// The result: the logarithm of a rate.
    pub value: f64,
    /// The variance of the result by the run's own interval; `None` if it has none.
    pub variance: Option<f64>,
    /// Degrees of freedom of that variance; infinite if the variance is known exactly.
    pub degrees: f64,
    /// The level of each factor, from 0; all runs have the same number of factors.
    pub levels: Vec<usize>,
}

/// Source of the intervals of effects.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum EffectBasis {
    /// Differences between repeats of a combination, with so many degrees of freedom.
    Repeats(usize),
    /// The runs' own variances, widened by this factor (1 or more) for effects that do not add up
    /// (Birge, Phys. Rev. 40, 207, 1932).
    Own(f64),
    /// None: no combination has repeats, and not every run has a variance of its own.
    Nothing,
}

/// The effect of one factor.
#[derive(Debug, Clone, PartialEq)]
pub enum FactorEffect {
    /// Its effect can be separated from those of the other factors.
    Known(LevelEffects),
    /// It cannot be separated: it changes together with these other factors (their numbers).
    Confounded(Vec<usize>),
}

/// The effects of the levels of a factor.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelEffects {
    /// Effect of each level; their mean is 0.
    pub levels: Vec<f64>,
    /// The level with the largest effect.
    pub highest: usize,
    /// The level with the smallest.
    pub lowest: usize,
    /// Difference between the largest and the smallest effect.
    pub range: f64,
    /// Half the width of its 95 % interval. With more than two levels the pair is chosen after
    /// looking, so Bonferroni's correction over all pairs applies. `None` without a source of
    /// intervals.
    pub half_width: Option<f64>,
    /// The same difference, `range`, at each combination of the other factors' levels that has both
    /// levels.
    pub simple: Vec<SimpleEffect>,
}

/// The difference between two levels of a factor while all others stay the same.
#[derive(Debug, Clone, PartialEq)]
pub struct SimpleEffect {
    /// Levels of all factors; the factor itself has its highest level.
    pub at: Vec<usize>,
    /// Difference from the lowest level to the highest.
    pub difference: f64,
    /// Half the width of its 95 % interval; `None` without a source of intervals.
    pub half_width: Option<f64>,
}

/// The results with the same levels of all factors.
#[derive(Debug, Clone, PartialEq)]
pub struct CombinationMean {
    /// The level of each factor.
    pub levels: Vec<usize>,
    /// Number of results.
    pub runs: usize,
    /// Their mean.
    pub mean: f64,
    /// Half the width of its 95 % interval; `None` without a source of intervals.
    pub half_width: Option<f64>,
}

/// Interaction of two factors: difference between the effects of the first factor at two levels of
/// the second, all other factors being equal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CrossEffect {
    /// The difference between the two differences, 0 or more.
    pub difference: f64,
    /// Half the width of its 95 % interval (Bonferroni's correction over all choices), never
    /// widened for effects that do not add up; `None` without a source of intervals.
    pub half_width: Option<f64>,
}

/// Result of the test for interaction: do effects depend on each other?
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Interaction {
    /// Not tested: there are no repeats, or no more combinations than effects.
    NotTested,
    /// The test does not reject that effects add up; its p-value.
    NotShown(f64),
    /// The test rejects that effects add up; its p-value.
    Shown(f64),
}

/// The effects of all factors.
#[derive(Debug, Clone, PartialEq)]
pub struct FactorFit {
    /// Effect of each factor, in the order of the factors.
    pub factors: Vec<FactorEffect>,
    /// Source of the intervals.
    pub basis: EffectBasis,
    /// Result of the test for interaction.
    pub interaction: Interaction,
    /// The largest interaction of the first two factors; `None` if no four combinations cross.
    pub crossed: Option<CrossEffect>,
    /// All combinations, in the order of the runs.
    pub combinations: Vec<CombinationMean>,
    /// Largest distance of the mean of a combination from the sum of effects.
    pub largest_departure: f64,
    /// Difference between the highest and the lowest mean of a combination.
    pub range: f64,
}

/// Significance level: a test with a smaller p-value rejects.
const REJECTS: f64 = 0.05;

/// Effects of factors with these numbers of `levels`. `None` if nothing can be fitted: fewer than
/// two runs, a value that is not finite, a level outside its factor.
pub fn factor_effects(runs: &[FactorRun], levels: &[usize]) -> Option<FactorFit> {
    let fits = |run: &FactorRun| {
        run.value.is_finite()
            && run.levels.len() == levels.len()
            && run.levels.iter().zip(levels).all(|(level, many)| level < many)
    };
    if runs.len() < 2 || !runs.iter().all(fits) {
        return None;
    }
    let data = Data::of(runs, levels)?;
    Some(FactorFit {
        factors: (0..levels.len()).map(|factor| data.effect(factor)).collect(),
        basis: data.basis,
        interaction: data.interaction(),
        crossed: data.crossed(),
        combinations: data.combinations.iter().map(|of| data.mean_of(of)).collect(),
        largest_departure: data.largest_departure(),
        range: data.range(),
    })
}

/// Runs of one combination.
struct Combination {
    levels: Vec<usize>,
    runs: Vec<usize>,
    mean: f64,
}

struct Data<'a> {
    runs: &'a [FactorRun],
    levels: &'a [usize],
    combinations: Vec<Combination>,
    fit: Fit,
    basis: EffectBasis,
    /// Variance of a run by repeats; 0 without repeats.
    repeats_variance: f64,
    /// Own variances of the runs, if all runs have one.
    own: Option<Vec<f64>>,
}

impl<'a> Data<'a> {
    fn of(runs: &'a [FactorRun], levels: &'a [usize]) -> Option<Data<'a>> {
        let values: Vec<f64> = runs.iter().map(|run| run.value).collect();
        let all: Vec<usize> = (0..levels.len()).collect();
        let rows: Vec<Vec<f64>> = runs.iter().map(|run| row(&run.levels, levels, &all)).collect();
        let fit = Fit::of(&rows, &values)?;
        let combinations = combinations(runs);
        let within: f64 = combinations
            .iter()
            .flat_map(|of| of.runs.iter().map(|run| (values[*run] - of.mean).powi(2)))
            .sum();
        let degrees = runs.len() - combinations.len();
        let repeats_variance = if degrees > 0 { within / degrees as f64 } else { 0.0 };
        let usable = |variance: &f64| variance.is_finite() && *variance >= 0.0;
        let own: Option<Vec<f64>> = runs.iter().map(|run| run.variance.filter(usable)).collect();
        let basis = match &own {
            _ if degrees > 0 => EffectBasis::Repeats(degrees),
            Some(own) => EffectBasis::Own(fit.scale(own)),
            None => EffectBasis::Nothing,
        };
        Some(Data { runs, levels, combinations, fit, basis, repeats_variance, own })
    }

    fn effect(&self, factor: usize) -> FactorEffect {
        let others: Vec<usize> = (0..self.levels.len()).filter(|other| *other != factor).collect();
        if !self.is_free(factor, &others) {
            return FactorEffect::Confounded(self.changes_with(factor, &others));
        }
        let many = self.levels[factor];
        let of = |level: usize| self.fit.coefficient(column(self.levels, factor, level));
        let mean = (0..many).map(of).sum::<f64>() / many as f64;
        let levels: Vec<f64> = (0..many).map(|level| of(level) - mean).collect();
        let by_effect = |a: &usize, b: &usize| levels[*a].total_cmp(&levels[*b]);
        let highest = (0..many).max_by(by_effect).unwrap_or(0);
        let lowest = (0..many).min_by(by_effect).unwrap_or(0);
        let [high, low] = [highest, lowest].map(|level| column(self.levels, factor, level));
        let pairs = (many * many.saturating_sub(1) / 2).max(1);
        FactorEffect::Known(LevelEffects {
            range: levels[highest] - levels[lowest],
            half_width: self.half_width(&self.fit.weights(high, low), pairs),
            simple: self.simple(factor, [lowest, highest]),
            levels,
            highest,
            lowest,
        })
    }

    /// True if no level of the factor is a mixture of levels of the others.
    fn is_free(&self, factor: usize, others: &[usize]) -> bool {
        let with: Vec<usize> = others.iter().copied().chain([factor]).collect();
        self.rank(&with) == self.rank(others) + self.levels[factor] - 1
    }

    fn rank(&self, factors: &[usize]) -> usize {
        rank(self.combinations.iter().map(|of| row(&of.levels, self.levels, factors)).collect())
    }

    /// Factors that it changes with: each that alone is enough, or else all that are not free.
    fn changes_with(&self, factor: usize, others: &[usize]) -> Vec<usize> {
        let alone = others.iter().copied().filter(|other| !self.is_free(factor, &[*other]));
        let alone: Vec<usize> = alone.collect();
        if !alone.is_empty() {
            return alone;
        }
        let is_free = |other: &usize| {
            let rest: Vec<usize> = (0..self.levels.len()).filter(|it| it != other).collect();
            self.is_free(*other, &rest)
        };
        others.iter().copied().filter(|other| !is_free(other)).collect()
    }

    /// Half the width of the interval of a weighted sum of the runs, corrected for a choice among
    /// `of_pairs`.
    fn half_width(&self, weights: &[f64], of_pairs: usize) -> Option<f64> {
        let scale = if let EffectBasis::Own(scale) = self.basis { scale } else { 1.0 };
        self.unwidened(weights, of_pairs).map(|half| half * scale)
    }

    /// The same without the widening for effects that do not add up.
    fn unwidened(&self, weights: &[f64], of_pairs: usize) -> Option<f64> {
        let p = 1.0 - 0.025 / of_pairs as f64;
        let own = self.own.as_ref().map(|own| self.welch_satterthwaite_half_width(weights, own, p));
        let EffectBasis::Repeats(degrees) = self.basis else { return own };
        let squares: f64 = weights.iter().map(|weight| weight * weight).sum();
        let repeats = student_t(p, degrees as f64) * (self.repeats_variance * squares).sqrt();
        Some(own.map_or(repeats, |own| own.max(repeats)))
    }

    /// Half the width by the runs' own variances, with Satterthwaite's degrees of freedom.
    fn welch_satterthwaite_half_width(&self, weights: &[f64], own: &[f64], p: f64) -> f64 {
        let parts = weights.iter().zip(own).map(|(weight, of)| weight * weight * of);
        let variance: f64 = parts.clone().sum();
        let squares: f64 =
            parts.zip(self.runs).map(|(part, run)| part * part / run.degrees.max(1.0)).sum();
        let degrees = if squares > 0.0 { variance * variance / squares } else { NORMAL };
        student_t(p, degrees.min(NORMAL)) * variance.sqrt()
    }

    /// The weights of runs in a sum of means of combinations.
    fn weights(&self, signed: &[(&Combination, f64)]) -> Vec<f64> {
        let mut weights = vec![0.0; self.runs.len()];
        for (of, sign) in signed {
            of.runs.iter().for_each(|run| weights[*run] = sign / of.runs.len() as f64);
        }
        weights
    }

    fn mean_of(&self, of: &Combination) -> CombinationMean {
        CombinationMean {
            levels: of.levels.clone(),
            runs: of.runs.len(),
            mean: of.mean,
            half_width: self.unwidened(&self.weights(&[(of, 1.0)]), 1),
        }
    }

    fn crossed(&self) -> Option<CrossEffect> {
        if self.levels.len() < 2 {
            return None;
        }
        let by_levels: BTreeMap<&[usize], &Combination> =
            self.combinations.iter().map(|of| (&of.levels[..], of)).collect();
        let with = |of: &Combination, factor: usize, level: usize| {
            let mut levels = of.levels.clone();
            levels[factor] = level;
            by_levels.get(&levels[..]).copied()
        };
        let squares = self.combinations.iter().enumerate().flat_map(|(at, a)| {
            let beyond = self.combinations[at + 1..].iter();
            let is_diagonal =
                |b: &Combination| a.levels[0] != b.levels[0] && a.levels[1] != b.levels[1];
            beyond.filter(move |b| is_diagonal(b) && a.levels[2..] == b.levels[2..]).filter_map(
                move |b| Some([a, with(a, 0, b.levels[0])?, with(a, 1, b.levels[1])?, b]),
            )
        });
        let difference =
            |[a, b, c, d]: &[&Combination; 4]| (a.mean - b.mean - c.mean + d.mean).abs();
        let all: Vec<[&Combination; 4]> = squares.collect();
        let [a, b, c, d] = *all.iter().max_by(|a, b| difference(a).total_cmp(&difference(b)))?;
        let weights = self.weights(&[(a, 1.0), (b, -1.0), (c, -1.0), (d, 1.0)]);
        Some(CrossEffect {
            difference: difference(&[a, b, c, d]),
            // Each square has two diagonals.
            half_width: self.unwidened(&weights, all.len() / 2),
        })
    }

    fn simple(&self, factor: usize, [low, high]: [usize; 2]) -> Vec<SimpleEffect> {
        let highs = self.combinations.iter().filter(|of| of.levels[factor] == high);
        highs
            .filter_map(|of_high| {
                let mut wanted = of_high.levels.clone();
                wanted[factor] = low;
                let of_low = self.combinations.iter().find(|of| of.levels == wanted)?;
                let weights = self.weights(&[(of_high, 1.0), (of_low, -1.0)]);
                Some(SimpleEffect {
                    at: of_high.levels.clone(),
                    difference: of_high.mean - of_low.mean,
                    half_width: self.half_width(&weights, 1),
                })
            })
            .collect()
    }

    /// The F test for lack of fit, against the variance between repeats, or the mean of the runs'
    /// own variances where that is larger.
    fn interaction(&self) -> Interaction {
        let EffectBasis::Repeats(within) = self.basis else { return Interaction::NotTested };
        let degrees = self.combinations.len() - self.fit.rank();
        let own = self.own.as_ref().map(|own| own.iter().sum::<f64>() / own.len() as f64);
        let noise = self.repeats_variance.max(own.unwrap_or(0.0));
        if degrees == 0 || noise <= 0.0 {
            return Interaction::NotTested;
        }
        let lack: f64 = self
            .combinations
            .iter()
            .map(|of| of.runs.len() as f64 * self.departure(of).powi(2))
            .sum();
        let p = f_upper_tail(lack / degrees as f64 / noise, degrees as f64, within as f64);
        if p < REJECTS { Interaction::Shown(p) } else { Interaction::NotShown(p) }
    }

    /// Distance of a combination's mean from the sum of effects.
    fn departure(&self, of: &Combination) -> f64 {
        of.runs.first().map_or(0.0, |run| of.mean - self.fit.fitted(*run))
    }

    fn largest_departure(&self) -> f64 {
        self.combinations.iter().map(|of| self.departure(of).abs()).fold(0.0, f64::max)
    }

    fn range(&self) -> f64 {
        let ends = self
            .combinations
            .iter()
            .fold([f64::MAX, f64::MIN], |[low, high], of| [low.min(of.mean), high.max(of.mean)]);
        ends[1] - ends[0]
    }
}

/// Degrees of freedom from which Student's t is as good as normal.
const NORMAL: f64 = 1e9;

fn combinations(runs: &[FactorRun]) -> Vec<Combination> {
    let mut found: Vec<Combination> = Vec::new();
    for (at, run) in runs.iter().enumerate() {
        match found.iter_mut().find(|of| of.levels == run.levels) {
            Some(of) => of.runs.push(at),
            None => {
                found.push(Combination { levels: run.levels.clone(), runs: vec![at], mean: 0.0 });
            }
        }
    }
    for of in &mut found {
        of.mean = of.runs.iter().map(|run| runs[*run].value).sum::<f64>() / of.runs.len() as f64;
    }
    found
}

/// A row of the design matrix: 1, then for each of these factors a column for each level but the
/// first.
fn row(of: &[usize], levels: &[usize], factors: &[usize]) -> Vec<f64> {
    let columns = |factor: &usize| {
        let (own, many) = (of[*factor], levels[*factor]);
        (1..many).map(move |level| f64::from(level == own))
    };
    std::iter::once(1.0).chain(factors.iter().flat_map(columns)).collect()
}

/// The column of a level in the design of all factors; `None` for the first level, whose effect is
/// 0.
fn column(levels: &[usize], factor: usize, level: usize) -> Option<usize> {
    let before: usize = levels[..factor].iter().map(|many| many.saturating_sub(1)).sum();
    (level > 0).then_some(before + level)
}

#[cfg(test)]
mod tests;
