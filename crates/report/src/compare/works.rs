//! A kind of work of a comparison: its table, sentences about it, and its chart.

use findings::{FasterMedium, FastestMedium, MediaComparison, WorkComparison, WorkRow};
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

/// A row for each block size, a column for each medium, and the faster medium with its ratio.
pub(super) fn table(
    comparison: &MediaComparison,
    work: &WorkComparison,
    names: &Names,
    ranges: Ranges,
) -> Table {
    let columns = columns(comparison);
    let is_pair = columns.len() == 2;
    let last = if is_pair { format!("{} is", names.head(0)) } else { "Fastest".to_owned() };
    let heads = columns.iter().map(|at| format!("#{}", names.head(*at)));
    let mut table = Table::named(
        std::iter::once("Block".to_owned()).chain(heads).chain(std::iter::once(last)).collect(),
    );
    for row in &work.rows {
        let figure = |at: &usize| {
            let figure = row.figures.get(*at).copied().flatten();
            figure.map_or("-".to_owned(), |found| ranges.quantity(&work.metric, found))
        };
        let judged =
            if is_pair { of_pair(comparison, work, row) } else { fastest(row.fastest, names) };
        let cells = std::iter::once(Bytes(row.block_bytes).to_string())
            .chain(columns.iter().map(figure))
            .chain(std::iter::once(judged))
            .collect();
        table.push(cells, Vec::new());
    }
    table
}

/// Comparison of the first of two media with the second.
fn of_pair(comparison: &MediaComparison, work: &WorkComparison, row: &WorkRow) -> String {
    let curve = comparison.curves.iter().find(|curve| curve.test == work.test);
    let point = curve
        .and_then(|curve| curve.points.iter().find(|point| point.block_bytes == row.block_bytes));
    point.map(|point| super::judged(&point.found)).unwrap_or_default()
}

/// "A: 3.10x B (2.90x to 3.30x)", "A or B".
pub(super) fn fastest(fastest: Option<FastestMedium>, names: &Names) -> String {
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
