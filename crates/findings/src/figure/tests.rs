use record::units::{KIB, MIB};
use record::{Flag, Series};

use super::*;
use crate::testing::{cell, iops, known, record_of};

#[test]
fn numbers_are_said_in_the_unit_of_their_name() {
    for (name, value, text) in [
        ("iops", 2.31, "2.31 IOPS"),
        ("again_iops", 2.31, "2.31 IOPS"),
        ("durable_bps", 2e6, "2.00 MB/s"),
        ("flush_ns", 2e6, "2.00 ms"),
        ("flush_ns", -1.0, "0 ns"),
        ("real_bytes", 4096.0, "4 KiB"),
        ("late_lines", 12.0, "12.0"),
    ] {
        assert_eq!(quantity(name, value), text);
    }
    assert_eq!(between("iops", 1.09, 1.28), "1.09 to 1.28 IOPS");
    assert_eq!(between("bps", 9e5, 2e6), "900 kB/s to 2.00 MB/s");
    assert_eq!(between("late_lines", 1.0, 2.0), "1.00 to 2.00");
}

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

/// Known to a factor of 1.1 and 1.2: sqrt(ln(1.1)^2 + ln(1.2)^2) is 0.2057.
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
    assert!((low - 2.442_2).abs() < 1e-3 && (high - 3.685_1).abs() < 1e-3, "{low} {high}");
    assert!(ratio.is_above(2.44) && !ratio.is_above(2.45) && !ratio.is_above(3.0));
    assert_eq!(ratio.text(), "3.00 (2.44 to 3.69)");
    assert_eq!(ratio.to_string(), "ratio 3.00 (2.44 to 3.69)");
    under.metrics.iops = Some(Estimate { value: 2.0, ci95: Some([0.0, 2.4]), n: 9 });
    assert_eq!(Ratio::of(&of(&over), &of(&under)).ci95, None);
}

#[test]
fn a_small_span_does_not_stand_for_the_medium() {
    let of = |spans_mib: &[u64]| {
        let cells = spans_mib.iter().zip(1..).map(|(mib, number)| {
            let mut cell = iops(test::RANDOM_WRITE, number, 4 * KIB, 100.0 * number as f64, 1);
            cell.params.span_bytes = Some(mib * MIB);
            // Of the first only a passing state is known.
            if number == 1 {
                cell.flags.push(Flag::Transient { bound: Bound::AtMost });
            }
            cell
        });
        random_write(&record_of(cells.collect()), 4 * KIB).map(|figure| figure.value)
    };
    for (spans_mib, found) in [
        (&[4096, 256][..], Some(200.0)),
        (&[4096, 255], None),
        (&[512, 128], Some(200.0)),
        (&[512, 127], None),
        (&[512, 255, 128], Some(200.0)),
    ] {
        assert_eq!(of(spans_mib), found, "{spans_mib:?}");
    }
}

#[test]
fn depth_1_is_one_and_deep_is_at_least_the_limit() {
    let at = |number: u32, depth: u32, threads: u32, value: f64| {
        let mut cell = iops(test::RANDOM_READ, number, 4 * KIB, value, 1);
        (cell.params.queue_depth, cell.params.threads) = (depth, threads);
        cell
    };
    let record = record_of(vec![at(1, 32, 1, 900.0), at(2, 1, 1, 100.0), at(3, 8, 2, 800.0)]);
    assert_eq!(random_read(&record, 4 * KIB).map(|figure| figure.value), Some(100.0));
    assert!(random_read(&record, 8 * KIB).is_none());
    for (at_least, value) in [(16, Some(900.0)), (17, Some(900.0)), (32, Some(900.0)), (33, None)] {
        let found = deep(&record, test::RANDOM_READ, 4 * KIB, at_least);
        assert_eq!(found.map(|figure| figure.value), value, "{at_least}");
    }
    let shallow = record_of(vec![at(1, 8, 2, 800.0)]);
    assert!(deep(&shallow, test::RANDOM_READ, 4 * KIB, 16).is_some());
    assert!(deep(&shallow, test::RANDOM_READ, 4 * KIB, 17).is_none());
    assert!(random_read(&shallow, 4 * KIB).is_none());
}

#[test]
fn the_largest_block_from_64_kib_to_1_mib_is_the_sequential_figure() {
    let of = |kibs: &[u64]| {
        let cells = kibs.iter().zip(1..).map(|(kib, number)| {
            let mut cell = cell(test::SEQUENTIAL_READ, number, kib * KIB);
            cell.metrics.bps = Some(known(*kib as f64, 0.01, 9));
            cell
        });
        sequential(&record_of(cells.collect()), test::SEQUENTIAL_READ).map(|figure| figure.value)
    };
    assert_eq!(of(&[4, 63]), None);
    assert_eq!(of(&[4, 64]), Some(64.0));
    assert_eq!(of(&[64, 1024, 2048]), Some(1024.0));
    assert_eq!(of(&[1025]), None);
}

