//! Columns that a reader chose for the table: the form to choose them, their heads, and what each
//! medium's runs say of them.

use record::collection::{CollectionLine, CollectionRun, Query};
use record::units::significant;
use record::{ALL_COLUMNS, COLUMN_FAMILIES, FigureColumn, columns, columns_of};

use super::address::Links;
use super::picks::newest;
use crate::column_figures::ColumnFigure;

/// The columns of a family, with those that are chosen.
pub(super) struct FamilyChoice {
    pub name: &'static str,
    pub head: &'static str,
    /// Whether the family is chosen as a whole.
    pub is_chosen: bool,
    /// Whether anything of it is chosen.
    pub is_open: bool,
    pub columns: Vec<ColumnChoice>,
}

pub(super) struct ColumnChoice {
    pub name: String,
    pub head: String,
    pub is_chosen: bool,
}

/// The table of a choice: heads, and for each line a cell a column.
#[derive(Default)]
pub(super) struct ChosenColumns {
    pub heads: Vec<ChosenHead>,
    pub rows: Vec<Vec<ChosenCell>>,
    /// The same page with the usual columns.
    pub usual: String,
}

pub(super) struct ChosenHead {
    pub head: String,
    pub unit: &'static str,
    /// The same page without this column; nothing where a family chose it.
    pub without: String,
}

/// Empty where nothing is known.
#[derive(Default)]
pub(super) struct ChosenCell {
    pub value: String,
    pub interval: String,
}

/// The form's families; none in a tree, where no server answers.
pub(super) fn families(links: &Links, asked: &Query) -> Vec<FamilyChoice> {
    if !links.live() {
        return Vec::new();
    }
    let is_chosen = |name: &str| asked.columns.iter().any(|it| it == name);
    let family = |(name, head): (&'static str, &'static str)| {
        let of = columns().iter().filter(|column| column.family == name);
        let choice = |column: &FigureColumn| ColumnChoice {
            // "hdparm" asks for the family, of which it is the first.
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

/// Whether all that is known is asked for.
pub(super) fn asks_for_all(asked: &Query) -> bool {
    asked.columns.iter().any(|name| name == ALL_COLUMNS)
}

/// What is shown of the lines of a page, each with its runs, the newest first.
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
