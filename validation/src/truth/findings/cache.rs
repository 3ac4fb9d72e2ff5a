//! Write caches that lose their content when the power goes, drawn at random.

use record::units::MIB;

use super::dice::Dice;
use super::medium::Medium;

/// What stands between the host and the flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cache {
    /// No cache in front of the medium.
    None,
    /// Passes every write on.
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

/// A host gives a command 30 s, a flush too, so an honest cache is empty before that; nobody who
/// pulls a card waits for a lying one, in microseconds.
const HONEST_EMPTIED_US: f64 = 20e6;
const LYING_EMPTIED_US: f64 = 60e6;
/// A random write of a disk, in microseconds.
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

    /// What it is called in a table.
    pub fn name(self) -> &'static str {
        match self {
            Cache::None => "no cache",
            Cache::Queue { honest: true } => "cache, honest",
            Cache::Queue { honest: false } => "cache, flush lies",
            Cache::Combining { honest: true } => "combining cache, honest",
            Cache::Combining { honest: false } => "combining cache, flush lies",
        }
    }

    /// True if there is one that a flush does not empty.
    pub fn lies(self) -> bool {
        matches!(self, Cache::Queue { honest: false } | Cache::Combining { honest: false })
    }
}

impl Medium {
    /// The same behind such a cache of 1 to 64 MiB, but none that takes longer to empty than a
    /// maker could sell.
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
        // Whoever builds in a cache builds one that is faster than what lies behind it, whatever is
        // written.
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
