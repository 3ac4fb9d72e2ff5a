//! Clock for work through the kernel's file interface: the clock of the real devices.

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds on the raw monotonic clock, which nobody sets and no time server adjusts
/// (docs/field/statistics.md#percentiles).
#[inline]
pub(super) fn now_ns() -> u64 {
    let time = clock_gettime(ClockId::MonotonicRaw);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
