//! A sample of the last writes of distinct places, to be read back.

use record::Content;

use crate::{Completion, Extent, Op, Request};

/// Bytes of a place: the last write to it is the one that counts.
pub const PLACE_BYTES: u64 = 4096;

/// Places that are kept for each that will be drawn, at least, and for few of them: later writes
/// overwrite many. 16384 places fit into the cache of a processor, in which each write looks for
/// its own.
const SPARE: usize = 4;
const LEAST: usize = 1 << 14;

/// A write whose data should be on the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoggedWrite {
    /// The part of it to be read: all of it within one place.
    pub part: Extent,
    /// Pass of its data.
    pub pass: u32,
    /// Bytes written up to its end.
    pub written_bytes: u64,
}

/// No place: no hash is as large as this.
const NOWHERE: (u64, LoggedWrite) = (
    u64::MAX,
    LoggedWrite { part: Extent { offset_bytes: 0, bytes: 0 }, pass: 0, written_bytes: 0 },
);

/// A uniform sample of the last writes of distinct places, in bounded memory.
///
/// Of each write one place of [`PLACE_BYTES`], drawn from its bounds, stands for all of it, so that
/// a large write counts as much as a small one. The places with small keyed hashes are kept; the
/// limit is halved whenever there are too many. So whether a write is among them depends on nothing
/// but its place. A later
/// write that touches the place removes it, and is kept in its stead if the place stands for it
/// too. The same data once more changes nothing: whether it was written twice cannot be seen. Two
/// writes in flight to one place leave one or the other, so neither is kept.
#[derive(Clone, Debug)]
pub struct WriteLog {
    key: u64,
    /// Hashes from here on are not kept.
    limit: u64,
    /// The hashes of places and their last writes, of no bytes if these are not known. A place is
    /// at its hash, or behind the places that came first.
    table: Vec<(u64, LoggedWrite)>,
    places: usize,
    most: usize,
    /// The write in flight of each slot, empty if there is none.
    in_flight: Vec<Extent>,
    written_bytes: u64,
    /// Bytes that were written by the last draw.
    drawn_at_bytes: u64,
    is_on: bool,
}

impl WriteLog {
    /// A log from which so many writes will be drawn; the seed decides which.
    pub fn new(seed: u64, wanted: usize) -> WriteLog {
        let most = wanted.min(1 << 20) * SPARE;
        WriteLog::of_at_most(seed, most.next_power_of_two().max(LEAST))
    }

    fn of_at_most(seed: u64, most: usize) -> WriteLog {
        WriteLog {
            key: mixed(seed),
            limit: u64::MAX,
            table: vec![NOWHERE; 2 * most.next_power_of_two()],
            places: 0,
            most,
            in_flight: Vec::new(),
            written_bytes: 0,
            drawn_at_bytes: 0,
            is_on: true,
        }
    }

    /// Begins or ends to add writes. What later writes overwrite is removed in any case.
    pub fn set_on(&mut self, is_on: bool) {
        self.is_on = is_on;
    }

    /// Bytes written so far.
    pub fn written_bytes(&self) -> u64 {
        self.written_bytes
    }

    /// Notes a write or discard that was submitted.
    #[inline]
    pub(crate) fn submitted(&mut self, request: &Request) {
        let range = Extent::new(request.offset_bytes, request.length_bytes);
        let pass = request.pass.filter(|_| {
            self.is_on && request.op == Op::Write && request.content == Content::Incompressible
        });
        self.written_bytes += if request.op == Op::Write { range.bytes } else { 0 };
        let places = places(range);
        let hash = self.hash(places.start);
        let drawn = (u128::from(hash as u32) * u128::from(places.end - places.start)) >> 32;
        let stands = pass.map(|pass| (places.start + drawn as u64, pass));
        if places.end - places.start == 1 {
            if hash < self.limit {
                self.touch(range, places.start, hash, stands);
            }
        } else {
            self.touch_all(range, stands);
        }
        let slot = request.slot as usize;
        if slot >= self.in_flight.len() {
            self.in_flight.resize(slot + 1, Extent::new(0, 0));
        }
        self.in_flight[slot] = range;
    }

    /// Notes completions; nothing is known of what a failed write left.
    #[inline]
    pub(crate) fn completed(&mut self, done: &[Completion]) {
        for completion in done {
            let Some(place) = self.in_flight.get_mut(completion.slot as usize) else { continue };
            let place = std::mem::replace(place, Extent::new(0, 0));
            if completion.result.is_err() {
                self.forget(place);
            }
        }
    }

    /// Forgets all writes in flight, whose ends nobody will see.
    pub(crate) fn abandon(&mut self) {
        std::mem::take(&mut self.in_flight).into_iter().for_each(|place| self.forget(place));
    }

    /// Forgets what others may have written.
    pub fn forget(&mut self, range: Extent) {
        self.touch_all(range, None);
    }

