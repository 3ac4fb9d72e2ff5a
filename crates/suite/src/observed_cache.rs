//! Size of the medium's volatile cache, as earlier cells of the run have shown it.

use record::units::MIB;
use record::{Cell, Stop, may_be_cached, metric, test};

/// Bytes of the largest known volatile cache (docs/field/cheats.md#cheats-and-caches). Sizes are
/// powers of two, so a little more fills every one.
pub(crate) const LARGEST_CACHE_BYTES: u64 = 64 * MIB;
pub(crate) const CACHE_FILL_BYTES: u64 = LARGEST_CACHE_BYTES + MIB;
/// Ratio of rates above which the faster writes went to a cache
/// (docs/field/cheats.md#cheats-and-caches).
pub(crate) const CACHE_RATIO: f64 = 3.0;

/// Most bytes of a fast beginning that is a cache; a larger one is flash
/// (docs/field/cheats.md#cheats-and-caches).
const LARGEST_BEGINNING_BYTES: f64 = (96 << 20) as f64;

/// Ratio of the rate of a fast beginning to the typical rate.
pub(crate) const BEGINNING_RATIO: f64 = 1.25;

/// Bytes at the beginning of a fill that were written faster than the rest, as `prime` shows: they
/// went to a volatile cache. 0 if there are none.
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

/// Ratio of rates above which first writes went to a cache.
pub(crate) const CACHED_RATIO: f64 = 1.5;

/// Bytes that a smaller write takes in a cache.
pub(crate) const CACHED_PAGE_BYTES: u64 = 4096;

/// Bytes that a cell's first writes brought into a cache: those more than `ratio` times as fast as
/// the following ones. `None` if there are none.
pub(crate) fn taken_in_bytes(cell: &Cell, ratio: f64) -> Option<u64> {
    let (iops, burst) = (cell.metrics.iops?, cell.metrics.other.get(metric::BURST_IOPS)?);
    (burst.value > ratio * iops.value)
        .then(|| burst.n * cell.params.block_bytes.unwrap_or(0).max(CACHED_PAGE_BYTES))
}

/// Most bytes in a volatile cache of this medium, as earlier cells have shown: fast writes before
/// the steady level. 0 if no cell has shown one.
pub(crate) fn observed_cache_bytes(done: &[Cell]) -> u64 {
    let taken_in = |cell: &Cell| {
        let burst = cell.metrics.other.get(metric::BURST_IOPS)?;
        let is_as_fast = may_be_cached(1e9 / burst.value, cell.params.block_bytes.unwrap_or(0));
        taken_in_bytes(cell, CACHED_RATIO).filter(|_| is_as_fast)
    };
    done.iter().filter_map(taken_in).max().unwrap_or(0).max(fast_beginning_bytes(done))
}

/// The same in pages of a cache.
pub(crate) fn observed_cache_pages(done: &[Cell]) -> u64 {
    observed_cache_bytes(done) / CACHED_PAGE_BYTES
}
