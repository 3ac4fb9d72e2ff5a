//! `prime`: fills the span with incompressible data, so that every allocation unit is full and
//! valid before anything is measured.
//!
//! The published form is two passes of `dd if=/dev/urandom bs=1M oflag=direct`
//! (docs/field/classic-tools.md#dd, docs/field/statistics.md#sampling-random-writes). The rate along the span
//! is kept.

use record::{Cell, Flag, Stop};

use super::prelude::*;
use crate::io_loop::{IoLoad, LoopLimits};
use crate::observed_cache::{LARGEST_CACHE_BYTES, fast_beginning_bytes};
use crate::offsets::sequential;

settings! {
    PrimeSettings {
        region: RegionWord(["middle", "whole"]) = "middle", "middle or whole";
        span: Span = "512MiB", "how much to fill; region=whole fills everything";
        passes: Count = "2", "how often";
        block: Block = "1MiB", "size of one write";
        max_time: Time = "20m", "time limit; later tests use what was filled";
    }
}

/// Fills the span with incompressible data, all passes in one cell.
pub struct Prime;

impl Procedure for Prime {
    type Settings = PrimeSettings;
    type Spec = ();

    fn entry(&self) -> Entry {
        Entry {
            name: test::PRIME,
            about: "preconditions the span with incompressible data, n passes; rate along the span",
            source: "docs/field/classic-tools.md#dd, docs/field/statistics.md#sampling-random-writes",
            needs: Needs::WRITING,
        }
    }

    fn plan(&self, settings: &Self::Settings, cells: &mut Cells<'_, ()>) -> Planned {
        let passes = settings.passes.min(100) as u32;
        let region = if cells.target.is_bounded() { Region::Middle } else { settings.region };
        let Some(span) = cells.span(&settings.span, region)? else { return Ok(()) };
        let block_bytes = settings.block.min(span.bytes);
        let writes = cells.writes(region, span, Pattern::Sequential, block_bytes);
        let params = Params { passes: Some(passes), ..writes };
        cells.add(params, &(), settings.max_time, span.bytes.saturating_mul(u64::from(passes)));
        Ok(())
    }

    fn run(&self, cell: &TypedCell<()>, context: &mut CellContext<'_>) -> CellOutcome {
        let span = cell.span();
        let block_bytes = cell.block_bytes();
        let mut outcome = CellOutcome::new(cell);
        let mut filled_bytes = 0;
        let passes = cell.params.passes.unwrap_or(1);
        for pass in 0..passes {
            context
                .part(f64::from(pass) / f64::from(passes), f64::from(pass + 1) / f64::from(passes));
            let load = IoLoad { pass, ..IoLoad::write(block_bytes) };
            let limits = LoopLimits::time(context.time_left_ns().max(1)).bytes(span.bytes);
            let tally =
                context.drive("priming", &load, &limits, &mut sequential(span, block_bytes));
            filled_bytes = filled_bytes.max(tally.bytes);
            if outcome.cell.metrics.bps.is_none() {
                // The first pass is the rate of a fill of whatever was there; later ones overwrite
                // our own data.
                outcome.cell.metrics = tally.metrics();
                outcome.cell.flags = tally.flags();
            }
            outcome.cell.series.push(tally.rate_along_span(
                &format!("rate along the span, pass {}", pass + 1),
                span.offset_bytes,
            ));
            let stop = tally.stop;
            outcome.absorb(tally);
            if stop != Stop::Bytes {
                break;
            }
        }
        reach_level(&mut outcome.cell);
        // What a volatile cache took at first is more than a quarter of so little, and nobody knows
        // whether there is one.
        if outcome.cell.bytes < 4 * LARGEST_CACHE_BYTES {
            outcome.cell.without_intervals();
        }
        if filled_bytes < span.bytes {
            outcome
                .cell
                .flags
                .push(Flag::PartlyPrimed { primed_bytes: filled_bytes, wanted_bytes: span.bytes });
        }
        outcome.cell.params.span_bytes = Some(filled_bytes);
        outcome
    }
}

/// Extends the interval down to the rate without the first writes, if the curve shows that a cache
/// took them: they are no part of the steady level.
fn reach_level(cell: &mut Cell) {
    let beginning_bytes = fast_beginning_bytes(std::slice::from_ref(cell));
    let Some(along) = cell.series.first().filter(|_| beginning_bytes > 0) else { return };
    let mut at = cell.params.span_offset_bytes.unwrap_or(0) as f64;
    let begins = at + beginning_bytes as f64;
    let (mut whole, mut later) = ((0.0, 0.0), (0.0, 0.0));
    for [end, bps] in &along.points {
        let (bytes, seconds) = (end - at, (end - at) / bps);
        whole = (whole.0 + bytes, whole.1 + seconds);
        // The point in which it ends is part of it.
        if at > begins {
            later = (later.0 + bytes, later.1 + seconds);
        }
        at = *end;
    }
    let share = (later.0 / later.1) / (whole.0 / whole.1);
    let rates = [&mut cell.metrics.iops, &mut cell.metrics.bps].into_iter().flatten();
    rates.filter_map(|rate| rate.ci95.as_mut()).for_each(|[low, _]| *low = low.min(*low * share));
}

#[cfg(test)]
mod tests {
    use record::units::MIB;

    use crate::catalogue::testing::{cached_card, cached_card_us, run_profile};

    #[test]
    fn what_a_cache_took_at_first_is_in_the_interval() {
        let mut cell = run_profile(&cached_card(), None, 1, &["prime passes=1"]).remove(0);
        let level = 1e6 / cached_card_us(MIB);
        let rate = cell.metrics.iops.as_mut().expect("it wrote");
        assert!(rate.value > 1.01 * level, "{level}: {rate:?}");
        rate.ci95 = Some([rate.value; 2]);
        super::reach_level(&mut cell);
        let [low, high] = cell.metrics.iops.and_then(|rate| rate.ci95).expect("it had one");
        assert!((low / level - 1.0).abs() < 0.002 && high > 1.01 * level, "{level}: {low} {high}");
    }
}
