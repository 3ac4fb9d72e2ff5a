//! Thresholds of writes that a cache takes, for the plans of tests and for conclusions.

use crate::units::MIB;

/// Bound on the time of a single write that a cache takes: these nanoseconds, and the next constant
/// for each byte. Slower writes reached flash.
const CACHED_NS: f64 = 3e6;
const CACHED_NS_PER_BYTE: f64 = 100.0;
/// Smallest span, in bytes, that is not called small. Caches and cheats are made for smaller ones,
/// and a few open allocation units hold most of what is written to them.
pub const WIDE_BYTES: u64 = 100 * MIB;

/// True if a cache may have taken single writes of `block_bytes` that took `mean_ns` each.
pub fn may_be_cached(mean_ns: f64, block_bytes: u64) -> bool {
    mean_ns < CACHED_NS + CACHED_NS_PER_BYTE * block_bytes as f64
}
