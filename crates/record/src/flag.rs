//! Caveats: a result that is valid, but should be read with care. Each says what was seen and what
//! to do.

use serde::{Deserialize, Serialize};

use crate::units::{BytesPerSecond, Iops, Nanos, SECOND_NS, significant};

/// A medium that answers after this many nanoseconds or later hangs; our choice. Linux gives up a
/// command after 30 s (`/sys/block/*/device/timeout`), and tries it again.
pub const HANGS_NS: u64 = 10 * SECOND_NS;

/// A caveat about a cell's numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "flag", rename_all = "kebab-case")]
pub enum Flag {
    /// The interval is wider than asked for.
    NotConverged {
        /// Half the width of the 95 % interval over the figure.
        relative_half_width: f64,
    },
    /// There was no time to measure it again, so nobody knows how far a repetition would be off.
    OneLook {
        /// How long the whole run has to last for that, in nanoseconds.
        needed_ns: u64,
    },
    /// Its rounds became slower or faster during the run: the medium or the host changed.
    Trend {
        /// I/Os a second of the first rounds.
        from: f64,
        /// The same of the last ones.
        to: f64,
    },
    /// Other work on the host took the processor: a part of each I/O is waiting for it.
    HostLimited {
        /// How long an I/O waited on average, in nanoseconds.
        mean_ns: u64,
    },
    /// A control group of the host limits what is read or written here (a container, a service).
    IoLimit {
        /// What is limited.
        limit: IoLimitKind,
        /// Bytes or requests a second.
        per_second: u64,
    },
    /// Too few I/Os for an interval.
    TooFewSamples {
        /// How many there were.
        n: u64,
    },
    /// The rate was still moving at the end.
    Drifting {
        /// Largest minus smallest of the last windows over their mean.
        range: f64,
        /// Change of the fitted line over those windows, over their mean.
        slope: f64,
    },
    /// Batches depend on their predecessors: the interval was widened for it.
    Autocorrelated {
        /// Lag-1 correlation of the batch means.
        lag1: f64,
    },
    /// Faster than the link can carry: not the medium's number.
    FasterThanLink {
        /// Rate of the cell, in bytes a second.
        bps: f64,
        /// What the link can carry.
        link_bps: f64,
    },
    /// Faster than memory can be copied: not the medium's number.
    FasterThanMemory {
        /// Rate of the cell, in bytes a second.
        bps: f64,
        /// What a copy in memory does.
        memory_bps: f64,
    },
    /// Some I/Os took no measurable time: they did not reach the medium.
    ZeroLatency {
        /// How many I/Os took 0 ns by the device's clock.
        n: u64,
    },
    /// Parts of the file have never been written; reading them touches no medium.
    Sparse {
        /// Bytes of the file that have no storage behind them.
        hole_bytes: u64,
    },
    /// The page cache answered.
    Cached,
    /// The file system compresses, so incompressible and other data differ by its doing.
    CompressedFilesystem,
    /// A memory file system: there is no medium.
    MemoryFilesystem,
    /// Too little of what was issued was counted by the kernel on the medium: something before it
    /// answered, and the figure is not the medium's.
    NotThisMedium {
        /// Bytes that were issued in the direction that the cell is about.
        issued_bytes: u64,
        /// Bytes that the kernel counted on the medium meanwhile.
        counted_bytes: u64,
    },
    /// Fewer I/Os were counted by the kernel on the medium than were issued one after another:
    /// something before it, such as a file system in user space, gathered them in memory.
    Gathered {
        /// I/Os that were issued in the measured part.
        issued_ios: u64,
        /// I/Os that the kernel counted on the medium meanwhile.
        counted_ios: u64,
    },
    /// No block device is known below the place: a pool, or layers that this process cannot see.
    UnknownMedium,
    /// The device holds its data in the memory of the host (a loop device over a file, through the
    /// page cache).
    HostCached,
    /// The span was never written by us: a controller may answer reads of unwritten flash without
    /// touching it.
    NotPrimed,
    /// Fewer bytes were primed than asked for, because time was up.
    PartlyPrimed {
        /// Bytes that have been primed.
        primed_bytes: u64,
        /// Bytes that should have been primed.
        wanted_bytes: u64,
    },
    /// The block is larger than the largest command and no multiple of it: the tail is a command of
    /// its own (docs/field/classic-tools.md#dd).
    SplitCommand {
        /// Bytes of one I/O.
        block_bytes: u64,
        /// Bytes of the largest command that goes to the medium in one piece.
        max_transfer_bytes: u64,
    },
    /// Small writes go a faster way that is limited: the rate fell or 16 KiB are much slower
    /// (docs/field/statistics.md#sampling-random-writes).
    SmallWriteBypass {
        /// IOPS at this size over IOPS at 16 KiB.
        ratio: f64,
    },
    /// Work was left to the medium after the last write; the figure includes waiting for it.
    Debt {
        /// How long it took to settle.
        debt_ns: u64,
    },
    /// Writes were so fast that a cache may have taken them, and too little had been written to
    /// fill every cache there may be: the figure is true of what was written, and may not last.
    MayNotLast {
        /// Bytes that the run had written to the medium when this was measured.
        written_bytes: u64,
    },
    /// So much a second warms a medium, and it had been kept up for too short a time to show: the
    /// figure is that of a cool medium, and may not last.
    MayGetHot {
        /// Rate of the cell, in bytes a second.
        bps: f64,
        /// How long it was kept up.
        lasted_ns: u64,
    },
    /// The medium had not come to rest when this was measured, for instance because a cache still
    /// gave up what it had taken before: the figure is no level, and has no interval.
    Transient {
        /// On which side of the figure the level lies.
        bound: Bound,
    },
    /// The host stood still while this was measured; I/Os that were under way meanwhile are left
    /// out of latencies and stalls.
    HostStoodStill {
        /// For so long, all stretches together.
        #[serde(rename = "stood_still_ns")]
        host_stall_ns: u64,
        /// I/Os that were under way in one of them.
        left_out: u64,
    },
    /// The processor was busy with other things.
    BusyHost {
        /// Load average over cores.
        load_per_core: f64,
    },
    /// The medium or the host was slowed by heat.
    Throttled,
    /// A call took longer than any latency the histogram can hold or than a medium may take.
    Stalled {
        /// Time of the slowest I/O, in nanoseconds.
        longest_ns: u64,
    },
    /// What lay on a medium that was only lent is not back yet: it is kept in the run's directory.
    #[serde(rename = "not-put-back")]
    NotRestored {
        /// Bytes that are still to be restored.
        bytes: u64,
        /// First byte on the medium that is still to be restored.
        first_offset_bytes: u64,
        /// Name of the run.
        run: String,
    },
    /// Anything else, in words.
    Note {
        /// The caveat, in one sentence for people.
        text: String,
    },
}

