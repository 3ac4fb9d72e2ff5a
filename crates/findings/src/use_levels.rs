//! The verdict on each use as one of six words, for badges: what the findings of a record say, or
//! else what the record comes to.

use record::{Finding, Record, Severity};

use crate::verdict;
use crate::{Fitness, Use, is_verdict};

/// The finding that sums up the verdicts.
const SUMMARY: &str = "verdict";

/// The level that the verdict on a use states; `None` of every other finding.
fn said(finding: &Finding) -> Option<Fitness> {
    Fitness::said(&finding.statement).filter(|_| finding.id != SUMMARY && is_verdict(finding))
}

/// A use and how the medium does for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UseStanding {
    /// The use.
    pub wanted: Use,
    /// How the medium does for it.
    pub level: Fitness,
    /// What the level depends on and no run can tell.
    pub condition: Option<&'static str>,
    /// How sure it is where few samples tell it: "few samples, 59 % sure".
    pub doubt: Option<String>,
}

/// How a medium does for each of the five uses, in the order they are told in: what the findings of
/// the record say; where they are silent, what the record comes to; a medium that must not be used
/// is suitable for none.
pub fn use_levels(record: &Record) -> Vec<UseStanding> {
    verdict::all(record).into_iter().flat_map(|wanted| standings(record, wanted)).collect()
}

/// The same of those uses alone that the findings of the record speak of.
pub(crate) fn told_levels(record: &Record) -> Vec<UseStanding> {
    verdict::all(record).into_iter().flat_map(|wanted| told(record, wanted)).collect()
}

fn told(record: &Record, usual: Use) -> Vec<UseStanding> {
    let of_use = record.findings.iter().filter(|finding| finding.id == usual.verdict_id());
    let standing = |finding| Some(standing(record, read_use(finding, usual), said(finding)?));
    of_use.filter_map(standing).collect()
}

/// The standings for one kind of use: several where several recording rates were asked for.
fn standings(record: &Record, usual: Use) -> Vec<UseStanding> {
    let told = told(record, usual);
    if !told.is_empty() {
        return told;
    }
    let level = if must_not_be_used(record) {
        Fitness::NotSuitable
    } else {
        let found = crate::conclude_for(record, &[]);
        let own = found.iter().find(|finding| finding.id == usual.verdict_id());
        own.and_then(said).unwrap_or(Fitness::NotTested)
    };
    vec![standing(record, usual, level)]
}

fn standing(record: &Record, wanted: Use, level: Fitness) -> UseStanding {
    let drawn = verdict::verdict_on(record, wanted).filter(|drawn| drawn.level == level);
    UseStanding {
        wanted,
        level,
        condition: drawn.as_ref().and_then(|drawn| drawn.condition),
        doubt: drawn.as_ref().and_then(verdict::doubt),
    }
}

/// What the verdict that sums up says beside the levels of uses: its sentences without those that
/// only name uses, and the levels that a sentence of what is left gives a reason for.
pub fn beside_levels(statement: &str) -> (String, Vec<Fitness>) {
    let is_reason = |sentence: &str| sentence.contains(": ");
    let left: Vec<&str> = statement
        .split_inclusive(". ")
        .filter(|sentence| Fitness::said(sentence).is_none() || is_reason(sentence))
        .collect();
    let levels = left.iter().filter_map(|sentence| Fitness::said(sentence)).collect();
    (left.concat().trim_end().to_owned(), levels)
}

/// The use that a verdict is on: of a recording, with the rate that it names.
fn read_use(finding: &Finding, usual: Use) -> Use {
    let rate = || {
        let (_, rest) = finding.statement.split_once("video at ")?;
        rest.split(' ').next()?.parse().ok()
    };
    match usual {
        Use::Video { mbit } => Use::Video { mbit: rate().unwrap_or(mbit) },
        other => other,
    }
}

/// Whether the verdict is that it must not be used, whatever for.
fn must_not_be_used(record: &Record) -> bool {
    let is_failure =
        |finding: &Finding| finding.id == SUMMARY && finding.severity == Severity::Failure;
    let is_on_a_use = |finding: &Finding| finding.id != SUMMARY && is_verdict(finding);
    record.findings.iter().any(is_failure) && !record.findings.iter().any(is_on_a_use)
}

#[cfg(test)]
mod tests {
    use record::units::{KIB, MIB};

    use super::*;
    use crate::finding_builder::FindingBuilder;
    use crate::testing::{empty, iops};

