//! Page of a medium: the verdict, its figures, charts, every run with its host, and differences
//! between hosts.

mod rows;

use askama::Template;
use pages::panels;
use pages::view::{FindingView, PanelView, comes_first, panel};
use record::Record;
use record::collection::{
    Apart, CONFIRMING_SENDERS, CollectionLine, CollectionRun, HeadlineFigure, Origin,
};
use record::text::printable;
use report::{figure, words};

use self::rows::{beside_row, figure_rows, host_row, run_row};
use super::address::{Links, SiteInfo};
use super::every_figure::{FigureLine, every_figure};
use super::hosts;
use super::{SiteFrame, figures, table};

/// Most runs listed on a page; the medium's JSON has all.
const MAX_RUNS: usize = 200;
/// Most charts on a page; `flashmark report` makes the others from the run's record.
const MAX_PANELS: usize = 6;

/// Page of a medium with its runs, the newest first, and the other lines of its model: fakes, published figures, results of other
/// tools. They are shown beside it and never mixed with it.
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
    fakes: Option<String>,
    apart: Option<String>,
    has_senders: bool,
    findings: Vec<FindingView>,
    rows: Vec<FigureRow>,
    every: Vec<FigureLine>,
    one_run: &'static str,
    missing: String,
    beside: Vec<ComparedLine>,
    hosts: Vec<HostRow>,
    effects: Vec<String>,
    charted_run: String,
    panels: Vec<PanelView>,
    runs: Vec<RunRow>,
    fake_runs: Vec<RunRow>,
    all_runs: usize,
    json: String,
    compare: String,
}

/// Row of a headline figure of the medium.
struct FigureRow {
    name: &'static str,
    value: String,
    range: String,
    runs: u64,
    hosts: u64,
    senders: u64,
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

/// Row of a host.
struct HostRow {
    name: String,
    link: String,
    runs: usize,
    cells: Vec<(&'static str, String)>,
}

/// Row of a run.
struct RunRow {
    id: String,
    href: String,
    when: String,
    origin: String,
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
        let (fakes, sound): (Vec<&CollectionRun>, Vec<&CollectionRun>) =
            entries.iter().partition(|entry| entry.headline.is_fake && !line.is_fake);
        let shown = shown_run(&representative_runs(line, &sound)).or_else(|| shown_run(&fakes));
        let record = shown.map(concluded);
        let found_hosts = hosts::hosts(&sound);
        let name = printable(&line.name);
        let rows = |of: &[&CollectionRun]| {
            of.iter().take(MAX_RUNS).map(|entry| run_row(&links, entry)).collect::<Vec<_>>()
        };
        MediumPage {
            shell: SiteFrame::new(links, format!("{name} - {}", site.title), ""),
            facts: facts(line),
            badges: table::badges(line),
            origin: origin(line, shown),
            is_fake: line.is_fake,
            apart: line.apart.as_ref().map(apart_words),
            has_senders: line.figures.values().any(|spread| spread.senders > 0),
            fakes: fakes_words(line, beside),
            findings: findings_of(line, record.as_ref(), &links),
            rows: figure_rows(line),
            every: every_figure(&sound),
            one_run: figure::ONE_RUN_MEANS,
            missing: missing(line),
            beside: beside
                .iter()
                .filter(|other| other.slug != line.slug)
                .map(|other| beside_row(&links, other))
                .collect(),
            effects: hosts::effects(&found_hosts),
            hosts: if found_hosts.len() > 1 {
                found_hosts.iter().map(host_row).collect()
            } else {
                Vec::new()
            },
            charted_run: shown.map(run_text).unwrap_or_default(),
            panels: record.as_ref().map(charts).unwrap_or_default(),
            runs: rows(&sound),
            fake_runs: rows(&fakes),
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

/// Runs that may represent a line: where senders are distinguished, those with the line's verdict,
/// so that a single sender cannot set the headline. All runs if none has it.
fn representative_runs<'a>(
    line: &CollectionLine,
    entries: &[&'a CollectionRun],
) -> Vec<&'a CollectionRun> {
    let has_senders = line.figures.values().any(|spread| spread.senders > 0);
    let is_believed = |entry: &&&CollectionRun| entry.headline.verdict == line.verdict;
    let representative_runs: Vec<_> = entries.iter().filter(is_believed).copied().collect();
    if has_senders && !representative_runs.is_empty() {
        representative_runs
    } else {
        entries.to_vec()
    }
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

fn fakes_words(line: &CollectionLine, beside: &[CollectionLine]) -> Option<String> {
    if line.is_fake || line.fakes == 0 {
        return None;
    }
    let lines = beside.iter().chain([line]);
    let by_senders = lines.flat_map(|line| line.figures.values()).any(|spread| spread.senders > 0);
    let word = if by_senders { "sender" } else { "run" };
    let fakes = words::count(line.fakes as usize, word);
    let apart = if beside.iter().any(|other| other.is_fake) {
        "; they have a page of their own, below"
    } else {
        ""
    };
    Some(match (by_senders, line.fakes) {
        (false, _) => format!(
            "Fakes are sold under this name: {fakes} of such are left out of these figures{apart}."
        ),
        (true, CONFIRMING_SENDERS..) => format!(
            "Fakes are sold under this name: {fakes} had one; their runs are left out of these figures{apart}."
        ),
        (true, _) => format!(
            "{fakes} had a fake under this name, by their own account, which {CONFIRMING_SENDERS} have to say before it is taken as sure; their runs are left out of these figures{apart}."
        ),
    })
}

/// Sentences about senders that disagree, with a possible reason: "4 senders with 6 runs agree on
/// other figures, which are left out of these: 4 KiB random write 2.84 IOPS. ..".
fn apart_words(apart: &Apart) -> String {
    let texts: Vec<String> = figures::MAIN
        .into_iter()
        .filter_map(|figure| {
            let value = apart.figures.get(&figure).filter(|spread| figures::sound(spread))?;
            Some(format!(
                "{} {}",
                figures::head(figure).to_lowercase().replace("kib", "KiB"),
                figures::with_unit(figure, value.median)
            ))
        })
        .collect();
    format!(
        "{} with {} agree on other figures, which are left out of these: {}. A possible reason: {}.",
        words::count(apart.senders as usize, "sender"),
        words::count(apart.runs as usize, "run"),
        texts.join(", "),
        printable(&apart.reason())
    )
}

/// The verdict and the faults in the run shown; the line's own verdict if that run has none.
fn findings_of(line: &CollectionLine, record: Option<&Record>, links: &Links) -> Vec<FindingView> {
    let pages = links.text("findings") + "#";
    let first = record
        .into_iter()
        .flat_map(|record| &record.findings)
        .filter(|finding| comes_first(finding));
    let mut found: Vec<FindingView> =
        first.map(|finding| FindingView::of(finding, &pages)).collect();
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
