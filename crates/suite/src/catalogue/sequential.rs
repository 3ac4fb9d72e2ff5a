//! `sequential-read` and `sequential-write`: the dd sweep, 4 KiB to 1 MiB and 120 KiB, O_DIRECT,
//! queue depth 1 (docs/field/classic-tools.md#dd).
//!
//! As published, each size begins at the front of the span. A medium that keeps allocation units
//! open then merges the one that the size before has left half full, and again when it is reached:
//! as much as a second of streaming, which is a small part of the published half GiB and a sixth of
//! a measurement of a few seconds. With `begin=after` a size continues where the writes before it
//! ended and is measured from the next boundary of an allocation unit on, so that nothing is left
//! open behind it.

use device::{Device, Extent};
use record::{Cell, Flag, Metrics, Stop};

use super::level::LatencyLevel;
use super::prelude::*;
use super::stretch;
use crate::IoTally;
use crate::io_loop::{IoLoad, LoopLimits, Places};
use crate::observed_cache::{BEGINNING_RATIO, CACHE_FILL_BYTES, fast_beginning_bytes};
use crate::offsets::{cyclic_from, pieces};
use crate::stop_rule::Precision;

settings! {
    SequentialSettings {
        block: Blocks = "4KiB,8KiB,16KiB,32KiB,64KiB,120KiB,128KiB,256KiB,512KiB,1MiB",
            "block sizes";
        span: Span = "512MiB", "span of the medium";
        total: Size = "512MiB", "bytes per block size, at most";
        region: RegionWords(["middle", "front"]) = "middle", "middle, front";
        content: DataKinds = "incompressible", "zeros, repeated, incompressible (writing)";
        begin: Word(["front", "after"]) = "front",
            "front (as published); after: where the last writes ended (writing)";
        warm_up: Time = "0s",
            "leave out the first I/Os, for this long or 65 MiB: a cache makes them faster or slower";
        certainty: Share = "2%", "stop when the interval is this narrow";
        min_time: Time = "3s", "least time per block size";
        max_time: Time = "60s", "time limit per block size";
    }
}

spec! {
    /// Numbers of sequential I/O of one size.
    SequentialSpec {
        total_bytes: u64,
        /// Time in nanoseconds of the first I/Os, which do not count.
        warm_up_ns: Option<u64>,
        /// Alignment in bytes of the measurement, if it continues earlier writes.
        boundary_bytes: Option<u64>,
        ..precision: Precision,
    }
}

type SequentialCell = TypedCell<SequentialSpec>;

/// Assumed allocation unit in bytes if the medium declares none or a smaller one.
const GUESSED_AU_BYTES: u64 = 4 * MIB;
/// Size in bytes of the writes that fill up to the next boundary.
const JOINING_BLOCK_BYTES: u64 = 64 * KIB;
/// The test, in one direction.
pub struct Sequential(Direction);

impl Sequential {
    /// The test `sequential-read`: a cell for each region and block size.
    pub const READ: Sequential = Sequential(Direction::Read);
    /// The test `sequential-write`: a cell for each region, kind of data and block size.
    pub const WRITE: Sequential = Sequential(Direction::Write);
}

impl Sequential {
    /// First byte of the measurement. If the cell continues earlier writes, the rest of their
    /// allocation unit is filled first; an error or interruption then is the cell's.
    fn join(
        &self,
        cell: &SequentialCell,
        span: Extent,
        context: &mut CellContext<'_>,
    ) -> Result<u64, Box<IoTally>> {
        let Some(boundary_bytes) = cell.spec.boundary_bytes else { return Ok(span.offset_bytes) };
        let last = span.offset_bytes + end_of_writes(context.done, span);
        let boundary = span
            .end()
            .min(span.offset_bytes + (last - span.offset_bytes).next_multiple_of(boundary_bytes));
        if last < boundary {
            let load = IoLoad { pass: 999, ..IoLoad::write(JOINING_BLOCK_BYTES) };
            let limits = LoopLimits::time(context.allotted_ns / 2);
            let tally = context.drive(
                "joining",
                &load,
                &limits,
                &mut pieces(Extent::new(last, boundary - last), JOINING_BLOCK_BYTES),
            );
            if tally.stop.cut_short() {
                return Err(Box::new(tally));
            }
        }
        Ok(boundary)
    }
}

