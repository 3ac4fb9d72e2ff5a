//! Second write of the same places, to detect a cache that combines writes: it accepts them at
//! once.
//!
//! A program that writes to a span that fits such a cache finds it full of other places first, for
//! as long as it takes to empty: hours on a card of 2 IOPS. A rate measured meanwhile is no steady
//! level of the span, even if its windows agree. So the last places are written again, in the same
//! order: if that is much faster, the result is a lower bound of the span.

use std::collections::VecDeque;

use device::Extent;
use record::units::MIB;
use record::{Bound, Cell, Estimate, Stop, WIDE_BYTES, metric};
use stats::RateEstimator;

use crate::CellContext;
use crate::io_loop::{IoLoad, LoopLimits};
use crate::observed_cache::{CACHE_RATIO, LARGEST_CACHE_BYTES};
use crate::offsets::uniform;

/// Number of places that are written again: more than a card keeps allocation units open, so that
/// open units do not make all of them fast.
pub(crate) const PLACES: u64 = 32;
/// Least number of times that they are written: a small cache that does not combine has room for
/// them only once.
const ROUNDS: u64 = 5;
/// Number of writes, in multiples of the first fast ones, which such a cache accepts...
const BURSTS: u64 = 2;
/// ...but at most this many bytes, unless the rounds above have more.
const MAX_BYTES: u64 = 8 * MIB;
/// Share of the earlier writes that were as fast, above which a few open units may be the reason,
/// and the result is the level of the span: on a card that keeps n units open, with fewer than n /
/// 0.6 in the span, the places are hardly ever all in open ones. A cache that is full of other
/// places makes room for a few at a time.
const TAKEN_AT_ONCE: f64 = 0.6;
/// Span in bytes of which the largest cache holds only an eighth.
const TOO_WIDE_BYTES: u64 = 8 * LARGEST_CACHE_BYTES;
/// Number of writes that took half as long as before after which there is no such cache.
const ENOUGH_SLOW: u64 = 4;
/// Number of writes anywhere in the span afterwards: a cache that does not combine, and was emptied
/// during a host stall, accepts them as well, all but one at most.
const OTHERS: u64 = 16;
/// Share of the cell's time for this check. A medium on which it takes longer has no such cache.
const TIME_SHARE: f64 = 0.25;

/// The last places written.
#[derive(Debug, Default)]
pub(crate) struct LatestPlaces(VecDeque<Extent>);

/// Number of writes that are remembered: some of them may go to the same place.
const REMEMBERED: usize = 4 * PLACES as usize;

impl LatestPlaces {
    /// Adds the place of a write; beyond `REMEMBERED` of them the oldest is dropped.
    pub(crate) fn push(&mut self, place: Extent) {
        if self.0.len() == REMEMBERED {
            self.0.pop_front();
        }
        self.0.push_back(place);
    }

    /// Each place once, the oldest first; `None` if there are too few.
    fn places(&self) -> Option<Vec<Extent>> {
        let mut places: Vec<Extent> = Vec::new();
        for place in self.0.iter().rev() {
            if !places.contains(place) {
                places.push(*place);
            }
        }
        places.truncate(PLACES as usize);
        places.reverse();
        (places.len() as u64 == PLACES).then_some(places)
    }
}

/// Writes the latest places again after a cell of single writes in a span of `span_bytes`, and adds
/// the conclusion to the cell. Not if the span is too large for any such cache, nor if the cell
/// wrote `written_bytes`, twice the span and more: then all that fits is in the cache. Metric:
/// `again_iops`, the rate of the same places.
pub(crate) fn check(
    cell: &mut Cell,
    span_bytes: u64,
    written_bytes: u64,
    latest: &LatestPlaces,
    load: &IoLoad,
    context: &mut CellContext<'_>,
) {
    let Some(iops) = cell.metrics.iops else { return };
    if span_bytes >= TOO_WIDE_BYTES || written_bytes >= 2 * span_bytes {
        return;
    }
    let Some(places) = latest.places() else { return };
    let burst_ops = cell.metrics.other.get(metric::BURST_IOPS).map_or(0, |burst| burst.n);
    let ops = (BURSTS * burst_ops).clamp(ROUNDS * PLACES, most_again(load.block_bytes));
    let Some(rewritten) = write_again(1e9 / iops.value, &places, ops, load, context) else {
        return;
    };
    let at_once_ns = CACHE_RATIO * 1e9 / rewritten.value;
    let (is_faster, taken_at_once) =
        (rewritten.value > CACHE_RATIO * iops.value, share_within(cell, at_once_ns));
    if is_faster
        && taken_at_once < TAKEN_AT_ONCE
        && takes_in_others(cell, at_once_ns, load, context)
    {
        return;
    }
    cell.metrics.add(metric::AGAIN_IOPS, rewritten);
    if !is_faster {
        return;
    }
    if taken_at_once < TAKEN_AT_ONCE {
        cell.flag_transient(Bound::AtLeast);
    } else if span_bytes >= WIDE_BYTES {
        // The figure of such a span stands for the medium as a system uses it, and of a wider one
        // open units take fewer writes.
        cell.flag_transient(Bound::AtMost);
    }
}

