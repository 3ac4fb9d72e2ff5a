//! The first sheet: fits on one page of paper and is all that most readers need.

use record::text::{capitalised, printable};
use record::units::decimal;
use record::{Finding, Fitness, Record, Severity, Use, UseLevel, test};
use report::caveats::{self, RecordCaveat};
use report::text::Tone;
use report::{headline, words};

use super::{FiguresView, FindingView, HeadlineRow, headline_row, is_danger};
use crate::chart;
use crate::panels::Panel;

/// Id of the part with the verdicts on the uses and their reasons.
pub(super) const REASONS: &str = "reasons";
/// Id of the part with the caveats that are not on the sheet.
pub(super) const MORE_CAVEATS: &str = "more-caveats";
/// Id of the part with everything that was not tested.
pub(super) const ALL_UNTESTED: &str = "all-untested";

/// Most caveats on the sheet.
const MAX_CAVEATS: usize = 3;
/// Most lines about untested items on the sheet.
const MAX_UNTESTED: usize = 4;

/// Content of the first sheet.
pub(super) struct Sheet {
    /// Data at risk, and failures that the answers do not tell.
    pub danger: Vec<FindingView>,
    /// True if the verdict is a failure: the answers come before all.
    pub fails: bool,
    /// The answers of the first screen.
    pub answers: Vec<(Tone, String)>,
    pub badges: Vec<Badge>,
    pub figures: FiguresView,
    /// Why there is none of these figures, if it is the same for all; else empty.
    pub no_figures: String,
    pub charts: Vec<SheetChart>,
    /// Untested items, each with the reason.
    pub untested: Vec<(String, String)>,
    /// Caveats, the most important first.
    pub caveats: Vec<RecordCaveat>,
    /// Program, run id and seed.
    pub origin: String,
}

/// A use with its level.
pub(super) struct Badge {
    pub class: &'static str,
    /// Icon: an SVG path on a field of 16 by 16.
    pub icon: &'static str,
    pub use_name: String,
    pub word: &'static str,
    /// Condition of the level; may be empty.
    pub note: String,
}

/// A chart, or the reason why it is missing.
pub(super) struct SheetChart {
    pub title: String,
    /// Markup.
    pub svg: String,
    pub note: String,
}

impl Sheet {
    /// The sheet of a record with these two charts.
    pub fn of(record: &Record, [rate, along]: [Option<Panel>; 2]) -> Sheet {
        let (verdicts, dangers): (Vec<&Finding>, Vec<&Finding>) =
            dangers(record).into_iter().partition(|finding| findings::is_verdict(finding));
        let rows: Vec<HeadlineRow> = figures(record).iter().map(headline_row).collect();
        Sheet {
            answers: report::text::answers(record),
            fails: !verdicts.is_empty(),
            no_figures: same_why(&rows),
            danger: dangers
                .iter()
                .map(|finding| FindingView::of(finding, record, "#about-"))
                .collect(),
            badges: findings::use_levels(record).iter().map(|use_| badge(record, use_)).collect(),
            figures: FiguresView {
                caption: "Sequential and random access, each figure with its 95 % interval",
                rows,
            },
            charts: if rate.is_none() && along.is_none() {
                Vec::new()
            } else {
                vec![chart(rate, "Rate against block size"), chart(along, "Rate along the medium")]
            },
            origin: origin(record),
            untested: untested(record),
            caveats: caveats(record),
        }
    }

    /// The caveats that fit.
    pub fn first_caveats(&self) -> &[RecordCaveat] {
        &self.caveats[..self.caveats.len().min(MAX_CAVEATS)]
    }

    /// The other caveats.
    pub fn more_caveats(&self) -> &[RecordCaveat] {
        &self.caveats[self.first_caveats().len()..]
    }

    /// The lines about untested items that fit.
    pub fn first_untested(&self) -> &[(String, String)] {
        &self.untested[..self.untested.len().min(MAX_UNTESTED)]
    }

    /// True if there are more untested items.
    pub fn has_more_untested(&self) -> bool {
        self.untested.len() > MAX_UNTESTED
    }
}

/// True if a record is of a suite that answers the three questions.
fn is_check(record: &Record) -> bool {
    record.run.suite == "check"
}

fn figures(record: &Record) -> Vec<headline::HeadlineRow<'_>> {
    if is_check(record) {
        headline::check_figures(record)
    } else {
        headline::main_figures(record).into()
    }
}

/// The reason for which all figures are missing; empty if there is a figure, or a second reason.
fn same_why(rows: &[HeadlineRow]) -> String {
    let why = rows.first().map_or("", |row| &row.why);
    if rows.iter().all(|row| row.why == why) { capitalised(why) } else { String::new() }
}

