//! Comparison of several media: the faster one for each kind of work with its ratio, crossings of
//! the curves, and differences between hosts that could explain it (docs/field/peers.md#wishes).
//!
//! Runs of the same medium are repeats: the variance between them, and within them if they have
//! rounds, decides if a difference is significant (docs/field/statistics.md#comparing-runs). Single
//! runs have no information on differences between runs.

use std::collections::BTreeSet;

use record::units::Bytes;
use record::{Record, metric, test};
use serde::Serialize;
use stats::RunRate;

use crate::figures::figure::{self, UsableEstimate};

mod at_size;
mod by;
mod equal;
mod groups;
mod hosts;
mod matrices;
mod naming;
mod others;
mod ranks;
mod ratio;
mod regression;
mod works;

use at_size::AtSize;
pub use by::ComparedBy;
pub use equal::{LevelComparison, LevelFigure};
pub use groups::with_medium_named;
use groups::{RunGroup, distinct, groups, identity};
pub use matrices::{CombinationRow, MatrixComparison};
pub use naming::letters;
pub use others::FigureRow;
pub use ranks::{Rank, RankPlace};
pub use ratio::{FasterMedium, FastestMedium, MediaRatio, MoreRuns};
pub use regression::{ChangedFigure, Regression, regression, unclear};
pub use works::{ComparedFigure, WorkComparison, WorkRow};

/// Several media compared pairwise: the first with each of the others, and so on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MediaComparison {
    /// Compared media in the given order.
    pub media: Vec<Compared>,
    /// True if these are two states of one medium: first after a change, then before it.
    pub is_change: bool,
    /// Differences between hosts and runs that could explain a difference; to be read first.
    pub differences: Vec<String>,
    /// All media at each kind of work.
    pub works: Vec<WorkComparison>,
    /// Figures that belong to none of these works.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<FigureRow>,
    /// Matrices of file systems and schedulers, one entry for each work.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub matrices: Vec<MatrixComparison>,
    /// Levels of the factor that the user named, each compared with the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub levels: Option<LevelComparison>,
    /// Curves of each pair at each kind of work.
    pub curves: Vec<Curve>,
    /// Ranking of the media for each use.
    pub ranks: Vec<Rank>,
    /// Figures of one medium of a pair that could not be compared with the other, with the reason.
    pub not_compared: Vec<String>,
}

/// One side of a comparison as named by the user: a run, or all runs of a label, which are repeats.
#[derive(Clone, Debug)]
pub struct ComparisonSide {
    /// Name of this side.
    pub name: String,
    /// Its runs.
    pub records: Vec<Record>,
}

/// A medium with its runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// Name in this comparison: the difference, if runs of one medium are compared; with a letter
    /// if two have the same name.
    pub name: String,
    /// Short form for the head of a column; absent if the name is short enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// Name typed by the user, if it differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub typed: Option<String>,
    /// Reason why nobody should use it, if a run found a fake, lost data or failing parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// Ids of its runs.
    pub runs: Vec<String>,
}

/// A pair of media at one kind of work, over all block sizes measured on both.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curve {
    /// Name of the first medium, A, as in [`Compared`].
    pub a: String,
    /// Name of the second medium, B, as in [`Compared`].
    pub b: String,
    /// "random-write", "random-read", "sequential-write", "sequential-read".
    pub test: String,
    /// "iops" for random I/O, "bps" for sequential I/O.
    pub metric: String,
    /// Points in ascending order of block size.
    pub points: Vec<BlockSizePoint>,
    /// Block sizes at which one overtakes the other.
    pub crossings: Vec<Crossing>,
}

/// Both media at one block size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BlockSizePoint {
    /// Bytes of one I/O.
    pub block_bytes: u64,
    /// A's figure: the geometric mean of its runs.
    pub a: f64,
    /// B's figure: the geometric mean of its runs.
    pub b: f64,
    /// Ratio of A's figure to B's.
    #[serde(flatten)]
    pub found: MediaRatio,
}

/// Point at which one curve overtakes another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Crossing {
    /// Block size at which both are equal, interpolated logarithmically between two measured ones.
    pub block_bytes: f64,
    /// Its 95 % interval in bytes; null if the interval of the ratio does not cross 1 on both
    /// sides.
    pub ci95: Option<[f64; 2]>,
    /// Medium that is faster above it: "a" or "b".
    pub above: &'static str,
}

/// Compared tests with their metrics.
const WORK: [(&str, &str); 4] = [
    (test::RANDOM_WRITE, metric::IOPS),
    (test::RANDOM_READ, metric::IOPS),
    (test::SEQUENTIAL_WRITE, metric::BPS),
    (test::SEQUENTIAL_READ, metric::BPS),
];

/// Compares the media of these records. Runs of one medium (same serial number or profile, or same
/// name and size) are its repeats.
pub fn compare(records: &[Record]) -> MediaComparison {
    let mut groups = groups(records);
    naming::namesakes(&mut groups);
    ranked(&groups, held_against_each_other(&groups))
}

