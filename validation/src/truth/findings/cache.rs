//! Random write caches that lose their content when the power fails.

use record::units::MIB;

use super::dice::Dice;
use super::medium::Medium;

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
    /// Combines writes to the same place.
    Combining {
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
const PAGE_BYTES: f64 = 4096.0;

impl Cache {
    /// Every kind of cache, honest or not.
    pub const ALL: [Cache; 5] = [
        Cache::None,
        Cache::Queue { honest: true },
        Cache::Queue { honest: false },
        Cache::Combining { honest: true },
        Cache::Combining { honest: false },
    ];

    /// Name in a table.
    pub fn name(self) -> &'static str {
        match self {
            Cache::None => "no cache",
            Cache::Queue { honest: true } => "cache, honest",
            Cache::Queue { honest: false } => "cache, flush lies",
            Cache::Combining { honest: true } => "combining cache, honest",
            Cache::Combining { honest: false } => "combining cache, flush lies",
        }
    }

    /// True if there is a cache that a flush does not empty.
    pub fn lies(self) -> bool {
        matches!(self, Cache::Queue { honest: false } | Cache::Combining { honest: false })
    }
}

impl Medium {
    /// Puts such a cache of 1 to 64 MiB before the medium, but none that takes longer to empty than
    /// a maker could sell.
    pub fn behind(mut self, cache: Cache, dice: &mut Dice) -> Medium {
        let (honest, combines) = match cache {
            Cache::None => return self,
            Cache::Queue { honest } => (honest, false),
            Cache::Combining { honest } => (honest, true),
        };
        let random_us = if self.rotational() { DISK_US } else { self.random_us(PAGE_BYTES as u64) };
        let bytes = dice.spread(1.0, 64.0) * MIB as f64;
        let emptied_us = if honest { HONEST_EMPTIED_US } else { LYING_EMPTIED_US };
        let pages = (bytes / PAGE_BYTES).min(emptied_us / random_us).round().max(1.0);
        // A cache that somebody builds in is faster than the flash behind it, whatever is written.
        let rate = dice.between(30.0, 300.0).max(self.fastest_mbps() * 1.5);
        self.tables += &format!(
            "[cache]\nsize = \"{} B\"\nrate = \"{rate:.3} MB/s\"\ncommand = \"{:.3} us\"\nhonest = {honest}\ncombines = {combines}\n",
            pages * PAGE_BYTES,
            dice.between(50.0, 400.0)
                .min(self.paths.as_ref().map_or(f64::INFINITY, |paths| paths.write_us))
        );
        self
    }
}
