//! Figures of a comparison without a curve over block sizes: one row for each.

use findings::{FigureRow, MediaComparison};

use super::Ranges;
use super::names::Names;
use super::works::{MediaRow, media_table};
use crate::tables::Table;
use crate::words;

/// The head of the table.
pub(super) const TITLE: &str = "Other figures";

/// A row for each figure.
pub(super) fn table(comparison: &MediaComparison, names: &Names, ranges: Ranges) -> Table {
    media_table("Figure", comparison, names, rows(comparison, ranges))
}

/// The rows of these figures.
pub(super) fn rows(comparison: &MediaComparison, ranges: Ranges) -> impl Iterator<Item = MediaRow> {
    comparison.figures.iter().map(move |row| {
        let figure = |found: &Option<_>| found.map(|it| ranges.quantity(&row.metric, it));
        MediaRow {
            name: label(comparison, row),
            figures: row.figures.iter().map(figure).collect(),
            pair: row.of_first,
            fastest: row.fastest,
        }
    })
}

/// Head of a figure's column, with its settings if several rows share the column.
fn label(comparison: &MediaComparison, row: &FigureRow) -> String {
    let whole = || words::whole_label(&row.test, &row.params);
    let Some(name) = &row.name else { return whole() };
    let is_alone =
        comparison.figures.iter().filter(|other| other.name.as_ref() == Some(name)).count() == 1;
    if is_alone { name.clone() } else { format!("{name}: {}", whole()) }
}
