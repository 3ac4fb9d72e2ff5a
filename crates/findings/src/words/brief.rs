//! The three answers of a record in a line each, for its first screen: what decides, how much was
//! looked at, and what was not tested. Everything else stands in the findings.

use record::text::capitalised;
use record::units::{Bytes, Nanos, decimal, saturating_sum};
use record::{Answer, Fitness, Outcome, Record, Summary, UseLevel};

use crate::conclusions::genuine::{capacity, identity, no_sign, read_back};
use crate::conclusions::health::waits;
use crate::conclusions::speed::flush::Flush;
use crate::conclusions::speed::stalls;
use crate::figures::genuineness::{self, Marks};
use crate::figures::usability::{self, ExclusionReason};
use crate::phrases::HOST_CACHED;
use crate::verdict::is_verdict;
use crate::verdict::use_names::name_of_use;
use crate::words::analysis::summary_of;
use crate::words::use_levels::levels_of;

/// The answers of a record in a line each. The parts of an answer are in the order in which they
/// stand; where there is no room for all, those at the end are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Brief {
    /// Fit, genuine, healthy.
    pub answers: [Answer; 3],
    /// What it is good for: "GOOD for a camera.", what it is not: "POOR for a database.", and what
    /// was not told; each may be empty.
    pub fit: [String; 3],
    /// Whether its capacity is real: "no sign of a fake in 11.8 MB of 32 GiB."
    pub genuine: Vec<String>,
    /// What is known of its health: "no error in 2858 I/Os", "worst wait 446 ms".
    pub health: Vec<String>,
}

/// The answers of a record, from its findings and its summary; drawn anew where it has none.
pub fn brief(record: &Record) -> Brief {
    let summary = summary_of(record);
    let answers = [summary.fit, summary.genuine, summary.healthy];
    if matches!(usability::of_run(record), Some(ExclusionReason::NoMedium)) {
        let fit = alone(summary.genuine_reason);
        return Brief { answers, fit, genuine: Vec::new(), health: Vec::new() };
    }
    Brief {
        answers,
        fit: fit(record, &summary),
        genuine: genuine(record, &summary),
        health: health(record, &summary),
    }
}

/// One sentence in place of levels.
fn alone(sentence: String) -> [String; 3] {
    [String::new(), String::new(), sentence]
}

fn fit(record: &Record, summary: &Summary) -> [String; 3] {
    let refused = record.findings.iter().any(|finding| {
        is_verdict(finding) && matches!(finding.outcome, Some(Outcome::Unusable { .. }))
    });
    if refused {
        return alone("DO NOT USE IT for anything.".to_owned());
    }
    let is_asked = record.run.command.iter().any(|word| word == "--for");
    let mut levels = if is_asked { levels_of(&record.findings) } else { summary.levels.clone() };
    if levels.iter().all(|of| of.level <= Fitness::CannotTell) {
        let [answer, reason] = [summary.fit.words(), &summary.fit_reason].map(capitalised);
        return alone(format!("{answer}: what it is good for. {reason}"));
    }
    levels.sort_by_key(|of| std::cmp::Reverse(of.level));
    let usual = usual_part(&levels);
    let of_level = |level: Fitness| {
        let of_it = levels.iter().filter(|of| of.level == level);
        let names: Vec<String> =
            of_it.map(|of| with_notes(name_of_use(record, of.wanted), of, usual)).collect();
        (!names.is_empty()).then(|| names.join(", "))
    };
    let rated = |level: Fitness| {
        of_level(level).map(|names| format!("{} for {names}", level.word().to_uppercase()))
    };
    let open = |level: Fitness| {
        of_level(level).map(|names| format!("{}: {names}.", capitalised(level.word())))
    };
    let joined = |of: [Fitness; 2]| of.into_iter().filter_map(rated).collect::<Vec<_>>().join("; ");
    let written = usual.map(|bytes| format!(", in {} written", decimal(bytes))).unwrap_or_default();
    let ended = |text: String, end: &str| if text.is_empty() { text } else { text + end + "." };
    let open = [Fitness::CannotTell, Fitness::NotTested].into_iter().filter_map(open);
    [
        ended(joined([Fitness::Good, Fitness::Usable]), &written),
        ended(joined([Fitness::NotSuitable, Fitness::Poor]), ""),
        open.collect::<Vec<_>>().join(" "),
    ]
}

