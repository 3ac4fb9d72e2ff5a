//! Media that a reader selected, with every column that their runs have a figure for.

use std::collections::BTreeMap;

use record::collection::{CollectionLine, CollectionRun};
use record::text::printable;

use super::address::Links;
use crate::column_figures::{ColumnFigure, RunFigures, column_figures};

/// The most media beside a publication.
pub const MAX_PICKED: usize = 5;

/// A medium with its figures, by the name of the column.
pub(super) struct Pick {
    pub name: String,
    pub href: String,
    found: BTreeMap<String, ColumnFigure>,
}

impl Pick {
    pub fn of(links: &Links, line: &CollectionLine, runs: &[CollectionRun]) -> Pick {
        Pick { name: printable(&line.name), href: links.medium(&line.slug), found: newest(runs) }
    }

    /// A run without a page to link to.
    pub fn of_run((name, found): &RunFigures) -> Pick {
        Pick { name: printable(name), href: String::new(), found: found.clone() }
    }

    /// The figure of that name.
    pub fn get(&self, name: &str) -> Option<&ColumnFigure> {
        self.found.get(name)
    }

    /// The figure of that name, or else the one measured with other data; true in the second case.
    pub fn nearest(&self, name: &str) -> Option<(&ColumnFigure, bool)> {
        let other = || self.get(&format!("{name}-data")).map(|it| (it, true));
        self.get(name).map(|it| (it, false)).or_else(other)
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