    /// Writes of so many a second.
    fn system(a_second: f64) -> Record {
        let cells = [(1, 4 * KIB), (2, 16 * KIB)]
            .map(|(number, block)| iops("random-write", number, block, a_second, 1_000_000));
        let writing = iops("sequential-write", 1, MIB, a_second, 1_000_000);
        Record { cells: cells.into_iter().chain([writing]).collect(), ..empty() }
    }

    fn of(record: &Record, wanted: Use) -> Fitness {
        let found = use_levels(record);
        found
            .iter()
            .find(|found| found.wanted.verdict_id() == wanted.verdict_id())
            .expect("each is there")
            .level
    }

    #[test]
    fn what_a_verdict_writes_is_read_back() {
        for (a_second, level) in [
            (5.0, Fitness::NotSuitable),
            (50.0, Fitness::Poor),
            (200.0, Fitness::Usable),
            (5000.0, Fitness::Good),
        ] {
            let record = system(a_second);
            let drawn = verdict::verdict_on(&record, Use::RootDisk).unwrap();
            for asked in [false, true] {
                assert_eq!(said(&verdict::finding(&drawn, asked)), Some(level));
            }
            assert_eq!(of(&record, Use::RootDisk), level, "of a record without findings");
            let told = Record { findings: crate::conclude(&record), ..record };
            assert_eq!(of(&told, Use::RootDisk), level, "of its findings");
        }
    }

    #[test]
    fn what_cannot_be_said_is_read_back_of_every_use() {
        let uses =
            [Use::RootDisk, Use::Camera, Use::Video { mbit: 50 }, Use::Logger, Use::Database];
        let memory = Record { flags: vec![record::Flag::MemoryFilesystem], ..system(200.0) };
        for wanted in uses {
            let told = verdict::untested(&empty(), wanted);
            assert_eq!(said(&told), Some(Fitness::NotTested), "{}", told.statement);
            let record = Record { findings: vec![told], ..empty() };
            assert_eq!(of(&record, wanted), Fitness::NotTested);
            let of_memory = crate::conclude_for(&memory, &[wanted]);
            assert_eq!(said(&of_memory[1]), Some(Fitness::CannotTell));
        }
    }

    #[test]
    fn the_findings_decide_and_silence_is_no_verdict() {
        let mut record = system(5000.0);
        record.findings = vec![verdict::finding(
            &verdict::verdict_on(&system(5.0), Use::RootDisk).unwrap(),
            false,
        )];
        assert_eq!(of(&record, Use::RootDisk), Fitness::NotSuitable, "as it stands there");
        assert!(use_levels(&empty()).iter().all(|found| found.level == Fitness::NotTested));
        assert_eq!(use_levels(&empty()).len(), 5);
        record.findings = vec![FindingBuilder::failure("verdict", "Do not use it.").done()];
        assert!(use_levels(&record).iter().all(|found| found.level == Fitness::NotSuitable));
    }

    #[test]
    fn sentences_that_only_name_uses_are_told_from_reasons() {
        let statement = "Not suitable for a root disk: writes reach 3.79 IOPS (2.58 to 6.44); a \
                         disk 90. Good for a camera. Usable for a logger only if its flush is \
                         honest. Not tested: whether it is genuine.";
        let (left, levels) = beside_levels(statement);
        assert_eq!(
            left,
            "Not suitable for a root disk: writes reach 3.79 IOPS (2.58 to 6.44); a disk 90. Not \
             tested: whether it is genuine."
        );
        assert_eq!(levels, [Fitness::NotSuitable]);
        assert_eq!(beside_levels("Good for a camera."), (String::new(), vec![]));
        let unusable = "Do not use it. It is a fake: it says 64 GiB.";
        assert_eq!(beside_levels(unusable), (unusable.to_owned(), vec![]));
    }

    #[test]
    fn each_recording_rate_that_was_asked_for_stands_for_itself() {
        let record = system(20.0);
        let wanted = [Use::Video { mbit: 50 }, Use::Video { mbit: 400 }];
        let told = Record { findings: crate::conclude_for(&record, &wanted), ..record };
        let levels: Vec<(Use, Fitness)> = use_levels(&told)
            .into_iter()
            .filter(|found| found.wanted.verdict_id() == "verdict-video")
            .map(|found| (found.wanted, found.level))
            .collect();
        assert_eq!(levels, [(wanted[0], Fitness::Good), (wanted[1], Fitness::NotSuitable)]);
    }
}
