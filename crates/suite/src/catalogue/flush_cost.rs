//! `flush-cost`: time to make writes durable, and its plausibility
//! (docs/field/cheats.md#cheats-and-caches).
//!
//! Single sequential writes with a rest after each, so that a cache has time to empty and none of
//! them waits for another: alone (*plain*), with a flush after each (*flushed*), and as writes that
//! are durable when they are done (*durable*, O_DSYNC). A medium without a cache does all three
//! equally fast; one with an honest cache takes as long with a flush as without the cache. One that
//! makes data durable faster than it can write for long has not done it: `durable_bps` at 1 MiB
//! against the rate of `sustained`.
//!
//! Parameters of a cell: `form`, `block_bytes`, `sync`. Metrics: `latency_ns` of the writes, and as
//! medians `write_ns`, `flush_ns`, `idle_flush_ns` (of flushes with nothing to do; *flushed* only);
//! `durable_bps` (a block over write and flush; not for *plain*).

use record::{Estimate, Stop, Sync};
use stats::{median, quantile_ranks};

use super::prelude::*;
use super::stretch;
use crate::io_loop::LoopLimits;
use crate::offsets::cyclic;
use stats::latency;

settings! {
    FlushCostSettings {
        block: Blocks = "4KiB,1MiB", "sizes of a write";
        form: Words([PLAIN, FLUSHED, DURABLE]) = "plain,flushed,durable", "which of them";
        rounds: Count = "24", "writes of each";
        rest: Time = "200ms", "time without I/O after each write";
        max_time: Time = "15s", "time limit for each";
    }
}

spec! {
    /// Numbers of single writes.
    FlushCostSpec {
        rounds: u64,
        /// Pause after each, in nanoseconds.
        rest_ns: u64,
    }
}

/// Bytes in the middle in which it writes.
const SPAN_BYTES: u64 = 64 * MIB;

/// Times single writes alone, flushed and durable, a cell for each block size and form.
pub struct FlushCost;

const PLAIN: &str = "plain";
const FLUSHED: &str = "flushed";
const DURABLE: &str = "durable";

/// Number of flushes with nothing to do.
const IDLE_FLUSHES: u32 = 8;
/// Writes before those that count: they close units that were open before.
const WARM_UP_ROUNDS: u64 = 2;

impl Procedure for FlushCost {
    type Settings = FlushCostSettings;
    type Spec = FlushCostSpec;

    fn entry(&self) -> Entry {
        Entry {
            name: test::FLUSH_COST,
            about: "single writes without a flush, with a flush after each, and durable ones",
            source: "docs/field/cheats.md#cheats-and-caches",
            needs: Needs::WRITING,
        }
    }

    fn plan(&self, settings: &Self::Settings, cells: &mut Cells<'_, FlushCostSpec>) -> Planned {
        let Some(span) = cells.region(Region::Middle, SPAN_BYTES) else { return Ok(()) };
        let spec = FlushCostSpec { rounds: settings.rounds, rest_ns: settings.rest };
        for &block_bytes in &settings.block {
            if !cells.fits(block_bytes, span.bytes) {
                continue;
            }
            for form in &settings.form {
                let params = Params {
                    form: Some((*form).into()),
                    sync: if *form == DURABLE { Sync::Data } else { Sync::None },
                    ..cells.writes(Region::Middle, span, Pattern::Sequential, block_bytes)
                };
                let written_bytes = (spec.rounds + WARM_UP_ROUNDS) * block_bytes;
                cells.add(params, &spec, settings.max_time, written_bytes);
            }
        }
        Ok(())
    }

    fn run(&self, cell: &TypedCell<FlushCostSpec>, context: &mut CellContext<'_>) -> CellOutcome {
        let mut work = Work {
            cell,
            context,
            outcome: CellOutcome::new(cell),
            write_ns: Vec::new(),
            flush_ns: Vec::new(),
            idle_flush_ns: Vec::new(),
        };
        work.do_it();
        work.conclude()
    }
}

/// A cell being measured; times in nanoseconds.
struct Work<'a, 'b> {
    cell: &'a TypedCell<FlushCostSpec>,
    context: &'a mut CellContext<'b>,
    outcome: CellOutcome,
    write_ns: Vec<f64>,
    flush_ns: Vec<f64>,
    idle_flush_ns: Vec<f64>,
}

impl Work<'_, '_> {
    fn is_flushed(&self) -> bool {
        self.cell.form() == FLUSHED
    }

