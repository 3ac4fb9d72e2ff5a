//! The verdict on each use as one of six words, for badges: what the findings of a record say, or
//! else what the record comes to.

use record::{Finding, Record, Severity};

use crate::uses::id;
use crate::verdict::{self, Fitness};
use crate::{Use, is_verdict};

/// How a medium does for a use, or why that is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UseLevel {
    /// It does what is asked, with room.
    Good,
    /// It does what is asked.
    Usable,
    /// It does less than is asked, and works.
    Poor,
    /// It does not do what is asked, or must not be used at all.
    NotSuitable,
    /// What it takes to tell was not measured.
    NotTested,
    /// It was measured and nothing can be concluded.
    CannotBeTold,
}

impl UseLevel {
    /// The level in a word or two: "good", "not suitable".
    pub fn word(self) -> &'static str {
        match self {
            UseLevel::Good => "good",
            UseLevel::Usable => "usable",
            UseLevel::Poor => "poor",
            UseLevel::NotSuitable => "not suitable",
            UseLevel::NotTested => "not tested",
            UseLevel::CannotBeTold => "cannot be told",
        }
    }

    /// The level that the verdict on a use states; `None` of every other finding, and of words that
    /// are not ours.
    pub fn of(finding: &Finding) -> Option<UseLevel> {
        if finding.id == SUMMARY || !is_verdict(finding) {
            return None;
        }
        let begins = |lead: &str| {
            finding.statement.strip_prefix(lead).is_some_and(|rest| rest.starts_with(' '))
        };
        if begins(UNTOLD) {
            return Some(UseLevel::CannotBeTold);
        }
        [Fitness::Unusable, Fitness::Poor, Fitness::Fair, Fitness::Good]
            .into_iter()
            .find(|fitness| begins(&fitness.lead()))
            .map(UseLevel::from)
    }
}

impl From<Fitness> for UseLevel {
    fn from(fitness: Fitness) -> UseLevel {
        match fitness {
            Fitness::Unusable => UseLevel::NotSuitable,
            Fitness::Poor => UseLevel::Poor,
            Fitness::Fair => UseLevel::Usable,
            Fitness::Good => UseLevel::Good,
        }
    }
}

/// The finding that sums up the verdicts.
const SUMMARY: &str = "verdict";
/// How the sentence on a use begins of which nothing can be concluded.
const UNTOLD: &str = "Whether";

/// A use and how the medium does for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UseStanding {
    /// The use.
    pub wanted: Use,
    /// How the medium does for it.
    pub level: UseLevel,
    /// Whether the level depends on what no run can tell.
    pub is_conditional: bool,
    /// Whether few samples tell it.
    pub is_unsure: bool,
}

/// How a medium does for each of the five uses, in the order they are told in: what the findings of
/// the record say; where they are silent, what the record comes to; a medium that must not be used
/// is suitable for none.
pub fn use_levels(record: &Record) -> Vec<UseStanding> {
    let video = Use::Video { mbit: verdict::usual_video(record) };
    [Use::RootDisk, Use::Camera, video, Use::Logger, Use::Database]
        .into_iter()
        .flat_map(|wanted| standings(record, wanted))
        .collect()
}

/// The standings for one kind of use: several where several recording rates were asked for.
fn standings(record: &Record, usual: Use) -> Vec<UseStanding> {
    let told: Vec<UseStanding> = record
        .findings
        .iter()
        .filter(|finding| finding.id == id(usual))
        .filter_map(|finding| {
            Some(standing(record, read_use(finding, usual), UseLevel::of(finding)?))
        })
        .collect();
    if !told.is_empty() {
        return told;
    }
    let level = if must_not_be_used(record) {
        UseLevel::NotSuitable
    } else {
        let found = crate::conclude_for(record, &[]);
        let own = found.iter().find(|finding| finding.id == id(usual));
        own.and_then(UseLevel::of).unwrap_or(UseLevel::NotTested)
    };
    vec![standing(record, usual, level)]
}

fn standing(record: &Record, wanted: Use, level: UseLevel) -> UseStanding {
    let drawn =
        verdict::verdict_on(record, wanted).filter(|drawn| UseLevel::from(drawn.level) == level);
    UseStanding {
        wanted,
        level,
        is_conditional: drawn.as_ref().is_some_and(|drawn| drawn.condition.is_some()),
        is_unsure: drawn.as_ref().is_some_and(|drawn| !verdict::is_sure(drawn)),
    }
}

/// The use that a verdict is on: of a recording, with the rate that it names.
fn read_use(finding: &Finding, usual: Use) -> Use {
    let rate = || {
        let (_, rest) = finding.statement.split_once("video of ")?;
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

    fn of(record: &Record, wanted: Use) -> UseLevel {
        let found = use_levels(record);
        found.iter().find(|found| id(found.wanted) == id(wanted)).expect("each is there").level
    }

    #[test]
    fn what_a_verdict_writes_is_read_back() {
        for (a_second, level) in [
            (5.0, UseLevel::NotSuitable),
            (50.0, UseLevel::Poor),
            (200.0, UseLevel::Usable),
            (5000.0, UseLevel::Good),
        ] {
            let record = system(a_second);
            let drawn = verdict::verdict_on(&record, Use::RootDisk).unwrap();
            for asked in [false, true] {
                assert_eq!(UseLevel::of(&verdict::finding(&drawn, asked)), Some(level));
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
            assert_eq!(UseLevel::of(&told), Some(UseLevel::CannotBeTold), "{}", told.statement);
            let record = Record { findings: vec![told], ..empty() };
            assert_eq!(of(&record, wanted), UseLevel::CannotBeTold);
            let of_memory = crate::conclude_for(&memory, &[wanted]);
            assert_eq!(UseLevel::of(&of_memory[1]), Some(UseLevel::CannotBeTold));
        }
    }

    #[test]
    fn the_findings_decide_and_silence_is_no_verdict() {
        let mut record = system(5000.0);
        record.findings = vec![verdict::finding(
            &verdict::verdict_on(&system(5.0), Use::RootDisk).unwrap(),
            false,
        )];
        assert_eq!(of(&record, Use::RootDisk), UseLevel::NotSuitable, "as it stands there");
        assert!(use_levels(&empty()).iter().all(|found| found.level == UseLevel::NotTested));
        assert_eq!(use_levels(&empty()).len(), 5);
        record.findings = vec![FindingBuilder::failure("verdict", "Do not use it.").done()];
        assert!(use_levels(&record).iter().all(|found| found.level == UseLevel::NotSuitable));
    }

    #[test]
    fn each_recording_rate_that_was_asked_for_stands_for_itself() {
        let record = system(20.0);
        let wanted = [Use::Video { mbit: 50 }, Use::Video { mbit: 400 }];
        let told = Record { findings: crate::conclude_for(&record, &wanted), ..record };
        let levels: Vec<(Use, UseLevel)> = use_levels(&told)
            .into_iter()
            .filter(|found| id(found.wanted) == "verdict-video")
            .map(|found| (found.wanted, found.level))
            .collect();
        assert_eq!(levels, [(wanted[0], UseLevel::Good), (wanted[1], UseLevel::NotSuitable)]);
    }
}
