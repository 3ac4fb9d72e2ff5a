//! Figures of a medium besides the usual ones: those that have a column, and those of other tools
//! and publications without one.

use std::collections::BTreeMap;

use record::collection::{CollectionRun, Origin};
use record::text::printable;
use record::{Cell, quantities};
use report::column_figures::{ColumnFigure, column_figures};
use report::figure::{self, PrintedFigure};
use report::words;

/// A figure as a row: its name, the value with its unit, its interval.
pub(super) struct FigureLine {
    pub what: String,
    pub text: String,
    pub interval: String,
}

/// Figures with a column by name, then those of others without one in the order of their source.
pub(super) fn every_figure(entries: &[&CollectionRun]) -> Vec<FigureLine> {
    let found = newest(entries.iter().copied());
    // A sender could name anything so that it looks published.
    let built_in = || entries.iter().filter(|entry| entry.origin == Origin::Reference);
    let others: Vec<FigureLine> = built_in().flat_map(|entry| beside(entry, &found)).collect();
    let columns = found.into_values().map(|it| FigureLine {
        what: it.column.head.clone(),
        text: it.text(),
        interval: it.interval(),
    });
    let cells = built_in().flat_map(|entry| &entry.run.cells);
    let imports = entries.iter().filter(|entry| entry.origin == Origin::Imported);
    let imported = imports.flat_map(|entry| &entry.run.cells).filter_map(imported);
    columns.chain(others).chain(cells.filter_map(published)).chain(imported).collect()
}

/// Figures of columns in runs (newest first): the newest figure of each column, with preference for
/// one with an interval.
fn newest<'a>(runs: impl IntoIterator<Item = &'a CollectionRun>) -> BTreeMap<String, ColumnFigure> {
    let mut found: BTreeMap<String, ColumnFigure> = BTreeMap::new();
    for (name, figure) in runs.into_iter().flat_map(|run| column_figures(&run.run.cells)) {
        let known = found.get(&name);
        if known.is_none_or(|it| it.figure.ci95.is_none() && figure.figure.ci95.is_some()) {
            found.insert(name, figure);
        }
    }
    found
}

/// Published figures of a run whose column shows another run of the same medium, for example on
/// another host.
fn beside(entry: &CollectionRun, shown: &BTreeMap<String, ColumnFigure>) -> Vec<FigureLine> {
    let own = column_figures(&entry.run.cells);
    let is_other = |(name, figure): &(String, ColumnFigure)| {
        shown.get(name).is_some_and(|it| it.figure != figure.figure)
    };
    let host = [&entry.run.interface, &entry.run.board].into_iter().flatten();
    let host: String = host.map(|it| format!(", {it}")).collect();
    own.into_iter()
        .filter(is_other)
        .map(|(_, figure)| FigureLine {
            what: printable(&format!("{}{host}", figure.column.head)),
            text: figure.text(),
            interval: figure.interval(),
        })
        .collect()
}

/// Main figure of a cell of another tool that has no column.
fn imported(cell: &Cell) -> Option<FigureLine> {
    let shown = figure::primary(cell).filter(|_| quantities(cell).is_empty())?.shown;
    shown.printed().ok().map(|PrintedFigure { text, interval, .. }| FigureLine {
        what: words::whole_label(&cell.test, &cell.params),
        text: text.to_owned(),
        interval: interval.to_owned(),
    })
}

/// A published figure without a column, with the digits of its source.
fn published(cell: &Cell) -> Option<FigureLine> {
    let printed = cell.label("published");
    (!printed.is_empty() && quantities(cell).is_empty()).then(|| FigureLine {
        what: words::cell(cell),
        text: printable(printed),
        interval: figure::ONE_RUN.to_owned(),
    })
}
