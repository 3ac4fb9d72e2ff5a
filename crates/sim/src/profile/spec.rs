//! What a profile can say. Every table and key of the TOML file, as docs/simulated-media.md lists them.

use serde::Deserialize;

use super::units::{Rate, Size, Time};

/// A whole profile, as written.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// What it is, in one line.
    pub about: String,
    /// Other names it goes by (its number in flash.md E5).
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Where its numbers come from.
    pub source: String,
    /// Which of its numbers are guesses.
    pub guesses: String,
    /// What every medium has.
    pub medium: Medium,
    /// Commands at once.
    #[serde(default)]
    pub queue: Queue,
    /// Reading flash.
    pub read: Option<Read>,
    /// Writing flash.
    pub write: Option<Write>,
    /// A controller that maps whole allocation units and keeps a few open for writing.
    pub log_block: Option<LogBlock>,
    /// A controller that maps pages.
    pub page_mapped: Option<PageMapped>,
    /// A turning disk.
    pub disk: Option<Disk>,
    /// Spread of the service times.
    #[serde(default)]
    pub jitter: Spread,
    /// Compression of what is written.
    pub compression: Option<Compression>,
    /// A fast way for one benchmark's pattern.
    pub pattern_cheat: Option<PatternCheat>,
    /// A volatile write cache.
    pub cache: Option<Cache>,
    /// Less flash than announced.
    pub fake: Option<Fake>,
    /// Warming up and throttling.
    pub heat: Option<Heat>,
    /// Age.
    pub wear: Option<Wear>,
    /// What goes wrong, and when.
    #[serde(default)]
    pub fault: Vec<Fault>,
}

/// What every medium has.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Medium {
    /// Announced size.
    pub capacity: Size,
    /// Smallest addressable unit.
    #[serde(default = "sector")]
    pub logical_block: Size,
    /// Largest command; larger I/Os are split.
    pub max_transfer: Option<Size>,
    /// What never written places read as.
    #[serde(default)]
    pub unwritten: Blank,
    /// Whether ranges can be discarded.
    #[serde(default)]
    pub discards: bool,
}

fn sector() -> Size {
    Size(512)
}

/// Contents of a place that holds no data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Blank {
    /// 0x00.
    #[default]
    Zeros,
    /// 0xFF, as erased flash.
    Ones,
}

impl Blank {
    /// The byte.
    pub(crate) fn byte(self) -> u8 {
        match self {
            Blank::Zeros => 0x00,
            Blank::Ones => 0xff,
        }
    }
}

/// How many commands the medium works on at once.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Queue {
    /// Commands it takes before the first is done.
    pub depth: u32,
    /// Commands it works on at the same time.
    pub channels: u32,
    /// Part of a read that no other command can overlap, beside its data, which goes over one link at `read.rate`.
    pub serial_read: Time,
    /// Part of a write that no other command can overlap, beside its data, which goes over one link at `write.rate`.
    pub serial_write: Time,
}

impl Default for Queue {
    fn default() -> Self {
        Queue { depth: 1, channels: 1, serial_read: Time(0.0), serial_write: Time(0.0) }
    }
}

/// Reading flash (flash.md E4).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Read {
    /// Time of a command without its data.
    pub command: Time,
    /// The same for every further command of an I/O that was split; `command` where absent.
    pub next_command: Option<Time>,
    /// Streaming rate.
    pub rate: Rate,
    /// Extra where a read does not continue the one before.
    #[serde(default)]
    pub random: Time,
    /// Reads below this size pay `short`.
    #[serde(default)]
    pub short_below: Size,
    /// Extra for short reads.
    #[serde(default)]
    pub short: Time,
    /// Extra for a read of at most one unit that straddles two units.
    #[serde(default)]
    pub cross_unit: Time,
    /// Extra for a read that straddles two allocation units.
    #[serde(default)]
    pub cross_au: Time,
}

/// Writing flash (flash.md E4).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Write {
    /// Time of a command without its data.
    pub command: Time,
    /// The same for every further command of an I/O that was split; `command` where absent.
    pub next_command: Option<Time>,
    /// Streaming rate.
    pub rate: Rate,
    /// Page or group of pages that is programmed together.
    pub unit: Size,
    /// Extra for a write that does not begin and end at a unit.
    #[serde(default)]
    pub partial: Time,
    /// Whether a command always programs whole units.
    #[serde(default)]
    pub whole_units: bool,
    /// Extra for the last piece of an I/O that was split, by its size: `[["8 KiB", "9 ms"], ..]`.
    #[serde(default)]
    pub tails: Vec<(Size, Time)>,
}

/// A controller that maps whole allocation units (flash.md E1, E4).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogBlock {
    /// Allocation unit.
    pub au: Size,
    /// Units it keeps open for writing; the least recently used is closed.
    pub open_aus: u32,
    /// Rate at which a merge copies.
    pub copy_rate: Rate,
    /// Erasing an allocation unit.
    pub erase: Time,
    /// Merges when the log of an open unit is full.
    #[serde(default = "one")]
    pub log_merges: f64,
    /// Whether writes that continue each other share a page buffer, so that only the first of them is partial.
    #[serde(default = "yes")]
    pub page_buffer: bool,
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
    pub up_to: Size,
    /// What such a write takes beside the command.
    pub time: Time,
    /// Bytes it holds before small writes go the long way; without end where absent.
    pub capacity: Option<Size>,
    /// Rate at which it empties while the medium is idle.
    pub recovery_rate: Option<Rate>,
}

