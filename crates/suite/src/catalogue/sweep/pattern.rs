//! `pattern`: the load of a common benchmark (random 4 KiB writes, aligned, in 1 GiB, five rounds),
//! and loads with differences that do not matter to a user
//! (docs/field/cheats.md#cheats-and-caches).
//!
//! *common* is that load. *odd-span* is the same over half as much again, or twice as much: more
//! than the pattern allows. *shifted* is the same 512 bytes further on, so that no write is
//! aligned; if it alone is slower, alignment explains it (see `misalign`). A medium that is fast
//! for the first and slow for the second recognises the benchmark. Each form begins after the same
//! pause. A medium may need some dozens of writes to recognise the benchmark: slow ones get the
//! time for that. The first form finds an empty cache, later forms may pay the debts of earlier
//! ones: so *odd-span* comes before *common* and after it (*odd-span-again*).
//!
//! Parameters of a cell: `form`, `span_bytes`, `shift_bytes`. Series: `rate` (bytes, bytes/s),
//! because a fast path may be short. Metrics: `iops`, `bps`, `latency_ns`.

use device::Extent;
use record::Cell;

use super::{Step, Sweep, WritePlacement, places_in};
use crate::catalogue::prelude::*;
use crate::catalogue::stretch::{self, StatePreparation, Stretch};
use crate::observed_cache::observed_cache_pages;
use crate::offsets::uniform;

settings! {
    PatternSettings {
        form: Words(["odd-span", "common", "odd-span-again", "shifted"]) =
            "odd-span,common,odd-span-again,shifted", "which loads";
        block: Block = "4KiB", "size of a write";
        span: Size = "1GiB", "size of the benchmark's file";
        rounds: Count = "5", "rounds of each load";
        round_total: Size = "64MiB", "bytes per round, at most";
        round_time: Time = "5s", "time per round, at most";
        least: Count = "1024", "writes of the benchmark's load, even on a slow medium";
        least_time: Time = "330s", "extra time for them, at most";
        compared: Count = "16", "writes of the other loads, even on a slow medium";
        compared_time: Time = "40s", "extra time for them, at most";
        rest: Time = "10s", "time without I/O before each load";
    }
}

/// Time in nanoseconds to fill a cache, if there is one.
const FILLING_NS: u64 = 60 * SECOND_NS;
/// Time in nanoseconds to empty a cache that no flush empties: until then the medium is busy, and a
/// fast path that was used up does not recover.
const EMPTYING_NS: u64 = 60 * SECOND_NS;

/// A common benchmark's random writes and loads that differ a little, a cell for each form.
pub const PATTERN: Sweep<PatternSettings> = Sweep {
    entry: Entry {
        name: test::PATTERN,
        about: "the random writes of a common benchmark, and the same load in another span and shifted",
        source: "docs/field/cheats.md#cheats-and-caches",
        needs: Needs::WRITING,
    },
    values: loads,
    places: WritePlacement::Own(run),
};

fn loads(settings: &PatternSettings, cells: &mut Cells<'_, Step>) -> Planned {
    let (block_bytes, wanted_bytes) = (settings.block, settings.span);
    let Some(all) = cells.region(Region::Middle, 2 * wanted_bytes) else { return Ok(()) };
    if all.bytes < 8 * block_bytes {
        let (block, there) = (Bytes(block_bytes), Bytes(all.bytes));
        cells.skip(format!("random writes of {block} need more than {there}"));
        return Ok(());
    }
    let common_bytes = wanted_bytes.min(all.bytes / 3 * 2) / block_bytes * block_bytes;
    let common = Extent::new(all.offset_bytes, common_bytes);
    if common_bytes < wanted_bytes {
        let (wanted, there) = (Bytes(wanted_bytes), Bytes(common_bytes));
        cells.skip(format!("the benchmark's file needs {wanted}; only {there} available"));
    }
    let rounds = settings.rounds.min(100);
    let rounds_ns = rounds * settings.round_time;
    for form in &settings.form {
        let (span, shift_bytes) = match *form {
            "odd-span" | "odd-span-again" => (all, 0),
            "shifted" => (common, 512),
            _ => (common, 0),
        };
        if !cells.can_shift(shift_bytes) {
            continue;
        }
        let (enough_ops, max_ns) = if *form == "common" {
            (settings.least, rounds_ns + settings.least_time + EMPTYING_NS)
        } else {
            (settings.compared, rounds_ns + settings.compared_time)
        };
        let stretch = Stretch {
            rest_ns: settings.rest,
            ops: rounds * (settings.round_total / block_bytes).max(1),
            enough_ops,
            enough_ns: rounds_ns,
            ..Stretch::default()
        }
        .past_caches(FILLING_NS);
        let writes = cells.writes(Region::Middle, span, Pattern::Uniform, block_bytes);
        let params = Params { form: Some((*form).into()), ..writes };
        let step = Step {
            shift_bytes: Some(shift_bytes),
            odd_span_bytes: Some(all.bytes),
            rounds: Some(rounds),
            stretch,
            ..Step::default()
        };
        cells.add_stretch(params, &step, max_ns);
    }
    Ok(())
}

