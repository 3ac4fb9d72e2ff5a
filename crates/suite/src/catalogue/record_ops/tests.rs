use device::{Op, Request};
use record::units::{GIB, MILLISECOND_NS, SECOND_NS};

use super::*;
use crate::catalogue::testing::{KnownFiles, TestBench};

const ALL: &str = "record-ops size=1MiB";

fn bench(capacity_bytes: u64) -> TestBench {
    let mut bench = TestBench::raw(capacity_bytes, |_, _| MILLISECOND_NS);
    bench.target.files = Ok(());
    bench
}

/// Files that take 2 ms for a write, 1 ms for a read.
fn files() -> KnownFiles {
    KnownFiles::new(
        |request, _| if request.op == Op::Read { MILLISECOND_NS } else { 2 * MILLISECOND_NS },
    )
}

fn records(requests: &[Request], start_bytes: u64) -> Vec<u32> {
    requests
        .iter()
        .filter(|r| r.op != Op::Flush)
        .map(|r| ((r.offset_bytes - start_bytes) / 4096) as u32)
        .collect()
}

#[test]
fn one_file_serves_all_forms_in_iozones_order() {
    let mut files = files();
    let ran = bench(GIB).run_staged(&[ALL], &mut files);
    assert_eq!(files.made().len(), 1);
    let seen = records(&files.made()[0], 0);
    let (straight, shuffled) = ((0..256).collect::<Vec<_>>(), iozone_permutation(256));
    assert_eq!(seen, [straight.clone(), straight, shuffled.clone(), shuffled.clone()].concat());
    assert!(
        files.made()[0]
            .iter()
            .filter(|r| r.op == Op::Write)
            .all(|r| r.sync == Sync::File && r.content == Content::Byte(165))
    );
    assert_eq!(files.alive(), 0);
    assert_eq!(records(&ran.requests, GIB / 2), [shuffled.clone(), shuffled].concat());
    let rates: Vec<f64> =
        ran.end.cells.iter().map(|cell| cell.metrics.iops.unwrap().value).collect();
    assert_eq!(rates, [500.0, 500.0, 1000.0, 500.0, 1000.0, 1000.0]);
    assert_eq!(ran.other("record-ops/1", "full_pass_s"), 0.512);
    assert_eq!(ran.cell("record-ops/1").on.as_deref(), Some("a file of known cost"));
    assert!(ran.end.cells.iter().all(|cell| cell.stop == Stop::Bytes));
}

#[test]
fn time_boxed_forms_keep_the_published_order() {
    // Ten minutes would be needed for each; there are ten seconds. What `write` leaves is laid down
    // at 4 ms a MiB.
    let mut files = KnownFiles::new(|request, _| {
        if request.length_bytes > 4096 { 4 * MILLISECOND_NS } else { 50 * MILLISECOND_NS }
    });
    let ran = bench(GIB)
        .run_staged(&["record-ops size=64MiB forms=write,random-write max_time=10s"], &mut files);
    assert_eq!((ran.cell("record-ops/1").stop, ran.cell("record-ops/1").ops), (Stop::Time, 199));
    let cell = ran.cell("record-ops/2");
    assert_eq!(cell.metrics.iops.unwrap().value, 20.0);
    let seen = records(&files.made()[0], 0);
    assert_eq!(
        seen[seen.len() - cell.ops as usize..],
        iozone_permutation(16384)[..cell.ops as usize]
    );
    assert!(cell.elapsed_ns <= 10 * SECOND_NS && cell.ops > 150, "{cell:?}");
}

#[test]
fn only_what_could_be_laid_down_is_visited() {
    let mut files = KnownFiles::new(|_, _| SECOND_NS);
    let ran = bench(GIB)
        .run_staged(&["record-ops size=64MiB forms=random-read max_time=20s"], &mut files);
    let cell = ran.cell("record-ops/1");
    assert_eq!(
        cell.flags.last(),
        Some(&Flag::PartlyPrimed { primed_bytes: 10 * MIB, wanted_bytes: 64 * MIB })
    );
    let there: Vec<u32> = iozone_permutation(16384)
        .into_iter()
        .filter(|record| *record < 2560)
        .take(cell.ops as usize)
        .collect();
    assert_eq!(records(&files.made()[0], 0)[10..], there);
}
