//! What lies around a model: spread, cheats, cache, fakes, heat, age.

use serde::Deserialize;

use crate::profile::units::{ByteSize, Rate, Time};

/// Spread of the service times: lognormal, with a tail, keeping the mean.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SpreadSpec {
    /// Standard deviation of the logarithm.
    pub sigma: f64,
    /// Share of I/Os in the tail.
    pub tail_share: f64,
    /// How many times longer the longest of them is; the shortest is three times as long.
    pub tail_factor: f64,
}

impl Default for SpreadSpec {
    fn default() -> Self {
        SpreadSpec { sigma: 0.0, tail_share: 0.0, tail_factor: 10.0 }
    }
}

/// Compression of what is written.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompressionSpec {
    /// Streaming rate for zeros.
    pub zeros_rate: Rate,
    /// True if a block that repeats counts as zeros.
    #[serde(default)]
    pub repeats: bool,
    /// Command time of a write of nothing but zeros, which then opens and merges nothing; the usual
    /// way where absent.
    pub zeros_write: Option<Time>,
}

/// A fast way for one benchmark's pattern.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PatternCheatSpec {
    /// The only size and alignment that takes it.
    pub block: ByteSize,
    /// All writes of the pattern lie within this much.
    pub span: ByteSize,
    /// Sequential writes before it is recognised.
    pub after: u32,
    /// What a write then takes.
    pub write: Time,
    /// Bytes it takes before it is full.
    pub capacity: ByteSize,
    /// Rate at which it empties while the medium is idle.
    pub recovery_rate: Rate,
}

/// A volatile write cache.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheSpec {
    /// Bytes it holds; a single sector takes the room of 4 KiB.
    pub size: ByteSize,
    /// Rate at which it takes data.
    pub rate: Rate,
    /// Time of a command that it answers.
    pub command: Time,
    /// True if a flush waits until it is empty. One that does not loses data when the power goes.
    pub honest: bool,
    /// True if a write to a place that still lies in it replaces what lies there: it goes to flash
    /// once, when room is needed or the medium rests, the oldest first. Power cuts do not reach
    /// into such a cache.
    #[serde(default)]
    pub combines: bool,
}

/// Less flash than announced (docs/field/counterfeits.md#f3probe).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fake {
    /// Bytes that are really there.
    pub real: ByteSize,
    /// Addresses are taken modulo this; the announced size where absent. Up to `real` it is a
    /// wraparound fake, beyond a chain.
    pub module: Option<ByteSize>,
    /// What places without flash read as.
    #[serde(default)]
    pub lost: LostReads,
    /// What was written last can be read back at its address, flash or not, until this much more
    /// has been written.
    pub remembers: Option<ByteSize>,
}

/// What places without flash read as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LostReads {
    /// Every byte reads as 0x00.
    #[default]
    Zeros,
    /// Every byte reads as 0xFF.
    Ones,
    /// Something else every time.
    Garbage,
}

/// Warming up and throttling (docs/field/cheats.md#cheats-and-caches).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeatSpec {
    /// Temperature at rest, in degrees Celsius.
    pub ambient: f64,
    /// It slows down here.
    pub limit: f64,
    /// Cooled down to this, it is fast again, in degrees Celsius.
    pub resume: f64,
    /// Degrees for every GiB moved.
    #[serde(default)]
    pub per_gib: f64,
    /// Degrees for every minute of work.
    #[serde(default)]
    pub per_minute: f64,
    /// Time in which the excess falls to 1/e.
    pub cooling: Time,
    /// How many times longer everything takes while it is hot.
    pub slowdown: f64,
}

/// Age: bad places, weak places, slower with every byte.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WearSpec {
    /// Size of a place.
    pub block: ByteSize,
    /// Share of places that cannot be read or written.
    #[serde(default)]
    pub bad_share: f64,
    /// Share of places that are read only after retries.
    #[serde(default)]
    pub weak_share: f64,
    /// What the retries take.
    #[serde(default)]
    pub retries: Time,
    /// Writing takes twice as long after this much has been written, three times after twice that,
    /// and so on.
    pub slower_every: Option<ByteSize>,
}
