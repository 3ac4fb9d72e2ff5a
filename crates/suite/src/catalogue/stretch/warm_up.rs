//! I/Os before a stretch counts, and the caveat of a stretch without enough time for them.

use record::units::SECOND_NS;
use record::{Bound, Cell, Direction, Flag, may_be_cached, metric};

use super::{Stretch, WARM_UP_SHARE};
use crate::catalogue::level::LatencyLevel;
use crate::io_loop::IoLoad;
use crate::observed_cache::{CACHE_RATIO, CACHED_PAGE_BYTES, CACHED_RATIO, observed_cache_bytes};
use crate::{CellContext, IoTally};

/// I/Os that set the state: they open the allocation units, until a cache is full of them and their
/// latency is steady.
pub struct WarmUp {
    stretch: Stretch,
    block_bytes: u64,
    /// Bytes of the cache that is to be filled, and progress so far.
    cache_bytes: u64,
    bytes_done: u64,
    took_ns: u64,
    level: LatencyLevel,
    /// The fastest of the first, in nanoseconds.
    fastest_ns: u64,
    /// Latency of the writes of earlier cells, in nanoseconds: mean and median; 0 if unknown.
    earlier_ns: f64,
    earlier_median_ns: f64,
}

/// Pause in nanoseconds after which every cache has room and accepts some of the first writes at
/// once. If these are not fast, there is no cache.
const ROOM_NS: u64 = 2 * SECOND_NS;
const FIRST_OPS: u64 = 4;
/// Time in nanoseconds in which a cache accepts all that it holds.
const TAKING_IN_NS: u64 = 2 * SECOND_NS;
/// Ratio of latencies above which writes are not those of the earlier cell.
const OTHER_RATIO: f64 = 1.5;

impl WarmUp {
    /// A warm-up of a stretch of this load.
    pub fn new(stretch: Stretch, load: &IoLoad, context: &CellContext<'_>) -> WarmUp {
        let shown_bytes =
            if load.direction == Direction::Write { observed_cache_bytes(context.done) } else { 0 };
        let cache_bytes = shown_bytes.min(stretch.cache_bytes);
        let last = last_written(context);
        WarmUp {
            stretch,
            block_bytes: load.block_bytes,
            cache_bytes,
            bytes_done: 0,
            took_ns: 0,
            level: LatencyLevel::default(),
            fastest_ns: u64::MAX,
            earlier_ns: last.and_then(mean_ns).unwrap_or(0.0),
            earlier_median_ns: last
                .and_then(|cell| median_ns(cell).or_else(|| mean_ns(cell)))
                .unwrap_or(0.0),
        }
    }

    /// Pause without I/O before them, in nanoseconds.
    pub fn rest_ns(&self) -> u64 {
        if self.cache_bytes > 0 { ROOM_NS } else { 0 }
    }

    /// Most I/Os that set the state.
    pub fn most_ops(&self) -> u64 {
        // A cache may hold more than earlier cells have shown.
        let cache_bytes = if self.cache_bytes > 0 { self.stretch.cache_bytes } else { 0 };
        self.stretch.warm_up_ops + (self.stretch.settle_bytes + cache_bytes) / self.block_bytes
    }

    /// Most nanoseconds for them. At most half of the cell's own time; the time reserved for
    /// filling a cache is used for that only.
    pub fn most_ns(&self, own_ns: u64, left_ns: u64) -> u64 {
        let cache_ns = if self.cache_bytes > 0 { left_ns.saturating_sub(own_ns) } else { 0 };
        (own_ns as f64 * WARM_UP_SHARE) as u64 + cache_ns
    }

    /// Adds an I/O; true if the state is set.
    pub fn push(&mut self, bytes: u64, latency_ns: u64) -> bool {
        self.bytes_done += bytes.max(CACHED_PAGE_BYTES);
        if self.level.ops() < FIRST_OPS {
            self.fastest_ns = self.fastest_ns.min(latency_ns);
        }
        self.level.push(latency_ns);
        self.took_ns += latency_ns;
        self.level.ops() >= self.stretch.warm_up_ops
            && self.has_filled()
            && !self.may_take_in_more()
            && (self.stretch.settle_bytes == 0 || self.is_cache_full())
    }

