//! What a stretch of I/O came to: every latency, the rate with its interval, curves, doubts.

use device::{Completion, IoError};
use record::units::SECOND_NS;
use record::{Axis, Estimate, Flag, Histogram, Latency, Metrics, Series, Stop};
use stats::{Drift, QuantileEstimator, RareEvents, RateEstimator, StopRule, Windows, smallest_sample};

use crate::Outcome;

/// Points a curve keeps at most; neighbours are merged beyond.
const CURVE_POINTS: usize = 240;

/// The rare slow I/Os that any flash is expected to have, seen or not: 0.5 % (flash.md E5, "Jitter"), 5 times as long. The notes say 3 to
/// 10 times; with this, intervals hold on models of 3 to 6 times and of 3 to 10 times alike (docs/truth.md).
const TAIL_OF_FLASH: RareEvents = RareEvents { share: 0.005, excess: 4.0 };

/// A call that took as long as this is a doubt: it may be the link or the host as well as the medium.
const STALL_NS: u64 = 5 * SECOND_NS;

/// What a stretch of I/O came to.
pub struct Tally {
    /// Every latency in nanoseconds.
    pub histogram: Histogram,
    /// Time per I/O, for the rate and its interval.
    pub rate: RateEstimator,
    /// Rate over the course of it, weighed in bytes.
    pub windows: Windows,
    quantiles: QuantileEstimator,
    slowest: Slowest,
    /// I/Os done.
    pub ops: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Time during which at least one I/O was under way, in nanoseconds. What the host needs between I/Os to make data does not count.
    pub busy_ns: u64,
    /// Processor time used, in nanoseconds, where there is a processor.
    pub cpu_ns: Option<u64>,
    /// I/Os that took no time at all.
    pub zero_latencies: u64,
    /// Longest I/O in nanoseconds, exactly.
    pub worst_ns: u64,
    /// Why it ended.
    pub stop: Stop,
    /// What the medium said, where it ended by an error.
    pub error: Option<IoError>,
    /// The rule it ran under.
    pub rule: Option<StopRule>,
    last_ns: u64,
}

impl Default for Tally {
    fn default() -> Self {
        Tally {
            histogram: Histogram::default(),
            rate: RateEstimator::expecting(TAIL_OF_FLASH),
            windows: Windows::new(CURVE_POINTS),
            quantiles: QuantileEstimator::new(0),
            slowest: Slowest::default(),
            ops: 0,
            bytes: 0,
            busy_ns: 0,
            cpu_ns: None,
            zero_latencies: 0,
            worst_ns: 0,
            stop: Stop::Ops,
            error: None,
            rule: None,
            last_ns: 0,
        }
    }
}

impl Tally {
    /// Nothing counted yet of a loop with so many I/Os in flight, to be judged by this rule.
    pub fn under(rule: Option<StopRule>, in_flight: u32) -> Tally {
        Tally { rule, quantiles: QuantileEstimator::overlapping(0, in_flight), ..Tally::default() }
    }

    /// Counts a completed I/O of `bytes`. `was_idle`: nothing was under way before it was submitted.
    #[inline]
    pub fn count(&mut self, done: &Completion, bytes: u64, was_idle: bool) {
        let latency_ns = done.latency_ns();
        let since = if was_idle { self.last_ns.max(done.submitted_ns) } else { self.last_ns };
        let step_ns = done.completed_ns.saturating_sub(since);
        self.last_ns = self.last_ns.max(done.completed_ns);
        self.histogram.record(latency_ns);
        self.rate.push(step_ns);
        self.windows.push(bytes as f64, step_ns);
        self.quantiles.push(latency_ns);
        self.slowest.push(latency_ns);
        self.ops += 1;
        self.bytes += bytes;
        self.busy_ns += step_ns;
        self.zero_latencies += u64::from(latency_ns == 0);
        self.worst_ns = self.worst_ns.max(latency_ns);
    }

    /// Ends it by an error of the medium; the first one counts.
    pub fn fail(&mut self, error: IoError) {
        self.stop = Stop::Error;
        self.error.get_or_insert(error);
    }

    /// How the rate moved over the run, in fifths; `None` before there is enough to tell.
    pub fn drift(&self) -> Option<Drift> {
        self.windows.drift()
    }

    /// Rate, interval, latencies.
    pub fn metrics(&self) -> Metrics {
        let mut metrics = Metrics::default();
        if self.ops == 0 || self.busy_ns == 0 {
            return metrics;
        }
        let seconds = self.busy_ns as f64 / 1e9;
        let iops = self.ops as f64 / seconds;
        let ci95 = self.rate.estimate().map(|rate| [rate.ci95.low, rate.ci95.high]);
        metrics.iops = Some(Estimate { value: iops, ci95, n: self.ops });
        let mean_bytes = self.bytes as f64 / self.ops as f64;
        let scaled = ci95.map(|[low, high]| [low * mean_bytes, high * mean_bytes]);
        metrics.bps = Some(Estimate { value: self.bytes as f64 / seconds, ci95: scaled, n: self.ops });
        metrics.latency_ns = Some(self.latency());
        if let Some(cpu_ns) = self.cpu_ns {
            metrics.other.insert("cpu_ns_per_io".into(), Estimate { value: cpu_ns as f64 / self.ops as f64, ci95: None, n: self.ops });
        }
        metrics
    }

