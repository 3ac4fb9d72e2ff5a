//! How much a volatile cache of the medium holds, as earlier cells of the run have shown it.

use record::units::MIB;
use record::{Cell, Stop, may_be_cached, metric, test};

/// No volatile cache that is known is larger (docs/field/cheats.md#cheats-and-caches). They come in
/// powers of two, so a little more fills every one.
pub(crate) const LARGEST_CACHE_BYTES: u64 = 64 * MIB;
pub(crate) const CACHE_FILL_BYTES: u64 = LARGEST_CACHE_BYTES + MIB;
/// A cache is so many times as fast as what lies behind it
/// (docs/field/cheats.md#cheats-and-caches).
pub(crate) const CACHE_RATIO: f64 = 3.0;

/// What is written faster at first is a cache where that ends within this much; what holds more is
/// flash (docs/field/cheats.md#cheats-and-caches).
const LARGEST_BEGINNING_BYTES: f64 = (96 << 20) as f64;

/// So many times faster than what follows.
pub(crate) const BEGINNING_RATIO: f64 = 1.25;

/// How much of a fill was written faster than the rest of it, in bytes, as `prime` shows it: what a
/// volatile cache took. 0 where nothing was.
pub(crate) fn fast_beginning_bytes(done: &[Cell]) -> u64 {
    let Some(prime) = done.iter().find(|cell| cell.test == test::PRIME && cell.stop != Stop::Error)
    else {
        return 0;
    };
    let Some(series) = prime.series.first().filter(|series| series.points.len() >= 8) else {
        return 0;
    };
    let origin = prime.params.span_offset_bytes.unwrap_or(0) as f64;
    let mut rates: Vec<f64> = series.points.iter().map(|[_, bps]| *bps).collect();
    let Some(typical) = stats::median(&mut rates) else { return 0 };
    let end = series
        .points
        .iter()
        .take_while(|[_, bps]| *bps > BEGINNING_RATIO * typical)
        .map(|[at, _]| at - origin)
        .last();
    end.filter(|bytes| *bytes <= LARGEST_BEGINNING_BYTES).map_or(0, |bytes| bytes as u64)
}

/// First writes this many times as fast as those that followed went to a cache.
pub(crate) const CACHED_RATIO: f64 = 1.5;

/// What a cache keeps of a smaller write.
pub(crate) const CACHED_PAGE_BYTES: u64 = 4096;

/// What a cell's first writes brought into a cache, in bytes: those that were more than `ratio`
/// times as fast as what followed. `None` where they were not.
pub(crate) fn taken_in_bytes(cell: &Cell, ratio: f64) -> Option<u64> {
    let (iops, burst) = (cell.metrics.iops?, cell.metrics.other.get(metric::BURST_IOPS)?);
    (burst.value > ratio * iops.value)
        .then(|| burst.n * cell.params.block_bytes.unwrap_or(0).max(CACHED_PAGE_BYTES))
}

/// How much a volatile cache of this medium holds at most, in bytes, as far as earlier cells have
/// shown one: what was taken in fast before the level that lasts. 0 where none has.
pub(crate) fn observed_cache_bytes(done: &[Cell]) -> u64 {
    let taken_in = |cell: &Cell| {
        let burst = cell.metrics.other.get(metric::BURST_IOPS)?;
        let is_as_fast = may_be_cached(1e9 / burst.value, cell.params.block_bytes.unwrap_or(0));
        taken_in_bytes(cell, CACHED_RATIO).filter(|_| is_as_fast)
    };
    done.iter().filter_map(taken_in).max().unwrap_or(0).max(fast_beginning_bytes(done))
}

/// The same in pages, as it keeps them.
pub(crate) fn observed_cache_pages(done: &[Cell]) -> u64 {
    observed_cache_bytes(done) / CACHED_PAGE_BYTES
}
