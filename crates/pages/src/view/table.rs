//! A table as markup: with a caption, and a head for every row.

use askama::Template;
use report::tables::{Table, TableRow};

/// A table as a separate template, so that other pages can use it.
#[derive(Template)]
#[template(path = "table.html")]
pub struct TableView {
    caption: String,
    /// CSS classes that right-align columns of numbers.
    numeric: String,
    heads: Vec<String>,
    groups: Vec<Group>,
    notes: Vec<String>,
}

/// Rows that belong together, below a head of their own if the table has such heads.
struct Group {
    head: Option<String>,
    rows: Vec<Row>,
}

/// A row: its head, the other cells, its footnotes.
struct Row {
    head: String,
    cells: Vec<String>,
    notes: Vec<usize>,
}

impl TableView {
    /// A table with this caption. If several rows are about one thing, its name becomes a head
    /// above them, and the second column names the rows.
    pub fn new(table: Table, caption: String) -> TableView {
        let grouped = table.rows.iter().any(|row| !row.leads);
        let columns = &table.columns[usize::from(grouped).min(table.columns.len())..];
        let numeric = columns.iter().enumerate().filter(|(_, column)| column.numeric);
        TableView {
            caption,
            numeric: numeric.map(|(at, _)| format!("n{}", at + 1)).collect::<Vec<_>>().join(" "),
            heads: columns.iter().map(|column| column.name.to_string()).collect(),
            groups: groups(table.rows, grouped),
            notes: table.notes,
        }
    }

    /// True if it has no row.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }
}

fn groups(rows: Vec<TableRow>, grouped: bool) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for row in rows {
        let mut cells = row.cells.into_iter();
        let head = if grouped { cells.next() } else { None };
        if groups.is_empty() || (grouped && row.leads) {
            groups.push(Group { head, rows: Vec::new() });
        }
        if let Some(group) = groups.last_mut() {
            group.rows.push(Row {
                head: cells.next().unwrap_or_default(),
                cells: cells.collect(),
                notes: row.notes,
            });
        }
    }
    groups
}
