//! Columns that a reader chose for the table: the form to choose them, their heads, and their
//! figures.

use record::collection::{CollectionLine, CollectionRun, Query};
use record::units::significant;
use record::{ALL_COLUMNS, COLUMN_FAMILIES, FigureColumn, columns, columns_of};

use super::address::Links;
use super::picks::newest;
use crate::column_figures::ColumnFigure;

/// The columns of a family, with marks on the chosen ones.
pub(super) struct FamilyChoice {
    pub name: &'static str,
    pub head: &'static str,
    /// True if the whole family is chosen.
    pub is_chosen: bool,
    /// True if anything in it is chosen.
    pub is_open: bool,
    pub columns: Vec<ColumnChoice>,
}

pub(super) struct ColumnChoice {
    pub name: String,
    pub head: String,
    pub is_chosen: bool,
}

/// The table of the chosen columns: heads, and a cell per column for each line.
#[derive(Default)]
pub(super) struct ChosenColumns {
    pub heads: Vec<ChosenHead>,
    pub rows: Vec<Vec<ChosenCell>>,
    /// Address of the same page with the usual columns.
    pub usual: String,
}

pub(super) struct ChosenHead {
    pub head: String,
    pub unit: &'static str,
    /// Address of the same page without this column; empty if a family was chosen.
    pub without: String,
}

/// A cell of the table; empty if there is no figure.
#[derive(Default)]
pub(super) struct ChosenCell {
    pub value: String,
    pub interval: String,
}

/// Families in the form; empty in a tree, which cannot answer queries.
pub(super) fn families(links: &Links, asked: &Query) -> Vec<FamilyChoice> {
    if !links.live() {
        return Vec::new();
    }
    let is_chosen = |name: &str| asked.columns.iter().any(|it| it == name);
    let family = |(name, head): (&'static str, &'static str)| {
        let of = columns().iter().filter(|column| column.family == name);
        let choice = |column: &FigureColumn| ColumnChoice {
            // The name "hdparm" selects the family, and is also its first column.
            is_chosen: column.name != name && is_chosen(&column.name),
            name: column.name.clone(),
            head: column.head.clone(),
        };
        let columns: Vec<ColumnChoice> = of.filter(|it| it.name != name).map(choice).collect();
        let is_open = is_chosen(name) || columns.iter().any(|column| column.is_chosen);
        FamilyChoice { name, head, is_chosen: is_chosen(name), is_open, columns }
    };
    COLUMN_FAMILIES.into_iter().map(family).collect()
}

/// True if all known columns are requested.
pub(super) fn asks_for_all(asked: &Query) -> bool {
    asked.columns.iter().any(|name| name == ALL_COLUMNS)
}

/// Chosen columns for the lines of a page, each line with its runs, the newest first.
pub(super) fn chosen(
    links: &Links,
    asked: &Query,
    lines: &[(CollectionLine, Vec<CollectionRun>)],
) -> ChosenColumns {
    let figures: Vec<_> = lines.iter().map(|(_, runs)| newest(runs)).collect();
    let mut known: Vec<FigureColumn> = Vec::new();
    for figure in figures.iter().flat_map(|of| of.values()) {
        if !known.iter().any(|it| it.name == figure.column.name) {
            known.push(figure.column.clone());
        }
    }
    let shown = columns_of(asked.columns.iter().map(String::as_str), &known);
    let with = |columns: Vec<String>| links.table(&Query { columns, ..asked.clone() });
    let head = |column: &FigureColumn| {
        let rest: Vec<String> =
            asked.columns.iter().filter(|name| **name != column.name).cloned().collect();
        let is_named = rest.len() < asked.columns.len() && !rest.is_empty();
        ChosenHead {
            head: column.head.clone(),
            unit: column.unit,
            without: if is_named { with(rest) } else { String::new() },
        }
    };
    let cell = |figure: Option<&ColumnFigure>| {
        figure.map_or_else(ChosenCell::default, |figure| ChosenCell {
            value: significant(figure.figure.value),
            interval: figure.interval(),
        })
    };
    ChosenColumns {
        heads: shown.iter().map(head).collect(),
        rows: figures
            .iter()
            .map(|of| shown.iter().map(|column| cell(of.get(&column.name))).collect())
            .collect(),
        usual: with(Vec::new()),
    }
}
