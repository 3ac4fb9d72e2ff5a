//! Whether something became slower: each figure of after held against before.

use serde::Serialize;

use super::{BlockSizePoint, Curve, FasterMedium, MediaComparison};

/// A figure that was compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChangedFigure {
    /// "random-write", "random-read", "sequential-write", "sequential-read".
    pub test: String,
    /// Bytes of one I/O.
    pub block_bytes: u64,
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
    for curve in &comparison.curves {
        for point in &curve.points {
            let list = match changed(point, 1.0 - allowed) {
                Some(true) => &mut found.slower,
                Some(false) => &mut found.kept,
                None => &mut found.unclear,
            };
            list.push(figure(curve, point));
        }
    }
    found
}

/// Whether it is below the least that it may be; `None` where the interval does not tell, or the
/// difference may be one between two runs.
fn changed(point: &BlockSizePoint, least: f64) -> Option<bool> {
    let [low, high] = point.ci95?;
    match () {
        () if low >= least => Some(false),
        () if high < least && point.judgement == FasterMedium::Slower => Some(true),
        () => None,
    }
}

fn figure(curve: &Curve, point: &BlockSizePoint) -> ChangedFigure {
    ChangedFigure {
        test: curve.test.clone(),
        block_bytes: point.block_bytes,
        ratio: point.ratio,
        ci95: point.ci95,
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
            let point =
                BlockSizePoint { block_bytes: 4096, a: ratio, b: 1.0, ratio, ci95, judgement };
            assert_eq!(changed(&point, 0.9), expected, "{point:?}");
        }
    }
}
