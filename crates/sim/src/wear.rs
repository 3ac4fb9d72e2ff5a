//! Age: bad places, weak places, writes that slow down with every byte.

use crate::profile::spec;
use crate::rng::mix;

/// Bad and weak places. They belong to the unit, so they do not depend on the order of I/O.
#[derive(Debug)]
pub(crate) struct Wear {
    unit: u64,
    block: u64,
    bad_share: f64,
    weak_share: f64,
    retries_ns: f64,
    slower_per_byte: f64,
    written: f64,
}

impl Wear {
    pub(crate) fn new(wear: &spec::WearSpec, unit: u64) -> Wear {
        Wear {
            unit: mix(unit ^ 0x77ea_7000),
            block: wear.block.0,
            bad_share: wear.bad_share,
            weak_share: wear.weak_share,
            retries_ns: wear.retries.0,
            slower_per_byte: wear.slower_every.map_or(0.0, |size| 1.0 / size.0 as f64),
            written: 0.0,
        }
    }

    fn blocks(&self, offset: u64, bytes: u64) -> std::ops::RangeInclusive<u64> {
        offset / self.block..=(offset + bytes - 1) / self.block
    }

    /// A number from 0 to 1 that belongs to the block.
    fn lot(&self, block: u64) -> f64 {
        mix(self.unit ^ mix(block)) as f64 / u64::MAX as f64
    }

    /// First byte of a bad place in the range.
    pub(crate) fn bad(&self, offset: u64, bytes: u64) -> Option<u64> {
        self.blocks(offset, bytes)
            .find(|block| self.lot(*block) < self.bad_share)
            .map(|block| (block * self.block).max(offset))
    }

    /// Additional time of a read for retries, in nanoseconds.
    pub(crate) fn retries_ns(&self, offset: u64, bytes: u64) -> f64 {
        let weak = |block: &u64| {
            (self.bad_share..self.bad_share + self.weak_share).contains(&self.lot(*block))
        };
        self.blocks(offset, bytes).filter(weak).count() as f64 * self.retries_ns
    }

    /// Factor by which a write takes longer; the write also ages the medium.
    pub(crate) fn write_factor(&mut self, bytes: u64) -> f64 {
        let factor = 1.0 + self.written * self.slower_per_byte;
        self.written += bytes as f64;
        factor
    }
}
