//! Figures that belong to no curve over block sizes: seeks, fills, commits, hdparm, results of
//! other tools. A row for each figure; figures are the same if test and settings are.

use std::collections::{BTreeMap, BTreeSet};

use record::units::{Bytes, MIB};
use record::{
    Cell, Content, Estimate, FigureColumn, Params, Record, Region, metric, quantities, test,
};
use serde::Serialize;
use stats::RunRate;

use super::works::{compared, ranged};
use super::{AtSize, ComparedFigure, FastestMedium, MediaRatio, RunGroup, WORK, run_rates};
use crate::figures::figure::UsableEstimate;
use crate::figures::{primary, usability};
use crate::matrix;

/// All media at one figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FigureRow {
    /// The test of the first medium.
    pub test: String,
    /// Head of its column of figures, if it has one: "hdparm -t".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The settings of the first medium.
    pub params: Params,
    /// Compared metric: "iops", "bps", "access_time_ns".
    pub metric: String,
    /// A figure for each medium, in the order of the media; null if there is none.
    pub figures: Vec<Option<ComparedFigure>>,
    /// For two media the ratio of the first to the second, with or without an interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of_first: Option<MediaRatio>,
    /// The fastest of the media with a range; for times the one with the lowest.
    pub fastest: Option<FastestMedium>,
}

/// Key of a figure: cells of two media with the same key are compared.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct FigureKey {
    test: String,
    metric: String,
    settings: String,
}

/// A figure with the cells of each medium.
struct FigureCells<'a> {
    /// Its position among all, in the order of the runs.
    nth: usize,
    name: Option<String>,
    of: Vec<Vec<UsableEstimate<'a>>>,
}

type AllFound<'a> = BTreeMap<FigureKey, FigureCells<'a>>;
/// Reasons, each with the figures that it concerns.
type ExclusionReasons = BTreeMap<String, BTreeSet<String>>;

/// Rows of the figures that at least two media have, and reasons for left-out comparisons.
pub(super) fn others(groups: &[RunGroup]) -> (Vec<FigureRow>, Vec<String>) {
    let mut reasons = ExclusionReasons::new();
    let spans = unlike_spans(groups);
    let mut found = AllFound::new();
    for (at, group) in groups.iter().enumerate() {
        for record in &group.records {
            let mut known: BTreeSet<FigureKey> = BTreeSet::new();
            for (key, name, figure) in of_record(record, &spans) {
                // Of two indistinguishable ones the first counts.
                if known.insert(key.clone()) {
                    let nth = found.len();
                    let none = || FigureCells { nth, name, of: vec![Vec::new(); groups.len()] };
                    found.entry(key).or_insert_with(none).of[at].push(figure);
                } else {
                    let why = format!("measured again of {} with the same settings", group.name);
                    reasons.entry(why).or_default().insert(name.unwrap_or(key.test));
                }
            }
        }
    }
    by_whatever_tool(&mut found, groups.len());
    let mut in_order: Vec<(&FigureKey, &FigureCells)> = found.iter().collect();
    in_order.sort_by_key(|(_, found)| found.nth);
    let rows = in_order.into_iter().filter_map(|(key, found)| row(key, found)).collect();
    (rows, missing(groups, &found, reasons))
}

/// The usable cells of a record that belong to no curve.
fn usable(record: &Record) -> impl Iterator<Item = &Cell> {
    let is_matrix = matrix::of(record).is_some();
    usability::cells(record).filter(move |cell| !is_matrix && !is_of_a_curve(cell))
}

/// Spans and offsets for settings that occur several times in a run, to distinguish them. In other
/// cases they follow from the size of the medium.
fn unlike_spans(groups: &[RunGroup]) -> BTreeSet<(String, String)> {
    let mut unlike = BTreeSet::new();
    for record in groups.iter().flat_map(|group| &group.records) {
        let mut known: BTreeMap<(String, String), [Option<u64>; 2]> = BTreeMap::new();
        for cell in usable(record) {
            let key = (identity(cell).0, settings(cell));
            let span = [cell.params.span_offset_bytes, cell.params.span_bytes];
            match known.get(&key) {
                Some(other) if *other != span => drop(unlike.insert(key)),
                Some(_) => {}
                None => drop(known.insert(key, span)),
            }
        }
    }
    unlike
}

