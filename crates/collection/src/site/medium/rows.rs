//! Rows of the tables on the page of a medium.

use record::collection::{
    CollectionLine, CollectionRun, FigureUnit, HeadlineFigure, LinkFigures, Origin,
};
use record::metric;
use record::text::printable;
use record::units::interval;
use report::words;

use super::super::address::Links;
use super::super::hosts;
use super::super::{figures, table};
use super::{ComparedLine, FigureRow, LinkRow, Note, RunRow, software};

pub(super) fn figure_rows(line: &CollectionLine) -> Vec<FigureRow> {
    let row = |figure: HeadlineFigure| {
        let spread = line.figures.get(&figure).filter(|spread| figures::sound(spread))?;
        let range = match spread.low < spread.high {
            true => interval(metric(figure), [spread.low, spread.high]),
            false => String::new(),
        };
        Some(FigureRow {
            name: figures::head(figure),
            value: figures::with_unit(figure, spread.median),
            range,
            runs: figures::counts(spread),
            place: figures::place_in_full(figure, spread.median),
            level: figures::grade_class(line, figure, spread),
        })
    };
    HeadlineFigure::ALL.into_iter().filter_map(row).collect()
}

/// Name of a metric with the figure's unit, for [`words::interval`].
fn metric(figure: HeadlineFigure) -> &'static str {
    match figure.unit() {
        FigureUnit::Iops => metric::IOPS,
        FigureUnit::Bps => metric::BPS,
        FigureUnit::Ns => "_ns",
    }
}

/// A few figures of a line, a run or a host, with the heads of their columns. The data downloads
/// have the others.
fn main_cells(value: impl Fn(HeadlineFigure) -> Option<f64>) -> Vec<(&'static str, String)> {
    let cell = |figure| {
        value(figure)
            .filter(|value| value.is_finite() && *value > 0.0)
            .map(|value| figures::with_unit(figure, value))
    };
    let headed = |figure| (figures::head(figure), cell(figure).unwrap_or_else(|| "–".to_owned()));
    figures::MAIN.into_iter().map(headed).collect()
}

pub(super) fn beside_row(links: &Links, line: &CollectionLine) -> ComparedLine {
    ComparedLine {
        name: printable(&line.name),
        href: links.medium(&line.slug),
        what: table::origin_words(line.origin).to_owned(),
        cells: main_cells(|figure| line.figures.get(&figure).map(|spread| spread.median)),
    }
}

pub(super) fn link_row(link: &LinkFigures) -> LinkRow {
    let name = link.link.as_deref().map_or_else(|| "not known".to_owned(), printable);
    let cells = main_cells(|figure| link.figures.get(&figure).map(|spread| spread.median));
    LinkRow { name, voices: link.voices, cells }
}

/// Random writes of 4 KiB a second of a run.
pub(super) fn random_writes(entry: &CollectionRun) -> Option<f64> {
    entry.headline.figures.get(&HeadlineFigure::RandomWrite4k).copied()
}

/// Place of a run by its random writes among those of all runs of its model, itself included.
fn standing(entry: &CollectionRun, writes: &[f64]) -> Option<String> {
    let own = random_writes(entry).filter(|_| writes.len() > 2)?;
    let others = writes.len() - 1;
    let faster = writes.iter().filter(|value| **value > own).count();
    let slower = writes.iter().filter(|value| **value < own).count();
    let (word, count) = if faster > slower { ("slower", faster) } else { ("faster", slower) };
    (count > 0).then(|| format!("{word} than {count} of {others}"))
}

/// `writes`: [`random_writes`] of every run of the line.
pub(super) fn run_row(
    links: &Links,
    line: &CollectionLine,
    entry: &CollectionRun,
    writes: &[f64],
) -> RunRow {
    let run = &entry.run;
    let day = table::day(run.started.as_deref().unwrap_or(&entry.received));
    // It is the text of a link, so it must not be empty.
    let day = if day.is_empty() { "no date".to_owned() } else { day };
    RunRow {
        id: entry.id.clone(),
        href: links.run(&entry.id),
        when: day,
        origin: table::origin_words(entry.origin).to_owned(),
        standing: standing(entry, writes).unwrap_or_default(),
        machine: hosts::machine(run),
        link: hosts::link(entry),
        way: hosts::way(run),
        // What senders write as they like is in the data only.
        label: run
            .label
            .as_deref()
            .filter(|_| line.senders == 0 && entry.uncounted.is_none())
            .map(printable)
            .unwrap_or_default(),
        suite: printable(&run.suite),
        software: software(entry),
        notes: run
            .flags
            .iter()
            .map(|flag| flag.to_string())
            .chain(entry.uncounted.clone())
            .map(|text| note(&text, entry.origin))
            .collect(),
        faults: entry
            .headline
            .faults
            .iter()
            .map(|fault| words::test(fault))
            .chain(entry.headline.is_fake.then(|| "a fake".to_owned()))
            .collect::<Vec<_>>()
            .join(", "),
        cells: main_cells(|figure| entry.headline.figures.get(&figure).copied()),
    }
}

fn note(text: &str, origin: Origin) -> Note {
    let text = printable(text);
    let is_address =
        |word: &&str| ["https://", "http://"].iter().any(|scheme| word.starts_with(scheme));
    let address = text.split_whitespace().find(is_address).filter(|_| origin == Origin::Reference);
    match address {
        Some(address) => Note {
            href: Some(address.to_owned()),
            text: text.replace(address, "").trim_end_matches([' ', ':']).to_owned(),
        },
        None => Note { href: None, text },
    }
}
