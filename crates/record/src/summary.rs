//! Flat summary of a run: for scripts that read one number and for readers who want three answers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::UseLevel;

/// An answer to one question about a medium.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// Yes.
    Yes,
    /// No.
    No,
    /// Nothing was missing where it was looked; not all of it was looked at.
    NoSign,
    /// Yes for some of the questions, no for others.
    Partly,
    /// It was tested, and the results do not decide it.
    #[serde(rename = "cannot-be-told")]
    Inconclusive,
    /// It was not tested.
    #[default]
    NotTested,
}

impl Answer {
    /// Answer as shown on a screen: "yes", "cannot be told".
    pub const fn words(self) -> &'static str {
        match self {
            Answer::Yes => "yes",
            Answer::No => "no",
            Answer::NoSign => "no sign of a fake",
            Answer::Partly => "partly",
            Answer::Inconclusive => "cannot be told",
            Answer::NotTested => "not tested",
        }
    }
}

/// Flat summary of a run. Figures are null if they were not measured, or are not the medium's;
/// `_low` and `_high` are the ends of the 95 % interval, or the rounds that differ too much for
/// one; null if it was measured once only.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Summary {
    /// Does it have the capacity that it claims?
    pub genuine: Answer,
    /// Reason, in a sentence or two.
    pub genuine_reason: String,
    /// Bytes that the tests of the capacity wrote; null if they were not counted.
    pub written_bytes: Option<u64>,
    /// Bytes of them that were read back.
    pub read_bytes: Option<u64>,
    /// Least real capacity of a fake, in bytes, as far as it was found.
    pub real_bytes_low: Option<u64>,
    /// Largest real capacity of a fake, in bytes.
    pub real_bytes_high: Option<u64>,
    /// Is it suitable for the wanted use? For all uses, if none was named.
    pub fit: Answer,
    /// Reason: the verdict.
    pub fit_reason: String,
    /// Its level for each of the five uses, in their usual order; a use occurs several times if
    /// several recording rates were asked for.
    pub levels: Vec<UseLevel>,
    /// Does it keep what is written, and how much of its life is left?
    pub healthy: Answer,
    /// Reason, in a sentence or two.
    pub healthy_reason: String,
    /// Number of I/Os of the run.
    pub ios: u64,
    /// Number of its writes that were read back at its end.
    pub read_back: u64,
    /// Sequential read, in bytes a second.
    pub sequential_read_bps: Option<f64>,
    /// Lower end of its interval.
    pub sequential_read_bps_low: Option<f64>,
    /// Upper end of its interval.
    pub sequential_read_bps_high: Option<f64>,
    /// Sustained sequential write, in bytes a second.
    pub sequential_write_bps: Option<f64>,
    /// Lower end of its interval.
    pub sequential_write_bps_low: Option<f64>,
    /// Upper end of its interval.
    pub sequential_write_bps_high: Option<f64>,
    /// Random reads of 4 KiB at queue depth 1, in IOPS.
    pub random_read_4k_iops: Option<f64>,
    /// Lower end of its interval.
    pub random_read_4k_iops_low: Option<f64>,
    /// Upper end of its interval.
    pub random_read_4k_iops_high: Option<f64>,
    /// Random writes of 4 KiB at queue depth 1, in IOPS.
    pub random_write_4k_iops: Option<f64>,
    /// Lower end of its interval.
    pub random_write_4k_iops_low: Option<f64>,
    /// Upper end of its interval.
    pub random_write_4k_iops_high: Option<f64>,
    /// Random writes of 16 KiB at queue depth 1, in IOPS.
    pub random_write_16k_iops: Option<f64>,
    /// Lower end of its interval.
    pub random_write_16k_iops_low: Option<f64>,
    /// Upper end of its interval.
    pub random_write_16k_iops_high: Option<f64>,
    /// Time that 99 of 100 of the writes of 4 KiB do not exceed, in nanoseconds; null if they were too
    /// few.
    pub random_write_4k_p99_ns: Option<u64>,
    /// The longest of those writes, in nanoseconds: of one cell, that of `random_write_4k_iops`.
    pub random_write_4k_worst_ns: Option<u64>,
    /// Longest single write of the run, in nanoseconds: of writes of up to 64 KiB at queue depth 1,
    /// in every test that works as applications do. A test that provokes the medium on purpose may
    /// have a longer one.
    pub longest_write_ns: Option<u64>,
    /// Number of writes of which it is the longest.
    pub longest_write_n: Option<u64>,
    /// Reasons why figures are null, by the name of the figure: "at most 1006 IOPS: ..", "left out:
    /// ..".
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub missing: BTreeMap<String, String>,
}
