use record::Round;
use record::units::{MIB, SECOND_NS};

use super::super::add_caveats;
use super::*;
use crate::tests::record_in_words;

/// The first stretch of a cell that was measured in rounds is what was kept up.
#[test]
fn rounds_do_not_add_up_to_a_long_time() {
    let mut record =
        record_in_words("target.kind=block; sequential-read 1MiB 2000/s elapsed_ns=4s");
    let round = |seconds| Round {
        began_ns: 0,
        ops: 200,
        elapsed_ns: seconds * SECOND_NS,
        iops: 2000.0,
        half_width: None,
    };
    record.cells[0].rounds = vec![round(3), round(1)];
    add_caveats(&mut record);
    let bps = 2000.0 * MIB as f64;
    assert_eq!(record.cells[0].flags, [Flag::MayGetHot { bps, lasted_ns: 3 * SECOND_NS }]);
}

/// Records of before do not say what had been written, and their caveats stand already.
#[test]
fn a_caveat_that_is_there_stays_as_it_is_and_is_given_once() {
    let mut record = record_in_words(
        "target.kind=block; random-write 4KiB 1000/s flag=may-not-last,written_bytes=7 \
         flag=not-primed; random-write 4KiB 1000/s; random-write 4KiB 1000/s run_written_bytes=1",
    );
    add_caveats(&mut record);
    let known = Flag::MayNotLast { written_bytes: 7 };
    let new = Flag::MayNotLast { written_bytes: 1 };
    let flags = [vec![known, Flag::NotPrimed], vec![], vec![new]];
    assert_eq!(record.cells.iter().map(|cell| cell.flags.clone()).collect::<Vec<_>>(), flags);
    let once = record.clone();
    add_caveats(&mut record);
    assert_eq!(record, once);
}
