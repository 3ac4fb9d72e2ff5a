//! A table as markup: with a caption, and a head for every row.

use askama::Template;
use report::tables::{Table, TableRow};

use crate::filters;

/// A table as a separate template, so that other pages can use it.
#[derive(Template)]
#[template(path = "table.html")]
pub struct TableView {
    caption: String,
    /// CSS classes that right-align columns of numbers, and let columns wrap.
    classes: String,
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

impl Row {
    /// True if both have no figure, for the same reason.
    fn says_no_more_than(&self, next: &Row) -> bool {
        let is_empty = |row: &Row| row.cells.iter().take(3).all(|it| it.is_empty() || it == "-");
        is_empty(self)
            && is_empty(next)
            && next.cells.last().is_none_or(String::is_empty)
            && next.notes.iter().all(|note| self.notes.contains(note))
    }
}

impl TableView {
    /// A table with this caption. If several rows are about one thing, its name becomes a head
    /// above them, and the second column names the rows.
    pub fn new(table: Table, caption: String) -> TableView {
        let grouped = table.rows.iter().any(|row| !row.leads);
        let columns = &table.columns[usize::from(grouped).min(table.columns.len())..];
        let has_line_break = |at: usize| {
            let at = at + usize::from(grouped);
            table.rows.iter().any(|row| row.cells.get(at).is_some_and(|it| it.contains(" (")))
        };
        let classes = columns.iter().enumerate().flat_map(|(at, column)| {
            let numeric = column.numeric.then(|| format!("n{}", at + 1));
            numeric.into_iter().chain(has_line_break(at).then(|| format!("w{}", at + 1)))
        });
        TableView {
            caption,
            classes: classes.collect::<Vec<_>>().join(" "),
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
        let Some(group) = groups.last_mut() else { continue };
        let row = Row {
            head: cells.next().unwrap_or_default(),
            cells: cells.collect(),
            notes: row.notes,
        };
        match group.rows.iter_mut().find(|other| grouped && other.says_no_more_than(&row)) {
            Some(other) => other.head += &format!(", {}", row.head),
            None => group.rows.push(row),
        }
    }
    groups
}
