//! The shape of a histogram of latencies, without its scale: to find media that are simulated, and
//! runs that are copies of others.

use std::collections::BTreeSet;

use record::{Histogram, Published};
use sha2::{Digest, Sha256};

/// Latencies over their median, as shares of all samples.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LatencyShape {
    samples: u64,
    /// Natural logarithm of latency over median, ascending, with the share of samples up to it.
    steps: Vec<(f64, f64)>,
}

impl LatencyShape {
    /// The shape of a histogram with at least so many samples in more than a few places.
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

    /// The logarithm below which this share of the samples lies.
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

/// The largest difference of the shares of two shapes (Kolmogorov and Smirnov), 0 to 1.
pub(super) fn distance(one: &LatencyShape, other: &LatencyShape) -> f64 {
    let most = |a: &LatencyShape, b: &LatencyShape| {
        a.steps.iter().map(|(at, share)| share - b.share(*at)).fold(0.0, f64::max)
    };
    most(one, other).max(most(other, one))
}

/// Points of a sketch: shares of the samples, in thousandths.
const POINTS: [u64; 16] =
    [5, 10, 25, 50, 100, 200, 300, 400, 600, 700, 800, 900, 950, 975, 990, 995];
/// Cells that a sketch takes, those with most I/Os.
const CELLS: usize = 6;
/// I/Os that a cell of a sketch has at least.
const SKETCHED: u64 = 300;
/// Places of a histogram from which on its counts are equal to others by no chance.
const DIFFERENT: usize = 20;
/// Two sketches whose logarithms differ by no more are of one measurement: a second one of the same
/// medium differs by the square root of its samples, in the tails by percents.
const COPY: f64 = 0.004;

/// The shapes of a run's latencies in little: by which a copy of it is found again, whatever else
/// is written beside them.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct RunSketch(Vec<CellSketch>);

#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
struct CellSketch {
    cell: String,
    /// Logarithms of latency over median at [`POINTS`].
    logs: Vec<f32>,
}

impl CellSketch {
    fn is_like(&self, other: &CellSketch) -> bool {
        let mut pairs = self.logs.iter().zip(&other.logs);
        pairs.all(|(a, b)| f64::from((a - b).abs()) <= COPY)
    }
}

/// Cells of a run with most I/Os that have a histogram, the largest first.
fn largest(run: &Published) -> Vec<(&str, &Histogram)> {
    let mut large: Vec<_> = run
        .cells
        .iter()
        .filter_map(|cell| Some((cell.id.as_str(), cell.histogram.as_ref()?)))
        .filter(|(_, histogram)| histogram.len() >= SKETCHED)
        .collect();
    large.sort_by(|(a, x), (b, y)| y.len().cmp(&x.len()).then_with(|| a.cmp(b)));
    large.truncate(CELLS);
    large
}

/// Marks of the latencies of a run's largest cells to the last count, 32 hexadecimal digits each: two
/// runs that share one are of one measurement, whatever else was changed. Empty for a run with too
/// few I/Os.
pub fn latency_marks(run: &Published) -> Vec<String> {
    let mark = |(_, histogram): &(&str, &Histogram)| {
        let places: Vec<(u64, u64)> = histogram.buckets().collect();
        let text = places.iter().map(|(ns, count)| format!("{ns}:{count} ")).collect::<String>();
        let digits = |byte: &u8| format!("{byte:02x}");
        let hash = Sha256::digest(text.as_bytes());
        (places.len() >= DIFFERENT).then(|| hash[..16].iter().map(digits).collect())
    };
    let marks: BTreeSet<String> = largest(run).iter().filter_map(mark).collect();
    marks.into_iter().collect()
}

impl RunSketch {
    /// The sketch of a run; one of slow media has too few I/Os, and is empty.
    pub fn of(run: &Published) -> RunSketch {
        let sketch = |(cell, histogram): (&str, &Histogram)| {
            let at = |thousandths: u64| {
                let rank = (histogram.len() * thousandths).div_ceil(1000).max(1);
                (histogram.order_statistic(rank).max(1) as f64).ln()
            };
            let median = at(500);
            let logs = POINTS.iter().map(|point| (at(*point) - median) as f32).collect();
            CellSketch { cell: cell.to_owned(), logs }
        };
        RunSketch(largest(run).into_iter().map(sketch).collect())
    }

    /// Whether it tells nothing: no run is a copy of one like that.
    pub fn is_empty(&self) -> bool {
        self.0.len() < 2
    }

    /// Whether two runs have the latencies of one measurement: at least two cells, and half of those
    /// of the smaller sketch, have a cell of the same shape in the other, whatever they are called.
    pub fn is_copy_of(&self, other: &RunSketch) -> bool {
        let mut theirs: Vec<&CellSketch> = other.0.iter().collect();
        let is_there = |mine: &&CellSketch| {
            let found = theirs.iter().position(|cell| mine.is_like(cell));
            found.map(|at| theirs.swap_remove(at)).is_some()
        };
        let alike = self.0.iter().filter(is_there).count();
        alike >= 2 && alike * 2 >= self.0.len().min(other.0.len())
    }
}
