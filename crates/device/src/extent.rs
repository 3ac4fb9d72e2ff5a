//! Ranges of bytes.

/// A range of bytes on a medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Extent {
    /// First byte of the range, counted from the beginning of the medium.
    pub offset_bytes: u64,
    /// Length of the range in bytes.
    pub bytes: u64,
}

impl Extent {
    /// The range from `offset_bytes`, `bytes` long.
    pub fn new(offset_bytes: u64, bytes: u64) -> Extent {
        Extent { offset_bytes, bytes }
    }

    /// First byte after it; saturates at the end of the address space.
    pub fn end(&self) -> u64 {
        self.offset_bytes.saturating_add(self.bytes)
    }

    /// True if `other` is inside.
    pub fn contains(&self, other: &Extent) -> bool {
        other.offset_bytes >= self.offset_bytes
            && other.offset_bytes.checked_add(other.bytes).is_some_and(|end| end <= self.end())
    }

    /// True if they share a byte.
    pub fn overlaps(&self, other: &Extent) -> bool {
        self.offset_bytes < other.end() && other.offset_bytes < self.end()
    }
}

/// A set of ranges in ascending order that neither overlap nor touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extents(Vec<Extent>);

impl Extents {
    /// The union of ranges.
    pub fn of(ranges: impl IntoIterator<Item = Extent>) -> Extents {
        let mut sorted: Vec<Extent> =
            ranges.into_iter().filter(|extent| extent.bytes > 0).collect();
        sorted.sort_by_key(|extent| extent.offset_bytes);
        let mut merged: Vec<Extent> = Vec::with_capacity(sorted.len());
        for extent in sorted {
            match merged.last_mut() {
                Some(last) if extent.offset_bytes <= last.end() => {
                    last.bytes = last.end().max(extent.end()) - last.offset_bytes
                }
                _ => merged.push(extent),
            }
        }
        Extents(merged)
    }

    /// True if the whole range is inside the set. Always false for an empty range.
    pub fn contain(&self, range: &Extent) -> bool {
        let after = self.0.partition_point(|extent| extent.offset_bytes <= range.offset_bytes);
        range.bytes > 0 && after > 0 && self.0[after - 1].contains(range)
    }

    /// The ranges in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = &Extent> {
        self.0.iter()
    }

    /// Sum of the lengths.
    pub fn total_bytes(&self) -> u64 {
        self.0.iter().map(|extent| extent.bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extents(ranges: &[(u64, u64)]) -> Extents {
        Extents::of(ranges.iter().map(|&(offset, bytes)| Extent::new(offset, bytes)))
    }

    #[test]
    fn ranges_overlap_where_they_share_a_byte() {
        for (a, b, shared) in [
            ((0, 4), (4, 4), false),
            ((0, 5), (4, 4), true),
            ((2, 1), (0, 8), true),
            ((9, 3), (2, 7), false),
        ] {
            let [a, b] = [a, b].map(|(offset, bytes)| Extent::new(offset, bytes));
            assert_eq!([a.overlaps(&b), b.overlaps(&a)], [shared; 2], "{a:?} {b:?}");
        }
    }

    #[test]
    fn ranges_that_touch_are_one() {
        assert_eq!(
            extents(&[(8, 4), (0, 4), (4, 4), (20, 2), (21, 5)]),
            extents(&[(0, 12), (20, 6)])
        );
        assert_eq!(extents(&[(4, 4), (20, 2)]).total_bytes(), 6);
    }

    #[test]
    fn an_empty_range_is_not_kept() {
        assert_eq!(extents(&[(5, 0)]), Extents::default());
    }

    proptest::proptest! {
        /// The set compared with the simplest model: one flag per byte.
        #[test]
        fn contains_exactly_what_was_put_in(
            ranges in proptest::collection::vec((0u64..64, 0u64..16), 0..6),
            offset in 0u64..80, bytes in 0u64..20,
        ) {
            let mut allowed = [false; 128];
            for &(offset, bytes) in &ranges {
                (offset..offset + bytes).for_each(|byte| allowed[byte as usize] = true);
            }
            let expected = bytes > 0 && (offset..offset + bytes).all(|byte| allowed[byte as usize]);
            assert_eq!(extents(&ranges).contain(&Extent::new(offset, bytes)), expected);
        }

        #[test]
        fn a_range_past_the_end_of_the_address_space_is_outside(offset in u64::MAX - 100..u64::MAX) {
            assert!(!extents(&[(0, u64::MAX)]).contain(&Extent::new(offset, 101)));
        }
    }
}
