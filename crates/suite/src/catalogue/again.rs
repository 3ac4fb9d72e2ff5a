//! The same places once more: a cache that combines writes takes them at once, and what is asked about is whether there is one.
//!
//! Whoever writes to a span that fits such a cache meets it full of other places first, for as long as it takes to empty it: hours on a card of two
//! writes a second. A figure measured meanwhile is no level of the span, however well its windows agree. So the last places are written again, in
//! the same order: where that is much faster, the figure is what the span does at least.

use std::collections::VecDeque;

use device::Extent;
use record::{Bound, Cell, Estimate, Stop};
use stats::RateEstimator;

use crate::Bench;
use crate::doubts::{CACHE_RATIO, LARGEST_CACHE_BYTES, WIDE_BYTES};
use crate::drive::{Limits, Load};

/// How many places are written again: more than a card keeps allocation units open, so that these are not what makes all of them fast.
pub(crate) const PLACES: u64 = 32;
/// Where more than this share of the writes before were as fast, a few open units may do that, and the figure is the level of the span: of a card that keeps
/// n units open of fewer than n / 0.6 in the span, the places hardly ever all lie in open ones. A cache that is full of other places makes room for a few at a time.
const TAKEN_AT_ONCE: f64 = 0.6;
/// Of a span of eight times as much the largest cache holds an eighth.
const TOO_WIDE_BYTES: u64 = 8 * LARGEST_CACHE_BYTES;
/// After so many that took half as long as before there is no such cache.
const ENOUGH_SLOW: u64 = 4;
/// Share of the cell's time that may go into it. A medium on which it takes longer has no such cache.
const TIME_SHARE: f64 = 0.25;

/// The places written last.
#[derive(Debug, Default)]
pub(crate) struct Latest(VecDeque<Extent>);

/// So many writes are remembered: some of them may go to the same place.
const REMEMBERED: usize = 4 * PLACES as usize;

impl Latest {
    /// One more write.
    pub(crate) fn push(&mut self, place: Extent) {
        if self.0.len() == REMEMBERED {
            self.0.pop_front();
        }
        self.0.push_back(place);
    }

    /// Each place once, the oldest first; `None` where there were too few.
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

/// Writes the latest places again after a cell of single writes in a span of `span_bytes`, and says in the cell what that shows. Not where the span is
/// too wide for any such cache, nor where the cell wrote `written_bytes`, twice the span and more: then what fits is in it. Metric: `again_iops`, what the
/// same places do.
pub(crate) fn ask(cell: &mut Cell, span_bytes: u64, written_bytes: u64, latest: &Latest, load: &Load, bench: &mut Bench<'_>) {
    let Some(iops) = cell.metrics.iops else { return };
    if span_bytes >= TOO_WIDE_BYTES || written_bytes >= 2 * span_bytes {
        return;
    }
    let Some(places) = latest.places() else { return };
    let Some(again) = write_again(1e9 / iops.value, places, load, bench) else { return };
    let taken_at_once = share_within(cell, CACHE_RATIO * 1e9 / again.value);
    cell.metrics.other.insert("again_iops".into(), again);
    if again.value <= CACHE_RATIO * iops.value {
        return;
    }
    if taken_at_once < TAKEN_AT_ONCE {
        cell.doubt_level(Bound::AtLeast);
    } else if span_bytes >= WIDE_BYTES {
        // The figure of such a span stands for the medium as a system uses it, and of a wider one open units take fewer writes.
        cell.doubt_level(Bound::AtMost);
    }
}

/// The share of a cell's writes that took no longer than this, in nanoseconds.
fn share_within(cell: &Cell, ns: f64) -> f64 {
    let Some(histogram) = &cell.histogram else { return 1.0 };
    let within: u64 = histogram.buckets().filter(|(at_ns, _)| *at_ns as f64 <= ns).map(|(_, n)| n).sum();
    within as f64 / histogram.len().max(1) as f64
}

/// How many a second the latest places take; `None` where some of them took as long as before, `before_ns`, where time was up or the medium failed.
fn write_again(before_ns: f64, places: Vec<Extent>, load: &Load, bench: &mut Bench<'_>) -> Option<Estimate> {
    let limits = Limits { max_ops: PLACES, ..Limits::time((bench.allotted_ns as f64 * TIME_SHARE) as u64) };
    let mut places = places.into_iter();
    let mut rate = RateEstimator::new();
    let mut slow = 0;
    let mut watch = |_, latency_ns| {
        rate.push(latency_ns);
        slow += u64::from(latency_ns as f64 > before_ns / 2.0);
        slow >= ENOUGH_SLOW
    };
    let load = Load { lanes: 1, pass: load.pass ^ 1, ..*load };
    let tally = bench.drive_watched("writing the same places again", &load, &limits, &mut |_| places.next(), &mut watch);
    if tally.ops < PLACES || tally.stop == Stop::Error {
        return None;
    }
    let found = rate.estimate()?;
    Some(Estimate { value: found.per_second, ci95: Some([found.ci95.low, found.ci95.high]), n: found.n })
}
