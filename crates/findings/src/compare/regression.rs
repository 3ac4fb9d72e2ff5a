//! Whether something became slower: each figure of after held against before.

use record::Params;
use serde::Serialize;

use super::{
    CombinationRow, FasterMedium, FigureRow, MediaComparison, MediaRatio, MoreRuns, WorkRow,
};

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
    /// Runs that would tell what this does not; absent where it does, or without an interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more_runs: Option<MoreRuns>,
}

/// What comes of a limit on how much slower it may be.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Regression {
    /// The share that it may lose, such as 0.1.
    pub allowed: f64,
    /// Slower by more than that, surely.
    pub slower: Vec<ChangedFigure>,
    /// It may be slower by more than that, or not: each with the runs that would tell.
    pub unclear: Vec<ChangedFigure>,
    /// Not slower by more than that, surely.
    pub kept: Vec<ChangedFigure>,
}

impl Regression {
    /// True if figures were compared and none of them could be told.
    pub fn tells_nothing(&self) -> bool {
        self.slower.is_empty() && self.kept.is_empty() && !self.unclear.is_empty()
    }
}

/// Holds the first side of a comparison, after, against the second, before.
pub fn regression(comparison: &MediaComparison, allowed: f64) -> Regression {
    let mut found =
        Regression { allowed, slower: Vec::new(), unclear: Vec::new(), kept: Vec::new() };
    let least = 1.0 - allowed;
    for (figure, held) in figures(comparison) {
        match changed(held.ratio, held.ci95, held.judgement, least) {
            Some(true) => found.slower.push(figure),
            Some(false) => found.kept.push(figure),
            None => {
                let more_runs = held.more_runs_from(least);
                found.unclear.push(ChangedFigure { more_runs, ..figure });
            }
        }
    }
    found
}

/// Figures of which a comparison does not tell which medium is the fastest, each with the runs that
/// would tell a difference of 10 %.
pub fn unclear(comparison: &MediaComparison) -> Vec<ChangedFigure> {
    let works = comparison.works.iter().flat_map(|work| {
        let of_row = |row: &WorkRow| Some(at(&work.test, row.block_bytes, &row.fastest?.found));
        work.rows.iter().filter_map(of_row)
    });
    let others = comparison.figures.iter();
    let others = others.filter_map(|row| Some(of_figure(row, &row.fastest?.found)));
    let matrices = comparison.matrices.iter().flat_map(|matrix| {
        let of_row = |row: &CombinationRow| Some(of_way(&matrix.work, row, &row.fastest?.found));
        matrix.rows.iter().filter_map(of_row)
    });
    let all = works.chain(others).chain(matrices);
    all.filter_map(|(figure, held)| {
        Some(ChangedFigure { more_runs: Some(held.more_runs?), ..figure })
    })
    .collect()
}

/// A figure with the ratio of both.
type Held = (ChangedFigure, MediaRatio);

/// All that was compared of the first two.
fn figures(comparison: &MediaComparison) -> Vec<Held> {
    let curves = comparison.curves.iter().flat_map(|curve| {
        curve.points.iter().map(|point| at(&curve.test, point.block_bytes, &point.found))
    });
    let others = comparison.figures.iter();
    let others = others.filter_map(|row| Some(of_figure(row, &row.of_first?)));
    let works = comparison.matrices.iter().flat_map(|matrix| {
        let of_row =
            |row: &CombinationRow| Some(of_way(&matrix.work, row, &row.fastest?.of_first()));
        matrix.rows.iter().filter_map(of_row)
    });
    curves.chain(others).chain(works).collect()
}

fn of_test(test: &str, held: &MediaRatio) -> ChangedFigure {
    ChangedFigure {
        test: test.to_owned(),
        name: None,
        params: None,
        block_bytes: None,
        way: None,
        ratio: held.ratio,
        ci95: held.ci95,
        more_runs: None,
    }
}

fn at(test: &str, block_bytes: u64, held: &MediaRatio) -> Held {
    (ChangedFigure { block_bytes: Some(block_bytes), ..of_test(test, held) }, *held)
}

fn of_way(work: &str, row: &CombinationRow, held: &MediaRatio) -> Held {
    (ChangedFigure { way: Some(row.way.clone()), ..of_test(work, held) }, *held)
}

fn of_figure(row: &FigureRow, held: &MediaRatio) -> Held {
    let figure = ChangedFigure {
        name: row.name.clone(),
        params: Some(row.params.clone()),
        block_bytes: row.params.block_bytes,
        ..of_test(&row.test, held)
    };
    (figure, *held)
}

/// True if it is below the least that it may be; `None` where the interval does not tell, or the
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
            let judged = regression(&found, 0.1);
            assert_eq!((judged.slower.len(), judged.kept.len()), (1, 0), "{judged:?}");
            assert!((judged.slower[0].ratio - 0.1).abs() < 1e-9, "{judged:?}");
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
