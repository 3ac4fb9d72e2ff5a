//! The rate of a stream of events, online and in constant memory.

use crate::sample::{mean, variance};
use crate::{Interval, NORMAL, of_repetition, student_t};

/// Stored batches are merged in pairs when there are this many, so there are always half of it to
/// all of it.
const FULL: usize = 128;
/// At most this many batches go into an interval...
const MOST: usize = 32;
/// ...and not fewer than this for the sake of independence alone: with fewer, Student's t costs
/// more than it saves.
const FEWEST: usize = 10;
/// Batches count as dependent if their lag-1 correlation exceeds this over the root of their number
/// (one-sided 10 %).
const NOTICEABLE: f64 = 1.28;
/// An interval of few batches whose ends differ by more than this factor is not given: from two
/// batches that differ, Student's t makes one from picobytes to gigabytes per second. With many
/// batches so wide an interval shows that the rate changed.
const TELLS_NOTHING: f64 = 1000.0;
/// An event that takes this many times as long as a typical one is a rare slow event.
const RARE: f64 = 3.0;

/// Rare slow events that a kind of stream is known to have. Events that have not been seen cannot
/// widen an interval; this does, until so many events came without a slow one that there must be
/// fewer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RareEvents {
    /// Share of the slow events among all, 0..1.
    pub share: f64,
    /// Additional time of a slow event, in units of the time of other events.
    pub excess: f64,
}

impl RareEvents {
    /// Relative slowdown in the long run by rare events that were not seen: 0 if the slowest event
    /// is one of them. `typical` is the time of other events in the same unit; `unseen_share` is
    /// the share of rare events that may have been missed ([`RareEvents::MISSED`] over the number
    /// of events that count).
    pub fn unseen(self, slowest: f64, typical: f64, unseen_share: f64) -> f64 {
        if slowest > RARE * typical { 0.0 } else { self.share.min(unseen_share) * self.excess }
    }

    /// Relative slowdown of a run by the most rare events that it has, 39 times of 40 (Poisson),
    /// where so many events count.
    fn in_a_run_of(self, events: f64) -> f64 {
        let mean = self.share * events;
        let (mut most, mut probability) = (0.0, (-mean).exp());
        let mut sum = probability;
        // From there on the normal distribution is close enough.
        while sum < 0.975 && mean < 50.0 {
            most += 1.0;
            probability *= mean / most;
            sum += probability;
        }
        if mean >= 50.0 {
            most = mean + NORMAL * mean.sqrt();
        }
        most * self.excess / events
    }

    /// Events of which there are this many in n are missing from a run of n events in 5 % of cases.
    pub const MISSED: f64 = 3.0;
}

/// The mean time per event of a stream, online: sums of completion-to-completion times over batches
/// of consecutive events. Keeps 64 to 128 batches; when full, neighbours are merged in pairs and
/// the batch size doubles.
#[derive(Debug, Clone)]
pub struct RateEstimator {
    batches: Vec<u64>,
    events_per_batch: u64,
    open_events: u64,
    open_ns: u64,
    slowest_ns: u64,
    squares: f64,
    expected: Option<RareEvents>,
}

/// A rate with its uncertainty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateEstimate {
    /// Events per second: all events over all time.
    pub per_second: f64,
    /// The 95 % confidence interval of the long-run rate, in events per second.
    pub ci95: Interval,
    /// Number of events that the rate is computed from.
    pub n: u64,
    /// Number of batches that the interval is computed from.
    pub batches: usize,
    /// Lag-1 autocorrelation of these batches.
    pub lag1: f64,
    /// True if the batches look independent (von Neumann's test). If false, the interval was
    /// widened for the dependence that could be seen, but may still be too narrow.
    pub independent: bool,
}

impl RateEstimate {
    /// Half the width of the interval as a share of the rate: 0.05 is ±5 %.
    pub fn relative_half_width(&self) -> f64 {
        self.ci95.relative_half_width(self.per_second)
    }
}

impl Default for RateEstimator {
    fn default() -> Self {
        Self::new()
    }
}

impl RateEstimator {
    /// An estimator without events.
    pub fn new() -> Self {
        let batches = Vec::with_capacity(FULL);
        RateEstimator {
            batches,
            events_per_batch: 1,
            open_events: 0,
            open_ns: 0,
            slowest_ns: 0,
            squares: 0.0,
            expected: None,
        }
    }

