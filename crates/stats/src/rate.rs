//! The rate of a stream of events, on line and in constant memory.

use crate::sample::{mean, variance};
use crate::{Interval, student_t};

/// Batches are merged in pairs when there are this many, so there are always half of it to all of it.
const FULL: usize = 128;

/// The mean time per event of a stream, on line: sums of completion-to-completion times over batches of consecutive
/// events. Keeps 64 to 128 batches; when full, neighbours are merged in pairs and the batch size doubles.
#[derive(Debug, Clone)]
pub struct RateEstimator {
    batches: Vec<u64>,
    events_per_batch: u64,
    open_events: u64,
    open_ns: u64,
}

/// A rate with its uncertainty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateEstimate {
    /// Events per second: all events over all time.
    pub per_second: f64,
    /// The 95 % confidence interval of the long-run rate, in events per second.
    pub ci95: Interval,
    /// Events measured.
    pub n: u64,
    /// Batches that the interval was made from.
    pub batches: usize,
    /// Lag-1 autocorrelation of these batches.
    pub lag1: f64,
    /// Do the batches look independent (von Neumann ratio)?
    pub independent: bool,
}

impl Default for RateEstimator {
    fn default() -> Self {
        Self::new()
    }
}

impl RateEstimator {
    /// No events yet.
    pub fn new() -> Self {
        RateEstimator { batches: Vec::with_capacity(FULL), events_per_batch: 1, open_events: 0, open_ns: 0 }
    }

    /// One event that ended `elapsed_ns` after the one before it.
    #[inline]
    pub fn push(&mut self, elapsed_ns: u64) {
        self.open_events += 1;
        self.open_ns += elapsed_ns;
        if self.open_events == self.events_per_batch {
            self.close_batch();
        }
    }

    fn close_batch(&mut self) {
        self.batches.push(std::mem::take(&mut self.open_ns));
        self.open_events = 0;
        if self.batches.len() == FULL {
            self.batches = self.batches.chunks_exact(2).map(|pair| pair[0] + pair[1]).collect();
            self.batches.reserve_exact(FULL / 2);
            self.events_per_batch *= 2;
        }
    }

    /// Events so far.
    pub fn events(&self) -> u64 {
        self.batches.len() as u64 * self.events_per_batch + self.open_events
    }

    /// Time so far: the sum of everything pushed.
    pub fn total_ns(&self) -> u64 {
        self.batches.iter().sum::<u64>() + self.open_ns
    }

    /// The rate and its interval; `None` below two batches or without any elapsed time.
    pub fn estimate(&self) -> Option<RateEstimate> {
        let (n, total_ns) = (self.events(), self.total_ns());
        if self.batches.len() < 2 || total_ns == 0 {
            return None;
        }
        let means: Vec<f64> = self.batches.iter().map(|&ns| ns as f64 / self.events_per_batch as f64).collect();
        let centre = mean(&means);
        let spread = variance(&means);
        let k = means.len() as f64;
        let products = means.windows(2).map(|w| (w[0] - centre) * (w[1] - centre)).sum::<f64>();
        let lag1 = if spread > 0.0 { products / (spread * (k - 1.0)) } else { 0.0 };
        let relative = student_t(0.975, k - 1.0) * (spread / k).sqrt() / centre;
        let per_second = n as f64 * 1e9 / total_ns as f64;
        Some(RateEstimate {
            per_second,
            ci95: Interval { low: per_second * (-relative).exp(), high: per_second * relative.exp() },
            n,
            batches: means.len(),
            lag1,
            independent: lag1 < 1.645 / k.sqrt(),
        })
    }
}
