//! The yardstick on every chart: a 5400 rpm laptop disk. What is slower than that is no system
//! disk.

/// Random I/Os a second at small blocks (docs/field/published-figures.md#other-figures,
/// docs/field/ftl.md#profile-12: 90 over the 16 % of the span a system uses).
pub const DISK_IOPS: f64 = 90.0;
/// Sequential bytes a second, between 70 MB/s outside and 35 MB/s inside
/// (docs/field/ftl.md#profile-12).
pub const DISK_BPS: f64 = 50e6;
/// Time before the first byte of a random access: seek and half a turn, 11.1 ms (1 / 90 IOPS).
pub const DISK_ACCESS_NS: f64 = 11.1e6;
/// Its name in legends and sentences.
pub const DISK: &str = "5400 rpm laptop disk";

/// Time of one random access of `block_bytes`, in nanoseconds: 11.1 ms and the transfer at 50 MB/s.
pub fn disk_access_ns(block_bytes: f64) -> f64 {
    DISK_ACCESS_NS + block_bytes / DISK_BPS * 1e9
}

/// Bytes a second of random accesses of `block_bytes`, one after the other.
pub fn disk_random_bps(block_bytes: f64) -> f64 {
    block_bytes / disk_access_ns(block_bytes) * 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_agrees_with_the_published_90_iops_and_with_its_streaming_rate() {
        let iops = 1e9 / disk_access_ns(4096.0);
        assert!((iops - DISK_IOPS).abs() < 1.0, "{iops}");
        assert!(disk_random_bps(64e6) > 0.99 * DISK_BPS);
    }
}
