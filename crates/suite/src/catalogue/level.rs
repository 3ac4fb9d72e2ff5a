//! The steady level of latencies, and the burst before it.

use record::{Estimate, may_be_cached};
use stats::{RateEstimator, median};

/// Number of writes to other allocation units that fill caches: four times 32, more than any cheap
/// medium keeps open (docs/field/statistics.md#sampling-random-writes).
pub(crate) const CACHE_FILL_OPS: u64 = 4 * 32;
/// Latency in nanoseconds that no cached write has. If half of the writes take that long, the
/// medium merges an allocation unit for each, and 32 of them are enough.
const MERGING_NS: f64 = 100e6;
pub(crate) const CACHE_FILL_MERGES: u64 = 32;
/// Number of consecutive writes in a group.
const GROUP: usize = 16;
/// Ratios of the medians of two groups that count as the same level
/// (docs/field/statistics.md#sampling-random-writes).
const SAME: std::ops::RangeInclusive<f64> = 0.8..=1.25;

/// Latencies in groups of 16, to find their steady level and the end of the burst before it.
#[derive(Debug, Default)]
pub struct LatencyLevel {
    open: Vec<f64>,
    /// Sum of each full group, in nanoseconds.
    groups: Vec<u64>,
    /// The smallest of these sums.
    fastest: Option<u64>,
    /// Medians of the last two full groups.
    medians: [Option<f64>; 2],
}

impl LatencyLevel {
    /// Adds the latency of the next I/O, in nanoseconds.
    pub fn push(&mut self, latency_ns: u64) {
        self.open.push(latency_ns as f64);
        if self.open.len() == GROUP {
            let sum = self.open.iter().sum::<f64>() as u64;
            self.groups.push(sum);
            self.fastest = Some(self.fastest.map_or(sum, |fastest| fastest.min(sum)));
            self.medians = [self.medians[1], median(&mut self.open)];
            self.open.clear();
        }
    }

    /// True if the last 16 took more than `ratio` times as long as the fastest 16: the cause of the
    /// fast ones is used up.
    pub fn has_fallen(&self, ratio: f64) -> bool {
        self.fastest
            .zip(self.groups.last())
            .is_some_and(|(fastest, last)| *last as f64 > ratio * fastest as f64)
    }

    /// Number of latencies so far.
    pub fn ops(&self) -> u64 {
        (self.groups.len() * GROUP + self.open.len()) as u64
    }

    /// True if the last 16 were like the 16 before.
    pub fn is_stable(&self) -> bool {
        matches!(self.medians, [Some(before), Some(last)] if SAME.contains(&(last / before)))
    }

    /// True if everything that makes first writes of `block_bytes` fast is used up: the level is
    /// steady, and writes take as long as merges do, or longer than any cache takes, or
    /// `enough_bytes` were written.
    pub fn is_cache_full(&self, block_bytes: u64, bytes_done: u64, enough_bytes: u64) -> bool {
        let merges = self.ops() >= CACHE_FILL_MERGES && self.median_ns() >= MERGING_NS;
        let is_enough = bytes_done >= enough_bytes || !self.may_be_cached(block_bytes);
        self.is_stable() && (merges || self.ops() >= CACHE_FILL_OPS && is_enough)
    }

    /// True if a cache may have taken the last writes: half of them were as fast as a cache.
    pub fn may_be_cached(&self, block_bytes: u64) -> bool {
        may_be_cached(self.median_ns(), block_bytes)
    }

    /// Median latency of the last full group, in nanoseconds; 0 without one.
    pub fn median_ns(&self) -> f64 {
        self.medians[1].unwrap_or(0.0)
    }

    /// Mean latency of the last 16 or so, in nanoseconds.
    pub fn latest_ns(&self) -> u64 {
        match self.groups.last() {
            Some(sum) => sum / GROUP as u64,
            None => (self.open.iter().sum::<f64>() / self.open.len().max(1) as f64) as u64,
        }
    }

    /// IOPS before the medium fell to its steady level (`settled_ns` for a write): over all groups
    /// from the first on that were faster than the level by a quarter or more, and over the first
    /// group in any case, full or not. `None` without any latency.
    pub fn burst(&self, settled_ns: Option<f64>) -> Option<Estimate> {
        let fast_ns = settled_ns.map_or(f64::INFINITY, |ns| ns * GROUP as f64 / SAME.end());
        let fast = self.groups.iter().take_while(|sum| (**sum as f64) < fast_ns).count();
        let mut rate = RateEstimator::new();
        self.groups.iter().take(fast.max(1)).for_each(|sum| rate.push(*sum));
        let (n, total_ns) = match rate.events() {
            0 => (self.open.len() as u64, self.open.iter().sum()),
            groups => (groups * GROUP as u64, rate.total_ns() as f64),
        };
        let ci95 = rate
            .estimate()
            .map(|rate| [rate.ci95.low, rate.ci95.high].map(|groups| groups * GROUP as f64));
        (total_ns > 0.0).then(|| Estimate { value: n as f64 * 1e9 / total_ns, ci95, n })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(latencies: impl IntoIterator<Item = u64>) -> LatencyLevel {
        let mut level = LatencyLevel::default();
        latencies.into_iter().for_each(|ns| level.push(ns));
        level
    }

    #[test]
    fn stable_when_two_groups_agree() {
        assert!(!level([1000; 31]).is_stable());
        assert!(level([1000; 32]).is_stable());
        assert!(!level((0..32).map(|i| if i < 16 { 1000 } else { 1300 })).is_stable());
        assert!(level((0..48).map(|i| if i < 16 { 1000 } else { 1300 })).is_stable());
    }

    #[test]
    fn fallen_when_the_last_are_slower_than_the_fastest() {
        assert!(!level([1000; 64]).has_fallen(1.25));
        assert!(level((0..32).map(|i| if i < 16 { 1000 } else { 1300 })).has_fallen(1.25));
        assert!(!level((0..32).map(|i| if i < 16 { 1300 } else { 1000 })).has_fallen(1.25));
    }

    #[test]
    fn the_burst_is_what_was_faster_than_the_level() {
        let fall = level((0..160).map(|i| if i < 48 { 1_000_000 } else { 100_000_000 }));
        let burst = fall.burst(Some(100e6)).unwrap();
        assert_eq!((burst.value, burst.n), (1000.0, 48));
        let flat = level([2_000_000; 160]).burst(Some(2e6)).unwrap();
        assert_eq!((flat.value, flat.n), (500.0, 16));
        let short = level([1_000_000_000; 5]).burst(None).unwrap();
        assert_eq!((short.value, short.n, short.ci95), (1.0, 5, None));
        assert_eq!(level([]).burst(None), None);
    }
}
