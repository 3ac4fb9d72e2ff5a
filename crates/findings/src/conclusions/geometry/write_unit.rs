//! The programming unit of the medium, from the times of sequential writes of different sizes
//! (docs/field/allocation-units.md#write-unit).

use record::units::KIB;
use record::{Content, EvidenceNumber, Finding, Record, metric, test};

use crate::figures::figure::{self, UsableEstimate, size};
use crate::figures::likelihood;
use crate::finding_builder::FindingBuilder;

/// Candidates for the unit.
const UNITS: [u64; 6] = [4 * KIB, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 128 * KIB];
/// Least probability of the best fit over those of other units.
const SURE: f64 = 0.9;

/// A fit of t(b) = t0 + ceil(b/u) * u / W + rmw * [b % u != 0].
#[derive(Clone, Debug, PartialEq)]
pub struct UnitFit {
    /// The unit, in bytes.
    pub unit_bytes: u64,
    /// Overhead of a write, in nanoseconds.
    pub overhead_ns: f64,
    /// Extra time of a write of partial units, in nanoseconds.
    pub partial_ns: f64,
    /// Root mean square of the relative errors.
    pub error: f64,
    /// Probability of this unit among the candidates, from the residuals.
    pub confidence: f64,
}

/// Fits the programming unit to points (bytes of a write, its time in nanoseconds). `None` with
/// less than six sizes, or without sizes on both sides of the unit.
pub fn fit_unit(points: &[(u64, f64)]) -> Option<UnitFit> {
    let points: Vec<(u64, f64)> = points
        .iter()
        .copied()
        .filter(|(bytes, ns)| *bytes > 0 && ns.is_finite() && *ns > 0.0)
        .collect();
    if points.len() < 6 {
        return None;
    }
    let fits: Vec<(u64, [f64; 3], f64)> = UNITS
        .iter()
        .filter_map(|unit| Some((*unit, best_parameters(&points, *unit)?)))
        .map(|(unit, (p, e))| (unit, p, e))
        .collect();
    let errors: Vec<f64> = fits.iter().map(|(_, _, error)| *error).collect();
    let weights = likelihood::weights(&errors, points.len(), 3);
    let best = (0..fits.len()).min_by(|a, b| errors[*a].total_cmp(&errors[*b]))?;
    let (unit_bytes, [overhead_ns, _, partial_ns], error) = fits[best];
    let both_sides = points.iter().any(|(bytes, _)| *bytes < unit_bytes)
        && points.iter().any(|(bytes, _)| *bytes > unit_bytes);
    both_sides.then(|| UnitFit {
        unit_bytes,
        overhead_ns,
        partial_ns,
        error: (error / points.len() as f64).sqrt(),
        confidence: weights[best],
    })
}

/// Least squares of relative errors over the parameters (t0, 1/W, rmw), with none of them negative:
/// the best of the seven subsets without a negative one.
fn best_parameters(points: &[(u64, f64)], unit: u64) -> Option<([f64; 3], f64)> {
    let rows: Vec<[f64; 3]> = points
        .iter()
        .map(|(bytes, ns)| {
            let whole = (bytes.div_ceil(unit) * unit) as f64;
            let partial = if bytes % unit == 0 { 0.0 } else { 1.0 };
            [1.0 / ns, whole / ns, partial / ns]
        })
        .collect();
    let mut best: Option<([f64; 3], f64)> = None;
    for subset in 1..8usize {
        let used: Vec<usize> = (0..3).filter(|parameter| subset >> parameter & 1 == 1).collect();
        let Some(found) =
            solve(&rows, &used).filter(|found| found.iter().all(|value| *value >= 0.0))
        else {
            continue;
        };
        let error: f64 = rows
            .iter()
            .map(|row| (row.iter().zip(found).map(|(x, p)| x * p).sum::<f64>() - 1.0).powi(2))
            .sum();
        if error.is_finite() && best.as_ref().is_none_or(|(_, least)| error < *least) {
            best = Some((found, error));
        }
    }
    best
}

/// Least squares of these columns against 1; unused parameters are 0.
fn solve(rows: &[[f64; 3]], used: &[usize]) -> Option<[f64; 3]> {
    // Columns are scaled to length 1, so that bytes and nanoseconds have similar weights.
    let length = |c: &usize| rows.iter().map(|row| row[*c].powi(2)).sum::<f64>().sqrt();
    let lengths: Vec<f64> = used.iter().map(length).collect();
    if lengths.iter().any(|length| *length <= 0.0 || !length.is_finite()) {
        return None;
    }
    let scaled = |row: &[f64; 3]| used.iter().zip(&lengths).map(|(c, by)| row[*c] / by).collect();
    let design: Vec<Vec<f64>> = rows.iter().map(scaled).collect();
    let solved = stats::least_squares(&design, &vec![1.0; rows.len()])?;
    let mut found = [0.0; 3];
    for ((parameter, length), value) in used.iter().zip(lengths).zip(solved) {
        found[*parameter] = value / length;
    }
    Some(found)
}

