use record::Params;

use super::*;
use crate::testing::{empty, record_of};

fn with(test: &str, form: Option<&str>, span_bytes: u64, numbers: &[(&str, f64)]) -> Cell {
    let params =
        Params { form: form.map(str::to_owned), span_bytes: Some(span_bytes), ..Params::default() };
    let mut cell = Cell { stop: record::Stop::Bytes, ..Cell::begun("a", test, params) };
    for (name, value) in numbers {
        let found = record::Estimate { value: *value, ci95: None, n: 1 };
        cell.metrics.other.insert((*name).to_owned(), found);
    }
    cell
}

fn probe(code: f64, real: f64) -> Cell {
    with(test::CAPACITY, None, 0, &[("type", code), (metric::REAL_BYTES, real)])
}

fn read_back(span_bytes: u64, numbers: &[(&str, f64)]) -> Cell {
    with(test::VERIFY, Some("read"), span_bytes, numbers)
}

#[test]
fn what_finds_something_wrong_stands_before_what_does_not_and_the_later_before_the_earlier() {
    for (codes, real) in [
        (vec![(0.0, 1.0), (0.0, 2.0)], 2),
        (vec![(2.0, 1.0), (0.0, 2.0)], 1),
        (vec![(2.0, 1.0), (3.0, 2.0)], 2),
        (vec![(0.0, 1.0), (1.0, 2.0)], 2),
    ] {
        let record = record_of(codes.iter().map(|(code, real)| probe(*code, *real)).collect());
        assert_eq!(real_bytes(&record), Some(real), "{codes:?}");
    }
    assert_eq!(real_bytes(&empty()), None);
}

#[test]
fn no_number_is_as_large_as_two_to_the_sixtieth() {
    let of = |value: f64| number(&with("a", None, 0, &[("n", value)]), "n");
    assert_eq!(of(0.0), Some(0.0));
    assert_eq!(of(1_152_921_504_606_846_800.0), Some(1_152_921_504_606_846_800.0));
    assert_eq!([of(1_152_921_504_606_846_976.0), of(-1.0), of(f64::NAN)], [None, None, None]);
}

#[test]
fn sectors_of_all_parts_are_added() {
    let mut sectors = Sectors::default();
    for first in [4096.0, 512.0, 8192.0] {
        sectors.add(&read_back(
            1_000,
            &[
                (metric::GOOD_SECTORS, 1.0),
                (metric::CHANGED_SECTORS, 2.0),
                (metric::OVERWRITTEN_SECTORS, 4.0),
                (metric::CORRUPTED_SECTORS, 8.0),
                (metric::FIRST_BAD_OFFSET_BYTES, first),
            ],
        ));
    }
    assert_eq!((sectors.good, sectors.bad(), sectors.span_bytes), (3, 42, 3_000));
    assert_eq!(sectors.first_bad_bytes, Some(512));
    assert_eq!(sectors.list(), "24 corrupted, 6 changed, 12 overwritten");
    sectors.corrupted = 0;
    assert_eq!(sectors.list(), "6 changed, 12 overwritten");
    assert!(!sectors.is_partial);
}
