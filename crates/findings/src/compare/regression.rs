//! Whether something became slower: each figure of after held against before.

use record::Params;
use serde::Serialize;

use super::{BlockSizePoint, CombinationRow, Curve, FasterMedium, FigureRow, MediaComparison};

/// A figure that was compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChangedFigure {
    /// "random-write", "random-read", "sequential-write", "sequential-read", a work of a matrix, or
    /// the test of another figure.
    pub test: String,
    /// The head of its column of figures, where it has one: "hdparm -t".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The settings of a figure that is of no curve and no matrix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub params: Option<Params>,
    /// Bytes of one I/O; null of a work.
    pub block_bytes: Option<u64>,
    /// The file system, mount options and scheduler that a work was done on; absent elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub way: Option<String>,
    /// How many times what it was before.
    pub ratio: f64,
    /// Its 95 % interval.
    pub ci95: Option<[f64; 2]>,
}

/// What comes of a limit on how much slower it may be.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Regression {
    /// The share that it may lose, such as 0.1.
    pub allowed: f64,
    /// Slower by more than that, surely.
    pub slower: Vec<ChangedFigure>,
    /// It may be slower by more than that, or not.
    pub unclear: Vec<ChangedFigure>,
    /// Not slower by more than that, surely.
    pub kept: Vec<ChangedFigure>,
}

/// Holds the first side of a comparison, after, against the second, before.
pub fn regression(comparison: &MediaComparison, allowed: f64) -> Regression {
    let mut found =
        Regression { allowed, slower: Vec::new(), unclear: Vec::new(), kept: Vec::new() };
    for (figure, judgement) in figures(comparison) {
        let list = match changed(figure.ratio, figure.ci95, judgement, 1.0 - allowed) {
            Some(true) => &mut found.slower,
            Some(false) => &mut found.kept,
            None => &mut found.unclear,
        };
        list.push(figure);
    }
    found
}

/// All that was compared of the first two, and which is faster.
fn figures(comparison: &MediaComparison) -> Vec<(ChangedFigure, FasterMedium)> {
    let of_curve =
        |curve: &Curve| curve.points.iter().map(|point| of_point(curve, point)).collect::<Vec<_>>();
    let works = comparison
        .matrices
        .iter()
        .flat_map(|matrix| matrix.rows.iter().filter_map(|row| of_row(&matrix.work, row)));
    let others = comparison.figures.iter().filter_map(of_figure);
    comparison.curves.iter().flat_map(of_curve).chain(others).chain(works).collect()
}

fn of_point(curve: &Curve, point: &BlockSizePoint) -> (ChangedFigure, FasterMedium) {
    let figure = ChangedFigure {
        test: curve.test.clone(),
        name: None,
        params: None,
        block_bytes: Some(point.block_bytes),
        way: None,
        ratio: point.ratio,
        ci95: point.ci95,
    };
    (figure, point.judgement)
}

fn of_row(work: &str, row: &CombinationRow) -> Option<(ChangedFigure, FasterMedium)> {
    let found = row.fastest?.of_first();
    let figure = ChangedFigure {
        test: work.to_owned(),
        name: None,
        params: None,
        block_bytes: None,
        way: Some(row.way.clone()),
        ratio: found.ratio,
        ci95: found.ci95,
    };
    Some((figure, found.judgement))
}

fn of_figure(row: &FigureRow) -> Option<(ChangedFigure, FasterMedium)> {
    let found = row.of_first?;
    let figure = ChangedFigure {
        test: row.test.clone(),
        name: row.name.clone(),
        params: Some(row.params.clone()),
        block_bytes: row.params.block_bytes,
        way: None,
        ratio: found.ratio,
        ci95: found.ci95,
    };
    Some((figure, found.judgement))
}

/// Whether it is below the least that it may be; `None` where the interval does not tell, or the
/// difference may be one between two runs.
fn changed(
    ratio: f64,
    ci95: Option<[f64; 2]>,
    judgement: FasterMedium,
    least: f64,
) -> Option<bool> {
    let [low, high] = ci95.filter(|_| ratio.is_finite())?;
    match () {
        () if low >= least => Some(false),
        () if high < least && judgement == FasterMedium::Slower => Some(true),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use record::units::KIB;
    use record::{Cell, Record, test};

    use super::*;
    use crate::ComparisonSide;
    use crate::testing::{cell, iops, known, record_of};

    fn side(name: &str, cell: Cell) -> ComparisonSide {
        let record: Record = record_of(vec![cell]);
        ComparisonSide { name: name.into(), records: vec![record] }
    }

    /// Seeks and commits ten times slower passed: only curves and matrices were looked at.
    #[test]
    fn seeks_or_commits_alone_fail_the_check() {
        let seeks = |value| {
            let mut seek = cell(test::SEEK, 1, 512);
            seek.metrics.other.insert(record::metric::SEEKS_PER_S.into(), known(value, 0.01, 300));
            seek
        };
        let commits = |value| iops(test::COMMIT, 1, 4 * KIB, value, 1_000_000);
        let time = |ms| {
            let mut write = cell(test::SECTOR_WRITE, 1, 512);
            write.metrics.other.insert("mean_ms".into(), known(ms, 0.01, 300));
            write
        };
        for (before, after) in [
            (seeks(1000.0), seeks(100.0)),
            (commits(1000.0), commits(100.0)),
            (time(1.0), time(10.0)),
        ] {
            let found = crate::compare_change(side("before", before), side("after", after));
            let told = regression(&found, 0.1);
            assert_eq!((told.slower.len(), told.kept.len()), (1, 0), "{told:?}");
            assert!((told.slower[0].ratio - 0.1).abs() < 1e-9, "{told:?}");
        }
    }

    /// A figure without an interval is no pass either.
    #[test]
    fn what_has_no_interval_cannot_be_told() {
        let read = |bps| {
            let mut read = cell(test::BUFFERED_READ, 1, 2 << 20);
            read.metrics.bps = Some(record::Estimate { value: bps, ci95: None, n: 1 });
            read
        };
        let found = crate::compare_change(side("before", read(80e6)), side("after", read(8e6)));
        assert_eq!(regression(&found, 0.1).unclear.len(), 1);
    }

    #[test]
    fn slower_is_what_lies_below_with_its_whole_interval() {
        use FasterMedium::{Faster, Same, Slower, Unclear};
        for (ratio, ci95, judgement, expected) in [
            (0.5, Some([0.45, 0.55]), Slower, Some(true)),
            (0.5, Some([0.45, 0.89]), Slower, Some(true)),
            (0.5, Some([0.45, 0.90]), Slower, None),
            (0.95, Some([0.90, 1.0]), Same, Some(false)),
            (0.95, Some([0.89, 1.0]), Same, None),
            (7.09, None, Unclear, None),
            (7.09, Some([6.0, 8.0]), Faster, Some(false)),
            // As single runs of one medium differ.
            (0.92, Some([0.895, 0.899]), Unclear, None),
        ] {
            assert_eq!(changed(ratio, ci95, judgement, 0.9), expected, "{ratio} {ci95:?}");
        }
    }
}
