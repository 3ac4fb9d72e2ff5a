//! A kind of work of a comparison: its table, sentences about it, and its chart.

use findings::{
    BlockSizePoint, ComparedFigure, FasterMedium, FastestMedium, MediaComparison, MediaRatio,
    WorkComparison, WorkRow,
};
use record::text::{capitalised, printable};
use record::units::{Bytes, significant};

use super::Ranges;
use super::names::Names;
use crate::tables::Table;
use crate::words;

pub(super) fn title(work: &WorkComparison) -> String {
    capitalised(&words::test(&work.test))
}

/// Order of the media in columns: as named; for a change, before and then after.
pub(super) fn columns(comparison: &MediaComparison) -> Vec<usize> {
    let mut columns: Vec<usize> = (0..comparison.media.len()).collect();
    if comparison.is_change {
        columns.reverse();
    }
    columns
}

/// A row of a table of several media.
pub(super) struct MediaRow {
    pub name: String,
    /// The figure of each medium.
    pub figures: Vec<Option<String>>,
    /// The first of two media against the second.
    pub pair: Option<MediaRatio>,
    pub fastest: Option<FastestMedium>,
}

/// A table with a column for each medium, and one for the faster medium with its ratio.
pub(super) fn media_table(
    first: &str,
    comparison: &MediaComparison,
    names: &Names,
    rows: impl Iterator<Item = MediaRow>,
) -> Table {
    let columns = columns(comparison);
    let is_pair = columns.len() == 2;
    let last = if is_pair { format!("{} is", names.head(0)) } else { "Fastest".to_owned() };
    let heads = columns.iter().map(|at| format!("#{}", names.head(*at)));
    let heads = std::iter::once(first.to_owned()).chain(heads).chain([last]);
    let mut table = Table::named(heads.collect());
    for row in rows {
        let figure = |at: &usize| row.figures.get(*at).cloned().flatten();
        let figures = columns.iter().map(|at| figure(at).unwrap_or_else(|| "-".to_owned()));
        let pair = row.pair.as_ref().map(super::judged).unwrap_or_default();
        let judged = if is_pair { pair } else { fastest(row.fastest, names) };
        let cells = std::iter::once(row.name).chain(figures).chain([judged]).collect();
        table.push(cells, Vec::new());
    }
    table
}

/// A row for each block size.
pub(super) fn table(
    comparison: &MediaComparison,
    work: &WorkComparison,
    names: &Names,
    ranges: Ranges,
) -> Table {
    media_table("Block", comparison, names, rows(comparison, work, ranges))
}

/// The rows of a work.
pub(super) fn rows(
    comparison: &MediaComparison,
    work: &WorkComparison,
    ranges: Ranges,
) -> impl Iterator<Item = MediaRow> {
    let figure =
        move |found: &Option<ComparedFigure>| found.map(|it| ranges.quantity(&work.metric, it));
    work.rows.iter().map(move |row| MediaRow {
        name: Bytes(row.block_bytes).to_string(),
        figures: row.figures.iter().map(figure).collect(),
        pair: pair(comparison, work, row),
        fastest: row.fastest,
    })
}

/// The first of two media against the second.
fn pair(comparison: &MediaComparison, work: &WorkComparison, row: &WorkRow) -> Option<MediaRatio> {
    let curve = comparison.curves.iter().find(|curve| curve.test == work.test);
    let is_it = |point: &&BlockSizePoint| point.block_bytes == row.block_bytes;
    Some(curve?.points.iter().find(is_it)?.found)
}

/// "A: 3.10x B (2.90x to 3.30x)", "A or B".
fn fastest(fastest: Option<FastestMedium>, names: &Names) -> String {
    let Some(FastestMedium { medium, next, found }) = fastest else {
        return String::new();
    };
    let (first, second) = (names.head(medium), names.head(next));
    match (found.judgement, found.ci95) {
        (FasterMedium::Faster, Some([low, high])) => format!(
            "{first}: {}x {second} ({}x to {}x)",
            significant(found.ratio),
            significant(low),
            significant(high)
        ),
        _ => format!("{first} or {second}"),
    }
}

/// Sentences about crossings of the curves, or about the medium that is fastest everywhere.
pub(super) fn sentences(comparison: &MediaComparison, work: &WorkComparison) -> Vec<String> {
    let curves = comparison.curves.iter().filter(|curve| curve.test == work.test);
    if comparison.media.len() == 2 {
        return curves.flat_map(super::sentences).collect();
    }
    let crossings = curves.flat_map(super::crossings);
    let sure = |row: &WorkRow| {
        row.fastest.filter(|it| it.found.judgement == FasterMedium::Faster).map(|it| it.medium)
    };
    let first = work.rows.first().and_then(sure);
    let everywhere = first
        .filter(|_| work.rows.iter().all(|row| sure(row) == first))
        .and_then(|medium| comparison.media.get(medium))
        .map(|medium| format!("{} is the fastest at every size.", printable(&medium.name)));
    everywhere.into_iter().chain(crossings).collect()
}
