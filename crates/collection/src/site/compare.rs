//! Comparison of up to eight media.

use std::collections::BTreeMap;

use askama::Template;
use findings::{Curve, MediaComparison};
use pages::chart::{ChartLine, ChartPoint};
use pages::panels::Panel;
use pages::view::{PanelView, TableView, panel};
use pages::{against_block_size, look};
use record::collection::{CollectionLine, CollectionRun, HeadlineFigure, HostSpread, Query};
use record::text::{capitalised, printable};
use record::units::{Bytes, quantity};
use record::{MediumKind, Record, metric};
use report::compare::{ComparisonPart, pair};
use report::tables::Table;
use report::words;

use super::address::{Links, SiteInfo};
use super::table::MAX_COMPARED;
use super::{SiteFrame, figures, kind_head, table};

/// A medium with its runs.
type Compared = (CollectionLine, Vec<CollectionRun>);

/// Comparison of the best media of a kind, at most [`MAX_COMPARED`], `compare/KIND.html`: figures with
/// their spread, the best for each use, curves against block size, and the significant differences.
/// The entries of a line are its runs; fakes are skipped unless the line is one of fakes.
pub fn compare_kind(
    site: &SiteInfo,
    kind: MediumKind,
    media: &[(CollectionLine, Vec<CollectionRun>)],
) -> String {
    let name = kind_head(kind);
    let compared = &media[..media.len().min(MAX_COMPARED)];
    page(site, format!("{name}: the best at random writes"), compared)
}

/// Page of a tree on which the script compares the ticked media; without a script, it links to the
/// prepared comparisons.
pub fn choose(site: &SiteInfo, kinds: &[MediumKind]) -> String {
    let links = Links { site, depth: 0 };
    let ready =
        kinds.iter().map(|kind| (kind_head(*kind), links.file(&ready_file(*kind)))).collect();
    let page = ChoosePage {
        shell: SiteFrame::new(links, format!("Compare - {}", site.title), "compare"),
        source: links.file("data/table.json"),
        home: links.table(&Query::default()),
        ready,
    };
    page.render().expect("a template that compiled renders into memory")
}

/// File of the comparison of a kind in a tree.
pub fn ready_file(kind: MediumKind) -> String {
    format!("compare/{}.html", kind.name())
}

#[derive(Template)]
#[template(path = "site/choose.html")]
struct ChoosePage {
    shell: SiteFrame,
    source: String,
    home: String,
    ready: Vec<(String, String)>,
}

#[derive(Template)]
#[template(path = "site/compare.html")]
struct ComparePage {
    shell: SiteFrame,
    heading: String,
    media: Vec<MediumHead>,
    rows: Vec<Row>,
    differences: Vec<String>,
    ranks: Vec<(String, Vec<String>)>,
    panels: Vec<PanelView>,
    /// Media without a curve in any chart.
    uncharted: String,
    tests: Vec<(String, Vec<CurveView>)>,
}

/// A pair of media at one kind of work.
struct CurveView {
    title: String,
    sentences: Vec<String>,
    table: TableView,
}

struct MediumHead {
    name: String,
    href: String,
    facts: String,
    badges: Vec<(&'static str, &'static str)>,
    without: Option<String>,
}

struct Row {
    name: &'static str,
    cells: Vec<Option<Cell>>,
}

struct Cell {
    value: String,
    place: String,
    range: String,
    counts: String,
    level: String,
    best: bool,
}

fn page(site: &SiteInfo, heading: String, media: &[Compared]) -> String {
    let links = Links { site, depth: 1 };
    let records = records(media);
    let found = findings::compare_curves(&records);
    let panels = charts(media, &records);
    let page = ComparePage {
        shell: SiteFrame::new(links, format!("{heading} - {}", site.title), "compare"),
        heading,
        media: media.iter().map(|(line, _)| head(&links, line, media)).collect(),
        rows: HeadlineFigure::ALL.into_iter().filter_map(|figure| row(figure, media)).collect(),
        differences: found.differences.iter().map(|difference| printable(difference)).collect(),
        ranks: found.ranks.iter().map(ranked).collect(),
        uncharted: uncharted(media, &panels),
        panels: panels.into_iter().filter(|panel| !panel.chart.is_empty()).map(panel).collect(),
        tests: curves(&found),
    };
    page.render().expect("a template that compiled renders into memory")
}

