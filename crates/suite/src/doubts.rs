//! Numbers that cannot be the medium's, and how certain a number has to be.

use record::{Cell, Flag, Path};
use stats::StopRule;

use crate::{Bench, Site};

/// Numbers that cannot be the medium's (flash.md F; peers.md wish 4).
pub(crate) fn impossible(cell: &Cell, site: &Site) -> Vec<Flag> {
    let mut flags = Vec::new();
    let through_cache = cell.params.path == Path::Buffered;
    let Some(bps) = cell.metrics.bps.map(|bps| bps.value).filter(|_| !through_cache) else { return flags };
    if let Some(link_bps) = site.link_bps.filter(|link| bps > link * 1.02) {
        flags.push(Flag::FasterThanLink { bps, link_bps });
    }
    if let Some(memory_bps) = site.memory_bps.filter(|memory| bps > *memory) {
        flags.push(Flag::FasterThanMemory { bps, memory_bps });
    }
    let splits = |block: u64, limit: u64| block > limit && !block.is_multiple_of(limit);
    if let (Some(block_bytes), Some(max_transfer_bytes)) = (cell.params.block_bytes, site.facts.max_transfer_bytes)
        && splits(block_bytes, max_transfer_bytes)
    {
        flags.push(Flag::SplitCommand { block_bytes, max_transfer_bytes });
    }
    flags
}

/// A cache takes a write in less time than this, and its bytes no more slowly than that; where writes take longer, none took them.
const CACHED_NS: f64 = 3e6;
const CACHED_NS_PER_BYTE: f64 = 100.0;
/// Flash that is written one bit to a cell to be fast holds a third or less of what it holds otherwise, so no cache is larger (flash.md C2).
const LARGEST_CACHE: u64 = 3;

/// Whether single writes that took `mean_ns` each may have gone to a cache that is not full yet: one that a run of a few GiB does not fill.
pub(crate) fn may_not_last(mean_ns: f64, block_bytes: u64, bench: &Bench<'_>) -> Option<Flag> {
    let (site, written_bytes) = (bench.site, bench.written_bytes());
    let is_fast = mean_ns < CACHED_NS + CACHED_NS_PER_BYTE * block_bytes as f64;
    // How large the medium under a file is, nobody knows here.
    let is_full = !site.is_file() && written_bytes >= site.facts.capacity_bytes / LARGEST_CACHE;
    (is_fast && !is_full).then_some(Flag::MayNotLast { written_bytes })
}

/// The stop rule of flash.md F3: at least 3 s and 30 I/Os, then a 95 % half-width of at most `relative_half_width`.
pub fn certainty(relative_half_width: f64, min_ns: u64) -> StopRule {
    StopRule { min_ns, min_events: 30, relative_half_width, max_ns: u64::MAX }
}
