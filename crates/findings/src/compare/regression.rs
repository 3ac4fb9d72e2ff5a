//! Whether something became slower: each figure of after held against before.

use serde::Serialize;

use super::{BlockSizePoint, CombinationRow, Curve, FasterMedium, MediaComparison};

/// A figure that was compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChangedFigure {
    /// "random-write", "random-read", "sequential-write", "sequential-read", or a work of a matrix.
    pub test: String,
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
    comparison.curves.iter().flat_map(of_curve).chain(works).collect()
}

fn of_point(curve: &Curve, point: &BlockSizePoint) -> (ChangedFigure, FasterMedium) {
    let figure = ChangedFigure {
        test: curve.test.clone(),
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
        block_bytes: None,
        way: Some(row.way.clone()),
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
