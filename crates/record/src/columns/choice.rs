//! Choice of columns: names, whole families, or all known columns of a thing.

use super::{COLUMN_FAMILIES, FigureColumn, column_named, columns};
use crate::alike::closest;

/// Name that asks for every column.
pub const ALL_COLUMNS: &str = "all";

/// There is no column of this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownColumn {
    /// Name that was asked for.
    pub asked: String,
    /// Names that may have been meant, the closest first.
    pub near: Vec<String>,
}

/// Checks that this is the name of a column, of a family, or "all".
pub fn column_choice(name: &str) -> Result<(), UnknownColumn> {
    let is_family = COLUMN_FAMILIES.iter().any(|(family, _)| *family == name);
    if name == ALL_COLUMNS || is_family || column_named(name).is_some() {
        return Ok(());
    }
    let families = COLUMN_FAMILIES.iter().map(|(family, _)| *family).chain([ALL_COLUMNS]);
    let names = families.chain(columns().iter().map(|column| column.name.as_str()));
    let near = closest(name, names).into_iter().map(str::to_owned).collect();
    Err(UnknownColumn { asked: name.to_owned(), near })
}

/// Splits a list of names at commas; each name once, in the list's order.
pub fn chosen_columns(text: &str) -> Result<Vec<String>, UnknownColumn> {
    let mut chosen: Vec<String> = Vec::new();
    for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        column_choice(name)?;
        if !chosen.iter().any(|known| known == name) {
            chosen.push(name.to_owned());
        }
    }
    Ok(chosen)
}

/// Columns of a choice, each once, in its order: those named, and of families those in `known`.
/// Unknown names are ignored.
pub fn columns_of<'a>(
    choice: impl IntoIterator<Item = &'a str>,
    known: &[FigureColumn],
) -> Vec<FigureColumn> {
    let mut sorted = known.to_vec();
    sorted.sort_by_cached_key(place);
    let mut found: Vec<FigureColumn> = Vec::new();
    for name in choice {
        let is_of = |column: &&FigureColumn| name == ALL_COLUMNS || column.family == name;
        // "hdparm" is a family and one of its columns.
        let of_family = sorted.iter().filter(is_of).cloned();
        let is_family = name == ALL_COLUMNS || COLUMN_FAMILIES.iter().any(|(it, _)| *it == name);
        let named = column_named(name).filter(|_| !is_family);
        for column in of_family.chain(named) {
            if !found.iter().any(|it| it.name == column.name) {
                found.push(column);
            }
        }
    }
    found
}

/// Sort key of a column: its family, its place in the list, its name.
fn place(column: &FigureColumn) -> (usize, usize, String) {
    let family = COLUMN_FAMILIES.iter().position(|(name, _)| *name == column.family);
    let listed = columns().iter().position(|it| it.name == column.name);
    let last = usize::MAX;
    (family.unwrap_or(last), listed.unwrap_or(last), column.name.clone())
}
