//! Volatile write caches: writes are done before they are on flash, and a flush waits for that, or
//! lies. One kind passes every write on, the other combines writes to the same place.

use std::collections::{BTreeMap, VecDeque};

use device::Extent;

use crate::profile::spec;

/// What a cache keeps together: a single sector takes as much room.
const PAGE_BYTES: u64 = 4096;

fn held_bytes(bytes: u64) -> u64 {
    bytes.next_multiple_of(PAGE_BYTES)
}

/// What lies in the cache and when each piece of it will be on flash.
#[derive(Debug)]
pub(crate) struct WriteCache {
    size: u64,
    ns_per_byte: f64,
    command_ns: f64,
    honest: bool,
    /// In order of arrival: when it will be on flash, and its bytes.
    waiting: VecDeque<(u64, u64)>,
    dirty: u64,
}

impl WriteCache {
    pub(crate) fn new(cache: &spec::CacheSpec) -> WriteCache {
        WriteCache {
            size: cache.size.0,
            ns_per_byte: cache.rate.ns_per_byte(),
            command_ns: cache.command.0,
            honest: cache.honest,
            waiting: VecDeque::new(),
            dirty: 0,
        }
    }

    /// True if durable means durable.
    pub(crate) fn is_honest(&self) -> bool {
        self.honest
    }

    /// When a write that comes now has been taken: at once while there is room, else when enough
    /// has gone to flash.
    pub(crate) fn take(&mut self, now_ns: u64, bytes: u64) -> u64 {
        let mut room_ns = now_ns;
        let held = held_bytes(bytes);
        while let Some(&(on_flash_ns, waiting)) = self.waiting.front()
            && (on_flash_ns <= now_ns || self.dirty + held > self.size)
        {
            room_ns = room_ns.max(on_flash_ns);
            self.dirty -= waiting;
            self.waiting.pop_front();
        }
        self.dirty += held;
        room_ns + (self.command_ns + bytes as f64 * self.ns_per_byte) as u64
    }

    /// Drops what is not on flash yet, as when the medium goes away.
    pub(crate) fn forget(&mut self) {
        self.waiting.clear();
        self.dirty = 0;
    }

    /// The write that was just taken will be on flash at this time.
    pub(crate) fn goes_to_flash(&mut self, on_flash_ns: u64, bytes: u64) {
        self.waiting.push_back((on_flash_ns, held_bytes(bytes)));
    }
}

/// Pages that follow each other go to flash in one write of at most so many, aligned to as many.
const RUN_PAGES: u64 = 16;

/// A write cache in which a later write to the same place replaces the earlier one.
#[derive(Debug)]
pub(crate) struct CombiningCache {
    most_pages: usize,
    ns_per_byte: f64,
    command_ns: f64,
    honest: bool,
    /// Pages that are not on flash, and when each was written last, in turns.
    dirty: BTreeMap<u64, u64>,
    /// Pages by turn, the oldest first; an entry whose turn is not the page's last counts no more.
    by_age: VecDeque<(u64, u64)>,
    turns: u64,
}

impl CombiningCache {
    pub(crate) fn new(cache: &spec::CacheSpec) -> CombiningCache {
        CombiningCache {
            most_pages: (cache.size.0 / PAGE_BYTES).max(1) as usize,
            ns_per_byte: cache.rate.ns_per_byte(),
            command_ns: cache.command.0,
            honest: cache.honest,
            dirty: BTreeMap::new(),
            by_age: VecDeque::new(),
            turns: 0,
        }
    }

    /// True if durable means durable.
    pub(crate) fn is_honest(&self) -> bool {
        self.honest
    }

    /// What taking so many bytes costs where there is room, in nanoseconds.
    pub(crate) fn take_ns(&self, bytes: u64) -> f64 {
        self.command_ns + bytes as f64 * self.ns_per_byte
    }

    /// Puts a write into it.
    pub(crate) fn put(&mut self, place: Extent) {
        for page in place.offset_bytes / PAGE_BYTES..place.end().div_ceil(PAGE_BYTES) {
            self.turns += 1;
            self.dirty.insert(page, self.turns);
            self.by_age.push_back((page, self.turns));
        }
    }

    /// What has to go to flash now, as more lies in it than it holds.
    pub(crate) fn overflow(&mut self) -> Option<Extent> {
        (self.dirty.len() > self.most_pages).then(|| self.oldest()).flatten()
    }

    /// The oldest page and those beside it on the medium; they go to flash now.
    pub(crate) fn oldest(&mut self) -> Option<Extent> {
        let first = loop {
            let (page, turn) = self.by_age.pop_front()?;
            if self.dirty.get(&page) == Some(&turn) {
                break page;
            }
        };
        let base = first / RUN_PAGES * RUN_PAGES;
        let begin = (base..first)
            .rev()
            .take_while(|page| self.dirty.contains_key(page))
            .last()
            .unwrap_or(first);
        let pages = (begin..base + RUN_PAGES)
            .take_while(|page| self.dirty.remove(page).is_some())
            .count() as u64;
        Some(Extent::new(begin * PAGE_BYTES, pages * PAGE_BYTES))
    }

    /// Drops all pages that are not on flash yet, as when the medium goes away.
    pub(crate) fn forget(&mut self) {
        self.dirty.clear();
        self.by_age.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::units::{ByteSize, Rate, Time};

    #[test]
    fn what_is_written_again_goes_to_flash_once_and_the_oldest_goes_first() {
        let spec = spec::CacheSpec {
            size: ByteSize(4 * PAGE_BYTES),
            rate: Rate(1e9),
            command: Time(0.0),
            honest: false,
            combines: true,
        };
        let mut cache = CombiningCache::new(&spec);
        let page = |page| Extent::new(page * PAGE_BYTES, PAGE_BYTES);
        for number in [10, 20, 10, 30, 10, 40] {
            cache.put(page(number));
        }
        assert_eq!(cache.overflow(), None);
        cache.put(page(50));
        assert_eq!((cache.overflow(), cache.overflow()), (Some(page(20)), None));
        cache.put(page(31));
        let two = Extent::new(30 * PAGE_BYTES, 2 * PAGE_BYTES);
        assert_eq!(
            (cache.overflow(), cache.oldest(), cache.oldest(), cache.oldest(), cache.oldest()),
            (Some(two), Some(page(10)), Some(page(40)), Some(page(50)), None)
        );
    }
}
