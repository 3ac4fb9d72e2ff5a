//! Findings of runs without figures of a medium.

use record::{Evidence, Finding, Fitness, Flag, Outcome, Record, Severity, Use, not_medium_reason};

use crate::conclusions::genuine::capacity;
use crate::conclusions::health::failing;
use crate::finding_builder::FindingBuilder;

/// Next step if the target is on no visible medium.
const NAME_ONE: &str = "Name a directory on a medium, or its device; `flashmark list` shows them.";

/// Why a run measured no medium.
pub(crate) struct NoMedium {
    /// As a sentence.
    pub what: &'static str,
    /// In a few words.
    pub why: &'static str,
    /// True if another target helps.
    is_elsewhere: bool,
}

impl NoMedium {
    /// `None` for a run of a medium.
    pub(crate) fn of(record: &Record) -> Option<NoMedium> {
        not_medium_reason(&record.flags, &record.cells)?;
        let has = |flag: &Flag| {
            record.flags.contains(flag) || record.cells.iter().any(|cell| cell.flags.contains(flag))
        };
        let (what, why, is_elsewhere) = if has(&Flag::MemoryFilesystem) {
            ("This is memory, not a medium: no storage was measured.", "this is memory", true)
        } else if has(&Flag::UnknownMedium) {
            (
                "Cannot be told here: what the medium is good for; nobody can see which medium this is.",
                "nobody can see which medium this is",
                true,
            )
        } else {
            (
                "Not all of the I/O reached the medium: it was not measured.",
                "something in front of the medium answered",
                false,
            )
        };
        Some(NoMedium { what, why, is_elsewhere })
    }

    /// The sentence, and what to do where that helps.
    pub(crate) fn with_step(&self) -> String {
        let step = if self.is_elsewhere { format!(" {NAME_ONE}") } else { String::new() };
        self.what.to_owned() + &step
    }
}

/// The findings of a run that measured no medium; `None` for any other.
pub(crate) fn conclude(record: &Record, wanted: &[Use]) -> Option<Vec<Finding>> {
    let none = NoMedium::of(record)?;
    let (what, why) = (none.with_step(), none.why);
    let elsewhere =
        record.cells.iter().flat_map(|cell| cell.flags.iter().map(move |flag| (cell, flag)));
    let is_answered =
        |flag: &Flag| matches!(flag, Flag::NotThisMedium { .. } | Flag::Gathered { .. });
    let evidence = elsewhere.filter(|(_, flag)| is_answered(flag));
    let evidence = evidence.map(|(cell, flag)| Evidence::on(cell, flag.to_string()));
    let mut findings = vec![FindingBuilder::warning("verdict", what).notes(evidence).done()];
    for wanted in wanted {
        findings.push(
            FindingBuilder::on_use(
                *wanted,
                Fitness::CannotTell,
                Severity::Warning,
                format!("{}: {why}.", Fitness::CannotTell.verdict(wanted)),
            )
            .done(),
        );
    }
    findings.extend(of_claims(record, why));
    findings.extend(failing::conclude(record));
    // Lost data is reported wherever it was stored.
    let lost = capacity::conclude(record).into_iter();
    findings.extend(lost.filter(|finding| finding.severity > Severity::Info));
    Some(findings)
}

/// Finding on claims, if no figure is the medium's.
pub(crate) fn of_claims(record: &Record, why: &str) -> Option<Finding> {
    let statement = format!("Cannot be told here: whether it is what the box claims ({why}).");
    record.medium.claims.is_some().then(|| {
        FindingBuilder::warning("claim", statement).outcome(Outcome::Claim { holds: None }).done()
    })
}
