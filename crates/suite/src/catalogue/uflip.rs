//! `uflip`: the nine micro-benchmarks of uFLIP around sequential and random writes and reads of 32
//! KiB; at random (docs/field/snia-and-uflip.md#uflip).
//!
//! Three cells prepare. *state* writes blocks of random sizes at random places, so that every run
//! begins in the same disorder. *start-up* writes at random for long and finds the number of writes
//! that are cheap before the medium's own work begins (the truncation with the most precise mean of
//! the rest, MSER-5). *pause* reads sequentially, writes at random, and reads sequentially again
//! until that is as fast as before: the time for which a run affects the next one. Every other cell
//! pauses for that time and does not count that start-up.
//!
//! Then one parameter varies at a time: *granularity* (size), *alignment* (shift), *locality*
//! (range of random writes), *partitioning* (streams written in turn), *order* (step between
//! writes; -1 backwards, 0 in place), *parallelism* (in flight), *mix* (sequential writes for one
//! at random), *pause* before each write (`pause-before`), *burst* (writes between pauses of 100
//! ms).
//!
//! Parameters of a cell: `form`, `value` (of the parameter), direction and pattern. Metrics:
//! `latency_ns`, `iops`, `bps`; `start_up_ops` and `pause_ns` of the cells that find them.

use device::Extent;
use record::{Estimate, Stop};
use stats::{Random, median, mser5};

use super::prelude::*;
use super::stretch::{self, Stretch, earlier, strided};
use crate::io_loop::{IoLoad, LoopLimits};
use crate::offsets::{cyclic, uniform};
use crate::{IoTally, TargetInfo};

settings! {
    UflipSettings {
        form: Words(MICROS.map(|micro| micro.form)) =
            "granularity,alignment,locality,partitioning,order,parallelism,mix,pause-before,burst",
            "micro-benchmarks to run";
        span: Span = "512MiB", "span in the middle";
        state_time: Time = "60s", "time for random writes of random sizes first";
        max_time: Time = "6s", "time limit for each, without the pause";
    }
}

spec! {
    /// A value of the parameter that varies.
    UflipSpec {
        value: f64,
        ..stretch: Stretch,
    }
}

type UflipCell = TypedCell<UflipSpec>;

/// Runs uFLIP: three cells that prepare, then one for each micro-benchmark, load and value.
pub struct Uflip;

/// The size around which everything varies.
const BASE_BYTES: u64 = 32 * KIB;
const MAX_OPS: u64 = 2048;
/// Number of I/Os that is enough on a slow medium, after this time.
const ENOUGH_OPS: u64 = 32;
const ENOUGH_NS: u64 = SECOND_NS;
/// Longest start-up that is not counted, and longest pause that is made.
const MAX_START_UP: u64 = 256;
const MAX_PAUSE_NS: u64 = 5 * SECOND_NS;
/// Ratio of latencies up to which sequential reads are as fast as before.
const MOST_UNAFFECTED_RATIO: f64 = 1.25;
const BURST_PAUSE_NS: u64 = 100 * MILLISECOND_NS;

const WRITE: Direction = Direction::Write;
const READ: Direction = Direction::Read;
const SEQUENTIAL: Pattern = Pattern::Sequential;
const RANDOM: Pattern = Pattern::Uniform;

/// A micro-benchmark: its parameter, and the loads around which it varies.
struct MicroBenchmark {
    form: &'static str,
    loads: &'static [(Direction, Pattern)],
    values: &'static [f64],
}

const MICROS: [MicroBenchmark; 9] = [
    MicroBenchmark {
        form: "granularity",
        loads: &[(READ, SEQUENTIAL), (READ, RANDOM), (WRITE, SEQUENTIAL), (WRITE, RANDOM)],
        values: &[512.0, 2048.0, 8192.0, 24576.0, 32768.0, 131072.0, 524288.0],
    },
    MicroBenchmark {
        form: "alignment",
        loads: &[(WRITE, SEQUENTIAL), (WRITE, RANDOM)],
        values: &[512.0, 4096.0, 16384.0],
    },
    MicroBenchmark {
        form: "locality",
        loads: &[(WRITE, RANDOM)],
        values: &[1.0, 4.0, 16.0, 64.0, 256.0, 1024.0, 4096.0, 16384.0],
    },
    MicroBenchmark {
        form: "partitioning",
        loads: &[(WRITE, SEQUENTIAL)],
        values: &[1.0, 2.0, 4.0, 8.0, 16.0, 64.0, 256.0],
    },
    MicroBenchmark {
        form: "order",
        loads: &[(WRITE, SEQUENTIAL)],
        values: &[-1.0, 0.0, 1.0, 2.0, 4.0, 16.0, 256.0],
    },
    MicroBenchmark {
        form: "parallelism",
        loads: &[(READ, RANDOM), (WRITE, RANDOM)],
        values: &[1.0, 2.0, 4.0, 16.0],
    },
    MicroBenchmark { form: "mix", loads: &[(WRITE, SEQUENTIAL)], values: &[1.0, 4.0, 16.0, 64.0] },
    MicroBenchmark {
        form: "pause-before",
        loads: &[(WRITE, RANDOM)],
        values: &[1e5, 1.6e6, 2.56e7, 1.024e8],
    },
    MicroBenchmark { form: "burst", loads: &[(WRITE, RANDOM)], values: &[10.0, 40.0, 160.0] },
];

