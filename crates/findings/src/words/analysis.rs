//! All conclusions of a record, drawn once.

use record::{Finding, Record, Summary, Use};

use crate::conclude::conclude_for;
use crate::words::summary::summary;

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