#[test]
fn sustained_writing_is_told_by_the_best_there_is() {
    let of = |test: &str, block: u64, bps: f64| {
        let mut cell = cell(test, 1, block);
        cell.metrics.bps = Some(known(bps, 0.01, 9));
        cell
    };
    let rate_of = |cells: &[Cell]| sustained_write(&record_of(cells.to_vec())).map(|it| it.value);
    let (prime, fill) = (of(test::PRIME, MIB, 1.0), of(test::RANDOM_FILL, MIB, 2.0));
    let row = of(test::SEQUENTIAL_WRITE, MIB, 3.0);
    let mut sustained = of(test::SUSTAINED, MIB, 9.0);
    sustained.params.form = Some("first".into());
    sustained.metrics.other.insert(metric::SUSTAINED_BPS.into(), known(4.0, 0.01, 9));
    let all = [prime, fill, row, sustained];
    for (have, expected) in [(1, 1.0), (2, 2.0), (3, 3.0), (4, 4.0)] {
        assert_eq!(rate_of(&all[..have]), Some(expected));
    }
    assert_eq!(rate_of(&[of(test::PRIME, 63 * KIB, 1.0)]), None);
    assert_eq!(rate_of(&[of(test::PRIME, 64 * KIB, 1.0)]), Some(1.0));
}

/// The interval of a fill that ended at `value`, its windows at rates of 1, 2, 3 and so on.
fn end_of_fill(value: f64, windows: u32, x: SeriesAxis, y: SeriesAxis) -> Option<[f64; 2]> {
    let mut cell = cell(test::SUSTAINED, 1, MIB);
    let figure = Estimate { value, ci95: None, n: 9 };
    cell.metrics.other.insert(metric::SUSTAINED_BPS.into(), figure);
    let points = (1..=windows).map(|n| [f64::from(n); 2]).collect();
    cell.series.push(Series { name: "rate".into(), x, y, points });
    known_along(UsableEstimate::of(&cell, metric::SUSTAINED_BPS).expect("a figure")).ci95
}

/// The last quarter of 64 windows has 16: ranks 4 and 13 of these enclose their median.
#[test]
fn the_end_of_a_fill_has_the_interval_of_its_last_quarter() {
    let of = |value, windows| end_of_fill(value, windows, SeriesAxis::Bytes, SeriesAxis::Bps);
    assert_eq!(of(55.0, 64), Some([52.0, 61.0]));
    assert_eq!(of(51.0, 64), Some([51.0, 61.0]));
    assert_eq!(of(63.0, 64), Some([52.0, 63.0]));
    assert_eq!(of(20.0, 23), None, "five of them have no interval");
    assert_eq!(of(22.0, 24), Some([19.0, 24.0]));
}

#[test]
fn a_bound_is_of_queue_depth_1_in_a_transient_state() {
    let of = |depth: u32, is_passing: bool| {
        let mut cell = iops(test::RANDOM_WRITE, 1, 4 * KIB, 9.0, 1);
        cell.params.queue_depth = depth;
        cell.flags.extend(is_passing.then_some(Flag::Transient { bound: Bound::AtMost }));
        let record = record_of(vec![cell]);
        random_write_bound(&record, 4 * KIB).map(|figure| (figure.text(), figure.ci95))
    };
    assert_eq!(of(1, true), Some(("at most 9.00 IOPS".to_owned(), None)));
    assert_eq!(of(2, true), None);
    assert_eq!(of(1, false), None);
}

#[test]
fn only_rates_along_bytes_tell_how_sure_the_end_of_a_fill_is() {
    let of = |x, y| end_of_fill(55.0, 64, x, y).is_some();
    assert!(of(SeriesAxis::Bytes, SeriesAxis::Bps));
    assert!(of(SeriesAxis::OffsetBytes, SeriesAxis::Bps));
    assert!(!of(SeriesAxis::ElapsedNs, SeriesAxis::Bps));
    assert!(!of(SeriesAxis::Bytes, SeriesAxis::Iops));
}

#[test]
fn the_span_that_most_cells_have_stands_for_a_test() {
    let of = |spans: &[u64]| {
        let cells = spans.iter().zip(1..).map(|(span, number)| {
            let mut cell = crate::testing::cell(record::test::RANDOM_WRITE, number, 4096);
            cell.params.span_bytes = Some(*span);
            cell
        });
        usual_span(&crate::testing::record_of(cells.collect()), record::test::RANDOM_WRITE)
    };
    assert_eq!(of(&[1, 1, 5]), Some(1));
    assert_eq!(of(&[1, 5]), Some(5), "of as many the larger");
    assert_eq!(of(&[]), None);
}
