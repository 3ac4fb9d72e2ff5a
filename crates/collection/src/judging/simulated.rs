//! Signature of a simulated medium. One random spread scales all of its latencies, so cells of
//! different tests have the same shape, whatever their speed, and that shape is lognormal within a
//! percent. Real media have neither property: reads and writes, small and large blocks take
//! different paths through them.

use record::{Cell, Published, test};

use super::shapes::{LatencyShape, distance};

/// Least number of I/Os for a meaningful shape.
const ENOUGH: u64 = 400;
/// Number of cells of one shape that form a signature.
const ALIKE: usize = 3;
/// Kolmogorov-Smirnov statistic, times the square root of the effective sample size, below which
/// two shapes count as equal: equal shapes exceed it in 1 % of the cases.
const SAME: f64 = 1.63;
/// Most cells that are compared with each other: those with most I/Os.
const CELLS: usize = 24;
/// Coarsest resolution of a usable shape: with less, it resembles too many others.
const RESOLUTION: f64 = 0.06;

/// Shares at which a shape is compared with a lognormal distribution, with the quantiles of the
/// standard normal distribution. The tails are left out: models draw them separately.
const NORMAL: [(f64, f64); 11] = [
    (0.02, -2.0537),
    (0.05, -1.6449),
    (0.1, -1.2816),
    (0.2, -0.8416),
    (0.3, -0.5244),
    (0.5, 0.0),
    (0.7, 0.5244),
    (0.8, 0.8416),
    (0.9, 1.2816),
    (0.95, 1.6449),
    (0.98, 2.0537),
];
/// Least number of I/Os with which a lognormal shape is evidence. A single cell may have one by
/// chance: one of 300 cells on a disk and on tmpfs had, with 7,054 I/Os.
const MANY: u64 = 2000;
/// Largest relative difference of two equal lognormal standard deviations.
const SAME_DEVIATION: f64 = 0.15;

/// Two cells of different tests or sizes with latencies from one lognormal distribution, as far as
/// their many I/Os can tell. `None` for real media.
pub(super) fn lognormal(run: &Published) -> Option<(&str, &str)> {
    let shapes = shapes(run, MANY).into_iter();
    let drawn: Vec<(&Cell, f64)> =
        shapes.filter_map(|(cell, shape)| Some((cell, lognormal_deviation(&shape)?))).collect();
    drawn.iter().enumerate().find_map(|(at, (one, deviation))| {
        let is_like = |(other, theirs): &&(&Cell, f64)| {
            sort(one) != sort(other) && (theirs / deviation - 1.0).abs() < SAME_DEVIATION
        };
        let (other, _) = drawn[at + 1..].iter().find(is_like)?;
        Some((one.id.as_str(), other.id.as_str()))
    })
}

/// Standard deviation of the logarithms if the shape is lognormal.
fn lognormal_deviation(shape: &LatencyShape) -> Option<f64> {
    // Between one standard deviation below and above the median.
    let sigma = (shape.quantile(0.8413) - shape.quantile(0.1587)) / 2.0;
    let limit = SAME / (shape.samples() as f64).sqrt();
    let is_near =
        |(share, z): &(f64, f64)| (shape.share(z * sigma) - share).abs() < limit + TAILS * share;
    NORMAL.iter().all(is_near).then_some(sigma)
}

/// Share of the samples that a model draws from a longer tail: they are above every quantile used
/// here.
const TAILS: f64 = 0.005;

/// Cells with latencies of one shape, if enough of them in different tests or sizes agree to rule
/// out chance: the signature of a simulated medium. Empty for real media.
pub(super) fn signature(run: &Published) -> Vec<&str> {
    let shapes = shapes(run, ENOUGH);
    let alike = |(center, shape): &(&Cell, LatencyShape)| -> Vec<(&str, (String, Option<u64>))> {
        let same = |(other, theirs): &&(&Cell, LatencyShape)| {
            other.id == center.id || is_one_shape(shape, theirs)
        };
        shapes.iter().filter(same).map(|(cell, _)| (cell.id.as_str(), sort(cell))).collect()
    };
    let best = shapes.iter().map(alike).max_by_key(Vec::len).unwrap_or_default();
    let mut sorts: Vec<_> = best.iter().map(|(_, sort)| sort).collect();
    sorts.sort();
    sorts.dedup();
    let tests = sorts.iter().map(|(test, _)| test).collect::<std::collections::BTreeSet<_>>();
    if sorts.len() < ALIKE || tests.len() < 2 {
        return Vec::new();
    }
    best.into_iter().map(|(id, _)| id).collect()
}

/// Shapes of up to [`CELLS`] comparable cells with most I/Os, each with at least `least` I/Os.
fn shapes(run: &Published, least: u64) -> Vec<(&Cell, LatencyShape)> {
    let mut cells: Vec<(&Cell, &record::Histogram)> = run
        .cells
        .iter()
        .filter(|cell| is_comparable(cell))
        .filter_map(|cell| Some((cell, cell.histogram.as_ref()?)))
        .collect();
    cells.sort_by_key(|(_, histogram)| std::cmp::Reverse(histogram.len()));
    let known = cells.into_iter().take(CELLS);
    known
        .filter_map(|(cell, histogram)| Some((cell, LatencyShape::of(histogram, least)?)))
        .collect()
}

/// True for plain reads and writes with one I/O in flight: with more, the shape is that of the
/// queue.
fn is_comparable(cell: &Cell) -> bool {
    let tests =
        [test::RANDOM_READ, test::RANDOM_WRITE, test::SEQUENTIAL_READ, test::SEQUENTIAL_WRITE];
    tests.contains(&cell.test.as_str())
        && u64::from(cell.params.queue_depth) * u64::from(cell.params.threads) == 1
}

/// The test and the block size in bytes.
fn sort(cell: &Cell) -> (String, Option<u64>) {
    (cell.test.clone(), cell.params.block_bytes)
}

fn is_one_shape(one: &LatencyShape, other: &LatencyShape) -> bool {
    let (n, m) = (one.samples() as f64, other.samples() as f64);
    let effective = n * m / (n + m);
    let limit = SAME / effective.sqrt();
    limit <= RESOLUTION * SAME && distance(one, other) < limit
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression: a record of a kilobyte, with 64 cells of 20,000 buckets each, took 80 s to
    /// check.
    #[test]
    fn few_cells_are_held_against_each_other_however_many_there_are() {
        let text = include_str!("../../../../fixtures/records/flashmark-0.1.0-sim.json");
        let mut run = Published::from(&record::Record::from_json(text).unwrap());
        let mut cell = run.cells.last().unwrap().clone();
        let mut histogram = record::Histogram::default();
        (1..=500).for_each(|place| histogram.record(place * 10_000));
        cell.histogram = Some(histogram);
        run.cells = vec![cell; 64];
        assert_eq!(shapes(&run, ENOUGH).len(), CELLS);
    }
}
