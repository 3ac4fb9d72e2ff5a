//! Runs of which nothing is a medium's: what is said of them instead of conclusions.

use record::{Finding, Fitness, Flag, Outcome, Record, Severity, Use, strayed};

use crate::finding_builder::FindingBuilder;
use crate::phrases::NAME_ONE;
use crate::{capacity, failing};

/// The findings of a run that measured no medium; none of any other.
pub(crate) fn conclude(record: &Record, wanted: &[Use]) -> Option<Vec<Finding>> {
    strayed(&record.flags, &record.cells)?;
    let has = |flag: &Flag| {
        record.flags.contains(flag) || record.cells.iter().any(|cell| cell.flags.contains(flag))
    };
    let (what, why) = if has(&Flag::MemoryFilesystem) {
        (
            format!("This is memory, not a medium: no storage was measured. {NAME_ONE}"),
            "this is memory",
        )
    } else if has(&Flag::UnknownMedium) {
        (
            format!(
                "Cannot be told here: what the medium is good for; nobody can see which medium \
                 this is. {NAME_ONE}"
            ),
            "nobody can see which medium this is",
        )
    } else {
        (
            "Not all of the I/O reached the medium: it was not measured.".to_owned(),
            "something in front of the medium answered",
        )
    };
    let elsewhere =
        record.cells.iter().flat_map(|cell| cell.flags.iter().map(move |flag| (cell, flag)));
    let is_answered =
        |flag: &Flag| matches!(flag, Flag::NotThisMedium { .. } | Flag::Gathered { .. });
    let evidence = elsewhere.filter(|(_, flag)| is_answered(flag));
    let evidence = evidence.map(|(cell, flag)| format!("{}: {flag}", cell.id));
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
    // What was lost is lost, wherever it lay.
    let lost = capacity::conclude(record).into_iter();
    findings.extend(lost.filter(|finding| finding.severity == Severity::Failure));
    Some(findings)
}

/// What is said of claims where no figure is the medium's.
pub(crate) fn of_claims(record: &Record, why: &str) -> Option<Finding> {
    let said = format!("Cannot be told here: whether it is what the box claims ({why}).");
    record.medium.claims.is_some().then(|| {
        FindingBuilder::warning("claim", said).outcome(Outcome::Claim { holds: None }).done()
    })
}

#[cfg(test)]
mod tests {
    use record::{Claims, Flag, Severity};

    use super::*;
    use crate::testing;

    /// A run that would make a good root disk.
    fn fast() -> Record {
        let mut record = testing::empty();
        record.cells = [4096, 16384]
            .map(|block| testing::iops("random-write", 1, block, 20_000.0, 1_000_000))
            .into();
        record
    }

    #[test]
    fn memory_is_praised_for_nothing() {
        let mut record = fast();
        assert!(
            crate::conclude(&record)[0].statement.contains("ood for a root disk"),
            "{:?}",
            crate::conclude(&record)[0]
        );
        assert!(!crate::headline(&record).figures.is_empty());
        record.flags.push(Flag::MemoryFilesystem);
        record.medium.claims = Some(Claims::default());
        let findings = crate::conclude_for(&record, &[Use::RootDisk]);
        let said: Vec<(&str, &str)> = findings
            .iter()
            .map(|finding| (finding.id.as_str(), finding.statement.as_str()))
            .collect();
        assert_eq!(
            said,
            [
                (
                    "verdict",
                    "This is memory, not a medium: no storage was measured. Name a directory on a medium, or its device; `flashmark list` shows them."
                ),
                ("verdict-root-disk", "Cannot be told here for a root disk: this is memory."),
                (
                    "claim",
                    "Cannot be told here: whether it is what the box claims (this is memory)."
                )
            ]
        );
        assert!(
            findings.iter().all(|finding| finding.severity == Severity::Warning),
            "neither passed nor failed"
        );
        assert!(crate::headline(&record).figures.is_empty());
    }

    #[test]
    fn what_did_not_reach_the_medium_is_used_nowhere() {
        let mut record = fast();
        for cell in &mut record.cells {
            cell.flags
                .push(Flag::NotThisMedium { issued_bytes: 1_390_000_000, counted_bytes: 200_000 });
        }
        let findings = crate::conclude(&record);
        assert_eq!(
            findings[0].statement,
            "Not all of the I/O reached the medium: it was not measured."
        );
        assert_eq!((findings.len(), crate::headline(&record).figures.len()), (1, 0));
    }
}
