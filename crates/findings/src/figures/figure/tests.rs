use record::units::KIB;

use super::*;
use crate::testing::{cell, iops};

#[test]
fn only_what_is_positive_and_finite_is_a_figure() {
    let of = |value: f64, ci95: Option<[f64; 2]>| {
        let mut cell = iops(test::RANDOM_WRITE, 1, 4 * KIB, 1.0, 1);
        cell.metrics.iops = Some(Estimate { value, ci95, n: 9 });
        UsableEstimate::of(&cell, metric::IOPS).map(|figure| figure.ci95)
    };
    assert_eq!(of(0.0, None), None);
    assert_eq!(of(-1.0, None), None);
    assert_eq!(of(f64::INFINITY, None), None);
    assert_eq!(of(f64::NAN, None), None);
    assert_eq!(of(1.0, Some([1.0, 1.0])), Some(Some([1.0, 1.0])));
    assert_eq!(of(1.0, Some([0.0, 2.0])), Some(Some([0.0, 2.0])));
    for ends in [[2.0, 1.0], [0.0, 0.0], [f64::NAN, 1.0], [0.5, f64::INFINITY]] {
        assert_eq!(of(1.0, Some(ends)), Some(None), "{ends:?}");
    }
}

/// Repetitions are known to a factor of 1.1 and 1.2: sqrt((ln(1.1)^2 + ln(1.2)^2) / 2) is 0.1455.
#[test]
fn half_widths_of_a_ratio_add_as_squares() {
    let (mut over, mut under) =
        (cell(test::RANDOM_WRITE, 1, 512), cell(test::RANDOM_WRITE, 2, 512));
    over.metrics.iops = Some(Estimate { value: 6.0, ci95: Some([6.0 / 1.1, 6.6]), n: 9 });
    under.metrics.iops = Some(Estimate { value: 2.0, ci95: Some([2.0 / 1.2, 2.4]), n: 9 });
    fn of(cell: &Cell) -> UsableEstimate<'_> {
        UsableEstimate::of(cell, metric::IOPS).expect("a figure")
    }
    let ratio = Ratio::of(&of(&over), &of(&under));
    let [low, high] = ratio.ci95.expect("an interval");
    assert_eq!(ratio.value, 3.0);
    assert!((low - 2.593_8).abs() < 1e-3 && (high - 3.469_8).abs() < 1e-3, "{low} {high}");
    assert!(ratio.is_above(2.59) && !ratio.is_above(2.60) && !ratio.is_above(3.0));
    assert_eq!(ratio.text(), "3.00 (2.59 to 3.47)");
    assert_eq!(ratio.text(), "3.00 (2.59 to 3.47)");
    under.metrics.iops = Some(Estimate { value: 2.0, ci95: Some([0.0, 2.4]), n: 9 });
    assert_eq!(Ratio::of(&of(&over), &of(&under)).ci95, None);
}
