use record::units::KIB;
use record::{Cell, Series, SeriesAxis, Severity};

use super::*;
use crate::testing::{exact, iops, record_of};

/// A cell of the test for tuned patterns, known exactly.
fn of_form(number: u32, form: &str, value: f64) -> Cell {
    let mut cell = iops(test::PATTERN, number, 4 * KIB, value, 1);
    cell.params.form = Some(form.into());
    exact(cell)
}

/// A pattern whose windows were written in these times, one MiB each, of so many I/Os.
fn in_windows(number: u32, form: &str, seconds: &[f64], ops: u64) -> Cell {
    let mut cell = of_form(number, form, 1.0);
    let bytes = 1_048_576.0;
    let total: f64 = seconds.iter().sum();
    let value = ops as f64 / total;
    cell.metrics.iops = Some(record::Estimate { value, ci95: Some([value; 2]), n: ops });
    cell.ops = ops;
    cell.series.push(Series {
        name: "rate".into(),
        x: SeriesAxis::Bytes,
        y: SeriesAxis::Bps,
        points: seconds.iter().zip(1..).map(|(s, n)| [f64::from(n) * bytes, bytes / s]).collect(),
    });
    cell
}

#[test]
fn the_fastest_eighth_or_sixteenth_is_known_by_its_own_windows() {
    let even = in_windows(1, "common", &[1.0; 64], 512);
    let of = |cell: &Cell, part| {
        let whole = UsableEstimate::of(cell, metric::IOPS).expect("a figure");
        fastest(&whole, part).map(|figure| (figure.value, figure.ci95, figure.n))
    };
    let mib = 1_048_576.0;
    assert_eq!(of(&even, STRETCHES[0]), Some((mib, Some([mib; 2]), 64)));
    let fewer_ops = Cell { ops: 511, ..even.clone() };
    assert_eq!(of(&fewer_ops, STRETCHES[0]), None);
    // Four windows of a stretch at least.
    let seconds = [1.0; 32];
    assert!(of(&in_windows(1, "common", &seconds, 512), STRETCHES[0]).is_some());
    assert!(of(&in_windows(1, "common", &seconds[..31], 512), STRETCHES[0]).is_none());
    assert!(of(&in_windows(1, "common", &[1.0; 64], 1024), STRETCHES[1]).is_some());
    assert!(of(&in_windows(1, "common", &[1.0; 64], 1023), STRETCHES[1]).is_none());
    // Windows of 0.4 and 0.6 s are off by 0.1 s each: sqrt(4 x 0.01 x 4 / 3) is 0.2309 s of 2 s.
    let mut uneven = [1.0; 32];
    uneven[4..8].copy_from_slice(&[0.4, 0.6, 0.4, 0.6]);
    let (value, ci95, _) =
        of(&in_windows(1, "common", &uneven, 512), STRETCHES[0]).expect("a rate");
    let [low, high] = ci95.expect("an interval");
    assert!((value / (2.0 * mib) - 1.0).abs() < 1e-9, "{value}");
    let factor = (3.0_f64 * 0.230_940_1 / 2.0).exp();
    assert!(
        (high / value / factor - 1.0).abs() < 1e-6 && (value / low / factor - 1.0).abs() < 1e-6
    );
}

#[test]
fn a_short_fast_way_is_evidence_too() {
    let mut seconds = [1.0; 64];
    seconds[..8].fill(0.1);
    let other = |number, form: &str| in_windows(number, form, &[1.0; 64], 512);
    let findings_of = |tuned: Cell| {
        let cells = vec![other(1, "odd-span"), tuned, other(3, "odd-span-again")];
        conclude(&record_of(cells)).map(|found| found.severity)
    };
    assert_eq!(findings_of(in_windows(2, "common", &seconds, 512)), Some(Severity::Warning));
    seconds[..8].fill(0.6);
    assert_eq!(findings_of(in_windows(2, "common", &seconds, 512)), None);
}
