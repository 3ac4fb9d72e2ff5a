//! What the templates show, made from a record.

use askama::Template;
use record::{Finding, Record, Severity};

use super::PageHead;
use crate::chart::{self, DrawingSize};
use crate::doubts::{self, Doubt};
use crate::figure::Shown;
use crate::panels::{self, Panel};
use crate::tables::{self, Table};
use crate::{headline, words};

mod cover;
mod facts;
mod matrix;

use cover::Cover;

pub(super) use matrix::MatrixPage;

/// The page of one run.
#[derive(Template)]
#[template(path = "run.html", blocks = ["main"])]
pub(super) struct RunPage {
    cover: Cover,
    /// What is told before everything else.
    verdicts: Vec<FindingView>,
    findings: Vec<FindingView>,
    about: Vec<AboutView>,
    sentences: Vec<String>,
    headline: Vec<HeadlineRow>,
    panels: Vec<PanelView>,
    doubts: Vec<Doubt>,
    all: Vec<(String, TableView)>,
    plan: TableView,
}

/// A finding, how loud it is, and what opens when one wants to know why.
#[derive(Template)]
#[template(path = "finding.html")]
pub(crate) struct FindingView {
    class: &'static str,
    statement: String,
    evidence: Vec<String>,
    confidence: Option<String>,
    /// Where it is told what this means.
    about: Option<String>,
}

/// What a kind of finding means: its page, by paragraphs.
struct AboutView {
    id: String,
    title: String,
    paragraphs: Vec<Paragraph>,
}

/// A paragraph or an item of a list.
struct Paragraph {
    is_item: bool,
    text: String,
}

/// A row of the headline.
struct HeadlineRow {
    label: String,
    figure: String,
    interval: String,
    n: String,
    stop: &'static str,
    worst: String,
    times: String,
    slow: bool,
    why: String,
    impossible: bool,
}

/// A chart in both sizes, with its table.
#[derive(Template)]
#[template(path = "panel.html")]
pub(crate) struct PanelView {
    title: String,
    note: String,
    wide: String,
    narrow: String,
    table: TableView,
    open: bool,
}

/// A table; a template of its own, so that other pages can use it.
#[derive(Template)]
#[template(path = "table.html")]
pub(crate) struct TableView {
    table: Table,
}

impl FindingView {
    /// A finding; the address of a page about its kind is `pages` and the id of the finding.
    pub fn of(finding: &Finding, pages: &str) -> FindingView {
        FindingView {
            class: words::severity(finding.severity),
            statement: words::clean(&finding.statement),
            evidence: finding.evidence.iter().map(|text| words::clean(text)).collect(),
            confidence: words::confidence(finding),
            about: findings::about(&finding.id).map(|_| format!("{pages}{}", finding.id)),
        }
    }

    /// A sentence with nothing behind it.
    pub fn bare(statement: &str) -> FindingView {
        FindingView {
            class: "info",
            statement: words::clean(statement),
            evidence: Vec::new(),
            confidence: None,
            about: None,
        }
    }
}

impl PanelView {
    /// The same with its numbers folded, however few they are.
    pub fn folded(self) -> PanelView {
        PanelView { open: false, ..self }
    }
}

impl RunPage {
    /// Everything a page says of a record.
    pub fn of(record: &Record) -> RunPage {
        let page = RunPage::part_of(record);
        RunPage { cover: page.cover.with_record(record), ..page }
    }

    /// The same without the record itself.
    pub fn part_of(record: &Record) -> RunPage {
        let nothing = record.cells.is_empty() && record.plan.is_empty();
        let finding = |finding: &Finding| FindingView::of(finding, "#about-");
        RunPage {
            cover: Cover::of(record, "report", doubts::state(record)),
            verdicts: record
                .findings
                .iter()
                .filter(|found| is_told_first(found))
                .map(finding)
                .collect(),
            findings: record
                .findings
                .iter()
                .filter(|found| !is_told_first(found))
                .map(finding)
                .collect(),
            about: about(record),
            sentences: headline::sentences(record),
            headline: if nothing {
                Vec::new()
            } else {
                headline::rows(record).iter().map(headline_row).collect()
            },
            panels: panels::of_record(record).into_iter().map(panel).collect(),
            doubts: doubts::doubts(record),
            all: tables::all(record)
                .into_iter()
                .map(|(test, table)| (test, TableView { table }))
                .collect(),
            plan: TableView { table: facts::plan(record) },
        }
    }
}

/// The verdict, and whatever is wrong with the medium.
pub(crate) fn is_told_first(finding: &Finding) -> bool {
    finding.id == "verdict"
        || finding.id == crate::text::NOT_PUT_BACK
        || finding.severity == Severity::Failure
}

/// The pages of all findings of a record, each once.
fn about(record: &Record) -> Vec<AboutView> {
    let mut pages: Vec<AboutView> = Vec::new();
    for finding in &record.findings {
        let Some(page) = findings::about(&finding.id) else { continue };
        if pages.iter().any(|known| known.id == finding.id) {
            continue;
        }
        pages.push(AboutView {
            id: finding.id.clone(),
            title: page.lines().next().unwrap_or_default().trim_start_matches("# ").to_owned(),
            paragraphs: paragraphs(page),
        });
    }
    pages
}

/// The paragraphs of a page in the little of Markdown that the pages keep to: a title, paragraphs,
/// lists of one level.
fn paragraphs(page: &str) -> Vec<Paragraph> {
    let mut paragraphs: Vec<Paragraph> = Vec::new();
    let mut open = false;
    for line in page.lines().skip(1) {
        let item = line.strip_prefix("- ");
        match (item, line.trim(), open) {
            (None, "", _) => open = false,
            (None, text, true) => {
                if let Some(last) = paragraphs.last_mut() {
                    last.text.push(' ');
                    last.text.push_str(text);
                }
            }
            (item, text, _) => {
                paragraphs.push(Paragraph {
                    is_item: item.is_some(),
                    text: item.unwrap_or(text).to_owned(),
                });
                open = true;
            }
        }
    }
    for paragraph in &mut paragraphs {
        paragraph.text = paragraph.text.replace(['`', '*'], "");
    }
    paragraphs
}

fn headline_row(row: &headline::HeadlineRow) -> HeadlineRow {
    let (figure, interval, n, why) = match &row.shown {
        Shown::Number { text, interval, n, .. } => {
            (text.clone(), interval.clone(), n.to_string(), String::new())
        }
        Shown::Withheld(why) => (String::new(), String::new(), String::new(), why.clone()),
    };
    HeadlineRow {
        label: row.label.clone(),
        figure,
        interval,
        n,
        stop: row.stop(),
        worst: row.worst(),
        times: row.times_disk.map(|times| words::times(times) + " ×").unwrap_or_default(),
        slow: row.times_disk.is_some_and(|times| times < 1.0),
        impossible: why.starts_with("impossible"),
        why,
    }
}

/// A chart with its table, drawn.
pub(crate) fn panel(panel: Panel) -> PanelView {
    PanelView {
        wide: chart::draw(&panel.chart, DrawingSize::Wide),
        narrow: chart::draw(&panel.chart, DrawingSize::Narrow),
        title: panel.chart.title,
        note: panel.chart.note,
        open: panel.table.rows.len() <= 8,
        table: TableView { table: panel.table },
    }
}
