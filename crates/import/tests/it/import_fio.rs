//! Forms of fio's output in which a job is told otherwise than once, in one place, by direction.

use std::path::PathBuf;

use import::{Hints, understand};
use record::{Cell, Direction};

use crate::import::told;

fn fixture(name: &str) -> String {
    let path: PathBuf =
        [env!("CARGO_MANIFEST_DIR"), "/../../fixtures/import/", name].concat().into();
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn cells(text: &str) -> Vec<Cell> {
    let found = understand("x", text.as_bytes(), &Hints::default());
    let found = found.unwrap_or_else(|error| panic!("{error}"));
    found.records.into_iter().flat_map(|record| record.cells).collect()
}

fn iops(cell: &Cell) -> f64 {
    cell.metrics.iops.unwrap().value.round()
}

#[test]
fn reads_and_writes_together() {
    insta::assert_snapshot!(told("fio_mixed.json"), @"
    fio 3.33 
      fio:randrw/1 [mixed] 4 KiB direct iops=14461.538462 bps=59234461 n=14476 min=19197 mean=68654 p50=50944 p99=350208 p99.9=3883008 max=7742902
    ");
    insta::assert_snapshot!(told("fio_mixed.txt"), @"
    fio 3.33 vda
      fio:randrw/1 [mixed] 4 KiB direct iops=13515.484515484517 bps=55359424.57542458 n=13529 min=29000 mean=73470 p50=51000 p99=343000 p99.9=4015000 max=15993000
    ");
    insta::assert_snapshot!(told("fio_unified_both.json"), @"
    fio 3.33 
      fio:rw/1 [read] 4 KiB direct iops=8147.540984 bps=33372327 n=994 min=48692 mean=61026 p50=57600 p99=111104 p99.9=- max=292656
      fio:rw/2 [write] 4 KiB direct iops=8639.344262 bps=35386754 n=1054 min=44526 mean=57049 p50=51968 p99=117248 p99.9=- max=1948392
    ");
    insta::assert_snapshot!(told("fio_unified_both.txt"), @"
    fio 3.33 vda
      fio:rw/1 [read] 4 KiB direct iops=6855.172413793104 bps=28078786.206896555 n=994 min=49000 mean=71290 p50=68000 p99=133000 p99.9=- max=741000
      fio:rw/2 [write] 4 KiB direct iops=7268.9655172413795 bps=29773682.75862069 n=1054 min=45000 mean=68540 p50=61000 p99=108000 p99.9=- max=4313000
    ");
}

#[test]
fn of_several_looks_at_a_job_the_last_counts() {
    insta::assert_snapshot!(told("fio_status_interval.json"), @"
    fio 3.33 
      random-read/1 4 KiB direct iops=307.44186 bps=1259281 n=661 min=33416 mean=3249862 p50=71168 p99=91750400 p99.9=- max=286403178
    ");
    insta::assert_snapshot!(told("fio_status_interval.txt"), @"
    fio 3.33 vda
      fio:randread/1 4 KiB direct iops=359.57642725598527 bps=1472825.0460405156 n=781 min=35000 mean=2779180 p50=94000 p99=31065000 p99.9=- max=587786000
    ");
}

/// The same job once more is no later look at it.
#[test]
fn a_job_that_was_run_again_is_a_result_of_its_own() {
    let text = fixture("fio_mixed.json");
    let later = text.replace("1795735679", "1795735779");
    assert_eq!(cells(&[text.as_str(), &later].concat()).len(), 2);
    let text = fixture("fio_mixed.txt");
    let again = text.replace("pid=30092", "pid=30192");
    assert_eq!(cells(&[text.as_str(), &again].concat()).len(), 2);
}

#[test]
fn jobs_that_are_one_are_added_up_in_text_as_in_json() {
    let text = cells(&fixture("fio_numjobs.txt"));
    let json = cells(&fixture("fio_numjobs.json"));
    let shape = |cells: &[Cell]| {
        cells
            .iter()
            .map(|cell| (cell.test.clone(), cell.params.threads, cell.params.block_bytes))
            .collect::<Vec<_>>()
    };
    assert_eq!(shape(&text), shape(&json));
    assert_eq!(shape(&text), [("fio:randread".to_owned(), 4, Some(4096))]);
    assert_eq!((iops(&text[0]), iops(&json[0])), (48_875.0, 53_069.0));
}

#[test]
fn mixed_jobs_that_are_one_are_added_up_by_direction() {
    let found = cells(&fixture("fio_randrw_numjobs.txt"));
    let directions: Vec<_> = found.iter().map(|cell| cell.params.direction).collect();
    assert_eq!(directions, [Some(Direction::Read), Some(Direction::Write)]);
    assert!(found.iter().all(|cell| cell.params.threads == 3));
}

#[test]
fn how_long_commits_took_is_kept() {
    insta::assert_snapshot!(told("fio_fdatasync.json"), @"
    fio 3.33 
      fio:write/1 4 KiB buffered iops=90.07741 bps=368957 n=512 min=2127 mean=17554 p50=7904 p99=150528 p99.9=- max=1281552
      fio:fdatasync/1 buffered n=511 min=193769 mean=11095493 p50=1892352 p99=202375168 p99.9=- max=990273677
    ");
    insta::assert_snapshot!(told("fio_fdatasync.txt"), @"
    fio 3.33 vda
      fio:write/1 4 KiB direct iops=296.6396292004635 bps=1215035.9212050985 n=256 min=41000 mean=167700 p50=133000 p99=- p99.9=- max=3960000
      fio:sync/1 direct n=255 min=50000 mean=3210560 p50=3818000 p99=- p99.9=- max=5278000
    ");
    insta::assert_snapshot!(told("fio_fsync_group.txt"), @"
    fio 3.33 vda
      fio:randwrite/1 4 KiB q1t2 direct iops=8533.333333333334 bps=34952533.333333336 n=512 min=22000 mean=91740 p50=65000 p99=249000 p99.9=- max=3518000
      fio:sync/1 q1t2 direct n=126 min=35000 mean=541850 p50=83000 p99=- p99.9=- max=4999000
    ");
}

#[test]
fn terse_text_of_every_version() {
    insta::assert_snapshot!(told("fio_terse_2_to_5.txt"), @"
    fio 3.33 
      fio:read/1 [a] 4 KiB direct iops=6902 bps=28273664 n=994 min=51000 mean=69940 p50=67000 p99=118000 p99.9=- max=326000
      fio:write/1 [a] 4 KiB direct iops=7319 bps=29979648 n=1054 min=48000 mean=68595 p50=61000 p99=118000 p99.9=- max=3187000
      fio:read/2 [a] 4 KiB direct iops=8954 bps=36678656 n=994 min=41000 mean=56873 p50=54000 p99=105000 p99.9=- max=1110000
      fio:write/2 [a] 4 KiB direct iops=9495 bps=38892544 n=1054 min=38000 mean=50650 p50=48000 p99=94000 p99.9=- max=236000
      fio:read/3 [a] 4 KiB direct iops=6173 bps=25287680 n=994 min=49000 mean=75616 p50=69000 p99=122000 p99.9=- max=4135000
      fio:write/3 [a] 4 KiB direct iops=6546 bps=26814464 n=1054 min=44000 mean=79694 p50=63000 p99=158000 p99.9=- max=4037000
      fio:read/4 [a] 4 KiB direct iops=7530 bps=30843904 n=994 min=52000 mean=69014 p50=62000 p99=112000 p99.9=- max=4079000
      fio:write/4 [a] 4 KiB direct iops=7984 bps=32705536 n=1054 min=47000 mean=58321 p50=56000 p99=98000 p99.9=- max=300000
    ");
}

#[test]
fn counts_that_overflow_do_not_panic() {
    let text = fixture("fio_mixed.txt").replace("total=13529,0", "total=18446744073709551615,1");
    let _ = understand("x", text.as_bytes(), &Hints::default());
}

/// Jobs that are one are those of one output.
#[test]
fn an_output_that_follows_another_is_a_result_of_its_own() {
    let text = fixture("fio_numjobs.txt");
    let later = text.replace("pid=93", "pid=193");
    let threads: Vec<_> =
        cells(&[text, later].concat()).iter().map(|cell| cell.params.threads).collect();
    assert_eq!(threads, [4, 4]);
}

#[test]
fn a_job_without_figures_keeps_those_of_its_equals() {
    let text = fixture("fio_numjobs.txt");
    let figures = text.find("  read: IOPS").unwrap()..text.find("  cpu").unwrap();
    let cut = [&text[..figures.start], &text[figures.end..]].concat();
    let found = cells(&cut.replacen("err= 0", "err= 5", 1));
    assert_eq!((found.len(), found[0].params.threads), (1, 4));
    assert!(iops(&found[0]) > 30_000.0 && found[0].reason.is_some());
    assert!(found[0].metrics.latency_ns.is_some());
}
