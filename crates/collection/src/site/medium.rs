//! Page of a medium: the verdict, its figures, charts, every run with its host.

mod rows;

use askama::Template;
use pages::panels;
use pages::view::{FindingView, PanelView, comes_first, panel};
use record::Record;
use record::collection::{CollectionLine, CollectionRun, HeadlineFigure, Origin};
use record::text::printable;
use report::figure;

use self::rows::{beside_row, figure_rows, link_row, run_row};
use super::address::{Links, SiteInfo};
use super::every_figure::{FigureLine, every_figure};
use super::hosts;
use super::{SiteFrame, figures, table};

/// Most runs listed on a page; the medium's JSON has all.
const MAX_RUNS: usize = 200;
/// Most charts on a page; `flashmark report` makes the others from the run's record.
const MAX_PANELS: usize = 6;

/// Page of a medium with its runs, the newest first, and the other lines of its model: published
/// figures, results of other tools. They are shown beside it and never mixed with it.
pub fn medium_beside(
    site: &SiteInfo,
    line: &CollectionLine,
    entries: &[CollectionRun],
    beside: &[CollectionLine],
) -> String {
    MediumPage::of(site, line, entries, beside)
        .render()
        .expect("a template that compiled renders into memory")
}

#[derive(Template)]
#[template(path = "site/medium.html")]
struct MediumPage {
    shell: SiteFrame,
    name: String,
    facts: String,
    badges: Vec<(&'static str, &'static str)>,
    origin: String,
    is_fake: bool,
    is_listed: bool,
    reports: Option<String>,
    has_senders: bool,
    links: Vec<LinkRow>,
    findings: Vec<FindingView>,
    rows: Vec<FigureRow>,
    every: Vec<FigureLine>,
    one_run: &'static str,
    missing: String,
    beside: Vec<ComparedLine>,
    charted_run: String,
    panels: Vec<PanelView>,
    runs: Vec<RunRow>,
    all_runs: usize,
    json: String,
    compare: String,
}

/// Row of a headline figure of the medium.
struct FigureRow {
    name: &'static str,
    value: String,
    range: String,
    runs: String,
    place: String,
    level: String,
}

/// Row of another line of the same model.
struct ComparedLine {
    name: String,
    href: String,
    what: String,
    cells: Vec<(&'static str, String)>,
}

/// Row of a link.
struct LinkRow {
    name: String,
    voices: u64,
    cells: Vec<(&'static str, String)>,
}

/// Row of a run.
struct RunRow {
    id: String,
    href: String,
    when: String,
    origin: String,
    /// Its place among the runs of the model: "slower than 9 of 10".
    standing: String,
    machine: String,
    link: String,
    way: String,
    label: String,
    suite: String,
    software: String,
    faults: String,
    /// Caveats of the run, and its publication.
    notes: Vec<Note>,
    cells: Vec<(&'static str, String)>,
}

/// Note on a run.
struct Note {
    text: String,
    /// Link of the note. Only built-in data have external links, or anyone could make us link to
    /// anything.
    href: Option<String>,
}

impl MediumPage {
    fn of(
        site: &SiteInfo,
        line: &CollectionLine,
        entries: &[CollectionRun],
        beside: &[CollectionLine],
    ) -> MediumPage {
        let links = Links { site, depth: 1 };
        let believed = line.believed(entries);
        let shown = shown_run(&believed);
        let record = shown.map(concluded);
        let name = printable(&line.name);
        let writes: Vec<f64> = entries.iter().filter_map(rows::random_writes).collect();
        MediumPage {
            shell: SiteFrame::new(links, format!("{name} - {}", site.title), ""),
            facts: facts(line),
            badges: table::badges(line),
            origin: origin(line, shown),
            is_fake: line.is_fake,
            is_listed: line.is_listed,
            reports: reports(line),
            has_senders: line.senders > 0,
            links: if line.links.len() > 1 {
                line.links.iter().map(link_row).collect()
            } else {
                Vec::new()
            },
            findings: findings_of(line, record.as_ref(), &links),
            rows: figure_rows(line),
            every: every_figure(&believed),
            one_run: figure::ONE_RUN_MEANS,
            missing: missing(line),
            beside: beside
                .iter()
                .filter(|other| other.slug != line.slug)
                .map(|other| beside_row(&links, other))
                .collect(),
            charted_run: shown.map(run_text).unwrap_or_default(),
            panels: record.as_ref().map(charts).unwrap_or_default(),
            runs: entries
                .iter()
                .take(MAX_RUNS)
                .map(|entry| run_row(&links, line, entry, &writes))
                .collect(),
            all_runs: entries.len(),
            json: links.file(&format!("data/medium/{}.json", line.slug)),
            compare: compare_link(&links, &line.slug),
            name,
        }
    }
}

/// The record of a run with new conclusions: its own may have been written by the sender.
fn concluded(entry: &CollectionRun) -> Record {
    let mut record = entry.run.to_record(&entry.id);
    // Published figures are too few and too different from ours to conclude from.
    record.findings =
        if entry.origin == Origin::Reference { Vec::new() } else { findings::conclude(&record) };
    record
}

fn compare_link(links: &Links, slug: &str) -> String {
    format!("{}?m={slug}", links.text("compare"))
}

/// The run shown in the charts: the newest of those with most cells (entries are sorted newest
/// first).
fn shown_run<'a>(entries: &[&'a CollectionRun]) -> Option<&'a CollectionRun> {
    let most = entries.iter().map(|entry| entry.run.cells.len()).max()?;
    entries.iter().find(|entry| entry.run.cells.len() == most).copied()
}

