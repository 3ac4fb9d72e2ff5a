//! Hosts are a variable: of the differences between runs of several media in several hosts, what
//! does the medium explain, what the reader, the kernel, a setting?
//!
//! The model is additive in the logarithm of the rate, so effects are factors that multiply
//! (`stats::factor_effects`; docs/methodology.md has the arithmetic). What changes together cannot be
//! told apart, and is said so.

use record::units::Bytes;
use record::{Flag, Record, metric};
use serde::Serialize;
use stats::{EffectBasis, FactorEffect, FactorRun, Interaction, LevelEffects};

use super::WORK;
use super::factors::{ExperimentFactor, factors};
use crate::figure::{self, SoundFigure};

/// Runs of several media in several hosts, and what explains their differences.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Experiment {
    /// What the runs differ in.
    pub factors: Vec<ExperimentFactor>,
    /// What explains each figure.
    pub figures: Vec<ExplainedFigure>,
    /// Runs and figures that were left out, and why.
    pub left_out: Vec<String>,
    /// Whether readers may hide that runs are of one card.
    pub hides_cards: bool,
}

/// A figure of all runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExplainedFigure {
    /// "random-write", "random-read", "sequential-write", "sequential-read".
    pub test: String,
    /// Bytes of one I/O.
    pub block_bytes: u64,
    /// How many runs have it.
    pub runs: usize,
    /// How many times the lowest combination the highest is.
    pub range: f64,
    /// What each factor does, in the order of the factors.
    pub effects: Vec<Explained>,
    /// How many repeats, beyond one run a combination, the intervals come from; null where they come
    /// from the runs' own.
    pub repeats: Option<usize>,
    /// How many times wider the runs' own intervals were made, because effects do not multiply as
    /// well as they let one expect; 1 where they do.
    pub widened: f64,
    /// Whether effects depend on each other; null where that cannot be told.
    pub interacts: Option<bool>,
    /// How many times a combination is off the product of effects, at most.
    pub departure: f64,
    /// Runs whose rate may be the most that their link carries: a faster one may show more of the
    /// medium.
    pub limited_by_link: usize,
}

/// What a factor does to a figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "effect")]
pub enum Explained {
    /// So many times.
    Told {
        /// How many times the figure of the lowest level that of the highest is.
        ratio: f64,
        /// Its 95 % interval; null where nothing tells one.
        ci95: Option<[f64; 2]>,
        /// The level with the highest figure.
        highest: String,
        /// The level with the lowest.
        lowest: String,
        /// The same ratio at each combination of the other factors.
        simple: Vec<SimpleRatio>,
    },
    /// It changes together with these, and cannot be told from them.
    Confounded {
        /// Names of the other factors.
        with: Vec<String>,
    },
    /// All runs with this figure have the same.
    Constant,
}

/// A ratio of two levels of a factor while all others stay the same.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SimpleRatio {
    /// The levels of the other factors.
    pub at: String,
    /// How many times.
    pub ratio: f64,
    /// Its 95 % interval; null where nothing tells one.
    pub ci95: Option<[f64; 2]>,
}

/// Fewer runs are no grid.
const LEAST: usize = 4;
/// From this share of a link's rate on the link may be what decides: USB 2 carries 30 MB/s and more
/// of its 53 in practice (docs/field/linux-io.md#usb).
const LINK_SHARE: f64 = 0.55;
/// Half the width of a 95 % interval in standard deviations.
const DEVIATIONS: f64 = 1.959_964;

/// What explains the differences between these runs; `None` where they are no experiment.
pub(super) fn experiment(records: &[&Record]) -> Option<Experiment> {
    let (usable, mut left_out) = (usable(records), Vec::new());
    for record in records {
        let why = crate::gate::of_run(record).map(|why| why.to_string());
        left_out.extend(why.map(|why| format!("{}: {why}", record.run.id)));
    }
    let factors = factors(&usable);
    if usable.len() < LEAST || factors.len() < 2 {
        return None;
    }
    let mut sizes: Vec<(usize, u64)> = Vec::new();
    for (work, (test, _)) in WORK.iter().enumerate() {
        let cells = usable.iter().flat_map(|record| figure::cells(record, test));
        sizes.extend(cells.filter_map(|cell| Some((work, cell.params.block_bytes?))));
    }
    sizes.sort_unstable();
    sizes.dedup();
    let mut figures = Vec::new();
    for (work, block_bytes) in sizes {
        match explained(&usable, &factors, WORK[work], block_bytes) {
            Ok(found) => figures.push(found),
            Err(why) => left_out.push(format!("{}, {}: {why}", WORK[work].0, Bytes(block_bytes))),
        }
    }
    let hides_cards = usable.iter().any(|record| record.medium.behind_reader == Some(true));
    Some(Experiment { factors, figures, left_out, hides_cards })
}

/// The runs of a medium that may be used for words.
fn usable<'a>(records: &[&'a Record]) -> Vec<&'a Record> {
    records.iter().copied().filter(|record| crate::gate::of_run(record).is_none()).collect()
}

/// A figure of a run, by the number of the run.
struct Measured<'a> {
    run: usize,
    figure: SoundFigure<'a>,
}

