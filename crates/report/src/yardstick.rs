//! The yardstick on every chart: a 5400 rpm laptop disk. A slower medium is not suitable for a
//! system.

pub use record::figures::{DISK_BPS, DISK_IOPS};

/// Time before the first byte of a random access: seek and half a revolution, 11.1 ms (1 / 90
/// IOPS).
pub const DISK_ACCESS_NS: f64 = 11.1e6;
/// Its name in legends and sentences.
pub const DISK: &str = "5400 rpm laptop disk";

/// Time of one random access of `block_bytes`, in nanoseconds: 11.1 ms and the transfer at 50 MB/s.
pub fn disk_access_ns(block_bytes: f64) -> f64 {
    DISK_ACCESS_NS + block_bytes / DISK_BPS * 1e9
}

/// Bytes per second of random accesses of `block_bytes`, one after the other.
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
