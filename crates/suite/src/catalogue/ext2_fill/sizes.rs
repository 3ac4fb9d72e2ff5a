//! Sizes of files.

use stats::Random;

/// Files of a Debian 12 root (142,022 of them): percent of the files that are larger than the bound
/// before and at most this large, in bytes (docs/field/ext2.md#filling-a-file-system).
const DEBIAN: [(f64, f64); 16] = [
    (512.0, 15.89),
    (1024.0, 14.95),
    (2048.0, 19.80),
    (4096.0, 14.71),
    (8192.0, 10.41),
    (16384.0, 8.78),
    (32768.0, 6.66),
    (65536.0, 4.06),
    (131072.0, 2.45),
    (262144.0, 1.10),
    (524288.0, 0.56),
    (1048576.0, 0.29),
    (2097152.0, 0.12),
    (4194304.0, 0.10),
    (8388608.0, 0.04),
    (16777216.0, 0.05),
];

/// The size of a file in bytes: a bin by its share, and log-uniform within it. The few that are
/// larger than all bins have the last bound.
pub fn file_bytes(random: &mut Random) -> u64 {
    let mut left = random.unit() * 100.0;
    let mut lower = 1.0;
    for (upper, percent) in DEBIAN {
        if left < percent {
            return (lower * f64::powf(upper / lower, random.unit())).ceil() as u64;
        }
        left -= percent;
        lower = upper;
    }
    lower as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published mean of 51,379 bytes depends on the few files beyond 16 MiB, which are cut
    /// here, so it is not reached.
    #[test]
    fn sizes_are_those_of_a_linux_root() {
        let mut random = Random::for_purpose(1, "sizes");
        let mut sizes: Vec<u64> = (0..200_000).map(|_| file_bytes(&mut random)).collect();
        sizes.sort_unstable();
        let at = |share: f64| sizes[(share * sizes.len() as f64) as usize] as f64;
        for (share, published) in
            [(0.5, 1988.0), (0.75, 7929.0), (0.90, 28209.0), (0.95, 62187.0), (0.99, 327459.0)]
        {
            assert!(
                (at(share) / published - 1.0).abs() < 0.15,
                "{share}: {} instead of {published}",
                at(share)
            );
        }
        let mean = sizes.iter().sum::<u64>() as f64 / sizes.len() as f64;
        assert!((30_000.0..60_000.0).contains(&mean), "{mean}");
        assert!(sizes[0] >= 1 && sizes[sizes.len() - 1] <= 16 << 20);
    }
}
