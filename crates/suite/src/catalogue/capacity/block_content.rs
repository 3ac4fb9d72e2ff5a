//! Contents of blocks after writing, and conclusions from many of them. Pure functions.

use device::stamp::SectorVerdict;

/// Content of a block that was read back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockContent {
    /// The last data written there.
    Good,
    /// The same with a few wrong bits.
    Changed,
    /// Older data of this run for this block: the last write was accepted and not made.
    Stale,
    /// Data that this run wrote to another address: both addresses have the same flash.
    WrongAddress {
        /// The address it was written to.
        by_bytes: u64,
    },
    /// Nothing of this run.
    Lost,
    /// An error in writing or in reading.
    Unusable,
}

impl BlockContent {
    /// Content of a sector at `offset_bytes`, from its verdict.
    pub fn sector(offset_bytes: u64, verdict: SectorVerdict) -> BlockContent {
        match verdict {
            SectorVerdict::Good => BlockContent::Good,
            SectorVerdict::Changed { .. } => BlockContent::Changed,
            SectorVerdict::Overwritten { by_offset_bytes, .. }
                if by_offset_bytes == offset_bytes =>
            {
                BlockContent::Stale
            }
            SectorVerdict::Overwritten { by_offset_bytes, .. } => {
                BlockContent::WrongAddress { by_bytes: by_offset_bytes }
            }
            SectorVerdict::Corrupted | SectorVerdict::Zero | SectorVerdict::Blank => {
                BlockContent::Lost
            }
        }
    }

    /// The worse of two sectors of a block, the first of two that are as bad as each other.
    pub fn worse_of(self, other: BlockContent) -> BlockContent {
        let badness = |seen: BlockContent| match seen {
            BlockContent::Good => 0,
            BlockContent::Changed => 1,
            BlockContent::Stale => 2,
            BlockContent::WrongAddress { .. } => 3,
            BlockContent::Lost => 4,
            BlockContent::Unusable => 5,
        };
        if badness(other) > badness(self) { other } else { self }
    }

    /// True if there is flash behind this address. Data of another address is a proof too, if both
    /// are the same modulo the wrap distance.
    pub fn is_present(self, place_bytes: u64, wrap_bytes: Option<u64>) -> bool {
        match self {
            BlockContent::Good | BlockContent::Changed | BlockContent::Stale => true,
            BlockContent::WrongAddress { by_bytes } => wrap_bytes.is_some_and(|wrap_bytes| {
                place_bytes.abs_diff(by_bytes).is_multiple_of(wrap_bytes)
            }),
            BlockContent::Lost | BlockContent::Unusable => false,
        }
    }
}

/// Beginning of a lost tail in ordered places: the number of places before it, chosen so that as
/// few places as possible are on the wrong side, and the number of those. Of two equally good cuts
/// the later: scattered losses are damage, not a tail.
pub fn tail(present: &[bool]) -> (usize, usize) {
    let mut wrong = present.iter().filter(|present| **present).count();
    let mut best = (0, wrong);
    for (index, &present) in present.iter().enumerate() {
        wrong = if present { wrong - 1 } else { wrong + 1 };
        if wrong <= best.1 {
            best = (index + 1, wrong);
        }
    }
    best
}

/// The greatest common divisor of distances between addresses of the same flash: a multiple of the
/// wrap distance, and mostly the wrap distance itself.
pub fn common(distances: impl IntoIterator<Item = u64>) -> Option<u64> {
    fn gcd(a: u64, b: u64) -> u64 {
        if b == 0 { a } else { gcd(b, a % b) }
    }
    distances.into_iter().filter(|distance| *distance > 0).reduce(gcd)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_is_what_is_lost_to_the_end() {
        let cut = |marks: &str| tail(&marks.chars().map(|mark| mark == '+').collect::<Vec<_>>());
        assert_eq!(cut(""), (0, 0));
        assert_eq!(cut("++++"), (4, 0));
        assert_eq!(cut("----"), (0, 0));
        assert_eq!(cut("++--"), (2, 0));
        assert_eq!(cut("+-+++---"), (5, 1));
        assert_eq!(cut("++-+---"), (4, 1));
        assert_eq!(cut("++-+"), (4, 1), "a single loss is no tail");
        assert_eq!(cut("-+"), (2, 1));
    }

    proptest::proptest! {
        #[test]
        fn no_cut_is_better(present in proptest::collection::vec(proptest::bool::ANY, 0..40)) {
            let (at, wrong) = tail(&present);
            let cost = |cut: usize| present[..cut].iter().filter(|p| !**p).count() + present[cut..].iter().filter(|p| **p).count();
            assert_eq!(cost(at), wrong);
            assert!((0..=present.len()).all(|cut| cost(cut) > wrong || (cost(cut) == wrong && cut <= at)));
        }

        #[test]
        fn distances_share_their_module(wrap_bytes in 1u64..1 << 40, turns in proptest::collection::vec(1u64..64, 1..20)) {
            let shared = common(turns.iter().map(|turns| turns * wrap_bytes)).unwrap();
            assert!(shared.is_multiple_of(wrap_bytes));
            assert_eq!(common(turns.iter().chain(&[6, 35]).map(|turns| turns * wrap_bytes)), Some(wrap_bytes));
        }
    }

    #[test]
    fn data_of_another_address_proves_flash_only_where_addresses_fold() {
        let seen = BlockContent::WrongAddress { by_bytes: 4096 };
        assert!(!seen.is_present(8192, None));
        assert!(seen.is_present(4096 + 3 * 8192, Some(8192)));
        assert!(seen.is_present(0, Some(4096)));
        assert!(!seen.is_present(8192, Some(8192)));
    }
}
