use record::Round;
use record::units::{GIB, KIB, MIB, SECOND_NS};

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

fn record_on(kind: TargetKind, cells: Vec<Cell>) -> Record {
    let mut record = Record { cells, ..empty() };
    (record.target.kind, record.medium.capacity_bytes) = (kind, Some(CAPACITY_BYTES));
    record
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
