//! The shape of a histogram of latencies, without its scale: to find media that are simulated, and
//! runs that are copies of others.

use record::{Histogram, Published};

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

/// The latencies of a run's largest cells to the last count, as text: equal where one run is a copy
/// of another, whatever else was changed. `None` where it has too few.
pub fn latencies_of(run: &Published) -> Option<String> {
    let large = largest(run);
    let text = |(_, histogram): &(&str, &Histogram)| {
        let places = histogram.buckets().map(|(ns, count)| format!("{ns}:{count} "));
        places.collect::<String>()
    };
    (large.len() >= 2).then(|| large.iter().map(text).collect::<Vec<_>>().join("\n"))
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

    /// Whether two runs have the latencies of one measurement: at least two cells of the same name,
    /// and all that both have, with the same shape.
    pub fn is_copy_of(&self, other: &RunSketch) -> bool {
        let of_both: Vec<bool> = self
            .0
            .iter()
            .filter_map(|mine| {
                let theirs = other.0.iter().find(|theirs| theirs.cell == mine.cell)?;
                let pairs = mine.logs.iter().zip(&theirs.logs);
                Some(pairs.into_iter().all(|(a, b)| f64::from((a - b).abs()) <= COPY))
            })
            .collect();
        of_both.len() >= 2 && of_both.iter().all(|same| *same)
    }
}
