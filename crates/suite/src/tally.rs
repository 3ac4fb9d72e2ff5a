//! Results of a stretch of I/O: every latency, the rate with its interval, curves, caveats.

mod host_stalls;

use device::{Completion, IoError};
use record::units::SECOND_NS;
use record::{
    Estimate, Flag, Histogram, HostState, Latency, Metrics, Series, SeriesAxis, Stop, metric,
};
use stats::{
    Drift, QuantileEstimator, RateEstimator, StopRule, TAIL_OF_FLASH, Windows, latency,
    of_repetition, per_second,
};

use crate::stop_rule::too_wide;
use host_stalls::SlowIos;

/// Most windows of a rate while it is measured; neighbours are merged beyond.
pub(crate) const WINDOWS: usize = 240;
/// Most points of a curve that is kept: one for two or three pixels of a chart.
pub(crate) const CURVE_POINTS: usize = 120;
/// Most points of the curve of slowest I/Os, which is only displayed.
const SLOWEST_POINTS: usize = 60;

/// Latency in nanoseconds that is a caveat: the link or the host may be the cause as well as the
/// medium.
const STALL_NS: u64 = 5 * SECOND_NS;

/// Results of a stretch of I/O.
pub struct IoTally {
    /// Every latency in nanoseconds.
    pub histogram: Histogram,
    /// Time per I/O, for the rate and its interval.
    pub rate: RateEstimator,
    /// Rate over time, weighted by bytes.
    pub windows: Windows,
    quantiles: QuantileEstimator,
    slowest: Slowest,
    /// Number of I/Os without an error.
    pub ops: u64,
    /// Bytes that they moved.
    pub bytes: u64,
    /// Nanoseconds over which the rate is computed. At queue depth 1: the time during which an I/O
    /// was in flight, because the host's time to make data between them is not the medium's. With
    /// several in flight: from the first submission to the last completion.
    pub busy_ns: u64,
    /// Nanoseconds during which none was in flight: the host's share.
    pub idle_ns: u64,
    /// Processor time used, in nanoseconds, if there is a processor.
    pub cpu_ns: Option<u64>,
    /// Nanoseconds for which the thread waited for a processor, if known.
    pub run_delay_ns: Option<u64>,
    /// Number of I/Os with a latency of 0.
    pub zero_latencies: u64,
    /// Longest I/O in nanoseconds, exactly.
    pub worst_ns: u64,
    /// Reason of the end: precision, a limit, an interruption or an error.
    pub stop: Stop,
    /// Error of the medium that ended it.
    pub error: Option<IoError>,
    /// The stop rule.
    pub rule: Option<StopRule>,
    /// Effects of host stalls, if there were any.
    pub host_state: Option<HostState>,
    in_flight: u32,
    last_ns: u64,
    slow: SlowIos,
}

impl Default for IoTally {
    fn default() -> Self {
        IoTally {
            histogram: Histogram::default(),
            rate: RateEstimator::expecting(TAIL_OF_FLASH),
            windows: Windows::new(WINDOWS),
            quantiles: QuantileEstimator::new(0),
            slowest: Slowest::default(),
            ops: 0,
            bytes: 0,
            busy_ns: 0,
            idle_ns: 0,
            host_state: None,
            slow: SlowIos::default(),
            in_flight: 1,
            cpu_ns: None,
            run_delay_ns: None,
            zero_latencies: 0,
            worst_ns: 0,
            stop: Stop::Ops,
            error: None,
            rule: None,
            last_ns: 0,
        }
    }
}

impl IoTally {
    /// An empty tally of a loop with so many I/Os in flight, with this stop rule.
    pub fn under(rule: Option<StopRule>, in_flight: u32) -> IoTally {
        IoTally {
            rule,
            in_flight,
            quantiles: QuantileEstimator::overlapping(0, in_flight),
            ..IoTally::default()
        }
    }

    /// Counts a completed I/O of `bytes`. `was_idle`: nothing was in flight before it was
    /// submitted.
    #[inline]
    pub fn count(&mut self, done: &Completion, bytes: u64, was_idle: bool) {
        self.count_together(done, 1, bytes, was_idle);
    }

    /// Counts so many I/Os of `bytes` each that were submitted at one time and completed at one
    /// time: the same result as counting them one by one, at the cost of one.
    #[inline]
    pub fn count_together(&mut self, done: &Completion, ios: u64, bytes: u64, was_idle: bool) {
        let latency_ns = done.latency_ns();
        let idle_ns = if was_idle { done.submitted_ns.saturating_sub(self.last_ns) } else { 0 };
        let is_first = self.ops == 0;
        let since = if was_idle && (is_first || self.in_flight == 1) {
            self.last_ns.max(done.submitted_ns)
        } else {
            self.last_ns
        };
        let step_ns = done.completed_ns.saturating_sub(since);
        self.last_ns = self.last_ns.max(done.completed_ns);
        self.histogram.record_n(latency_ns, ios);
        self.rate.push(step_ns);
        self.rate.push_together(ios - 1);
        self.windows.push(bytes as f64, step_ns);
        self.windows.push_together(bytes as f64, ios - 1);
        self.quantiles.push_same(latency_ns, ios);
        self.slowest.push_same(latency_ns, ios);
        self.ops += ios;
        self.bytes += bytes * ios;
        self.busy_ns += step_ns;
        self.idle_ns += if is_first { 0 } else { idle_ns };
        self.zero_latencies += if latency_ns == 0 { ios } else { 0 };
        self.worst_ns = self.worst_ns.max(latency_ns);
        (0..ios).for_each(|_| self.slow.note(done));
    }

