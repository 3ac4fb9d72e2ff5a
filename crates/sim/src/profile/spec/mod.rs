//! Contents of a profile: every table and key of the TOML file. docs/simulated-media.md lists them.

mod fault;
mod flash;
mod layers;

use serde::Deserialize;

use super::units::{ByteSize, Rate, Time};
pub use fault::{FaultDirection, FaultKind, FaultSpec};
pub use flash::{Bypass, Front, LogBlock, PageMapped, ReadSpec, StageSpec, WriteSpec};
pub use layers::{
    CacheSpec, CompressionSpec, Fake, HeatSpec, Keeps, LostReads, SpreadSpec, WearSpec,
};

/// A whole profile, as in its file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Description in one line.
    pub about: String,
    /// Other names of the profile (its number in docs/field/ftl.md#profiles).
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Source of its numbers.
    pub source: String,
    /// The numbers that are guesses.
    pub guesses: String,
    /// The table `[medium]`: properties of every medium.
    pub medium: MediumSpec,
    /// The table `[queue]`: commands in flight at once; one if absent.
    #[serde(default)]
    pub queue: QueueSpec,
    /// The table `[read]`: times of reading flash; absent for a disk.
    pub read: Option<ReadSpec>,
    /// The table `[write]`: times of writing flash; absent for a disk.
    pub write: Option<WriteSpec>,
    /// A controller that maps whole allocation units and keeps a few open for writing.
    pub log_block: Option<LogBlock>,
    /// A controller that maps pages.
    pub page_mapped: Option<PageMapped>,
    /// The table `[disk]`: seek, rotation and zones of a turning disk.
    pub disk: Option<DiskSpec>,
    /// Spread of the service times.
    #[serde(default)]
    pub jitter: SpreadSpec,
    /// Compression of written data.
    pub compression: Option<CompressionSpec>,
    /// A volatile write cache.
    pub cache: Option<CacheSpec>,
    /// Less flash than announced.
    pub fake: Option<Fake>,
    /// Warming up and throttling.
    pub heat: Option<HeatSpec>,
    /// The table `[wear]`: bad and weak places, writes that slow down with age.
    pub wear: Option<WearSpec>,
    /// Faults and their times.
    #[serde(default)]
    pub fault: Vec<FaultSpec>,
}

/// The table `[medium]`: properties of every medium.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MediumSpec {
    /// Size that the medium announces; a fake has less flash.
    pub capacity: ByteSize,
    /// Smallest addressable unit; 512 bytes if absent.
    #[serde(default = "sector")]
    pub logical_block: ByteSize,
    /// Largest command; larger I/Os are split.
    pub max_transfer: Option<ByteSize>,
    /// Content of reads from places that were never written.
    #[serde(default)]
    pub unwritten: Blank,
    /// True if ranges can be discarded.
    #[serde(default)]
    pub discards: bool,
}

fn sector() -> ByteSize {
    ByteSize(512)
}

/// Contents of a place that holds no data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Blank {
    /// Every byte reads as 0x00.
    #[default]
    Zeros,
    /// Every byte reads as 0xFF, as on erased flash.
    Ones,
}

impl Blank {
    /// Value of each byte in such a place.
    pub(crate) fn byte(self) -> u8 {
        match self {
            Blank::Zeros => 0x00,
            Blank::Ones => 0xff,
        }
    }
}

/// Number of commands that the medium processes at once.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct QueueSpec {
    /// Commands that it accepts before the first completes.
    pub depth: u32,
    /// Commands that it processes at the same time.
    pub channels: u32,
    /// Part of a read that no other command can overlap, in addition to its data, which uses a
    /// single link at `read.rate`.
    pub serial_read: Time,
    /// Part of a write that no other command can overlap, in addition to its data, which uses a
    /// single link at `write.rate`.
    pub serial_write: Time,
}

impl Default for QueueSpec {
    fn default() -> Self {
        QueueSpec { depth: 1, channels: 1, serial_read: Time(0.0), serial_write: Time(0.0) }
    }
}

/// A hard disk (docs/field/ftl.md#model).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiskSpec {
    /// Time of a command without positioning and data.
    pub command: Time,
    /// Least time of any seek.
    pub seek_shortest: Time,
    /// Additional time of a seek over the whole disk; a seek grows with the square root of the
    /// distance.
    pub seek_stroke: Time,
    /// Revolutions per minute, such as 5400.
    pub rpm: f64,
    /// Rate at the first byte.
    pub rate_outer: Rate,
    /// Rate at the last byte.
    pub rate_inner: Rate,
}
