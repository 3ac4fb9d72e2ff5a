//! Figures that may not last (docs/methodology.md, "What may not last").
//!
//! A fast write alone does not show if it went to flash or to a cache that is not full. Other cells
//! can:
//!
//! - *Random writes pay for the mapping.* A cache takes the same time for any address; garbage
//!   collection, merges and seeks only occur behind it. If sustained random writes of 4 KiB take at
//!   least 1.5 times as long as sequential writes of 4 KiB, there is no cache between host and
//!   flash. The exception is a rate that fell, from one size of sequential writes to the next
//!   larger or during the random writes: then a cache became full, and the figures show that.
//! - *Single sectors are compared with random writes of 512 B*, which came after much more had been
//!   written to any cache for small writes.
//! - *`sustained`* wrote until every possible cache was full, or for minutes, and did not become
//!   slower.

use record::{
    Cell, Content, Direction, Estimate, Flag, Path, Pattern, Record, TargetKind, WIDE_BYTES,
    may_be_cached, metric, test,
};

/// Time of a sequential write, plus that for its bytes, above which no cache took it. Its command
/// is cheaper than that of a random write. Flash in SLC mode takes 0.2 to 0.3 ms for 16 KiB per
/// plane (docs/field/ftl.md#nand), so a rate below 20 MB/s is not that of a cache in it.
const CACHED_SEQUENTIAL_NS: f64 = 0.5e6;
const CACHED_SEQUENTIAL_NS_PER_BYTE: f64 = 50.0;
/// Divisor for the largest cache: flash in SLC mode holds at most a third of its capacity in other
/// modes (docs/field/cheats.md#cheats-and-caches).
const LARGEST_CACHE: u64 = 3;
/// Tests with the rate of sequential writes as their figure.
const SEQUENTIAL: [&str; 4] =
    [test::PRIME, test::ZERO_FILL, test::RANDOM_FILL, test::SEQUENTIAL_WRITE];
/// Rate from which on a medium warms up by degrees per minute: the SSD of
/// docs/field/cheats.md#cheats-and-caches that throttles moves 2 GB/s; at the rate of SATA (0.6
/// GB/s) none is known to.
const WARMING_BPS: f64 = 1e9;
/// Time within which a medium gets hot.
const WARMING_NS: u64 = 300_000_000_000;
/// Largest ratio of figures that count as equal: a figure is wrong only if the truth is less than
/// two thirds of it.
const SAME: f64 = 1.5;
const SMALL_BYTES: u64 = 4096;
const SECTOR_BYTES: u64 = 512;

/// Caveats of a figure as if no other cell had been measured.
pub(super) fn caveats(cell: &Cell, record: &Record) -> Vec<Flag> {
    [may_not_last(cell, record), may_get_hot(cell)].into_iter().flatten().collect()
}

/// Caveat that writes may have gone to a cache that is not full yet: a run of a few GiB may not
/// fill it.
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

/// Size in bytes of the largest possible cache. `None` for a file, as the size of its medium is not
/// known.
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

/// Evidence from the whole run on how long figures last.
pub(super) struct PermanenceEvidence {
    /// Random writes pay for the mapping.
    is_flash_itself: bool,
    /// Sustained random writes of single sectors, in IOPS.
    sectors_iops: Option<f64>,
    /// Sequential writes went on longer than any cache would.
    has_no_cache: bool,
    /// Highest rate in bytes per second that lasted until the medium would have been hot.
    cool_bps: f64,
}

impl PermanenceEvidence {
    /// Evidence in the cells of a record, which are in order of time.
    pub(super) fn of(cells: &[Cell], record: &Record) -> PermanenceEvidence {
        let sustained = cells.iter().find(|cell| {
            cell.test == test::SUSTAINED && cell.params.form.as_deref() == Some("first")
        });
        let level = sustained.and_then(|cell| {
            let figure = |name| cell.metrics.other.get(name).map(|figure: &Estimate| figure.value);
            Some((cell, figure("first_bps")?, figure(metric::SUSTAINED_BPS)?))
                .filter(|(_, first, last)| *last * SAME >= *first)
        });
        let largest_bytes = largest_cache_bytes(record);
        PermanenceEvidence {
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

    /// True if this evidence disproves a caveat.
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
    // A cache that was full by then became so in one of these.
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

/// True if the first writes were so much faster that a cache must have taken them.
fn fell(random: &Cell) -> bool {
    let burst = random.metrics.other.get(metric::BURST_IOPS).map_or(0.0, |burst| burst.value);
    random.metrics.iops.is_some_and(|iops| burst > SAME * SAME * iops.value)
}

/// True if larger sequential writes, measured later, have a lower rate in bytes per second: only a
/// cache that became full has this effect.
fn falls_with_size(sequential: &[&Cell]) -> bool {
    let rates = sequential
        .iter()
        .filter_map(|cell| Some((cell.params.block_bytes?, cell.metrics.bps?.value)));
    let rates: Vec<(u64, f64)> = rates.collect();
    rates.iter().enumerate().any(|(at, (block, bps))| {
        rates[at..].iter().any(|(later, rate)| later >= block && rate * SAME < *bps)
    })
}
