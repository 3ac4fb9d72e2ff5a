use record::{Estimate, Skip, Stop};

use super::super::{ComparisonSide, FasterMedium, compare, compare_sides};
use super::*;

/// A try of untar with this scheduler on ext4: so many files a second.
fn tried(scheduler: &str, repeat: u32, figure: f64) -> Cell {
    let id = format!("untar/ext4/noatime/{scheduler}#{repeat}");
    let mut cell = Cell::begun(id, "untar", Params::default());
    cell.metrics.iops = Some(Estimate { value: figure, ci95: None, n: 1 });
    cell.elapsed_ns = 2_000_000_000;
    let labels = [
        ("work", "untar"),
        ("filesystem", "ext4"),
        ("align", "no"),
        ("mount_options", "noatime"),
        ("scheduler", scheduler),
    ];
    cell.labels = labels.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    cell.labels.insert("repeat".to_owned(), repeat.to_string());
    cell
}

/// A matrix of a medium: figures of the repeats by scheduler.
fn matrix(model: &str, figures: &[(&str, &[f64])]) -> Record {
    let mut record = crate::testing::empty();
    record.run.suite = matrix::SUITE.to_owned();
    (record.run.id, record.medium.model) = (format!("{model}-run"), Some(model.to_owned()));
    for (scheduler, figures) in figures {
        let cells =
            figures.iter().zip(1..).map(|(figure, repeat)| tried(scheduler, repeat, *figure));
        record.cells.extend(cells);
    }
    record
}

#[test]
fn cells_stand_beside_each_other_and_say_how_many_times() {
    let a = matrix("a", &[("none", &[100.0, 101.0, 99.0]), ("bfq", &[50.0, 20.0, 90.0])]);
    let b = matrix("b", &[("none", &[50.0, 50.5, 49.5]), ("bfq", &[40.0, 70.0, 15.0])]);
    let found = compare(&[a, b]);
    let [work] = &found.matrices[..] else { panic!("{found:?}") };
    assert_eq!(work.rows.len(), 2);
    let none = &work.rows[1];
    assert_eq!(none.way, "ext4 (noatime) with none");
    assert_eq!(none.figures[0].unwrap().range, Some([99.0, 101.0]));
    let fastest = none.fastest.unwrap();
    assert_eq!((fastest.medium, fastest.found.judgement), (0, FasterMedium::Faster));
    let [low, high] = fastest.found.ci95.unwrap();
    assert!((fastest.found.ratio - 2.0).abs() < 1e-3 && low > 1.9 && high < 2.1, "{fastest:?}");
    assert_eq!(work.rows[0].fastest.unwrap().found.judgement, FasterMedium::Unclear);
    assert!(found.not_compared.is_empty(), "{:?}", found.not_compared);
}

#[test]
fn of_works_that_are_told_by_time_the_shorter_is_faster() {
    let timed = |model: &str, seconds: [f64; 2]| {
        let mut record = matrix(model, &[("none", &seconds)]);
        for (cell, seconds) in record.cells.iter_mut().zip(seconds) {
            (cell.metrics.iops, cell.elapsed_ns) = (None, (seconds * 1e9) as u64);
        }
        record
    };
    let found = compare(&[timed("slow", [4.0, 4.01]), timed("fast", [2.0, 2.01])]);
    let work = &found.matrices[0];
    let fastest = work.rows[0].fastest.unwrap();
    assert!(!work.larger_is_better && fastest.medium == 1, "{work:?}");
    assert_eq!(fastest.found.judgement, FasterMedium::Faster);
}

#[test]
fn what_only_one_has_is_named_with_the_reason() {
    let mut a = matrix("a", &[("none", &[1.0, 1.0]), ("bfq", &[1.0, 1.0]), ("kyber", &[1.0, 1.0])]);
    let mut b = matrix("b", &[("none", &[1.0, 1.0]), ("mq-deadline", &[1.0, 1.0])]);
    b.skipped = vec![Skip::new("scheduler bfq", "the kernel has none")];
    let mut failed = tried("kyber", 1, 1.0);
    (failed.stop, failed.reason) = (Stop::Error, Some("mount failed".into()));
    b.cells.push(failed);
    a.run.ended = record::Ended::Interrupted;
    let found = compare(&[a, b]);
    assert_eq!(found.matrices[0].rows.len(), 1);
    assert_eq!(
        found.not_compared,
        [
            "untar, ext4 (noatime) with bfq: not of b: left out, the kernel has none",
            "untar, ext4 (noatime) with kyber: not of b: failed: mount failed",
            "untar, ext4 (noatime) with mq-deadline: not of a: its matrix is not finished",
        ]
    );
}

#[test]
fn a_single_try_each_tells_nothing_and_other_settings_are_another_work() {
    let single = compare(&[matrix("a", &[("none", &[9.0])]), matrix("b", &[("none", &[1.0])])]);
    let fastest = single.matrices[0].rows[0].fastest.unwrap();
    assert_eq!((fastest.found.judgement, fastest.found.ci95), (FasterMedium::Unclear, None));
    let (a, mut b) = (matrix("a", &[("none", &[9.0, 9.0])]), matrix("b", &[("none", &[1.0, 1.0])]));
    b.cells.iter_mut().for_each(|cell| cell.params.threads = 4);
    let found = compare(&[a, b]);
    assert_eq!(found.matrices, []);
    assert_eq!(found.not_compared, ["untar: sync none of a, 4 threads, sync none of b"]);
}

#[test]
fn a_matrix_and_none_is_said_and_one_medium_has_sides() {
    let with = matrix("a", &[("none", &[1.0, 1.0])]);
    let without = crate::testing::empty();
    let found = compare(&[with.clone(), without]);
    assert_eq!(found.not_compared, ["the matrix (untar): there is none of a medium"]);
    let side = |figure: f64, kernel: &str| {
        let mut record = matrix("a", &[("none", &[figure, figure * 1.01])]);
        record.host = Some(record::Host { kernel: Some(kernel.into()), ..record::Host::default() });
        ComparisonSide { name: kernel.len().to_string(), records: vec![record] }
    };
    let found = compare_sides(&[side(2.0, "5.4"), side(1.0, "6.12")]);
    assert_eq!(found.media[1].name, "kernel 6.12");
    assert_eq!(found.matrices[0].rows[0].fastest.unwrap().found.judgement, FasterMedium::Faster);
}
