//! `content-sweep`: the same sequential writes with data of every kind, to find controllers that
//! compress, recognise or skip it (docs/field/cheats.md#cheats-and-caches).
//!
//! Zeros, 0xFF bytes, one incompressible block over and over, and data that never repeats.
//! *rewrite-equal* writes the data that is already there, *rewrite-new* other data in its place;
//! both fill the span first, which does not count. The first cell begins before the span, which
//! does not count either, to close units of other tests; if earlier tests have shown a volatile
//! cache, all cells do, as far before it as the cache holds, to fill it with data of their kind.
//! Every pass ends with the span, so that it leaves no unit open for the next. Random data comes
//! last: the span is left as `prime` left it.
//!
//! Parameters of a cell: `form` (zeros, byte-255, repeated, incompressible, rewrite-equal,
//! rewrite-new), `content`. Metrics: `bps`, `latency_ns`.

use device::Extent;
use record::{Cell, Content};

use super::{Step, Sweep, WritePlacement};
use crate::catalogue::prelude::*;
use crate::catalogue::stretch::{self, Stretch};
use crate::io_loop::{IoLoad, LoopLimits};
use crate::observed_cache::{LARGEST_CACHE_BYTES, observed_cache_bytes};
use crate::offsets::sequential;

settings! {
    ContentSweepSettings {
        block: Block = "64KiB", "size of a write; small, so that a single stall decides nothing";
        max_time: Time = "40s", "time limit for each";
    }
}

/// Bytes of each content.
const SPAN_BYTES: u64 = 32 * MIB;
/// Bytes before the span, to fill a cache: several times its size, because it empties meanwhile.
const BESIDE_BYTES: u64 = FILLINGS * LARGEST_CACHE_BYTES;
const FILLINGS: u64 = 4;

/// Time in nanoseconds for closing units of other tests.
const CLOSING_NS: u64 = 5 * SECOND_NS;

const REWRITE_EQUAL: &str = "rewrite-equal";
const REWRITE_NEW: &str = "rewrite-new";

/// Forms, and the kind of data of each.
const FORMS: [(&str, Content); 6] = [
    ("zeros", Content::Zeros),
    ("byte-255", Content::Byte(255)),
    ("repeated", Content::Repeated),
    ("incompressible", Content::Incompressible),
    (REWRITE_EQUAL, Content::Incompressible),
    (REWRITE_NEW, Content::Incompressible),
];

/// Sequential writes, a cell for each kind of data: zeros, 0xFF, repeated, incompressible,
/// rewrites.
pub const CONTENT_SWEEP: Sweep<ContentSweepSettings> = Sweep {
    entry: Entry {
        name: test::CONTENT_SWEEP,
        about: "the same writes with zeros, 0xFF, repeated and random data, and with the data already there",
        source: "docs/field/cheats.md#cheats-and-caches, docs/field/cautions.md#order-and-budgets",
        needs: Needs::WRITING,
    },
    values: kinds_of_data,
    places: WritePlacement::Own(run),
};

fn kinds_of_data(settings: &ContentSweepSettings, cells: &mut Cells<'_, Step>) -> Planned {
    let block_bytes = settings.block;
    let Some(all) = cells.region(Region::Middle, SPAN_BYTES + BESIDE_BYTES) else {
        return Ok(());
    };
    let span_bytes = all.bytes.min(SPAN_BYTES);
    if !cells.fits(block_bytes, span_bytes) {
        return Ok(());
    }
    let (blocks, beside_blocks) =
        (span_bytes / block_bytes, (all.bytes - span_bytes) / block_bytes);
    for (index, (form, content)) in FORMS.into_iter().enumerate() {
        let writes = cells.writes(Region::Middle, all, Pattern::Sequential, block_bytes);
        let params = Params { form: Some(form.into()), content: Some(content), ..writes };
        let filling_blocks = if is_rewrite(form) { beside_blocks + blocks } else { 0 };
        let step = Step {
            counted_bytes: Some(span_bytes),
            closing_blocks: Some(if index == 0 { blocks.min(beside_blocks) } else { 0 }),
            stretch: Stretch {
                warm_up_ops: beside_blocks + filling_blocks,
                ops: blocks,
                enough_ops: 128,
                enough_ns: 10 * SECOND_NS,
                ..Stretch::default()
            },
            ..Step::default()
        };
        cells.add_stretch(params, &step, settings.max_time);
    }
    Ok(())
}

