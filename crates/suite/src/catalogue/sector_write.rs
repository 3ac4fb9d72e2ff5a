//! `sector-write`: mean time of random single 512-byte writes of incompressible data over the
//! device (docs/field/ext2.md#mortons-benchmark).
//!
//! Morton's figure, in milliseconds: 2.6 on a stick with a log for small writes, 200 to 800 on
//! media that merge an allocation unit for each. Measured until it is precise enough.
//! `region=middle` stays in the range that `prime` filled: the whole of a medium that was never
//! full is faster.

use record::units::GIB;
use record::{Bound, Flag};

use super::level::LatencyLevel;
use super::prelude::*;
use super::stretch;
use crate::IoTally;
use crate::io_loop::{IoLoad, LoopLimits, Places};
use crate::observed_cache::{
    CACHE_FILL_BYTES, CACHE_RATIO, CACHED_PAGE_BYTES, observed_cache_pages,
};
use crate::offsets::uniform;
use crate::stop_rule::Precision;
use stats::inverse;

settings! {
    SectorWriteSettings {
        region: RegionWord(["whole", "middle"]) = "whole", "whole, middle";
        certainty: Share = "5%", "stop when the interval of the mean is this narrow";
        min_time: Time = "3s", "least time";
        max_time: Time = "3m", "time limit";
    }
}

/// Bytes of a write, and of the span in the middle.
const SECTOR_BYTES: u64 = 512;
const SPAN_BYTES: u64 = 512 * MIB;
/// Most bytes that it writes: two million sectors. Even a medium as fast as memory is measured
/// precisely long before.
const MAX_BYTES: u64 = GIB;

/// Writes single sectors at random places, in one cell: mean time and slowest write.
pub struct SectorWrite;

/// Fills the volatile cache that earlier cells have shown, because it accepts writes faster while
/// it has room: until they take as long as flash, or the cache can hold nothing else (it accepts
/// more than it holds, because it empties meanwhile). True if there was time for that. An error or
/// interruption then is the cell's.
fn fill_cache(
    load: &IoLoad,
    context: &mut CellContext<'_>,
    next: Places<'_>,
) -> Result<bool, Box<IoTally>> {
    let held_ops = observed_cache_pages(context.done).min(CACHE_FILL_BYTES / CACHED_PAGE_BYTES);
    if held_ops == 0 {
        return Ok(true);
    }
    let mut level = LatencyLevel::default();
    let mut is_full = |_, latency_ns| {
        level.push(latency_ns);
        level.has_fallen(CACHE_RATIO)
    };
    let limits = LoopLimits::time(context.time_left_ns() / 2).ops(2 * held_ops);
    let tally = context.drive_watched("filling the cache", load, &limits, next, &mut is_full);
    if tally.stop.cut_short() {
        Err(Box::new(tally))
    } else {
        Ok(tally.ops >= held_ops || level.has_fallen(CACHE_RATIO))
    }
}

impl Procedure for SectorWrite {
    type Settings = SectorWriteSettings;
    type Spec = Precision;

    fn entry(&self) -> Entry {
        Entry {
            name: test::SECTOR_WRITE,
            about: "random writes of single sectors: mean milliseconds, slowest write",
            source: "docs/field/ext2.md#mortons-benchmark",
            needs: Needs::WRITING_RAW,
        }
    }

    fn plan(&self, settings: &Self::Settings, cells: &mut Cells<'_, Precision>) -> Planned {
        let region = settings.region;
        let spec = Precision { certainty: settings.certainty, min_ns: settings.min_time };
        match cells.target.region(region, SPAN_BYTES) {
            Err(reason) if region == Region::Whole => {
                cells.skip(format!("{reason}; region=middle stays inside"))
            }
            Err(reason) => cells.skip(reason),
            Ok(span) => {
                let params = cells.writes(region, span, Pattern::Uniform, SECTOR_BYTES);
                let filling_bytes = 2 * CACHE_FILL_BYTES / CACHED_PAGE_BYTES * SECTOR_BYTES;
                cells.add(params, &spec, settings.max_time, MAX_BYTES + filling_bytes);
            }
        }
        Ok(())
    }

    /// Metrics: `mean_ms` (milliseconds), `worst_stall_ns`, `iops`, `latency_ns`, `bps`.
    fn run(&self, cell: &TypedCell<Precision>, context: &mut CellContext<'_>) -> CellOutcome {
        let planned = cell.span();
        let preconditioned = context.preconditioned(planned);
        let span = preconditioned
            .filter(|_| cell.params.region == Some(Region::Middle))
            .unwrap_or(planned);
        let block_bytes = cell.block_bytes();
        let load = stretch::load(cell, context, "data");
        let mut places = uniform(span, block_bytes, block_bytes, context.random("offsets"));
        let is_filled = match fill_cache(&load, context, &mut places) {
            Ok(is_filled) => is_filled,
            Err(tally) => return tally.outcome(cell),
        };
        let rule = cell.spec.rule(context.allotted_ns);
        let limits = LoopLimits::certain(rule, context.time_left_ns()).bytes(MAX_BYTES);
        let tally = context.drive("measuring", &load, &limits, &mut places);
        let mut outcome = tally.outcome(cell);
        outcome.cell.params.span_bytes = Some(span.bytes);
        if !is_filled {
            outcome.cell.flag_transient(Bound::AtMost);
        }
        if let Some(iops) = outcome.cell.metrics.iops {
            outcome.cell.metrics.add("mean_ms", inverse(1e3, iops));
            outcome.cell.metrics.put_worst_stall();
        }
        if preconditioned.is_none() {
            outcome.cell.flags.push(Flag::Note {
                text: "the medium was not preconditioned: writes to unwritten flash are faster"
                    .into(),
            });
        }
        outcome
    }
}

#[cfg(test)]
mod tests {

    use record::units::{MILLISECOND_NS, SECOND_NS};

    use super::*;
    use crate::catalogue::testing::{TestBench, cached_card, cached_card_us, run_profile};

    /// A medium that takes 100 ms, but 1 s for every tenth write: 190 ms on average.
    fn merging(capacity_bytes: u64) -> TestBench {
        TestBench::raw(capacity_bytes, |_, number| {
            if number % 10 == 9 { SECOND_NS } else { 100 * MILLISECOND_NS }
        })
    }

    #[test]
    fn the_mean_and_the_worst_over_the_whole_medium() {
        let ran = merging(4 * GIB).run(&["sector-write"]);
        let cell = ran.cell("sector-write/1");
        let [low, high] = cell.metrics.other["mean_ms"].ci95.unwrap();
        assert!(low < 190.0 && 190.0 < high, "{low} {high}");
        assert!((ran.other("sector-write/1", "mean_ms") - 190.0).abs() < 10.0);
        assert_eq!(ran.other("sector-write/1", "worst_stall_ns"), 1e9);
        let random = record::Content::Incompressible;
        assert!(ran.requests.iter().all(|r| r.length_bytes == 512 && r.content == random));
        let places = ran.writes(0);
        assert!(places.iter().any(|at| *at < GIB) && places.iter().any(|at| *at > 3 * GIB));
    }

    #[test]
    fn a_cache_that_was_shown_is_filled_first() {
        let cell = run_profile(
            &cached_card(),
            None,
            1,
            &["prime passes=1", "sector-write region=middle min_time=1s max_time=6s"],
        )
        .remove(1);
        let off = cell.metrics.iops.expect("it wrote").value * cached_card_us(512) / 1e6 - 1.0;
        assert!(off.abs() < 0.005 && cell.transient().is_none(), "{off}");
    }
}