/// Compares runs from several hosts: a medium in another reader, under another kernel or with
/// another setting is not a repeat, but a medium of its own.
pub fn compare_runs(records: &[Record]) -> MediaComparison {
    let groups = naming::by_host(groups(records));
    ranked(&groups, held_against_each_other(&groups))
}

/// Compares each level of a factor that the user names with the first, over runs that are equal in
/// everything else.
pub fn compare_by(records: &[Record], by: ComparedBy) -> MediaComparison {
    let groups = naming::by_level(groups(records), by);
    MediaComparison {
        levels: Some(equal::levels(records, by)),
        ..ranked(&groups, held_against_each_other(&groups))
    }
}

/// Compares runs of one medium, named by their differences. Nothing is ranked, as there is only one
/// medium.
pub fn compare_sides(sides: &[ComparisonSide]) -> MediaComparison {
    let mut groups = as_typed(sides);
    naming::by_what_differs(&mut groups);
    held_against_each_other(&groups)
}

fn as_typed(sides: &[ComparisonSide]) -> Vec<RunGroup<'_>> {
    sides.iter().map(|side| RunGroup::new(side.name.clone(), distinct(&side.records))).collect()
}

/// Compares runs of one medium before and after a change. The first medium of the result is the
/// later state, so that every ratio is after divided by before.
pub fn compare_change(before: ComparisonSide, after: ComparisonSide) -> MediaComparison {
    MediaComparison { is_change: true, ..held_against_each_other(&as_typed(&[after, before])) }
}

/// True if all of these are runs of one medium.
pub fn is_one_medium(records: &[Record]) -> bool {
    records.windows(2).all(|pair| identity(&pair[0].medium) == identity(&pair[1].medium))
}

/// [`compare`] without other figures, matrices and left-out comparisons, for a page with curves and
/// ranks of many cells.
pub fn compare_curves(records: &[Record]) -> MediaComparison {
    let mut groups = groups(records);
    naming::namesakes(&mut groups);
    ranked(&groups, curves_of(&groups))
}

fn ranked(groups: &[RunGroup], found: MediaComparison) -> MediaComparison {
    MediaComparison { ranks: ranks::ranks(groups, &found.media), ..found }
}

fn held_against_each_other(groups: &[RunGroup]) -> MediaComparison {
    let found = curves_of(groups);
    let (matrices, of_matrices) = matrices::matrices(groups);
    let (figures, of_figures) = others::others(groups);
    let not_compared =
        found.not_compared.into_iter().chain(of_figures).chain(of_matrices).collect();
    MediaComparison { figures, matrices, not_compared, ..found }
}

fn curves_of(groups: &[RunGroup]) -> MediaComparison {
    let pairs: Vec<(&RunGroup, &RunGroup)> = (0..groups.len())
        .flat_map(|a| (a + 1..groups.len()).map(move |b| (&groups[a], &groups[b])))
        .collect();
    let of_works = |(a, b): &(&RunGroup, &RunGroup)| -> Vec<(Option<Curve>, Vec<NotCompared>)> {
        WORK.iter().map(|(test, metric)| curve(a, b, test, metric)).collect()
    };
    let (curves, not_compared): (Vec<_>, Vec<_>) = pairs.iter().flat_map(of_works).unzip();
    let curves: Vec<Curve> = curves.into_iter().flatten().collect();
    MediaComparison {
        media: groups
            .iter()
            .map(|group| Compared {
                name: group.name.clone(),
                head: group.head.clone(),
                typed: group.typed.clone(),
                fault: group.fault(),
                runs: group.records.iter().map(|record| record.run.id.clone()).collect(),
            })
            .collect(),
        is_change: false,
        levels: None,
        differences: hosts::differences(groups),
        works: works::works(groups, &curves),
        curves,
        ranks: Vec::new(),
        figures: Vec::new(),
        matrices: Vec::new(),
        not_compared: reason_lines(not_compared.into_iter().flatten()),
    }
}

/// A figure of one medium of a pair, with the reason why it cannot be compared with the other.
struct NotCompared {
    test: String,
    block: u64,
    why: String,
}

/// A line for each reason with all its block sizes; duplicates from several pairs are dropped.
fn reason_lines(all: impl Iterator<Item = NotCompared>) -> Vec<String> {
    let mut lines: Vec<(String, String, Vec<u64>)> = Vec::new();
    for NotCompared { test, block, why } in all {
        match lines.iter_mut().find(|(known, reason, _)| *known == test && *reason == why) {
            Some((.., blocks)) if blocks.contains(&block) => {}
            Some((.., blocks)) => blocks.push(block),
            None => lines.push((test, why, vec![block])),
        }
    }
    let line = |(test, why, mut blocks): (String, String, Vec<u64>)| {
        blocks.sort_unstable();
        let sizes: Vec<String> = blocks.into_iter().map(|block| Bytes(block).to_string()).collect();
        format!("{test}, {}: {why}", sizes.join(", "))
    };
    lines.into_iter().map(line).collect()
}

