//! Figures of a publication beside those of the selected media.

use record::units::significant;
use record::{
    Cell, Estimate, FigureColumn, PublishedSource, SourceFigure, nearest_command, quantities,
};

use crate::collection::picks::Pick;
use crate::column_figures::{mean_of_repeats, repeats};

/// The figures of one medium on one host.
pub(super) struct MediumFigures {
    pub name: String,
    pub rows: Vec<Row>,
}

pub(super) struct Row {
    pub id: String,
    pub what: String,
    pub tool: String,
    pub printed: String,
    /// The same in Flashmark's unit, if that differs.
    pub ours: String,
    /// Mean with its repeats, if its source measured the same several times.
    pub repeats: String,
    pub kind: &'static str,
    pub place: String,
    pub picks: Vec<PickCell>,
}

/// A figure of a selected medium, and its ratio to the published one.
pub(super) struct PickCell {
    pub value: String,
    pub interval: String,
    /// Ratio to the published figure: "0.972x".
    pub ratio: String,
}

/// Every figure, by medium and host, in the order of the source.
pub(super) fn groups(source: &PublishedSource, picks: &[Pick]) -> Vec<MediumFigures> {
    let mut groups: Vec<MediumFigures> = Vec::new();
    for figure in &source.figures {
        let name = match (figure.medium.as_str(), figure.host.as_str()) {
            ("", "") => "Of no one medium".to_owned(),
            ("", host) => format!("Medium not named, on {host}"),
            (medium, "") => medium.to_owned(),
            (medium, host) => format!("{medium}, on {host}"),
        };
        let row = Row { repeats: repeats_of(figure, source), ..row(figure, picks) };
        match groups.iter_mut().find(|group| group.name == name) {
            Some(group) => group.rows.push(row),
            None => groups.push(MediumFigures { name, rows: vec![row] }),
        }
    }
    groups
}

/// Flashmark column of a published figure, with the value: the first of its quantities.
fn own_quantity(figure: &SourceFigure) -> Option<(FigureColumn, f64)> {
    let cell = figure.cell.as_ref()?;
    let (quantity, estimate) = quantities(cell).into_iter().find(|(quantity, _)| {
        // Seeks are printed as times or as rates.
        !figure.printed.ends_with(" ms") || quantity.unit == "ms"
    })?;
    Some((quantity, estimate.value))
}

/// Mean and interval of a figure and its repeats in the same source: "3 runs: 20.9 MB/s (14.8 to
/// 27.1)"; empty for a single measurement.
fn repeats_of(figure: &SourceFigure, source: &PublishedSource) -> String {
    let Some(cell) = &figure.cell else { return String::new() };
    let is_of = |other: &&SourceFigure| other.medium == figure.medium && other.host == figure.host;
    let cells = source.figures.iter().filter(is_of).filter_map(|other| other.cell.as_ref());
    let values: Vec<f64> =
        cells.filter(|other| repeats(cell, other)).filter_map(|it| Some(value(it)?.0)).collect();
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

fn row(figure: &SourceFigure, picks: &[Pick]) -> Row {
    let own = own_quantity(figure);
    let in_our_unit = own.as_ref().filter(|(quantity, _)| {
        figure.printed.rsplit(' ').next().is_none_or(|unit| unit != quantity.unit)
    });
    let ours = in_our_unit
        .map(|(quantity, value)| format!("{} {}", significant(*value), quantity.unit))
        .unwrap_or_default();
    let picks = picks.iter().map(|pick| {
        let own = own.as_ref().filter(|(_, value)| *value > 0.0);
        own.map_or_else(PickCell::none, |(quantity, value)| PickCell::of(pick, quantity, *value))
    });
    Row {
        id: figure.id.clone(),
        what: figure.what.clone(),
        tool: figure.tool.clone(),
        printed: figure.printed.clone(),
        ours,
        repeats: String::new(),
        kind: figure.kind,
        place: figure.place.clone(),
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
pub(super) struct MeasureCommand {
    /// Arguments of `flashmark`.
    pub command: String,
    /// Heads of the columns, each with its unit; a head without a unit is only the nearest test.
    pub columns: Vec<String>,
}

/// Commands that measure the columns of a publication, each once, in the order of its figures.
pub(super) fn commands(source: &PublishedSource) -> Vec<MeasureCommand> {
    let mut found: Vec<MeasureCommand> = Vec::new();
    for figure in &source.figures {
        let own =
            own_quantity(figure).map(|(it, _)| (it.command, format!("{} ({})", it.head, it.unit)));
        let Some((command, column)) = own.or_else(|| nearest(figure)) else { continue };
        match found.iter_mut().find(|it| it.command == command) {
            Some(known) if known.columns.contains(&column) => {}
            Some(known) => known.columns.push(column),
            None => found.push(MeasureCommand { command, columns: vec![column] }),
        }
    }
    found
}

fn nearest(figure: &SourceFigure) -> Option<(String, String)> {
    let command = nearest_command(figure.cell.as_ref()?)?;
    let head = format!("{}: {}", figure.tool, figure.what);
    Some((command.to_owned(), head.trim_start_matches(": ").to_owned()))
}