/// An area at the front that writes at another rate.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Front {
    /// Its size.
    pub size: Size,
    /// Its writing rate over that of the rest.
    pub rate_factor: f64,
}

/// A controller that maps pages (flash.md E4).
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
    /// Caches in front of the flash, fastest first. While one has room, writes go at its rate and cause no garbage collection.
    #[serde(default)]
    pub stages: Vec<Stage>,
    /// Rate at which the caches empty while the medium is idle; never where absent.
    pub recovery_rate: Option<Rate>,
    /// How long the medium must be idle before they do.
    #[serde(default)]
    pub recovery_after: Time,
}

/// A cache in front of the flash.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stage {
    /// Bytes it holds.
    pub size: Size,
    /// Its writing rate.
    pub rate: Rate,
}

/// A turning disk (flash.md E4).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Disk {
    /// Time of a command without positioning and data.
    pub command: Time,
    /// Shortest seek.
    pub seek_shortest: Time,
    /// What a seek over the whole disk takes beyond that; the seek grows with the root of the distance.
    pub seek_stroke: Time,
    /// Turns a minute.
    pub rpm: f64,
    /// Rate at the first byte.
    pub rate_outer: Rate,
    /// Rate at the last byte.
    pub rate_inner: Rate,
    /// Whether a write that continues the one before loses a turn, as with the write cache off.
    #[serde(default)]
    pub writes_lose_a_turn: bool,
}

/// Spread of the service times: lognormal, with a tail, keeping the mean.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Spread {
    /// Standard deviation of the logarithm.
    pub sigma: f64,
    /// Share of I/Os in the tail.
    pub tail_share: f64,
    /// How many times longer the longest of them is; the shortest is three times as long.
    pub tail_factor: f64,
}

impl Default for Spread {
    fn default() -> Self {
        Spread { sigma: 0.0, tail_share: 0.0, tail_factor: 10.0 }
    }
}

/// Compression of what is written.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compression {
    /// Streaming rate for zeros.
    pub zeros_rate: Rate,
    /// Whether a block that repeats counts as zeros.
    #[serde(default)]
    pub repeats: bool,
    /// What a random write of zeros takes instead of everything else; the usual way where absent.
    pub zeros_write: Option<Time>,
}

/// A fast way for one benchmark's pattern.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PatternCheat {
    /// The only size and alignment that takes it.
    pub block: Size,
    /// All writes of the pattern lie within this much.
    pub span: Size,
    /// Writes in a row before it is recognised.
    pub after: u32,
    /// What a write then takes.
    pub write: Time,
    /// Bytes it takes before it is full.
    pub capacity: Size,
    /// Rate at which it empties while the medium is idle.
    pub recovery_rate: Rate,
}

/// A volatile write cache.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// Bytes it holds.
    pub size: Size,
    /// Rate at which it takes data.
    pub rate: Rate,
    /// Time of a command that it answers.
    pub command: Time,
    /// Whether a flush waits until it is empty. One that does not loses data when the power goes.
    pub honest: bool,
}

/// Less flash than announced (flash.md C1).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fake {
    /// Bytes that are really there.
    pub real: Size,
    /// Addresses are taken modulo this; the announced size where absent. Up to `real` it is a wraparound fake, beyond a chain.
    pub module: Option<Size>,
    /// What places without flash read as.
    #[serde(default)]
    pub lost: Lost,
}

/// What places without flash read as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lost {
    /// 0x00.
    #[default]
    Zeros,
    /// 0xFF.
    Ones,
    /// Something else every time.
    Garbage,
}

/// Warming up and throttling (flash.md C2).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Heat {
    /// Temperature at rest, in degrees Celsius.
    pub ambient: f64,
    /// It slows down here.
    pub limit: f64,
    /// It recovers here.
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
pub struct Wear {
    /// Size of a place.
    pub block: Size,
    /// Share of places that cannot be read or written.
    #[serde(default)]
    pub bad_share: f64,
    /// Share of places that are read only after retries.
    #[serde(default)]
    pub weak_share: f64,
    /// What the retries take.
    #[serde(default)]
    pub retries: Time,
    /// Writing takes twice as long after this much has been written, three times after twice that, and so on.
    pub slower_every: Option<Size>,
}

/// Something that goes wrong, seeded.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// What.
    pub kind: FaultKind,
    /// It begins after this much device time.
    pub after: Option<Time>,
    /// It begins after this many I/Os.
    pub after_ops: Option<u64>,
    /// It begins after this much has been written.
    pub after_written: Option<Size>,
    /// How long it lasts; for ever where absent (`hang`, `vanish`, `power-cut`).
    pub lasts: Option<Time>,
    /// First byte it concerns; the whole medium where absent (`medium-error`, `corruption`).
    pub offset: Option<Size>,
    /// How many bytes it concerns.
    pub size: Option<Size>,
    /// Which direction fails; both where absent (`medium-error`).
    pub direction: Option<Direction>,
    /// How many I/Os fail; all where absent (`medium-error`).
    pub times: Option<u64>,
    /// Share of written pages of 4 KiB in which a bit flips (`corruption`).
    pub share: Option<f64>,
}

/// What goes wrong.
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
pub enum Direction {
    /// From the medium.
    Read,
    /// To the medium.
    Write,
}
