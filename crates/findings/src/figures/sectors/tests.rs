use super::*;
use crate::testing::{cell, known};

#[test]
fn no_number_is_as_large_as_two_to_the_sixtieth() {
    let of = |value: f64| {
        let mut cell = cell(test::CAPACITY, 1, 512);
        cell.metrics.other.insert("n".into(), known(value, 0.0, 1));
        number(&cell, "n")
    };
    assert_eq!(of(0.0), Some(0.0));
    assert_eq!(of(1_152_921_504_606_846_800.0), Some(1_152_921_504_606_846_800.0));
    assert_eq!([of(1_152_921_504_606_846_976.0), of(-1.0), of(f64::NAN)], [None, None, None]);
}
