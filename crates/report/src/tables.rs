//! Tables as data, printed on terminals and pages.

use std::borrow::Cow;

use record::text::{capitalised, printable};
use record::units::{Bytes, quantity};
use record::{Cell, Flag, Record, Stop};

use crate::figure::{self, MetricText, Shown};
use crate::{caveats, words};

/// A table with footnotes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Heads of the columns, from left to right.
    pub columns: Vec<TableColumn>,
    /// Rows, each with as many cells as there are columns.
    pub rows: Vec<TableRow>,
    /// Footnotes; rows name them by number, from 1.
    pub notes: Vec<String>,
}

/// The head of a column, and its kind.
#[derive(Clone, Debug, PartialEq)]
pub struct TableColumn {
    /// Text of the head, without the `#` that marks numbers in [`Table::new`].
    pub name: Cow<'static, str>,
    /// True for a column of numbers, which is right-aligned.
    pub numeric: bool,
}

/// A row: its texts, its footnotes, and a mark if a new cell begins.
#[derive(Clone, Debug, PartialEq)]
pub struct TableRow {
    /// One text for each column.
    pub cells: Vec<String>,
    /// Footnotes that belong to it.
    pub notes: Vec<usize>,
    /// True if a new thing begins here (the first row of a cell).
    pub leads: bool,
}

impl TableColumn {
    fn new(name: Cow<'static, str>) -> TableColumn {
        match name {
            Cow::Borrowed(name) if name.starts_with('#') => {
                TableColumn { name: name.trim_start_matches('#').into(), numeric: true }
            }
            Cow::Owned(name) if name.starts_with('#') => {
                TableColumn { name: name.trim_start_matches('#').to_owned().into(), numeric: true }
            }
            name => TableColumn { name, numeric: false },
        }
    }
}

