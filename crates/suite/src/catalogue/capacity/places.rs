//! Places for reads and marks: at equal distances, or one in each part of a range.

use device::Extent;
use stats::Random;

use crate::offsets::bit_reversed;

/// Blocks at equal distances from a random place on: any range as long as the distance contains
/// one. Their order spreads any first few of them over the whole range, so that frequent copies are
/// found soon.
pub(super) fn evenly_spaced_blocks(
    range: Extent,
    stride_bytes: u64,
    block_bytes: u64,
    random: &mut Random,
) -> Vec<u64> {
    let stride = (stride_bytes / block_bytes).saturating_sub(1).max(1);
    let blocks = range.bytes / block_bytes;
    let first = random.below(stride);
    let count = blocks.saturating_sub(first).div_ceil(stride);
    bit_reversed(count).map(|at| range.offset_bytes + (first + at * stride) * block_bytes).collect()
}

/// One random block in each of so many equal parts of a range, in order.
pub(super) fn stratified(
    range: Extent,
    parts: u64,
    block_bytes: u64,
    random: &mut Random,
) -> Vec<u64> {
    let blocks = range.bytes / block_bytes;
    let bound =
        |part: u64| (u128::from(blocks) * u128::from(part) / u128::from(parts.max(1))) as u64;
    let place = |part: u64, random: &mut Random| {
        let (from, to) = (bound(part), bound(part + 1));
        (to > from).then(|| range.offset_bytes + (from + random.below(to - from)) * block_bytes)
    };
    (0..parts).filter_map(|part| place(part, random)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn nothing_as_long_as_the_combs_distance_is_missed(offset in 0u64..1 << 30, blocks in 1u64..1 << 20, stride in 2u64..1 << 12, at in 0.0f64..1.0, seed: u64) {
            let range = Extent::new(offset * 4096, blocks * 4096);
            let places = evenly_spaced_blocks(range, stride * 4096, 4096, &mut Random::for_purpose(seed, ""));
            assert!(places.iter().all(|place| range.contains(&Extent::new(*place, 4096))));
            assert_eq!(places.iter().collect::<std::collections::BTreeSet<_>>().len(), places.len());
            if stride < blocks {
                let from = range.offset_bytes + (at * (blocks - stride) as f64) as u64 * 4096;
                assert!(places.iter().any(|place| Extent::new(from, stride * 4096).contains(&Extent::new(*place, 4096))), "{from}");
            }
        }

        #[test]
        fn one_block_of_each_part_in_order(offset in 0u64..1 << 30, bytes in 0u64..1 << 32, parts in 0u64..300, seed: u64) {
            let range = Extent::new(offset * 512, bytes);
            let places = stratified(range, parts, 4096, &mut Random::for_purpose(seed, ""));
            assert!(places.iter().all(|place| range.contains(&Extent::new(*place, 4096))));
            assert!(places.windows(2).all(|pair| pair[0] < pair[1]));
            assert_eq!(places.len() as u64, parts.min(bytes / 4096));
        }
    }
}
