//! A conclusion: its outcome as data, and its sentence.

use serde::{Deserialize, Serialize};

use crate::{Condition, Fitness, Use};

/// Importance of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Good to know: neither a caveat about the numbers nor a failed check.
    Info,
    /// Read the numbers with care.
    Warning,
    /// The medium fails a check.
    Failure,
}

/// A conclusion with its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// Stable name, such as "span-cache"; docs/findings has a page for each.
    pub id: String,
    /// Importance of the finding.
    pub severity: Severity,
    /// The conclusion in plain words.
    pub statement: String,
    /// Cells and numbers it rests on.
    pub evidence: Vec<String>,
    /// 0 to 1; null where no probability was worked out.
    pub confidence: Option<f64>,
    /// Result for programs; absent if the id and the severity say all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
}

impl Finding {
    /// A finding without evidence.
    pub fn new(id: &str, severity: Severity, statement: impl Into<String>) -> Finding {
        Finding {
            id: id.into(),
            severity,
            statement: statement.into(),
            evidence: Vec::new(),
            confidence: None,
            outcome: None,
        }
    }

    /// The level that a verdict on a use gives; `None` of every other finding.
    pub fn level(&self) -> Option<Fitness> {
        match &self.outcome {
            Some(Outcome::Use { level, .. }) => Some(*level),
            _ => None,
        }
    }
}

/// Result of a finding, for programs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Outcome {
    /// The verdict on one use.
    Use {
        /// The use.
        #[cfg_attr(feature = "schema", schemars(with = "String"))]
        wanted: Use,
        /// Level of the medium for it.
        level: Fitness,
        /// Condition of the level that no run can show.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        condition: Option<Condition>,
        /// Bytes of the medium on which the level rests, if that was not all of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        within_bytes: Option<u64>,
    },
    /// The verdict on all uses.
    Uses,
    /// The medium must not be used for anything.
    Unusable {
        /// Id of the finding with the reason.
        because: String,
    },
    /// A claim of the user or of the label.
    Claim {
        /// True if it holds; absent if that was not measured, or not well enough.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        holds: Option<bool>,
    },
    /// The device went away during the run: this says nothing about its medium.
    DeviceGone,
}
