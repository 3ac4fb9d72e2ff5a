//! Tests without a device: every cell is valid for both sides, and the table of invented figures is
//! right.

use std::collections::BTreeSet;

use suite::TestSettings;
use suite::catalogue::find;

use super::rivals::Measured;
use super::*;

fn row(cell: &'static Cell, pairs: &[(f64, f64)]) -> Row {
    let side = |iops: f64| Measured::made_up(iops);
    Row {
        cell,
        ours: pairs.iter().map(|pair| side(pair.0)).collect(),
        fio: pairs.iter().map(|pair| side(pair.1)).collect(),
    }
}

#[test]
fn every_cell_is_a_test_with_settings_it_has() {
    for cell in CELLS {
        let mut settings = TestSettings::defaults(find(cell.test).unwrap());
        for (name, value) in cell.settings {
            settings.set(name, value).unwrap();
        }
    }
    let names: BTreeSet<&str> = CELLS.iter().map(|cell| cell.name).collect();
    assert!(names.len() == CELLS.len() && CELLS.len() >= 8);
}

#[test]
fn the_median_of_the_ratios_decides_and_not_the_ratio_of_the_medians() {
    let outlier = row(
        &CELLS[0],
        &[(100.0, 100.0), (104.0, 100.0), (300.0, 100.0), (98.0, 100.0), (96.0, 100.0)],
    );
    assert!(outlier.agrees() && outlier.ratio() == 1.0);
    let slower = row(&CELLS[0], &[(94.0, 100.0), (940.0, 1000.0), (9.4, 10.0)]);
    assert!(!slower.agrees());
    assert!(
        row(&CELLS[0], &[(1.0, 0.95 / 0.9)]).ratio() > 0.9
            && !row(&CELLS[0], &[(f64::NAN, 1.0)]).agrees()
    );
}

#[test]
fn the_table_marks_what_differs() {
    let rows = vec![
        row(&CELLS[0], &[(1010.0, 1000.0), (990.0, 1000.0), (1020.0, 1000.0)]),
        row(&CELLS[1], &[(80.0, 100.0)]),
    ];
    let table = Table {
        on: On::Tmpfs,
        machine: "a processor, 2 cores, Linux 6.1".into(),
        load: 0.02,
        rows,
    };
    insta::assert_snapshot!(page::table(&table), @r"
    a processor, 2 cores, Linux 6.1; load 0.02 a processor before the first pair.

    | cell | flashmark, IOPS | fio, IOPS | ratio (smallest to largest) | | ratio of median latencies |
    |---|---:|---:|---:|---|---:|
    | sequential read, 4 KiB | 1010 | 1000 | 1.010 (0.990 to 1.020) | agrees | 0.990 |
    | sequential read, 1 MiB | 80.0 | 100 | 0.800 (0.800 to 0.800) | **differs** | 1.250 |
    ");
}