/// What a control group limits (`io.max`, `blkio.throttle.*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum IoLimitKind {
    /// Bytes read a second.
    ReadBps,
    /// Bytes written a second.
    WriteBps,
    /// Reads a second.
    ReadIops,
    /// Writes a second.
    WriteIops,
}

impl IoLimitKind {
    /// All there are.
    pub const ALL: [IoLimitKind; 4] = [
        IoLimitKind::ReadBps,
        IoLimitKind::WriteBps,
        IoLimitKind::ReadIops,
        IoLimitKind::WriteIops,
    ];

    /// "reads" or "writes".
    pub fn direction(self) -> &'static str {
        match self {
            IoLimitKind::ReadBps | IoLimitKind::ReadIops => "reads",
            IoLimitKind::WriteBps | IoLimitKind::WriteIops => "writes",
        }
    }

    /// "2.00 MB/s", "500 IOPS".
    pub fn quantity(self, per_second: u64) -> String {
        match self {
            IoLimitKind::ReadBps | IoLimitKind::WriteBps => {
                BytesPerSecond(per_second as f64).to_string()
            }
            IoLimitKind::ReadIops | IoLimitKind::WriteIops => Iops(per_second as f64).to_string(),
        }
    }
}

/// On which side of a figure the level lies that it would come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// The level is this or more.
    AtLeast,
    /// The level is this or less.
    AtMost,
}

