//! Media that a reader selected, with every column that their runs have a figure for.

use std::collections::BTreeMap;

use record::collection::{CollectionLine, CollectionRun};
use record::text::printable;
use report::articles::Pick;
use report::column_figures::{ColumnFigure, column_figures};

use super::address::Links;

/// A medium of a site.
pub(super) fn pick(links: &Links, line: &CollectionLine, runs: &[CollectionRun]) -> Pick {
    Pick {
        name: printable(&line.name),
        href: links.medium(&line.slug),
        found: newest(line.believed(runs)),
    }
}

/// Figures of columns in runs (newest first): the newest figure of each column, with preference for
/// one with an interval.
pub(super) fn newest<'a>(
    runs: impl IntoIterator<Item = &'a CollectionRun>,
) -> BTreeMap<String, ColumnFigure> {
    let mut found: BTreeMap<String, ColumnFigure> = BTreeMap::new();
    for (name, figure) in runs.into_iter().flat_map(|run| column_figures(&run.run.cells)) {
        let known = found.get(&name);
        if known.is_none_or(|it| it.figure.ci95.is_none() && figure.figure.ci95.is_some()) {
            found.insert(name, figure);
        }
    }
    found
}
