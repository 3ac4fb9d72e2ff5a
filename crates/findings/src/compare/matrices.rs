//! Comparison of matrices: each combination of file system, mount options and scheduler at each
//! work, cell by cell.
//!
//! A comparison needs repeats of a combination. A single try does not show how much the next one
//! would differ, so nothing is concluded from it (docs/field/statistics.md#comparing-runs).

use std::collections::{BTreeMap, BTreeSet};

use record::{Cell, Combination, Params, Record};
use serde::Serialize;
use stats::RunRate;

use super::{ComparedFigure, FastestMedium, RunGroup};
use crate::figures::usability;
use crate::matrix::{self, Matrix, WorkPlaces};

mod missing;

/// All media at one work, for every combination that one of them was tried in.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MatrixComparison {
    /// Name of the work, such as "untar".
    pub work: String,
    /// True if figures are rates (operations per second; more is better); false for seconds.
    pub larger_is_better: bool,
    /// A row for each combination with figures of at least two media.
    pub rows: Vec<CombinationRow>,
}

/// All media at one combination.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CombinationRow {
    /// File system, mount options and scheduler, as named in a matrix.
    #[serde(rename = "way")]
    pub combination: String,
    /// A figure for each medium, in the order of the media: the geometric mean of its repeats, with
    /// the lowest and the highest. Null if there is none.
    pub figures: Vec<Option<ComparedFigure>>,
    /// The fastest medium; for figures in seconds the one with the lowest.
    pub fastest: Option<FastestMedium>,
}

/// Results of one medium at one work.
struct WorkResults<'a> {
    /// Figures of all repeats, by combination.
    figures: BTreeMap<Combination, Vec<f64>>,
    /// Combinations that failed, with the reason.
    failed: Vec<(Combination, String)>,
    larger_is_better: bool,
    /// The settings of the work.
    params: Option<&'a Params>,
}

/// Works that at least two groups tried, and reasons for left-out comparisons.
pub(super) fn matrices(groups: &[RunGroup]) -> (Vec<MatrixComparison>, Vec<String>) {
    let found: Vec<Vec<(&Record, Matrix)>> = groups.iter().map(of_group).collect();
    let works: BTreeSet<&str> = found.iter().flatten().flat_map(names).collect();
    if found.iter().filter(|matrices| !matrices.is_empty()).count() < 2 {
        return (Vec::new(), missing::without_a_matrix(groups, &works));
    }
    let (mut compared, mut missing) = (Vec::new(), missing::MissingCombinations::default());
    for work in works {
        let tried: Vec<Option<WorkResults>> = found.iter().map(|of| tried(of, work)).collect();
        match unlike(groups, &tried) {
            Some(why) => missing.add(format!("{work}: {why}"), String::new()),
            None => compared.extend(compare(groups, &tried, work, &mut missing)),
        }
    }
    (compared, missing.lines())
}

/// The matrices of a medium; without runs that may not be used for statements.
fn of_group<'a>(group: &RunGroup<'a>) -> Vec<(&'a Record, Matrix)> {
    let usable = group.records.iter().filter(|record| usability::of_run(record).is_none());
    usable.filter_map(|record| Some((*record, matrix::of(record)?))).collect()
}

fn names<'a>((_, matrix): &'a (&Record, Matrix)) -> impl Iterator<Item = &'a str> + use<'a> {
    matrix.works.iter().map(|work| work.work.as_str())
}

fn tried<'a>(matrices: &[(&'a Record, Matrix)], work: &str) -> Option<WorkResults<'a>> {
    let places: Vec<&WorkPlaces> =
        matrices.iter().flat_map(|(_, of)| &of.works).filter(|of| of.work == work).collect();
    let larger_is_better = places.first()?.larger_is_better;
    let mut figures: BTreeMap<Combination, Vec<f64>> = BTreeMap::new();
    let alike = places.iter().filter(|of| of.larger_is_better == larger_is_better);
    for place in alike.flat_map(|of| &of.places) {
        figures.entry(place.combination.clone()).or_default().extend(&place.figures);
    }
    let failed = places.iter().flat_map(|of| of.failed.clone()).collect();
    let cells = matrices.iter().flat_map(|(record, _)| &record.cells);
    let params = cells.filter(|cell| is_headline(cell, work)).map(|cell| &cell.params).next();
    Some(WorkResults { figures, failed, larger_is_better, params })
}