    /// An estimator of a stream that is known to have rare slow events.
    pub fn expecting(rare: RareEvents) -> Self {
        RateEstimator { expected: Some(rare), ..RateEstimator::new() }
    }

    /// One event that ended `elapsed_ns` after the one before it.
    #[inline]
    pub fn push(&mut self, elapsed_ns: u64) {
        self.open_events += 1;
        self.open_ns += elapsed_ns;
        self.slowest_ns = self.slowest_ns.max(elapsed_ns);
        self.squares += elapsed_ns as f64 * elapsed_ns as f64;
        if self.open_events == self.events_per_batch {
            self.close_batch();
        }
    }

    /// Adds so many events that ended together with the one before: no time passed between them.
    pub fn push_together(&mut self, mut events: u64) {
        while events > 0 {
            let step = events.min(self.events_per_batch - self.open_events);
            self.open_events += step;
            events -= step;
            if self.open_events == self.events_per_batch {
                self.close_batch();
            }
        }
    }

    fn close_batch(&mut self) {
        self.batches.push(self.open_ns);
        (self.open_events, self.open_ns) = (0, 0);
        if self.batches.len() == FULL {
            for half in 0..FULL / 2 {
                self.batches[half] = self.batches[2 * half] + self.batches[2 * half + 1];
            }
            self.batches.truncate(FULL / 2);
            self.events_per_batch *= 2;
        }
    }

    /// Number of events that were pushed so far.
    pub fn events(&self) -> u64 {
        self.batches.len() as u64 * self.events_per_batch + self.open_events
    }

    /// Time so far: the sum of everything pushed.
    pub fn total_ns(&self) -> u64 {
        self.batches.iter().sum::<u64>() + self.open_ns
    }

    /// The rate and its interval; `None` below two batches, without any elapsed time, or if few
    /// batches differ so much that the interval would say nothing.
    ///
    /// The interval is made in the logarithm of the rate, so it never reaches zero or below, and is
    /// longer towards slow rates: by the skewness of the batches, and by the rare slow events that
    /// are expected and were not seen.
    pub fn estimate(&self) -> Option<RateEstimate> {
        let (n, total_ns) = (self.events(), self.total_ns());
        if self.batches.len() < 2 || total_ns == 0 {
            return None;
        }
        let spread = Spread::of(&self.batches)?;
        let edge = self.edge();
        let unseen = self.unseen();
        // What is missing is missing from the fast end too, though less is certain to be.
        let fast = spread.fast - (unseen / 3.0).min(spread.fast / 3.0);
        let (slow, fast) = (spread.slow.max(edge) + unseen, fast.max(edge));
        if self.batches.len() < FEWEST && slow + fast > TELLS_NOTHING.ln() {
            return None;
        }
        let per_second = n as f64 * 1e9 / total_ns as f64;
        Some(RateEstimate {
            per_second,
            ci95: Interval { low: per_second * (-slow).exp(), high: per_second * fast.exp() },
            n,
            batches: spread.batches,
            lag1: spread.lag1,
            independent: spread.independent,
        })
    }

    /// Distances from the rate to the ends of the interval in which a run of the same length finds it
    /// 19 times of 20, slow and fast, in the logarithm. The next run errs as much as this one, and
    /// independently; and it may have rare slow events that this one has not.
    pub fn repetition(&self) -> Option<[f64; 2]> {
        let RateEstimate { per_second, ci95, .. } = self.estimate()?;
        let unseen = self.unseen();
        let slow = of_repetition((per_second / ci95.low).ln() - unseen);
        let typical_ns = self.squares / self.total_ns() as f64;
        let rare = self.expected.filter(|_| unseen > 0.0);
        let in_next =
            rare.map_or(0.0, |rare| rare.in_a_run_of(self.total_ns() as f64 / typical_ns));
        Some([slow + in_next.max(unseen), of_repetition((ci95.high / per_second).ln())])
    }

