//! A conclusion: its outcome as data, and its sentence.

use serde::{Deserialize, Serialize};

use crate::{Bound, Cell, Condition, Fitness, Use};

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
    /// What it rests on.
    pub evidence: Vec<Evidence>,
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
            Some(Outcome::Use(found)) => Some(found.level),
            _ => None,
        }
    }
}

/// A line of what a finding rests on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Evidence {
    /// A number.
    Number(EvidenceNumber),
    /// How it was judged: a threshold with its source, a command, a state.
    Note {
        /// Cell that it is about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cell: Option<String>,
        /// The remark.
        text: String,
    },
}

/// A number that a finding rests on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EvidenceNumber {
    /// Cell that it was measured in, or worked out from; absent for one of the whole run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<String>,
    /// Its name; the end is the unit ("iops", "bps", "flush_ns", "cache_bytes"), and one without is
    /// a ratio or a count.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// Ends of its 95 % interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ci95: Option<[f64; 2]>,
    /// Number of samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<u64>,
    /// Side on which it bounds the lasting value; absent for a level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<Bound>,
}

impl Evidence {
    /// A remark on a cell.
    pub fn on(cell: &Cell, text: impl Into<String>) -> Evidence {
        Evidence::Note { cell: Some(cell.id.clone()), text: text.into() }
    }

    /// Cell that it comes from.
    pub fn cell(&self) -> Option<&str> {
        match self {
            Evidence::Number(EvidenceNumber { cell, .. }) | Evidence::Note { cell, .. } => {
                cell.as_deref()
            }
        }
    }
}

impl EvidenceNumber {
    /// A number of the whole run, without an interval.
    pub fn new(name: &str, value: f64) -> EvidenceNumber {
        let name = name.to_owned();
        EvidenceNumber { cell: None, name, value, ci95: None, n: None, bound: None }
    }

    /// A number of a cell, without an interval.
    pub fn of(cell: &Cell, name: &str, value: f64) -> EvidenceNumber {
        EvidenceNumber { cell: Some(cell.id.clone()), ..EvidenceNumber::new(name, value) }
    }
}

impl From<EvidenceNumber> for Evidence {
    fn from(number: EvidenceNumber) -> Evidence {
        Evidence::Number(number)
    }
}

impl From<String> for Evidence {
    fn from(text: String) -> Evidence {
        Evidence::Note { cell: None, text }
    }
}

impl From<&str> for Evidence {
    fn from(text: &str) -> Evidence {
        text.to_owned().into()
    }
}

/// A use with the level of the medium for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UseLevel {
    /// The use.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub wanted: Use,
    /// Level of the medium for it.
    pub level: Fitness,
    /// Condition of the level that no run can show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<Condition>,
    /// Bytes of the medium on which the level rests, if that was not all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within_bytes: Option<u64>,
    /// How sure the level is, in percent, if it rests on few samples. A finding has its confidence
    /// instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sure_percent: Option<u32>,
}

impl UseLevel {
    /// A level without a condition, of the whole medium.
    pub const fn of(wanted: Use, level: Fitness) -> UseLevel {
        UseLevel { wanted, level, condition: None, within_bytes: None, sure_percent: None }
    }
}

/// Result of a finding, for programs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Outcome {
    /// The verdict on one use.
    Use(UseLevel),
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