/// `write-unit`: the size below which all writes cost the same.
pub(crate) fn conclude(record: &Record) -> Option<Finding> {
    // A disk waits for the platter to rotate, which looks like a unit but is not.
    if record.medium.rotational == Some(true) {
        return None;
    }
    let figures = figures(record);
    let points: Vec<(u64, f64)> = figures
        .iter()
        .filter_map(|figure| {
            Some((
                figure.cell.params.block_bytes?,
                figure.cell.params.block_bytes? as f64 / figure.value * 1e9,
            ))
        })
        .collect();
    let fit = fit_unit(&points).filter(|fit| fit.confidence >= SURE)?;
    let statement = format!(
        "It programs {} at once: smaller sequential writes cost extra time and wear.",
        size(fit.unit_bytes)
    );
    let quality = format!(
        "t(b) = t0 + whole units / rate + partial unit: relative error {} %, a partial unit takes {} longer",
        record::units::significant(fit.error * 100.0),
        record::units::quantity("_ns", fit.partial_ns)
    );
    Some(
        FindingBuilder::info("write-unit", statement)
            .note(EvidenceNumber::new("write_unit_bytes", fit.unit_bytes as f64))
            .figures(&figures)
            .note(quality)
            .note("docs/field/allocation-units.md#write-unit")
            .with_confidence(Some(fit.confidence))
            .done(),
    )
}

/// Rates of sequential writes from 512 B to 256 KiB, from the test for it or else from the sweep.
fn figures(record: &Record) -> Vec<UsableEstimate<'_>> {
    let of = |test: &'static str| {
        let mut figures: Vec<UsableEstimate> = Vec::new();
        for cell in figure::cells(record, test) {
            let fits = cell
                .params
                .block_bytes
                .is_some_and(|bytes| bytes.is_power_of_two() && bytes <= 256 * KIB)
                && matches!(cell.params.content, None | Some(Content::Incompressible));
            let known = figures
                .iter()
                .any(|figure| figure.cell.params.block_bytes == cell.params.block_bytes);
            figures.extend(UsableEstimate::of(cell, metric::BPS).filter(|_| fits && !known));
        }
        figures
    };
    let own = of(test::WRITE_UNIT);
    if own.len() >= 6 { own } else { of(test::SEQUENTIAL_WRITE) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rates in MB/s at 4 KiB, 8 KiB.. 1 MiB, as published; times of 4 KiB to 256 KiB are used.
    #[track_caller]
    fn check(rates: [f64; 7], unit: u64) {
        let points: Vec<(u64, f64)> = rates
            .iter()
            .enumerate()
            .map(|(k, rate)| ((4 * KIB) << k, ((4 * KIB) << k) as f64 / (rate * 1e6) * 1e9))
            .collect();
        let fit = fit_unit(&points).unwrap();
        assert_eq!(fit.unit_bytes, unit, "{fit:?}");
    }

    #[test]
    fn units_of_published_cards() {
        // docs/field/published-figures.md#other-figures: Lexar Professional 300x, SanDisk Ultra CF,
        // Kingston 266x; units as docs/field/allocation-units.md#write-unit has them.
        check([3.8, 8.0, 19.5, 28.3, 37.0, 43.4, 44.5], 16 * KIB);
        check([2.8, 5.0, 12.6, 24.4, 26.3, 28.1, 27.7], 32 * KIB);
        check([2.1, 4.1, 7.5, 15.6, 35.7, 36.9, 38.1], 64 * KIB);
    }

    #[test]
    fn what_has_no_unit_or_no_points_has_no_fit() {
        let smooth: Vec<(u64, f64)> =
            (0..9).map(|k| (512 << k, 200_000.0 + (512 << k) as f64 * 20.0)).collect();
        assert!(
            fit_unit(&smooth).is_none_or(|fit| fit.confidence < SURE || fit.unit_bytes <= 4 * KIB),
            "{:?}",
            fit_unit(&smooth)
        );
        assert_eq!(fit_unit(&[(4096, 1.0); 3]), None);
        assert_eq!(fit_unit(&[(4096, f64::NAN); 9]), None);
        assert!(fit_unit(&[(4096, 1.0); 9]).is_none());
    }

    #[test]
    fn six_sizes_are_needed_and_what_is_no_time_is_none() {
        let points: Vec<(u64, f64)> = (1..=7)
            .map(|n| (n * 8192, 1e6 + n as f64 * 1e5 + if n % 2 == 1 { 5e5 } else { 0.0 }))
            .collect();
        assert!(fit_unit(&points[..6]).is_some() && fit_unit(&points[..5]).is_none());
        for strange in [(0, 1e6), (8192, 0.0), (8192, f64::NAN)] {
            let mut with = points[..6].to_vec();
            with[2] = strange;
            assert!(fit_unit(&with).is_none(), "{strange:?}");
        }
    }
}