    /// Ends it with an error of the medium; the first one counts.
    pub fn fail(&mut self, error: IoError) {
        self.stop = Stop::Error;
        self.error.get_or_insert(error);
    }

    /// Change of the rate over the run, in fifths; `None` if there is too little data.
    pub fn drift(&self) -> Option<Drift> {
        self.windows.drift()
    }

    /// IOPS and bytes per second with the intervals of a repetition, and latencies; empty without
    /// any I/O.
    pub fn metrics(&self) -> Metrics {
        let mut metrics = Metrics::default();
        if self.ops == 0 || self.busy_ns == 0 {
            return metrics;
        }
        let iops = per_second(self.ops, self.busy_ns);
        // What was left out as the host's may have been the medium's.
        let left_out = self.rate.events() as f64 * 1e9 / self.rate.total_ns().max(1) as f64 / iops;
        let around =
            |[slow, fast]: [f64; 2]| [iops * (-slow).exp() * left_out.min(1.0), iops * fast.exp()];
        let ci95 = self.rate.repetition().map(around);
        metrics.iops = Some(Estimate { value: iops, ci95, n: self.ops });
        let mean_bytes = self.bytes as f64 / self.ops as f64;
        let scaled = ci95.map(|[low, high]| [low * mean_bytes, high * mean_bytes]);
        let bps = per_second(self.bytes, self.busy_ns);
        metrics.bps = Some(Estimate { value: bps, ci95: scaled, n: self.ops });
        metrics.latency_ns = Some(self.latency());
        metrics.put("host_share", self.host_share(), self.ops);
        for (name, total_ns) in
            [(metric::RUN_DELAY_NS, self.run_delay_ns), (metric::CPU_NS_PER_IO, self.cpu_ns)]
        {
            metrics.put(name, total_ns.map(|ns| ns as f64 / self.ops as f64), self.ops);
        }
        metrics
    }

    /// Share of the time during which the medium was idle, 0 to 1; `None` if it never was.
    fn host_share(&self) -> Option<f64> {
        let wall_ns = if self.in_flight == 1 { self.busy_ns + self.idle_ns } else { self.busy_ns };
        (self.idle_ns > 0).then(|| self.idle_ns as f64 / wall_ns.max(1) as f64)
    }

    /// Latencies, and percentiles with the intervals of a repetition.
    fn latency(&self) -> Latency {
        let interval = |(name, share): (&str, f64)| {
            let found = self.quantiles.quantile(share)?;
            let ends = found.ci95?;
            let value = found.value.max(1.0);
            let far = |end: f64| {
                let ns = value * of_repetition((end.max(1.0) / value).ln()).exp();
                (ns.round() as u64).min(self.worst_ns)
            };
            Some((name.to_owned(), [ends.low, ends.high].map(far)))
        };
        let ci95 = [("p50", 0.50), ("p99", 0.99)].into_iter().filter_map(interval).collect();
        Latency { ci95, ..latency(&self.histogram, self.worst_ns) }
    }

    /// Caveat that the interval is wider than wanted.
    fn too_wide(&self) -> Option<Flag> {
        let rule = self.rule.as_ref()?;
        too_wide(self.rate.estimate()?.relative_half_width(), rule.relative_half_width)
    }

    /// Caveats from the numbers themselves.
    pub fn flags(&self) -> Vec<Flag> {
        let mut flags = Vec::new();
        if self.zero_latencies > 0 {
            flags.push(Flag::ZeroLatency { n: self.zero_latencies });
        }
        if self.worst_ns >= STALL_NS {
            flags.push(Flag::Stalled { longest_ns: self.worst_ns });
        }
        let estimate = self.rate.estimate();
        if estimate.is_none() {
            flags.push(Flag::TooFewSamples { n: self.ops });
        }
        flags.extend(self.too_wide());
        if let Some(rate) = estimate.as_ref().filter(|rate| !rate.independent) {
            flags.push(Flag::Autocorrelated { lag1: rate.lag1 });
        }
        let noise = estimate.as_ref().map_or(0.0, |rate| rate.relative_half_width());
        if let Some(drift) = self.drift().filter(|drift| !drift.is_steady_within(noise)) {
            flags.push(Flag::Drifting { range: drift.range, slope: drift.slope });
        }
        flags
    }

    /// Rate over time: bytes moved against bytes per second.
    pub fn rate_series(&self, name: &str) -> Series {
        let points =
            self.windows.rates(CURVE_POINTS).into_iter().map(|(bytes, bps)| [bytes, bps]).collect();
        Series::new(name, [SeriesAxis::Bytes, SeriesAxis::Bps], points)
    }

