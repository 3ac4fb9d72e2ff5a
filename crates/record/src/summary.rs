//! What a run comes to, flat: for scripts that read one number and for whoever wants three answers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// An answer to one question about a medium.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// Yes.
    Yes,
    /// No.
    No,
    /// For some of what was asked yes, for some no.
    Partly,
    /// It was looked at, and what was seen does not decide it.
    CannotBeTold,
    /// It was not looked at.
    #[default]
    NotTested,
}

impl Answer {
    /// As it stands on a screen: "yes", "cannot be told".
    pub const fn words(self) -> &'static str {
        match self {
            Answer::Yes => "yes",
            Answer::No => "no",
            Answer::Partly => "partly",
            Answer::CannotBeTold => "cannot be told",
            Answer::NotTested => "not tested",
        }
    }
}

/// What a run comes to. Figures are null where they were not measured, or are not the medium's;
/// `_low` and `_high` are the ends of the 95 % interval, or the rounds that differ too much for
/// one; null where it was measured once only.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Summary {
    /// Has it the capacity that it says?
    pub genuine: Answer,
    /// Why, in a sentence or two.
    pub genuine_reason: String,
    /// Is it fit for what it is wanted for? For everything that is judged, where nothing was named.
    pub fit: Answer,
    /// Why: the verdict.
    pub fit_reason: String,
    /// Does it keep what is written, and how much of its life is left?
    pub healthy: Answer,
    /// Why, in a sentence or two.
    pub healthy_reason: String,
    /// Sequential read, in bytes a second.
    pub sequential_read_bps: Option<f64>,
    /// The least it may be.
    pub sequential_read_bps_low: Option<f64>,
    /// The most it may be.
    pub sequential_read_bps_high: Option<f64>,
    /// Sequential write once it is sustained, in bytes a second.
    pub sequential_write_bps: Option<f64>,
    /// The least it may be.
    pub sequential_write_bps_low: Option<f64>,
    /// The most it may be.
    pub sequential_write_bps_high: Option<f64>,
    /// Random reads of 4 KiB, one at a time, a second.
    pub random_read_4k_iops: Option<f64>,
    /// The least it may be.
    pub random_read_4k_iops_low: Option<f64>,
    /// The most it may be.
    pub random_read_4k_iops_high: Option<f64>,
    /// Random writes of 4 KiB, one at a time, a second.
    pub random_write_4k_iops: Option<f64>,
    /// The least it may be.
    pub random_write_4k_iops_low: Option<f64>,
    /// The most it may be.
    pub random_write_4k_iops_high: Option<f64>,
    /// What 99 of 100 of these writes stay under, in nanoseconds; null where they were too few.
    pub random_write_4k_p99_ns: Option<u64>,
    /// The longest of these writes, in nanoseconds: of one cell, that of `random_write_4k_iops`.
    pub random_write_4k_worst_ns: Option<u64>,
    /// The longest single write of the run, in nanoseconds: of writes of up to 64 KiB, one at a
    /// time, in every test that does what work does. A longer one may stand in a test that provokes
    /// the medium on purpose.
    pub longest_write_ns: Option<u64>,
    /// How many writes it is the longest of.
    pub longest_write_n: Option<u64>,
    /// The reason why one of the four figures is null, by its name: "at most 1006 IOPS: ..", "left
    /// out: ..".
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub missing: BTreeMap<String, String>,
}
