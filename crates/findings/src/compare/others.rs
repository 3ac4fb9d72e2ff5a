//! Figures that are of no curve over block sizes: seeks, fills, commits, hdparm, what other tools
//! measured; a row a figure, which is the same where test and settings are.

use std::collections::BTreeSet;

use record::{Cell, Params, Record, quantities, test};
use serde::Serialize;

use super::works::compared;
use super::{ComparedFigure, FastestMedium, RunGroup, WORK, ratio};
use crate::figure::SoundFigure;
use crate::{gate, matrix, primary};

/// All media at one figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FigureRow {
    /// The test of the first medium.
    pub test: String,
    /// The head of its column of figures, where it has one: "hdparm -t".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The settings of the first medium.
    pub params: Params,
    /// The metric that is compared: "iops", "bps", "access_time_ns".
    pub metric: String,
    /// A figure for each medium, in the order of the media; null where there is none.
    pub figures: Vec<Option<ComparedFigure>>,
    /// Which is fastest; of times the one that takes the least.
    pub fastest: Option<FastestMedium>,
}

/// What makes two cells of two media the same figure.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FigureKey {
    test: String,
    settings: String,
    metric: String,
}

/// A figure with the cells of each medium.
struct Found<'a> {
    key: FigureKey,
    name: Option<String>,
    of: Vec<Vec<SoundFigure<'a>>>,
}

/// Rows of the figures that two or more media have, and what could not be compared.
pub(super) fn others(groups: &[RunGroup]) -> (Vec<FigureRow>, Vec<String>) {
    let mut found: Vec<Found> = Vec::new();
    for (at, group) in groups.iter().enumerate() {
        for (key, name, figure) in group.records.iter().flat_map(|record| of_record(record)) {
            let nth = found.iter().position(|it| it.key == key).unwrap_or_else(|| {
                found.push(Found { key, name, of: vec![Vec::new(); groups.len()] });
                found.len() - 1
            });
            found[nth].of[at].push(figure);
        }
    }
    let rows = found.iter().filter_map(row).collect();
    (rows, missing(groups, &found))
}

/// The figures of a record, each with what it is.
fn of_record(record: &Record) -> Vec<(FigureKey, Option<String>, SoundFigure<'_>)> {
    if matrix::of(record).is_some() {
        return Vec::new();
    }
    let cells: Vec<&Cell> = gate::cells(record).filter(|cell| !is_of_a_curve(cell)).collect();
    let mut found: Vec<(FigureKey, Option<String>, SoundFigure)> = Vec::new();
    for cell in &cells {
        let Some(figure) = primary::primary(cell) else { continue };
        let alike = |other: &&&Cell| other.test == cell.test && settings(other) == settings(cell);
        let span = cell.params.span_bytes.filter(|_| cells.iter().filter(alike).count() > 1);
        let (test, name, settings) = identity(cell);
        let settings = format!("{settings} {span:?}");
        let key = FigureKey { test, settings, metric: figure.name.to_owned() };
        // Of two that nothing tells apart the first stands.
        if found.iter().all(|(known, ..)| *known != key) {
            found.push((key, name, figure));
        }
    }
    found
}

fn is_of_a_curve(cell: &Cell) -> bool {
    WORK.iter().any(|(test, _)| *test == cell.test)
}

/// Test, name and settings; what has a column of figures is the same by whatever tool.
fn identity(cell: &Cell) -> (String, Option<String>, String) {
    let column = quantities(cell).into_iter().map(|(column, _)| column).next();
    match column.filter(|column| !matches!(column.family, "cpu" | "completion")) {
        Some(column) => (column.name, Some(column.head), String::new()),
        None => (cell.test.clone(), None, settings(cell)),
    }
}

/// The settings of a cell that make it another figure.
fn settings(cell: &Cell) -> String {
    let Params { block_bytes, queue_depth, threads, direction, pattern, .. } = &cell.params;
    let Params { region, content, form, other, .. } = &cell.params;
    format!(
        "{form:?} {block_bytes:?} {queue_depth} {threads} {direction:?} {pattern:?} {region:?} {content:?} {other:?}"
    )
}

fn row(found: &Found) -> Option<FigureRow> {
    let figures: Vec<Option<ComparedFigure>> = found.of.iter().map(|of| compared(of)).collect();
    if figures.iter().flatten().count() < 2 {
        return None;
    }
    let first = found.of.iter().flatten().next()?.cell;
    Some(FigureRow {
        test: first.test.clone(),
        name: found.name.clone(),
        params: first.params.clone(),
        metric: found.key.metric.clone(),
        fastest: fastest(found, &figures),
        figures,
    })
}

fn fastest(found: &Found, figures: &[Option<ComparedFigure>]) -> Option<FastestMedium> {
    let is_rate = primary::larger_is_better(&found.key.metric)?;
    let speed = |value: f64| if is_rate { value } else { -value };
    let known = figures.iter().enumerate();
    let mut order: Vec<(usize, f64)> =
        known.filter_map(|(at, figure)| Some((at, speed(figure.as_ref()?.value)))).collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let [(medium, _), (next, _), ..] = order[..] else { return None };
    let (over, under) = if is_rate { (medium, next) } else { (next, medium) };
    let point = ratio(0, &found.of[over], &found.of[under])?;
    let judgement = point.judgement;
    Some(FastestMedium { medium, next, ratio: point.ratio, ci95: point.ci95, judgement })
}

