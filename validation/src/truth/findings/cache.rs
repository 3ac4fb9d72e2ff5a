//! Random write caches that lose their content when the power fails.

use record::units::MIB;

use super::dice::Dice;
use super::medium::{Medium, mbps, size, us};

/// Cache between the host and the flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cache {
    /// No cache in front of the medium.
    None,
    /// Passes every write on unchanged.
    Queue {
        /// True if a flush waits until it is empty.
        honest: bool,
    },
}

/// Longest time until an honest cache is empty, in microseconds: a host gives a command 30 s, and a
/// flush too. Nobody who pulls a card waits for a lying one.
const HONEST_EMPTIED_US: f64 = 20e6;
const LYING_EMPTIED_US: f64 = 60e6;
/// Time of a random write of a disk, in microseconds.
const DISK_US: f64 = 10_000.0;
const PAGE_BYTES: u64 = 4096;

impl Cache {
    /// True if there is a cache that a flush does not empty.
    pub fn lies(self) -> bool {
        self == Cache::Queue { honest: false }
    }
}

impl Medium {
    /// Puts such a cache of 1 to 64 MiB before the medium, but none that takes longer to empty than
    /// a maker could sell.
    pub fn behind(mut self, cache: Cache, dice: &mut Dice) -> Medium {
        if cache == Cache::None {
            return self;
        }
        let random_us = Some(self.random_us(PAGE_BYTES)).filter(|us| *us > 0.0).unwrap_or(DISK_US);
        let bytes = dice.spread(1.0, 64.0) * MIB as f64;
        let emptied_us = if cache.lies() { LYING_EMPTIED_US } else { HONEST_EMPTIED_US };
        let pages = (bytes / PAGE_BYTES as f64).min(emptied_us / random_us).round().max(1.0);
        // A cache that somebody builds in is faster than the flash behind it, whatever is written.
        let rate = dice.between(30.0, 300.0).max(self.fastest_bps() / 1e6 * 1.5);
        let write_us = self.spec().write.map_or(f64::INFINITY, |write| write.command.0 / 1e3);
        let keys = [
            ("size", size(pages as u64 * PAGE_BYTES)),
            ("rate", mbps(rate)),
            ("command", us(dice.between(50.0, 400.0).min(write_us))),
            ("honest", (!cache.lies()).to_string()),
        ];
        self.set("cache", keys);
        self
    }

    /// Highest rate of sequential writes in bytes a second: before its flash caches are full, with
    /// zeros, and in front.
    fn fastest_bps(&self) -> f64 {
        let (spec, own) = (self.spec(), self.write_bps());
        let stages = spec.page_mapped.iter().flat_map(|ftl| &ftl.stages).map(|stage| stage.rate.0);
        let zeros = spec.compression.iter().map(|it| it.zeros_rate.0);
        let fronts = spec.log_block.iter().filter_map(|ftl| ftl.front.as_ref());
        let fronts = fronts.map(|front| front.rate_factor * own);
        stages.chain(zeros).chain(fronts).fold(own, f64::max)
    }
}