/// Most writes of this size, those to other places included.
pub(crate) fn most_ops(block_bytes: u64) -> u64 {
    most_again(block_bytes) + OTHERS
}

/// Most writes of this size to the same places.
fn most_again(block_bytes: u64) -> u64 {
    (ROUNDS * PLACES).max(MAX_BYTES / block_bytes)
}

/// True if writes anywhere in the span are as fast now.
fn takes_in_others(
    cell: &Cell,
    at_once_ns: f64,
    load: &IoLoad,
    context: &mut CellContext<'_>,
) -> bool {
    let (Some(offset_bytes), Some(bytes)) = (cell.params.span_offset_bytes, cell.params.span_bytes)
    else {
        return false;
    };
    let mut anywhere = uniform(
        Extent::new(offset_bytes, bytes),
        load.block_bytes,
        load.block_bytes,
        context.random("other places"),
    );
    let limits = LoopLimits::time((context.allotted_ns as f64 * TIME_SHARE) as u64).ops(OTHERS);
    let mut slow = 0;
    let mut watch = |_, latency_ns| {
        slow += u64::from(latency_ns as f64 > at_once_ns);
        slow > 1
    };
    let tally = context.drive_watched(
        "writing other places",
        &IoLoad { in_flight: 1, ..*load },
        &limits,
        &mut anywhere,
        &mut watch,
    );
    tally.ops == OTHERS && slow <= 1
}

/// The share of a cell's writes that took no longer than `ns` nanoseconds.
fn share_within(cell: &Cell, ns: f64) -> f64 {
    let Some(histogram) = &cell.histogram else { return 1.0 };
    let within: u64 =
        histogram.buckets().filter(|(at_ns, _)| *at_ns as f64 <= ns).map(|(_, n)| n).sum();
    within as f64 / histogram.len().max(1) as f64
}

/// IOPS of the latest places, in turn for so many writes; `None` if some of them took as long as
/// before (`before_ns`), time was up or the medium failed.
fn write_again(
    before_ns: f64,
    places: &[Extent],
    ops: u64,
    load: &IoLoad,
    context: &mut CellContext<'_>,
) -> Option<Estimate> {
    let limits = LoopLimits::time((context.allotted_ns as f64 * TIME_SHARE) as u64).ops(ops);
    let mut places = places.iter().copied().cycle();
    let mut rate = RateEstimator::new();
    let mut slow = 0;
    let mut watch = |_, latency_ns| {
        rate.push(latency_ns);
        slow += u64::from(latency_ns as f64 > before_ns / 2.0);
        slow >= ENOUGH_SLOW
    };
    let load = IoLoad { in_flight: 1, pass: load.pass ^ 1, ..*load };
    let tally = context.drive_watched(
        "writing the same places again",
        &load,
        &limits,
        &mut |_| places.next(),
        &mut watch,
    );
    if tally.ops < ops || tally.stop == Stop::Error {
        return None;
    }
    let found = rate.estimate()?;
    Some(Estimate {
        value: found.per_second,
        ci95: Some([found.ci95.low, found.ci95.high]),
        n: found.n,
    })
}

#[cfg(test)]
mod tests {
    use device::Op;
    use record::units::{GIB, MILLISECOND_NS};

    use super::*;
    use crate::catalogue::testing::TestBench;

    /// Regression: a write queue has room for the places as soon as it is emptied, during a host
    /// stall: one of 40 pages for 32 of them (2345 IOPS against 414 were taken for a cache of
    /// spans), one of 3000 for all rounds (1904 against 108).
    #[test]
    fn a_queue_takes_in_and_combines_nothing() {
        let run = |empty_from: u64, queue_pages: u64| {
            let mut written = 0;
            let cost = move |request: &device::Request, _| {
                written += u64::from(request.op == Op::Write);
                let takes_in =
                    (empty_from..empty_from.saturating_add(queue_pages)).contains(&written);
                if takes_in { MILLISECOND_NS / 10 } else { 4 * MILLISECOND_NS }
            };
            TestBench::raw(GIB, cost).run(&["span-sweep whole=no span=16MiB"])
        };
        let slow = run(u64::MAX, 0);
        let before_again = slow.requests.iter().filter(|request| request.op == Op::Write).count()
            as u64
            - ENOUGH_SLOW;
        for queue_pages in [40, 3000] {
            let ran = run(before_again + 1, queue_pages);
            let cell = ran.cell("span-sweep/1");
            assert_eq!(
                (cell.metrics.other.get("again_iops"), cell.transient()),
                (None, None),
                "{queue_pages} pages"
            );
        }
    }
}