    /// The latencies in figures, percentiles with their intervals.
    fn latency(&self) -> Latency {
        let interval = |share: f64| self.quantiles.quantile(share).and_then(|estimate| estimate.ci95);
        let named = [("p50", 0.5), ("p99", 0.99)].into_iter().filter_map(|(name, share)| Some((name, interval(share)?)));
        let ci95 = named.map(|(name, ci)| (name.to_owned(), [ci.low.round() as u64, ci.high.round() as u64])).collect();
        Latency { ci95, ..latency(&self.histogram, self.worst_ns) }
    }

    /// Doubts that the numbers themselves raise.
    pub fn flags(&self) -> Vec<Flag> {
        let mut flags = Vec::new();
        if self.zero_latencies > 0 {
            flags.push(Flag::ZeroLatency { n: self.zero_latencies });
        }
        if self.worst_ns >= STALL_NS {
            flags.push(Flag::Stalled { longest_ns: self.worst_ns });
        }
        let estimate = self.rate.estimate();
        match (&estimate, &self.rule) {
            (None, _) => flags.push(Flag::TooFewSamples { n: self.ops }),
            (Some(rate), Some(rule)) if self.stop != Stop::Converged => {
                let width = rate.ci95.relative_half_width(rate.per_second);
                if width > rule.relative_half_width {
                    flags.push(Flag::NotConverged { relative_half_width: width });
                }
            }
            _ => {}
        }
        if let Some(rate) = estimate.as_ref().filter(|rate| !rate.independent) {
            flags.push(Flag::Autocorrelated { lag1: rate.lag1 });
        }
        let noise = estimate.as_ref().map_or(0.0, |rate| rate.relative_half_width());
        if let Some(drift) = self.drift().filter(|drift| !drift.is_steady_within(noise)) {
            flags.push(Flag::Drifting { range: drift.range, slope: drift.slope });
        }
        flags
    }

    /// Rate over the course of it: bytes moved against bytes a second.
    pub fn rate_series(&self, name: &str) -> Series {
        let points = self.windows.rates().into_iter().map(|(bytes, bps)| [bytes, bps]).collect();
        Series { name: name.into(), x: Axis::Bytes, y: Axis::Bps, points }
    }

    /// Rate along a span that was gone over from `start_bytes` on: place on the medium against bytes a second.
    pub fn rate_along_span(&self, name: &str, start_bytes: u64) -> Series {
        let mut series = self.rate_series(name);
        series.x = Axis::OffsetBytes;
        series.points.iter_mut().for_each(|point| point[0] += start_bytes as f64);
        series
    }

    /// The slowest I/O of each stretch: I/Os done against nanoseconds.
    pub fn stall_series(&self) -> Series {
        let points = self.slowest.points().map(|(ops, ns)| [ops as f64, ns as f64]).collect();
        Series { name: "slowest I/O".into(), x: Axis::Ops, y: Axis::LatencyNs, points }
    }

    /// The outcome of a cell that consists of this stretch alone.
    pub fn outcome(self, planned: &record::PlannedCell) -> Outcome {
        let mut outcome = Outcome::new(planned);
        outcome.cell.metrics = self.metrics();
        outcome.cell.flags = self.flags();
        outcome.cell.series = vec![self.rate_series("rate"), self.stall_series()];
        outcome.absorb(self);
        outcome
    }
}

/// Latencies in figures; a percentile with too few samples is absent (flash.md F1).
pub fn latency(histogram: &Histogram, worst_ns: u64) -> Latency {
    let n = histogram.len();
    let at = |share: f64| (n >= smallest_sample(share)).then(|| histogram.quantile(share));
    Latency {
        n,
        min: histogram.min(),
        mean: histogram.mean(),
        p50: at(0.50),
        p90: at(0.90),
        p95: at(0.95),
        p99: at(0.99),
        p99_9: at(0.999),
        max: worst_ns,
        ci95: Default::default(),
    }
}

/// The slowest I/O of each of at most [`CURVE_POINTS`] stretches of equal length.
struct Slowest {
    peaks: Vec<u64>,
    stretch: u64,
    filled: u64,
}

impl Default for Slowest {
    fn default() -> Self {
        Slowest { peaks: Vec::with_capacity(CURVE_POINTS), stretch: 1, filled: 0 }
    }
}

impl Slowest {
    #[inline]
    fn push(&mut self, latency_ns: u64) {
        if self.filled == 0 {
            if self.peaks.len() == CURVE_POINTS {
                self.peaks = self.peaks.chunks(2).map(|pair| pair[0].max(pair[1])).collect();
                self.stretch *= 2;
            }
            self.peaks.push(0);
        }
        if let Some(last) = self.peaks.last_mut() {
            *last = (*last).max(latency_ns);
        }
        self.filled = (self.filled + 1) % self.stretch;
    }

    fn points(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.peaks.iter().enumerate().map(|(i, &ns)| ((i as u64 + 1) * self.stretch, ns))
    }
}