/// Does the first I/Os, which do not count: a volatile cache accepts writes faster until it is
/// full, and reads wait until it is empty. True if there were enough of them for the cache that
/// `prime` has shown. An error or interruption then is the cell's.
fn warm_up(
    cell: &SequentialCell,
    load: &IoLoad,
    context: &mut CellContext<'_>,
    next: Places<'_>,
) -> Result<bool, Box<IoTally>> {
    let Some(warm_up_ns) = cell.spec.warm_up_ns else { return Ok(true) };
    let enough_ns = warm_up_ns.min(context.time_left_ns() / 4);
    let kept_bytes = if load.direction == Direction::Write {
        fast_beginning_bytes(context.done).min(CACHE_FILL_BYTES)
    } else {
        0
    };
    // Where `prime` showed a cache, all that lies in it was written by something else. While it has
    // room it takes in more than it holds, for it empties meanwhile: it is full once these take
    // longer than at first, or were as fast all the time.
    let limits =
        LoopLimits::time(if kept_bytes > 0 { context.time_left_ns() / 2 } else { enough_ns })
            .bytes(CACHE_FILL_BYTES);
    let (mut bytes_done, mut took_ns, mut level) = (0, 0, LatencyLevel::default());
    let mut is_warm = |bytes, latency_ns| {
        (bytes_done, took_ns) = (bytes_done + bytes, took_ns + latency_ns);
        level.push(latency_ns);
        took_ns >= enough_ns
            && bytes_done >= kept_bytes
            && (level.has_fallen(BEGINNING_RATIO) || bytes_done >= 2 * kept_bytes)
    };
    let tally = context.drive_watched("warming up", load, &limits, next, &mut is_warm);
    if tally.stop.cut_short() { Err(Box::new(tally)) } else { Ok(bytes_done >= kept_bytes) }
}

/// End of the sequential writes of earlier cells, in bytes from the start of `span`.
fn end_of_writes(done: &[Cell], span: Extent) -> u64 {
    let here = |cell: &&Cell| cell.params.span_offset_bytes == Some(span.offset_bytes);
    done.iter().filter(here).fold(0, |at, cell| match cell.test.as_str() {
        test::PRIME | test::ZERO_FILL | test::RANDOM_FILL => {
            cell.params.span_bytes.unwrap_or(0) % span.bytes.max(1)
        }
        test::SEQUENTIAL_WRITE => (at + cell.written_bytes) % span.bytes.max(1),
        _ => at,
    })
}

impl Procedure for Sequential {
    type Settings = SequentialSettings;
    type Spec = SequentialSpec;

    fn entry(&self) -> Entry {
        let (name, about) = match self.0 {
            Direction::Read => (test::SEQUENTIAL_READ, "sequential reads, by block size"),
            Direction::Write => {
                (test::SEQUENTIAL_WRITE, "sequential writes, by block size and content")
            }
        };
        let needs = Needs { writing: self.0 == Direction::Write, ..Needs::READING };
        Entry { name, about, source: "docs/field/classic-tools.md#dd", needs }
    }

    fn plan(&self, settings: &Self::Settings, cells: &mut Cells<'_, SequentialSpec>) -> Planned {
        let is_writing = self.0 == Direction::Write;
        let goes_on = is_writing && settings.begin == "after";
        let boundary_bytes =
            cells.target.au_bytes.unwrap_or(GUESSED_AU_BYTES).max(GUESSED_AU_BYTES);
        let contents = match self.0 {
            Direction::Read => vec![None],
            Direction::Write => settings.content.iter().copied().map(Some).collect(),
        };
        let spec = SequentialSpec {
            total_bytes: settings.total,
            warm_up_ns: Some(settings.warm_up).filter(|ns| *ns > 0),
            boundary_bytes: goes_on.then_some(boundary_bytes),
            precision: Precision { certainty: settings.certainty, min_ns: settings.min_time },
        };
        for &region in &settings.region {
            let Some(span) = cells.span(&settings.span, region)? else { continue };
            for &content in &contents {
                for &block_bytes in &settings.block {
                    let params = Params {
                        direction: Some(self.0),
                        content,
                        ..cells.reads(region, span, Pattern::Sequential, block_bytes)
                    };
                    let most_bytes = if is_writing { written_bytes(spec, block_bytes) } else { 0 };
                    cells.add(params, &spec, settings.max_time, most_bytes);
                }
            }
        }
        Ok(())
    }

