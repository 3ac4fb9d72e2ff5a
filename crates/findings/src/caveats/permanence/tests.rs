use record::units::{GIB, KIB, MIB, SECOND_NS};
use record::{Estimate, Round};

use super::super::add_caveats;
use super::*;
use crate::testing::{empty, iops};

const CAPACITY_BYTES: u64 = 30 * GIB;

/// Writes at so many a second, when the run had written this much.
fn writes(test: &str, number: u32, block_bytes: u64, a_second: f64, run_bytes: u64) -> Cell {
    Cell {
        elapsed_ns: (400.0 / a_second * 1e9) as u64,
        run_written_bytes: Some(run_bytes),
        ..iops(test, number, block_bytes, a_second, 1)
    }
}

fn with(mut cell: Cell, name: &str, value: f64) -> Cell {
    cell.metrics.other.insert(name.into(), Estimate { value, ci95: None, n: 1 });
    cell
}

/// A fill and sequential writes, fast enough for a cache.
fn sequential() -> Vec<Cell> {
    vec![
        writes(test::PRIME, 1, MIB, 100.0, GIB),
        writes(test::SEQUENTIAL_WRITE, 1, 4 * KIB, 3000.0, 2 * GIB),
        writes(test::SEQUENTIAL_WRITE, 2, MIB, 100.0, 3 * GIB),
    ]
}

/// Random writes of 4 KiB, and of single sectors before them.
fn random(sectors: f64, small: f64) -> Vec<Cell> {
    vec![
        writes(test::RANDOM_WRITE, 1, 512, sectors, 4 * GIB),
        writes(test::RANDOM_WRITE, 2, 4 * KIB, small, 5 * GIB),
    ]
}

/// `sustained` with this rate at first and this one at last, in MB/s.
fn sustained(first: f64, last: f64, bytes: u64, seconds: u64) -> Cell {
    let mut cell = iops(test::SUSTAINED, 1, MIB, last, 1);
    cell.params.form = Some("first".into());
    (cell.bytes, cell.elapsed_ns) = (bytes, seconds * SECOND_NS);
    with(with(cell, "first_bps", first * 1e6), metric::SUSTAINED_BPS, last * 1e6)
}

fn record_on(kind: TargetKind, cells: Vec<Cell>) -> Record {
    let mut record = Record { cells, ..empty() };
    (record.target.kind, record.medium.capacity_bytes) = (kind, Some(CAPACITY_BYTES));
    record
}

/// Ids of the cells of which it is said that they may not last, or that they may get hot.
fn doubtful_on(kind: TargetKind, parts: &[&[Cell]]) -> Vec<String> {
    let mut record = record_on(kind, parts.concat());
    add_caveats(&mut record);
    let once = record.clone();
    add_caveats(&mut record);
    assert_eq!(record, once, "doing it twice changes nothing");
    let is_caveat = |flag: &Flag| matches!(flag, Flag::MayNotLast { .. } | Flag::MayGetHot { .. });
    let doubtful = record.cells.into_iter().filter(|cell| cell.flags.iter().any(is_caveat));
    doubtful.map(|cell| cell.id).collect()
}

fn doubtful(parts: &[&[Cell]]) -> Vec<String> {
    doubtful_on(TargetKind::Block, parts)
}

const SEQUENTIAL_IDS: [&str; 3] = ["prime/1", "sequential-write/1", "sequential-write/2"];
const RANDOM_IDS: [&str; 2] = ["random-write/1", "random-write/2"];

#[test]
fn random_writes_that_pay_answer_for_sequential_writes() {
    assert_eq!(doubtful(&[&sequential()]), SEQUENTIAL_IDS);
    let sectors = |a_second| [writes(test::SECTOR_WRITE, 1, 512, a_second, 6 * GIB)];
    assert_eq!(doubtful(&[&sequential(), &random(400.0, 1000.0), &sectors(600.0)]), [""; 0]);
    let faster = doubtful(&[&sequential(), &random(400.0, 1000.0), &sectors(610.0)]);
    assert_eq!(faster, ["sector-write/1"], "they agree to a factor of 1.5");
}

#[test]
fn a_cache_takes_both_alike() {
    let all = [&SEQUENTIAL_IDS[..], &RANDOM_IDS].concat();
    assert_eq!(doubtful(&[&sequential(), &random(2000.0, 2000.0)]), all);
    let narrow = random(1000.0, 1000.0).into_iter().map(|mut cell| {
        cell.params.span_bytes = Some(WIDE_BYTES - 1);
        cell
    });
    assert_eq!(doubtful(&[&sequential(), &narrow.collect::<Vec<_>>()]), all);
}