/// Data at risk, then a verdict that is a failure, then failures that it does not mention.
fn dangers(record: &Record) -> Vec<&Finding> {
    let mut dangers: Vec<&Finding> = Vec::new();
    for finding in record.findings.iter().filter(|finding| is_danger(finding)) {
        let is_repeat = |other: &&Finding| findings::repeats(other, finding);
        if !dangers.iter().any(is_repeat) {
            dangers.push(finding);
        }
    }
    dangers
}

fn badge(record: &Record, use_level: &UseLevel) -> Badge {
    // A level that does not rest on a rate has no rate to show.
    let has_rate = record.findings.iter().any(|finding| finding.id == "verdict-video")
        || matches!(use_level.level, Fitness::Good | Fitness::Usable | Fitness::Poor);
    let (class, icon) = match use_level.level {
        Fitness::Good => ("good", "M3.5 8.5l3 3 6-7"),
        Fitness::Usable => ("usable", "M3 9c2-3 3-3 5-1s3 2 5-1"),
        Fitness::Poor => ("poor", "M8 3v6.5M8 12v1"),
        Fitness::NotSuitable => ("unfit", "M4 4l8 8M12 4l-8 8"),
        Fitness::NotTested => ("open", "M4 8h8"),
        Fitness::CannotTell => ("open", "M5.5 6c0-3.5 5-3.5 5 0 0 2-2.5 2-2.5 4M8 12.5v1"),
    };
    Badge {
        class,
        icon,
        use_name: match use_level.wanted {
            Use::Video { mbit } if has_rate => format!("Video, {mbit} Mbit/s"),
            wanted => capitalised(findings::noun_of_use(record, wanted)),
        },
        word: use_level.level.word(),
        note: match use_level {
            UseLevel { condition: Some(_), .. } => "on a condition".to_owned(),
            UseLevel { sure_percent: Some(_), .. } => "few samples".to_owned(),
            UseLevel { within_bytes: Some(bytes), .. } => format!("in {}", decimal(*bytes)),
            _ => String::new(),
        },
    }
}

fn chart(panel: Option<Panel>, title: &str) -> SheetChart {
    match panel {
        Some(panel) => SheetChart {
            svg: chart::draw(&panel.chart),
            title: panel.chart.title,
            note: panel.chart.note,
        },
        None => SheetChart {
            title: title.to_owned(),
            svg: String::new(),
            note: "Not measured in this run, or not often enough for a chart.".to_owned(),
        },
    }
}

/// "flashmark 0.1.0, run 20261120-101500-5f3a, seed 42": needed to repeat the run.
fn origin(record: &Record) -> String {
    let run = &record.run;
    let software =
        [&run.software.name, &run.software.version].map(|part| printable(part)).join(" ");
    let id = printable(&run.id);
    let mut parts = vec![software.trim().to_owned()];
    parts.push(if id.is_empty() { id } else { format!("run {id}") });
    parts.push(format!("seed {}", run.seed));
    parts.retain(|part| !part.is_empty());
    parts.join(", ")
}

/// Detection of fakes, if it was not done, then other left-out tests.
fn untested(record: &Record) -> Vec<(String, String)> {
    let was_looked_at =
        record.findings.iter().any(|finding| ["capacity", "verify"].contains(&finding.id.as_str()));
    let fake = (!was_looked_at).then(|| {
        (
            "whether it is a fake".to_owned(),
            caveats::reason_of_absence(record, test::CAPACITY, None),
        )
    });
    let skipped = caveats::skipped(record).into_iter().filter_map(|(reason, tests)| {
        // The missing detection of fakes is already in the list.
        let names: Vec<String> = tests
            .iter()
            .filter(|name| was_looked_at || *name != test::CAPACITY)
            .map(|name| words::test(name))
            .collect();
        (!names.is_empty()).then(|| (names.join(", "), reason))
    });
    fake.into_iter().chain(skipped).collect()
}

/// Caveats in this order: impossible figures and failures, warnings of findings, other flags.
fn caveats(record: &Record) -> Vec<RecordCaveat> {
    let (severe, slight): (Vec<_>, Vec<_>) =
        caveats::of_record(record).into_iter().partition(|caveat| caveat.severe);
    let warnings = record.findings.iter().filter(|finding| {
        finding.severity == Severity::Warning
            && !findings::is_verdict(finding)
            && !is_danger(finding)
    });
    let warnings = warnings.map(|finding| RecordCaveat::of_run(printable(&finding.statement)));
    severe.into_iter().chain(warnings).chain(slight).collect()
}