    fn run(&self, cell: &SequentialCell, context: &mut CellContext<'_>) -> CellOutcome {
        let planned = cell.span();
        let preconditioned = context.preconditioned(planned);
        let span = preconditioned.unwrap_or(planned);
        let load = stretch::load(cell, context, "data");
        let first = match self.join(cell, span, context) {
            Ok(first) => first,
            Err(tally) => return tally.outcome(cell),
        };
        if self.0 == Direction::Read
            && let Err(error) = context.medium.drop_caches()
        {
            return CellOutcome::broken(cell, error);
        }
        let mut places = cyclic_from(span, cell.block_bytes(), first);
        let is_warm = match warm_up(cell, &load, context, &mut places) {
            Ok(is_warm) => is_warm,
            Err(tally) => return tally.outcome(cell),
        };
        let rule = cell.spec.precision.rule(context.allotted_ns);
        let limits = LoopLimits::certain(rule, context.time_left_ns()).bytes(cell.spec.total_bytes);
        let mut tally = context.drive("measuring", &load, &limits, &mut places);
        if self.0 == Direction::Write && contradicts_prime(&tally, cell.block_bytes(), context.done)
        {
            // Pauses of the medium lie further apart than a short stretch is long.
            let limits = LoopLimits::time(context.time_left_ns())
                .bytes(cell.spec.total_bytes.saturating_sub(tally.bytes));
            let longer = context.drive("measuring", &load, &limits, &mut places);
            if longer.error.is_some() || longer.bytes > tally.bytes {
                tally = longer;
            }
        }
        let mut outcome = tally.outcome(cell);
        outcome.cell.params.span_bytes = Some(span.bytes);
        if !is_warm {
            outcome.cell.without_intervals();
        }
        if preconditioned.is_none() && self.0 == Direction::Read {
            outcome.cell.flags.push(Flag::NotPrimed);
        }
        outcome
    }

    fn shorten(&self, spec: &mut SequentialSpec, round_ns: u64, bps: f64) -> u64 {
        spec.precision = Precision::of_round(round_ns);
        if self.0 == Direction::Read {
            let enough_bytes = (bps * round_ns as f64 / 1e9).round() as u64;
            spec.total_bytes = spec.total_bytes.max(enough_bytes);
        }
        0
    }
}

/// True if writes that converged early are surely faster or slower than the same ones of `prime`.
fn contradicts_prime(tally: &IoTally, block_bytes: u64, done: &[Cell]) -> bool {
    let is_prime = |before: &&Cell| {
        before.test == test::PRIME && before.params.block_bytes == Some(block_bytes)
    };
    let ends = |metrics: &Metrics| metrics.bps.and_then(|bps| bps.ci95);
    let prime = done.iter().rev().find(is_prime).and_then(|cell| ends(&cell.metrics));
    let differs = |[low, high]: [f64; 2], [from, to]: [f64; 2]| to < low || high < from;
    tally.stop == Stop::Converged
        && prime.zip(ends(&tally.metrics())).is_some_and(|(prime, now)| differs(prime, now))
}

/// Most bytes that a cell writes.
fn written_bytes(spec: SequentialSpec, block_bytes: u64) -> u64 {
    let warm_up_bytes = if spec.warm_up_ns.is_some() { CACHE_FILL_BYTES + block_bytes } else { 0 };
    // 120 KiB do not divide a MiB: the last I/O is whole.
    spec.total_bytes.next_multiple_of(block_bytes)
        + spec.boundary_bytes.unwrap_or(0)
        + warm_up_bytes
}

#[cfg(test)]
mod tests {

    use crate::catalogue::testing::{cached_card, cached_card_us, run_profile, run_simulated};

    /// While the cache has room it accepts more than it holds, and earlier writes up to the
    /// boundary leave it sooner than the counted ones.
    #[test]
    fn a_cache_is_full_of_the_same_writes_before_they_count() {
        let tests = [
            "prime passes=1",
            "sequential-write begin=after warm_up=400ms certainty=5% min_time=1s max_time=6s block=4KiB,8KiB,64KiB",
        ];
        let cells = run_profile(&cached_card(), None, 1, &tests);
        let off = cells[1..].iter().map(|cell| {
            let bytes = cell.params.block_bytes.unwrap_or(0);
            cell.metrics.iops.expect("it wrote").value * cached_card_us(bytes) / 1e6 - 1.0
        });
        let off: Vec<f64> = off.collect();
        assert!(off.iter().all(|off| off.abs() < 0.005), "{off:?}");
    }

    #[test]
    fn no_half_full_allocation_unit_weighs_on_a_short_measurement() {
        let rates = |begin: &str| {
            let test =
                format!("sequential-write block=8KiB,16KiB,64KiB certainty=5% min_time=1s {begin}");
            let tests = ["prime passes=1", "sequential-write block=4KiB max_time=4s", &test];
            let rate = |cell: &record::Cell| cell.metrics.bps.expect("it wrote").value / 1e6;
            run_simulated("class10", 1, &tests)[2..].iter().map(rate).collect::<Vec<_>>()
        };
        // 4.82, 6.31 and 8.21 MB/s for ever.
        let found = rates("begin=after");
        let off = found.iter().zip([4.82, 6.31, 8.21]).map(|(found, truth)| found / truth - 1.0);
        assert!(off.into_iter().all(|off| off.abs() < 0.05), "{found:?}");
        let front = rates("begin=front");
        assert!(front.iter().zip(&found).any(|(front, found)| *front < 0.95 * found), "{front:?}");
    }
}