const PREPARING: [&str; 3] = ["state", "start-up", "pause"];

impl Procedure for Uflip {
    type Settings = UflipSettings;
    type Spec = UflipSpec;

    fn entry(&self) -> Entry {
        Entry {
            name: test::UFLIP,
            about: "nine micro-benchmarks that vary one parameter at a time",
            source: "docs/field/snia-and-uflip.md#uflip",
            needs: Needs::WRITING,
        }
    }

    fn plan(&self, settings: &Self::Settings, cells: &mut Cells<'_, UflipSpec>) -> Planned {
        let Some(span) = cells.span(&settings.span, Region::Middle)? else { return Ok(()) };
        if span.bytes < 2 * MIB {
            cells.skip(format!("needs 2 MiB; there are {}", Bytes(span.bytes)));
            return Ok(());
        }
        let (target, max_ns) = (cells.target, settings.max_time);
        let mut add = |form: &str, value, (direction, pattern), max_ns, ops| {
            let block_bytes = if form == "granularity" { value as u64 } else { BASE_BYTES };
            let writes = cells.writes(Region::Middle, span, pattern, block_bytes);
            let params = Params {
                form: Some(form.into()),
                direction: Some(direction),
                content: writes.content.filter(|_| direction == WRITE),
                ..writes
            };
            // Rest and start-up are those that were found; these are the most they may be.
            let (rest_ns, warm_up_ops) =
                if PREPARING.contains(&form) { (0, 0) } else { (MAX_PAUSE_NS, MAX_START_UP) };
            let stretch = Stretch {
                rest_ns,
                warm_up_ops,
                ops,
                enough_ops: ENOUGH_OPS,
                enough_ns: ENOUGH_NS,
                ..Stretch::default()
            };
            cells.add_stretch(params, &UflipSpec { value, stretch }, max_ns);
        };
        let state_ops = 4 * span.bytes / BASE_BYTES;
        add("state", 0.0, (WRITE, RANDOM), settings.state_time, state_ops);
        add("start-up", 0.0, (WRITE, RANDOM), 5 * max_ns, MAX_OPS);
        add("pause", 0.0, (WRITE, RANDOM), 5 * max_ns, MAX_OPS);
        for micro in MICROS.iter().filter(|micro| settings.form.contains(&micro.form)) {
            for load in micro.loads {
                micro
                    .values
                    .iter()
                    .filter(|value| fits(micro.form, **value, span, target))
                    .for_each(|value| add(micro.form, *value, *load, max_ns, MAX_OPS));
            }
        }
        Ok(())
    }

    fn run(&self, cell: &UflipCell, context: &mut CellContext<'_>) -> CellOutcome {
        let found = |name: &str, most: u64| {
            earlier(cell, context)
                .find_map(|done| done.metrics.other.get(name))
                .map_or(most, |figure| (figure.value as u64).min(most))
        };
        let cell = &cell.with(|_, UflipSpec { stretch, .. }| {
            if !PREPARING.contains(&cell.form()) {
                stretch.warm_up_ops = found("start_up_ops", MAX_START_UP);
                stretch.rest_ns = found("pause_ns", MAX_PAUSE_NS);
            }
        });
        let value = cell.spec.value as u64;
        match cell.form() {
            "state" => disorder(cell, context),
            "start-up" => start_up(cell, context),
            "pause" => pause(cell, context),
            "pause-before" => in_bursts(cell, context, 1, value),
            "burst" => in_bursts(cell, context, value, BURST_PAUSE_NS),
            _ => one_parameter(cell, context),
        }
    }
}