fn head(links: &Links, line: &CollectionLine, media: &[Compared]) -> MediumHead {
    let mut facts = super::kind_and_size(&line.model);
    facts.push(words::count(line.runs as usize, "run"));
    let without = (media.len() > 2).then(|| {
        let rest = media
            .iter()
            .filter(|(other, _)| other.slug != line.slug)
            .map(|(other, _)| format!("m={}", other.slug));
        format!("{}?{}", links.text("compare"), rest.collect::<Vec<_>>().join("&"))
    });
    MediumHead {
        name: printable(&line.name),
        href: links.medium(&line.slug),
        facts: facts.join(" · "),
        badges: table::badges(line),
        without,
    }
}

/// The records of all media, named so that each line is one medium whatever its runs are called:
/// the same model measured and published is two media.
fn records(media: &[Compared]) -> Vec<Record> {
    let names: Vec<String> = media.iter().map(|(line, _)| called(line, media)).collect();
    let of = |(at, (line, entries)): (usize, &Compared)| {
        let name = names[at].clone();
        let (slug, gb) = (line.slug.clone(), line.model.capacity_gb);
        let counts = line.believed(entries).into_iter();
        counts
            .map(|entry| {
                let mut record = entry.run.to_record(&entry.id);
                let it = &mut record.medium;
                (it.vendor, it.profile, it.cid) = (None, None, None);
                (it.serial, it.model) = (Some(slug.clone()), Some(name.clone()));
                it.capacity_bytes = Some(gb * 1_000_000_000);
                record
            })
            .collect::<Vec<_>>()
    };
    media.iter().enumerate().flat_map(of).collect()
}

/// Name of a medium on this page, with its origin if another has the same name.
fn called(line: &CollectionLine, media: &[Compared]) -> String {
    let name = printable(&line.name);
    let twins = media.iter().filter(|(other, _)| printable(&other.name) == name).count();
    let what = if line.is_fake { "fakes" } else { line.origin.name() };
    if twins > 1 { format!("{name} ({what})") } else { name }
}

fn row(figure: HeadlineFigure, media: &[Compared]) -> Option<Row> {
    let spread = |line: &CollectionLine| line.figures.get(&figure).copied().filter(figures::sound);
    let known = || media.iter().filter_map(|(line, _)| spread(line));
    // A figure without a range cannot be distinguished from the next: it is never the best, and no
    // lower one is.
    let has_range = |spread: &HostSpread| spread.low < spread.high;
    // Nor is one that a figure without a rank exceeds.
    let medians = || known().map(|spread| spread.median);
    let better = if figure.smaller_is_better() { f64::min } else { f64::max };
    let best = medians().reduce(better);
    let cell = |(line, _): &Compared| {
        let spread = spread(line)?;
        Some(Cell {
            value: figures::with_unit(figure, spread.median),
            place: figures::place(figure, spread.median),
            range: figures::range(figure, &spread).unwrap_or_default(),
            counts: figures::counts(&spread),
            level: figures::grade_class(line, figure, &spread),
            best: has_range(&spread)
                && line.is_ranked(figure)
                && Some(spread.median) == best
                && medians().count() > 1
                && medians().filter(|other| Some(*other) == best).count() == 1,
        })
    };
    let row = || Row { name: figures::head(figure), cells: media.iter().map(cell).collect() };
    known().next().map(|_| row())
}

/// A use, and the media in their rank order: "SanDisk SD32G (good, 1480 IOPS random writes of 4
/// KiB)".
fn ranked(rank: &findings::Rank) -> (String, Vec<String>) {
    let place = |place: &findings::RankPlace| {
        let text = report::compare::rank_text(place);
        format!("{}. {}: {text}", place.place, printable(&place.name))
    };
    let left_out = rank.left_out.iter();
    let left_out =
        left_out.map(|(name, why)| format!("{}: not ranked, {}", printable(name), printable(why)));
    (capitalised(&rank.name), rank.order.iter().map(place).chain(left_out).collect())
}