fn run(cell: &TypedCell<Step>, context: &mut CellContext<'_>) -> CellOutcome {
    let (span, block_bytes) = (cell.span(), cell.block_bytes());
    let odd = Extent::new(span.offset_bytes, cell.spec.odd_span_bytes.unwrap_or(span.bytes));
    // What fills a cache knows no benchmark, and uses up nothing that is kept for one.
    let is_common = cell.form() == "common";
    if is_common {
        stretch::rest(emptying_ns(context.done), context);
    }
    let cell = &cell.with(|_, spec| {
        // A cache that passes writes on in turn takes as long for these as for what filled it,
        // until that is written.
        let pages = if is_common { observed_cache_pages(context.done) } else { 0 };
        spec.stretch.enough_ops += pages;
    });
    let load = stretch::load(cell, context, "data");
    let state = stretch::load(cell, context, "data that fills");
    let mut filling = uniform(odd, block_bytes, block_bytes, context.random("places that fill"));
    let is_like_earlier =
        is_common && context.done.last().is_some_and(|last| last.test == cell.test);
    let before = StatePreparation { load: &state, next: Some(&mut filling), is_like_earlier };
    let mut places = places_in(span, cell, context);
    stretch::run_after(cell, context, before, &load, &mut places)
}

/// Time in nanoseconds to write the contents of a volatile cache at the rate of the cell before; 0
/// if no cache was seen.
fn emptying_ns(done: &[Cell]) -> u64 {
    let page_ns =
        done.last().and_then(|last| last.metrics.iops).map_or(0.0, |iops| 1e9 / iops.value);
    ((observed_cache_pages(done) as f64 * page_ns) as u64).min(EMPTYING_NS)
}

#[cfg(test)]
mod tests {
    use device::Op;
    use record::units::GIB;

    use super::*;
    use crate::catalogue::testing::{TestBench, run_simulated};

    #[test]
    fn loads_that_differ_in_span_and_place_only() {
        let cost =
            |request: &device::Request, _| if request.op == Op::Flush { 0 } else { MILLISECOND_NS };
        let ran = TestBench::raw(4 * GIB, cost).run(&["pattern round_time=1s"]);
        let writes = ran.writes(2 * GIB);
        assert_eq!((writes.len(), ran.idle_ns), (20_000, 40 * SECOND_NS));
        let [odd, common, again, shifted] = [0, 1, 2, 3].map(|form| &writes[form * 5000..][..5000]);
        for odd in [odd, again] {
            assert!(odd.iter().all(|at| at % 4096 == 0 && *at < 2 * GIB));
            assert!(odd.iter().any(|at| *at > GIB));
        }
        assert!(common.iter().all(|at| at % 4096 == 0 && *at < GIB));
        assert!(shifted.iter().all(|at| at % 4096 == 512 && *at < GIB));
    }

    #[test]
    fn a_slow_medium_gets_the_time_to_recognise_the_benchmark() {
        let ran = TestBench::raw(4 * GIB, |_, _| 2 * SECOND_NS).run(&["pattern least=40"]);
        let writes: Vec<u64> =
            (1..=4).map(|number| ran.cell(&format!("pattern/{number}")).ops).collect();
        assert!(writes[1] >= 40 && [0, 2, 3].iter().all(|other| writes[*other] < 20), "{writes:?}");
    }

    #[test]
    fn only_a_card_that_knows_the_pattern_is_fast_for_it_alone() {
        let rates = |profile: &str| -> Vec<f64> {
            run_simulated(profile, 3, &["pattern"])
                .iter()
                .map(|cell| cell.metrics.iops.unwrap().value)
                .collect()
        };
        let cheat = rates("pattern-cheat");
        assert!([0, 2, 3].iter().all(|other| cheat[1] > 10.0 * cheat[*other]), "{cheat:?}");
        for profile in ["class6", "a1", "span-cheat-64", "ssd"] {
            let honest = rates(profile);
            assert!((0.67..1.5).contains(&(honest[1] / honest[0])), "{profile}: {honest:?}");
        }
    }
}
