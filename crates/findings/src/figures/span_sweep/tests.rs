use record::units::MIB;

use super::*;
use crate::testing::{record_in_words, record_of};

/// Random 4 KiB writes over these spans: (MiB, IOPS), known exactly.
fn sweep(test: &str, spans: &[(u64, f64)]) -> Vec<Cell> {
    let cell = |(mib, iops): &(u64, f64)| {
        format!("{test} 4KiB {iops}/s pattern=permutation span={mib}MiB; ")
    };
    record_in_words(&spans.iter().map(cell).collect::<String>()).cells
}

fn seen(cells: Vec<Cell>) -> Vec<(u64, f64)> {
    let record = record_of(cells);
    spans(&record).iter().map(|(span, figure)| (span / MIB, figure.value)).collect()
}

#[test]
fn a_sweep_has_three_spans_or_other_tests_must_do() {
    let other = || sweep(test::RANDOM_WRITE, &[(512, 5.0)]);
    let with = |spans: &[(u64, f64)]| seen([sweep(test::SPAN_SWEEP, spans), other()].concat());
    assert_eq!(with(&[(4, 9.0), (1, 8.0), (2, 7.0)]), [(1, 8.0), (2, 7.0), (4, 9.0)]);
    assert_eq!(with(&[(4, 9.0), (1, 8.0)]), [(512, 5.0)]);
    assert_eq!(with(&[(4, 9.0), (4, 8.0), (2, 7.0)]), [(2, 7.0), (4, 8.0)], "the last of equals");
}

#[test]
fn spans_differ_in_nothing_else() {
    let with = |word: &str| {
        let words = format!("random-write 4KiB 9/s pattern=permutation span=4MiB {word}");
        seen(record_in_words(&words).cells).len()
    };
    crate::cases::check_rows("src/figures/span_sweep/rows.txt", |word| with(word).to_string());
}

#[test]
fn the_cache_ends_at_the_first_span_below_the_middle() {
    let record = record_of(sweep(test::RANDOM_WRITE, &[(1, 90.0), (2, 30.0), (4, 10.0)]));
    let spans = spans(&record);
    for (middle, end) in [(95.0, None), (90.0, Some(1)), (30.0, Some(2)), (10.0, None)] {
        assert_eq!(fast_until(&spans, middle), end, "{middle}");
    }
}

/// A hit takes 1/90 s, a miss 1/10 s: of 8 MiB at 18 IOPS half are missed, so 4 MiB are cached; of
/// 16 MiB at 90/7 IOPS three quarters, so 4 MiB again. Where they differ the nearer weighs four
/// times as much.
#[test]
fn the_cached_bytes_follow_from_the_miss_rate() {
    let of = |spans_iops: &[(u64, f64)]| {
        let record = record_of(sweep(test::RANDOM_WRITE, spans_iops));
        cached_bytes(90.0, 10.0, &spans(&record)) / MIB as f64
    };
    for (spans_iops, cached) in [
        (&[(8, 18.0), (16, 90.0 / 7.0)][..], 4.0),
        (&[(8, 18.0)], 4.0),
        (&[(8, 18.0), (16, 10.0)], 3.2),
        (&[(8, 18.0), (16, 90.0 / 7.0), (32, 90.0)], 4.0),
        (&[(8, 95.0)], 8.0),
        (&[(8, 5.0)], 0.0),
    ] {
        assert!((of(spans_iops) - cached).abs() < 1e-9, "{spans_iops:?}: {}", of(spans_iops));
    }
}

#[test]
fn small_spans_are_cached_from_three_times_on_and_within_the_spans_that_were_tried() {
    let within = |spans_iops: &[(u64, f64)]| {
        let record = record_of(sweep(test::RANDOM_WRITE, spans_iops));
        fast_within(&record).map(|bytes| bytes / MIB as f64)
    };
    assert_eq!(within(&[(1, 29.9), (8, 10.0)]), None);
    assert_eq!(within(&[(1, 30.1), (8, 10.0)]), Some(1.0));
    let found = within(&[(1, 90.0), (8, 18.0), (64, 10.0)]).expect("a cache");
    // 4 MiB by the first, none by the second, whose weight is 64 times less.
    assert!((found - 4.0 * 64.0 / 65.0).abs() < 1e-9, "{found}");
    assert_eq!(within(&[(1, 10.0), (8, 90.0)]), None);
    assert_eq!(within(&[]), None);
}
