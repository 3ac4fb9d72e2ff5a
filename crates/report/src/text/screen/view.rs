//! The view of a record: what its first screen says, in the order of importance, before it is laid
//! into lines.

use findings::{Brief, Importance};
use record::text::{capitalised, printable};
use record::{Answer, Finding, Flag, Record, Severity};

use super::brief_figures;
use crate::text::{CLAIM, NOT_RESTORED, next_step};
use crate::{caveats, headline, words};

/// A part of the screen, and how many lines it may take.
pub(super) struct Part {
    /// Its text, and shorter ones for fewer lines.
    pub(super) texts: Vec<String>,
    /// Most lines on a terminal of 80 columns.
    pub(super) lines: usize,
    /// Order in which parts give up a line where there is no room: the larger keep theirs longer.
    pub(super) rank: u8,
    /// True if it gives up its last line too.
    pub(super) may_go: bool,
    pub(super) tone: Tone,
}

/// Colour of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Usual.
    Plain,
    /// It answers well.
    Strong,
    /// Read with care.
    Warn,
    /// It speaks against the medium.
    Alarm,
}

impl Tone {
    /// Its name in a style sheet: "plain", "strong", "warn", "alarm".
    pub fn class(self) -> &'static str {
        match self {
            Tone::Plain => "plain",
            Tone::Strong => "strong",
            Tone::Warn => "warn",
            Tone::Alarm => "alarm",
        }
    }

    fn of(severity: Severity) -> Tone {
        match severity {
            Severity::Info => Tone::Strong,
            Severity::Warning => Tone::Warn,
            Severity::Failure => Tone::Alarm,
        }
    }
}

fn part(text: String, lines: usize, rank: u8, tone: Tone) -> Part {
    Part { texts: vec![text], lines, rank, may_go: false, tone }
}

/// A part made of parts: those at the end are left out where there is no room.
fn parts(lead: &str, parts: &[String], joint: &str, rank: u8, tone: Tone) -> Part {
    let first = |n: usize| format!("{lead}{}", printable(&parts[..n].join(joint)));
    Part {
        texts: (1..=parts.len()).rev().map(first).collect(),
        lines: 2,
        rank,
        may_go: false,
        tone,
    }
}

/// The medium, what must be known before anything else, and the answers.
pub(super) fn opening(record: &Record) -> Vec<Part> {
    let not_restored = record.findings.iter().find(|finding| finding.id == NOT_RESTORED);
    let state = caveats::state(record).filter(|_| not_restored.is_none());
    let mut all = vec![part(words::medium_line(record), 1, 9, Tone::Strong)];
    all.extend(not_restored.map(|it| part(printable(&it.statement), 3, 9, Tone::Alarm)));
    all.extend(state.map(|text| part(text, 2, 6, Tone::Warn)));
    all.extend(answers(record));
    all
}

/// The three answers, and those on the claims.
pub(super) fn answers(record: &Record) -> Vec<Part> {
    let Brief { answers: [fits, is_genuine, is_healthy], fit, genuine, health, .. } =
        findings::brief(record);
    let mut all = Vec::new();
    // Nothing was measured: its state says so, and its health may have been reported.
    if record.cells.is_empty() && record.summary.is_none() {
        let reported = record.medium.health.is_some();
        let health = || parts("Health: ", &health, "; ", 8, of_answer(is_healthy));
        return reported.then(health).into_iter().collect();
    }
    // A fault is told whole, and why something was not tested before what else there is.
    let rank = |answer: Answer, usual: u8| match answer {
        Answer::No => 9,
        Answer::Inconclusive => 7,
        Answer::NotTested => 3,
        _ => usual,
    };
    let [good, bad, open] = fit.map(|text| printable(&text));
    if good.is_empty() && bad.is_empty() {
        let rank = if fits == Answer::Inconclusive { 5 } else { 8 };
        all.push(part(open, 2, rank, of_answer(fits)));
    } else {
        // Where there is no room for both, what speaks against it is what stays.
        let both = [format!("{good} {bad}"), format!("{bad} {good}")];
        let texts = both.map(|text| text.trim().to_owned()).into();
        all.push(Part { texts, ..part(String::new(), 4, 8, of_answer(fits)) });
        let open = Some(open).filter(|open| !open.is_empty());
        all.extend(open.map(|open| Part { may_go: true, ..part(open, 1, 1, Tone::Plain) }));
    }
    if !genuine.is_empty() {
        all.push(parts("Genuine: ", &genuine, " ", rank(is_genuine, 0), of_answer(is_genuine)));
    }
    all.extend(
        claims(record).map(|it| part(printable(&it.statement), 2, 6, Tone::of(it.severity))),
    );
    let health_rank = if is_healthy == Answer::NotTested { 2 } else { rank(is_healthy, 2) };
    if !health.is_empty() {
        all.push(parts("Health: ", &health, "; ", health_rank, of_answer(is_healthy)));
    }
    all
}

fn of_answer(answer: Answer) -> Tone {
    match answer {
        Answer::Yes => Tone::Strong,
        Answer::No => Tone::Alarm,
        Answer::Partly | Answer::Inconclusive => Tone::Warn,
        Answer::NoSign | Answer::NotTested => Tone::Plain,
    }
}

/// The claims that a user gave, with their results.
pub(super) fn claims(record: &Record) -> impl Iterator<Item = &Finding> {
    record.findings.iter().filter(|finding| finding.id == CLAIM)
}

/// The main figures in a line, or the one reason why there is none.
pub(super) fn figures(record: &Record) -> Part {
    let rows = headline::check_figures(record);
    let reasons: Vec<&str> = rows.iter().filter_map(|row| row.shown.withheld()).collect();
    match reasons.first() {
        Some(first) if reasons.len() == rows.len() => {
            part(format!("No speed was measured ({first})."), 1, 3, Tone::Plain)
        }
        _ => {
            let texts = brief_figures::in_a_line(record).into();
            Part { texts, ..part(String::new(), 2, 6, Tone::Strong) }
        }
    }
}

/// What makes the figures look better, or worse, than the medium is.
pub(super) fn caution(record: &Record) -> Option<Part> {
    let busy = record.flags.iter().any(|flag| matches!(flag, Flag::BusyHost { .. }));
    // An error that ended the run is told by its state.
    let of_all = || {
        let ended = caveats::state(record).is_some();
        let mut all = caveats::of_record(record).into_iter();
        all.find(|caveat| caveat.is_of_all() && !(ended && caveat.severe))
    };
    let text = findings::overstatement(&record.findings).or_else(|| match busy {
        true => Some("This machine was busy: figures may be low.".to_owned()),
        false => of_all().map(|caveat| capitalised(&caveat.full_text())),
    });
    text.map(|text| Part { may_go: true, ..part(text, 1, 4, Tone::Warn) })
}

/// What was found of the medium beside the answers.
pub(super) fn found(record: &Record) -> Option<Part> {
    let qualifies = |it: &&Finding| findings::importance(it) == Importance::Qualifies;
    let found = record.findings.iter().find(qualifies);
    found.map(|it| part(printable(&it.statement), 2, 4, Tone::of(it.severity)))
}

/// The next step; its command is whole, or left out.
pub(super) fn next(record: &Record) -> Option<Part> {
    let step = findings::next_steps(record).into_iter().next()?;
    let texts = vec![next_step(&step), format!("Next: {}", step.words)];
    Some(Part { texts, may_go: true, ..part(String::new(), 2, 5, Tone::Plain) })
}
