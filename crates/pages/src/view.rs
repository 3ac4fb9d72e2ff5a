//! Data of the templates, made from a record.

use askama::Template;
use record::text::printable;
use record::{Evidence, Finding, Outcome, Record, Severity};

use super::{PageHead, filters};
use crate::chart;
use crate::panels::{self, Panel};

mod cover;
mod facts;
mod matrix;
mod sheet;
mod table;

use cover::Cover;
use report::caveats;
use report::markup::blocks;
use report::tables;
use report::{figure, headline, words};
use sheet::Sheet;

pub(super) use matrix::MatrixPage;
pub use table::TableView;

/// Page of one run: a first sheet, and the rest collapsed.
#[derive(Template)]
#[template(path = "run.html")]
pub(super) struct RunPage {
    cover: Cover,
    sheet: Sheet,
    /// Collapsed parts in order: id and title.
    parts: Vec<(&'static str, &'static str)>,
    /// The verdict on each use with its reasons.
    reasons: Vec<FindingView>,
    findings: Vec<FindingView>,
    about: Vec<AboutView>,
    panels: Vec<PanelView>,
    /// The numbers of the curve on the first sheet.
    sheet_numbers: Option<TableView>,
    all: Vec<TableView>,
    plan: TableView,
}

/// A finding with its severity and its collapsed details.
#[derive(Template)]
#[template(path = "finding.html")]
pub struct FindingView {
    class: &'static str,
    statement: String,
    evidence: Vec<String>,
    confidence: Option<String>,
    /// Link to its explanation.
    about: Option<String>,
}

/// Explanation of a kind of finding: the first paragraph of its page.
struct AboutView {
    id: String,
    title: String,
    meaning: String,
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

/// Rows of figures, each with interval, count and stop reason.
#[derive(Template)]
#[template(path = "figures.html")]
pub struct FiguresView {
    caption: &'static str,
    rows: Vec<HeadlineRow>,
}

impl FiguresView {
    /// Explanation of "one run", if a row is marked so.
    fn one_run(&self) -> Option<&'static str> {
        let is_single = self.rows.iter().any(|row| row.interval == figure::ONE_RUN);
        is_single.then_some(figure::ONE_RUN_MEANS)
    }
}

/// A chart with its table.
#[derive(Template)]
#[template(path = "panel.html")]
pub struct PanelView {
    title: String,
    note: String,
    svg: String,
    /// Its numbers, unless they stand elsewhere on the page.
    table: Option<TableView>,
    open: bool,
}

impl FindingView {
    /// A finding of a record; the address of a page about its kind is `pages` and its id.
    pub fn of(finding: &Finding, record: &Record, pages: &str) -> FindingView {
        let line = |line: &Evidence| printable(&findings::evidence_text(line, record));
        FindingView {
            class: words::severity(finding.severity),
            statement: printable(&finding.statement),
            evidence: finding.evidence.iter().map(line).collect(),
            confidence: words::confidence(finding),
            about: findings::about(&finding.id).map(|_| format!("{pages}{}", finding.id)),
        }
    }

    /// A sentence without details.
    pub fn bare(statement: &str) -> FindingView {
        FindingView {
            class: "info",
            statement: printable(statement),
            evidence: Vec::new(),
            confidence: None,
            about: None,
        }
    }
}

impl PanelView {
    /// The panel with its numbers collapsed, however few they are.
    pub fn folded(self) -> PanelView {
        PanelView { open: false, ..self }
    }

    /// The panel alone: all results have its numbers.
    fn without_numbers(self) -> PanelView {
        PanelView { table: None, ..self }
    }
}

impl RunPage {
    /// The whole page of a record.
    pub fn of(record: &Record) -> RunPage {
        let finding = |finding: &Finding| FindingView::of(finding, record, "#about-");
        let told = told_once(record);
        let (reasons, findings): (Vec<&Finding>, Vec<&Finding>) =
            told.iter().partition(|found| findings::is_verdict(found));
        let on_sheet = panels::of_sheet(record);
        let is_new =
            |panel: &Panel| on_sheet.iter().flatten().all(|drawn| drawn.chart.id != panel.chart.id);
        let figures = panels::of_figures(record).filter(is_new);
        let courses = panels::of_courses(record).filter(is_new);
        let courses = courses.map(|one| panel(one).folded());
        let mut page = RunPage {
            cover: Cover::of(record, "report", caveats::state(record)),
            sheet_numbers: on_sheet[1].as_ref().map(numbers),
            panels: figures.map(|one| panel(one).without_numbers()).chain(courses).collect(),
            sheet: Sheet::of(record, on_sheet),
            parts: Vec::new(),
            reasons: reasons.into_iter().map(finding).collect(),
            findings: findings.into_iter().map(finding).collect(),
            about: about(&told),
            all: tables::for_page(record)
                .into_iter()
                .map(|(test, table)| TableView::new(table, test))
                .collect(),
            plan: TableView::new(
                facts::plan(record),
                "What was planned; notes: the settings of the first cell".to_owned(),
            ),
        };
        page.parts = page.parts();
        page
    }

