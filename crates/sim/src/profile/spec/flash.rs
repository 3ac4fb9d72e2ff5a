//! Flash: reading, writing, and the two ways of mapping.

use serde::Deserialize;

use crate::profile::units::{ByteSize, Rate, Time};

/// The table `[read]`: what reading flash takes (docs/field/ftl.md#model).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadSpec {
    /// Time of a command without its data.
    pub command: Time,
    /// The same for every further command of an I/O that was split; `command` where absent.
    pub next_command: Option<Time>,
    /// Streaming rate: `size / rate` is added to the time of the command.
    pub rate: Rate,
    /// Extra where a read does not continue the one before.
    #[serde(default)]
    pub random: Time,
    /// Reads below this size pay `short`.
    #[serde(default)]
    pub short_below: ByteSize,
    /// Extra for short reads.
    #[serde(default)]
    pub short: Time,
    /// Streaming rate of short reads; `rate` where absent.
    pub short_rate: Option<Rate>,
    /// Extra for a read of at most one unit that straddles two units.
    #[serde(default)]
    pub cross_unit: Time,
    /// Extra for a read that straddles two allocation units.
    #[serde(default)]
    pub cross_au: Time,
}

/// The table `[write]`: what writing flash takes (docs/field/ftl.md#model).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteSpec {
    /// Time of a command without its data.
    pub command: Time,
    /// The same for every further command of an I/O that was split; `command` where absent.
    pub next_command: Option<Time>,
    /// Streaming rate: `size / rate` is added to the time of the command.
    pub rate: Rate,
    /// Page or group of pages that is programmed together.
    pub unit: ByteSize,
    /// Extra for a write that does not begin and end at a unit.
    #[serde(default)]
    pub partial: Time,
    /// True if a command always programs whole units.
    #[serde(default)]
    pub whole_units: bool,
    /// Extra for the last piece of an I/O that was split, by its size: `[["8 KiB", "9 ms"], ..]`.
    #[serde(default)]
    pub tails: Vec<(ByteSize, Time)>,
    /// What a write of at most one unit to one of the last places takes beside the command: the
    /// page is kept apart, opens and merges nothing, and what is written in order goes on around
    /// it. As any other write where absent.
    pub rewrite: Option<Time>,
}

/// A controller that maps whole allocation units (docs/field/ftl.md#nand, docs/field/ftl.md#model).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogBlock {
    /// Size of an allocation unit, a multiple of `write.unit`.
    pub au: ByteSize,
    /// Units it keeps open for writing; the least recently used is closed.
    pub open_aus: u32,
    /// Rate at which a merge copies.
    pub copy_rate: Rate,
    /// Erasing an allocation unit.
    pub erase: Time,
    /// Merges when the log of an open unit is full.
    #[serde(default = "one")]
    pub log_merges: f64,
    /// True if writes that continue each other share a page buffer, so that only the first of them
    /// is partial.
    #[serde(default = "yes")]
    pub page_buffer: bool,
    /// True if a write further on in an open unit keeps it in order: what was left out is copied at
    /// once.
    #[serde(default)]
    pub fills_gaps: bool,
    /// A shorter way for small writes.
    pub bypass: Option<Bypass>,
    /// An area at the front that writes at another rate (the FAT).
    pub front: Option<Front>,
}

fn one() -> f64 {
    1.0
}

fn yes() -> bool {
    true
}

/// A log for small writes.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bypass {
    /// Writes up to this size take it, unless they continue the one before.
    pub up_to: ByteSize,
    /// What such a write takes beside the command.
    pub time: Time,
    /// Bytes it holds before small writes go the long way; without end where absent.
    pub capacity: Option<ByteSize>,
    /// Rate at which it empties while the medium is idle.
    pub recovery_rate: Option<Rate>,
}

/// An area at the front that writes at another rate.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Front {
    /// How far it reaches from the first byte of the medium.
    pub size: ByteSize,
    /// Its writing rate over that of the rest.
    pub rate_factor: f64,
}

/// A controller that maps pages (docs/field/ftl.md#model).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageMapped {
    /// Mean garbage collection that a random write causes.
    #[serde(default)]
    pub gc: Time,
    /// The same for every KiB of it.
    #[serde(default)]
    pub gc_per_kib: Time,
    /// Garbage collection is put off until this much of it is due; at once where absent.
    #[serde(default)]
    pub gc_burst: Time,
    /// Caches in front of the flash, fastest first. While one has room, writes go at its rate and
    /// cause no garbage collection.
    #[serde(default)]
    pub stages: Vec<StageSpec>,
    /// Rate at which the caches empty while the medium is idle; never where absent.
    pub recovery_rate: Option<Rate>,
    /// How long the medium must be idle before they do.
    #[serde(default)]
    pub recovery_after: Time,
}

/// A cache in front of the flash.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StageSpec {
    /// Bytes that can be written to it before it is full.
    pub size: ByteSize,
    /// Rate of writes while it has room.
    pub rate: Rate,
}