impl Table {
    /// An empty table; a name that begins with `#` is a column of numbers.
    pub fn new(columns: &[&'static str]) -> Table {
        let column = |name: &&'static str| TableColumn::new(Cow::Borrowed(name));
        Table { columns: columns.iter().map(column).collect(), ..Table::default() }
    }

    /// An empty table with names made at run time.
    pub fn named(columns: Vec<String>) -> Table {
        let columns = columns.into_iter().map(|name| TableColumn::new(Cow::Owned(name)));
        Table { columns: columns.collect(), ..Table::default() }
    }

    /// Adds a row that begins a new thing.
    pub fn push(&mut self, cells: Vec<String>, notes: Vec<usize>) {
        self.rows.push(TableRow { cells, notes, leads: true });
    }

    /// The number of a footnote with this text; the same text has the same number.
    pub fn note(&mut self, text: String) -> usize {
        if let Some(at) = self.notes.iter().position(|note| *note == text) {
            return at + 1;
        }
        self.notes.push(text);
        self.notes.len()
    }

    /// Footnotes of a cell: its target, its error, its flags.
    pub fn notes_of(&mut self, cell: &Cell) -> Vec<usize> {
        let mut notes = Vec::new();
        notes.extend(
            cell.on.as_deref().map(|on| self.note(format!("measured on {}", printable(on)))),
        );
        if cell.stop == Stop::Error {
            notes.push(self.note(format!("stopped by an error: {}", caveats::error(cell))));
        }
        let flags: Vec<&Flag> = figure::caveats(cell).collect();
        notes.extend(flags.into_iter().map(|flag| self.note(words::caveat(flag))));
        notes
    }

    /// Texts of figure, interval and count; the reason of a withheld figure becomes a footnote.
    pub fn shown(&mut self, shown: &Shown, notes: &mut Vec<usize>) -> [String; 3] {
        match shown.printed() {
            Ok(printed) => {
                if shown.is_single() {
                    notes.push(self.note(figure::ONE_RUN_MEANS.to_owned()));
                }
                [printed.text.to_owned(), printed.interval.to_owned(), printed.n.to_string()]
            }
            Err(why) => {
                notes.push(self.note(why.to_owned()));
                let word = if shown.is_impossible() { "impossible" } else { "-" };
                [word.to_owned(), String::new(), String::new()]
            }
        }
    }
}

/// Parameters of a cell in words. If other cells of the test have the same, its span is added, or
/// else its id.
fn distinct_params(cell: &Cell, cells: &[&Cell]) -> String {
    let params = words::params(&cell.params);
    let twins: Vec<&&Cell> = cells
        .iter()
        .filter(|other| other.id != cell.id && words::params(&other.params) == params)
        .collect();
    let differs = twins.iter().all(|twin| twin.params.span_bytes != cell.params.span_bytes);
    match cell.params.span_bytes {
        _ if params.is_empty() => printable(&cell.id),
        _ if twins.is_empty() => params,
        Some(span) if differs => format!("{params}, span {}", Bytes(span)),
        _ => format!("{params}, {}", printable(&cell.id)),
    }
}

/// Figures of these cells, a row each.
fn of_metrics(cells: &[&Cell], figures_of: fn(&Cell) -> Vec<MetricText>) -> Table {
    let mut table = Table::new(&["Cell", "Metric", "#Figure", "95 % interval", "#n", "Stop"]);
    for cell in cells {
        let notes = table.notes_of(cell);
        let mut figures = figures_of(cell);
        if figure::impossible(cell).is_some() || figure::figures(cell).is_empty() {
            let shown = figure::missing(cell, "nothing measured");
            figures = vec![MetricText { name: "-".to_owned(), shown }];
        }
        for (at, figure) in figures.iter().enumerate() {
            let mut notes = if at == 0 { notes.clone() } else { Vec::new() };
            let [value, interval, n] = table.shown(&figure.shown, &mut notes);
            let what = if at == 0 { distinct_params(cell, cells) } else { String::new() };
            let stop = if at == 0 { words::stop_of(cell).to_owned() } else { String::new() };
            table.rows.push(TableRow {
                cells: vec![what, words::metric(&figure.name), value, interval, n, stop],
                notes,
                leads: at == 0,
            });
        }
    }
    table
}

/// Latencies of single I/Os, a row for each cell; empty if there are none.
fn of_latencies(cells: &[&Cell]) -> Table {
    let mut table = Table::new(&[
        "Cell", "#n", "#Fastest", "#p50", "#p90", "#p95", "#p99", "#p99.9", "#Slowest",
    ]);
    for cell in cells.iter().filter(|cell| figure::impossible(cell).is_none()) {
        let Some(latency) = &cell.metrics.latency_ns else { continue };
        let extreme = |ns: u64| {
            if ns > 0 { quantity("_ns", ns as f64) } else { "-".to_owned() }
        };
        let percentile = |name: &str, ns: Option<u64>| figure::percentile(latency, name, ns);
        let row = vec![
            distinct_params(cell, cells),
            latency.n.to_string(),
            extreme(latency.min),
            percentile("p50", latency.p50),
            percentile("p90", latency.p90),
            percentile("p95", latency.p95),
            percentile("p99", latency.p99),
            percentile("p99_9", latency.p99_9),
            extreme(latency.max),
        ];
        table.push(row, Vec::new());
    }
    table
}

/// Every cell of a record for a page: for each test its figures, and a second table of latencies.
pub fn for_page(record: &Record) -> Vec<(String, Table)> {
    let tables = tests(record).into_iter().flat_map(|test| {
        let cells: Vec<&Cell> = record.cells_of(test).collect();
        let name = capitalised(&words::test(test));
        let figures = of_metrics(&cells, figure::rates);
        [(name.clone(), figures), (format!("{name}: latency"), of_latencies(&cells))]
    });
    tables.filter(|(_, table)| !table.rows.is_empty()).collect()
}

/// The tests of a record, in its order.
fn tests(record: &Record) -> Vec<&str> {
    let mut tests: Vec<&str> = Vec::new();
    for cell in &record.cells {
        if !tests.contains(&cell.test.as_str()) {
            tests.push(&cell.test);
        }
    }
    tests
}

/// Every cell of a record: one table for each test, in the order of the record.
pub fn all(record: &Record) -> Vec<(String, Table)> {
    let table =
        |test: &str| of_metrics(&record.cells_of(test).collect::<Vec<_>>(), figure::figures);
    tests(record).into_iter().map(|test| (capitalised(&words::test(test)), table(test))).collect()
}
