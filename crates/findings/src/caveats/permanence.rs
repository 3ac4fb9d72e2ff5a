//! Figures that may not last (docs/methodology.md, "What may not last").
//!
//! A fast write alone does not say whether flash took it or a cache that is not full. Other cells
//! may:
//!
//! - *Random writes pay for the mapping.* A cache takes a write in the same time wherever it goes;
//!   collecting garbage, merging and seeking are for what lies behind it. Where random writes of 4
//!   KiB, sustained, take half as long again as sequential writes of 4 KiB, nothing stands between
//!   the host and the flash: what was measured reached it. Unless the rate fell on the way, from one
//!   size of sequential writes to the next larger or while the random writes went on: then a cache
//!   filled up, and that is what they show.
//! - *Single sectors are like random writes of 512 B*, which came after much more had been written
//!   to whatever takes small writes faster.
//! - *`sustained`* wrote to the end of every cache there may be, or for minutes on end, and did not
//!   slow down.

use record::{
    Cell, Content, Direction, Estimate, Flag, Path, Pattern, Record, TargetKind, WIDE_BYTES,
    may_be_cached, metric, test,
};

/// Sequential writes cost the command less. Flash written one bit to a cell takes 16 KiB in 0.2 to
/// 0.3 ms a plane (docs/field/ftl.md#nand), so less than 20 MB/s is no cache of it.
const CACHED_SEQUENTIAL_NS: f64 = 0.5e6;
const CACHED_SEQUENTIAL_NS_PER_BYTE: f64 = 50.0;
/// Flash that is written one bit to a cell to be fast holds a third or less of what it holds
/// otherwise, so no cache is larger (docs/field/cheats.md#cheats-and-caches).
const LARGEST_CACHE: u64 = 3;
/// Tests whose figure is the rate of sequential writes.
const SEQUENTIAL: [&str; 4] =
    [test::PRIME, test::ZERO_FILL, test::RANDOM_FILL, test::SEQUENTIAL_WRITE];
/// From this on a medium warms by degrees a minute: the SSD of
/// docs/field/cheats.md#cheats-and-caches that throttles moves 2 GB/s, what SATA carries (0.6 GB/s)
/// is not known to.
const WARMING_BPS: f64 = 1e9;
/// A medium that gets hot does so within this time.
const WARMING_NS: u64 = 300_000_000_000;
/// Figures that differ by less are the same: the truth may be two thirds of a figure before the
/// figure is wrong.
const SAME: f64 = 1.5;
const SMALL_BYTES: u64 = 4096;
const SECTOR_BYTES: u64 = 512;

/// Caveats of a figure as if no other cell had been measured.
pub(super) fn caveats(cell: &Cell, record: &Record) -> Vec<Flag> {
    [may_not_last(cell, record), may_get_hot(cell)].into_iter().flatten().collect()
}

/// Writes may have gone to a cache that is not full yet: one that a run of a few GiB does not fill.
fn may_not_last(cell: &Cell, record: &Record) -> Option<Flag> {
    let written_bytes = cell.run_written_bytes?;
    let block_bytes = cell.params.block_bytes?;
    let may_be_cached = match cell.test.as_str() {
        test::RANDOM_WRITE | test::SECTOR_WRITE if cell.ops > 0 => {
            may_be_cached(cell.elapsed_ns as f64 / cell.ops as f64, block_bytes)
        }
        test if SEQUENTIAL.contains(&test) && cell.params.path == Path::Direct => {
            1e9 / cell.metrics.iops?.value
                < CACHED_SEQUENTIAL_NS + CACHED_SEQUENTIAL_NS_PER_BYTE * block_bytes as f64
        }
        _ => false,
    };
    let has_room = largest_cache_bytes(record).is_none_or(|bytes| written_bytes < bytes);
    (may_be_cached && has_room).then_some(Flag::MayNotLast { written_bytes })
}

/// The largest cache that there may be. `None` under a file: how large its medium is, nobody knows.
fn largest_cache_bytes(record: &Record) -> Option<u64> {
    let is_file = matches!(record.target.kind, TargetKind::Directory | TargetKind::File);
    Some(record.medium.capacity_bytes.filter(|_| !is_file)? / LARGEST_CACHE)
}

fn may_get_hot(cell: &Cell) -> Option<Flag> {
    let is_of_medium = cell.test != test::SUSTAINED && cell.params.path == Path::Direct;
    let bps = cell.metrics.bps.filter(|_| is_of_medium && cell.metrics.iops.is_some())?.value;
    let lasted_ns = cell.rounds.first().map_or(cell.elapsed_ns, |first| first.elapsed_ns);
    (bps >= WARMING_BPS).then_some(Flag::MayGetHot { bps, lasted_ns })
}

/// Evidence of the run as a whole on how long figures last.
pub(super) struct Answers {
    /// Random writes pay for the mapping.
    is_flash_itself: bool,
    /// Random writes of single sectors a second, sustained.
    sectors_iops: Option<f64>,
    /// Sequential writes last longer than any cache.
    has_no_cache: bool,
    /// The rate, in bytes a second, that was kept up until the medium would have been hot.
    cool_bps: f64,
}