fn explained(
    records: &[&Record],
    factors: &[ExperimentFactor],
    (test, metric): (&'static str, &'static str),
    block_bytes: u64,
) -> Result<ExplainedFigure, String> {
    let measured = measured(records, test, metric, block_bytes);
    if measured.len() < LEAST {
        return Err(format!("measured of {} runs only, alike and without a cache", measured.len()));
    }
    let present: Vec<Present> =
        factors.iter().map(|factor| Present::of(factor, &measured)).collect();
    let varied: Vec<usize> =
        (0..factors.len()).filter(|at| present[*at].levels.len() > 1).collect();
    let runs: Vec<FactorRun> = measured
        .iter()
        .enumerate()
        .map(|(at, of)| FactorRun {
            value: of.figure.value.ln(),
            variance: of.figure.ci95.and_then(variance),
            levels: varied.iter().map(|factor| present[*factor].of_run[at]).collect(),
        })
        .collect();
    let many: Vec<usize> = varied.iter().map(|factor| present[*factor].levels.len()).collect();
    let fit = stats::factor_effects(&runs, &many).ok_or("its figures are no numbers")?;
    let named = |factor: &usize| (&factors[*factor], &present[*factor]);
    let varied: Vec<(&ExperimentFactor, &Present)> = varied.iter().map(named).collect();
    let effect = |factor: &ExperimentFactor| {
        let at = varied.iter().position(|(of, _)| of.name == factor.name);
        at.map_or(Explained::Constant, |at| told(&fit.factors[at], at, &varied))
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
            Interaction::Untold => None,
            Interaction::NotShown(_) => Some(false),
            Interaction::Shown(_) => Some(true),
        },
        departure: fit.largest_departure.exp(),
        limited_by_link: measured.iter().filter(|of| is_limited(records[of.run], of)).count(),
    })
}

/// The sound figures of runs with the number of I/Os in flight that most of them have; what a page
/// cache of the host answered is none of a medium.
fn measured<'a>(
    records: &[&'a Record],
    test: &'static str,
    metric: &'static str,
    block_bytes: u64,
) -> Vec<Measured<'a>> {
    let of_run = |(run, record): (usize, &&'a Record)| {
        let cell = figure::standard(record, test, block_bytes)?;
        let is_cached = cell.flags.contains(&Flag::HostCached)
            || record.flags.contains(&Flag::HostCached)
            || crate::gate::disturbed(cell).is_some();
        let figure = SoundFigure::of(cell, metric).filter(|_| !is_cached)?;
        Some(Measured { run, figure })
    };
    let all: Vec<Measured> = records.iter().enumerate().filter_map(of_run).collect();
    let depth = |of: &Measured| of.figure.cell.params.in_flight();
    let usual = all.iter().map(depth).max_by_key(|wanted| {
        (all.iter().filter(|of| depth(of) == *wanted).count(), std::cmp::Reverse(*wanted))
    });
    all.into_iter().filter(|of| Some(depth(of)) == usual).collect()
}

/// The levels of a factor that these runs have.
struct Present {
    levels: Vec<String>,
    of_run: Vec<usize>,
}

impl Present {
    fn of(factor: &ExperimentFactor, measured: &[Measured]) -> Present {
        let mut kept: Vec<usize> = measured.iter().map(|of| factor.of_run[of.run]).collect();
        let all = kept.clone();
        kept.sort_unstable();
        kept.dedup();
        let place = |level: &usize| kept.iter().position(|known| known == level).unwrap_or(0);
        Present {
            of_run: all.iter().map(place).collect(),
            levels: kept.iter().map(|level| factor.levels[*level].clone()).collect(),
        }
    }
}

/// The variance of the logarithm that an interval tells.
fn variance([low, high]: [f64; 2]) -> Option<f64> {
    (low > 0.0 && high >= low).then(|| ((high / low).ln() / 2.0 / DEVIATIONS).powi(2))
}

fn told(
    effect: &FactorEffect,
    factor: usize,
    varied: &[(&ExperimentFactor, &Present)],
) -> Explained {
    let effects: &LevelEffects = match effect {
        FactorEffect::Told(effects) => effects,
        FactorEffect::Confounded(with) => {
            let with = with.iter().map(|other| varied[*other].0.name.clone()).collect();
            return Explained::Confounded { with };
        }
    };
    let interval =
        |log: f64, half: Option<f64>| half.map(|half| [(log - half).exp(), (log + half).exp()]);
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
    Explained::Told {
        ratio: effects.range.exp(),
        ci95: interval(effects.range, effects.half_width),
        highest: levels[effects.highest].clone(),
        lowest: levels[effects.lowest].clone(),
        simple: effects.simple.iter().map(simple).collect(),
    }
}

/// Whether it was the link that decided.
fn is_limited(record: &Record, of: &Measured) -> bool {
    let block = of.figure.cell.params.block_bytes.unwrap_or(0) as f64;
    let bps =
        if of.figure.name == metric::IOPS { of.figure.value * block } else { of.figure.value };
    let link = record.target.link.as_ref().and_then(|link| link.max_bps);
    link.is_some_and(|link| bps >= LINK_SHARE * link)
}

#[cfg(test)]
mod tests;
