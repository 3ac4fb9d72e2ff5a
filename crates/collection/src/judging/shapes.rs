//! Shape of a latency histogram, without its scale: used to find simulated media.

use record::Histogram;

/// Distribution of latency divided by the median.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LatencyShape {
    samples: u64,
    /// Natural logarithm of latency divided by median, ascending, with the share of samples up to
    /// it.
    steps: Vec<(f64, f64)>,
}

impl LatencyShape {
    /// The shape of a histogram; `None` with fewer than `least` samples or only a few distinct
    /// latencies.
    pub fn of(histogram: &Histogram, least: u64) -> Option<LatencyShape> {
        let samples = histogram.len();
        if samples < least {
            return None;
        }
        let buckets: Vec<(u64, u64)> = histogram.buckets().collect();
        let mut seen = 0u64;
        let mut median = 0u64;
        for (ns, count) in &buckets {
            seen += count;
            if seen * 2 >= samples {
                median = *ns;
                break;
            }
        }
        let mut seen = 0u64;
        let steps = buckets.iter().map(|(ns, count)| {
            seen += count;
            ((*ns as f64 / median.max(1) as f64).ln(), seen as f64 / samples as f64)
        });
        let steps: Vec<(f64, f64)> = steps.collect();
        Some(LatencyShape { samples, steps })
    }

    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// The logarithm below which this share of the samples is.
    pub fn quantile(&self, share: f64) -> f64 {
        let at = self.steps.partition_point(|(_, seen)| *seen < share);
        self.steps.get(at).or(self.steps.last()).map_or(0.0, |(log, _)| *log)
    }

    /// The share of samples up to a logarithm.
    pub fn share(&self, at: f64) -> f64 {
        // Three digits of a histogram: neighbours count as equal.
        const GRAIN: f64 = 0.0015;
        let up_to = self.steps.partition_point(|(log, _)| *log <= at + GRAIN);
        up_to.checked_sub(1).map_or(0.0, |last| self.steps[last].1)
    }
}

/// Largest difference of the cumulative shares of two shapes (Kolmogorov-Smirnov), 0 to 1.
pub(super) fn distance(one: &LatencyShape, other: &LatencyShape) -> f64 {
    let most = |a: &LatencyShape, b: &LatencyShape| {
        a.steps.iter().map(|(at, share)| share - b.share(*at)).fold(0.0, f64::max)
    };
    most(one, other).max(most(other, one))
}
