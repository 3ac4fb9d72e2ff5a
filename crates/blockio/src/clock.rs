//! The clock of real devices, and of whoever watches them.

use rustix::thread::{NanosleepRelativeResult, nanosleep};
use rustix::time::{ClockId, Timespec, clock_gettime};

const NS_PER_S: u64 = 1_000_000_000;

/// Nanoseconds on the raw monotonic clock, which no one sets and no time server bends
/// (docs/field/statistics.md#percentiles).
#[inline]
pub fn now_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::MonotonicRaw))
}

/// Processor time of this process, all threads, user and system.
pub(crate) fn cpu_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::ProcessCPUTime))
}

#[inline]
fn nanoseconds(time: Timespec) -> u64 {
    time.tv_sec as u64 * NS_PER_S + time.tv_nsec as u64
}

/// The other way round.
pub(crate) fn timespec(ns: u64) -> Timespec {
    Timespec { tv_sec: (ns / NS_PER_S) as _, tv_nsec: (ns % NS_PER_S) as _ }
}

/// Sleeps for so long; less if a signal arrives.
pub(crate) fn sleep(ns: u64) {
    match nanosleep(&timespec(ns)) {
        NanosleepRelativeResult::Ok
        | NanosleepRelativeResult::Interrupted(_)
        | NanosleepRelativeResult::Err(_) => {}
    }
}
