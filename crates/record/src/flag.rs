//! Caveats: results that are valid, but should be read with care. Each has an observation and
//! advice.

use serde::{Deserialize, Serialize};

use crate::Wait;
use crate::units::{BytesPerSecond, Iops, Nanos, SECOND_NS, significant};

/// Response time from which on a medium counts as hanging; our choice. Linux aborts a command after
/// 30 s (`/sys/block/*/device/timeout`), and tries it again.
pub const HANGS_NS: u64 = 10 * SECOND_NS;

/// A caveat about a cell's numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "flag", rename_all = "kebab-case")]
pub enum Flag {
    /// The interval is wider than requested.
    NotConverged {
        /// Half the width of the 95 % interval, divided by the figure.
        relative_half_width: f64,
    },
    /// There was no time to measure it again, so that the spread of repetitions is unknown.
    OneLook {
        /// Time that the whole run must last for that, in nanoseconds.
        needed_ns: u64,
    },
    /// Its rounds became slower or faster during the run: the medium or the host changed.
    Trend {
        /// Rate of the first rounds, in IOPS.
        from: f64,
        /// Rate of the last rounds, in IOPS.
        to: f64,
    },
    /// Other work on the host took the processor: part of the time of each I/O is waiting for it.
    HostLimited {
        /// Mean time that an I/O waited, in nanoseconds.
        mean_ns: u64,
    },
    /// A control group of the host limits reads or writes here (a container, a service).
    IoLimit {
        /// Kind of the limit.
        limit: IoLimitKind,
        /// Limit in bytes or requests a second.
        per_second: u64,
    },
    /// Too few I/Os for an interval.
    TooFewSamples {
        /// Number of I/Os.
        n: u64,
    },
    /// The rate was still changing at the end.
    Drifting {
        /// Largest minus smallest of the last windows, divided by their mean.
        range: f64,
        /// Change of the fitted line over those windows, divided by their mean.
        slope: f64,
    },
    /// Batches depend on their predecessors: the interval was widened for it.
    Autocorrelated {
        /// Lag-1 correlation of the batch means.
        lag1: f64,
    },
    /// Faster than the link can transfer: not the medium's figure.
    FasterThanLink {
        /// Rate of the cell, in bytes a second.
        bps: f64,
        /// Most that the link can transfer, in bytes a second.
        link_bps: f64,
    },
    /// Faster than memory can be copied: not the medium's figure.
    FasterThanMemory {
        /// Rate of the cell, in bytes a second.
        bps: f64,
        /// Rate of a copy in memory, in bytes a second.
        memory_bps: f64,
    },
    /// Some I/Os took no measurable time: they did not reach the medium.
    ZeroLatency {
        /// Number of I/Os that took 0 ns by the device's clock.
        n: u64,
    },
    /// Parts of the file have never been written; reading them touches no medium.
    Sparse {
        /// Bytes of the file that have no storage behind them.
        hole_bytes: u64,
    },
    /// The page cache answered reads or took writes.
    Cached,
    /// The file system compresses, which makes incompressible and other data differ.
    CompressedFilesystem,
    /// A memory file system: there is no medium.
    MemoryFilesystem,
    /// The kernel counted too few of the issued bytes on the medium: something before it answered,
    /// and the figure is not the medium's.
    NotThisMedium {
        /// Bytes that were issued in the direction that the cell is about.
        issued_bytes: u64,
        /// Bytes that the kernel counted on the medium meanwhile.
        counted_bytes: u64,
    },
    /// The kernel counted fewer I/Os on the medium than were issued one after another: something
    /// before it, such as a file system in user space, merged them in memory.
    Gathered {
        /// I/Os that were issued in the measured part.
        issued_ios: u64,
        /// I/Os that the kernel counted on the medium meanwhile.
        counted_ios: u64,
    },
    /// No block device is known for the target: it is on a pool, or layers that this process cannot
    /// see.
    UnknownMedium,
    /// The device holds its data in the memory of the host (a loop device over a file, through the
    /// page cache).
    HostCached,
    /// The run never wrote the span: a controller may answer reads of unwritten flash without
    /// accessing it.
    NotPrimed,
    /// Fewer bytes were preconditioned than requested, because time was up.
    PartlyPrimed {
        /// Bytes that were preconditioned.
        primed_bytes: u64,
        /// Bytes that should have been preconditioned.
        wanted_bytes: u64,
    },
    /// The block is larger than the largest command and not a multiple of it: the tail is a command
    /// of its own (docs/field/classic-tools.md#dd).
    SplitCommand {
        /// Bytes of one I/O.
        block_bytes: u64,
        /// Bytes of the largest command that goes to the medium in one piece.
        max_transfer_bytes: u64,
    },
    /// Small writes go to a faster but limited buffer: the rate fell, or 16 KiB are much slower
    /// (docs/field/statistics.md#sampling-random-writes).
    SmallWriteBypass {
        /// IOPS at this size divided by IOPS at 16 KiB.
        ratio: f64,
    },
    /// The medium still had work to do after the last write; the figure includes the time of that.
    Debt {
        /// Time of settling beyond one write, in nanoseconds.
        debt_ns: u64,
    },
    /// Writes were so fast that a cache may have taken them, and too few bytes were written to fill
    /// every possible cache: the figure is true for these bytes, and may not last.
    MayNotLast {
        /// Bytes that the run had written to the medium when this was measured.
        written_bytes: u64,
    },
    /// The rate warms a medium, and lasted too short a time to show it: the figure is that of a
    /// cool medium, and may not last.
    MayGetHot {
        /// Rate of the cell, in bytes a second.
        bps: f64,
        /// Time for which the rate lasted, in nanoseconds.
        lasted_ns: u64,
    },
    /// The medium had not reached a steady state, for instance because a cache still flushed
    /// earlier data: the figure is not a level, and has no interval.
    Transient {
        /// Side of the figure on which the level is.
        bound: Bound,
    },
    /// The host stalled while this was measured; I/Os that were in flight meanwhile are left out of
    /// latencies and stalls.
    #[serde(rename = "host-stood-still")]
    HostStalled {
        /// Time of all stalls together, in nanoseconds.
        #[serde(rename = "stood_still_ns")]
        host_stall_ns: u64,
        /// Number of I/Os that were in flight in one of them.
        left_out: u64,
    },
    /// The processor was busy with other work.
    BusyHost {
        /// Load average divided by the number of cores.
        load_per_core: f64,
    },
    /// Heat slowed the medium or the host.
    Throttled,
    /// A call took longer than any latency the histogram can hold or than a medium may take.
    Stalled {
        /// Time of the slowest I/O, in nanoseconds.
        longest_ns: u64,
    },
    /// The medium did not answer for some time.
    Waited(Wait),
    /// The run has not yet restored what it overwrote on the medium: the backup is in its
    /// directory.
    #[serde(rename = "not-put-back")]
    NotRestored {
        /// Bytes that are still to be restored.
        bytes: u64,
        /// Offset on the medium of the first byte that is still to be restored.
        first_offset_bytes: u64,
        /// Name of the run.
        run: String,
    },
    /// Any other caveat, in words.
    Note {
        /// The caveat, in one sentence for people.
        text: String,
    },
}