impl Bound {
    /// "at least" or "at most".
    pub fn words(self) -> &'static str {
        match self {
            Bound::AtLeast => "at least",
            Bound::AtMost => "at most",
        }
    }
}

impl Flag {
    /// Whether the figure is one of a passing state and no level: only a bound.
    pub fn transient(&self) -> Option<Bound> {
        match self {
            Flag::Transient { bound } => Some(*bound),
            _ => None,
        }
    }

    /// True if the figure must not be taken for the medium's.
    pub fn is_impossible(&self) -> bool {
        matches!(
            self,
            Flag::FasterThanLink { .. }
                | Flag::FasterThanMemory { .. }
                | Flag::ZeroLatency { .. }
                | Flag::Cached
                | Flag::MemoryFilesystem
                | Flag::NotThisMedium { .. }
                | Flag::Gathered { .. }
                | Flag::Sparse { .. }
        )
    }
}

impl std::fmt::Display for Flag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let percent = |x: f64| significant(x * 100.0);
        let width = |x: f64| {
            if x > 1.0 { "wider than the figure".to_owned() } else { format!("±{} %", percent(x)) }
        };
        match self {
            Flag::NotConverged { relative_half_width } => {
                write!(
                    f,
                    "not converged: the interval is still {}; run it for longer",
                    width(*relative_half_width)
                )
            }
            Flag::OneLook { needed_ns } => write!(
                f,
                "one look: no time was left to measure it again, so it has no interval; that takes a run of about {} s",
                needed_ns.div_ceil(SECOND_NS)
            ),
            Flag::Trend { from, to } => write!(
                f,
                "it became {} during the run, from {} to {}: a cache that fills, heat, or the host",
                if to < from { "slower" } else { "faster" },
                Iops(*from),
                Iops(*to)
            ),
            Flag::HostLimited { mean_ns } => {
                write!(
                    f,
                    "this machine was busy: each I/O waited about {} for a processor; the medium is at least this fast; run as root, or stop other work",
                    Nanos(*mean_ns)
                )
            }
            Flag::IoLimit { limit, per_second } => write!(
                f,
                "a control group of this host limits {} to {}: the medium is at least this fast; run it outside of that container or service",
                limit.direction(),
                limit.quantity(*per_second)
            ),
            Flag::TooFewSamples { n } => {
                write!(f, "{n} I/Os are too few for an interval; run it for longer")
            }
            Flag::Drifting { range, .. } => {
                write!(
                    f,
                    "drifting: the last windows differ by {} %; run it for longer to see where it settles",
                    percent(*range)
                )
            }
            Flag::Autocorrelated { lag1 } => {
                write!(
                    f,
                    "results are autocorrelated (r1 {}), so the interval is wider",
                    significant(*lag1)
                )
            }
            Flag::FasterThanLink { bps, link_bps } => {
                write!(
                    f,
                    "impossible: {} over a link of {}; a cache answered",
                    BytesPerSecond(*bps),
                    BytesPerSecond(*link_bps)
                )
            }
            Flag::FasterThanMemory { bps, memory_bps } => {
                write!(
                    f,
                    "impossible: {}, but memory reaches {}; nothing was read from a medium",
                    BytesPerSecond(*bps),
                    BytesPerSecond(*memory_bps)
                )
            }
            Flag::ZeroLatency { n } => {
                write!(f, "impossible: {n} I/Os took no time and never reached a medium")
            }
            Flag::Sparse { hole_bytes } => {
                write!(
                    f,
                    "{} of the file were never written; reading them does not touch the medium",
                    crate::units::Bytes(*hole_bytes)
                )
            }
            Flag::Cached => write!(f, "the page cache answered, not the medium"),
            Flag::CompressedFilesystem => write!(f, "the file system compresses data itself"),
            Flag::MemoryFilesystem => {
                write!(f, "the file system is in memory: there is no medium")
            }
            Flag::NotThisMedium { issued_bytes, counted_bytes } => write!(
                f,
                "only {} of {} reached the medium: these are not its figures",
                crate::units::Bytes(*counted_bytes),
                crate::units::Bytes(*issued_bytes)
            ),
            Flag::Gathered { issued_ios, counted_ios } => write!(
                f,
                "{issued_ios} I/Os were issued one by one, {counted_ios} reached the medium: these are not its figures"
            ),
            Flag::UnknownMedium => {
                write!(f, "the program cannot see on which medium this lies")
            }
            Flag::HostCached => write!(f, "the device is backed by the host's page cache"),
            Flag::NotPrimed => write!(
                f,
                "this run did not precondition the span; reads of unwritten flash can be faked"
            ),
            Flag::PartlyPrimed { primed_bytes, wanted_bytes } => {
                write!(
                    f,
                    "preconditioned {} % of {} before the time was up",
                    crate::units::significant(
                        *primed_bytes as f64 / (*wanted_bytes).max(1) as f64 * 100.0
                    ),
                    crate::units::Bytes(*wanted_bytes)
                )
            }
            Flag::SplitCommand { block_bytes, max_transfer_bytes } => write!(
                f,
                "{} is split into commands of {} and a rest; the link causes this dip, not the medium",
                crate::units::Bytes(*block_bytes),
                crate::units::Bytes(*max_transfer_bytes)
            ),
            Flag::SmallWriteBypass { ratio } => {
                write!(
                    f,
                    "small writes take a fast path: {}x faster than 16 KiB",
                    significant(*ratio)
                )
            }
            Flag::Debt { debt_ns } => write!(
                f,
                "the medium needed {} more to finish its writes; the figure includes it",
                Nanos(*debt_ns)
            ),
            Flag::MayNotLast { written_bytes } => {
                write!(
                    f,
                    "measured after {} of writes; a larger cache would hide the sustained rate",
                    crate::units::Bytes(*written_bytes)
                )
            }
            Flag::MayGetHot { bps, lasted_ns } => {
                write!(
                    f,
                    "measured on a cool medium: at {} for {} it may heat up and throttle after minutes",
                    BytesPerSecond(*bps),
                    Nanos(*lasted_ns)
                )
            }
            Flag::Transient { bound } => {
                write!(
                    f,
                    "its rate was still changing: the sustained rate is {} this; run it for longer",
                    bound.words()
                )
            }
            Flag::HostStoodStill { host_stall_ns, left_out } => {
                write!(
                    f,
                    "the host stood still for {}; {left_out} I/Os are left out of the latencies",
                    Nanos(*host_stall_ns)
                )
            }
            Flag::BusyHost { load_per_core } => {
                write!(f, "the host was busy (load {} per core)", significant(*load_per_core))
            }
            Flag::Throttled => write!(f, "throttled by heat"),
            Flag::Stalled { longest_ns } => write!(f, "one call took {}", Nanos(*longest_ns)),
            Flag::NotRestored { bytes, run, .. } => write!(
                f,
                "{} of data that was on the medium is not restored yet: insert the medium and type: flashmark restore {run}",
                crate::units::Bytes(*bytes)
            ),
            Flag::Note { text } => write!(f, "{text}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_in_flags_have_their_units() {
        for (flag, words) in [
            (
                Flag::NotConverged { relative_half_width: 0.123 },
                "not converged: the interval is still ±12.3 %; run it for longer",
            ),
            (
                Flag::NotConverged { relative_half_width: 4115.07 },
                "not converged: the interval is still wider than the figure; run it for longer",
            ),
            (
                Flag::HostLimited { mean_ns: 12_000 },
                "this machine was busy: each I/O waited about 12.0 us for a processor; the medium is at least this fast; run as root, or stop other work",
            ),
            (Flag::TooFewSamples { n: 7 }, "7 I/Os are too few for an interval; run it for longer"),
            (
                Flag::FasterThanLink { bps: 61e6, link_bps: 60e6 },
                "impossible: 61.0 MB/s over a link of 60.0 MB/s; a cache answered",
            ),
            (
                Flag::Sparse { hole_bytes: 4096 },
                "4 KiB of the file were never written; reading them does not touch the medium",
            ),
        ] {
            assert_eq!(flag.to_string(), words);
        }
    }
}
