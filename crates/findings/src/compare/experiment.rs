//! Analysis of the host as a variable: how much of the differences between runs of several media in
//! several hosts is due to the medium, the reader, the kernel, a setting?
//!
//! The model is additive in the logarithm of the rate, so effects are factors that multiply
//! (`stats::factor_effects`; docs/methodology.md has the arithmetic). Factors that change together
//! cannot be separated, and are reported as such.

use std::collections::{BTreeMap, BTreeSet};

use record::units::Bytes;
use record::{Flag, Record, metric};
use serde::Serialize;
use stats::{EffectBasis, FactorEffect, FactorRun, Interaction, LevelEffects, RunRate};

use super::by::ComparedBy;
use super::factors::{ExperimentFactor, factors, factors_by, unsplit};
use super::{WORK, block_sizes};
use crate::figure::{self, UsableEstimate};

/// Runs of several media in several hosts, with the causes of their differences.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Experiment {
    /// Factors in which the runs differ.
    pub factors: Vec<ExperimentFactor>,
    /// Effects of the factors on each figure.
    pub figures: Vec<ExplainedFigure>,
    /// Left-out runs and figures, with reasons.
    pub left_out: Vec<String>,
    /// True if readers may hide that runs are of one card.
    pub hides_cards: bool,
    /// Factor that the user named; it is then the second factor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<ComparedBy>,
    /// Reason why effects of the medium and of that factor cannot be separated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unsplit: Option<String>,
}

/// A figure of all runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExplainedFigure {
    /// "random-write", "random-read", "sequential-write", "sequential-read".
    pub test: String,
    /// Bytes of one I/O.
    pub block_bytes: u64,
    /// Number of runs with this figure.
    pub runs: usize,
    /// Ratio of the highest to the lowest combination.
    pub range: f64,
    /// Effect of each factor, in the order of the factors.
    pub effects: Vec<Explained>,
    /// Number of repeats (runs beyond one per combination) that the intervals are based on; null if
    /// they are based on the runs' own.
    pub repeats: Option<usize>,
    /// Factor by which the runs' own intervals were widened, because effects multiply less exactly
    /// than the intervals predict; 1 if they do.
    pub widened: f64,
    /// True if effects depend on each other; null if that is unknown.
    pub interacts: Option<bool>,
    /// Largest ratio of a combination to the product of its effects.
    pub departure: f64,
    /// For a factor that the user named: the largest ratio between the ratios of two media at two
    /// of its levels; null if no two media share two levels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interaction: Option<RatioInterval>,
    /// For such a factor: the figure of each measured combination of medium and level.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub combinations: Vec<CombinationFigure>,
    /// Number of runs that may be limited by their link: a faster link may show more of the medium.
    pub limited_by_link: usize,
}

/// A ratio with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RatioInterval {
    /// The ratio.
    pub ratio: f64,
    /// Its 95 % interval; null if unknown.
    pub ci95: Option<[f64; 2]>,
}

/// A medium at a level of a factor.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CombinationFigure {
    /// The medium.
    pub medium: String,
    /// The level.
    pub level: String,
    /// Geometric mean of its runs, in IOPS for random and bytes per second for sequential I/O.
    pub value: f64,
    /// Its 95 % interval; null if unknown, or if something else differs between the runs.
    pub ci95: Option<[f64; 2]>,
    /// Number of runs.
    pub runs: usize,
}

/// Effect of a factor on a figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "effect")]
pub enum Explained {
    /// A known ratio.
    #[serde(rename = "told")]
    Known {
        /// Ratio of the figure at the highest level to that at the lowest.
        ratio: f64,
        /// Its 95 % interval; null if unknown.
        ci95: Option<[f64; 2]>,
        /// The level with the highest figure.
        highest: String,
        /// The level with the lowest figure.
        lowest: String,
        /// The same ratio for each combination of the other factors.
        simple: Vec<SimpleRatio>,
    },
    /// It changes together with these factors, and cannot be separated from them.
    Confounded {
        /// Names of the other factors.
        with: Vec<String>,
    },
    /// All runs with this figure have the same level.
    Constant,
}