/// True if a value of the parameter is possible here.
fn fits(form: &str, value: f64, span: Extent, target: &TargetInfo) -> bool {
    match form {
        "alignment" => (value as u64).is_multiple_of(target.facts.logical_block_bytes),
        "locality" | "partitioning" => value as u64 * BASE_BYTES <= span.bytes,
        "parallelism" => value as u32 <= target.facts.max_in_flight,
        _ => true,
    }
}

/// Runs a stretch in which one parameter has this value.
fn one_parameter(cell: &UflipCell, context: &mut CellContext<'_>) -> CellOutcome {
    let (span, block_bytes, value) = (cell.span(), cell.block_bytes(), cell.spec.value);
    let random = context.random("places");
    let is_random = cell.params.pattern == Some(RANDOM);
    let load = stretch::load(cell, context, "data");
    match cell.form() {
        "alignment" => {
            let shifted = Extent::new(span.offset_bytes + value as u64, span.bytes - value as u64);
            at_places(cell, context, &load, shifted, is_random)
        }
        "locality" => at_places(
            cell,
            context,
            &load,
            Extent::new(span.offset_bytes, value as u64 * block_bytes),
            true,
        ),
        "partitioning" => stretch::run_load(
            cell,
            context,
            &load,
            &mut partitions(span, block_bytes, value as u64),
        ),
        "order" if value >= 2.0 => stretch::run_load(
            cell,
            context,
            &load,
            &mut strided(span, block_bytes, value as u64 * block_bytes),
        ),
        "order" => {
            stretch::run_load(cell, context, &load, &mut stepwise(span, block_bytes, value as i64))
        }
        "mix" => stretch::run_load(
            cell,
            context,
            &load,
            &mut mixed(span, block_bytes, value as u64, random),
        ),
        "parallelism" => {
            let cell = cell.with(|params, _| params.queue_depth = value as u32);
            at_places(&cell, context, &IoLoad { in_flight: value as u32, ..load }, span, true)
        }
        _ => at_places(cell, context, &load, span, is_random),
    }
}

fn at_places(
    cell: &UflipCell,
    context: &mut CellContext<'_>,
    load: &IoLoad,
    span: Extent,
    is_random: bool,
) -> CellOutcome {
    if is_random {
        stretch::run_load(
            cell,
            context,
            load,
            &mut uniform(span, load.block_bytes, load.block_bytes, context.random("places")),
        )
    } else {
        stretch::run_load(cell, context, load, &mut cyclic(span, load.block_bytes))
    }
}

/// Sequential streams in so many equal parts of the span, a block of each in turn.
fn partitions(span: Extent, block_bytes: u64, parts: u64) -> impl FnMut(u32) -> Option<Extent> {
    let part_bytes = span.bytes / parts / block_bytes * block_bytes;
    let mut turn = 0;
    move |_| {
        let (part, block) = (turn % parts, turn / parts);
        turn += 1;
        Some(Extent::new(
            span.offset_bytes + part * part_bytes + block * block_bytes % part_bytes,
            block_bytes,
        ))
    }
}

/// Backwards (-1), in place (0) or forwards (1) over the span.
fn stepwise(span: Extent, block_bytes: u64, step: i64) -> impl FnMut(u32) -> Option<Extent> {
    let blocks = (span.bytes / block_bytes) as i64;
    let mut at = if step < 0 { blocks - 1 } else { 0 };
    move |_| {
        let place = Extent::new(span.offset_bytes + at as u64 * block_bytes, block_bytes);
        at = (at + step).rem_euclid(blocks);
        Some(place)
    }
}

/// So many sequential blocks in the first half of the span, then one at random in the second.
fn mixed(
    span: Extent,
    block_bytes: u64,
    sequential_ops: u64,
    random: Random,
) -> impl FnMut(u32) -> Option<Extent> {
    let half_bytes = span.bytes / 2 / block_bytes * block_bytes;
    let mut row = cyclic(Extent::new(span.offset_bytes, half_bytes), block_bytes);
    let mut elsewhere = uniform(
        Extent::new(span.offset_bytes + half_bytes, half_bytes),
        block_bytes,
        block_bytes,
        random,
    );
    let mut turn = 0;
    move |slot| {
        turn += 1;
        if turn % (sequential_ops + 1) == 0 { elsewhere(slot) } else { row(slot) }
    }
}

