//! Every figure of a medium that is not one of the usual ones: those that have a column, and those
//! that others have published of what we do not measure.

use record::collection::{CollectionRun, Origin};
use record::{Cell, quantities};

use super::picks::newest;
use crate::{figure, words};

/// A figure as a row: what, the figure with its unit, its interval.
pub(super) struct FigureLine {
    pub what: String,
    pub text: String,
    pub interval: String,
}

/// Columns by name, then published figures without one in the order of their source.
pub(super) fn every_figure(entries: &[&CollectionRun]) -> Vec<FigureLine> {
    let columns = newest(entries.iter().copied()).into_values().map(|it| FigureLine {
        what: it.column.head.clone(),
        text: it.text(),
        interval: it.interval(),
    });
    // Whoever sends a run could call anything published.
    let built_in = entries.iter().filter(|entry| entry.origin == Origin::Reference);
    let cells = built_in.flat_map(|entry| &entry.run.cells);
    columns.chain(cells.filter_map(published)).collect()
}

/// A published figure that has no column, in the digits of its source.
fn published(cell: &Cell) -> Option<FigureLine> {
    let printed = cell.label("published");
    (!printed.is_empty() && quantities(cell).is_empty()).then(|| FigureLine {
        what: words::cell(cell),
        text: words::clean(printed),
        interval: figure::ONE_RUN.to_owned(),
    })
}
