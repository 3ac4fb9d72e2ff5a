//! All media at one kind of work: a row for each block size, a figure for each medium, and the
//! fastest with its ratio.

use std::collections::BTreeSet;

use serde::Serialize;
use stats::RunRate;

use super::{AtSize, Curve, FastestMedium, RunGroup, WORK, run_rates};
use crate::figures::figure::UsableEstimate;

/// All media at one kind of work.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorkComparison {
    /// "random-write", "random-read", "sequential-write", "sequential-read".
    pub test: String,
    /// "iops" for random I/O, "bps" for sequential I/O.
    pub metric: String,
    /// Rows in ascending order of block size.
    pub rows: Vec<WorkRow>,
}

/// All media at one block size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorkRow {
    /// Bytes of one I/O.
    pub block_bytes: u64,
    /// A figure for each medium, in the order of the media; null if there is none, or if it was
    /// measured with another number of I/Os in flight than the first.
    pub figures: Vec<Option<ComparedFigure>>,
    /// The fastest medium, if at least two have a figure with a range.
    pub fastest: Option<FastestMedium>,
}

/// Figure of a medium over its runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ComparedFigure {
    /// The geometric mean of the runs.
    pub value: f64,
    /// The 95 % interval of a single run, or the lowest and the highest of several runs.
    pub range: Option<[f64; 2]>,
    /// Number of runs.
    pub runs: usize,
}

/// Works that at least one pair of the media has in common.
pub(super) fn works(groups: &[RunGroup], curves: &[Curve]) -> Vec<WorkComparison> {
    WORK.iter().filter_map(|(test, metric)| work(groups, curves, test, metric)).collect()
}

fn work<'a>(
    groups: &[RunGroup<'a>],
    curves: &[Curve],
    test: &'a str,
    metric: &'a str,
) -> Option<WorkComparison> {
    let of_work = curves.iter().filter(|curve| curve.test == test);
    let sizes: BTreeSet<u64> =
        of_work.flat_map(|curve| &curve.points).map(|point| point.block_bytes).collect();
    let row = |block_bytes: u64| {
        let at = AtSize::of(groups, test, block_bytes);
        let depth = groups.iter().find_map(|group| at.in_flight(group));
        let of = |group: &RunGroup<'a>| -> Vec<UsableEstimate<'a>> {
            depth.map_or_else(Vec::new, |depth| at.figures(group, metric, depth))
        };
        let of: Vec<Vec<UsableEstimate>> = groups.iter().map(of).collect();
        let figures = of.iter().map(|of| compared(of)).collect();
        let ranged = of.iter().map(|of| ranged(of)).collect::<Vec<_>>();
        WorkRow { block_bytes, figures, fastest: FastestMedium::among(&ranged) }
    };
    let rows: Vec<WorkRow> = sizes.into_iter().map(row).collect();
    (!rows.is_empty()).then(|| WorkComparison { test: test.into(), metric: metric.into(), rows })
}

/// Mean and range of the runs of a medium.
pub(super) fn compared(found: &[UsableEstimate]) -> Option<ComparedFigure> {
    let values: Vec<f64> = found.iter().map(|figure| figure.value).collect();
    let value = stats::geometric_mean(&values)?;
    let range = match found {
        [only] => only.ci95,
        _ => Some([
            values.iter().copied().fold(f64::MAX, f64::min),
            values.iter().copied().fold(f64::MIN, f64::max),
        ]),
    };
    Some(ComparedFigure { value, range, runs: found.len() })
}

/// Rates of the runs of a medium with a range; empty if one of them may be anything.
pub(super) fn ranged(found: &[UsableEstimate]) -> Vec<RunRate> {
    let is_ranged = compared(found).is_some_and(|figure| figure.range.is_some());
    if is_ranged { run_rates(found) } else { Vec::new() }
}