/// What one medium has and another has not, and tests that have no rate and no time; a line for
/// each reason.
fn missing(groups: &[RunGroup], found: &[Found]) -> Vec<String> {
    let mut lines: Vec<(String, Vec<String>)> = Vec::new();
    let mut add = |why: String, what: &str| {
        let at = lines.iter().position(|(known, _)| *known == why).unwrap_or_else(|| {
            lines.push((why, Vec::new()));
            lines.len() - 1
        });
        if !lines[at].1.iter().any(|known| known == what) {
            lines[at].1.push(what.to_owned());
        }
    };
    for one in found {
        let what = one.name.as_deref().unwrap_or(&one.key.test);
        for (group, _) in groups.iter().zip(&one.of).filter(|(_, of)| of.is_empty()) {
            add(why_not(group, &one.key), what);
        }
    }
    for (what, why) in refused(groups, found) {
        add(why, &what);
    }
    for test in without_a_figure(groups) {
        add("it has no rate and no time".to_owned(), test);
    }
    lines.into_iter().map(|(why, what)| format!("{}: {why}", what.join(", "))).collect()
}

/// Why a medium has no such figure.
fn why_not(group: &RunGroup, key: &FigureKey) -> String {
    let mut cells =
        group.records.iter().flat_map(|record| record.cells.iter().map(move |cell| (record, cell)));
    let same = |cell: &Cell| identity(cell).0 == key.test;
    let refused = cells
        .clone()
        .filter(|(_, cell)| same(cell))
        .find_map(|(record, cell)| gate::refusal(record, cell));
    let name = &group.name;
    match refused {
        Some(why) => format!("not of {name}, {why}"),
        None if cells.any(|(_, cell)| same(cell)) => {
            format!("measured of {name} with other settings")
        }
        None => format!("not measured of {name}"),
    }
}

/// Figures that no medium has because none of their cells may be used.
fn refused(groups: &[RunGroup], found: &[Found]) -> Vec<(String, String)> {
    let of_record = |record: &&Record| -> Vec<(String, String)> {
        let cells = record.cells.iter().filter(|cell| !is_of_a_curve(cell));
        let named = cells.filter_map(|cell| {
            let (test, name, _) = identity(cell);
            let is_known = found.iter().any(|one| one.key.test == test);
            let why = gate::refusal(record, cell).filter(|_| !is_known)?;
            Some((name.unwrap_or(test), why.to_string()))
        });
        named.collect()
    };
    let records = groups.iter().flat_map(|group| group.records.iter().copied());
    records.filter(|record| matrix::of(record).is_none()).flat_map(|it| of_record(&it)).collect()
}

/// Tests whose cells may be used and are no speed.
fn without_a_figure<'a>(groups: &[RunGroup<'a>]) -> BTreeSet<&'a str> {
    let records = || groups.iter().flat_map(|group| group.records.iter().copied());
    let usual = records().filter(|record| matrix::of(record).is_none());
    let cells = usual.flat_map(gate::cells).filter(|cell| !is_of_a_curve(cell));
    let is_known = |cell: &&Cell| primary::primary(cell).is_none() && cell.test != test::MATRIX;
    cells.filter(is_known).map(|cell| cell.test.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use record::units::{KIB, MIB};

    use super::*;
    use crate::testing::{cell, empty, known};

    fn medium(name: &str, cells: Vec<Cell>) -> Record {
        let mut record = Record { cells, ..empty() };
        record.medium.model = Some(name.into());
        record
    }

    fn seeks(number: u32, value: f64) -> Cell {
        let mut seek = cell(test::SEEK, number, 512);
        seek.metrics.other.insert(record::metric::SEEKS_PER_S.into(), known(value, 0.01, 300));
        seek
    }

    /// Of two runs of seek and hdparm nothing was compared, without a word.
    #[test]
    fn every_test_with_a_figure_is_compared() {
        let read = |bps| {
            let mut read = cell(test::BUFFERED_READ, 1, 2 * MIB);
            read.metrics.bps = Some(record::Estimate { value: bps, ci95: None, n: 1 });
            read
        };
        let (one, other) = (
            medium("one", vec![seeks(1, 2000.0), read(80e6), cell(test::CAPACITY, 1, MIB)]),
            medium("other", vec![seeks(1, 1000.0), read(20e6), cell(test::COMMIT, 1, 4 * KIB)]),
        );
        let found = crate::compare(&[one, other]);
        let told: Vec<_> = found
            .figures
            .iter()
            .filter_map(|row| {
                let fastest = row.fastest?.of_first();
                Some((row.name.as_deref()?, fastest.ratio, fastest.judgement))
            })
            .collect();
        use crate::FasterMedium::{Faster, Unclear};
        assert_eq!(told, [("Seeks", 2.0, Faster), ("hdparm -t", 4.0, Unclear)]);
        assert_eq!(found.not_compared, ["capacity, commit: it has no rate and no time"]);
    }

    #[test]
    fn of_times_the_shortest_is_the_fastest() {
        let taking = |ms: f64| {
            let mut write = cell(test::SECTOR_WRITE, 1, 512);
            write.metrics.other.insert("mean_ms".into(), known(ms, 0.01, 300));
            write
        };
        let media = [medium("slow", vec![taking(10.0)]), medium("fast", vec![taking(2.0)])];
        let fastest = crate::compare(&media).figures[0].fastest.unwrap();
        assert_eq!(
            (fastest.medium, fastest.ratio, fastest.judgement),
            (1, 5.0, crate::FasterMedium::Faster)
        );
    }

    #[test]
    fn what_only_one_has_is_named_with_the_reason() {
        let mut broken = seeks(1, 900.0);
        broken.stop = record::Stop::Error;
        let media = [medium("one", vec![seeks(1, 1000.0)]), medium("other", vec![broken])];
        let told = crate::compare(&media).not_compared;
        assert_eq!(told, ["Seeks: not of other, it was stopped early"]);
        let media = [medium("one", vec![seeks(1, 1000.0)]), medium("other", vec![])];
        assert_eq!(crate::compare(&media).not_compared, ["Seeks: not measured of other"]);
    }
}
