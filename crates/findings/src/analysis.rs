//! All that a record comes to, drawn once.

use record::{Finding, Record, Summary, Use};

use crate::conclude_for;
use crate::summary::summary;

/// The conclusions of a record, and its summary.
#[derive(Clone, Debug, PartialEq)]
pub struct Analysis {
    /// Every conclusion, in the order in which they are shown.
    pub findings: Vec<Finding>,
    /// Three answers and four figures.
    pub summary: Summary,
}

impl Analysis {
    /// Draws all conclusions from the cells of a record, whatever findings it brings along, for
    /// someone who wants the medium for these uses; for all uses where none is named.
    pub fn of(record: &Record, wanted: &[Use]) -> Analysis {
        let findings = conclude_for(record, wanted);
        let summary = summary(record, wanted, &findings);
        Analysis { findings, summary }
    }

    /// Puts it into the record that it was drawn from.
    pub fn keep_in(self, record: &mut Record) {
        record.findings = self.findings;
        record.summary = Some(self.summary);
    }
}
