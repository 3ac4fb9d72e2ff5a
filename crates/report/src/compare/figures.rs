//! Figures of a comparison that are of no curve over block sizes: a row each.

use findings::{FastestMedium, FigureRow, MediaComparison};

use super::names::Names;
use super::works::{columns, fastest};
use crate::tables::Table;
use crate::words;

/// The head of the table.
pub(super) const TITLE: &str = "Other figures";

/// A row a figure, a column a medium, and which is faster by how much.
pub(super) fn table(comparison: &MediaComparison, names: &Names) -> Table {
    let columns = columns(comparison);
    let is_pair = columns.len() == 2;
    let last = if is_pair { format!("{} is", names.head(0)) } else { "Fastest".to_owned() };
    let heads = columns.iter().map(|at| format!("#{}", names.head(*at)));
    let first = std::iter::once("Figure".to_owned());
    let mut table = Table::named(first.chain(heads).chain([last]).collect());
    for row in &comparison.figures {
        let figure = |at: &usize| {
            let figure = row.figures.get(*at).copied().flatten();
            figure.map_or("-".to_owned(), |found| words::quantity(&row.metric, found.value))
        };
        let judged = if is_pair { of_pair(row) } else { fastest(row.fastest, names) };
        let cells = std::iter::once(label(row)).chain(columns.iter().map(figure)).chain([judged]);
        table.push(cells.collect(), Vec::new());
    }
    table
}

fn label(row: &FigureRow) -> String {
    row.name.clone().unwrap_or_else(|| words::whole_label(&row.test, &row.params))
}

/// What the first of two is against the second.
fn of_pair(row: &FigureRow) -> String {
    let first = row.fastest.map(FastestMedium::of_first);
    first.map(|it| super::judged(it.judgement, it.ratio, it.ci95)).unwrap_or_default()
}
