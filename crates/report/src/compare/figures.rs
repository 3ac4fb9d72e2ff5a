//! Figures of a comparison without a curve over block sizes: one row for each.

use findings::{FigureRow, MediaComparison};

use super::Ranges;
use super::names::Names;
use super::works::{columns, fastest};
use crate::tables::Table;
use crate::words;

/// The head of the table.
pub(super) const TITLE: &str = "Other figures";

/// A row for each figure, a column for each medium, and the faster medium with its ratio.
pub(super) fn table(comparison: &MediaComparison, names: &Names, ranges: Ranges) -> Table {
    let columns = columns(comparison);
    let is_pair = columns.len() == 2;
    let last = if is_pair { format!("{} is", names.head(0)) } else { "Fastest".to_owned() };
    let heads = columns.iter().map(|at| format!("#{}", names.head(*at)));
    let first = std::iter::once("Figure".to_owned());
    let mut table = Table::named(first.chain(heads).chain([last]).collect());
    for row in &comparison.figures {
        let figure = |at: &usize| {
            let figure = row.figures.get(*at).copied().flatten();
            figure.map_or("-".to_owned(), |found| ranges.quantity(&row.metric, found))
        };
        let judged = if is_pair { of_pair(row) } else { fastest(row.fastest, names) };
        let cells = std::iter::once(label(comparison, row))
            .chain(columns.iter().map(figure))
            .chain([judged]);
        table.push(cells.collect(), Vec::new());
    }
    table
}

/// Head of a figure's column, with its settings if several rows share the column.
fn label(comparison: &MediaComparison, row: &FigureRow) -> String {
    let whole = || words::whole_label(&row.test, &row.params);
    let Some(name) = &row.name else { return whole() };
    let is_alone =
        comparison.figures.iter().filter(|other| other.name.as_ref() == Some(name)).count() == 1;
    if is_alone { name.clone() } else { format!("{name}: {}", whole()) }
}

/// Comparison of the first of two media with the second.
fn of_pair(row: &FigureRow) -> String {
    row.of_first.as_ref().map(super::judged).unwrap_or_default()
}