    /// Parts that are not empty.
    fn parts(&self) -> Vec<(&'static str, &'static str)> {
        let parts = [
            (!self.reasons.is_empty(), sheet::REASONS, "Reasons for the verdict"),
            (!self.findings.is_empty(), "findings", "Findings"),
            (!self.sheet.more_caveats().is_empty(), sheet::MORE_CAVEATS, "More caveats"),
            (self.sheet.has_more_untested(), sheet::ALL_UNTESTED, "All that was not tested"),
            (!self.panels.is_empty() || self.sheet_numbers.is_some(), "charts", "Charts"),
            (!self.all.is_empty(), "results", "All results"),
            (!self.about.is_empty(), "meaning", "What the findings mean"),
            (true, "method", "Method, medium and host"),
            (!self.plan.is_empty(), "plan", "Plan"),
        ];
        parts.into_iter().filter(|(has, ..)| *has).map(|(_, id, title)| (id, title)).collect()
    }

    fn title(&self, id: &str) -> Option<&'static str> {
        self.parts.iter().find(|(known, _)| *known == id).map(|(_, title)| *title)
    }
}

/// True for the verdict, and for faults of the medium.
pub fn comes_first(finding: &Finding) -> bool {
    finding.id == "verdict" || is_danger(finding)
}

/// True for findings that come first: data at risk, and failures.
fn is_danger(finding: &Finding) -> bool {
    finding.id == report::text::NOT_RESTORED || finding.severity == Severity::Failure
}

/// The findings of a record without those that others tell: the summary of the verdicts on each
/// use, or what makes the medium unusable.
fn told_once(record: &Record) -> Vec<&Finding> {
    let verdict = record.findings.iter().find(|finding| finding.id == "verdict");
    let is_told = |finding: &&Finding| match verdict {
        Some(Finding { outcome: Some(Outcome::Uses), id, .. }) => finding.id == *id,
        Some(verdict) => findings::repeats(verdict, finding),
        None => false,
    };
    record.findings.iter().filter(|finding| !is_told(finding)).collect()
}

/// Explanations of findings, without duplicates.
fn about(findings: &[&Finding]) -> Vec<AboutView> {
    let mut pages: Vec<AboutView> = Vec::new();
    for finding in findings {
        let Some(page) = findings::about(&finding.id) else { continue };
        if pages.iter().any(|known| known.id == finding.id) {
            continue;
        }
        let mut texts = blocks(page).into_iter().map(|block| block.text);
        pages.push(AboutView {
            id: finding.id.clone(),
            title: texts.next().unwrap_or_default(),
            meaning: texts.next().unwrap_or_default(),
        });
    }
    pages
}

fn headline_row(row: &headline::HeadlineRow) -> HeadlineRow {
    let (figure, interval, n, why) = match row.shown.printed() {
        Ok(printed) => (
            printed.text.to_owned(),
            printed.interval.to_owned(),
            printed.n.to_string(),
            String::new(),
        ),
        Err(why) => (String::new(), String::new(), String::new(), why.to_owned()),
    };
    HeadlineRow {
        label: row.label.clone(),
        figure,
        interval,
        n,
        stop: row.stop(),
        worst: row.worst(),
        times: row.times_disk.map(|times| record::units::times(times) + " ×").unwrap_or_default(),
        slow: row.times_disk.is_some_and(|times| times < 1.0),
        impossible: row.shown.is_impossible(),
        why,
    }
}

/// A drawn chart with its table.
pub fn panel(panel: Panel) -> PanelView {
    PanelView {
        svg: chart::draw(&panel.chart),
        open: panel.table.rows.len() <= 8,
        table: Some(numbers(&panel)),
        note: panel.chart.note,
        title: panel.chart.title,
    }
}

/// The numbers that a chart is drawn from.
fn numbers(panel: &Panel) -> TableView {
    TableView::new(panel.table.clone(), format!("Numbers: {}", panel.chart.title))
}
