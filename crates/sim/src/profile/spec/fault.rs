//! Faults of a medium and their times.

use serde::Deserialize;

use crate::profile::units::{ByteSize, Time};

/// A seeded fault.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultSpec {
    /// Kind of fault, which decides the meaning of the other keys.
    pub kind: FaultKind,
    /// Device time after which it begins.
    pub after: Option<Time>,
    /// Number of I/Os after which it begins.
    pub after_ops: Option<u64>,
    /// Bytes written after which it begins.
    pub after_written: Option<ByteSize>,
    /// Duration; for ever if absent (`hang`, `vanish`, `power-cut`).
    pub lasts: Option<Time>,
    /// First byte of its range; the whole medium if absent (`medium-error`, `hang`, `corruption`,
    /// `lost-write`).
    pub offset: Option<ByteSize>,
    /// Length of its range.
    pub size: Option<ByteSize>,
    /// Direction that fails; both if absent (`medium-error`, `hang`).
    pub direction: Option<FaultDirection>,
    /// Number of I/Os that fail; all if absent (`medium-error`).
    pub times: Option<u64>,
    /// Share of written pages of 4 KiB in which a bit flips (`corruption`), or of the writes that
    /// are lost (`lost-write`).
    pub share: Option<f64>,
}

/// Kind of a fault, as in the key `kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// I/Os in a range fail.
    MediumError,
    /// One I/O takes very long.
    Hang,
    /// The medium is gone, for a while or for ever.
    Vanish,
    /// Written pages change silently.
    Corruption,
    /// Writes complete, and nothing changes on the medium.
    LostWrite,
    /// Writes that are not durable are lost or torn, and the medium is gone for a while.
    PowerCut,
    /// Writes are refused from then on.
    ReadOnly,
}

/// Direction in which data moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultDirection {
    /// From the medium to the host.
    Read,
    /// From the host to the medium.
    Write,
}
