//! Fingerprint of a medium: its content, by which it is recognised. Its name may be that of the
//! reader.

use serde::{Deserialize, Serialize};

/// A place of a medium, and the checksum of its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FingerprintMark {
    /// First byte of the place on the medium.
    pub offset_bytes: u64,
    /// Length of the place in bytes.
    pub bytes: u64,
    /// CRC-32C of its content.
    pub crc32c: u32,
    /// True if some of it was data of the run itself: at least one such place must later show data
    /// of the run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ours: bool,
}

/// Fingerprint of a medium at the beginning of a run. Kept in the journal, never in the record: it
/// describes the content of somebody's medium.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// Disk sequence number of the kernel; valid within one `boot_id` only.
    #[serde(default)]
    pub diskseq: Option<u64>,
    /// The kernel's id of this boot, from `/proc/sys/kernel/random/boot_id`.
    #[serde(default)]
    pub boot_id: Option<String>,
    /// Content in words, a line each: partition table, file systems with their labels.
    #[serde(default)]
    pub contents: Vec<String>,
    /// Places and their content before the run wrote anything: outside the span of the run, where
    /// nothing may change, and inside it.
    #[serde(default)]
    pub marks: Vec<FingerprintMark>,
}
