//! Effects around a model: spread, cheats, cache, fakes, heat, age.

use serde::Deserialize;

use crate::profile::units::{ByteSize, Rate, Time};

/// Spread of the service times: lognormal, with a tail; the mean does not change.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SpreadSpec {
    /// Standard deviation of the logarithm.
    pub sigma: f64,
    /// Share of I/Os in the tail.
    pub tail_share: f64,
    /// Longest time of these over the usual one; the shortest is three times as long.
    pub tail_factor: f64,
}

impl Default for SpreadSpec {
    fn default() -> Self {
        SpreadSpec { sigma: 0.0, tail_share: 0.0, tail_factor: 10.0 }
    }
}

/// Compression of written data.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompressionSpec {
    /// Streaming rate for zeros.
    pub zeros_rate: Rate,
    /// True if a block that repeats counts as zeros.
    #[serde(default)]
    pub repeats: bool,
    /// Command time of a write of zeros only, which then opens and merges nothing; as any other
    /// write if absent.
    pub zeros_write: Option<Time>,
}

/// A volatile write cache.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheSpec {
    /// Size in bytes; a single sector takes the room of 4 KiB.
    pub size: ByteSize,
    /// Rate at which it accepts data.
    pub rate: Rate,
    /// Time of a command that it answers.
    pub command: Time,
    /// True if a flush waits until it is empty. A cache that does not wait loses data when the
    /// power fails.
    pub honest: bool,
    /// True if a write to a place that is still in the cache replaces the older one: it goes to
    /// flash once, when room is needed or the medium is idle, the oldest first. Power cuts do not
    /// affect such a cache.
    #[serde(default)]
    pub combines: bool,
}

/// Less flash than announced (docs/field/counterfeits.md#f3probe).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fake {
    /// Bytes of flash that really exist.
    pub real: ByteSize,
    /// Addresses are taken modulo this; the announced size if absent. Up to `real` it is a
    /// wraparound fake, above it a chain.
    pub module: Option<ByteSize>,
    /// Content of reads from places without flash.
    #[serde(default)]
    pub lost: LostReads,
    /// Bytes that must be written before the last writes can no longer be read back at their
    /// address, with or without flash.
    pub remembers: Option<ByteSize>,
    /// True if only writes without flash are remembered.
    #[serde(default)]
    pub remembers_lost: bool,
    /// The writes that find flash.
    #[serde(default)]
    pub keeps: Keeps,
}

/// Writes that find flash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Keeps {
    /// Those whose address, modulo `module`, is below `real`.
    #[default]
    Front,
    /// All; every 4 KiB lie at a hash of their address below `real`.
    Hashed,
    /// The first ones, wherever they are, until `real` bytes are full; later ones are dropped.
    First,
    /// The first ones; later ones fail.
    FirstThenErrors,
    /// The latest ones: each new block takes the flash of the oldest.
    Latest,
}

/// Content of reads from places without flash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LostReads {
    /// Every byte reads as 0x00.
    #[default]
    Zeros,
    /// Every byte reads as 0xFF.
    Ones,
    /// Other data at every read.
    Garbage,
}

/// Warming up and throttling (docs/field/cheats.md#cheats-and-caches).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeatSpec {
    /// Temperature of the surroundings, in degrees Celsius.
    pub ambient: f64,
    /// Temperature in degrees Celsius at which it slows down.
    pub limit: f64,
    /// Temperature in degrees Celsius at which it is fast again.
    pub resume: f64,
    /// Degrees for every GiB moved.
    #[serde(default)]
    pub per_gib: f64,
    /// Degrees for every minute of work.
    #[serde(default)]
    pub per_minute: f64,
    /// Time in which the difference to `ambient` falls to 1/e.
    pub cooling: Time,
    /// Factor by which every I/O is slower while the medium is hot.
    pub slowdown: f64,
}

/// Age: bad places, weak places, writes that slow down with every byte.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WearSpec {
    /// Size of a place in bytes.
    pub block: ByteSize,
    /// Share of places that cannot be read or written.
    #[serde(default)]
    pub bad_share: f64,
    /// Share of places that are read only after retries.
    #[serde(default)]
    pub weak_share: f64,
    /// Time of the retries.
    #[serde(default)]
    pub retries: Time,
    /// Bytes after which a write takes twice as long; three times after twice as many, and so on.
    pub slower_every: Option<ByteSize>,
}
