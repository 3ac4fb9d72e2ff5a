//! Result of a matrix of file systems, schedulers and works: the best combination for each work,
//! its margin, and its significance.

use std::collections::BTreeMap;

use record::units::significant;
use record::{Cell, Combination, Finding, Record, Stop, metric, test};
use stats::{RankedGroup, contest};

use crate::finding_builder::FindingBuilder;

pub use stats::ContestRank;

/// All tries of a matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// One entry for each work, in the order of the first tries.
    pub works: Vec<WorkPlaces>,
    /// Combinations with a result for every work, by the geometric mean of their ratios to the best
    /// of each, the best first. Empty for a single work.
    pub overall: Vec<Overall>,
}

/// Result of a combination over all works.
#[derive(Clone, Debug, PartialEq)]
pub struct Overall {
    /// The combination, without a work.
    pub combination: Combination,
    /// Geometric mean over the works of its result divided by the best: 1 is best at everything.
    pub relative: f64,
    /// The work with its lowest ratio to the best, and that ratio.
    pub weakest: (String, f64),
    /// True if at least one work has a significantly best combination; otherwise the order may be
    /// chance.
    pub is_shown: bool,
}

/// Result of one work.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkPlaces {
    /// Name of the work, such as "untar".
    pub work: String,
    /// True if figures are rates (more is better); false for seconds.
    pub larger_is_better: bool,
    /// Combinations with a result that never failed, the best first.
    pub places: Vec<CombinationResult>,
    /// Combinations that failed themselves, each with the reason and its results in other repeats.
    /// They are not ranked.
    pub failed: Vec<(Combination, String)>,
    /// True if one of those had a result before.
    pub is_cut_short: bool,
}

/// A combination with its results.
#[derive(Clone, Debug, PartialEq)]
pub struct CombinationResult {
    /// The combination.
    pub combination: Combination,
    /// One figure for each repeat: operations per second, or seconds.
    pub figures: Vec<f64>,
    /// Geometric mean of the figures, in their unit.
    pub centre: f64,
    /// Ratio to the best, which is 1: half the rate or twice the time is 0.5.
    pub relative: f64,
    /// Its 95 % interval; `None` for the best itself and with less than two repeats.
    pub ci95: Option<[f64; 2]>,
    /// Comparison with the best.
    pub rank: ContestRank,
    /// The longest single operation of all repeats, in nanoseconds.
    pub worst_stall_ns: Option<f64>,
    /// Fairness among the threads of a work (1: all alike), the mean over repeats; `None` for a
    /// work without threads.
    pub fairness: Option<f64>,
    /// Extents per file before and after the work, the mean over repeats.
    pub extents_per_file: [Option<f64>; 2],
    /// Ratio of the time to read the files to that for an unfragmented copy.
    pub fragmentation_read_ratio: Option<f64>,
    /// The mkfs command, with DEVICE for the device.
    pub mkfs: String,
}

/// The matrix of a record; `None` if it is not one.
pub fn of(record: &Record) -> Option<Matrix> {
    let mut works: Vec<&str> = Vec::new();
    for cell in &record.cells {
        let work = cell.label("work");
        if !work.is_empty() && !cell.label("filesystem").is_empty() && !works.contains(&work) {
            works.push(work);
        }
    }
    let planned = record.plan.iter().any(|planned| planned.id.contains('#'));
    if works.is_empty() && !(record.run.suite == SUITE && planned) {
        return None;
    }
    works.sort_unstable();
    let works: Vec<WorkPlaces> = works.into_iter().map(|work| places_of(record, work)).collect();
    let overall = overall(&works);
    Some(Matrix { works, overall })
}

/// Suite name of such a run.
pub const SUITE: &str = test::MATRIX;