/// A ratio of two levels of a factor while all others stay the same.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SimpleRatio {
    /// The levels of the other factors.
    pub at: String,
    /// The ratio.
    pub ratio: f64,
    /// Its 95 % interval; null if unknown.
    pub ci95: Option<[f64; 2]>,
}

/// Fewest runs that form a grid.
const LEAST: usize = 4;
/// Fewest runs with a factor that the user named: two media at two levels, with one combination
/// missing.
const MIN_NAMED: usize = 3;
/// Share of a link's rate from which on the link may be the limit: in practice USB 2 reaches 30
/// MB/s or more of its 53 (docs/field/linux-io.md#usb).
const LINK_SHARE: f64 = 0.55;
/// Half-width of a 95 % interval in standard deviations.
const DEVIATIONS: f64 = 1.959_964;

/// Causes of the differences between these runs; `None` if they do not form an experiment.
pub(super) fn experiment(records: &[&Record]) -> Option<Experiment> {
    let usable = usable(records);
    let factors = factors(&usable);
    if usable.len() < LEAST || factors.len() < 2 {
        return None;
    }
    Some(of_factors(&usable, factors, left_out(records), None))
}

/// Experiment of the medium and a factor that the user named, for any set of runs.
pub(super) fn crossed(records: &[&Record], by: ComparedBy) -> Experiment {
    let usable = usable(records);
    let levels = by.levels(&usable);
    let mut left_out = left_out(records);
    let unknown = usable.iter().zip(&levels).filter(|(_, level)| level.is_none());
    left_out.extend(
        unknown.map(|(run, _)| format!("{}: the record does not say {}", run.run.id, by.words())),
    );
    let (known, levels): (Vec<&Record>, Vec<String>) =
        usable.into_iter().zip(levels).filter_map(|(record, level)| Some((record, level?))).unzip();
    let factors = factors_by(&known, by.words(), &levels);
    let unsplit = unsplit(&factors[0], &factors[1]);
    let mut found = of_factors(&known, factors, left_out, Some(by));
    let is_split = |figure: &ExplainedFigure| {
        figure.effects[..2].iter().all(|effect| matches!(effect, Explained::Known { .. }))
    };
    let none = || "no figure was measured of media and levels that cross".to_owned();
    found.unsplit = unsplit.or_else(|| (!found.figures.iter().any(is_split)).then(none));
    found
}

fn left_out(records: &[&Record]) -> Vec<String> {
    let why = |record: &&Record| {
        Some(format!("{}: {}", record.run.id, crate::usability::of_run(record)?))
    };
    records.iter().filter_map(why).collect()
}

fn of_factors(
    usable: &[&Record],
    factors: Vec<ExperimentFactor>,
    mut left_out: Vec<String>,
    by: Option<ComparedBy>,
) -> Experiment {
    let sizes_of = |(work, (test, _)): (usize, &(&'static str, &str))| {
        let sizes = usable.iter().flat_map(|record| block_sizes(record, test));
        sizes.map(move |size| (work, size)).collect::<Vec<_>>()
    };
    let sizes: BTreeSet<(usize, u64)> = WORK.iter().enumerate().flat_map(sizes_of).collect();
    let mut figures = Vec::new();
    for (work, block_bytes) in sizes {
        match explained(usable, &factors, by, WORK[work], block_bytes) {
            Ok(found) => figures.push(found),
            Err(why) => left_out.push(format!("{}, {}: {why}", WORK[work].0, Bytes(block_bytes))),
        }
    }
    let hides_cards = usable.iter().any(|record| record.medium.behind_reader == Some(true));
    Experiment { factors, figures, left_out, hides_cards, by, unsplit: None }
}

/// The runs of a medium that may be used for statements.
fn usable<'a>(records: &[&'a Record]) -> Vec<&'a Record> {
    records.iter().copied().filter(|record| crate::usability::of_run(record).is_none()).collect()
}

/// A figure of a run, with the index of the run.
struct Measured<'a> {
    run: usize,
    figure: UsableEstimate<'a>,
}