    fn do_it(&mut self) {
        let load = stretch::load(self.cell, self.context, "data");
        let mut places = cyclic(self.cell.span(), self.cell.block_bytes());
        let FlushCostSpec { rounds, rest_ns } = self.cell.spec;
        // Nothing is owed when it begins, and what a flush takes that has nothing to do is known.
        if self.flush().is_none() {
            return;
        }
        for number in 0..if self.is_flushed() { IDLE_FLUSHES } else { 0 } {
            // Where a flush takes long, what follows needs the time more.
            if number > 0 && self.context.time_left_ns() < self.context.allotted_ns / 4 * 3 {
                break;
            }
            let Some(ns) = self.flush() else { return };
            self.idle_flush_ns.push(ns);
        }
        for round in 0..rounds + WARM_UP_ROUNDS {
            self.context.part(
                round as f64 / (rounds + WARM_UP_ROUNDS) as f64,
                (round + 1) as f64 / (rounds + WARM_UP_ROUNDS) as f64,
            );
            let left_ns = self.context.time_left_ns();
            if left_ns == 0 {
                return self.outcome.end(Stop::Time, None);
            }
            let limits = LoopLimits::time(left_ns).ops(1);
            let tally = self.context.drive("writing", &load, &limits, &mut places);
            if tally.ops == 0 || round < WARM_UP_ROUNDS {
                self.outcome.end(tally.stop, tally.error);
            } else {
                self.write_ns.push(tally.busy_ns as f64);
                self.outcome.absorb(tally);
            }
            if !self.outcome.is_over()
                && self.is_flushed()
                && let Some(ns) = self.flush()
                && round >= WARM_UP_ROUNDS
            {
                self.flush_ns.push(ns);
            }
            if self.outcome.is_over() {
                return;
            }
            stretch::rest(rest_ns.min(self.context.time_left_ns()), self.context);
            if self.context.must_stop() {
                return self.outcome.end(Stop::Interrupted, None);
            }
        }
        self.outcome.end(Stop::Ops, None);
    }

    /// Time of a flush in nanoseconds; `None` if it failed.
    fn flush(&mut self) -> Option<f64> {
        self.context
            .flush()
            .map(|ns| ns as f64)
            .map_err(|error| self.outcome.end(Stop::Error, Some(error)))
            .ok()
    }

    fn conclude(mut self) -> CellOutcome {
        let is_plain = self.cell.form() == PLAIN;
        let cell = &mut self.outcome.cell;
        let worst_ns = self.write_ns.iter().copied().fold(0.0, f64::max) as u64;
        cell.metrics.latency_ns =
            cell.histogram.as_ref().map(|histogram| latency(histogram, worst_ns));
        let medians = [
            (metric::WRITE_NS, &mut self.write_ns),
            (metric::FLUSH_NS, &mut self.flush_ns),
            (metric::IDLE_FLUSH_NS, &mut self.idle_flush_ns),
        ];
        for (name, samples) in medians {
            cell.metrics
                .other
                .extend(certain_median(samples).map(|figure| (name.to_owned(), figure)));
        }
        let known = |name: &str| cell.metrics.other.get(name).copied();
        if let Some(write) = known(metric::WRITE_NS).filter(|_| !is_plain) {
            let durable =
                durable_bps(self.cell.block_bytes() as f64, write, known(metric::FLUSH_NS));
            cell.metrics.add(metric::DURABLE_BPS, durable);
        }
        self.outcome
    }
}

/// The median with its interval from order statistics; without an interval for fewer than six
/// samples.
fn certain_median(samples: &mut [f64]) -> Option<Estimate> {
    let value = median(samples)?;
    samples.sort_by(f64::total_cmp);
    let n = samples.len() as u64;
    let at = |rank: u64| samples.get(rank.checked_sub(1)? as usize).copied();
    let ci95 = quantile_ranks(n, 0.5, 0.95).and_then(|(low, high)| Some([at(low)?, at(high)?]));
    Some(Estimate { value, ci95, n })
}

/// Bytes of a block over the time to write and flush it: the upper end if both are fastest, the
/// lower end if both are slowest.
fn durable_bps(block_bytes: f64, write_ns: Estimate, flush_ns: Option<Estimate>) -> Estimate {
    let rate = |ns: f64| block_bytes * 1e9 / ns.max(1.0);
    let value = rate(write_ns.value + flush_ns.map_or(0.0, |flush| flush.value));
    let flush_ends = flush_ns.map_or(Some([0.0; 2]), |flush| flush.ci95);
    let ci95 = write_ns
        .ci95
        .zip(flush_ends)
        .map(|(write, flush)| [rate(write[1] + flush[1]), rate(write[0] + flush[0])]);
    Estimate { value, ci95, n: write_ns.n }
}

#[cfg(test)]
mod tests {

    use crate::catalogue::testing::run_simulated;

    #[test]
    fn a_cache_that_lies_is_durable_faster_than_it_can_write() {
        let ratio = |profile: &str| {
            let tests = ["flush-cost block=1MiB form=flushed", "sustained form=first time=30s"];
            let cells = run_simulated(profile, 1, &tests);
            let rate = |name: &str| cells.iter().find_map(|cell| cell.metrics.other.get(name));
            rate("durable_bps").unwrap().value / rate("sustained_bps").unwrap().value
        };
        assert!(ratio("flush-liar") > 1.5, "{}", ratio("flush-liar"));
        for profile in ["class10", "a1", "ssd"] {
            assert!(ratio(profile) < 1.15, "{profile}: {}", ratio(profile));
        }
    }
}
