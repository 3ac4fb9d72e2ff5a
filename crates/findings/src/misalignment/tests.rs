use record::Latency;
use record::units::KIB;

use super::*;
use crate::testing::{cell, record_of, shifted};

#[test]
fn misaligned_writes_cost_from_a_penalty_of_three_tenths_on() {
    let told = |aligned: f64, form: &str| {
        let cells = vec![shifted(1, "random", 0.0, aligned), shifted(2, form, 512.0, 10.0)];
        misalignment(&record_of(cells)).map(|found| found.statement)
    };
    assert_eq!(told(12.9, "random"), None);
    assert!(told(13.1, "random").is_some_and(|said| {
        said.starts_with("Random writes of 4 KiB are 1.3x slower when shifted by 512 B")
    }));
    assert_eq!(told(13.1, "sequential"), None, "other ways are no pair");
    let row = vec![shifted(1, "row", 0.0, 14.0), shifted(2, "row", 1024.0, 10.0)];
    let said = misalignment(&record_of(row)).expect("a cost").statement;
    assert!(
        said.contains("Sequential writes of 4 KiB are 1.4x slower when shifted by 1 KiB"),
        "{said}"
    );
}

#[test]
fn the_management_unit_is_the_smallest_size_with_a_penalty() {
    let of = |number: u32, form: &str, block: u64, p50: u64, n: u64| {
        let mut cell = cell(test::MANAGEMENT_UNIT, number, block);
        cell.params.form = Some(form.into());
        cell.metrics.latency_ns = Some(Latency { n, p50: Some(p50), ..Latency::default() });
        cell
    };
    let told = |pairs: &[(u64, u64, u64)], n: u64| {
        let cells = pairs.iter().zip(1..).flat_map(|((kib, aligned, shifted), number)| {
            [
                of(number, "aligned", kib * KIB, *aligned, n),
                of(number + 20, "misaligned", kib * KIB, *shifted, n),
            ]
        });
        management_unit(&record_of(cells.collect())).map(|found| found.statement)
    };
    let said = told(&[(16, 1000, 1300), (4, 1000, 1299)], 16).expect("a unit");
    assert!(said.starts_with("It maps data in pieces of 16 KiB:"), "{said}");
    assert!(said.contains("takes 300 ns longer"), "{said}");
    let said = told(&[(16, 1000, 1300), (4, 1000, 1300)], 16).expect("a unit");
    assert!(said.starts_with("It maps data in pieces of at most 4 KiB:"), "{said}");
    assert_eq!(told(&[(16, 1000, 1299)], 16), None);
    assert_eq!(told(&[(16, 1000, 1300)], 15), None, "too few");
    assert_eq!(told(&[(16, 0, 1300)], 16), None);
    let mut disk = record_of(vec![
        of(1, "aligned", 4 * KIB, 1000, 16),
        of(2, "misaligned", 4 * KIB, 9000, 16),
    ]);
    assert!(management_unit(&disk).is_some());
    disk.medium.rotational = Some(true);
    assert_eq!(management_unit(&disk), None);
}