/// The longest stall in a cell, in nanoseconds.
pub fn stall(cell: &Cell) -> Option<f64> {
    let worst = cell.metrics.other.get(metric::WORST_STALL_NS).map(|estimate| estimate.value);
    worst
        .or(cell.metrics.latency_ns.as_ref().map(|latency| latency.max as f64))
        .filter(|ns| ns.is_finite() && *ns > 0.0)
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn places_of(record: &Record, work: &str) -> WorkPlaces {
    // A failure of the medium says nothing about a combination; earlier results count.
    let counts = |cell: &&Cell| cell.label("work") == work && cell.is_of_combination();
    let cells = || record.cells.iter().filter(counts);
    let mut by_combination: BTreeMap<Combination, Vec<&Cell>> = BTreeMap::new();
    cells().for_each(|cell| by_combination.entry(Combination::of(cell)).or_default().push(cell));
    let headlines = |cells: &[&Cell]| -> Vec<(f64, bool)> {
        let heads = cells.iter().filter(|cell| cell.is_headline() && cell.stop != Stop::Error);
        heads.filter_map(|cell| cell.work_result()).collect()
    };
    let failure = |cells: &[&Cell]| {
        let failed = cells.iter().find(|cell| cell.is_headline() && cell.stop == Stop::Error);
        failed.map(|cell| cell.reason.clone().unwrap_or_else(|| "it failed".to_owned()))
    };
    let (mut combinations, mut failed, mut is_cut_short) = (Vec::new(), Vec::new(), false);
    for (combination, cells) in by_combination {
        match failure(&cells) {
            Some(reason) => {
                let good = headlines(&cells);
                is_cut_short |= !good.is_empty();
                failed.push((combination, with_repeats(reason, &good)));
            }
            None => combinations.push((combination, cells)),
        }
    }
    let larger_is_better = combinations
        .iter()
        .flat_map(|(_, cells)| headlines(cells))
        .next()
        .is_none_or(|(_, larger)| larger);
    let groups: Vec<Vec<f64>> = combinations
        .iter()
        .map(|(_, cells)| headlines(cells).into_iter().map(|(figure, _)| figure).collect())
        .collect();
    let ranked = contest(&groups, larger_is_better);
    let best = ranked.first().map_or(1.0, |placed| placed.centre);
    let place = |placed: &RankedGroup| {
        let (combination, cells) = &combinations[placed.group];
        place(combination, cells, &groups[placed.group], placed, best, larger_is_better)
    };
    WorkPlaces {
        work: work.to_owned(),
        larger_is_better,
        places: ranked.iter().map(place).collect(),
        failed,
        is_cut_short,
    }
}

/// Reason why a combination failed, with its earlier results.
fn with_repeats(reason: String, good: &[(f64, bool)]) -> String {
    let figures: Vec<String> =
        good.iter().map(|(figure, larger)| figure_words(*figure, *larger)).collect();
    if figures.is_empty() {
        reason
    } else {
        format!("{reason}; other repeats gave {}", figures.join(", "))
    }
}

fn figure_words(value: f64, larger_is_better: bool) -> String {
    if larger_is_better {
        format!("{} per second", significant(value))
    } else {
        format!("{} s", significant(value))
    }
}

fn place(
    combination: &Combination,
    cells: &[&Cell],
    figures: &[f64],
    placed: &RankedGroup,
    best: f64,
    larger_is_better: bool,
) -> CombinationResult {
    let other = |name: &str| {
        mean(cells.iter().filter_map(|cell| Some(cell.metrics.other.get(name)?.value)))
    };
    // A ratio of times is inverted, so that 1 is the best and less is worse for both.
    let relative = if larger_is_better { placed.centre / best } else { best / placed.centre };
    let ci95 = placed.to_best.map(|found| [found.ci95.low, found.ci95.high]);
    let ci95 =
        if larger_is_better { ci95 } else { ci95.map(|[low, high]| [1.0 / high, 1.0 / low]) };
    CombinationResult {
        combination: combination.clone(),
        figures: figures.to_vec(),
        centre: placed.centre,
        relative,
        ci95,
        rank: placed.rank,
        worst_stall_ns: cells.iter().filter_map(|cell| stall(cell)).max_by(f64::total_cmp),
        fairness: other("fairness"),
        extents_per_file: [metric::EXTENTS_PER_FILE_BEFORE, metric::EXTENTS_PER_FILE_AFTER]
            .map(other),
        fragmentation_read_ratio: other(metric::FRAGMENTATION_READ_RATIO),
        mkfs: cells
            .iter()
            .map(|cell| cell.label("mkfs"))
            .find(|line| !line.is_empty())
            .unwrap_or_default()
            .to_owned(),
    }
}

fn overall(works: &[WorkPlaces]) -> Vec<Overall> {
    let [first, _, ..] = works else { return Vec::new() };
    let is_shown = works
        .iter()
        .any(|work| work.places.get(1).is_some_and(|second| second.rank == ContestRank::Worse));
    let of_combination = |combination: &Combination| {
        let of_work = |work: &WorkPlaces| {
            let this = Combination { work: work.work.clone(), ..combination.clone() };
            let place = work.places.iter().find(|place| place.combination == this)?;
            Some((work.work.clone(), place.relative))
        };
        let relatives: Vec<(String, f64)> = works.iter().map(of_work).collect::<Option<_>>()?;
        let sum: f64 = relatives.iter().map(|(_, relative)| relative.ln()).sum();
        let relative = (sum / relatives.len() as f64).exp();
        let weakest = relatives.into_iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
        let combination = Combination { work: String::new(), ..combination.clone() };
        Some(Overall { combination, relative, weakest, is_shown })
    };
    let mut all: Vec<Overall> =
        first.places.iter().filter_map(|place| of_combination(&place.combination)).collect();
    all.sort_by(|a, b| b.relative.total_cmp(&a.relative));
    all
}

impl WorkPlaces {
    /// The recommended combination; `None` without any result.
    pub fn best(&self) -> Option<&CombinationResult> {
        self.places.first()
    }

    /// All combinations that may be as good as the best, including the best.
    pub fn equals(&self) -> Vec<&CombinationResult> {
        self.places.iter().filter(|place| place.rank != ContestRank::Worse).collect()
    }

    /// A figure in words: "1230 a second", "12.3 s".
    pub fn figure(&self, value: f64) -> String {
        figure_words(value, self.larger_is_better)
    }

    /// The recommendation in words with its margin, or the reason why there is none.
    pub fn statement(&self) -> String {
        let Some(best) = self.best() else {
            let what = if self.is_cut_short {
                "no combination passed every repeat"
            } else {
                "no combination gave a result"
            };
            return format!("{}: {what}.", self.work);
        };
        let named = format!("{}: {}", self.work, best.combination.words());
        let figure = self.figure(best.centre);
        let Some(second) = self.places.get(1) else {
            return format!("{named} is the only combination with a result, {figure}.");
        };
        let equals = self.equals();
        if second.rank == ContestRank::Worse {
            let margin = second.ci95.map(|[low, high]| {
                format!(" ({}x to {}x)", significant(1.0 / high), significant(1.0 / low))
            });
            let times = format!(
                "{}x faster than {}{}",
                significant(1.0 / second.relative),
                second.combination.words(),
                margin.unwrap_or_default()
            );
            return format!("{named} is best: {figure}, {times}, the next best.");
        }
        let others: Vec<String> =
            equals.iter().skip(1).take(3).map(|place| place.combination.words()).collect();
        let more = equals.len().saturating_sub(4);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let same = equals.iter().skip(1).all(|place| place.rank == ContestRank::Same);
        let why = if same {
            "they are equal within 10 %"
        } else {
            "the repeats vary too much or are too few"
        };
        format!(
            "{}: no important difference is shown between {} ({figure}) and {}{more}: {why}.",
            self.work,
            best.combination.words(),
            others.join("; ")
        )
    }
}

impl Matrix {
    /// Findings: one for each work, and one over all.
    pub fn findings(&self) -> Vec<Finding> {
        let finding = |statement: String, evidence: Vec<String>| {
            FindingBuilder::info("matrix", statement).notes(evidence).done()
        };
        let evidence = |work: &WorkPlaces| {
            let line = |place: &CombinationResult| {
                let interval = place
                    .ci95
                    .map(|[low, high]| format!(" ({} to {})", significant(low), significant(high)))
                    .unwrap_or_default();
                format!(
                    "{}: {}, {} of the best speed{interval}, n = {}",
                    place.combination.words(),
                    work.figure(place.centre),
                    significant(place.relative),
                    place.figures.len()
                )
            };
            work.places
                .iter()
                .map(line)
                .chain(work.failed.iter().map(|(combination, reason)| {
                    format!("{}: failed: {reason}", combination.words())
                }))
                .collect()
        };
        let mut found: Vec<Finding> =
            self.works.iter().map(|work| finding(work.statement(), evidence(work))).collect();
        found.extend(self.overall.first().map(|best| finding(best.statement(), Vec::new())));
        found
    }
}

impl Overall {
    /// Sentence on the best combination over all works, with its ratio to the best of each.
    pub fn statement(&self) -> String {
        let percent = |relative: f64| significant(relative * 100.0);
        let caveat = if self.is_shown {
            ""
        } else {
            " No work has a significant best, so this may be chance."
        };
        format!(
            "Over all works: {} is closest to the best of each, {} % of it on average and {} % at {}.{caveat}",
            self.combination.words(),
            percent(self.relative),
            percent(self.weakest.1),
            self.weakest.0
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_are_stalls_and_have_a_mean() {
        let of = |worst_ns: Option<f64>, max: u64| {
            let mut cell = crate::testing::iops(test::MATRIX, 1, 4096, 1.0, max);
            let estimate = |value| record::Estimate { value, ci95: None, n: 1 };
            let other = worst_ns.map(|ns| (metric::WORST_STALL_NS.to_owned(), estimate(ns)));
            cell.metrics.other.extend(other);
            stall(&cell)
        };
        assert_eq!(of(Some(5.0), 9), Some(5.0));
        assert_eq!(of(None, 9), Some(9.0));
        assert_eq!([of(Some(0.0), 9), of(Some(f64::INFINITY), 9), of(None, 0)], [None; 3]);
        assert_eq!(mean([1.0, 2.0, 6.0, f64::NAN].into_iter()), Some(3.0));
        assert_eq!(mean([f64::NAN].into_iter()), None);
    }
}
