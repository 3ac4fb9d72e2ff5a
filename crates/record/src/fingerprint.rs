//! How a medium is known again: not by its name, which behind a reader is the reader's, but by what
//! lies on it.

use serde::{Deserialize, Serialize};

/// A place of a medium, and the checksum of what was read there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FingerprintMark {
    /// First byte of the place on the medium.
    pub offset_bytes: u64,
    /// Length of the place in bytes.
    pub bytes: u64,
    /// CRC-32C of what was read.
    pub crc32c: u32,
    /// True if some of it was data of the run itself: if so, the medium can later be asked to show
    /// it again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ours: bool,
}

/// What told a medium from others when a run began. Kept in the journal, never in the record: it
/// says what lies on somebody's medium.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// The kernel's count of media; means something only within one `boot_id`.
    #[serde(default)]
    pub diskseq: Option<u64>,
    /// The kernel's id of this boot, from `/proc/sys/kernel/random/boot_id`.
    #[serde(default)]
    pub boot_id: Option<String>,
    /// What lay on it, a line each: partition table, file systems with their labels.
    #[serde(default)]
    pub contents: Vec<String>,
    /// Places and what was read there before the run wrote anything: outside the span of the run,
    /// where nothing may change, and inside it.
    #[serde(default)]
    pub marks: Vec<FingerprintMark>,
}