    /// True if the rate is known to `relative_half_width`, and not by luck. The first half of the
    /// batches, taken alone, must already have known it to the square root of two times that: an
    /// interval that is narrow because the batches so far happen to agree seldom shrinks as the
    /// root of its length (docs/methodology.md, "Stopping").
    pub fn knows_rate_to(&self, relative_half_width: f64) -> bool {
        let narrow = |batches: &[u64], limit: f64| {
            Spread::of(batches).is_some_and(|s| (s.slow + s.fast) / 2.0 <= limit)
        };
        let first_half = &self.batches[..self.batches.len().div_ceil(2)];
        self.estimate().is_some_and(|e| e.relative_half_width() <= relative_half_width)
            && narrow(first_half, relative_half_width * std::f64::consts::SQRT_2)
    }

    /// The least relative uncertainty of any measurement: its start and end decide whether it
    /// contains one more or one less of the slowest events, and the clock has a resolution of a
    /// nanosecond. Batches that hold whole periods of a periodic stream do not show this, since
    /// they are all equal.
    fn edge(&self) -> f64 {
        let total_ns = self.total_ns() as f64;
        let mean_ns = total_ns / self.events() as f64;
        (self.slowest_ns as f64 - mean_ns + 1.0) / total_ns
    }

    /// Relative slowdown in the long run by rare slow events that are expected and were not seen.
    ///
    /// The events that carry the time are counted: where one of 70 takes as long as all others
    /// together, a run of 3500 has seen 50 of these, and not 3500, without a rare slow one. Their
    /// typical length is the mean weighted with the length itself, and their number is the total
    /// over that.
    fn unseen(&self) -> f64 {
        let Some(rare) = self.expected else { return 0.0 };
        let total_ns = self.total_ns() as f64;
        let typical_ns = self.squares / total_ns;
        let unseen_share = RareEvents::MISSED * typical_ns / total_ns;
        rare.unseen(self.slowest_ns as f64, typical_ns, unseen_share)
    }
}

/// Uncertainty of the mean of batches of equal size.
struct Spread {
    /// Distance from the mean to the ends of the 95 % interval, over the mean: towards more time
    /// per event, and towards less.
    slow: f64,
    fast: f64,
    batches: usize,
    lag1: f64,
    independent: bool,
}

impl Spread {
    /// Computed from batches, widened for the remaining dependence; `None` below two batches or for
    /// a mean of zero.
    fn of(stored: &[u64]) -> Option<Spread> {
        let batches = independent_batches(stored)?;
        let k = batches.len() as f64;
        let centre = mean(&batches);
        if centre <= 0.0 {
            return None;
        }
        let lag1 = lag1(&batches);
        let inflation = autoregressive_inflation(lag1, k);
        let degrees = (k / inflation - 1.0).max(2.0).min(k - 1.0);
        let error = (inflation * variance(&batches) / k).sqrt() / centre;
        let t = student_t(0.975, degrees);
        let shift = skewness_shift(&batches, t);
        Some(Spread {
            slow: (t + shift) * error,
            // The skewness is an estimate too: what it says away is believed only in part.
            fast: (t - shift.min(t / 3.0)) * error,
            batches: batches.len(),
            lag1,
            independent: !is_dependent(lag1, k),
        })
    }
}

/// Joins stored batches into 16 to 32 larger ones (fewer where fewer are stored), and doubles their
/// size again while neighbours are correlated and at least ten remain. The oldest that fill no
/// whole batch are left out.
fn independent_batches(stored: &[u64]) -> Option<Vec<f64>> {
    if stored.len() < 2 {
        return None;
    }
    let mut size = stored.len().div_ceil(MOST);
    loop {
        let whole = &stored[stored.len() % size..];
        let batches: Vec<f64> =
            whole.chunks_exact(size).map(|chunk| chunk.iter().sum::<u64>() as f64).collect();
        let room = stored.len() / (2 * size) >= FEWEST;
        if !(room && is_dependent(lag1(&batches), batches.len() as f64)) {
            return Some(batches);
        }
        size *= 2;
    }
}

/// Von Neumann's ratio is 2 (1 - lag-1 correlation) up to end effects, so this is his test of
/// independence against positive correlation.
fn is_dependent(lag1: f64, batches: f64) -> bool {
    lag1 > NOTICEABLE / batches.sqrt()
}

