//! A volatile write cache: writes are done before they are on flash, and a flush waits for that, or lies.

use std::collections::VecDeque;

use crate::profile::spec;

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
    pub(crate) fn new(cache: &spec::Cache) -> WriteCache {
        WriteCache {
            size: cache.size.0,
            ns_per_byte: cache.rate.ns_per_byte(),
            command_ns: cache.command.0,
            honest: cache.honest,
            waiting: VecDeque::new(),
            dirty: 0,
        }
    }

    /// Whether durable means durable.
    pub(crate) fn is_honest(&self) -> bool {
        self.honest
    }

    /// When a write that comes now has been taken: at once while there is room, else when enough has gone to flash.
    pub(crate) fn take(&mut self, now_ns: u64, bytes: u64) -> u64 {
        let mut room_ns = now_ns;
        while let Some(&(on_flash_ns, waiting)) = self.waiting.front()
            && (on_flash_ns <= now_ns || self.dirty + bytes > self.size)
        {
            room_ns = room_ns.max(on_flash_ns);
            self.dirty -= waiting;
            self.waiting.pop_front();
        }
        self.dirty += bytes;
        room_ns + (self.command_ns + bytes as f64 * self.ns_per_byte) as u64
    }

    /// Loses everything.
    pub(crate) fn forget(&mut self) {
        self.waiting.clear();
        self.dirty = 0;
    }

    /// The write that was just taken will be on flash at this time.
    pub(crate) fn goes_to_flash(&mut self, on_flash_ns: u64, bytes: u64) {
        self.waiting.push_back((on_flash_ns, bytes));
    }
}