    /// Rate along a span that was processed from `start_bytes` on: offset on the medium against
    /// bytes per second.
    pub fn rate_along_span(&self, name: &str, start_bytes: u64) -> Series {
        let mut series = self.rate_series(name);
        series.x = SeriesAxis::OffsetBytes;
        series.points.iter_mut().for_each(|point| point[0] += start_bytes as f64);
        series
    }

    /// The slowest I/O of each stretch: I/Os done against nanoseconds.
    pub fn stall_series(&self) -> Series {
        let points = self.slowest.points().map(|(ops, ns)| [ops as f64, ns as f64]).collect();
        Series::new("slowest I/O", [SeriesAxis::Ops, SeriesAxis::LatencyNs], points)
    }
}

/// The slowest I/O of each of at most [`SLOWEST_POINTS`] stretches of equal length.
struct Slowest {
    peaks: Vec<u64>,
    stretch: u64,
    filled: u64,
}

impl Default for Slowest {
    fn default() -> Self {
        Slowest { peaks: Vec::with_capacity(SLOWEST_POINTS), stretch: 1, filled: 0 }
    }
}

impl Slowest {
    fn push_same(&mut self, latency_ns: u64, mut ios: u64) {
        while ios > 0 {
            if self.filled == 0 {
                self.begin_stretch();
            }
            if let Some(last) = self.peaks.last_mut() {
                *last = (*last).max(latency_ns);
            }
            let step = ios.min(self.stretch - self.filled);
            self.filled = (self.filled + step) % self.stretch;
            ios -= step;
        }
    }

    fn begin_stretch(&mut self) {
        if self.peaks.len() == SLOWEST_POINTS {
            self.peaks = self.peaks.chunks(2).map(|pair| pair[0].max(pair[1])).collect();
            self.stretch *= 2;
        }
        self.peaks.push(0);
    }

    fn points(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.peaks.iter().enumerate().map(|(i, &ns)| ((i as u64 + 1) * self.stretch, ns))
    }
}

#[cfg(test)]
mod tests {
    use device::Completion;
    use record::HostStall;

    use super::*;

    fn done(submitted_ns: u64, completed_ns: u64) -> Completion {
        Completion { slot: 0, result: Ok(()), submitted_ns, completed_ns }
    }

    /// 1,638,400 reads took 547 ms of wall-clock time, with nothing in flight for 68 ms: 3.0 M
    /// IOPS, not 3.42 M.
    #[test]
    fn deep_queues_are_counted_over_the_wall_clock_and_depth_1_over_the_mediums_time() {
        let count = |in_flight| {
            let mut tally = IoTally::under(None, in_flight);
            for turn in 0..1000 {
                tally.count(&done(turn * 1000, turn * 1000 + 800), 4096, true);
            }
            tally
        };
        let rate = |tally: &IoTally| tally.metrics().iops.unwrap().value.round();
        let (one, many) = (count(1), count(32));
        assert_eq!((rate(&one), rate(&many)), (1_250_000.0, 1_000_200.0));
        for tally in [one, many] {
            assert_eq!((tally.metrics().other["host_share"].value * 1000.0).round(), 200.0);
        }
    }

    /// Thirty-two in flight, some groups slow, counted by the group and one by one.
    #[test]
    fn counted_together_they_come_to_the_same_as_one_by_one() {
        for in_flight in [1, 4, 32] {
            let mut random = stats::Random::new(u64::from(in_flight));
            let (mut together, mut single) =
                (IoTally::under(None, in_flight), IoTally::under(None, in_flight));
            let mut now_ns = 0;
            for turn in 0..5_000 {
                let took_ns = if turn % 700 == 0 { 60_000_000 } else { random.below(9) * 1000 };
                let ios = if in_flight == 1 { 1 } else { 1 + random.below(u64::from(in_flight)) };
                let group = done(now_ns, now_ns + took_ns);
                let was_idle = turn % 3 == 0;
                together.count_together(&group, ios, 4096, was_idle);
                (0..ios).for_each(|at| single.count(&group, 4096, was_idle && at == 0));
                now_ns += took_ns + random.below(2) * 100;
            }
            assert_eq!(together.histogram, single.histogram);
            assert_eq!(format!("{:?}", together.metrics()), format!("{:?}", single.metrics()));
            assert_eq!(together.stall_series(), single.stall_series());
            assert_eq!(together.rate_series("rate"), single.rate_series("rate"));
            assert_eq!(format!("{:?}", together.flags()), format!("{:?}", single.flags()));
            let still = [HostStall { from_ns: 1, to_ns: 40_000_000 }];
            for tally in [&mut together, &mut single] {
                tally.leave_out(&still);
            }
            assert_eq!(format!("{:?}", together.host_state), format!("{:?}", single.host_state));
        }
    }

    #[test]
    fn five_seconds_are_a_stall() {
        let flagged = |took_ns: u64| {
            let mut tally = IoTally::under(None, 1);
            tally.count(&done(0, took_ns), 4096, true);
            tally.flags().contains(&Flag::Stalled { longest_ns: took_ns })
        };
        assert!(flagged(5_000_000_000) && !flagged(4_999_999_999));
    }
}
