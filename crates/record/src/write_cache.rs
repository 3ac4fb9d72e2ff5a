//! What writes that a cache takes look like: thresholds that tests plan by and that conclusions
//! judge by.

use crate::units::MIB;

/// A cache takes a single write in less time than this, and its bytes no more slowly than that;
/// where writes take longer, none took them.
const CACHED_NS: f64 = 3e6;
const CACHED_NS_PER_BYTE: f64 = 100.0;
/// A span smaller than this, in bytes, is what caches and cheats are made for, and a few open
/// allocation units hold most of what is written to it.
pub const WIDE_BYTES: u64 = 100 * MIB;

/// True if a cache may have taken single writes of `block_bytes` that took `mean_ns` each.
pub fn may_be_cached(mean_ns: f64, block_bytes: u64) -> bool {
    mean_ns < CACHED_NS + CACHED_NS_PER_BYTE * block_bytes as f64
}
