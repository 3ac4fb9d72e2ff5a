//! The verdict on each use as one of six levels: from the findings drawn for the uses that were
//! asked for, and of the others from the cells.

use record::{Finding, Fitness, Outcome, Record, Severity, Use, UseLevel};

use crate::conclude::conclude;
use crate::verdict::{self, is_verdict};

/// Finding that sums up the verdicts.
const SUMMARY: &str = "verdict";

/// Level of a medium for each of the five uses, in their usual order, with these findings. If they
/// are only of the uses that somebody asked for (`is_asked`), the others are drawn from the cells. A
/// medium that must not be used is suitable for none.
pub(crate) fn levels(record: &Record, findings: &[Finding], is_asked: bool) -> Vec<UseLevel> {
    let own = levels_of(findings);
    let unusable = must_not_be_used(findings);
    let drawn = if is_asked && !unusable { levels_of(&conclude(record)) } else { Vec::new() };
    let unjudged = match verdict::withheld(record) {
        _ if unusable => Fitness::NotSuitable,
        Some(_) => Fitness::CannotTell,
        None => Fitness::NotTested,
    };
    let of_kind = |of: Use| {
        let known = [&own, &drawn].map(|all| {
            let of_it = all.iter().filter(|one| kind(one.wanted) == kind(of));
            of_it.copied().collect::<Vec<_>>()
        });
        let known = known.into_iter().find(|found| !found.is_empty());
        known.unwrap_or_else(|| vec![UseLevel::of(of, unjudged)])
    };
    verdict::all(record).into_iter().flat_map(of_kind).collect()
}

/// Levels in the verdicts on uses, in the order of [`Use`]'s kinds.
pub(crate) fn levels_of(findings: &[Finding]) -> Vec<UseLevel> {
    let level = |finding: &Finding| match finding.outcome {
        Some(Outcome::Use(level)) => {
            Some(UseLevel { sure_percent: verdict::sure_percent(finding.confidence), ..level })
        }
        _ => None,
    };
    let mut all: Vec<UseLevel> = findings.iter().filter_map(level).collect();
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

/// True if the verdict says that the medium must not be used at all. A failure with verdicts on
/// uses only means that it is not suitable for a requested use.
fn must_not_be_used(findings: &[Finding]) -> bool {
    let is_failure =
        |finding: &Finding| finding.id == SUMMARY && finding.severity == Severity::Failure;
    let is_verdict_on_one_use = |finding: &Finding| finding.id != SUMMARY && is_verdict(finding);
    findings.iter().any(is_failure) && !findings.iter().any(is_verdict_on_one_use)
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
        let of = |record: &Record, findings: &[Finding]| -> Vec<Fitness> {
            levels(record, findings, false).iter().map(|found| found.level).collect()
        };
        let slow = verdict::verdict_on(&system(5), Use::RootDisk).unwrap();
        assert_eq!(of(&system(5000), &[findings::finding(&slow, false)])[0], Fitness::NotSuitable);
        let unusable = Finding::new("verdict", Severity::Failure, "Do not use it.");
        assert_eq!(of(&system(5000), &[unusable]), [Fitness::NotSuitable; 5]);
        assert_eq!(of(&empty(), &[]), [Fitness::NotTested; 5]);
    }

    #[test]
    fn each_recording_rate_that_was_asked_for_stands_for_itself() {
        let wanted = [Use::Video { mbit: 50 }, Use::Video { mbit: 400 }];
        let findings = crate::conclude::conclude_for(&system(20), &wanted);
        let levels: Vec<(Use, Fitness)> = levels(&system(20), &findings, true)
            .into_iter()
            .filter(|found| found.wanted.verdict_id() == "verdict-video")
            .map(|found| (found.wanted, found.level))
            .collect();
        assert_eq!(levels, [(wanted[0], Fitness::Good), (wanted[1], Fitness::NotSuitable)]);
    }
}
