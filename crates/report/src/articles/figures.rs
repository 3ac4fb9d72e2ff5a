//! Figures of an article beside those of the selected media.

use record::text::printable;
use record::units::significant;
use record::{Cell, Estimate, FigureColumn, Published, nearest_command, quantities};

use super::{ArticleFigures, Pick};
use crate::column_figures::{mean_of_repeats, repeats};
use crate::words;

/// The figures of one medium on one host.
pub struct MediumFigures {
    /// Medium and host.
    pub name: String,
    /// Its figures, in the order of the source.
    pub rows: Vec<ArticleRow>,
}

/// A figure of an article, with those of the selected media.
pub struct ArticleRow {
    /// Its id in the reference collection.
    pub id: String,
    /// The procedure in words.
    pub what: String,
    /// The tool that the author used.
    pub tool: String,
    /// The figure as its source prints it.
    pub printed: String,
    /// The same in Flashmark's unit, if that differs.
    pub ours: String,
    /// Mean with its repeats, if its source measured the same several times.
    pub repeats: String,
    /// The same of each selected medium.
    pub picks: Vec<PickCell>,
}

/// A figure of a selected medium, and its ratio to the published one.
pub struct PickCell {
    /// The figure with its unit.
    pub value: String,
    /// Its interval in words.
    pub interval: String,
    /// Ratio to the published figure: "0.972x".
    pub ratio: String,
}

/// Every figure, by medium and host, in the order of the source.
pub(super) fn groups(of: &ArticleFigures, picks: &[Pick]) -> Vec<MediumFigures> {
    let mut groups: Vec<MediumFigures> = Vec::new();
    for run in &of.runs {
        let row = |cell| ArticleRow { repeats: repeats_of(cell, &run.cells), ..row(cell, picks) };
        let rows: Vec<ArticleRow> = run.cells.iter().map(row).collect();
        let host = [&run.board, &run.kernel].into_iter().flatten().map(|text| printable(text));
        let name = std::iter::once(medium(run)).chain(host).collect::<Vec<_>>().join(", ");
        match groups.iter_mut().find(|group| group.name == name) {
            Some(group) => group.rows.extend(rows),
            None => groups.push(MediumFigures { name, rows }),
        }
    }
    groups
}

/// "SanDisk Extreme Pro 8 GB", or what the source says of a medium without a name.
pub(super) fn medium(run: &Published) -> String {
    let unnamed = run.label.as_deref().filter(|_| run.vendor.is_none() && run.model.is_none());
    unnamed.map_or_else(|| printable(&run.name()), printable)
}

/// Procedure in words: "Sequential write, 4 KiB, zeros", "Monitor, await".
fn what(cell: &Cell) -> String {
    let (label, _) = words::row_label(&cell.test, &cell.params);
    let is_rate = cell.metrics.iops.is_some() || cell.metrics.bps.is_some();
    let metric = cell.metrics.other.keys().next().filter(|_| !is_rate);
    let metric = metric.map(|name| words::metric(name)).unwrap_or_default();
    let of = ["filesystem", "scheduler"].map(|name| printable(cell.label(name)));
    let parts = [label, metric].into_iter().chain(of).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(", ")
}

/// Flashmark column of a published figure, with the value: the first of its quantities.
fn own_quantity(cell: &Cell) -> Option<(FigureColumn, f64)> {
    let (quantity, estimate) = quantities(cell).into_iter().find(|(quantity, _)| {
        // Seeks are printed as times or as rates.
        !cell.label(PRINTED).ends_with(" ms") || quantity.unit == "ms"
    })?;
    Some((quantity, estimate.value))
}

/// Label with the figure as its source prints it, with its unit: "1.7 MB/s".
const PRINTED: &str = "published";

/// Mean and interval of a figure and its repeats in the same source: "3 runs: 20.9 MB/s (14.8 to
/// 27.1)"; empty for a single measurement.
fn repeats_of(cell: &Cell, all: &[Cell]) -> String {
    let values: Vec<f64> = all
        .iter()
        .filter(|other| repeats(cell, other))
        .filter_map(|it| Some(value(it)?.0))
        .collect();
    match (mean_of_repeats(&values), value(cell)) {
        (Some(Estimate { value, ci95: Some(ends), n }), Some((_, unit))) => {
            let [low, high] = ends.map(significant);
            format!("{n} runs: {} {unit} ({low} to {high})", significant(value))
        }
        _ => String::new(),
    }
}