/// Ratio of the variance of a mean of `k` AR(1) values to that of independent ones: (1 + r) / (1 -
/// r). The sample correlation is too small by (1 + 3 r) / k on average (Kendall 1954), which is
/// added. Half its standard error is subtracted: negative correlation narrows nothing, and of
/// independent values every other sample is positive, so intervals would be a tenth too wide on
/// average.
fn autoregressive_inflation(lag1: f64, k: f64) -> f64 {
    let r = (lag1 + (1.0 + 3.0 * lag1) / k - 0.5 / k.sqrt()).clamp(0.0, 0.9);
    (1.0 + r) / (1.0 - r)
}

/// Number of standard errors by which the interval of a mean is moved for the skewness of its
/// values: Student's t with the correction of Johnson (1978) and Hall (1992), g (1 + 2 t^2) / (6
/// sqrt(k)). A few slow events among many are on one side of the mean, and so is the truth when
/// there were too few of them. At most half of t.
fn skewness_shift(values: &[f64], t: f64) -> f64 {
    let (centre, k) = (mean(values), values.len() as f64);
    let deviation = variance(values).sqrt();
    if deviation == 0.0 {
        return 0.0;
    }
    let skewness =
        values.iter().map(|value| ((value - centre) / deviation).powi(3)).sum::<f64>() / k;
    (skewness * (1.0 + 2.0 * t * t) / (6.0 * k.sqrt())).clamp(-0.5 * t, 0.5 * t)
}

