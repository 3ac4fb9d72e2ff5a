//! What is done before a stretch counts, and what it says of a stretch that had no time for it.

use record::units::SECOND_NS;
use record::{Bound, Cell, Direction, Estimate, Flag, may_be_cached, metric};

use super::{Stretch, WARM_UP_SHARE};
use crate::catalogue::level::LatencyLevel;
use crate::io_loop::IoLoad;
use crate::observed_cache::{CACHE_RATIO, CACHED_PAGE_BYTES, CACHED_RATIO, observed_cache_bytes};
use crate::{CellContext, IoTally};

/// I/Os that set the state: those that open what is to be open, until a cache is full of them and
/// their latency has found its level.
pub struct WarmUp {
    stretch: Stretch,
    block_bytes: u64,
    /// What is to be filled, and what was.
    cache_bytes: u64,
    bytes_done: u64,
    took_ns: u64,
    level: LatencyLevel,
    /// The fastest of the first.
    fastest_ns: u64,
    /// What the writes took that were written before, in nanoseconds: the mean and the median; 0
    /// where that is not known.
    earlier_ns: f64,
    earlier_median_ns: f64,
    /// How long there is no I/O before, in nanoseconds.
    pub rest_ns: u64,
    /// As in [`Before`](super::Before): the same work as in the cell before this one.
    is_like_earlier: bool,
}

/// After so long a rest there is room in every cache, whatever it was full of: it takes in some of
/// the first writes at once. Where it does not, there is none.
const ROOM_NS: u64 = 2 * SECOND_NS;
const FIRST_OPS: u64 = 4;
/// A cache takes in all it holds in less than this.
const TAKING_IN_NS: u64 = 2 * SECOND_NS;
/// Writes that take so many times as long, or as short, are not those that were written before.
const OTHER_RATIO: f64 = 1.5;

impl WarmUp {
    /// Before a stretch of this load, after a rest of so long at least.
    pub fn new(
        stretch: Stretch,
        least_rest_ns: u64,
        is_like_earlier: bool,
        load: &IoLoad,
        context: &CellContext<'_>,
    ) -> WarmUp {
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
            rest_ns: least_rest_ns.max(if cache_bytes > 0 { ROOM_NS } else { 0 }),
            is_like_earlier,
        }
    }

    /// The most I/Os that may go into setting the state.
    pub fn most_ops(&self) -> u64 {
        // A cache may hold more than earlier cells have shown.
        let cache_bytes = if self.cache_bytes > 0 { self.stretch.cache_bytes } else { 0 };
        self.stretch.warm_up_ops + (self.stretch.settle_bytes + cache_bytes) / self.block_bytes
    }

    /// Time for them at most, in nanoseconds. Of its own time it takes half at most; what is there
    /// to fill a cache is there for nothing else.
    pub fn most_ns(&self, own_ns: u64, left_ns: u64) -> u64 {
        let cache_ns = if self.cache_bytes > 0 { left_ns.saturating_sub(own_ns) } else { 0 };
        (own_ns as f64 * WARM_UP_SHARE) as u64 + cache_ns
    }

    /// One more; whether the state is set.
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

    /// Whether a cache is full of these, or there is none. One that is still full of what was
    /// written before takes as long for each of these as that did.
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

    /// Whether a cache may hold more than has shown: the last writes were as fast as the first. It
    /// is not asked for long, since what is fast may be the medium.
    fn may_take_in_more(&self) -> bool {
        let last_ns = self.level.median_ns();
        let is_open = self.cache_bytes > 0
            && self.bytes_done < self.stretch.cache_bytes
            && self.took_ns < TAKING_IN_NS;
        is_open
            && last_ns < OTHER_RATIO * self.fastest_ns as f64
            && may_be_cached(last_ns, self.block_bytes)
    }

    /// Whether these are known from those before.
    fn is_own(&self) -> bool {
        let now_ns = self.level.median_ns();
        let differs = |then_ns: f64| {
            then_ns > 0.0 && (now_ns > OTHER_RATIO * then_ns || now_ns * OTHER_RATIO < then_ns)
        };
        // The mean of writes of two levels is neither of them.
        self.is_like_earlier || differs(self.earlier_ns) && differs(self.earlier_median_ns)
    }

    /// Whether a cache held nothing when these began: the rest was long enough, or it took in more
    /// than what there was room for then, so the flush had emptied it.
    fn was_empty(&self) -> bool {
        let room_ops = (self.rest_ns as f64 / self.earlier_ns.max(1.0)).ceil() + FIRST_OPS as f64;
        room_ops * self.block_bytes.max(CACHED_PAGE_BYTES) as f64 >= self.cache_bytes as f64
            || self
                .level
                .burst(Some(self.level.median_ns()))
                .is_some_and(|burst| burst.n as f64 > 2.0 * room_ops)
    }

    fn is_cache_full(&self) -> bool {
        self.level.is_cache_full(self.block_bytes, self.bytes_done, self.stretch.overwhelm_bytes)
    }

    /// Says what there was, and what there was no time for.
    pub fn conclude(&self, cell: &mut Cell, before: &IoTally, settled_ns: f64) {
        if before.ops > 0 {
            let took = Estimate { value: before.busy_ns as f64, ci95: None, n: before.ops };
            cell.metrics.other.insert(metric::WARM_UP_NS.into(), took);
        }
        let burst = self
            .level
            .burst(Some(settled_ns))
            .filter(|burst| burst.value * settled_ns > CACHED_RATIO * 1e9);
        if let Some(burst) = burst {
            cell.metrics.other.insert(metric::BURST_IOPS.into(), burst);
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

/// What its writes took, in nanoseconds.
fn mean_ns(cell: &Cell) -> Option<f64> {
    cell.metrics.iops.map(|iops| 1e9 / iops.value)
}

/// What half of its writes took at most, in nanoseconds.
fn median_ns(cell: &Cell) -> Option<f64> {
    cell.metrics.latency_ns.as_ref()?.p50.map(|ns| ns as f64)
}