/// Main value of a cell with its unit: that of its column, or its rate.
fn value(cell: &Cell) -> Option<(f64, &'static str)> {
    let of_column = quantities(cell).into_iter().next().map(|(of, it)| (it.value, of.unit));
    of_column.or_else(|| cell.metrics.bps.as_ref().map(|bps| (bps.value / 1e6, "MB/s")))
}

fn row(cell: &Cell, picks: &[Pick]) -> ArticleRow {
    let own = own_quantity(cell);
    let printed = printable(cell.label(PRINTED));
    let in_our_unit = own.as_ref().filter(|(quantity, _)| {
        printed.rsplit(' ').next().is_none_or(|unit| unit != quantity.unit)
    });
    let ours = in_our_unit
        .map(|(quantity, value)| format!("{} {}", significant(*value), quantity.unit))
        .unwrap_or_default();
    let picks = picks.iter().map(|pick| {
        let own = own.as_ref().filter(|(_, value)| *value > 0.0);
        own.map_or_else(PickCell::none, |(quantity, value)| PickCell::of(pick, quantity, *value))
    });
    ArticleRow {
        id: printable(cell.label("row")),
        what: what(cell),
        tool: printable(cell.label("tool")),
        printed,
        ours,
        repeats: String::new(),
        picks: picks.collect(),
    }
}

impl PickCell {
    /// Text for a figure that was not measured.
    const NONE: &str = "–";

    fn none() -> PickCell {
        PickCell { value: Self::NONE.to_owned(), interval: String::new(), ratio: String::new() }
    }

    /// True if there is a figure.
    pub fn is_some(&self) -> bool {
        !self.ratio.is_empty()
    }

    fn of(pick: &Pick, quantity: &FigureColumn, published: f64) -> PickCell {
        let Some((found, is_other)) = pick.nearest(&quantity.name) else {
            return PickCell::none();
        };
        let other = if is_other { ", random data" } else { "" };
        PickCell {
            value: found.text(),
            interval: found.interval() + other,
            ratio: format!("{}x", significant(found.figure.value / published)),
        }
    }
}

/// Names of selected media without any of the figures.
pub(super) fn without_any(groups: &[MediumFigures], picks: &[Pick]) -> Vec<String> {
    let has_none = |at: usize| {
        let mut rows = groups.iter().flat_map(|group| &group.rows);
        !rows.any(|row| row.picks[at].is_some())
    };
    let none = picks.iter().enumerate().filter(|(at, _)| has_none(*at));
    none.map(|(_, pick)| pick.name.clone()).collect()
}

/// A command that measures columns of a publication.
pub struct MeasureCommand {
    /// Arguments of `flashmark`.
    pub command: String,
    /// Heads of the columns, each with its unit; a head without a unit is only the nearest test.
    pub columns: Vec<String>,
}

/// Commands that measure the columns of an article, each once, in the order of its figures.
pub(super) fn commands(of: &ArticleFigures) -> Vec<MeasureCommand> {
    let mut found: Vec<MeasureCommand> = Vec::new();
    for cell in of.runs.iter().flat_map(|run| &run.cells) {
        let own =
            own_quantity(cell).map(|(it, _)| (it.command, format!("{} ({})", it.head, it.unit)));
        let Some((command, column)) = own.or_else(|| nearest(cell)) else { continue };
        match found.iter_mut().find(|it| it.command == command) {
            Some(known) if known.columns.contains(&column) => {}
            Some(known) => known.columns.push(column),
            None => found.push(MeasureCommand { command, columns: vec![column] }),
        }
    }
    found
}

fn nearest(cell: &Cell) -> Option<(String, String)> {
    let command = nearest_command(cell)?;
    Some((command.to_owned(), format!("{}: {}", printable(cell.label("tool")), what(cell))))
}
