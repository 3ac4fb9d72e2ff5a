//! Charts from cells: selection of the cells of a chart, and the table below it.

mod activity;
mod blocks;
mod curves;
mod latency;
mod spans;

use std::collections::BTreeMap;

use record::text::{capitalised, printable};
use record::{Cell, Estimate, Record, metric, test};
use report::headline::CellRelation;
use report::tables::Table;
use report::{figure, headline, words};

use crate::chart::{AxisUnit, Chart, ChartMark, Stroke, Style};

/// A chart with the numbers it is drawn from.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// The chart as data, not drawn yet.
    pub chart: Chart,
    /// The same numbers with interval, count, stop reason and footnotes.
    pub table: Table,
}

/// The two charts of a page's first sheet: rate against block size, and rate over the medium or a
/// fill; `None` for each without data.
pub(crate) fn of_sheet(record: &Record) -> [Option<Panel>; 2] {
    let is_rate = |panel: &Panel| panel.chart.y.unit == AxisUnit::Rate;
    [
        Some(blocks::rates(record)).filter(|panel| !panel.chart.is_empty()),
        curves::all(record).find(|panel| is_rate(panel) && !panel.chart.is_empty()),
    ]
}

/// All charts that a record has data for, the most important first. Charts without a point are left
/// out. A chart that is not taken is not made.
pub fn of_record(record: &Record) -> impl Iterator<Item = Panel> {
    of_figures(record).chain(of_courses(record))
}

/// The charts of the figures of cells, whose numbers stand in the tables of all results, too.
pub(crate) fn of_figures(record: &Record) -> impl Iterator<Item = Panel> {
    const USUAL: [fn(&Record) -> Panel; 5] = [
        blocks::random_writes,
        spans::random_writes,
        blocks::rates,
        latency::random_writes,
        latency::random_reads,
    ];
    USUAL.into_iter().map(move |panel| panel(record)).filter(|panel| !panel.chart.is_empty())
}

/// The charts of what happened along the medium or in the course of time.
pub(crate) fn of_courses(record: &Record) -> impl Iterator<Item = Panel> {
    let curves = std::iter::once_with(move || curves::all(record)).flatten();
    let activity = std::iter::once_with(move || activity::all(record)).flatten();
    curves
        .chain(activity)
        .filter(|panel| !panel.chart.is_empty())
        .scan(BTreeMap::new(), |titles, panel| Some(with_own_title(panel, titles)))
}

/// The panel, with a number in its title if an earlier chart has the same title.
fn with_own_title(mut panel: Panel, titles: &mut BTreeMap<String, usize>) -> Panel {
    let many = titles.entry(panel.chart.title.clone()).or_insert(0);
    *many += 1;
    if *many > 1 {
        panel.chart.title.push_str(&format!(", {many}"));
    }
    panel
}

/// Cells that differ only in block size.
struct Group<'a> {
    /// "Random write", "Random read, 8 threads".
    name: String,
    style: Style,
    cells: Vec<&'a Cell>,
}

