//! Volatile write caches: writes complete before they are on flash, and a flush waits for that, or
//! lies. One kind passes every write on, the other combines writes to the same place.

use std::collections::{BTreeMap, VecDeque};

use device::Extent;

use crate::profile::spec;

/// Unit of a cache in bytes: a single sector takes as much room.
const PAGE_BYTES: u64 = 4096;

fn held_bytes(bytes: u64) -> u64 {
    bytes.next_multiple_of(PAGE_BYTES)
}

/// Data in the cache, and the time at which each piece of it will be on flash.
#[derive(Debug)]
pub(crate) struct WriteCache {
    size: u64,
    ns_per_byte: f64,
    command_ns: f64,
    honest: bool,
    /// In order of arrival: the time in nanoseconds at which it will be on flash, and its bytes.
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

    /// True if a flush waits until the data is on flash.
    pub(crate) fn is_honest(&self) -> bool {
        self.honest
    }

    /// Completion time in nanoseconds of a write that comes now: at once while there is room,
    /// otherwise after enough data has gone to flash.
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

    /// Drops data that is not on flash yet, as when the medium is removed.
    pub(crate) fn forget(&mut self) {
        self.waiting.clear();
        self.dirty = 0;
    }

    /// Notes the time at which the last write will be on flash.
    pub(crate) fn goes_to_flash(&mut self, on_flash_ns: u64, bytes: u64) {
        self.waiting.push_back((on_flash_ns, held_bytes(bytes)));
    }
}

/// Most consecutive pages that go to flash in one write, aligned to as many.
const RUN_PAGES: u64 = 16;

/// A write cache in which a later write to the same place replaces the earlier one.
#[derive(Debug)]
pub(crate) struct CombiningCache {
    most_pages: usize,
    ns_per_byte: f64,
    command_ns: f64,
    honest: bool,
    /// Pages that are not on flash, each with the number of its last write.
    dirty: BTreeMap<u64, u64>,
    /// Pages by number of their write, the oldest first; an entry with another number than the
    /// page's last is ignored.
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

    /// True if a flush waits until the data is on flash.
    pub(crate) fn is_honest(&self) -> bool {
        self.honest
    }

    /// Time in nanoseconds to accept so many bytes while there is room.
    pub(crate) fn take_ns(&self, bytes: u64) -> f64 {
        self.command_ns + bytes as f64 * self.ns_per_byte
    }

    /// Adds a write to the cache.
    pub(crate) fn put(&mut self, place: Extent) {
        for page in place.offset_bytes / PAGE_BYTES..place.end().div_ceil(PAGE_BYTES) {
            self.turns += 1;
            self.dirty.insert(page, self.turns);
            self.by_age.push_back((page, self.turns));
        }
    }

    /// Oldest data, which must go to flash now; `None` while the cache is not over its size.
    pub(crate) fn overflow(&mut self) -> Option<Extent> {
        (self.dirty.len() > self.most_pages).then(|| self.oldest()).flatten()
    }

    /// Removes the oldest page and its neighbours on the medium; they go to flash now.
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

    /// Drops all pages that are not on flash yet, as when the medium is removed.
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
    fn rewrites_reach_the_flash_once_oldest_first() {
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
