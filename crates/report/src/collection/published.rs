//! What others have published, a page for each publication: every figure as it is printed there,
//! beside the same quantities of media that a reader picks, with the command that makes it again.

use std::collections::BTreeMap;

use askama::Template;
use record::collection::{CollectionLine, CollectionRun};
use record::units::significant;
use record::{
    Cell, Estimate, FigureColumn, PublishedSource, SourceFigure, nearest_command, quantities,
};

use super::SiteFrame;
use super::address::{Links, SiteInfo};
use super::picks::{MOST_PICKED, Pick};
use crate::column_figures::{mean_of_repeats, repeats};
use crate::figure;

/// The list of publications: `/published`.
pub fn published_index(site: &SiteInfo, sources: &[PublishedSource]) -> String {
    let links = Links { site, depth: 0 };
    let entry = |source: &PublishedSource| IndexRow {
        title: source.title.clone(),
        href: links.published(&source.key),
        date: source.date.clone(),
        address: source.address.clone(),
        figures: source.figures.len(),
    };
    let page = IndexPage {
        shell: SiteFrame::new(links, format!("Published figures - {}", site.title), "published"),
        count: sources.iter().map(|source| source.figures.len()).sum(),
        rows: sources.iter().map(entry).collect(),
    };
    page.render().expect("a template that compiled renders into memory")
}

/// The file of a publication's page in a tree.
pub fn published_file(source: &PublishedSource) -> String {
    format!("published/{}.html", source.key)
}

/// The page of one publication. `picked` are up to [`MOST_PICKED`] media with their runs, newest
/// first; `offered` are the names of lines that can be picked.
pub fn published(
    site: &SiteInfo,
    source: &PublishedSource,
    picked: &[(CollectionLine, Vec<CollectionRun>)],
    offered: &[(String, String)],
) -> String {
    let links = Links { site, depth: 1 };
    let picks: Vec<Pick> =
        picked.iter().take(MOST_PICKED).map(|(line, runs)| Pick::of(&links, line, runs)).collect();
    let page = SourcePage {
        shell: SiteFrame::new(links, format!("{} - {}", source.title, site.title), ""),
        index: links.text("published"),
        own: links.published(&source.key),
        is_live: links.live(),
        heads: heads(&links, source, &picks),
        groups: groups(source, &picks),
        commands: commands(source),
        one_run: figure::ONE_RUN_MEANS,
        offered,
        source,
    };
    page.render().expect("a template that compiled renders into memory")
}

#[derive(Template)]
#[template(path = "collection/published.html")]
struct IndexPage<'a> {
    shell: SiteFrame<'a>,
    count: usize,
    rows: Vec<IndexRow>,
}

struct IndexRow {
    title: String,
    href: String,
    date: String,
    address: String,
    figures: usize,
}

#[derive(Template)]
#[template(path = "collection/source.html")]
struct SourcePage<'a> {
    shell: SiteFrame<'a>,
    source: &'a PublishedSource,
    index: String,
    own: String,
    is_live: bool,
    heads: Vec<PickHead>,
    groups: Vec<Group>,
    commands: Vec<(String, &'static str, String)>,
    one_run: &'static str,
    offered: &'a [(String, String)],
}

struct PickHead {
    slug: String,
    name: String,
    href: String,
    without: String,
}

/// The figures of one medium on one host.
struct Group {
    name: String,
    rows: Vec<Row>,
}

struct Row {
    id: String,
    what: String,
    tool: String,
    printed: String,
    /// The same in our unit, where that is another.
    ours: String,
    /// What it is with its repeats, where its source did the same several times.
    repeats: String,
    kind: &'static str,
    place: String,
    picks: Vec<PickCell>,
}

/// A figure of a picked medium, and how far it is from the published one.
struct PickCell {
    value: String,
    interval: String,
    difference: String,
}

fn heads(links: &Links, source: &PublishedSource, picks: &[Pick]) -> Vec<PickHead> {
    let head = |pick: &Pick| {
        let others = picks.iter().filter(|other| other.slug != pick.slug);
        let rest: Vec<String> = others.map(|other| format!("m={}", other.slug)).collect();
        let own = links.published(&source.key);
        // Only a server makes a page of other media.
        let without = match rest.is_empty() {
            _ if !links.live() => String::new(),
            true => own,
            false => format!("{own}?{}", rest.join("&")),
        };
        PickHead {
            slug: pick.slug.clone(),
            name: pick.name.clone(),
            href: pick.href.clone(),
            without,
        }
    };
    picks.iter().map(head).collect()
}

fn groups(source: &PublishedSource, picks: &[Pick]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
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
            None => groups.push(Group { name, rows: vec![row] }),
        }
    }
    groups
}

/// What a published figure is in our columns: the first of its quantities.
fn own_quantity(figure: &SourceFigure) -> Option<(FigureColumn, f64)> {
    let cell = figure.cell.as_ref()?;
    let (quantity, estimate) = quantities(cell).into_iter().find(|(quantity, _)| {
        // Seeks are printed as times or as rates.
        !figure.printed.ends_with(" ms") || quantity.unit == "ms"
    })?;
    Some((quantity, estimate.value))
}

/// Mean and interval of a figure and its repeats in the same source: "3 runs: 20.9 MB/s (14.8 to
/// 27.1)"; empty for one that was made once.
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

/// What a cell says first: its column, or its rate.
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
    fn none() -> PickCell {
        PickCell { value: "–".to_owned(), interval: String::new(), difference: String::new() }
    }

    fn of(pick: &Pick, quantity: &FigureColumn, published: f64) -> PickCell {
        let Some((found, is_other)) = pick.nearest(&quantity.name) else {
            return PickCell::none();
        };
        let other = if is_other { ", random data" } else { "" };
        let percent = (found.figure.value / published - 1.0) * 100.0;
        PickCell {
            value: found.text(),
            interval: found.interval() + other,
            difference: format!(
                "{}{} %",
                if percent < 0.0 { "−" } else { "+" },
                percent_text(percent)
            ),
        }
    }
}

/// Whole percents from 10 on, one decimal below.
fn percent_text(percent: f64) -> String {
    let percent = percent.abs();
    if percent < 10.0 { format!("{percent:.1}") } else { format!("{percent:.0}") }
}

/// What makes each of its columns again: head, unit, command, each once.
fn commands(source: &PublishedSource) -> Vec<(String, &'static str, String)> {
    let mut found: BTreeMap<String, (String, &'static str, String)> = BTreeMap::new();
    for figure in &source.figures {
        let nearest = || {
            let command = nearest_command(figure.cell.as_ref()?)?;
            let head = format!("{}: {}", figure.tool, figure.what);
            Some((head.trim_start_matches(": ").to_owned(), "", command.to_owned()))
        };
        let own = own_quantity(figure).map(|(it, _)| (it.head, it.unit, it.command));
        let entry = own.or_else(nearest);
        if let Some(entry) = entry {
            found.entry(entry.0.clone()).or_insert(entry);
        }
    }
    found.into_values().collect()
}