/// Makes writes of random sizes at random places, for the time of the cell.
fn disorder(cell: &UflipCell, context: &mut CellContext<'_>) -> CellOutcome {
    let (span, unit_bytes) = (cell.span(), context.target.facts.logical_block_bytes.max(512));
    let mut random = context.random("places and sizes");
    let load = stretch::load(cell, context, "data");
    let limits = LoopLimits {
        max_bytes: (cell.spec.stretch.ops - 1) * BASE_BYTES,
        ..LoopLimits::time(context.time_left_ns())
    };
    let mut places = |_| {
        let bytes = (1 + random.below(BASE_BYTES / unit_bytes)) * unit_bytes;
        Some(Extent::new(
            span.offset_bytes + random.below((span.bytes - bytes) / unit_bytes + 1) * unit_bytes,
            bytes,
        ))
    };
    context.drive("setting the state", &load, &limits, &mut places).outcome(cell)
}

/// Makes random writes for long, and finds the number of the first that differ from the rest.
fn start_up(cell: &UflipCell, context: &mut CellContext<'_>) -> CellOutcome {
    let mut latencies = Vec::new();
    let load = stretch::load(cell, context, "data");
    let limits =
        LoopLimits { max_ops: cell.spec.stretch.ops, ..LoopLimits::time(context.time_left_ns()) };
    let mut places = uniform(cell.span(), BASE_BYTES, BASE_BYTES, context.random("places"));
    let mut watch = |_, latency_ns: u64| {
        latencies.push(latency_ns as f64);
        false
    };
    let tally =
        context.drive_watched("finding the start-up", &load, &limits, &mut places, &mut watch);
    let mut outcome = tally.outcome(cell);
    if let Some(start_up_ops) = mser5(&latencies) {
        let figure = Estimate { value: start_up_ops as f64, ci95: None, n: latencies.len() as u64 };
        outcome.cell.metrics.other.insert(metric::START_UP_OPS.into(), figure);
    }
    outcome
}

/// Makes sequential reads, writes at random, and sequential reads until they are as fast as before.
fn pause(cell: &UflipCell, context: &mut CellContext<'_>) -> CellOutcome {
    let span = cell.span();
    let third_ns = context.allotted_ns / 3;
    let writing = stretch::load(cell, context, "data");
    let reading = IoLoad { direction: READ, ..writing };
    let mut row = cyclic(span, BASE_BYTES);
    let mut elsewhere = uniform(span, BASE_BYTES, BASE_BYTES, context.random("places"));
    let mut outcome = CellOutcome::new(cell);
    let mut read = |context: &mut CellContext<'_>, ops: u64| {
        let mut took_ns = Vec::new();
        let limits =
            LoopLimits { max_ops: ops, ..LoopLimits::time(third_ns.min(context.time_left_ns())) };
        let mut watch = |_, latency_ns: u64| {
            took_ns.push(latency_ns as f64);
            false
        };
        let tally =
            context.drive_watched("sequential reads", &reading, &limits, &mut row, &mut watch);
        (tally, median(&mut took_ns))
    };
    let (tally, before_ns) = read(context, 64);
    outcome.absorb(tally);
    if outcome.is_over() {
        return outcome;
    }
    let limits = LoopLimits { max_ops: 512, ..LoopLimits::time(third_ns) };
    let tally = context.drive("writing at random", &writing, &limits, &mut elsewhere);
    outcome.end(tally.stop, tally.error);
    let (mut after_effect_ns, mut is_affected) = (0, true);
    while is_affected
        && !outcome.is_over()
        && after_effect_ns < MAX_PAUSE_NS
        && context.time_left_ns() > 0
    {
        let (tally, now_ns) = read(context, 8);
        is_affected = now_ns
            .zip(before_ns)
            .is_some_and(|(now_ns, before_ns)| now_ns > MOST_UNAFFECTED_RATIO * before_ns);
        after_effect_ns += if is_affected { tally.busy_ns } else { 0 };
        outcome.absorb(tally);
    }
    // A pause is twice as long as what was seen, and never none.
    let figure = Estimate {
        value: (2 * after_effect_ns).max(100 * MILLISECOND_NS) as f64,
        ci95: None,
        n: outcome.cell.ops,
    };
    outcome.cell.metrics.other.insert("pause_ns".into(), figure);
    outcome
}

