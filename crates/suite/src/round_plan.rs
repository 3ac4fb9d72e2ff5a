//! Cells as they are measured in rounds: their selection, duration and bytes written.

use record::units::{MILLISECOND_NS, SECOND_NS};
use record::{Cell, PlannedCell, test};

use crate::catalogue;

/// Tests that set the state before each counted I/O themselves.
const REPEATED: [&str; 4] =
    [test::SEQUENTIAL_WRITE, test::SEQUENTIAL_READ, test::RANDOM_WRITE, test::RANDOM_READ];
/// Numbers of rounds: the least, and the ones to which they grow until the interval is as narrow as
/// wanted.
pub(crate) const STEPS: [usize; 3] = [5, 8, 12];
/// Least and most nanoseconds of a round, which is a quarter of the first stretch; with the I/O
/// before it, a round may take a second more and twice as long.
pub(crate) const ROUND_NS: [u64; 2] = [250 * MILLISECOND_NS, 2 * SECOND_NS];
const BEFORE_NS: u64 = SECOND_NS;

/// Rounds of these cells that write, if all of them turn out to be fast.
pub(crate) fn planned(cells: &[PlannedCell]) -> impl Iterator<Item = PlannedCell> {
    let writes = cells.iter().filter(|cell| is_repeated(&cell.test) && cell.max_written_bytes > 0);
    writes.flat_map(|cell| vec![round_of(cell, ROUND_NS[0], 0.0); STEPS[0] - 1])
}

pub(crate) fn is_repeated(test: &str) -> bool {
    REPEATED.contains(&test)
}

/// The cell as a round measures it: for so many nanoseconds, with any precision, or for the bytes
/// of that time at `bps` bytes per second.
pub(crate) fn round_of(planned: &PlannedCell, round_ns: u64, bps: f64) -> PlannedCell {
    let mut round = planned.clone();
    if let Ok(test) = catalogue::find(&planned.test) {
        test.shorten(&mut round, round_ns, bps);
    }
    round.max_ns = limit_ns(round_ns);
    round
}

/// Duration of a round of this cell, in nanoseconds.
pub(crate) fn round_ns(cell: &Cell) -> u64 {
    let first_ns = cell.rounds.first().map_or(cell.elapsed_ns, |first| first.elapsed_ns);
    (first_ns / 4).clamp(ROUND_NS[0], ROUND_NS[1])
}

/// Time limit of a round with all I/O before it, in nanoseconds.
pub(crate) fn limit_ns(round_ns: u64) -> u64 {
    BEFORE_NS + 2 * round_ns
}
