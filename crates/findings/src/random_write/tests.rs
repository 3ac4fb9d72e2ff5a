use record::units::{MIB, SECOND_NS};
use record::{Cell, Flag, Severity};

use super::*;
use crate::testing::{exact, iops, record_of};

/// So many random writes of this size a second.
fn writes(block: u64, value: f64) -> Cell {
    iops("random-write", block as u32, block, value, SECOND_NS)
}

/// The same, of which only a bound is known.
fn bounded(block: u64, value: f64, bound: Bound) -> Cell {
    let mut cell = writes(block, value);
    cell.flags.push(Flag::Transient { bound });
    cell
}

fn told(cells: Vec<Cell>, id: &str) -> Option<Finding> {
    conclude(&record_of(cells)).into_iter().find(|finding| finding.id == id)
}

#[test]
fn fewer_than_a_disk_are_a_warning_and_fewer_than_merges_allow_are_explained() {
    let cases = [
        (9.99, Severity::Warning, true),
        (10.0, Severity::Warning, false),
        (89.9, Severity::Warning, false),
        (90.0, Severity::Info, false),
        (110.0, Severity::Info, false),
    ];
    for (value, severity, merges) in cases {
        let found = told(vec![writes(4 * KIB, value)], "random-write").unwrap();
        let explained = found.statement.contains("rewrite a whole erase block");
        assert_eq!((found.severity, explained), (severity, merges), "{value}: {found:?}");
    }
}

#[test]
fn four_kilobytes_decide_or_sixteen_where_these_are_fewer_for_certain() {
    let decides = |cells: Vec<Cell>| {
        told(cells, "random-write").map(|found| {
            let (_, behind) = found.statement.split_once("Random writes of ").unwrap();
            let (size, _) = behind.split_once(" reach").unwrap();
            format!("{size}, {} shown", found.evidence.len() - 1)
        })
    };
    let sized = |sizes: &[(u64, f64)]| -> Vec<Cell> {
        sizes.iter().map(|(block, value)| writes(*block, *value)).collect()
    };
    type Case = (&'static [(u64, f64)], Option<&'static str>);
    let cases: [Case; 7] = [
        (
            &[(512, 100.0), (4 * KIB, 100.0), (16 * KIB, 99.0), (64 * KIB, 90.0)],
            Some("4 KiB, 4 shown"),
        ),
        (&[(4 * KIB, 100.0), (16 * KIB, 97.0)], Some("4 KiB, 2 shown")),
        (&[(4 * KIB, 100.0), (16 * KIB, 90.0)], Some("16 KiB, 2 shown")),
        (&[(4 * KIB, 90.0), (16 * KIB, 100.0)], Some("4 KiB, 2 shown")),
        (&[(16 * KIB, 90.0)], Some("16 KiB, 1 shown")),
        (&[(512, 90.0), (64 * KIB, 90.0)], None),
        (&[(8 * KIB, 90.0), (4 * KIB, 90.0)], Some("4 KiB, 1 shown")),
    ];
    for (sizes, expected) in cases {
        assert_eq!(decides(sized(sizes)).as_deref(), expected, "{sizes:?}");
    }
}

#[test]
fn a_fast_way_is_told_where_bandwidth_and_chance_do_not_explain_it() {
    // Known to 3 % each, a ratio is known to a little more than 4 %.
    let cases = [
        (4 * KIB, 16 * KIB, 5.1, false),
        (4 * KIB, 16 * KIB, 5.3, true),
        (16 * KIB, 64 * KIB, 5.1, false),
        (16 * KIB, 64 * KIB, 5.3, true),
        (512, 4 * KIB, 10.2, false),
        (512, 4 * KIB, 10.6, true),
        // No pair: as many bytes again are between them.
        (4 * KIB, 64 * KIB, 100.0, false),
        (512, 16 * KIB, 100.0, false),
    ];
    for (small, large, ratio, expected) in cases {
        let cells = vec![writes(small, 20.0 * ratio), writes(large, 20.0)];
        let found = told(cells, "small-write-bypass");
        assert_eq!(found.is_some(), expected, "{small} {large} {ratio}: {found:?}");
    }
}

#[test]
fn a_bound_must_be_half_as_much_again_beyond() {
    let cases = [
        (150.0, Bound::AtLeast, 20.0, Bound::AtMost, false),
        (150.1, Bound::AtLeast, 20.0, Bound::AtMost, true),
        (900.0, Bound::AtMost, 20.0, Bound::AtMost, false),
        (900.0, Bound::AtLeast, 20.0, Bound::AtLeast, false),
    ];
    for (small, of_small, large, of_large, expected) in cases {
        let cells = vec![bounded(4 * KIB, small, of_small), bounded(16 * KIB, large, of_large)];
        let found = told(cells, "small-write-bypass");
        assert_eq!(found.is_some(), expected, "{small} {of_small:?} {of_large:?}: {found:?}");
    }
    let one_of_two = vec![bounded(4 * KIB, 150.0, Bound::AtLeast), writes(16 * KIB, 20.0)];
    assert_eq!(told(one_of_two, "small-write-bypass"), None, "a bound is a bound beside a level");
}

#[test]
fn what_takes_less_than_five_milliseconds_is_on_no_slow_way() {
    let found = |large: f64| {
        told(vec![writes(4 * KIB, 2000.0), writes(16 * KIB, large)], "small-write-bypass").is_some()
    };
    assert_eq!([199.0, 200.0, 201.0].map(found), [true, true, false]);
}

#[test]
fn spans_that_differ_tell_of_no_fast_way() {
    let mut cells = vec![writes(4 * KIB, 200.0), writes(16 * KIB, 2.0)];
    assert!(told(cells.clone(), "small-write-bypass").is_some());
    cells[1].params.span_bytes = Some(1024 * MIB);
    assert_eq!(told(cells, "small-write-bypass"), None);
}

#[test]
fn what_is_programmed_for_a_write_is_told_from_eight_times_on() {
    // 32 writes of 4 KiB a second are an eighth of a MiB.
    let told = |row_mib: f64, rotational: bool| {
        let row = exact(iops("sequential-write", 1, MIB, row_mib, SECOND_NS));
        let mut record = record_of(vec![writes(4 * KIB, 32.0), row]);
        record.medium.rotational = Some(rotational);
        conclude(&record)
            .into_iter()
            .find(|finding| finding.id == "write-amplification")
            .map(|finding| (finding.severity, finding.statement))
    };
    let severity = |row_mib| told(row_mib, false).map(|found| found.0);
    assert_eq!(severity(0.999), None);
    assert_eq!([1.0, 12.4].map(severity), [Some(Severity::Info); 2]);
    assert_eq!([12.5, 13.0].map(severity), [Some(Severity::Warning); 2]);
    assert!(told(12.5, false).unwrap().1.starts_with(
        "A random write of 4 KiB takes as long as a sequential write of 100x its size: write amplification is up to 100x"
    ));
    assert_eq!(told(12.5, true), None, "a disk seeks");
}
