//! Quantiles of a correlated stream, online and in constant memory.

use crate::quantile::fractional_ranks;
use crate::random::Random;
use crate::sample::{mean, variance};
use crate::{Interval, smallest_sample};

/// The sample is thinned to half when it has this many values, so there are always half of it to
/// all of it.
const FULL: usize = 16_384;
/// Batches into which the sample is cut to see how correlated it is.
const BATCHES: usize = 32;
/// Events in flight together count as one event, unless there are this many groups of them on the
/// rarer side of the quantile: then their correlation is measured.
const TELLING_GROUPS: f64 = 40.0;
/// A value is known to 3 significant digits (docs/methodology.md, "What is timed"), and no interval
/// is narrower.
const GRAIN: f64 = 0.001;

/// Quantiles of a stream with honest intervals. Keeps every value up to 16,384, then one of each 2,
/// 4, 8.. consecutive ones, drawn at random from each group, so that a period in the stream cannot
/// fall in step with the thinning.
#[derive(Debug, Clone)]
pub struct QuantileEstimator {
    /// In order of arrival: the order shows their correlation.
    kept: Vec<u64>,
    group: u64,
    /// Values of the open group so far, and which of them is kept.
    seen: u64,
    chosen: u64,
    events: u64,
    random: Random,
    in_flight: u64,
}

/// A quantile with its uncertainty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QuantileEstimate {
    /// The quantile, in the unit of the values.
    pub value: f64,
    /// The 95 % confidence interval of the long-run quantile; `None` where the sample is worth too
    /// few independent values for one (docs/field/statistics.md#percentiles: 72 for p95, 368 for
    /// p99).
    pub ci95: Option<Interval>,
    /// Number of values that arrived, whether they were kept or not.
    pub n: u64,
    /// Independent values that the kept ones are worth for this quantile.
    pub effective: f64,
}

impl QuantileEstimator {
    /// An estimator without values. `seed` decides which values of a long stream are kept.
    pub fn new(seed: u64) -> Self {
        QuantileEstimator::overlapping(seed, 1)
    }

    /// An estimator of the latencies of a closed loop that keeps `in_flight` events in flight. Each
    /// of these waits for the others, so one slow event makes that many slow values; the first
    /// values are left out, because nothing was in flight before them.
    pub fn overlapping(seed: u64, in_flight: u32) -> Self {
        let random = Random::new(seed);
        QuantileEstimator {
            kept: Vec::new(),
            group: 1,
            seen: 0,
            chosen: 0,
            events: 0,
            random,
            in_flight: u64::from(in_flight.max(1)),
        }
    }

    /// The next value of the stream.
    #[inline]
    pub fn push(&mut self, value: u64) {
        self.events += 1;
        if self.in_flight > 1 && self.events <= self.in_flight {
            return;
        }
        if self.seen == self.chosen {
            self.kept.push(value);
        }
        self.seen += 1;
        if self.seen == self.group {
            self.close_group();
        }
    }

    /// Adds the same value `times` times.
    pub fn push_same(&mut self, value: u64, mut times: u64) {
        let begins = if self.in_flight > 1 {
            self.in_flight.saturating_sub(self.events).min(times)
        } else {
            0
        };
        self.events += begins;
        times -= begins;
        while times > 0 {
            let step = times.min(self.group - self.seen);
            self.events += step;
            if (self.seen..self.seen + step).contains(&self.chosen) {
                self.kept.push(value);
            }
            self.seen += step;
            times -= step;
            if self.seen == self.group {
                self.close_group();
            }
        }
    }

    fn close_group(&mut self) {
        self.seen = 0;
        if self.kept.len() == FULL {
            for pair in 0..FULL / 2 {
                self.kept[pair] = self.kept[2 * pair + self.random.below(2) as usize];
            }
            self.kept.truncate(FULL / 2);
            self.group *= 2;
        }
        self.chosen = if self.group == 1 { 0 } else { self.random.below(self.group) };
    }

    /// The `q`-quantile (0..1); `None` if fewer values than [`smallest_sample`] have arrived or are
    /// kept. Sorts a copy of the kept values: ask at the end, not in between.
    pub fn quantile(&self, q: f64) -> Option<QuantileEstimate> {
        let kept = self.kept.len() as u64;
        if !(q > 0.0 && q < 1.0) || kept < smallest_sample(q).max(smallest_sample(1.0 - q)) {
            return None;
        }
        let mut sorted = self.kept.clone();
        sorted.sort_unstable();
        let at_rank = |rank: u64| sorted[(rank.clamp(1, kept) - 1) as usize] as f64;
        let value = at_rank((q * kept as f64).ceil() as u64);
        let effective = kept as f64 / self.clustering(value, q);
        // The interval of that many independent values, by ranks; the ranks as shares of all that
        // is kept.
        let scale = kept as f64 / effective.floor();
        let between = |rank: f64| {
            let (whole, share) = (rank.floor(), rank.fract());
            at_rank(whole.max(1.0) as u64) * (1.0 - share) + at_rank(whole as u64 + 1) * share
        };
        let ci95 = fractional_ranks(effective, q, 0.95).map(|(low, high)| {
            let (low, high) = (between(low * scale - (scale - 1.0)), between(high * scale));
            Interval { low: low.min(value * (1.0 - GRAIN)), high: high.max(value * (1.0 + GRAIN)) }
        });
        Some(QuantileEstimate { value, ci95, n: self.events, effective })
    }