    /// True if a cache is full of these writes, or there is none. One that is still full of earlier
    /// writes takes as long for each of these as for those.
    fn has_filled(&self) -> bool {
        let has_none = || {
            self.level.ops() >= FIRST_OPS
                && !may_be_cached(self.fastest_ns as f64, self.block_bytes)
        };
        let is_settled = || self.level.is_stable() && !self.level.may_be_cached(self.block_bytes);
        self.bytes_done >= self.cache_bytes
            || has_none()
            || is_settled() && (self.is_own() || self.was_empty())
    }

    /// True if a cache may hold more than earlier cells have shown: the last writes were as fast as
    /// the first. False after a short time, because the medium itself may be fast.
    fn may_take_in_more(&self) -> bool {
        let last_ns = self.level.median_ns();
        let is_open = self.cache_bytes > 0
            && self.bytes_done < self.stretch.cache_bytes
            && self.took_ns < TAKING_IN_NS;
        is_open
            && last_ns < OTHER_RATIO * self.fastest_ns as f64
            && may_be_cached(last_ns, self.block_bytes)
    }

    /// True if these writes can be distinguished from earlier ones.
    fn is_own(&self) -> bool {
        let now_ns = self.level.median_ns();
        let differs = |then_ns: f64| {
            then_ns > 0.0 && (now_ns > OTHER_RATIO * then_ns || now_ns * OTHER_RATIO < then_ns)
        };
        // The mean of writes of two levels is neither of them.
        differs(self.earlier_ns) && differs(self.earlier_median_ns)
    }

    /// True if a cache was empty when these began: the pause was long enough, or it accepted more
    /// than the room it had then, so the flush had emptied it.
    fn was_empty(&self) -> bool {
        let room_ops = (self.rest_ns() as f64 / self.earlier_ns.max(1.0)).ceil() + FIRST_OPS as f64;
        room_ops * self.block_bytes.max(CACHED_PAGE_BYTES) as f64 >= self.cache_bytes as f64
            || self
                .level
                .burst(Some(self.level.median_ns()))
                .is_some_and(|burst| burst.n as f64 > 2.0 * room_ops)
    }

    fn is_cache_full(&self) -> bool {
        self.level.is_cache_full(self.block_bytes, self.bytes_done, self.stretch.overwhelm_bytes)
    }

    /// Adds the warm-up's results, and caveats about missing time, to the cell.
    pub fn conclude(&self, cell: &mut Cell, before: &IoTally, settled_ns: f64) {
        if before.ops > 0 {
            cell.metrics.put(metric::WARM_UP_NS, before.busy_ns as f64, before.ops);
        }
        let burst = self
            .level
            .burst(Some(settled_ns))
            .filter(|burst| burst.value * settled_ns > CACHED_RATIO * 1e9);
        if let Some(burst) = burst {
            cell.metrics.add(metric::BURST_IOPS, burst);
        }
        let is_cached = self.stretch.overwhelm_bytes > 0
            && !self.is_cache_full()
            && self.level.may_be_cached(self.block_bytes);
        if is_cached {
            cell.flag_transient(Bound::AtMost);
        } else if !self.has_filled() {
            // A cache that still takes in, or one still full of what was written before: faster or
            // slower than what is to come.
            let takes_in = burst.is_some_and(|burst| burst.value * settled_ns > CACHE_RATIO * 1e9);
            cell.flag_transient(if takes_in { Bound::AtMost } else { Bound::AtLeast });
        }
        if before.ops < self.stretch.warm_up_ops {
            let text = format!(
                "the time was enough for {} of {} warm-up I/Os; give it more",
                before.ops, self.stretch.warm_up_ops
            );
            cell.flags.push(Flag::Note { text });
        }
    }
}

/// The last cell that wrote.
fn last_written<'a>(context: &'a CellContext<'_>) -> Option<&'a Cell> {
    context
        .done
        .iter()
        .rev()
        .find(|cell| cell.params.direction == Some(Direction::Write) && cell.ops > 0)
}

/// Mean latency of its writes in nanoseconds.
fn mean_ns(cell: &Cell) -> Option<f64> {
    cell.metrics.iops.map(|iops| 1e9 / iops.value)
}

/// Median latency of its writes in nanoseconds.
fn median_ns(cell: &Cell) -> Option<f64> {
    cell.metrics.latency_ns.as_ref()?.p50.map(|ns| ns as f64)
}