/// Quantity that a control group limits (`io.max`, `blkio.throttle.*`).
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
    /// All kinds of limits.
    pub const ALL: [IoLimitKind; 4] = [
        IoLimitKind::ReadBps,
        IoLimitKind::WriteBps,
        IoLimitKind::ReadIops,
        IoLimitKind::WriteIops,
    ];

    /// Direction in words: "reads" or "writes".
    pub fn direction(self) -> &'static str {
        match self {
            IoLimitKind::ReadBps | IoLimitKind::ReadIops => "reads",
            IoLimitKind::WriteBps | IoLimitKind::WriteIops => "writes",
        }
    }

    /// Limit in words: "2.00 MB/s", "500 IOPS".
    pub fn quantity(self, per_second: u64) -> String {
        match self {
            IoLimitKind::ReadBps | IoLimitKind::WriteBps => {
                BytesPerSecond(per_second as f64).to_string()
            }
            IoLimitKind::ReadIops | IoLimitKind::WriteIops => Iops(per_second as f64).to_string(),
        }
    }
}

/// Side of a figure on which the final level is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// The level is this figure or more.
    AtLeast,
    /// The level is this figure or less.
    AtMost,
}

impl Bound {
    /// Words before the figure: "at least" or "at most".
    pub fn words(self) -> &'static str {
        match self {
            Bound::AtLeast => "at least",
            Bound::AtMost => "at most",
        }
    }
}

impl Flag {
    /// Bound of a figure of a transient state; `None` for other flags.
    pub fn transient(&self) -> Option<Bound> {
        match self {
            Flag::Transient { bound } => Some(*bound),
            _ => None,
        }
    }

    /// True if the figure cannot be the medium's.
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
                    "{} over a link of {}; a cache answered",
                    BytesPerSecond(*bps),
                    BytesPerSecond(*link_bps)
                )
            }
            Flag::FasterThanMemory { bps, memory_bps } => {
                write!(
                    f,
                    "{}, but memory reaches {}; nothing was read from a medium",
                    BytesPerSecond(*bps),
                    BytesPerSecond(*memory_bps)
                )
            }
            Flag::ZeroLatency { n } => {
                write!(f, "{n} I/Os took no time and never reached a medium")
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
            Flag::HostStalled { host_stall_ns, left_out } => {
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
            Flag::Waited(wait) => write!(f, "{wait}"),
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
                "this machine was busy: each I/O waited about 12.0 µs for a processor; the medium is at least this fast; run as root, or stop other work",
            ),
            (Flag::TooFewSamples { n: 7 }, "7 I/Os are too few for an interval; run it for longer"),
            (
                Flag::FasterThanLink { bps: 61e6, link_bps: 60e6 },
                "61.0 MB/s over a link of 60.0 MB/s; a cache answered",
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