/// The figures of a record, each with its key.
fn of_record<'a>(
    record: &'a Record,
    spans: &BTreeSet<(String, String)>,
) -> Vec<(FigureKey, Option<String>, UsableEstimate<'a>)> {
    let figure = |cell: &'a Cell| {
        let (test, name) = identity(cell);
        let figure = known_by(cell)?;
        let key = (test, settings(cell));
        let is_unlike = spans.contains(&key);
        let (test, mut settings) = key;
        if is_unlike {
            settings +=
                &format!(" {:?} {:?}", cell.params.span_offset_bytes, cell.params.span_bytes);
        }
        Some((FigureKey { test, metric: figure.name.to_owned(), settings }, name, figure))
    };
    usable(record).filter_map(figure).collect()
}

/// Joins figures of tools that do not record settings as Flashmark does: a figure of a tool is
/// compared with figures of the same column, with the settings that most media have. The others are
/// listed.
fn by_whatever_tool(found: &mut AllFound, media: usize) {
    let is_tool = |figure: &UsableEstimate| !figure.cell.label("tool").is_empty();
    let mut columns: BTreeMap<(String, String), Vec<FigureKey>> = BTreeMap::new();
    for (key, _) in found.iter().filter(|(_, found)| found.name.is_some()) {
        columns.entry((key.test.clone(), key.metric.clone())).or_default().push(key.clone());
    }
    for keys in columns.into_values().filter(|keys| keys.len() > 1) {
        let rank = |key: &&FigureKey| {
            let of = &found[*key].of;
            let is_ours = of.iter().flatten().any(|figure| !is_tool(figure));
            (of.iter().filter(|of| !of.is_empty()).count(), is_ours)
        };
        let Some(most) = keys.iter().rev().max_by_key(rank).cloned() else { continue };
        let is_all_tools = found[&most].of.iter().flatten().all(is_tool);
        for at in 0..media {
            if !found[&most].of[at].is_empty() {
                continue;
            }
            let fits = |key: &&FigureKey| {
                let of = &found[*key].of[at];
                !of.is_empty() && (is_all_tools || of.iter().all(is_tool))
            };
            let Some(key) = keys.iter().find(fits) else { continue };
            let moved = found.get_mut(key).map(|from| std::mem::take(&mut from.of[at]));
            if let (Some(moved), Some(to)) = (moved, found.get_mut(&most)) {
                to.of[at] = moved;
            }
        }
    }
    found.retain(|_, found| found.of.iter().any(|of| !of.is_empty()));
}

fn is_of_a_curve(cell: &Cell) -> bool {
    WORK.iter().any(|(test, _)| *test == cell.test)
}

/// Column of a cell, with its figure there.
fn column(cell: &Cell) -> Option<(FigureColumn, Estimate)> {
    let mut all = quantities(cell);
    // The access time is what articles compare; the rate is its inverse.
    let time = all.iter().position(|(column, _)| column.name == "seek-ms").unwrap_or(0);
    let first = (time < all.len()).then(|| all.swap_remove(time));
    first.filter(|(column, _)| !matches!(column.family, "cpu" | "completion"))
}

/// The figure by which a cell is compared: that of its column, which is independent of the tool.
fn known_by(cell: &Cell) -> Option<UsableEstimate<'_>> {
    let in_column = column(cell).and_then(|(column, found)| {
        let (name, factor) = match column.unit {
            "MB/s" => (metric::BPS, 1e6),
            "MiB/s" => (metric::BPS, MIB as f64),
            "IOPS" => (metric::IOPS, 1.0),
            "seeks/s" => (metric::SEEKS_PER_S, 1.0),
            "groups/s" => (metric::GROUPS_PER_S, 1.0),
            "ms" if column.family == "seek" => (metric::ACCESS_TIME_NS, 1e6),
            "ms" => ("mean_ms", 1.0),
            _ => return None,
        };
        let ci95 = found.ci95.map(|ends| ends.map(|end| end * factor));
        UsableEstimate::estimated(
            cell,
            name,
            Estimate { value: found.value * factor, ci95, ..found },
        )
    });
    in_column.or_else(|| primary::primary(cell))
}