/// The cells of some tests, grouped into the lines of a chart: one colour for each test, solid for
/// the standard cells, dashed and dotted for variants. Repeats over other spans are left out.
fn groups<'a>(record: &'a Record, tests: &[&'a str]) -> Vec<Group<'a>> {
    let mut groups: Vec<Group> = Vec::new();
    for &test in tests {
        let mut variants = 0;
        for cell in record.cells_of(test).filter(|cell| cell.params.block_bytes.is_some()) {
            let name = match headline::kind(record, cell) {
                CellRelation::Repeat => continue,
                CellRelation::Standard => capitalised(&words::test(test)),
                CellRelation::Variant => variant_name(record, cell),
            };
            // Two cells of one size cannot be on one line.
            let same = |group: &Group| {
                group.name == name
                    && group
                        .cells
                        .iter()
                        .any(|other| other.params.block_bytes == cell.params.block_bytes)
            };
            let name = if groups.iter().any(same) {
                format!("{name}, {}", printable(&cell.id))
            } else {
                name
            };
            match groups.iter_mut().find(|group| group.name == name) {
                Some(group) => group.cells.push(cell),
                None => {
                    let is_variant = headline::kind(record, cell) == CellRelation::Variant;
                    variants += usize::from(is_variant);
                    groups.push(Group {
                        name,
                        style: style(hue(test), if is_variant { variants } else { 0 }),
                        cells: vec![cell],
                    });
                }
            }
        }
    }
    for group in &mut groups {
        group.cells.sort_by_key(|cell| cell.params.block_bytes);
    }
    groups.sort_by_key(|group| group.style.stroke != Stroke::Solid);
    groups
}

/// Name of the test, with its differences from the standard cell.
fn variant_name(record: &Record, cell: &Cell) -> String {
    let usual = findings::standard_cell(record, &cell.test, None)
        .map(|cell| words::variant(&cell.params))
        .unwrap_or_default();
    let different = words::variant(&cell.params).into_iter().filter(|part| !usual.contains(part));
    std::iter::once(capitalised(&words::test(&cell.test)))
        .chain(different)
        .collect::<Vec<_>>()
        .join(", ")
}

/// Colour of a test, the same in all charts.
fn hue(test: &str) -> usize {
    match test {
        test::RANDOM_WRITE => 0,
        test::RANDOM_READ => 1,
        test::SEQUENTIAL_WRITE | test::RANDOM_FILL => 2,
        test::SEQUENTIAL_READ | test::ZERO_FILL => 3,
        test::PRIME => 4,
        _ => 5,
    }
}

/// Style of the n-th variant of a test; the 0-th is the standard cell, with a mark for those who
/// cannot see its colour.
fn style(hue: usize, variant: usize) -> Style {
    const LOOKS: [(Stroke, ChartMark); 4] = [
        (Stroke::Solid, ChartMark::Disc),
        (Stroke::Dashed, ChartMark::Square),
        (Stroke::Dotted, ChartMark::Triangle),
        (Stroke::Dashed, ChartMark::Diamond),
    ];
    let (stroke, mark) = match variant {
        0 => (LOOKS[0].0, LOOKS[hue % LOOKS.len()].1),
        _ => LOOKS[1 + (variant - 1) % 3],
    };
    Style { hue, stroke, mark }
}

/// Style of a line, hollow if all of its points are single figures.
fn hollow_style(style: Style, is_single: bool) -> Style {
    let mark = if is_single { ChartMark::Hollow } else { style.mark };
    Style { mark, ..style }
}

/// Adds a row for one metric of a cell: name, block size, figure, interval, n, slowest, stop.
fn push_metric(table: &mut Table, what: &str, cell: &Cell, name: &str, found: &Estimate) {
    let mut notes = table.notes_of(cell);
    let [value, interval, n] = table.shown(&figure::show(cell, name, found), &mut notes);
    let block = cell
        .params
        .block_bytes
        .map(|bytes| record::units::Bytes(bytes).to_string())
        .unwrap_or_default();
    // The slowest I/O is that of the whole cell, not of its start.
    let worst = figure::worst_ns(cell)
        .filter(|_| name != metric::BURST_IOPS)
        .map(words::stall)
        .unwrap_or_else(|| "-".to_owned());
    table.push(
        vec![what.to_owned(), block, value, interval, n, worst, words::stop_of(cell).to_owned()],
        notes,
    );
}

/// Note below a chart about cells left out because their figures are impossible.
fn omitted_cells_note(groups: &[Group]) -> String {
    match groups
        .iter()
        .flat_map(|group| &group.cells)
        .filter(|cell| figure::impossible(cell).is_some())
        .count()
    {
        0 => String::new(),
        n => format!(" Not drawn: {} with impossible numbers.", words::count(n, "cell")),
    }
}