    /// Removes a sample of so many writes, the oldest first, and tells how many it was drawn from
    /// that no earlier one was: exactly as long as all were kept, then estimated from the share of
    /// hashes that are.
    pub fn draw(&mut self, wanted: usize) -> (Vec<LoggedWrite>, f64) {
        let share = self.limit as f64 / u64::MAX as f64;
        let last = std::mem::replace(&mut self.drawn_at_bytes, self.written_bytes);
        let mut known: Vec<&mut (u64, LoggedWrite)> =
            self.table.iter_mut().filter(|(_, write)| write.part.bytes > 0).collect();
        let new = known.iter().filter(|(_, write)| write.written_bytes > last).count();
        let population = new as f64 / share;
        known.sort_unstable_by_key(|(hash, _)| *hash);
        let take = |(_, write): &mut (u64, LoggedWrite)| std::mem::replace(write, NOWHERE.1);
        let mut drawn: Vec<LoggedWrite> = known.into_iter().take(wanted).map(take).collect();
        drawn.sort_by_key(|write| write.written_bytes);
        (drawn, population)
    }

    fn touch_all(&mut self, range: Extent, stands: Option<(u64, u32)>) {
        let places = if range.bytes == 0 { return } else { places(range) };
        if stands.is_none() && places.end - places.start > self.table.len() as u64 {
            let all = whole(&places);
            let is_inside = |(_, write): &&mut (u64, LoggedWrite)| write.part.overlaps(&all);
            return self
                .table
                .iter_mut()
                .filter(is_inside)
                .for_each(|(_, write)| *write = NOWHERE.1);
        }
        for place in places {
            let hash = self.hash(place);
            if hash < self.limit {
                self.touch(range, place, hash, stands);
            }
        }
    }

    /// Notes that a range changed a place whose hash is kept.
    fn touch(&mut self, range: Extent, place: u64, hash: u64, stands: Option<(u64, u32)>) {
        let all = whole(&(place..place + 1));
        let is_alone = || !self.in_flight.iter().any(|other| other.overlaps(&all));
        let at = self.find(hash);
        let is_known = self.table[at].0 == hash;
        let Some((_, pass)) = stands.filter(|(at, _)| *at == place && is_alone()) else {
            if is_known {
                self.table[at].1 = NOWHERE.1;
            }
            return;
        };
        let start = range.offset_bytes.max(all.offset_bytes);
        let part = Extent::new(start, range.end().min(all.end()) - start);
        let before = &self.table[at].1;
        if (before.part, before.pass) != (part, pass) {
            self.table[at] = (hash, LoggedWrite { part, pass, written_bytes: self.written_bytes });
            self.places += usize::from(!is_known);
        }
        while self.places > self.most {
            self.halve();
        }
    }

    /// Where this hash is in the table, or would be.
    #[inline]
    fn find(&self, hash: u64) -> usize {
        let mask = self.table.len() - 1;
        let mut at = hash as usize & mask;
        while ![hash, NOWHERE.0].contains(&self.table[at].0) {
            at = (at + 1) & mask;
        }
        at
    }

    /// Keeps half of the places.
    fn halve(&mut self) {
        self.limit /= 2;
        self.places = 0;
        let empty = vec![NOWHERE; self.table.len()];
        for (hash, write) in std::mem::replace(&mut self.table, empty) {
            if hash < self.limit && write.part.bytes > 0 {
                let at = self.find(hash);
                self.table[at] = (hash, write);
                self.places += 1;
            }
        }
    }

    #[inline]
    fn hash(&self, place: u64) -> u64 {
        mixed(place ^ self.key)
    }
}

/// Numbers of the places that a range touches.
fn places(range: Extent) -> std::ops::Range<u64> {
    range.offset_bytes / PLACE_BYTES..range.end().div_ceil(PLACE_BYTES)
}

/// The bytes of these places.
fn whole(places: &std::ops::Range<u64>) -> Extent {
    Extent::new(places.start * PLACE_BYTES, (places.end - places.start).saturating_mul(PLACE_BYTES))
}