/// Test or column, and the head of the column.
fn identity(cell: &Cell) -> (String, Option<String>) {
    match column(cell) {
        Some((column, _)) => (column.name, Some(column.head)),
        None => (cell.test.clone(), None),
    }
}

/// Settings that decide when a cell ends, not what it measures.
pub(super) const STOP_RULES: [&str; 5] = ["certainty", "min_ns", "commits", "enough_ops", "runs"];

/// Settings of a cell that are part of the figure's key.
fn settings(cell: &Cell) -> String {
    let Params { block_bytes, queue_depth, threads, direction, pattern, .. } = &cell.params;
    let Params { region, content, form, path, sync, other, .. } = &cell.params;
    let other: Vec<(&String, &f64)> =
        other.iter().filter(|(name, _)| !STOP_RULES.contains(&name.as_str())).collect();
    // The start of the middle follows from the size of the medium.
    let offset = cell.params.span_offset_bytes.filter(|_| *region != Some(Region::Middle));
    format!(
        "{form:?} {block_bytes:?} {queue_depth} {threads} {direction:?} {pattern:?} {region:?} {content:?} {path:?} {sync:?} {offset:?} {other:?}"
    )
}

fn row(key: &FigureKey, found: &FigureCells) -> Option<FigureRow> {
    let figures: Vec<Option<ComparedFigure>> = found.of.iter().map(|of| compared(of)).collect();
    if figures.iter().flatten().count() < 2 {
        return None;
    }
    let first = found.of.iter().flatten().next()?.cell;
    let is_rate = primary::larger_is_better(&key.metric);
    let speeds = |runs: Vec<RunRate>| -> Option<Vec<RunRate>> {
        let is_rate = is_rate?;
        Some(runs.into_iter().map(|run| if is_rate { run } else { run.inverted() }).collect())
    };
    let all: Option<Vec<_>> = found.of.iter().map(|of| speeds(run_rates(of))).collect();
    let ranged: Option<Vec<_>> = found.of.iter().map(|of| speeds(ranged(of))).collect();
    let first_two = all.filter(|all| all.len() == 2);
    Some(FigureRow {
        test: first.test.clone(),
        name: found.name.clone(),
        params: first.params.clone(),
        metric: key.metric.clone(),
        of_first: first_two.and_then(|two| MediaRatio::of(&two[0], &two[1])),
        fastest: ranged.and_then(|ranged| FastestMedium::among(&ranged)),
        figures,
    })
}

/// Figures that only some media have, and tests without a rate or a time; a line for each reason.
fn missing(groups: &[RunGroup], found: &AllFound, mut reasons: ExclusionReasons) -> Vec<String> {
    let mut add = |why: String, what: &str| {
        reasons.entry(why).or_default().insert(what.to_owned());
    };
    let tests: Vec<BTreeMap<String, Option<usability::ExclusionReason>>> =
        groups.iter().map(tests_of).collect();
    for (key, one) in found {
        let what = one.name.as_deref().unwrap_or(&key.test);
        for (at, _) in one.of.iter().enumerate().filter(|(_, of)| of.is_empty()) {
            let name = &groups[at].name;
            let why = match tests[at].get(&key.test) {
                Some(Some(why)) => format!("not of {name}, {why}"),
                Some(None) => format!("measured of {name} with other settings"),
                None => format!("not measured of {name}"),
            };
            add(why, what);
        }
    }
    let known: BTreeSet<&str> = found.keys().map(|key| key.test.as_str()).collect();
    for (what, why) in refused(groups, &known) {
        add(why, &what);
    }
    for (what, why) in beside_curves(groups) {
        add(why.to_owned(), &what);
    }
    for test in without_a_figure(groups) {
        add("it has no rate and no time".to_owned(), test);
    }
    let line = |(why, what): (String, BTreeSet<String>)| {
        format!("{}: {why}", what.into_iter().collect::<Vec<_>>().join(", "))
    };
    reasons.into_iter().map(line).collect()
}

