//! What the templates show, made from a record.

use askama::Template;
use record::{Ended, Record, Severity};

use super::{Shell, inert_json};
use crate::chart::{self, Size};
use crate::doubts::{self, Doubt};
use crate::figure::Shown;
use crate::panels::{self, Panel};
use crate::tables::{self, Table};
use crate::{headline, words};

mod facts;

/// The page of one run.
#[derive(Template)]
#[template(path = "run.html")]
pub(super) struct RunPage {
    title: String,
    name: String,
    facts: String,
    label: String,
    run_facts: String,
    state: Option<String>,
    failed: bool,
    findings: Vec<FindingView>,
    sentences: Vec<String>,
    headline: Vec<HeadlineRow>,
    panels: Vec<PanelView>,
    doubts: Vec<Doubt>,
    skipped: Vec<(String, String)>,
    all: Vec<(String, TableView)>,
    how: Vec<(&'static str, Vec<(String, String)>)>,
    plan: TableView,
    private: bool,
    file_name: String,
    json: String,
}

/// A finding and how loud it is.
struct FindingView {
    class: &'static str,
    statement: String,
    evidence: String,
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
pub(super) struct PanelView {
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
pub(super) struct TableView {
    table: Table,
}

impl RunPage {
    /// Everything a page says of a record.
    pub fn of(record: &Record) -> RunPage {
        let name = words::name(&record.medium);
        let nothing = record.cells.is_empty() && record.plan.is_empty();
        RunPage {
            title: format!("{name} - Flashmark"),
            facts: words::medium_facts(record).join(" · "),
            label: record.run.label.as_deref().map(words::clean).unwrap_or_default(),
            run_facts: doubts::run_facts(record).join(" · "),
            state: doubts::state(record),
            failed: record.run.ended == Ended::Error,
            findings: record.findings.iter().map(finding).collect(),
            sentences: headline::sentences(record),
            headline: if nothing { Vec::new() } else { headline::rows(record).iter().map(headline_row).collect() },
            panels: panels::of_record(record).into_iter().map(panel).collect(),
            doubts: doubts::doubts(record),
            skipped: doubts::skipped(record),
            all: tables::all(record).into_iter().map(|(test, table)| (test, TableView { table })).collect(),
            how: facts::sections(record),
            plan: TableView { table: facts::plan(record) },
            private: facts::is_private(record),
            file_name: facts::file_name(record),
            json: inert_json(&record.to_json()),
            name,
        }
    }
}

fn finding(finding: &record::Finding) -> FindingView {
    FindingView {
        class: match finding.severity {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Failure => "failure",
        },
        statement: words::clean(&finding.statement),
        evidence: finding.evidence.iter().map(|e| words::clean(e)).collect::<Vec<_>>().join("; "),
    }
}

fn headline_row(row: &headline::Row) -> HeadlineRow {
    let (figure, interval, n, why) = match &row.shown {
        Shown::Number { text, interval, n, .. } => (text.clone(), interval.clone(), n.to_string(), String::new()),
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

fn panel(panel: Panel) -> PanelView {
    PanelView {
        wide: chart::draw(&panel.chart, Size::Wide),
        narrow: chart::draw(&panel.chart, Size::Narrow),
        title: panel.chart.title,
        note: panel.chart.note,
        open: panel.table.rows.len() <= 8,
        table: TableView { table: panel.table },
    }
}