/// A permutation of 64-bit values without visible structure (the finaliser of SplitMix64).
#[inline]
fn mixed(x: u64) -> u64 {
    let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn write(place: u64, sectors: u64, pass: u32) -> Request {
        Request { pass: Some(pass), ..Request::write(0, place * PLACE_BYTES, sectors * 512) }
    }

    fn done(log: &mut WriteLog, request: &Request) {
        log.submitted(request);
        log.completed(&[Completion {
            slot: request.slot,
            submitted_ns: 0,
            completed_ns: 1,
            result: Ok(()),
        }]);
    }

    #[test]
    fn of_a_place_the_last_write_counts() {
        let mut log = WriteLog::new(1, 100);
        for request in [write(1, 8, 1), write(2, 8, 1), write(1, 8, 2), write(3, 4, 9)] {
            done(&mut log, &request);
        }
        let of = |log: &WriteLog| -> Vec<(u64, u64, u32)> {
            let (drawn, population) = log.clone().draw(100);
            assert_eq!(drawn.len() as f64, population);
            drawn.iter().map(|w| (w.part.offset_bytes / 4096, w.part.bytes, w.pass)).collect()
        };
        assert_eq!(of(&log), [(2, 4096, 1), (1, 4096, 2), (3, 2048, 9)]);
        // The same data again, without a stamp, and what another program wrote.
        done(&mut log, &write(2, 8, 1));
        assert_eq!(of(&log)[0], (2, 4096, 1));
        done(&mut log, &Request { content: Content::Zeros, ..write(2, 1, 4) });
        log.forget(Extent::new(3 * 4096 + 1024, 1 << 40));
        assert_eq!(of(&log), [(1, 4096, 2)]);
        log.set_on(false);
        done(&mut log, &write(7, 8, 1));
        assert_eq!(of(&log), [(1, 4096, 2)]);
        assert_eq!(log.written_bytes(), 5 * 4096 + 2048 + 512);
    }

    #[test]
    fn of_two_writes_in_flight_to_a_place_and_of_a_failed_one_nothing_is_known() {
        let mut log = WriteLog::new(1, 100);
        log.submitted(&write(1, 8, 1));
        log.submitted(&Request { slot: 1, ..write(1, 8, 2) });
        log.submitted(&Request { slot: 2, ..write(4, 8, 2) });
        log.submitted(&Request { slot: 3, ..write(5, 8, 2) });
        let failed = crate::IoError::general(crate::IoErrorKind::Medium, "no");
        let completion =
            |slot, result| Completion { slot, submitted_ns: 0, completed_ns: 1, result };
        log.completed(&[completion(2, Err(failed)), completion(0, Ok(())), completion(1, Ok(()))]);
        assert_eq!(log.clone().draw(100).1, 1.0);
        log.abandon();
        assert_eq!(log.draw(100).1, 0.0);
    }

    proptest::proptest! {
        /// The sample compared with a map of all places.
        #[test]
        fn it_is_what_a_full_map_gives(
            seed: u64,
            steps in proptest::collection::vec((0u64..4000, 1u64..600, proptest::bool::ANY), 0..300),
        ) {
            let mut log = WriteLog::of_at_most(seed, 32);
            let mut map: BTreeMap<u64, LoggedWrite> = BTreeMap::new();
            let mut written_bytes = 0;
            for (pass, (sector, sectors, is_stamped)) in (0..).zip(steps) {
                let range = Extent::new(sector * 512, sectors * 512);
                done(&mut log, &Request {
                    pass: is_stamped.then_some(pass),
                    ..Request::write(0, range.offset_bytes, range.bytes)
                });
                written_bytes += range.bytes;
                let places = places(range);
                map.retain(|place, _| !places.contains(place));
                let n = u128::from(places.end - places.start);
                let drawn = (u128::from(log.hash(places.start) as u32) * n) >> 32;
                let stands = places.start + drawn as u64;
                if is_stamped {
                    let all = whole(&(stands..stands + 1));
                    let start = range.offset_bytes.max(all.offset_bytes);
                    let part = Extent::new(start, range.end().min(all.end()) - start);
                    map.insert(stands, LoggedWrite { part, pass, written_bytes });
                }
            }
            let mut expected: Vec<(u64, LoggedWrite)> =
                map.into_iter().map(|(place, write)| (log.hash(place), write)).collect();
            expected.retain(|(hash, _)| *hash < log.limit);
            expected.sort_by_key(|(hash, _)| *hash);
            proptest::prop_assert!(expected.len() <= 32);
            let mut expected: Vec<LoggedWrite> =
                expected.into_iter().take(8).map(|(_, write)| write).collect();
            expected.sort_by_key(|write| write.written_bytes);
            proptest::prop_assert_eq!(&log.draw(8).0, &expected);
            proptest::prop_assert!(log.draw(8).0.iter().all(|write| !expected.contains(write)));
        }
    }

    /// Large writes are drawn as often as small ones, and how many there were is known to a few
    /// percent.
    #[test]
    fn it_is_uniform_over_writes() {
        let (mut large, mut drawn) = (0, 0);
        for seed in 0..40 {
            let mut log = WriteLog::of_at_most(seed, 1000);
            (0..5000).for_each(|n| done(&mut log, &write(n * 256, 2048, 0)));
            (0..5000).for_each(|n| done(&mut log, &write(2_000_000 + n, 8, 0)));
            let (sample, population) = log.draw(250);
            assert!((8_500.0..11_500.0).contains(&population), "{population}");
            large +=
                sample.iter().filter(|write| write.part.offset_bytes < 2_000_000 * 4096).count();
            drawn += sample.len();
        }
        assert!((large as f64 / drawn as f64 - 0.5).abs() < 0.02, "{large} of {drawn}");
    }
}
