//! Points of curves, separated from the run: they are nearly all of its numbers and hold no text.
//! The scan of a run that was parsed already skips them.

use std::mem;

use record::Published;

use super::UploadLimits;

/// Points of each curve of each cell, as (x, y).
pub(super) type Curves = Vec<Vec<Vec<[f64; 2]>>>;

/// Takes the points out, except of curves with more points than allowed: the scan of the run
/// reports these.
pub(super) fn take(run: &mut Published, limits: &UploadLimits) -> Curves {
    let cells = run.cells.iter_mut();
    let of_cell = |cell: &mut record::Cell| {
        let curves = cell.series.iter_mut().map(|series| {
            let is_taken = series.points.len() <= limits.series_points;
            if is_taken { mem::take(&mut series.points) } else { Vec::new() }
        });
        curves.collect()
    };
    cells.map(of_cell).collect()
}

/// Restores the points in the run that they were taken from.
pub(super) fn put_back(run: &mut Published, curves: Curves) {
    for (cell, curves) in run.cells.iter_mut().zip(curves) {
        for (series, points) in cell.series.iter_mut().zip(curves) {
            if !points.is_empty() {
                series.points = points;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judging::{judge, read_run};

    #[test]
    fn a_run_is_judged_with_its_curves_and_a_curve_that_is_too_long_named() {
        let text = include_str!("../../../../fixtures/records/check-a1.json");
        let run = Published::from(&record::Record::from_json(text).unwrap());
        let has_curve = |run: &Published| run.cells.iter().any(|cell| !cell.series.is_empty());
        assert!(has_curve(&run));
        let whole = judge(run.clone()).unwrap();
        assert_eq!(read_run(run.clone(), &UploadLimits::default()).unwrap(), whole);
        let limits = UploadLimits { series_points: 1, ..UploadLimits::default() };
        let refused = read_run(run, &limits).unwrap_err();
        assert_eq!(refused.code, "too-many");
        assert!(refused.reason.contains(".points: more than 1 entries"), "{refused}");
    }
}