fn explained(
    records: &[&Record],
    factors: &[ExperimentFactor],
    by: Option<ComparedBy>,
    (test, metric): (&'static str, &'static str),
    block_bytes: u64,
) -> Result<ExplainedFigure, String> {
    let all = measured(records, test, metric, block_bytes);
    let measured = if by == Some(ComparedBy::Setting) { all } else { of_usual_depth(all) };
    if measured.len() < by.map_or(LEAST, |_| MIN_NAMED) {
        return Err(format!("measured of {} runs only, alike and without a cache", measured.len()));
    }
    let present: Vec<PresentLevels> =
        factors.iter().map(|factor| PresentLevels::of(factor, &measured)).collect();
    let varied: Vec<usize> =
        (0..factors.len()).filter(|at| present[*at].levels.len() > 1).collect();
    let runs: Vec<FactorRun> = measured
        .iter()
        .enumerate()
        .map(|(at, of)| FactorRun {
            value: of.figure.value.ln(),
            variance: variance(&of.figure.run_rate()),
            degrees: of.figure.run_rate().degrees.unwrap_or(f64::INFINITY),
            levels: varied.iter().map(|factor| present[*factor].of_run[at]).collect(),
        })
        .collect();
    let many: Vec<usize> = varied.iter().map(|factor| present[*factor].levels.len()).collect();
    let is_crossed = by.is_some() && varied.starts_with(&[0, 1]);
    let fit = stats::factor_effects(&runs, &many).ok_or("its figures are no numbers")?;
    let named = |factor: &usize| (&factors[*factor], &present[*factor]);
    let varied: Vec<(&ExperimentFactor, &PresentLevels)> = varied.iter().map(named).collect();
    let effect = |factor: &ExperimentFactor| {
        let at = varied.iter().position(|(of, _)| of.name == factor.name);
        at.map_or(Explained::Constant, |at| explain(&fit.factors[at], at, &varied))
    };
    let (repeats, widened) = match fit.basis {
        EffectBasis::Repeats(repeats) => (Some(repeats), 1.0),
        EffectBasis::Own(scale) => (None, scale),
        EffectBasis::Nothing => (None, 1.0),
    };
    Ok(ExplainedFigure {
        test: test.to_owned(),
        block_bytes,
        runs: measured.len(),
        range: fit.range.exp(),
        effects: factors.iter().map(effect).collect(),
        repeats,
        widened,
        interacts: match fit.interaction {
            Interaction::NotTested => None,
            Interaction::NotShown(_) => Some(false),
            Interaction::Shown(_) => Some(true),
        },
        departure: fit.largest_departure.exp(),
        interaction: fit.crossed.filter(|_| is_crossed).map(|found| RatioInterval {
            ratio: found.difference.exp(),
            ci95: interval(found.difference, found.half_width),
        }),
        combinations: if is_crossed { combinations(&fit, &varied) } else { Vec::new() },
        limited_by_link: measured.iter().filter(|of| is_limited(records[of.run], of)).count(),
    })
}

/// Usable figures of runs; answers from a page cache of the host are not figures of a medium.
fn measured<'a>(
    records: &[&'a Record],
    test: &'static str,
    metric: &'static str,
    block_bytes: u64,
) -> Vec<Measured<'a>> {
    let of_run = |(run, record): (usize, &&'a Record)| {
        let cell = figure::usable_standard_cell(record, test, block_bytes)?;
        let is_cached = cell.flags.contains(&Flag::HostCached)
            || record.flags.contains(&Flag::HostCached)
            || crate::usability::host_stalled(cell).is_some();
        let figure = UsableEstimate::of(cell, metric).filter(|_| !is_cached)?;
        Some(Measured { run, figure })
    };
    records.iter().enumerate().filter_map(of_run).collect()
}

fn of_usual_depth(all: Vec<Measured>) -> Vec<Measured> {
    let depth = |of: &Measured| of.figure.cell.params.in_flight();
    let usual = all.iter().map(depth).max_by_key(|wanted| {
        (all.iter().filter(|of| depth(of) == *wanted).count(), std::cmp::Reverse(*wanted))
    });
    all.into_iter().filter(|of| Some(depth(of)) == usual).collect()
}