/// Tests and columns of a medium, each with the reason if one of its cells may not be used.
fn tests_of(group: &RunGroup) -> BTreeMap<String, Option<usability::ExclusionReason>> {
    let mut tests = BTreeMap::new();
    for record in &group.records {
        for cell in record.cells.iter().filter(|cell| !is_of_a_curve(cell)) {
            let why: &mut Option<usability::ExclusionReason> =
                tests.entry(identity(cell).0).or_default();
            if why.is_none() {
                *why = usability::exclusion(record, cell);
            }
        }
    }
    tests
}

/// Runs that are not a matrix.
fn usual<'a>(groups: &[RunGroup<'a>]) -> impl Iterator<Item = &'a Record> {
    let records = groups.iter().flat_map(|group| group.records.iter().copied());
    records.filter(|record| matrix::of(record).is_none())
}

/// Figures that no medium has because none of their cells may be used.
fn refused(groups: &[RunGroup], known: &BTreeSet<&str>) -> Vec<(String, String)> {
    let of_record = |record: &Record| -> Vec<(String, String)> {
        let cells = record.cells.iter().filter(|cell| !is_of_a_curve(cell));
        let named = cells.filter_map(|cell| {
            let (test, name) = identity(cell);
            let why =
                usability::exclusion(record, cell).filter(|_| !known.contains(test.as_str()))?;
            Some((name.unwrap_or(test), why.to_string()))
        });
        named.collect()
    };
    usual(groups).flat_map(of_record).collect()
}

/// Random and sequential I/O without a curve: only the standard cell of a block size belongs to a
/// curve.
fn beside_curves(groups: &[RunGroup]) -> BTreeSet<(String, String)> {
    let mut beside = BTreeSet::new();
    for record in usual(groups) {
        let mut representatives: BTreeMap<(&str, u64), Option<&Cell>> = BTreeMap::new();
        for cell in record.cells.iter().filter(|cell| is_of_a_curve(cell)) {
            let why = match (usability::exclusion(record, cell), cell.params.block_bytes) {
                (Some(why), _) => Some(why.to_string()),
                (None, None) => Some("it has no block size".to_owned()),
                (None, Some(block)) => {
                    let stands = representatives
                        .entry((&cell.test, block))
                        .or_insert_with(|| AtSize::of(groups, &cell.test, block).cell(record));
                    let is_other = stands.is_none_or(|stands| !std::ptr::eq(stands, cell));
                    is_other.then(|| "another stands for its block size".to_owned())
                }
            };
            beside.extend(why.map(|why| (in_words(cell), why)));
        }
    }
    beside
}

/// "random-read 4 KiB QD 32 zeros".
fn in_words(cell: &Cell) -> String {
    let Params { block_bytes, queue_depth, threads, content, span_bytes, form, .. } = &cell.params;
    let mut words = vec![cell.test.clone()];
    words.extend(form.iter().cloned());
    words.extend(block_bytes.map(|bytes| Bytes(bytes).to_string()));
    words.extend((*queue_depth > 1).then(|| format!("QD {queue_depth}")));
    words.extend((*threads > 1).then(|| format!("{threads} threads")));
    words.extend(content.filter(|it| *it == Content::Zeros).map(|_| "zeros".to_owned()));
    words.extend(span_bytes.map(|bytes| format!("within {}", Bytes(bytes))));
    words.join(" ")
}

/// Tests with usable cells that have no rate.
fn without_a_figure<'a>(groups: &[RunGroup<'a>]) -> BTreeSet<&'a str> {
    let cells = usual(groups).flat_map(usability::cells).filter(|cell| !is_of_a_curve(cell));
    let is_known = |cell: &&Cell| known_by(cell).is_none() && cell.test != test::MATRIX;
    cells.filter(is_known).map(|cell| cell.test.as_str()).collect()
}