    /// Variance of the share of values up to `value` between batches, over the variance of
    /// independent values: 1 or more, and limited so that at least one batch's worth of values
    /// remains.
    fn clustering(&self, value: f64, q: f64) -> f64 {
        let together = (self.in_flight as f64 / self.group as f64).max(1.0);
        let rarer = self.kept.len() as f64 * q.min(1.0 - q);
        let least = if rarer / together < TELLING_GROUPS { together } else { 1.0 };
        let size = self.kept.len() / BATCHES;
        if size < 2 {
            return least;
        }
        let share = |batch: &[u64]| {
            batch.iter().filter(|&&v| v as f64 <= value).count() as f64 / size as f64
        };
        let shares: Vec<f64> = self.kept.chunks_exact(size).map(share).collect();
        // Ties at `value` make its share larger than q; their own variance is what independence
        // would give.
        let below = mean(&shares);
        let independent =
            if below < 1.0 { below * (1.0 - below) } else { q * (1.0 - q) } / size as f64;
        (variance(&shares) / independent).clamp(1.0, size as f64).max(least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: impl IntoIterator<Item = u64>) -> QuantileEstimator {
        let mut estimator = QuantileEstimator::new(1);
        values.into_iter().for_each(|value| estimator.push(value));
        estimator
    }

    #[test]
    fn a_quantile_exists_from_the_smallest_sample_on() {
        for q in [0.01, 0.1, 0.5, 0.9, 0.99] {
            let least = smallest_sample(q).max(smallest_sample(1.0 - q));
            assert!(of(0..least).quantile(q).is_some(), "{least} values, {q}");
            assert!(of(0..least - 1).quantile(q).is_none(), "{} values, {q}", least - 1);
        }
        let some = of(1..=100);
        assert!([0.0, 1.0, -0.1, 1.1].iter().all(|q| some.quantile(*q).is_none()));
        assert_eq!([0.5, 0.501, 0.95].map(|q| some.quantile(q).unwrap().value), [50.0, 51.0, 95.0]);
    }

    #[test]
    fn the_same_value_many_times_is_that_value_each_time() {
        for in_flight in [1, 4, 32] {
            let [mut together, mut single] =
                [(); 2].map(|()| QuantileEstimator::overlapping(3, in_flight));
            for (value, times) in [(5, 3), (6, 1), (7, 50), (8, 20_000), (9, 1), (3, 40_000)] {
                together.push_same(value, times);
                (0..times).for_each(|_| single.push(value));
            }
            assert_eq!(format!("{together:?}"), format!("{single:?}"), "{in_flight}");
        }
    }

    #[test]
    fn a_long_stream_is_thinned_to_half() {
        for (values, kept, group) in
            [(16_383, 16_383, 1), (16_384, 8_192, 2), (32_766, 16_383, 2), (32_768, 8_192, 4)]
        {
            let estimator = of(0..values);
            assert_eq!((estimator.kept.len(), estimator.group), (kept, group), "{values}");
        }
        // One of each group, wherever it is thinned.
        let kept = of(0..40_000).kept;
        assert!(kept.iter().zip(0..).all(|(value, group)| value / 4 == group));
    }

    #[test]
    fn the_first_of_a_closed_loop_are_left_out() {
        for (in_flight, values, kept) in [(1, 1, 1), (2, 2, 0), (2, 3, 1), (4, 4, 0), (4, 5, 1)] {
            let mut estimator = QuantileEstimator::overlapping(1, in_flight);
            (0..values).for_each(|value| estimator.push(value));
            assert_eq!(estimator.kept.len(), kept, "{in_flight} {values}");
        }
    }

    #[test]
    fn no_interval_is_narrower_than_a_thousandth() {
        let found = of([2_000; 100]).quantile(0.5).unwrap();
        let ci95 = found.ci95.unwrap();
        let off = [ci95.low - 1_998.0, ci95.high - 2_002.0];
        assert!(off.iter().all(|off| off.abs() < 1e-9), "{ci95:?}");
        assert_eq!(found.n, 100);
    }

    /// 64 values, two in each of 32 batches. If each batch has one of each kind, or all are alike,
    /// the share is the same in all; if batches are of one kind it varies by 64 / 31 times as much
    /// as for two independent values, and no batch is worth less than one value.
    #[test]
    fn correlated_batches_reduce_the_effective_sample() {
        for (name, values, effective) in [
            ("alternating", (0..64).map(|n| n % 2).collect::<Vec<u64>>(), 64.0),
            ("pairs", (0..64).map(|n| n / 2 % 2).collect(), 32.0),
            ("halves", (0..64).map(|n| n / 32).collect(), 32.0),
            ("few", (0..62).map(|n| n / 31).collect(), 62.0),
        ] {
            let found = of(values).quantile(0.5).unwrap().effective;
            assert!((found - effective).abs() < 1e-9, "{name}: {found}");
        }
    }

    /// With four in flight each slow event makes three more slow, until forty groups show
    /// otherwise: 40 groups of 4 in the rarer tenth are 1600 values.
    #[test]
    fn events_in_flight_are_one_sample_until_enough_groups_show_otherwise() {
        for (values, effective) in [(1_592, 398.0), (1_612, 1_612.0)] {
            let mut estimator = QuantileEstimator::overlapping(1, 4);
            (0..values + 4).for_each(|n: u64| estimator.push(n * 7_919 % 1_009));
            let found = estimator.quantile(0.9).unwrap();
            assert!((found.effective - effective).abs() < 1e-9, "{values}: {found:?}");
        }
    }
}