fn facts(line: &CollectionLine) -> String {
    let mut facts = super::kind_and_size(&line.model);
    facts.extend(line.interface.as_deref().map(printable));
    facts.push(printable(&line.classes.join(" ")));
    facts.retain(|fact| !fact.is_empty());
    facts.join(" · ")
}

/// Sentence about the origin of its figures.
fn origin(line: &CollectionLine, shown: Option<&CollectionRun>) -> String {
    let software = shown.map(software).filter(|text| !text.is_empty());
    match line.origin {
        Origin::Measured => "Measured by Flashmark.".to_owned(),
        Origin::Imported => match software {
            Some(tool) => format!("Imported from the output of other tools (the run shown: {tool}). They measure in other ways; compare with care."),
            None => "Imported from the output of other tools. They measure in other ways; compare with care.".to_owned(),
        },
        Origin::Reference => "Reference data: published by others, with the source at each run. It is shown beside our own measurements and never mixed with them.".to_owned(),
        Origin::Simulated => "A simulated medium: no such thing was measured. It is listed apart.".to_owned(),
    }
}

fn software(entry: &CollectionRun) -> String {
    let software = &entry.run.software;
    [software.name.as_str(), software.version.as_str()]
        .iter()
        .map(|part| printable(part))
        .collect::<Vec<_>>()
        .join(" ")
        .trim()
        .to_owned()
}

/// What senders report of fakes and damage, and whether that is a verdict.
fn reports(line: &CollectionLine) -> Option<String> {
    let reports = table::reports(line).join(", ");
    let rest = match line.is_fake || line.is_damaged {
        true => "",
        false => "; it takes three senders, and twice as many as do not, for a verdict",
    };
    (!reports.is_empty()).then(|| format!("{reports}{rest}."))
}

/// The verdict and the faults in the run shown; the line's own verdict if that run has none.
fn findings_of(line: &CollectionLine, record: Option<&Record>, links: &Links) -> Vec<FindingView> {
    let pages = links.text("findings") + "#";
    let of = |record: &Record| {
        let first = record.findings.iter().filter(|finding| comes_first(finding));
        first.map(|finding| FindingView::of(finding, record, &pages)).collect()
    };
    let mut found: Vec<FindingView> = record.map(of).unwrap_or_default();
    let has_verdict =
        record.is_some_and(|record| record.findings.iter().any(|finding| finding.id == "verdict"));
    if let (false, Some(verdict)) = (has_verdict, &line.verdict) {
        found.insert(0, FindingView::bare(verdict));
    }
    found
}

/// Sentence about figures that nobody has measured of it.
fn missing(line: &CollectionLine) -> String {
    let missing = HeadlineFigure::ALL
        .into_iter()
        .filter(|figure| !line.figures.get(figure).is_some_and(figures::sound));
    missing.map(figures::head).collect::<Vec<_>>().join(", ")
}

/// Description of the run in the charts: "2026-11-21, suite standard, on Raspberry Pi 4".
fn run_text(entry: &CollectionRun) -> String {
    let run = &entry.run;
    let mut parts = vec![format!("run {}", printable(&entry.id))];
    parts.extend(run.started.as_deref().map(table::day));
    parts.push(format!("suite {}", printable(&run.suite)));
    let machine = hosts::machine(run);
    if machine != "not known" {
        parts.push(format!("on {machine}"));
    }
    parts.join(", ")
}

/// Charts of the run shown, with their numbers collapsed.
fn charts(record: &Record) -> Vec<PanelView> {
    panels::of_record(record).take(MAX_PANELS).map(|one| panel(one).folded()).collect()
}
