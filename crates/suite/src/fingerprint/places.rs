//! Selection of the places of a medium that are read.

use std::collections::BTreeSet;

use device::{Extent, Extents, Facts};
use record::PlannedCell;
use record::units::{KIB, MIB};

use crate::catalogue::record_ops::is_staged;
use crate::planned::span_of;
use stats::Random;

/// Size of a place in bytes; a logical block if that is larger.
const PLACE_BYTES: u64 = 4 * KIB;
/// Most partitions whose beginnings are read.
const MAX_PARTITIONS: usize = 8;
/// Byte offset in a partition of the identity of some file systems (btrfs, reiserfs), in addition
/// to the first bytes.
const SUPERBLOCK_BYTES: u64 = 64 * KIB;
/// Number of random places: outside of the range that the run may write, inside, and of one cell's
/// span.
const OUTSIDE: usize = 20;
const MAX_INSIDE: usize = 32;
const OF_A_SPAN: u32 = 8;
/// Most draws for a range before it counts as full.
const MAX_DRAWS: usize = 1000;

/// The places of a medium to be read before a run writes anything. Identity data of partition
/// tables and file systems: at the front, at the end (backup tables, RAID) and at the beginning of
/// the partitions (`starts`, in bytes). And places drawn from the seed, outside of the range that
/// the plan may write, and inside; those inside are read again after each cell.
pub fn places(facts: &Facts, plan: &[PlannedCell], starts: &[u64], seed: u64) -> Vec<Extent> {
    let grid = Grid::of(facts);
    let end = facts.capacity_bytes;
    let mut chosen: BTreeSet<u64> =
        [0, SUPERBLOCK_BYTES, MIB, end.saturating_sub(SUPERBLOCK_BYTES), end.saturating_sub(1)]
            .into_iter()
            .chain(
                starts
                    .iter()
                    .take(MAX_PARTITIONS)
                    .flat_map(|start| [*start, start + SUPERBLOCK_BYTES]),
            )
            .filter_map(|at| grid.around(at))
            .collect();
    let writers = || plan.iter().filter(|cell| cell.max_written_bytes > 0);
    let spans = Extents::of(writers().map(span_of));
    let mut inside = BTreeSet::new();
    for cell in writers().filter(|cell| !is_staged(cell)) {
        let room = MAX_INSIDE.saturating_sub(inside.len());
        inside.extend(of_span(grid, span_of(cell), seed).into_iter().take(room));
    }
    chosen.extend(inside);
    let mut random = Random::for_purpose(seed, "places outside of what is written");
    let draws = (0..MAX_DRAWS).filter_map(|_| grid.around(random.below(end.max(1))));
    let is_outside = |at: &u64| !spans.iter().any(|span| span.overlaps(&grid.place(*at)));
    chosen.extend(draws.filter(is_outside).take(OUTSIDE));
    chosen.into_iter().map(|at| grid.place(at)).collect()
}

/// The places to be read after a cell: places of its span that are drawn from the seed, the same
/// for each cell of that span, and those it wrote last.
pub fn written_places(facts: &Facts, span: Extent, last: &[Extent], seed: u64) -> Vec<Extent> {
    let grid = Grid::of(facts);
    let mut chosen: BTreeSet<u64> = of_span(grid, span, seed).into_iter().collect();
    chosen.extend(last.iter().filter_map(|place| grid.around(place.offset_bytes)));
    chosen.into_iter().map(|at| grid.place(at)).collect()
}

/// Places of a span: its first block, which every sequential cell writes first, some near its
/// front, and some anywhere.
fn of_span(grid: Grid, span: Extent, seed: u64) -> Vec<u64> {
    let mut random =
        Random::for_purpose(seed, &format!("places of {}+{}", span.offset_bytes, span.bytes));
    let reach = |share: f64| {
        span.offset_bytes + ((span.bytes as f64 * share) as u64).min(span.bytes.saturating_sub(1))
    };
    let near =
        |random: &mut Random| (MIB as f64 / span.bytes.max(1) as f64).min(1.0).powf(random.unit());
    let drawn = (0..OF_A_SPAN).map(|index| match index {
        0 => span.offset_bytes,
        1 | 2 => reach(near(&mut random)),
        _ => reach(random.unit()),
    });
    drawn.filter_map(|at| grid.around(at)).collect()
}

/// Grid of the places: multiples of 4 KiB, or of the logical block.
#[derive(Clone, Copy)]
struct Grid {
    bytes: u64,
    capacity_bytes: u64,
}

impl Grid {
    fn of(facts: &Facts) -> Grid {
        Grid {
            bytes: PLACE_BYTES.max(facts.logical_block_bytes),
            capacity_bytes: facts.capacity_bytes,
        }
    }

    /// First byte of the place with this byte; `None` beyond the last whole one.
    fn around(self, at: u64) -> Option<u64> {
        let last = (self.capacity_bytes / self.bytes).checked_sub(1)?;
        (at < self.capacity_bytes).then(|| (at / self.bytes).min(last) * self.bytes)
    }

    fn place(self, at: u64) -> Extent {
        Extent::new(at, self.bytes)
    }
}