/// The part of the medium on which most of the positive levels rest, in bytes; `None` if that is
/// all of it.
fn usual_part(levels: &[UseLevel]) -> Option<u64> {
    let parts = || {
        let praised = levels.iter().filter(|of| of.level >= Fitness::Usable);
        praised.map(|of| of.within_bytes)
    };
    parts().max_by_key(|part| (parts().filter(|other| other == part).count(), *part)).flatten()
}

/// A use with its condition, with how sure its level is, and with the part of the medium on which
/// it rests if that is another than `usual`.
fn with_notes(name: String, of: &UseLevel, usual: Option<u64>) -> String {
    let condition = of.condition.map(|condition| condition.short().to_owned());
    let part = of.within_bytes.filter(|part| Some(*part) != usual).map(decimal);
    let sure = of.sure_percent.map(|percent| format!("{percent} % sure"));
    let notes: Vec<String> = condition.into_iter().chain(part).chain(sure).collect();
    if notes.is_empty() { name } else { format!("{name} ({})", notes.join(", ")) }
}

fn genuine(record: &Record, summary: &Summary) -> Vec<String> {
    let answer = summary.genuine.words();
    match summary.genuine {
        Answer::No => {
            let sizes =
                capacity::sizes_of_a_fake(record).map(|sizes| format!("NO, a fake: {sizes}"));
            vec![sizes.unwrap_or_else(|| format!("NO, a fake. {}", summary.genuine_reason))]
        }
        Answer::NoSign => {
            let time = no_sign::time(record).map(|time| format!(", {time}")).unwrap_or_default();
            let certain = format!("Every block: the test `verify`{time}.");
            vec![format!("{answer}{}.", looked_at(record, summary)), certain]
        }
        Answer::Yes => vec![format!("{answer}. {}", summary.genuine_reason)],
        _ => vec![format!("{answer}: {}", summary.genuine_reason)],
    }
}

/// " in 11.8 MB of 32 GiB": what a probe read back.
fn looked_at(record: &Record, summary: &Summary) -> String {
    let places = genuineness::capacity_verdict(record).map_or(0, |(probe, _)| Marks::of(probe).all);
    let read = summary.read_bytes.filter(|bytes| *bytes > 0).map(decimal);
    let size = record.medium.capacity_bytes.map(|bytes| format!(" of {}", Bytes(bytes)));
    let size = size.unwrap_or_default();
    match (read, places) {
        (Some(read), _) => format!(" in {read}{size}"),
        (None, 0) => String::new(),
        (None, places) => format!(" at {places} places{size}"),
    }
}

/// Time of a wait that is worth knowing before anything else, in nanoseconds: the longest for which
/// an SD card may be busy (docs/field/peers.md#wishes).
const LONG_NS: u64 = 250_000_000;

fn health(record: &Record, summary: &Summary) -> Vec<String> {
    let answered = |lead: &str| vec![format!("{lead} {}", summary.healthy_reason)];
    let wear = match summary.healthy {
        Answer::No => return answered("BAD."),
        Answer::Inconclusive => return answered("cannot be told:"),
        // It is a fake, or nothing was measured: there is nothing else to say.
        _ if genuineness::is_fake(record) => return answered("not tested:"),
        Answer::NotTested if record.cells.is_empty() => return answered("not tested:"),
        _ if usability::is_host_cached(record) => {
            return vec![format!("not tested: {HOST_CACHED}.")];
        }
        Answer::NotTested if !record.run.software.is_flashmark() => {
            return vec!["not tested: another tool measured it.".to_owned()];
        }
        Answer::Yes => identity::life(record),
        _ => Some("wear unknown".to_owned()),
    };
    let flush = matches!(Flush::of(record), Flush::Lies(..));
    let flush = flush.then(|| "its flush is not honest".to_owned());
    let ops = saturating_sum(record.cells.iter().map(|cell| cell.ops));
    let errors = match genuineness::failed_places(record) {
        0 if ops == 0 => "it reports that it is healthy".to_owned(),
        0 => format!("no error in {ops} I/Os"),
        failed => format!("{failed} places gave errors and work now"),
    };
    let slowest = waits::longest_ns(record).max(stalls::longest_write(record).map(|it| it.ns));
    let waited = slowest.map(|ns| format!("worst wait {}", Nanos(ns)));
    let is_long = slowest.is_some_and(|ns| ns >= LONG_NS);
    let (first, last) = if is_long { (waited, None) } else { (None, waited) };
    let read_back = Some(read_back::writes(record)).filter(|writes| *writes > 0);
    let read_back = read_back.map(|writes| format!("{writes} writes read back"));
    [flush, first, Some(errors), read_back, wear, last].into_iter().flatten().collect()
}
