//! All conclusions of a record, drawn once.

use record::{Finding, Record, Summary, Use, UseLevel};

use crate::conclude::conclude_for;
use crate::words::summary::summary;
use crate::words::use_levels::levels;

/// The conclusions of a record, and its summary.
#[derive(Clone, Debug, PartialEq)]
pub struct Analysis {
    /// Every conclusion, in the order in which they are shown.
    pub findings: Vec<Finding>,
    /// Three answers and four figures.
    pub summary: Summary,
}

impl Analysis {
    /// Draws all conclusions from the cells of a record for these uses (all uses if empty). The
    /// findings in the record are ignored.
    pub fn of(record: &Record, wanted: &[Use]) -> Analysis {
        let findings = conclude_for(record, wanted);
        let summary = summary(record, wanted, &findings);
        Analysis { findings, summary }
    }

    /// Stores the analysis in its record.
    pub fn keep_in(self, record: &mut Record) {
        record.findings = self.findings;
        record.summary = Some(self.summary);
    }
}

/// The summary in a record, drawn from its cells where it has none. Levels that it lacks are drawn
/// from its findings.
pub(crate) fn summary_of(record: &Record) -> Summary {
    let drawn = || Analysis::of(record, &[]).summary;
    match &record.summary {
        Some(kept) if !kept.levels.is_empty() => kept.clone(),
        None if record.findings.is_empty() => drawn(),
        kept => Summary {
            levels: levels(record, &record.findings, true),
            ..kept.clone().unwrap_or_else(drawn)
        },
    }
}

/// Level of a medium for each of the five uses, in their usual order. A use occurs several times if
/// several recording rates were asked for.
pub fn use_levels(record: &Record) -> Vec<UseLevel> {
    summary_of(record).levels
}

#[cfg(test)]
mod tests {
    use record::Fitness;

    use super::*;
    use crate::testing::record_in_words;

    /// As records were kept whose summary had no levels.
    #[test]
    fn a_summary_without_levels_is_kept_and_gets_those_of_its_findings() {
        let cells = "random-write 4KiB 20/s; random-write 16KiB 20/s; sequential-write 1MiB 20/s";
        let mut record = record_in_words(cells);
        let wanted = [Use::Video { mbit: 400 }];
        Analysis::of(&record, &wanted).keep_in(&mut record);
        let whole = summary_of(&record);
        let kept = Summary { levels: Vec::new(), fit_reason: "kept".into(), ..whole.clone() };
        record.summary = Some(kept);
        assert_eq!(summary_of(&record), Summary { fit_reason: "kept".into(), ..whole.clone() });
        let level = whole.levels.iter().find(|level| level.wanted == wanted[0]);
        assert_eq!(level.map(|level| level.level), Some(Fitness::NotSuitable));
    }
}
