//! What a medium puts off: the wait for its deferred work, the rate with that paid, and a cache that
//! no flush empties.

use device::Extent;
use record::{Bound, Cell, Flag, Stop};
use stats::set_rates;

use super::Work;
use crate::catalogue::prelude::*;
use crate::io_loop::LoopLimits;
use crate::observed_cache::{CACHE_RATIO, CACHED_PAGE_BYTES, taken_in_bytes};
use crate::offsets::sequential;

/// Share of the first fast writes: if less than this was paid for when the cell ended, they went to
/// a cache that no flush empties.
const KEPT_BACK_SHARE: f64 = 0.5;
/// Share by which the paid rate must be below the measured one to count.
const DEBT_SHARE: f64 = 0.05;
/// Size and number of the sequential writes that wait for deferred work of the medium.
pub(super) const SETTLING_BLOCK_BYTES: u64 = 64 * KIB;
pub(super) const SETTLING_OPS: u64 = 4;

impl Work<'_, '_> {
    /// Waits for deferred work of the medium; returns the time in nanoseconds. `None` if it failed.
    /// A later turn continues where the one before ended, so that a medium which has not closed
    /// that unit meanwhile has nothing to do.
    pub(super) fn settle(&mut self, turn: u64) -> Option<f64> {
        let flushed_ns = self
            .context
            .flush()
            .map_err(|error| self.outcome.end(Stop::Error, Some(error)))
            .ok()?;
        let load = self.load(SETTLING_BLOCK_BYTES, "data that settles");
        let limits = LoopLimits::time(u64::MAX).ops(SETTLING_OPS);
        // A span may have an odd number of sectors; the record's size is whole ones.
        let half_bytes = self.span.bytes / 2 / self.cell.block_bytes() * self.cell.block_bytes();
        let before_bytes = (turn * SETTLING_OPS * SETTLING_BLOCK_BYTES).min(half_bytes);
        let rest =
            Extent::new(self.span.offset_bytes + before_bytes, self.span.bytes - before_bytes);
        let tally = self.context.drive(
            "settling",
            &load,
            &limits,
            &mut sequential(rest, SETTLING_BLOCK_BYTES),
        );
        if tally.stop.cut_short() {
            self.outcome.end(tally.stop, tally.error);
            return None;
        }
        Some((flushed_ns + tally.busy_ns) as f64)
    }

    /// Time in nanoseconds that the settling writes wait for room in a cache full of random writes
    /// of `mean_ns` each: it is theirs, and no debt.
    pub(super) fn waited_for_room_ns(&self, mean_ns: f64) -> f64 {
        let other = |name: &str| self.outcome.cell.metrics.other.get(name);
        let is_cached = self
            .outcome
            .cell
            .metrics
            .iops
            .zip(other(metric::BURST_IOPS))
            .is_some_and(|(iops, burst)| burst.value > CACHE_RATIO * iops.value);
        let pages =
            SETTLING_OPS * SETTLING_BLOCK_BYTES / CACHED_PAGE_BYTES.max(self.cell.block_bytes());
        if is_cached || self.kept_back_bytes() > 0 { pages as f64 * mean_ns } else { 0.0 }
    }

    /// Uses the paid rate as the result: after `ops` measured writes there was a debt, and all
    /// writes of the cell, with the debt, are `paid_iops`.
    pub(super) fn use_paid_rate(&mut self, debt_ns: f64, paid_iops: f64, ops: u64) {
        let metrics = &mut self.outcome.cell.metrics;
        let Some(iops) = metrics.iops else { return };
        let share = (paid_iops / iops.value).min(1.0);
        metrics.put(metric::DEBT_NS, debt_ns, SETTLING_OPS + 1);
        metrics.put(metric::PAID_IOPS, iops.value * share, ops);
        if share < 1.0 - DEBT_SHARE {
            self.outcome.cell.flags.push(Flag::Debt { debt_ns: debt_ns as u64 });
            set_rates(&mut self.outcome.cell);
        }
    }

    /// Bytes that a cache keeps in spite of flushes, as earlier cells have shown: fast writes for
    /// which the medium was never seen to pay.
    pub(super) fn kept_back_bytes(&self) -> u64 {
        let earlier = self.context.done.iter().filter(|cell| cell.test == self.cell.test);
        earlier.filter_map(kept_back_bytes).max().unwrap_or(0)
    }

    /// Flags the result as a bound if such a cache was still full of other writes when measuring
    /// began: each of these makes room for several writes if it was larger, and for a part of one
    /// if it was smaller.
    pub(super) fn flag_kept_back(&mut self, own_bytes: u64) {
        let own = self.cell.block_bytes().max(CACHED_PAGE_BYTES);
        let before = self.context.done.iter().rev().find(|cell| cell.test == self.cell.test);
        let before = before
            .and_then(|cell| cell.params.block_bytes)
            .map_or(own, |block| block.max(CACHED_PAGE_BYTES));
        if before != own && own_bytes < self.kept_back_bytes() {
            self.outcome.cell.flag_transient(if before < own {
                Bound::AtLeast
            } else {
                Bound::AtMost
            });
        }
    }
}

/// Bytes in a cache that no flush empties, as a cell shows them.
fn kept_back_bytes(cell: &Cell) -> Option<u64> {
    let other = |name: &str| cell.metrics.other.get(name).copied();
    let (iops, burst, debt) =
        (cell.metrics.iops?, other(metric::BURST_IOPS)?, other(metric::DEBT_NS)?);
    let expected_ns = burst.n as f64 * 1e9 / iops.value;
    taken_in_bytes(cell, CACHE_RATIO).filter(|_| debt.value < KEPT_BACK_SHARE * expected_ns)
}