#[test]
fn a_cache_that_filled_up_on_the_way_answers_for_nothing() {
    let mut fell = random(1000.0, 1000.0);
    fell[0] = with(fell[0].clone(), metric::BURST_IOPS, 2300.0);
    assert_eq!(doubtful(&[&sequential(), &fell]).len(), 5);
    let mut slower = sequential();
    slower[2] = writes(test::SEQUENTIAL_WRITE, 2, MIB, 7.0, 3 * GIB);
    let doubted = doubtful(&[&slower, &random(1000.0, 1000.0)]);
    assert_eq!(doubted, ["prime/1", "sequential-write/1", "random-write/1", "random-write/2"]);
}

/// 3 ms and 100 ns a byte for single writes, 0.5 ms and 50 ns a byte for sequential ones.
#[test]
fn slow_writes_went_to_no_cache() {
    let random = |a_second| [writes(test::RANDOM_WRITE, 1, 4 * KIB, a_second, GIB)];
    assert_eq!(doubtful(&[&random(290.0)]), [""; 0]);
    assert_eq!(doubtful(&[&random(300.0)]), ["random-write/1"]);
    let sequential = |a_second| [writes(test::SEQUENTIAL_WRITE, 1, 4 * KIB, a_second, GIB)];
    assert_eq!(doubtful(&[&sequential(1400.0)]), [""; 0]);
    assert_eq!(doubtful(&[&sequential(1430.0)]), ["sequential-write/1"]);
    let mut waited = random(300.0);
    waited[0].metrics.iops = Some(Estimate { value: 100.0, ci95: None, n: 400 });
    assert_eq!(doubtful(&[&waited]), ["random-write/1"], "the rate with what was put off");
}

#[test]
fn no_cache_holds_more_than_a_third_of_the_medium() {
    let after = |bytes| [writes(test::RANDOM_WRITE, 1, 4 * KIB, 1000.0, bytes)];
    assert_eq!(doubtful(&[&after(CAPACITY_BYTES / 3 - 1)]), ["random-write/1"]);
    assert_eq!(doubtful(&[&after(CAPACITY_BYTES / 3)]), [""; 0]);
    let in_a_file = doubtful_on(TargetKind::File, &[&after(CAPACITY_BYTES)]);
    assert_eq!(in_a_file, ["random-write/1"], "it does not say what it lies on");
}

#[test]
fn sustained_answers_where_it_did_not_fall() {
    let after =
        |first, last, bytes| doubtful(&[&sequential(), &[sustained(first, last, bytes, 60)]]);
    assert_eq!(after(90.0, 61.0, CAPACITY_BYTES / 3), [""; 0]);
    assert_eq!(after(90.0, 59.0, CAPACITY_BYTES / 3), SEQUENTIAL_IDS);
    assert_eq!(after(90.0, 90.0, CAPACITY_BYTES / 3 - 1), SEQUENTIAL_IDS);
}

#[test]
fn fast_media_may_get_hot() {
    let read = |bps: f64| [iops(test::SEQUENTIAL_READ, 1, MIB, bps / MIB as f64, 1)];
    assert_eq!(doubtful(&[&read(0.9e9)]), [""; 0]);
    assert_eq!(doubtful(&[&read(2e9)]), ["sequential-read/1"]);
    let after = |seconds| doubtful(&[&read(2e9), &[sustained(1400.0, 1300.0, GIB, seconds)]]);
    assert_eq!(after(299), ["sequential-read/1"]);
    assert_eq!(after(300), [""; 0]);
}

/// The first stretch of a cell that was measured in rounds is what was kept up.
#[test]
fn rounds_do_not_add_up_to_a_long_time() {
    let mut read = iops(test::SEQUENTIAL_READ, 1, MIB, 2000.0, 1);
    let round = |seconds| Round {
        began_ns: 0,
        ops: 200,
        elapsed_ns: seconds * SECOND_NS,
        iops: 2000.0,
        half_width: None,
    };
    (read.rounds, read.elapsed_ns) = (vec![round(3), round(1)], 4 * SECOND_NS);
    let mut record = record_on(TargetKind::Block, vec![read]);
    add_caveats(&mut record);
    let bps = 2000.0 * MIB as f64;
    assert_eq!(record.cells[0].flags, [Flag::MayGetHot { bps, lasted_ns: 3 * SECOND_NS }]);
}

/// Records of before do not say what had been written, and their caveats stand already.
#[test]
fn a_caveat_that_is_there_stays_as_it_is() {
    let known = Flag::MayNotLast { written_bytes: 7 };
    let mut old = writes(test::RANDOM_WRITE, 1, 4 * KIB, 1000.0, GIB);
    (old.run_written_bytes, old.flags) = (None, vec![known.clone(), Flag::NotPrimed]);
    let bare = Cell { flags: Vec::new(), ..old.clone() };
    let mut record = record_on(TargetKind::Block, vec![old, bare]);
    add_caveats(&mut record);
    assert_eq!(record.cells[0].flags, [known, Flag::NotPrimed]);
    assert_eq!(record.cells[1].flags, []);
}
