//! Data elsewhere: a fake that gives its flash to what is written last takes it from data that
//! nobody overwrites, and a restore does not bring that back.

use std::hash::{DefaultHasher, Hash, Hasher};

use device::{Extent, Request};
use record::metric;

use super::Prober;
use crate::catalogue::capacity::places::stratified;

/// Places with data that are remembered, and the most that are read to find them.
const PLACES: usize = 256;
const MOST_READ: u64 = 1024;
/// Bytes that a fake gives flash at once, at the least.
const FLASH_BYTES: usize = 64 << 10;
/// Share of the cell's time for reading them: one part in this many.
const TIME_SHARE: u64 = 20;

impl Prober<'_, '_> {
    /// Remembers data all over the medium, before the first write. Places that read differently
    /// each time have none.
    pub fn remember_elsewhere(&mut self) {
        let most_ns = self.context.allotted_ns / TIME_SHARE;
        let mut random = self.context.random("elsewhere");
        let mut places = stratified(self.span, MOST_READ, self.block_bytes, &mut random);
        random.shuffle(&mut places);
        // The first MiB is spared, and mostly the oldest of all.
        let spared = (0..self.span.offset_bytes).step_by(FLASH_BYTES).collect::<Vec<_>>();
        places.splice(..0, spared);
        let started_ns = self.now_ns();
        for place in places {
            let is_late = self.now_ns() - started_ns > most_ns;
            if self.elsewhere.len() == PLACES || is_late || self.context.must_stop() {
                break;
            }
            let place = Extent::new(place, self.block_bytes);
            let data = self.transfer(Request::read(0, place.offset_bytes, place.bytes));
            let data = data.ok().filter(|data| data.iter().any(|byte| *byte != data[0]));
            self.elsewhere.extend(data.map(|data| (place, hash(&data))));
        }
        let mut again = std::mem::take(&mut self.elsewhere);
        again.retain(|(place, before)| self.hash_of(*place) == Some(*before));
        self.elsewhere = again;
    }

    /// Reads the places again, after the restore, and adds how many have other data.
    pub fn compare_elsewhere(&mut self) {
        if self.outcome.error.as_ref().is_some_and(|error| error.is_gone()) {
            return;
        }
        let places = std::mem::take(&mut self.elsewhere);
        let changed = |(place, before): &&(Extent, u64)| self.hash_of(*place) != Some(*before);
        let changed = places.iter().filter(changed).count();
        let (metrics, all) = (&mut self.outcome.cell.metrics, places.len());
        for (name, count) in [(metric::ELSEWHERE_PLACES, all), (metric::ELSEWHERE_CHANGED, changed)]
        {
            metrics.put(name, count as f64, all as u64);
        }
    }

    /// `None` if it cannot be read.
    fn hash_of(&mut self, place: Extent) -> Option<u64> {
        let data = self.transfer(Request::read(0, place.offset_bytes, place.bytes));
        data.ok().map(|data| hash(&data))
    }
}

fn hash(data: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    data.hash(&mut hasher);
    hasher.finish()
}
