//! The clock of what is done through the kernel's file interface: the same that real devices have.

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds on the raw monotonic clock, which no one sets and no time server bends
/// (docs/field/statistics.md#percentiles).
#[inline]
pub(super) fn now_ns() -> u64 {
    let time = clock_gettime(ClockId::MonotonicRaw);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
