//! Ranges whose old data was backed up before the probe overwrote it.
//!
//! Every byte is read right before the first write to its address, and restored in the reverse
//! order. That is exact also on media whose addresses fold: a place beyond the real end is read
//! through the same folding as it is written, so the data read there before the first write is the
//! data that the write destroys; if another address had destroyed it already, that one was read
//! earlier and is restored later. Addresses without flash hold no data and cannot be restored. A
//! medium that reads from other places than it writes to would break this; no such kind is known.
//!
//! This module knows only the ranges; the data itself goes to the [`Backup`](crate::Backup).

use std::collections::BTreeMap;

use device::Extent;

use crate::backup::PIECE_BYTES;

/// Ranges that are backed up.
#[derive(Debug, Default)]
pub struct BackedUp {
    /// Ranges that were read or given up: first byte and end. They do not touch.
    known: BTreeMap<u64, u64>,
    bytes: u64,
    most_bytes: u64,
}

impl BackedUp {
    /// An empty set that keeps at most so many bytes.
    pub fn new(most_bytes: u64) -> BackedUp {
        BackedUp { most_bytes, ..BackedUp::default() }
    }

    /// Bytes that are kept.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// True if so many more bytes can be kept.
    pub fn has_room_for(&self, bytes: u64) -> bool {
        self.bytes.saturating_add(bytes) <= self.most_bytes
    }

    /// True if no part of a range was read: nothing was written there.
    pub fn knows_nothing_of(&self, range: Extent) -> bool {
        let missing: u64 = self.missing(range).iter().map(|place| place.bytes).sum();
        missing == range.bytes
    }

    /// Parts of a range that were not read yet, in pieces.
    pub fn missing(&self, range: Extent) -> Vec<Extent> {
        let mut missing = Vec::new();
        let mut at = range.offset_bytes;
        let before = self.known.range(..=at).next_back().map(|(_, end)| *end);
        at = at.max(before.unwrap_or(0));
        for (start, end) in self.known.range(at..range.end().max(at)) {
            missing.extend(pieces(at, *start));
            at = *end;
        }
        missing.extend(pieces(at, range.end()));
        missing
    }

    /// Adds a missing piece that is kept now.
    pub fn take(&mut self, place: Extent) {
        self.bytes += place.bytes;
        self.know(place);
    }

    fn know(&mut self, range: Extent) {
        let (mut start, mut end) = (range.offset_bytes, range.end());
        if let Some((&before, &until)) = self.known.range(..=start).next_back()
            && until >= start
        {
            (start, end) = (before, end.max(until));
        }
        while let Some((&after, &until)) = self.known.range(start..=end).next() {
            end = end.max(until);
            self.known.remove(&after);
        }
        self.known.insert(start, end);
    }
}

fn pieces(from: u64, to: u64) -> impl Iterator<Item = Extent> {
    (from..to.max(from))
        .step_by(PIECE_BYTES as usize)
        .map(move |at| Extent::new(at, PIECE_BYTES.min(to - at)))
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn nothing_is_read_twice_and_nothing_is_left_out(ranges in proptest::collection::vec((0u64..100, 0u64..30), 1..30)) {
            let mut keep = BackedUp::new(u64::MAX);
            let mut known = [false; 200];
            for (at, bytes) in ranges {
                let missing = keep.missing(Extent::new(at, bytes));
                for place in &missing {
                    for byte in place.offset_bytes..place.end() {
                        assert!(!std::mem::replace(&mut known[byte as usize], true), "{byte} is read twice");
                    }
                    keep.take(*place);
                }
                assert!((at..at + bytes).all(|byte| known[byte as usize]));
            }
            assert_eq!(keep.bytes(), known.iter().filter(|known| **known).count() as u64);
        }
    }

    #[test]
    fn long_ranges_are_kept_in_pieces() {
        let keep = BackedUp::new(3 << 20);
        let lengths: Vec<u64> = keep
            .missing(Extent::new(512, 2 * PIECE_BYTES + 512))
            .iter()
            .map(|place| place.bytes)
            .collect();
        assert_eq!(lengths, [PIECE_BYTES, PIECE_BYTES, 512]);
        assert!(keep.has_room_for(3 << 20) && !keep.has_room_for((3 << 20) + 1));
    }
}