/// The figure of each medium at each level, whatever else differs.
fn combinations(
    fit: &stats::FactorFit,
    varied: &[(&ExperimentFactor, &PresentLevels)],
) -> Vec<CombinationFigure> {
    let mut merged: BTreeMap<[usize; 2], Vec<&stats::CombinationMean>> = BTreeMap::new();
    for of in &fit.combinations {
        merged.entry([of.levels[0], of.levels[1]]).or_default().push(of);
    }
    let figure = |([medium, level], parts): ([usize; 2], Vec<&stats::CombinationMean>)| {
        let runs = parts.iter().map(|of| of.runs).sum::<usize>();
        let mean = parts.iter().map(|of| of.mean * of.runs as f64).sum::<f64>() / runs as f64;
        let half_width = parts[0].half_width.filter(|_| parts.len() == 1);
        CombinationFigure {
            medium: varied[0].1.levels[medium].clone(),
            level: varied[1].1.levels[level].clone(),
            value: mean.exp(),
            ci95: interval(mean, half_width),
            runs,
        }
    };
    merged.into_iter().map(figure).collect()
}

/// The levels of a factor that occur in these runs.
struct PresentLevels {
    levels: Vec<String>,
    of_run: Vec<usize>,
}

impl PresentLevels {
    fn of(factor: &ExperimentFactor, measured: &[Measured]) -> PresentLevels {
        let all: Vec<usize> = measured.iter().map(|of| factor.of_run[of.run]).collect();
        let kept: BTreeSet<usize> = all.iter().copied().collect();
        let place = |level: &usize| kept.iter().position(|known| known == level).unwrap_or(0);
        PresentLevels {
            of_run: all.iter().map(place).collect(),
            levels: kept.iter().map(|level| factor.levels[*level].clone()).collect(),
        }
    }
}

/// Variance of the logarithm within a run; for a run with rounds it is that of its level, not of
/// the difference between repetitions.
fn variance(run: &RunRate) -> Option<f64> {
    let quantile = run.degrees.map_or(DEVIATIONS, |degrees| stats::student_t(0.975, degrees));
    run.half_width.map(|half| (half / quantile).powi(2))
}

fn interval(log: f64, half_width: Option<f64>) -> Option<[f64; 2]> {
    half_width.map(|half| [(log - half).exp(), (log + half).exp()])
}

fn explain(
    effect: &FactorEffect,
    factor: usize,
    varied: &[(&ExperimentFactor, &PresentLevels)],
) -> Explained {
    let effects: &LevelEffects = match effect {
        FactorEffect::Known(effects) => effects,
        FactorEffect::Confounded(with) => {
            let with = with.iter().map(|other| varied[*other].0.name.clone()).collect();
            return Explained::Confounded { with };
        }
    };
    let simple = |simple: &stats::SimpleEffect| SimpleRatio {
        at: varied
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != factor)
            .map(|(other, (_, present))| present.levels[simple.at[other]].clone())
            .collect::<Vec<_>>()
            .join(", "),
        ratio: simple.difference.exp(),
        ci95: interval(simple.difference, simple.half_width),
    };
    let levels = &varied[factor].1.levels;
    Explained::Known {
        ratio: effects.range.exp(),
        ci95: interval(effects.range, effects.half_width),
        highest: levels[effects.highest].clone(),
        lowest: levels[effects.lowest].clone(),
        simple: effects.simple.iter().map(simple).collect(),
    }
}

/// True if the link was the limit.
fn is_limited(record: &Record, of: &Measured) -> bool {
    let block = of.figure.cell.params.block_bytes.unwrap_or(0) as f64;
    let bps =
        if of.figure.name == metric::IOPS { of.figure.value * block } else { of.figure.value };
    let link = record.target.link.as_ref().and_then(|link| link.max_bps);
    link.is_some_and(|link| bps >= LINK_SHARE * link)
}
