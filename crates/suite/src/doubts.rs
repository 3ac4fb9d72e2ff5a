//! Numbers that cannot be the medium's, and how certain a number has to be.

use record::{Cell, Flag, Path};
use stats::StopRule;

use crate::Site;

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

/// The stop rule of flash.md F3: at least 3 s and 30 I/Os, then a 95 % half-width of at most `relative_half_width`.
pub fn certainty(relative_half_width: f64, min_ns: u64) -> StopRule {
    StopRule { min_ns, min_events: 30, relative_half_width, max_ns: u64::MAX }
}
