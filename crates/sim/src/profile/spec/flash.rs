//! Flash: times of reads and writes, and the two ways of mapping.

use serde::Deserialize;

use crate::profile::units::{ByteSize, Rate, Time};

/// The table `[read]`: times of reading flash (docs/field/ftl.md#model).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadSpec {
    /// Time of a command without its data.
    pub command: Time,
    /// The same for every further command of an I/O that was split; `command` if absent.
    pub next_command: Option<Time>,
    /// Streaming rate: `size / rate` is added to the time of the command.
    pub rate: Rate,
    /// Additional time of a read that does not continue the one before.
    #[serde(default)]
    pub random: Time,
    /// Size below which a read takes `short` in addition.
    #[serde(default)]
    pub short_below: ByteSize,
    /// Additional time of short reads.
    #[serde(default)]
    pub short: Time,
    /// Streaming rate of short reads; `rate` if absent.
    pub short_rate: Option<Rate>,
    /// Additional time of a read of at most one unit that straddles two units.
    #[serde(default)]
    pub cross_unit: Time,
    /// Additional time of a read that straddles two allocation units.
    #[serde(default)]
    pub cross_au: Time,
}

/// The table `[write]`: times of writing flash (docs/field/ftl.md#model).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteSpec {
    /// Time of a command without its data.
    pub command: Time,
    /// The same for every further command of an I/O that was split; `command` if absent.
    pub next_command: Option<Time>,
    /// Streaming rate: `size / rate` is added to the time of the command.
    pub rate: Rate,
    /// Page or group of pages that is programmed together.
    pub unit: ByteSize,
    /// Additional time of a write that does not begin and end at a unit.
    #[serde(default)]
    pub partial: Time,
    /// True if a command always programs whole units.
    #[serde(default)]
    pub whole_units: bool,
    /// Additional time of the last piece of an I/O that was split, by its size: `[["8 KiB", "9
    /// ms"], ..]`.
    #[serde(default)]
    pub tails: Vec<(ByteSize, Time)>,
    /// Time, beside the command, of a write of at most one unit to one of the last places: the
    /// controller keeps the page apart, opens and merges nothing, and sequential writes continue
    /// around it. As any other write if absent.
    pub rewrite: Option<Time>,
}

/// A controller that maps whole allocation units (docs/field/ftl.md#nand, docs/field/ftl.md#model).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogBlock {
    /// Size of an allocation unit, a multiple of `write.unit`.
    pub au: ByteSize,
    /// Number of units that it keeps open for writing; the least recently used is closed.
    pub open_aus: u32,
    /// Rate at which a merge copies.
    pub copy_rate: Rate,
    /// Time to erase an allocation unit.
    pub erase: Time,
    /// Number of merges when the log of an open unit is full.
    #[serde(default = "one")]
    pub log_merges: f64,
    /// True if consecutive writes share a page buffer, so that only the first of them is partial.
    #[serde(default = "yes")]
    pub page_buffer: bool,
    /// True if a write further on in an open unit keeps it in order: the gap is copied at once.
    #[serde(default)]
    pub fills_gaps: bool,
    /// A faster path for small writes.
    pub bypass: Option<Bypass>,
    /// An area at the start that is written at another rate (the FAT).
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
    /// Size up to which writes use it, unless they continue the one before.
    pub up_to: ByteSize,
    /// Time of such a write, beside the command.
    pub time: Time,
    /// Bytes it holds before small writes take the slow path; unlimited if absent.
    pub capacity: Option<ByteSize>,
    /// Rate at which it empties while the medium is idle.
    pub recovery_rate: Option<Rate>,
}

/// An area at the start that is written at another rate.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Front {
    /// Length from the first byte of the medium.
    pub size: ByteSize,
    /// Its write rate over that of the rest.
    pub rate_factor: f64,
}

/// A controller that maps pages (docs/field/ftl.md#model).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageMapped {
    /// Mean time of garbage collection that a random write causes.
    #[serde(default)]
    pub gc: Time,
    /// Additional time for every KiB of the write.
    #[serde(default)]
    pub gc_per_kib: Time,
    /// Garbage collection that accumulates before it is done; at once if absent.
    #[serde(default)]
    pub gc_burst: Time,
    /// Caches in front of the flash, fastest first. While one has room, writes go at its rate and
    /// cause no garbage collection.
    #[serde(default)]
    pub stages: Vec<StageSpec>,
    /// Rate at which the caches empty while the medium is idle; never if absent.
    pub recovery_rate: Option<Rate>,
    /// Idle time before the caches begin to empty.
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
