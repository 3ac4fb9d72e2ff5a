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

/// The summary in a record; where it has none, or one without levels, it is drawn from its cells,
/// and the levels from its findings.
pub(crate) fn summary_of(record: &Record) -> Summary {
    let kept = record.summary.as_ref().filter(|summary| !summary.levels.is_empty());
    kept.cloned().unwrap_or_else(|| {
        let drawn = Analysis::of(record, &[]);
        let findings = Some(&record.findings).filter(|findings| !findings.is_empty());
        let levels = levels(record, &[], findings.unwrap_or(&drawn.findings));
        Summary { levels, ..drawn.summary }
    })
}

/// Level of a medium for each of the five uses, in their usual order. A use occurs several times if
/// several recording rates were asked for.
pub fn use_levels(record: &Record) -> Vec<UseLevel> {
    summary_of(record).levels
}