/// Pairwise curves of each test.
fn curves(found: &MediaComparison) -> Vec<(String, Vec<CurveView>)> {
    let mut tests: Vec<(String, Vec<CurveView>)> = Vec::new();
    let view = |curve: &Curve| {
        let ComparisonPart { title, sentences, table } = pair(curve);
        let table = TableView::new(table, format!("{title}, by block size"));
        CurveView { title, sentences, table }
    };
    for curve in &found.curves {
        let title = capitalised(&words::test(&curve.test));
        match tests.iter_mut().find(|(known, _)| *known == title) {
            Some((_, curves)) => curves.push(view(curve)),
            None => tests.push((title, vec![view(curve)])),
        }
    }
    tests
}

/// Drawn charts: test, metric, title.
const DRAWN: [(&str, &str, &str); 4] = [
    ("random-write", metric::IOPS, "Random write IOPS"),
    ("random-read", metric::IOPS, "Random read IOPS"),
    ("sequential-write", metric::BPS, "Sequential writes"),
    ("sequential-read", metric::BPS, "Sequential reads"),
];

fn charts(media: &[Compared], records: &[Record]) -> Vec<Panel> {
    DRAWN.iter().map(|drawn| chart(drawn, media, records)).collect()
}

fn chart(
    (test, metric, title): &(&str, &str, &str),
    media: &[Compared],
    records: &[Record],
) -> Panel {
    let mut table = Table::new(&["Medium", "#Block", "#Mean", "#Runs"]);
    let mut series = Vec::new();
    for (at, (line, _)) in media.iter().enumerate() {
        let name = called(line, media);
        let mut points = Vec::new();
        for (block, values) in by_block(test, metric, &line.slug, records) {
            let runs = values.len();
            let Some(mean) = stats::geometric_mean(&values) else { continue };
            let text = quantity(metric, mean);
            table.push(
                vec![name.clone(), Bytes(block).to_string(), text.clone(), runs.to_string()],
                Vec::new(),
            );
            let ends = (runs > 1).then(|| {
                [
                    values.iter().copied().fold(f64::MAX, f64::min),
                    values.iter().copied().fold(0.0, f64::max),
                ]
            });
            let tip = format!("{name}, {}: {text} ({})", Bytes(block), words::count(runs, "run"));
            points.push(ChartPoint { x: block as f64, y: mean, interval: ends, tip });
        }
        series.extend((!points.is_empty()).then(|| ChartLine { name, points, style: look(at) }));
    }
    let note = "Geometric means over runs, as in the tables below; whiskers from the lowest run to the highest.";
    let chart = against_block_size([test, metric], (*title).to_owned(), series, note);
    Panel { chart, table }
}

/// Names of the media that have no curve in any chart.
fn uncharted(media: &[Compared], panels: &[Panel]) -> String {
    let is_drawn = |name: &String| {
        panels.iter().flat_map(|panel| &panel.chart.series).any(|series| series.name == *name)
    };
    let names = media.iter().map(|(line, _)| called(line, media)).filter(|name| !is_drawn(name));
    names.collect::<Vec<_>>().join(", ")
}

/// The figures of a line's runs at each block size.
fn by_block(test: &str, metric: &str, slug: &str, records: &[Record]) -> BTreeMap<u64, Vec<f64>> {
    let mut found: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for record in records.iter().filter(|record| record.medium.serial.as_deref() == Some(slug)) {
        let mut sizes: Vec<u64> =
            record.cells_of(test).filter_map(|cell| cell.params.block_bytes).collect();
        sizes.sort_unstable();
        sizes.dedup();
        for block in sizes {
            let cell = findings::standard_cell(record, test, Some(block));
            let value = cell.and_then(|cell| {
                report::figure::show(cell, metric, report::figure::estimate(cell, metric)?).value()
            });
            found.entry(block).or_default().extend(value);
        }
    }
    found
}
