//! Check for regressions: each figure after a change is compared with the one before.

use record::Params;
use serde::Serialize;

use super::{
    CombinationRow, FasterMedium, FigureRow, MediaComparison, MediaRatio, MoreRuns, WorkRow,
};

/// A compared figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChangedFigure {
    /// "random-write", "random-read", "sequential-write", "sequential-read", a work of a matrix, or
    /// the test of another figure.
    pub test: String,
    /// Head of its column of figures, if it has one: "hdparm -t".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Settings of a figure that belongs to no curve and no matrix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub params: Option<Params>,
    /// Bytes of one I/O; null for a work.
    pub block_bytes: Option<u64>,
    /// File system, mount options and scheduler of a work; absent for other figures.
    #[serde(rename = "way", skip_serializing_if = "Option::is_none")]
    pub combination: Option<String>,
    /// Ratio of after to before.
    pub ratio: f64,
    /// Its 95 % interval.
    pub ci95: Option<[f64; 2]>,
    /// Further runs that would decide it; absent if it is decided, or without an interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more_runs: Option<MoreRuns>,
}

/// Result of a limit on the loss of speed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Regression {
    /// Allowed loss as a share, such as 0.1.
    pub allowed: f64,
    /// Significantly slower by more than that.
    pub slower: Vec<ChangedFigure>,
    /// Undecided, each with the further runs that would decide it.
    pub unclear: Vec<ChangedFigure>,
    /// Not slower by more than that, with 95 % confidence.
    pub kept: Vec<ChangedFigure>,
}

impl Regression {
    /// True if figures were compared and none of them was decided.
    pub fn is_undecided(&self) -> bool {
        self.slower.is_empty() && self.kept.is_empty() && !self.unclear.is_empty()
    }
}

/// Compares the first side (after) with the second (before).
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

/// Figures without a significantly fastest medium, each with the further runs that would show a
/// difference of 10 %.
pub fn unclear(comparison: &MediaComparison) -> Vec<ChangedFigure> {
    let works = comparison.works.iter().flat_map(|work| {
        let of_row = |row: &WorkRow| Some(at(&work.test, row.block_bytes, &row.fastest?.found));
        work.rows.iter().filter_map(of_row)
    });
    let others = comparison.figures.iter();
    let others = others.filter_map(|row| Some(of_figure(row, &row.fastest?.found)));
    let matrices = comparison.matrices.iter().flat_map(|matrix| {
        let of_row =
            |row: &CombinationRow| Some(of_combination(&matrix.work, row, &row.fastest?.found));
        matrix.rows.iter().filter_map(of_row)
    });
    let all = works.chain(others).chain(matrices);
    all.filter_map(|(figure, held)| {
        Some(ChangedFigure { more_runs: Some(held.more_runs?), ..figure })
    })
    .collect()
}

/// A figure with the ratio of both.
type FigureWithRatio = (ChangedFigure, MediaRatio);

/// All compared figures of the first two media.
fn figures(comparison: &MediaComparison) -> Vec<FigureWithRatio> {
    let curves = comparison.curves.iter().flat_map(|curve| {
        curve.points.iter().map(|point| at(&curve.test, point.block_bytes, &point.found))
    });
    let others = comparison.figures.iter();
    let others = others.filter_map(|row| Some(of_figure(row, &row.of_first?)));
    let works = comparison.matrices.iter().flat_map(|matrix| {
        let of_row = |row: &CombinationRow| {
            Some(of_combination(&matrix.work, row, &row.fastest?.of_first()))
        };
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
        combination: None,
        ratio: held.ratio,
        ci95: held.ci95,
        more_runs: None,
    }
}

fn at(test: &str, block_bytes: u64, held: &MediaRatio) -> FigureWithRatio {
    (ChangedFigure { block_bytes: Some(block_bytes), ..of_test(test, held) }, *held)
}

fn of_combination(work: &str, row: &CombinationRow, held: &MediaRatio) -> FigureWithRatio {
    (ChangedFigure { combination: Some(row.combination.clone()), ..of_test(work, held) }, *held)
}

fn of_figure(row: &FigureRow, held: &MediaRatio) -> FigureWithRatio {
    let figure = ChangedFigure {
        name: row.name.clone(),
        params: Some(row.params.clone()),
        block_bytes: row.params.block_bytes,
        ..of_test(&row.test, held)
    };
    (figure, *held)
}

/// True if the ratio is below the allowed minimum; `None` if the interval does not decide it, or
/// the difference may be one between two runs.
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
    use super::*;

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