impl Answers {
    /// Evidence in the cells of a record, which stand in the order of time.
    pub(super) fn of(cells: &[Cell], record: &Record) -> Answers {
        let sustained = cells.iter().find(|cell| {
            cell.test == test::SUSTAINED && cell.params.form.as_deref() == Some("first")
        });
        let level = sustained.and_then(|cell| {
            let figure = |name| cell.metrics.other.get(name).map(|figure: &Estimate| figure.value);
            Some((cell, figure("first_bps")?, figure(metric::SUSTAINED_BPS)?))
                .filter(|(_, first, last)| *last * SAME >= *first)
        });
        let largest_bytes = largest_cache_bytes(record);
        Answers {
            is_flash_itself: random_writes_pay(cells),
            sectors_iops: random_writes(cells, SECTOR_BYTES)
                .and_then(|cell| Some(cell.metrics.iops?.value)),
            has_no_cache: level
                .zip(largest_bytes)
                .is_some_and(|((cell, ..), largest_bytes)| cell.bytes >= largest_bytes),
            cool_bps: level
                .filter(|(cell, ..)| cell.elapsed_ns >= WARMING_NS)
                .map_or(0.0, |(_, first, _)| first * SAME),
        }
    }

    /// True of a caveat that this evidence answers.
    pub(super) fn answer(&self, cell: &Cell, flag: &Flag) -> bool {
        match flag {
            Flag::MayGetHot { bps, .. } => *bps <= self.cool_bps,
            Flag::MayNotLast { .. } if cell.test == test::SECTOR_WRITE => {
                let is_same = |iops: Estimate| {
                    self.sectors_iops.is_some_and(|sustained| iops.value <= SAME * sustained)
                };
                self.is_flash_itself && cell.metrics.iops.is_some_and(is_same)
            }
            Flag::MayNotLast { .. } if SEQUENTIAL.contains(&cell.test.as_str()) => {
                self.is_flash_itself || self.has_no_cache
            }
            Flag::MayNotLast { .. } => self.is_flash_itself,
            _ => false,
        }
    }
}

/// The sustained random writes of this size in a wide span.
fn random_writes(cells: &[Cell], block_bytes: u64) -> Option<&Cell> {
    cells.iter().find(|cell| {
        let params = &cell.params;
        cell.test == test::RANDOM_WRITE
            && params.block_bytes == Some(block_bytes)
            && params.span_bytes.is_some_and(|bytes| bytes >= WIDE_BYTES)
            && is_data(cell)
    })
}

fn is_data(cell: &Cell) -> bool {
    !cell.stop.cut_short() && cell.params.content == Some(Content::Incompressible)
}

fn random_writes_pay(cells: &[Cell]) -> bool {
    let sequential: Vec<&Cell> = cells
        .iter()
        .filter(|cell| cell.test == test::SEQUENTIAL_WRITE && is_sequential(cell))
        .collect();
    let small = sequential.iter().find(|cell| cell.params.block_bytes == Some(SMALL_BYTES));
    let low = |cell: &Cell| cell.metrics.iops.and_then(|iops| Some(iops.ci95?[0]));
    let high = |cell: &Cell| cell.metrics.iops.and_then(|iops| Some(iops.ci95?[1]));
    let random = random_writes(cells, SMALL_BYTES);
    // A cache that filled up until then did so in one of these.
    let until =
        random.and_then(|random| cells.iter().position(|cell| cell.id == random.id)).unwrap_or(0);
    let fell_before =
        cells.iter().take(until + 1).any(|cell| cell.test == test::RANDOM_WRITE && fell(cell));
    let pays = random.filter(|_| !fell_before).and_then(high);
    let pays = pays
        .zip(small.and_then(|cell| low(cell)))
        .is_some_and(|(random, sequential)| random * SAME <= sequential);
    pays && !falls_with_size(&sequential)
}

fn is_sequential(cell: &Cell) -> bool {
    // A command that the link splits is slow for another reason.
    let is_whole = !cell.flags.iter().any(|flag| matches!(flag, Flag::SplitCommand { .. }));
    is_whole
        && is_data(cell)
        && cell.params.direction == Some(Direction::Write)
        && cell.params.pattern == Some(Pattern::Sequential)
}

/// True where the first of the writes were so much faster that something had room for them.
fn fell(random: &Cell) -> bool {
    let burst = random.metrics.other.get(metric::BURST_IOPS).map_or(0.0, |burst| burst.value);
    random.metrics.iops.is_some_and(|iops| burst > SAME * SAME * iops.value)
}

/// True where larger sequential writes, measured later, are slower in bytes a second: nothing but a
/// cache that filled up makes them so.
fn falls_with_size(sequential: &[&Cell]) -> bool {
    let rates = sequential
        .iter()
        .filter_map(|cell| Some((cell.params.block_bytes?, cell.metrics.bps?.value)));
    let rates: Vec<(u64, f64)> = rates.collect();
    rates.iter().enumerate().any(|(at, (block, bps))| {
        rates[at..].iter().any(|(later, rate)| later >= block && rate * SAME < *bps)
    })
}

#[cfg(test)]
mod tests;
