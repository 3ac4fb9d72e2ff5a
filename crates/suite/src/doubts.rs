//! Numbers that cannot be the medium's, and numbers that may not last.

use record::units::MIB;
use record::{Cell, Flag, Path, test};

use crate::{CellContext, TargetInfo};

mod lifted;
mod unsettled;
pub(crate) use lifted::lift;
pub(crate) use unsettled::unsettled;

/// Numbers that cannot be the medium's (docs/field/statistics.md#statistics;
/// docs/field/peers.md#impossible-numbers).
pub(crate) fn impossible(cell: &Cell, target: &TargetInfo) -> Vec<Flag> {
    let mut flags = Vec::new();
    let through_cache = cell.params.path == Path::Buffered;
    let Some(bps) = cell.metrics.bps.map(|bps| bps.value).filter(|_| !through_cache) else {
        return flags;
    };
    if let Some(link_bps) = target.link_bps.filter(|link| bps > link * 1.02) {
        flags.push(Flag::FasterThanLink { bps, link_bps });
    }
    if let Some(memory_bps) = target.memory_bps.filter(|memory| bps > *memory) {
        flags.push(Flag::FasterThanMemory { bps, memory_bps });
    }
    let splits = |block: u64, limit: u64| block > limit && !block.is_multiple_of(limit);
    if let (Some(block_bytes), Some(max_transfer_bytes)) =
        (cell.params.block_bytes, target.facts.max_transfer_bytes)
        && splits(block_bytes, max_transfer_bytes)
    {
        flags.push(Flag::SplitCommand { block_bytes, max_transfer_bytes });
    }
    flags
}

/// A cache takes a single write in less time than this, and its bytes no more slowly than that;
/// where writes take longer, none took them.
const CACHED_NS: f64 = 3e6;
const CACHED_NS_PER_BYTE: f64 = 100.0;
/// Writes in a row cost the command less. Flash written one bit to a cell takes 16 KiB in 0.2 to
/// 0.3 ms a plane (docs/field/ftl.md#nand), so less than 20 MB/s is no cache of it.
const CACHED_IN_A_ROW_NS: f64 = 0.5e6;
const CACHED_IN_A_ROW_NS_PER_BYTE: f64 = 50.0;
/// No volatile cache that is known is larger (docs/field/cheats.md#cheats-and-caches). They come in
/// powers of two, so a little more fills every one.
pub(crate) const LARGEST_CACHE_BYTES: u64 = 64 * MIB;
pub(crate) const OVERWHELM_BYTES: u64 = LARGEST_CACHE_BYTES + MIB;
/// A cache is so many times as fast as what lies behind it
/// (docs/field/cheats.md#cheats-and-caches).
pub(crate) const CACHE_RATIO: f64 = 3.0;
/// A span smaller than this is what caches and cheats are made for, and a few open allocation units
/// hold most of what is written to it.
pub(crate) const WIDE_BYTES: u64 = 100 * MIB;
/// Flash that is written one bit to a cell to be fast holds a third or less of what it holds
/// otherwise, so no cache is larger (docs/field/cheats.md#cheats-and-caches).
const LARGEST_CACHE: u64 = 3;
/// Tests whose figure is the rate of writes in a row.
const IN_A_ROW: [&str; 4] =
    [test::PRIME, test::ZERO_FILL, test::RANDOM_FILL, test::SEQUENTIAL_WRITE];
/// From this on a medium warms by degrees a minute: the SSD of
/// docs/field/cheats.md#cheats-and-caches that throttles moves 2 GB/s, what SATA carries (0.6 GB/s)
/// is not known to.
const WARMING_BPS: f64 = 1e9;

/// How long a figure may last, as far as it can be told when it has just been measured.
pub(crate) fn fleeting(cell: &Cell, target: &TargetInfo, written_bytes: u64) -> Vec<Flag> {
    let Some(iops) = cell
        .metrics
        .iops
        .filter(|_| cell.test != test::SUSTAINED && cell.params.path == Path::Direct)
    else {
        return Vec::new();
    };
    let mut flags = Vec::new();
    let is_cached_in_a_row = |block: u64| {
        1e9 / iops.value < CACHED_IN_A_ROW_NS + CACHED_IN_A_ROW_NS_PER_BYTE * block as f64
    };
    if IN_A_ROW.contains(&cell.test.as_str())
        && cell.params.block_bytes.is_some_and(is_cached_in_a_row)
    {
        flags.extend(has_room(target, written_bytes).then_some(Flag::MayNotLast { written_bytes }));
    }
    if let Some(bps) = cell.metrics.bps.map(|bps| bps.value).filter(|bps| *bps >= WARMING_BPS) {
        flags.push(Flag::MayGetHot { bps, lasted_ns: cell.elapsed_ns });
    }
    flags
}

/// Whether single writes that took `mean_ns` each may have gone to a cache that is not full yet:
/// one that a run of a few GiB does not fill.
pub(crate) fn may_not_last(
    mean_ns: f64,
    block_bytes: u64,
    context: &CellContext<'_>,
) -> Option<Flag> {
    let written_bytes = context.written_bytes();
    (may_be_cached(mean_ns, block_bytes) && has_room(context.target, written_bytes))
        .then_some(Flag::MayNotLast { written_bytes })
}

/// Whether a cache may have taken single writes of `block_bytes` that took `mean_ns` each.
pub(crate) fn may_be_cached(mean_ns: f64, block_bytes: u64) -> bool {
    mean_ns < CACHED_NS + CACHED_NS_PER_BYTE * block_bytes as f64
}

/// Whether the largest cache there may be still has room after so many bytes. How large the medium
/// under a file is, nobody knows here.
fn has_room(target: &TargetInfo, written_bytes: u64) -> bool {
    target.is_file() || written_bytes < target.facts.capacity_bytes / LARGEST_CACHE
}