fn is_headline(cell: &Cell, work: &str) -> bool {
    cell.label("work") == work && cell.is_headline() && !cell.stop.cut_short()
}

/// Reason why a work of one medium differs from that of the others.
fn unlike(groups: &[RunGroup], tried: &[Option<WorkResults>]) -> Option<String> {
    let known =
        || groups.iter().zip(tried).filter_map(|(group, tried)| Some((group, tried.as_ref()?)));
    let (first, of_first) = known().next()?;
    let differs = |settings: &dyn Fn(&WorkResults) -> String| {
        let other = known().find(|(_, of)| settings(of) != settings(of_first))?;
        let (here, there) = (settings(of_first), settings(other.1));
        Some(format!("{here} of {}, {there} of {}", first.name, other.0.name))
    };
    let unit = |of: &WorkResults| if of.larger_is_better { "a rate" } else { "seconds" }.to_owned();
    differs(&unit).or_else(|| differs(&|of| of.params.map(settings).unwrap_or_default()))
}

/// Settings that define a work. The place of its files on the medium is not one of them.
fn settings(params: &Params) -> String {
    let Params { block_bytes, queue_depth, threads, sync, form, other, .. } = params;
    let mut names: Vec<String> = form.iter().cloned().collect();
    names.extend(block_bytes.map(|bytes| record::units::Bytes(bytes).to_string()));
    names.extend((*threads > 1).then(|| format!("{threads} threads")));
    names.extend((*queue_depth > 1).then(|| format!("queue depth {queue_depth}")));
    names.push(format!("sync {}", format!("{sync:?}").to_lowercase()));
    names.extend(other.iter().map(|(name, value)| format!("{name} {value}")));
    names.join(", ")
}

fn compare(
    groups: &[RunGroup],
    tried: &[Option<WorkResults>],
    work: &str,
    missing: &mut missing::MissingCombinations,
) -> Option<MatrixComparison> {
    let known = || tried.iter().flatten();
    let larger_is_better = known().next()?.larger_is_better;
    let failed = known().flat_map(|of| of.failed.iter().map(|(combination, _)| combination));
    let combinations: BTreeSet<&Combination> =
        known().flat_map(|of| of.figures.keys()).chain(failed).collect();
    let mut rows = Vec::new();
    for combination in combinations {
        let figures: Vec<&[f64]> =
            tried.iter().map(|of| of_combination(of.as_ref(), combination)).collect();
        for (group, of) in groups
            .iter()
            .zip(tried)
            .filter(|(_, of)| of_combination(of.as_ref(), combination).is_empty())
        {
            let failed =
                of.as_ref().and_then(|of| of.failed.iter().find(|(it, _)| it == combination));
            let why = failed.map(|(_, why)| format!("failed: {why}"));
            let why = why.unwrap_or_else(|| missing::why_not_tried(&group.records, combination));
            missing.add(
                format!("not of {}: {why}", group.name),
                format!("{work}, {}", combination.words()),
            );
        }
        if figures.iter().filter(|of| !of.is_empty()).count() >= 2 {
            rows.push(row(combination, &figures, larger_is_better));
        }
    }
    (!rows.is_empty()).then(|| MatrixComparison { work: work.to_owned(), larger_is_better, rows })
}

/// Figures of a combination that never failed.
fn of_combination<'a>(tried: Option<&'a WorkResults>, combination: &Combination) -> &'a [f64] {
    let Some(tried) = tried.filter(|of| !of.failed.iter().any(|(failed, _)| failed == combination))
    else {
        return &[];
    };
    tried.figures.get(combination).map_or(&[], Vec::as_slice)
}

fn row(combination: &Combination, figures: &[&[f64]], larger_is_better: bool) -> CombinationRow {
    let compared = |of: &&[f64]| {
        let value = stats::geometric_mean(of)?;
        let ends =
            of.iter().fold([f64::MAX, f64::MIN], |[low, high], x| [low.min(*x), high.max(*x)]);
        Some(ComparedFigure { value, range: (of.len() > 1).then_some(ends), runs: of.len() })
    };
    let speed = |figure: &f64| {
        let run = RunRate::bare(*figure);
        if larger_is_better { run } else { run.inverted() }
    };
    let speeds: Vec<Vec<RunRate>> =
        figures.iter().map(|of| of.iter().map(speed).collect()).collect();
    CombinationRow {
        combination: combination.words(),
        figures: figures.iter().map(compared).collect(),
        fastest: FastestMedium::among(&speeds),
    }
}
