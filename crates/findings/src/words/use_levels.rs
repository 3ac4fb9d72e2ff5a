//! The verdict on each use as one of six levels, for badges: from the findings of a record, or else
//! from its cells.

use record::{Condition, Finding, Fitness, Outcome, Record, Severity, Use};

use crate::conclude::conclude;
use crate::verdict::{self, is_verdict};

/// Finding that sums up the verdicts.
const SUMMARY: &str = "verdict";

/// A use with the level of the medium.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UseLevel {
    /// The use.
    pub wanted: Use,
    /// Level of the medium.
    pub level: Fitness,
    /// Condition of the level that no run can test.
    pub condition: Option<Condition>,
    /// Bytes of the medium on which the level rests, if that was not all of it.
    pub within_bytes: Option<u64>,
    /// How sure the level is, in percent, if it rests on few samples.
    pub sure_percent: Option<u32>,
}

/// Level of a medium for each of the five uses, in their usual order: from the findings of the
/// record, and if these have none, from its cells. A medium that must not be used is suitable for
/// none. A use occurs several times if several recording rates were requested.
pub fn use_levels(record: &Record) -> Vec<UseLevel> {
    let own = levels_of(&record.findings);
    let uses = verdict::all(record);
    let is_silent = |wanted: &Use| !own.iter().any(|one| is_one_kind(one.wanted, *wanted));
    let unusable = must_not_be_used(record);
    let drawn = if unusable || !uses.iter().any(is_silent) {
        Vec::new()
    } else {
        levels_of(&conclude(record))
    };
    let unjudged = match verdict::withheld(record) {
        _ if unusable => Fitness::NotSuitable,
        Some(_) => Fitness::CannotTell,
        None => Fitness::NotTested,
    };
    uses.into_iter().flat_map(|wanted| of_kind(wanted, [&own, &drawn], unjudged)).collect()
}

fn of_kind(wanted: Use, sources: [&[UseLevel]; 2], unjudged: Fitness) -> Vec<UseLevel> {
    let known = sources.into_iter().map(|all| {
        let of_it = all.iter().filter(|one| is_one_kind(one.wanted, wanted));
        of_it.cloned().collect::<Vec<_>>()
    });
    let none = UseLevel {
        wanted,
        level: unjudged,
        condition: None,
        within_bytes: None,
        sure_percent: None,
    };
    known.into_iter().find(|found| !found.is_empty()).unwrap_or_else(|| vec![none])
}

fn is_one_kind(one: Use, other: Use) -> bool {
    kind(one) == kind(other)
}

/// Levels in the verdicts on uses, in the order of [`Use`]'s kinds.
pub(crate) fn levels_of(findings: &[Finding]) -> Vec<UseLevel> {
    let mut all: Vec<UseLevel> = findings.iter().filter_map(level_of).collect();
    all.sort_by_key(|one| kind(one.wanted));
    all
}

/// Kind of a use: video at any rate is one kind.
fn kind(wanted: Use) -> Use {
    match wanted {
        Use::Video { .. } => Use::Video { mbit: 0 },
        other => other,
    }
}

fn level_of(finding: &Finding) -> Option<UseLevel> {
    match &finding.outcome {
        Some(Outcome::Use { wanted, level, condition, within_bytes }) => Some(UseLevel {
            wanted: *wanted,
            level: *level,
            condition: *condition,
            within_bytes: *within_bytes,
            sure_percent: verdict::sure_percent(finding.confidence),
        }),
        _ => None,
    }
}

/// True if the verdict says that the medium must not be used at all. A failure with verdicts on
/// uses only means that it is not suitable for a requested use.
fn must_not_be_used(record: &Record) -> bool {
    let is_failure =
        |finding: &Finding| finding.id == SUMMARY && finding.severity == Severity::Failure;
    let is_verdict_on_one_use = |finding: &Finding| finding.id != SUMMARY && is_verdict(finding);
    record.findings.iter().any(is_failure) && !record.findings.iter().any(is_verdict_on_one_use)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{empty, record_in_words};
    use crate::verdict::findings;

    fn system(a_second: u32) -> Record {
        record_in_words(&format!(
            "random-write 4KiB {a_second}/s; random-write 16KiB {a_second}/s; \
             sequential-write 1MiB {a_second}/s",
        ))
    }

    #[test]
    fn the_findings_decide_and_silence_is_no_verdict() {
        let levels = |findings: Vec<Finding>| -> Vec<Fitness> {
            let record = Record { findings, ..system(5000) };
            use_levels(&record).iter().map(|found| found.level).collect()
        };
        let slow = verdict::verdict_on(&system(5), Use::RootDisk).unwrap();
        assert_eq!(levels(vec![findings::finding(&slow, false)])[0], Fitness::NotSuitable);
        let unusable = Finding::new("verdict", Severity::Failure, "Do not use it.");
        assert_eq!(levels(vec![unusable]), [Fitness::NotSuitable; 5]);
        let silent: Vec<Fitness> = use_levels(&empty()).iter().map(|found| found.level).collect();
        assert_eq!(silent, [Fitness::NotTested; 5]);
    }

    #[test]
    fn each_recording_rate_that_was_asked_for_stands_for_itself() {
        let wanted = [Use::Video { mbit: 50 }, Use::Video { mbit: 400 }];
        let findings = crate::conclude::conclude_for(&system(20), &wanted);
        let levels: Vec<(Use, Fitness)> = use_levels(&Record { findings, ..system(20) })
            .into_iter()
            .filter(|found| found.wanted.verdict_id() == "verdict-video")
            .map(|found| (found.wanted, found.level))
            .collect();
        assert_eq!(levels, [(wanted[0], Fitness::Good), (wanted[1], Fitness::NotSuitable)]);
    }
}
