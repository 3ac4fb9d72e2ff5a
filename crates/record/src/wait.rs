//! Answers for which a run had to wait: what was asked, where, in which turn, and for how long the
//! medium was silent.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::units::{Bytes, Nanos, SECOND_NS};

/// Time in nanoseconds from which a wait is kept; our choice. An SD card may be busy for half a
/// second with a write.
pub const SLOW_NS: u64 = 2 * SECOND_NS;

/// What the medium was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Asked {
    /// Its contents, by other programs, before the run began.
    Look,
    /// Data.
    Read,
    /// To take data.
    Write,
    /// To make durable what was written.
    Flush,
    /// To forget a range.
    Discard,
    /// Nothing but the end of what is under way, while the host dropped its caches.
    DropCaches,
}

/// What became of an I/O that failed after a silence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SilentError {
    /// Its place was not read again.
    NotReadAgain,
    /// Its place failed once more, and two others did not.
    BadPlace,
    /// Its place could be read, or another one could not.
    NoFixedPlace,
    /// The device was gone by then, so nothing is known of the medium.
    Gone,
}

/// A stretch of at least [`SLOW_NS`] in which the medium was asked and did not answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Wait {
    /// Cell of the run, with the number of its round, or what it did between cells.
    pub turn: String,
    /// What was asked.
    pub asked: Asked,
    /// First byte of the place; absent if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset_bytes: Option<u64>,
    /// Bytes of the I/O; absent if it moves none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_bytes: Option<u64>,
    /// Time without any answer, in nanoseconds.
    pub silent_ns: u64,
    /// Time for which nothing had been asked before, in nanoseconds.
    #[serde(default, skip_serializing_if = "crate::wait::is_zero")]
    pub idle_ns: u64,
    /// Part of the silence in which the host stalled, in nanoseconds.
    #[serde(default, skip_serializing_if = "crate::wait::is_zero")]
    pub host_stall_ns: u64,
    /// Present if the answer was an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<SilentError>,
}

pub(crate) fn is_zero(ns: &u64) -> bool {
    *ns == 0
}

impl Wait {
    /// Silence that is not the host's, in nanoseconds.
    pub fn own_ns(&self) -> u64 {
        self.silent_ns.saturating_sub(self.host_stall_ns)
    }
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.asked {
            Asked::Look => "a look at the contents",
            Asked::Read => "a read",
            Asked::Write => "a write",
            Asked::Flush => "a flush",
            Asked::Discard => "a discard",
            Asked::DropCaches => "dropping the caches",
        };
        let at = self.offset_bytes.map(|at| format!(" at {}", Bytes(at))).unwrap_or_default();
        let ended = if self.error.is_some() { "failed after" } else { "took" };
        write!(f, "{what}{at} {ended} {} ({})", Nanos(self.silent_ns), self.turn)
    }
}
