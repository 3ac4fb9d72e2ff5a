//! Screens and pages of comparisons.

use record::{Cell, Estimate, MediumKind, Params, Record};
use report::compare::summary;

use super::*;

/// A run of a medium with these random write IOPS at 4 and 16 KiB, with an interval of 3 %.
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
      5.25)) or A name too long for a column (not suitable, random writes of 16 KiB:
      5.00 IOPS (4.85 to 5.15))

    Random write
     Block           A          B  A is
     4 KiB    100 IOPS  50.0 IOPS  2.00x faster (1.92x to 2.09x)
     16 KiB  5.00 IOPS  5.10 IOPS  equal within 10 % (0.940x to 1.02x)
    ");
}

/// Regression: 11173 and 7030 were shown with 0.693x: medians with a ratio of means.
#[test]
fn the_ratio_beside_two_figures_is_theirs() {
    let runs = |name: &str, iops: [f64; 3]| findings::ComparisonSide {
        name: name.into(),
        records: (0..3)
            .map(|at| {
                let mut record = run("card", [iops[at], 50.0]);
                record.run.id = format!("{name}-{at}");
                record
            })
            .collect(),
    };
    let (before, after) =
        (runs("old", [11_173.0, 11_900.0, 6500.0]), runs("new", [7030.0, 6900.0, 6000.0]));
    let found = findings::compare_change(before, after);
    insta::assert_snapshot!(summary(&found, 80), @"
    Before: old (3 runs)
    After: new (3 runs)

    Random write
     Block      before      after  after is
     4 KiB   9525 IOPS  6627 IOPS  cannot be told: 0.696x (0.324x to 1.49x)
     16 KiB  50.0 IOPS  50.0 IOPS  equal within 10 % (0.976x to 1.02x)

    It takes more than 20 more runs of each to tell a difference of 10 %: random
      write, 4 KiB.
    ");
    let point = &found.curves[0].points[0];
    assert!((point.a / point.b / point.found.ratio - 1.0).abs() < 1e-12, "{point:?}");
    let shown = found.works[0].rows[0].figures.iter().flatten().map(|figure| figure.value);
    assert_eq!(shown.collect::<Vec<_>>(), [point.a, point.b]);
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
    let page = comparison(&found);
    assert!(page.contains("<h1>kernel 6.1, then kernel 6.12</h1>"), "{page}");
    assert!(page.contains("<svg") && page.contains("id=\"compare-random-write\""));
}

/// A try of a work on ext4, with this many files per second.
fn tried(scheduler: &str, repeat: u32, figure: f64) -> Cell {
    let id = format!("untar/ext4/noatime/{scheduler}#{repeat}");
    let mut cell = Cell::begun(id, "untar", Params::default());
    cell.metrics.iops = Some(Estimate { value: figure, ci95: None, n: 1 });
    let labels = [
        ("work", "untar"),
        ("filesystem", "ext4-nojournal"),
        ("align", "no"),
        ("mount_options", "noatime"),
        ("scheduler", scheduler),
    ];
    cell.labels = labels.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    cell
}

/// A matrix of the same card under this kernel.
fn matrix(kernel: &str, figures: &[(&str, [f64; 3])]) -> findings::ComparisonSide {
    let mut record = Record::new(record::Run { id: kernel.into(), ..record::Run::default() });
    record.medium.model = Some("card".into());
    record.run.ended = record::Ended::Complete;
    record.host = Some(record::Host { kernel: Some(kernel.into()), ..record::Host::default() });
    for (scheduler, tries) in figures {
        record.cells.extend(tries.iter().zip(1..).map(|(it, nth)| tried(scheduler, nth, *it)));
    }
    findings::ComparisonSide { name: format!("run-of-{kernel}"), records: vec![record] }
}

#[test]
fn matrices_of_two_kernels_stand_cell_by_cell() {
    let found = findings::compare_sides(&[
        matrix(
            "6.1.0-rpi",
            &[
                ("none", [100.0, 101.0, 99.0]),
                ("bfq", [50.0, 51.0, 49.0]),
                ("mq-deadline", [80.0, 120.0, 95.0]),
                ("kyber", [10.0, 10.1, 9.9]),
            ],
        ),
        matrix(
            "6.12.74+deb13-arm64",
            &[
                ("none", [50.0, 50.2, 49.8]),
                ("bfq", [50.0, 50.5, 49.5]),
                ("mq-deadline", [80.0, 70.0, 140.0]),
            ],
        ),
    ]);
    let text = summary(&found, 80);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    insta::assert_snapshot!(text, @"
    kernel 6.1.0: kernel 6.1.0-rpi (run-of-6.1.0-rpi; 1 run)
    kernel 6.12.74: kernel 6.12.74+deb13-arm64 (run-of-6.12.74+deb13-arm64; 1 run)

    Matrix: untar, per second
    Of 3 combinations: kernel 6.1.0-rpi is faster in 1; 1 is equal within 10 %; 1
      cannot be told.
      kernel 6.1.0  kernel 6.12.74  kernel 6.1.0 is
     ext4-nojournal (noatime) with bfq
              50.0            50.0  equal within 10 % (0.959x to 1.04x)
     ext4-nojournal (noatime) with mq-deadline
              97.0            92.2  cannot be told: 1.05x (0.494x to 2.24x)
     ext4-nojournal (noatime) with none
             100.0            50.0  2.00x faster (1.96x to 2.04x)

    It takes more than 20 more runs of each to tell a difference of 10 %: untar,
      ext4-nojournal (noatime) with mq-deadline.

    Not compared
    - untar, ext4-nojournal (noatime) with kyber: not of kernel
      6.12.74+deb13-arm64: not tried
    ");
    let page = comparison(&found);
    assert!(page.contains("<h2>Matrix: untar, per second</h2>"), "{page}");
    assert!(page.contains("2.00x faster"), "{page}");
}

/// Three repeats of a run of a card in a host.
fn in_host(card: &str, host: &str, iops: f64) -> [Record; 3] {
    [0.99, 1.0, 1.012].map(|times| {
        let mut record = run(card, [iops * times, iops * times / 10.0]);
        record.run.id = format!("{card}-{host}-{times}");
        let (board, kernel) = (Some(host.into()), Some(format!("6.1-{host}")));
        record.host = Some(record::Host { board, kernel, ..record::Host::default() });
        record
    })
}

#[test]
fn a_card_in_two_hosts_has_a_ratio_for_each_figure() {
    let screen = |runs: &[[Record; 3]]| {
        let found = findings::compare_by(&runs.concat(), findings::ComparedBy::Host);
        let text = summary(&found, 80);
        let part = &text[text.find("What the host").unwrap()..text.find("Best for").unwrap()];
        (part.to_owned(), comparison(&found))
    };
    let (text, html) = screen(&[
        in_host("Kingston", "Pi 4", 100.0),
        in_host("Kingston", "laptop", 260.0),
        in_host("SanDisk", "Pi 4", 150.0),
        in_host("SanDisk", "laptop", 390.0),
    ]);
    insta::assert_snapshot!(text, @"
    What the host does
    The host: Pi 4; laptop (counted with it: kernel).
    Ratios to Pi 4, over runs that are equal in everything else:
     Figure                          laptop is
     random write, 4 KiB, Kingston   2.60x faster (2.54x to 2.67x)
     random write, 4 KiB, SanDisk    2.60x faster (2.54x to 2.67x)
     random write, 16 KiB, Kingston  2.60x faster (2.54x to 2.67x)
     random write, 16 KiB, SanDisk   2.60x faster (2.54x to 2.67x)
    ");
    assert!(html.contains("<h2>What the host does</h2>"), "{html}");
    let (text, _) =
        screen(&[in_host("Kingston", "Pi 4", 100.0), in_host("SanDisk", "laptop", 390.0)]);
    insta::assert_snapshot!(text, @"
    What the host does
    The host: Pi 4; laptop (counted with it: kernel).
    There is no ratio: no run with laptop equals one with Pi 4 in everything else:
      the medium differs (Kingston; SanDisk).
    ");
}
