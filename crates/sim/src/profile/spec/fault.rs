//! What goes wrong, and when.

use serde::Deserialize;

use crate::profile::units::{ByteSize, Time};

/// Something that goes wrong, seeded.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultSpec {
    /// Kind of fault, which decides what the other keys mean.
    pub kind: FaultKind,
    /// It begins after this much device time.
    pub after: Option<Time>,
    /// It begins after this many I/Os.
    pub after_ops: Option<u64>,
    /// It begins after this much has been written.
    pub after_written: Option<ByteSize>,
    /// How long it lasts; for ever where absent (`hang`, `vanish`, `power-cut`).
    pub lasts: Option<Time>,
    /// First byte it concerns; the whole medium where absent (`medium-error`, `corruption`).
    pub offset: Option<ByteSize>,
    /// How many bytes it concerns.
    pub size: Option<ByteSize>,
    /// Which direction fails; both where absent (`medium-error`).
    pub direction: Option<FaultDirection>,
    /// How many I/Os fail; all where absent (`medium-error`).
    pub times: Option<u64>,
    /// Share of written pages of 4 KiB in which a bit flips (`corruption`).
    pub share: Option<f64>,
}

/// What a fault does, as the key `kind` names it.
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
    /// Writes that are not durable are lost or torn, and the medium is gone for a while.
    PowerCut,
    /// Writes are refused from then on.
    ReadOnly,
}

/// Which way data moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultDirection {
    /// From the medium to the host.
    Read,
    /// From the host to the medium.
    Write,
}
