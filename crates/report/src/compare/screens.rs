//! Screens and pages of comparisons.

use record::{Cell, Estimate, MediumKind, Params, Record};

use super::*;

/// A run of a medium with these random writes a second at 4 and 16 KiB, known to 3 %.
fn run(model: &str, iops: [f64; 2]) -> Record {
    let mut record = Record::new(record::Run { id: model.into(), ..record::Run::default() });
    (record.medium.model, record.medium.kind) = (Some(model.into()), MediumKind::Sd);
    for (block, value) in [4096, 16384].into_iter().zip(iops) {
        let params = Params {
            block_bytes: Some(block),
            direction: Some(record::Direction::Write),
            ..Params::default()
        };
        let mut cell = Cell::begun(format!("random-write/{block}"), "random-write", params);
        cell.metrics.iops =
            Some(Estimate { value, ci95: Some([value * 0.97, value * 1.03]), n: 400 });
        cell.ops = 400;
        record.cells.push(cell);
    }
    record
}

#[test]
fn three_media_stand_side_by_side() {
    let long = "A name too long for a column";
    let of = |media: &[Record]| summary(&findings::compare(media), 80);
    let three = [run("one", [100.0, 5.0]), run("two", [50.0, 5.1]), run("three", [1.0, 9.0])];
    let text = of(&three);
    let table = &text[text.find("Random write").unwrap()..];
    insta::assert_snapshot!(table, @"
    Random write
    three overtakes one at blocks of about 14.0 kB (between 13.8 kB and 14.2 kB).
    three overtakes two at blocks of about 13.7 kB (between 13.6 kB and 13.9 kB).
     Block         one        two      three  Fastest
     4 KiB    100 IOPS  50.0 IOPS  1.00 IOPS  one: 2.00x two (1.92x to 2.09x)
     16 KiB  5.00 IOPS  5.10 IOPS  9.00 IOPS  three: 1.76x two (1.69x to 1.84x)
    ");
    let text = of(&[run(long, [100.0, 5.0]), run("two", [50.0, 5.1])]);
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("- ")).collect();
    insta::assert_snapshot!(lines.join("\n"), @"
    A: A name too long for a column (1 run)
    B: two (1 run)

    Best for
      name too long for a column (not suitable, random writes of 16 KiB: 5.00 IOPS)

    Random write
     Block           A          B  A is
     4 KiB    100 IOPS  50.0 IOPS  2.00x faster (1.92x to 2.09x)
     16 KiB  5.00 IOPS  5.10 IOPS  equal within 10 % (0.940x to 1.02x)
    ");
}

#[test]
fn a_change_is_read_from_before_to_after() {
    let side = |name: &str, iops: [f64; 2]| findings::ComparisonSide {
        name: name.into(),
        records: vec![run("card", iops)],
    };
    let found = findings::compare_change(
        side("kernel 6.1", [100.0, 50.0]),
        side("kernel 6.12", [60.0, 50.0]),
    );
    insta::assert_snapshot!(summary(&found, 80), @"
    Before: kernel 6.1 (1 run)
    After: kernel 6.12 (1 run)

    Random write
     Block      before      after  after is
     4 KiB    100 IOPS  60.0 IOPS  1.67x slower (1.60x to 1.74x)
     16 KiB  50.0 IOPS  50.0 IOPS  equal within 10 % (0.958x to 1.04x)
    ");
    let page = page(&found);
    assert!(page.contains("<h1>kernel 6.1, then kernel 6.12</h1>"), "{page}");
    assert!(page.contains("<svg") && page.contains("id=\"compare-random-write\""));
}