/// Makes random writes with a pause after each burst of them.
fn in_bursts(
    cell: &UflipCell,
    context: &mut CellContext<'_>,
    burst: u64,
    pause_ns: u64,
) -> CellOutcome {
    stretch::rest(cell.spec.stretch.rest_ns, context);
    let load = stretch::load(cell, context, "data");
    let mut places = uniform(cell.span(), BASE_BYTES, BASE_BYTES, context.random("places"));
    let limits = LoopLimits {
        max_ops: cell.spec.stretch.warm_up_ops,
        ..LoopLimits::time(context.time_left_ns() / 2)
    };
    let before = context.drive("starting up", &load, &limits, &mut places);
    let mut outcome = CellOutcome::new(cell);
    outcome.end(before.stop, before.error);
    let mut worst_ns = 0;
    while !outcome.is_over() && outcome.cell.ops + burst <= cell.spec.stretch.ops {
        let left_ns = context.time_left_ns();
        if left_ns == 0 {
            outcome.end(Stop::Time, None);
            break;
        }
        let tally: IoTally = context.drive(
            "writing in bursts",
            &load,
            &LoopLimits { max_ops: burst, ..LoopLimits::time(left_ns) },
            &mut places,
        );
        worst_ns = worst_ns.max(tally.worst_ns);
        outcome.absorb(tally);
        stretch::rest(pause_ns.min(context.time_left_ns()), context);
    }
    outcome.rates_over_all(worst_ns);
    outcome
}

#[cfg(test)]
mod tests {

    use record::Cell;
    use record::units::GIB;

    use super::*;
    use crate::catalogue::testing::{TestBench, run_simulated};

    #[test]
    fn every_order_stays_in_the_span_on_every_target() {
        for bench in [
            TestBench::raw(4 * GIB, |_, _| MILLISECOND_NS),
            TestBench::file(4 * MIB, |_, _| MILLISECOND_NS),
        ] {
            let planned = bench.planned(&["uflip"]);
            let ran = bench.run(&["uflip"]);
            assert_eq!(ran.end.cells.len(), planned.len());
            assert!(
                ran.end.cells.iter().all(|cell| cell.stop != Stop::Error && cell.ops > 0),
                "{:?}",
                ran.end.error
            );
            for (cell, planned) in ran.end.cells.iter().zip(&planned) {
                assert!(
                    cell.written_bytes <= planned.max_written_bytes,
                    "{} {:?}",
                    cell.id,
                    cell.params.form
                );
            }
        }
    }

    #[test]
    fn the_start_up_that_is_found_is_not_counted() {
        // The first 100 random writes of the second cell are cheap.
        let cost = |request: &device::Request, number: u64| match request.op {
            device::Op::Write if number > 1000 + 100 => 10 * MILLISECOND_NS,
            _ => MILLISECOND_NS,
        };
        let ran = TestBench::raw(4 * GIB, cost).run(&["uflip form=locality state_time=1s"]);
        let found = ran.other("uflip/2", "start_up_ops");
        assert!((80.0..150.0).contains(&found), "{found}");
        assert_eq!(ran.cell("uflip/4").params.other["warm_up_ops"], found);
        assert_eq!(ran.other("uflip/3", "pause_ns"), 1e8);
    }

    fn response_ms(cells: &[Cell], form: &str, value: f64, pattern: Pattern) -> f64 {
        let wanted = |cell: &&Cell| {
            cell.params.form.as_deref() == Some(form)
                && cell.params.other["value"] == value
                && cell.params.pattern == Some(pattern)
                && cell.params.direction == Some(WRITE)
        };
        let cell = cells.iter().find(wanted).unwrap();
        cell.elapsed_ns as f64 / cell.ops as f64 / 1e6
    }

    #[test]
    fn design_hints_of_the_paper_hold_on_a_cheap_card() {
        let cells = run_simulated("class6", 1, &["uflip"]);
        let at = |form, value, pattern| response_ms(&cells, form, value, pattern);
        // Random writes cost a merge; inside three open units of 1 MiB they do not, nor do a few
        // rows in turn.
        assert!(at("granularity", 32768.0, RANDOM) > 10.0 * at("granularity", 32768.0, SEQUENTIAL));
        assert!(at("locality", 16.0, RANDOM) < 0.3 * at("locality", 16384.0, RANDOM));
        assert!(at("partitioning", 16.0, SEQUENTIAL) > 5.0 * at("partitioning", 2.0, SEQUENTIAL));
        assert!(at("mix", 1.0, SEQUENTIAL) > 2.0 * at("mix", 64.0, SEQUENTIAL));
    }
}