fn run(cell: &TypedCell<Step>, context: &mut CellContext<'_>) -> CellOutcome {
    let (planned, block_bytes, form) = (cell.span(), cell.block_bytes(), cell.form());
    let counted_bytes =
        cell.spec.counted_bytes.map_or(planned.bytes, |bytes| bytes.min(planned.bytes));
    let span = Extent::new(planned.end() - counted_bytes, counted_bytes);
    // What lies beside the span fills a cache with writes of the same kind.
    let needed = (FILLINGS * observed_cache_bytes(context.done))
        .div_ceil(block_bytes)
        .max(closing_blocks(cell, context.done));
    let beside_bytes = needed.min((planned.bytes - span.bytes) / block_bytes) * block_bytes;
    let mut all = Extent::new(span.offset_bytes - beside_bytes, beside_bytes + span.bytes);
    let mut load = stretch::load(cell, context, "data");
    if is_rewrite(form) {
        let before = IoLoad { fresh: false, ..stretch::load(cell, context, "data already there") };
        let limits = LoopLimits::time(context.time_left_ns() / 2);
        let filled = context.drive("filling", &before, &limits, &mut sequential(all, block_bytes));
        if filled.stop.cut_short() {
            let mut outcome = CellOutcome::new(cell);
            outcome.end(filled.stop, filled.error);
            return outcome;
        }
        // Only what was filled in time is written again.
        all.bytes = filled.bytes;
        load = if form == REWRITE_EQUAL { before } else { load };
    }
    let cell = cell.with(|params, spec| {
        (params.span_offset_bytes, params.span_bytes) = (Some(span.offset_bytes), Some(span.bytes));
        spec.stretch.warm_up_ops = beside_bytes / block_bytes;
    });
    stretch::run_after(&cell, context, &load, &load, &mut sequential(all, block_bytes))
}

/// Number of blocks that the first cell closes: at least the planned number, and as many as the
/// closing time allows, because no test before may have shown a cache.
fn closing_blocks(cell: &TypedCell<Step>, done: &[Cell]) -> u64 {
    let least = cell.spec.closing_blocks.unwrap_or(0);
    let bps = done
        .iter()
        .rev()
        .filter(|cell| cell.params.direction == Some(Direction::Write))
        .find_map(|cell| cell.metrics.bps);
    let affordable = bps
        .map_or(0.0, |bps| bps.value * CLOSING_NS as f64 / 1e9 / cell.block_bytes() as f64)
        as u64;
    if least == 0 { 0 } else { least.max(affordable) }
}

fn is_rewrite(form: &str) -> bool {
    [REWRITE_EQUAL, REWRITE_NEW].contains(&form)
}

#[cfg(test)]
mod tests {
    use device::Op;
    use record::units::{GIB, MIB, MILLISECOND_NS};

    use super::*;
    use crate::catalogue::testing::{TestBench, run_simulated};

    #[test]
    fn each_kind_of_data_is_written_over_the_same_span() {
        let ran = TestBench::raw(GIB, |_, _| MILLISECOND_NS).run(&["content-sweep"]);
        let writes: Vec<_> = ran.requests.iter().filter(|r| r.op == Op::Write).collect();
        let counted = 768 * MIB..800 * MIB;
        assert!(writes.iter().all(|r| (736 * MIB..800 * MIB).contains(&r.offset_bytes)));
        assert_eq!(writes.len(), 512 + 4 * 512 + 2 * 1024);
        assert_eq!(
            [0, 512, 1024, 1536].map(|at| writes[at].content)[1..],
            [Content::Zeros, Content::Byte(255), Content::Repeated]
        );
        assert!(
            writes[..512].iter().all(|r| !counted.contains(&r.offset_bytes)),
            "what closes the units of other tests lies before"
        );
        assert!(writes[512..].iter().all(|r| counted.contains(&r.offset_bytes)));
        assert!(ran.end.cells.iter().all(|cell| cell.ops == 512 && cell.written_bytes >= 32 * MIB));
    }

    fn rates(profile: &str) -> Vec<f64> {
        run_simulated(profile, 2, &["content-sweep"])
            .iter()
            .map(|cell| cell.metrics.bps.unwrap().value)
            .collect()
    }

    #[test]
    fn a_card_that_stores_no_zeros_is_found_and_an_honest_one_is_not() {
        let [zeros, ones, repeated, incompressible, equal, new] = rates("zero-cheat")[..] else {
            panic!("six forms")
        };
        assert!([zeros, ones, repeated].iter().all(|rate| *rate > 2.0 * incompressible));
        let is_alike = |ratio: f64| (0.85..1.15).contains(&ratio);
        assert!(is_alike(equal / new) && is_alike(new / incompressible));
        for profile in ["class6", "a1", "sd-worst", "ssd"] {
            let mut rates = rates(profile);
            rates.sort_by(f64::total_cmp);
            assert!(rates[5] / rates[0] < 1.15, "{profile}: {rates:?}");
        }
    }
}