/// Rates of the runs, for the comparison.
fn run_rates(figures: &[UsableEstimate]) -> Vec<RunRate> {
    figures.iter().map(UsableEstimate::run_rate).collect()
}

/// Block sizes of the usable cells of a test, in bytes.
fn block_sizes<'a>(record: &'a Record, test: &'a str) -> impl Iterator<Item = u64> {
    figure::cells(record, test).filter_map(|cell| cell.params.block_bytes)
}

/// Comparison of two media at one kind of work, with the figures that could not be compared.
fn curve<'a>(
    a: &RunGroup<'a>,
    b: &RunGroup<'a>,
    test: &'a str,
    metric: &'a str,
) -> (Option<Curve>, Vec<NotCompared>) {
    let of_both = [a, b].into_iter().flat_map(|group| &group.records);
    let sizes: BTreeSet<u64> = of_both.flat_map(|record| block_sizes(record, test)).collect();
    let (mut points, mut not_compared) = (Vec::new(), Vec::new());
    for block in sizes {
        match point(a, b, test, metric, block) {
            Ok(point) => points.push(point),
            Err(why) => not_compared.push(NotCompared { test: test.to_owned(), block, why }),
        }
    }
    let crossings = crossings(&points);
    let curve = (!points.is_empty()).then(|| Curve {
        a: a.name.clone(),
        b: b.name.clone(),
        test: test.into(),
        metric: metric.into(),
        points,
        crossings,
    });
    (curve, not_compared)
}

/// Both media at a block size, or the reason why they cannot be compared.
fn point<'a>(
    a: &RunGroup<'a>,
    b: &RunGroup<'a>,
    test: &'a str,
    metric: &'a str,
    block_bytes: u64,
) -> Result<BlockSizePoint, String> {
    let at = AtSize::of([a, b], test, block_bytes);
    let depth =
        |group| at.in_flight(group).ok_or_else(|| format!("not measured of {}", group.name));
    let (depth_a, depth_b) = (depth(a)?, depth(b)?);
    if depth_a != depth_b {
        return Err(format!("queue depth {depth_a} of {}, {depth_b} of {}", a.name, b.name));
    }
    let (of_a, of_b) = (at.figures(a, metric, depth_a), at.figures(b, metric, depth_a));
    let figures = works::compared(&of_a).zip(works::compared(&of_b));
    let found = figures.zip(MediaRatio::of(&run_rates(&of_a), &run_rates(&of_b)));
    let ((figure_a, figure_b), found) = found.ok_or_else(|| {
        let none = if of_a.is_empty() { &a.name } else { &b.name };
        format!("{none} has no figure that may be used")
    })?;
    Ok(BlockSizePoint { block_bytes, a: figure_a.value, b: figure_b.value, found })
}

/// Block sizes at which the ratio crosses 1, with those at which the ends of its interval do.
fn crossings(points: &[BlockSizePoint]) -> Vec<Crossing> {
    let decided = |point: &BlockSizePoint| {
        matches!(point.found.judgement, FasterMedium::Faster | FasterMedium::Slower)
    };
    let clear: Vec<&BlockSizePoint> = points.iter().filter(|point| decided(point)).collect();
    let turns = clear.windows(2).filter(|pair| pair[0].found.judgement != pair[1].found.judgement);
    turns
        .filter_map(|pair| {
            let (from, to) = (pair[0], pair[1]);
            let at = |pick: &dyn Fn(&BlockSizePoint) -> Option<f64>| {
                crossing_of(points, from.block_bytes, to.block_bytes, pick)
            };
            let block_bytes = at(&|point| Some(point.found.ratio))?;
            let ends = at(&|point| point.found.ci95.map(|ci| ci[0]))
                .zip(at(&|point| point.found.ci95.map(|ci| ci[1])));
            let ci95 = ends.map(|(x, y)| [x.min(y), x.max(y)]);
            Some(Crossing {
                block_bytes,
                ci95,
                above: if to.found.judgement == FasterMedium::Faster { "a" } else { "b" },
            })
        })
        .collect()
}

/// Block size between two others at which a curve of ratios is 1, interpolated logarithmically.
fn crossing_of(
    points: &[BlockSizePoint],
    from: u64,
    to: u64,
    pick: &dyn Fn(&BlockSizePoint) -> Option<f64>,
) -> Option<f64> {
    let within: Vec<(f64, f64)> = points
        .iter()
        .filter(|point| (from..=to).contains(&point.block_bytes))
        .filter_map(|point| {
            Some(((point.block_bytes as f64).ln(), pick(point).filter(|ratio| *ratio > 0.0)?.ln()))
        })
        .collect();
    within.windows(2).find(|pair| pair[0].1 * pair[1].1 <= 0.0 && pair[0].1 != pair[1].1).map(
        |pair| {
            let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
            (x0 + (x1 - x0) * y0 / (y0 - y1)).exp()
        },
    )
}

#[cfg(test)]
mod tests;