/// The lag-1 autocorrelation; 0 of constant values.
fn lag1(values: &[f64]) -> f64 {
    let centre = mean(values);
    let squares: f64 = values.iter().map(|v| (v - centre).powi(2)).sum();
    let products: f64 = values.windows(2).map(|pair| (pair[0] - centre) * (pair[1] - centre)).sum();
    if squares > 0.0 { products / squares } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Runs too short to see a tail of one in 200, five times as long, in most cases.
    #[test]
    fn a_short_run_says_where_the_next_one_is() {
        let mut random = crate::Random::new(7);
        let mut run = |events: u64| {
            let mut rate = RateEstimator::expecting(RareEvents { share: 0.005, excess: 4.0 });
            (0..events).for_each(|_| {
                let usual = 900 + random.below(200);
                rate.push(if random.below(200) == 0 { 5 * usual } else { usual });
            });
            (rate.estimate().unwrap().per_second, rate.repetition().unwrap())
        };
        for events in [30, 60, 200, 1000] {
            let held = (0..2000).filter(|_| {
                let ((this, [slow, fast]), (next, _)) = (run(events), run(events));
                (-slow..=fast).contains(&(next / this).ln())
            });
            let share = held.count() as f64 / 2000.0;
            assert!((0.94..=1.0).contains(&share), "{events}: {share}");
        }
    }

    fn of(times: impl IntoIterator<Item = u64>) -> RateEstimator {
        let mut rate = RateEstimator::new();
        times.into_iter().for_each(|ns| rate.push(ns));
        rate
    }

    #[test]
    fn events_pushed_together_equal_events_of_zero_time() {
        for events in [0, 1, 2, 127, 128, 1000, 70_000] {
            let (mut together, mut single) = (of(1..200), of(1..200));
            together.push_together(events);
            (0..events).for_each(|_| single.push(0));
            for rate in [&mut together, &mut single] {
                rate.push(7);
            }
            assert_eq!(format!("{together:?}"), format!("{single:?}"), "{events}");
        }
    }

    #[test]
    fn nothing_is_known_from_one_event_or_no_time() {
        assert_eq!(RateEstimator::new().estimate(), None);
        assert_eq!(of([5]).estimate(), None);
        assert_eq!(of([0, 0, 0]).estimate(), None);
    }

    /// A check of 15 s said "± 411507 %" and "0.000000349 to 24.3 GB/s" of two reads.
    #[test]
    fn an_interval_that_is_too_wide_is_none() {
        assert_eq!(of([1_000_000, 40_000_000]).estimate(), None);
        assert!(of([1_000_000, 1_100_000]).estimate().is_some());
        let changed = (0..16).map(|i| if i < 8 { 1_000_000 } else { 10_000_000 });
        assert!(of(changed).estimate().is_some());
    }

    /// By hand: lag 0.2 in 16 batches is 0.2 + 1.6 / 16 - 0.5 / 4 = 0.175, so (1.175) / (0.825);
    /// from 0.9 on it counts as 0.9, below 0 as 0.
    #[test]
    fn correlation_widens_within_its_limits() {
        let cases = [
            (0.2, 16.0, 1.175 / 0.825),
            (-0.5, 16.0, 1.0),
            (0.0, 4.0, 1.0),
            (0.95, 1e6, 19.0),
            (0.9, 1e9, 19.0),
            (0.5, 1e12, 3.0),
        ];
        for (lag1, batches, expected) in cases {
            let found = autoregressive_inflation(lag1, batches);
            assert!((found / expected - 1.0).abs() < 1e-3, "{lag1} in {batches}: {found}");
        }
        assert!(autoregressive_inflation(0.89, 1e9) < 17.3, "not yet at its limit");
    }

    #[test]
    fn dependence_begins_at_its_limit() {
        // 1.28 / sqrt(16) = 0.32.
        assert_eq!([0.319, 0.321].map(|lag1| is_dependent(lag1, 16.0)), [false, true]);
        assert_eq!((lag1(&[1.0, 2.0, 3.0, 4.0]), lag1(&[7.0; 4])), (0.25, 0.0));
        assert_eq!(lag1(&[1.0, -1.0, 1.0, -1.0]), -0.75);
    }

    /// Of 0, 0, 0, 8: mean 2, deviation 4, skewness ((-0.5)^3 x 3 + 1.5^3) / 4 = 0.75; with t = 2
    /// that is 0.75 x 9 / 12 = 0.5625.
    #[test]
    fn skewness_moves_the_interval_by_half_of_t_at_most() {
        assert!((skewness_shift(&[0.0, 0.0, 0.0, 8.0], 2.0) - 0.5625).abs() < 1e-12);
        assert!((skewness_shift(&[8.0, 8.0, 8.0, 0.0], 2.0) + 0.5625).abs() < 1e-12);
        assert_eq!(skewness_shift(&[5.0; 4], 2.0), 0.0);
        let mut one_of_many = [0.0; 100];
        one_of_many[0] = 1.0;
        assert_eq!(skewness_shift(&one_of_many, 2.0), 1.0);
        one_of_many[0] = -1.0;
        assert_eq!(skewness_shift(&one_of_many, 2.0), -1.0);
    }

    #[test]
    fn a_constant_rate_is_known_to_the_grain_of_the_clock() {
        let estimate = of([1_000_000; 50]).estimate().expect("50 events");
        assert_eq!(estimate.per_second, 1000.0);
        assert!(estimate.independent && estimate.lag1 == 0.0);
        assert!((estimate.relative_half_width() * 50e6 - 1.0).abs() < 1e-6, "{estimate:?}");
    }

    /// Three events of 1, 2, 3 s: mean 2, standard error sqrt(1/3), t(0.975, 2) = 4.30265. Lag-1 is
    /// 0, Kendall's correction 1/3, half the standard error of a correlation 0.288675: r =
    /// 0.044658, so the variance grows by (1 + r) / (1 - r) = 1.093492, and h = 4.30265 x
    /// sqrt(1.093492 / 3) / 2 = 1.29883.
    #[test]
    fn three_events_by_hand() {
        let estimate =
            of([1_000_000_000, 2_000_000_000, 3_000_000_000]).estimate().expect("3 events");
        assert_eq!((estimate.per_second, estimate.n, estimate.batches), (0.5, 3, 3));
        assert!((estimate.ci95.high - 0.5 * 1.29883_f64.exp()).abs() < 1e-4, "{estimate:?}");
        assert!((estimate.ci95.low - 0.5 * (-1.29883_f64).exp()).abs() < 1e-5, "{estimate:?}");
    }

    /// 60 equal events: of the expected share of 1 %, five times as long, none is there, so the
    /// truth may be 5 % slower; of 600 without one, at most 3 are missing; and where one was seen,
    /// none is missing.
    #[test]
    fn rare_events_are_allowed_for_until_they_are_seen() {
        let rare = RareEvents { share: 0.01, excess: 5.0 };
        let after = |times: &[u64]| {
            let mut rate = RateEstimator::expecting(rare);
            times.iter().for_each(|ns| rate.push(*ns));
            let estimate = rate.estimate().expect("many events");
            (estimate.per_second / estimate.ci95.low).ln()
        };
        assert!((after(&[1_000_000; 60]) - 0.05).abs() < 1e-6);
        assert!((after(&[1_000_000; 600]) - 0.025).abs() < 1e-6);
        let mut seen = [1_000_000; 60];
        seen[20] = 6_000_000;
        let without = of(seen).estimate().expect("60 events");
        assert_eq!(after(&seen), (without.per_second / without.ci95.low).ln());
    }

    /// Of 3500 events 50 carry half of the time: no event of three times their length was seen.
    #[test]
    fn rare_events_are_rare_among_those_that_carry_the_time() {
        let times = |n: u64| if n.is_multiple_of(70) { 70_000_000 } else { 1_000_000 };
        let low = |mut rate: RateEstimator| {
            (0..3500).for_each(|n| rate.push(times(n)));
            rate.estimate().expect("many events").ci95.low
        };
        let rare = RareEvents { share: 0.01, excess: 5.0 };
        assert!(low(RateEstimator::expecting(rare)) < 0.99 * low(RateEstimator::new()));
    }

    #[test]
    fn a_slow_event_among_many_moves_the_interval_to_slow_rates() {
        let estimate =
            of((0..320).map(|n| if n == 77 { 20_000_000 } else { 1_000_000 + n * 7919 % 1000 }))
                .estimate()
                .expect("many events");
        let [down, up] = [estimate.ci95.low, estimate.ci95.high]
            .map(|end| (end / estimate.per_second).ln().abs());
        assert!(down > 2.0 * up, "{down} {up}");
    }

    #[test]
    fn a_slow_wave_is_not_taken_for_independent_events() {
        // Two long waves: half the batches slow, half fast, in runs; no batch size makes that
        // independent.
        let wave = of((0..1280).map(|n| if n % 640 < 320 { 100 } else { 300 }));
        let estimate = wave.estimate().expect("many events");
        let mixed = of((0..1280).map(|n| if n * 7919 % 1280 < 640 { 100 } else { 300 }));
        let honest = mixed.estimate().expect("many events");
        assert!(!estimate.independent && honest.independent, "{estimate:?} {honest:?}");
        assert!(estimate.relative_half_width() > 5.0 * honest.relative_half_width());
    }

    #[test]
    fn whole_periods_in_every_batch_still_leave_the_edges_open() {
        // 16 divides the batch size, so all batches are equal; yet the run may end before or after
        // a slow event.
        let rate = of((0..3000).map(|n| if n % 16 == 15 { 10_000_000 } else { 1_000_000 }));
        let estimate = rate.estimate().expect("many events");
        assert!(estimate.ci95.contains(16e9 / 25e6), "{estimate:?}");
    }

    proptest! {
        #[test]
        fn batches_stay_between_half_of_the_most_and_the_most(times in proptest::collection::vec(0u64..1 << 40, 0..1500)) {
            let rate = of(times.iter().copied());
            prop_assert!(rate.batches.len() < FULL);
            prop_assert!(times.len() < FULL || rate.batches.len() >= FULL / 2);
        }

        #[test]
        fn the_estimate_scales_with_time(times in proptest::collection::vec(1u64..1 << 30, 2..600), scale in 2u64..1000) {
            // Of few that differ, none is told.
            let found = of(times.iter().copied()).estimate();
            let scaled = of(times.iter().map(|ns| ns * scale)).estimate();
            let Some((estimate, slower)) = found.zip(scaled) else {
                prop_assert!(times.len() < FEWEST, "{:?}", times);
                return Ok(());
            };
            prop_assert!(estimate.ci95.low > 0.0);
            prop_assert!((slower.per_second * scale as f64 / estimate.per_second - 1.0).abs() < 1e-9);
            prop_assert_eq!(slower.batches, estimate.batches);
        }

        #[test]
        fn order_within_a_batch_does_not_matter(times in proptest::collection::vec(1u64..1 << 30, 256..257)) {
            // 256 events are 64 batches of four.
            let mut reversed = times.clone();
            reversed.chunks_mut(4).for_each(<[u64]>::reverse);
            prop_assert_eq!(of(times).estimate(), of(reversed).estimate());
        }
    }
}
