//! Chance that can be repeated: the seed is said, and may be given.

use std::io::{self, Write as _};

/// How often a repeated test repeats: few times in passing, as often as `FLASHMARK_<name>` says in the full form.
pub fn times(name: &str, default: u64) -> u64 {
    std::env::var(format!("FLASHMARK_{name}")).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// A chain of random numbers (SplitMix64).
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    /// From `FLASHMARK_SITE_SEED`, or from the time of day; which it was is said on standard error, past whatever captures the output
    /// of tests: a failure can be had again.
    pub fn new(what: &str) -> Chance {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as u64;
        let seed = times("SITE_SEED", now % 1_000_000_007);
        io::stderr().write_all(format!("{what}: FLASHMARK_SITE_SEED={seed}\n").as_bytes()).unwrap();
        Chance(seed)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.bits() % limit
    }

    /// Once in so many times.
    pub fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// One of these.
    pub fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len() as u64) as usize]
    }
}
