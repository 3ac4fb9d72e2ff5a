//! `random-write`: single writes at random places, at 512 B, 4, 16 and 64 KiB; the first fast
//! writes and the steady level are measured separately.
//!
//! The result is that of iozone's full pass (each record of 512 MiB once, in random order;
//! docs/field/iozone.md#single-file), which takes up to 36 hours on slow media, so it is sampled
//! (docs/field/statistics.md#sampling-random-writes):
//!
//! 0. *Settle*: a flush and four sequential writes wait for deferred work of earlier tests.
//! 1. *Filling caches*: single writes, each in another allocation unit, until everything that makes
//!    the first ones fast is used up. They count as burst only.
//! 2. *Measure*: the beginning of a random permutation of the span's records. Its writes come in
//!    the order of the full pass, so they fall into an allocation unit that is still open exactly
//!    as often as there (open units over all units). A stratified order would avoid open units, and
//!    its correction would need their number; the random order only has slightly more spread, which
//!    the interval shows. A fast medium completes the permutation: then the result is the full
//!    pass.
//! 3. *Settle* again: the same wait for work that the medium has deferred (the debt). All writes
//!    since the first settling over all the time with the debt are the *paid* rate, whatever was in
//!    a cache meanwhile; if that is lower, the medium hid work, and it is the result. A debt no
//!    longer than the slowest write counts as none: settling may include a slow write like any
//!    other.
//!
//! 4. *Again*: in a small span the last places once more, to see if a cache combines writes
//!    (`rewrite_check.rs`); then the result is a lower bound of the span.
//!
//! Metrics: `again_iops`, `iops` and `bps` (sustained), `latency_ns`, `burst_iops` (before the
//! steady level), `worst_stall_ns` (of both phases), `debt_ns` (time of settling beyond one write),
//! `paid_iops`, `full_pass_s` (seconds for 512 MiB).

mod debt;

use debt::{SETTLING_BLOCK_BYTES, SETTLING_OPS};
use device::Extent;
use record::{Bound, Cell, Flag, WIDE_BYTES};
use stats::StopRule;

use super::prelude::*;
use super::stretch;
use crate::IoTally;
use crate::catalogue::level::{CACHE_FILL_MERGES, CACHE_FILL_OPS, LatencyLevel};
use crate::catalogue::preconditioned_span::preconditioned_span;
use crate::catalogue::rewrite_check::{self, LatestPlaces};
use crate::io_loop::{IoLoad, LoopLimits};
use crate::observed_cache::CACHED_PAGE_BYTES;
use crate::offsets::{Stratified, once_each};
use crate::stop_rule::Precision;
use stats::inverse;

settings! {
    RandomWriteSettings {
        block: Blocks = "512,4KiB,16KiB,64KiB", "sizes of a write";
        span: Spans = "512MiB", "spans of the random writes";
        region: RegionWords(["middle", "front", "whole"]) = "middle", "middle, front or whole";
        content: DataKinds = "incompressible", "zeros, repeated, incompressible";
        overwhelm: Size = "65MiB",
            "bytes to write before measuring, to fill caches, if time allows";
        overwhelm_time: Share = "30%", "share of the time for that";
        threads: Counts = "1", "writes in flight";
        certainty: Share = "5%", "stop when the interval is this narrow";
        slow_certainty: Share = "10%", "the same, where 1000 writes take more than 30 s";
        min_time: Time = "3s", "least time per size";
        max_time: Time = "180s", "time limit per size";
        total: Size = "512MiB", "bytes per size, at most";
    }
}

spec! {
    /// Numbers of random writes of one size.
    RandomWriteSpec {
        /// Each of the first writes goes to another unit of this size.
        au_bytes: u64,
        /// Bytes written before measuring, or up to as many as the next...
        overwhelm_bytes: u64,
        overwhelm_max_bytes: u64,
        /// ...in this share of the time.
        overwhelm_time: f64,
        total_bytes: u64,
        /// The relative half-width of the interval that is enough if there is no time for more.
        slow_certainty: f64,
        ..precision: Precision,
    }
}

/// Writes at random places, a cell for each region, span, content, block size and thread count.
pub struct RandomWrite;

/// Assumed allocation unit in bytes if the medium declares none
/// (docs/field/allocation-units.md#known-sizes: commonly 4 MiB).
const GUESSED_AU_BYTES: u64 = 4 * MIB;
/// Share of the time for filling caches while writes are as fast as a cache's.
const FAST_FILL_SHARE: f64 = 0.5;
/// Least number of measured writes on a fast medium, so that rare slow ones are likely among them:
/// writes that were not seen hardly widen an interval. A medium that takes longer than this for so
/// many does as many as it can in that time and at most half as many more, with a wider interval.
/// Its interval allows for rare slow writes that were not seen; 80 writes keep 95 % of the results
/// within 10 % of the full pass (docs/truth.md); with the 120 of
/// docs/field/statistics.md#sampling-random-writes `standard` would not end in time.
const FAST_MIN_OPS: u64 = 1000;
const FAST_MIN_NS: u64 = 30 * SECOND_NS;
const SLOW_MIN_OPS: u64 = 80;
/// Most bytes that a round measures.
const ROUND_BYTES: u64 = 64 * MIB;
/// Bytes of a full pass (docs/field/iozone.md#single-file).
const FULL_PASS_BYTES: u64 = 512 * MIB;
/// Ratio of IOPS at 4 KiB to those at 16 KiB above which small writes take another path: it is at
/// most four on a medium that treats both alike; a quarter more is not noise
/// (docs/field/statistics.md#sampling-random-writes).
const BYPASS_RATIO: f64 = 5.0;

impl Procedure for RandomWrite {
    type Settings = RandomWriteSettings;
    type Spec = RandomWriteSpec;

    fn entry(&self) -> Entry {
        Entry {
            name: test::RANDOM_WRITE,
            about: "random writes: burst IOPS, sustained IOPS, slowest write",
            source: "docs/field/statistics.md#stop-rule, docs/field/statistics.md#sampling-random-writes",
            needs: Needs::WRITING,
        }
    }

    fn plan(&self, settings: &Self::Settings, cells: &mut Cells<'_, RandomWriteSpec>) -> Planned {
        for &region in &settings.region {
            for wanted in &settings.span {
                let Some(span) = cells.span(wanted, region)? else { continue };
                for &content in &settings.content {
                    for (block_bytes, threads) in blocks_and_threads(settings, cells) {
                        let pattern = Pattern::Permutation;
                        let writes = cells.writes(region, span, pattern, block_bytes);
                        let params = Params { threads, content: Some(content), ..writes };
                        plan_cell(settings, params, span, cells);
                    }
                }
            }
        }
        Ok(())
    }

    fn run(&self, cell: &TypedCell<RandomWriteSpec>, context: &mut CellContext<'_>) -> CellOutcome {
        let planned = cell.span();
        let (span, caveat) = preconditioned_span(cell, context);
        let shrunk = (span.bytes < planned.bytes).then_some(Flag::PartlyPrimed {
            primed_bytes: span.bytes,
            wanted_bytes: planned.bytes,
        });
        let mut work = Work { cell, span, context, outcome: CellOutcome::new(cell) };
        work.outcome.cell.params.span_bytes = Some(span.bytes);
        work.outcome.cell.flags.extend(caveat.or(shrunk));
        // What little was primed is no more than an upper bound of the span that was wanted.
        if span.bytes < WIDE_BYTES.min(planned.bytes) {
            work.outcome.cell.flag_transient(Bound::AtMost);
        }
        work.do_it();
        work.outcome
    }

    fn shorten(&self, spec: &mut RandomWriteSpec, round_ns: u64, _bps: f64) -> u64 {
        let most_bytes = spec.total_bytes.min(ROUND_BYTES);
        let fewer_bytes = std::mem::replace(&mut spec.total_bytes, most_bytes) - most_bytes;
        (spec.precision, spec.slow_certainty) = (Precision::of_round(round_ns), 1.0);
        fewer_bytes
    }
}

/// Every size with every number of writes in flight that the medium can take.
fn blocks_and_threads(
    settings: &RandomWriteSettings,
    cells: &mut Cells<'_, RandomWriteSpec>,
) -> Vec<(u64, u32)> {
    let mut pairs = Vec::new();
    for &threads in &settings.threads {
        match cells.target.takes_at_once(threads) {
            Err(reason) => cells.skip(reason),
            Ok(()) => pairs.extend(settings.block.iter().map(|block| (*block, threads))),
        }
    }
    pairs
}

/// Plans one cell. It may write the bytes of filling caches, measuring and settling.
fn plan_cell(
    settings: &RandomWriteSettings,
    params: Params,
    span: Extent,
    cells: &mut Cells<'_, RandomWriteSpec>,
) {
    let block_bytes = params.block_bytes.unwrap_or_default();
    if !cells.fits(block_bytes, span.bytes) {
        return;
    }
    let whole_blocks = |bytes: u64| (bytes / block_bytes).max(1) * block_bytes;
    let spec = RandomWriteSpec {
        au_bytes: cells.target.au_bytes.unwrap_or(GUESSED_AU_BYTES),
        overwhelm_bytes: settings.overwhelm,
        overwhelm_max_bytes: whole_blocks(2 * settings.overwhelm) + CACHE_FILL_OPS * block_bytes,
        overwhelm_time: settings.overwhelm_time,
        total_bytes: whole_blocks(settings.total.min(span.bytes)),
        slow_certainty: settings.slow_certainty,
        precision: Precision { certainty: settings.certainty, min_ns: settings.min_time },
    };
    let settling_bytes = 2 * SETTLING_OPS * SETTLING_BLOCK_BYTES;
    let written_bytes = spec.overwhelm_max_bytes
        + spec.total_bytes
        + settling_bytes
        + rewrite_check::most_ops(block_bytes) * block_bytes;
    cells.add(params, &spec, settings.max_time, written_bytes);
}

/// A cell being measured.
struct Work<'a, 'b> {
    cell: &'a TypedCell<RandomWriteSpec>,
    span: Extent,
    context: &'a mut CellContext<'b>,
    outcome: CellOutcome,
}

impl Work<'_, '_> {
    fn do_it(&mut self) {
        // What earlier tests put off is theirs: it is waited for before, in the same way as
        // afterwards.
        if self.settle(0).is_none() {
            return;
        }
        let (before, level) = self.fill_cache();
        self.outcome.cell.series.push(before.rate_series("rate while caches fill"));
        self.outcome.end(before.stop, before.error.clone());
        if self.outcome.is_over() {
            return self.note_burst(&level, None);
        }
        let mut latest = LatestPlaces::default();
        let sustained = self.measure(&level, &mut latest);
        // Noise alone makes two groups of writes differ; that it had not found its level shows in
        // the measurement.
        let was_falling = !level.is_stable()
            && sustained.flags().iter().any(|flag| matches!(flag, Flag::Drifting { .. }));
        if was_falling || before.ops < CACHE_FILL_MERGES {
            let text = format!(
                "the time was enough for only {} writes before measuring; its caches may not have been full",
                before.ops
            );
            self.outcome.cell.flags.push(Flag::Note { text });
        }
        self.note_burst(&level, mean_ns(&sustained));
        self.conclude(&before, sustained, &latest);
    }

    fn load(&self, block_bytes: u64, purpose: &str) -> IoLoad {
        IoLoad { block_bytes, ..stretch::load(self.cell, self.context, purpose) }
    }

    /// Makes single writes, each in another allocation unit, until enough bytes are written and the
    /// latency is steady.
    fn fill_cache(&mut self) -> (IoTally, LatencyLevel) {
        let block_bytes = self.cell.block_bytes();
        let mut order = Stratified::new(
            self.span,
            self.cell.spec.au_bytes,
            block_bytes,
            self.context.random("overwhelm"),
        );
        let max_bytes = self.cell.spec.overwhelm_max_bytes;
        let enough_bytes =
            self.cell.spec.overwhelm_bytes.max(self.kept_back_bytes()).min(max_bytes);
        let share = self.cell.spec.overwhelm_time;
        self.context.part(0.0, share);
        let share_ns = |share: f64| (self.context.allotted_ns as f64 * share) as u64;
        let (enough_ns, max_ns) = (share_ns(share), share_ns(share.max(FAST_FILL_SHARE)));
        let limits = LoopLimits { max_bytes, ..LoopLimits::time(max_ns) };
        let mut level = LatencyLevel::default();
        let (mut bytes_done, mut took_ns) = (0, 0);
        let mut watch = |bytes, latency_ns| {
            (bytes_done, took_ns) =
                (bytes_done + CACHED_PAGE_BYTES.max(bytes), took_ns + latency_ns);
            level.push(latency_ns);
            let is_late = took_ns >= enough_ns && !level.may_be_cached(block_bytes);
            is_late || level.is_cache_full(block_bytes, bytes_done, enough_bytes)
        };
        let load = self.load(block_bytes, "data for filling caches");
        let tally = self.context.drive_watched(
            "overwhelming",
            &load,
            &limits,
            &mut |_| order.next(),
            &mut watch,
        );
        (tally, level)
    }

    /// Writes the beginning of a random permutation of the span's records.
    fn measure(&mut self, level: &LatencyLevel, latest: &mut LatestPlaces) -> IoTally {
        let block_bytes = self.cell.block_bytes();
        let expected_ns = level.latest_ns();
        let settling_ns = (expected_ns * (2 + SETTLING_OPS)).min(self.context.allotted_ns / 4);
        let left_ns = self.context.time_left_ns().saturating_sub(settling_ns).max(1);
        self.context.part(1.0 - left_ns as f64 / self.context.allotted_ns.max(1) as f64, 1.0);
        let rule = self.rule(FAST_MIN_NS.min(left_ns) / expected_ns.max(1));
        // A medium that has shown a rare slow write may need hours for its certainty.
        let is_slow = rule.min_events < FAST_MIN_OPS;
        let (max_ops, max_ns) = if is_slow {
            (rule.min_events * 3 / 2, left_ns)
        } else {
            (u64::MAX, left_ns.min(FAST_MIN_NS * 3 / 2))
        };
        let limits = LoopLimits {
            max_ops,
            max_bytes: self.cell.spec.total_bytes,
            ..LoopLimits::certain(rule, max_ns)
        };
        let load = IoLoad { in_flight: self.cell.params.threads, ..self.load(block_bytes, "data") };
        let mut order = once_each(self.span, block_bytes, self.context.random("order"));
        self.context.drive("measuring", &load, &limits, &mut |slot| {
            order(slot).inspect(|place| latest.push(*place))
        })
    }

    /// The stop rule for a medium that has time for so many writes.
    fn rule(&self, affordable_ops: u64) -> StopRule {
        let min_events = affordable_ops.clamp(SLOW_MIN_OPS, FAST_MIN_OPS);
        let RandomWriteSpec { slow_certainty, mut precision, .. } = self.cell.spec;
        if min_events < FAST_MIN_OPS {
            precision.certainty = slow_certainty;
        }
        StopRule { min_events, ..precision.rule(self.context.allotted_ns) }
    }

    /// Adds the rate before the steady level to the cell.
    fn note_burst(&mut self, level: &LatencyLevel, settled_ns: Option<f64>) {
        if let Some(burst) = level.burst(settled_ns) {
            self.outcome.cell.metrics.add(metric::BURST_IOPS, burst);
        }
    }

    fn conclude(&mut self, before: &IoTally, tally: IoTally, latest: &LatestPlaces) {
        let is_full_pass = tally.bytes + self.cell.block_bytes() > self.span.bytes;
        let (ops, busy_ns, worst_ns) =
            (tally.ops, tally.busy_ns, tally.worst_ns.max(before.worst_ns));
        let mean_ns = mean_ns(&tally);
        let was_cut_short = tally.stop.cut_short();
        let cell = &mut self.outcome.cell;
        // All of it was done: whatever the rate did meanwhile, that is the full pass.
        let is_moot = |flag: &Flag| {
            is_full_pass && matches!(flag, Flag::NotConverged { .. } | Flag::Drifting { .. })
        };
        cell.flags.extend(tally.flags().into_iter().filter(|flag| !is_moot(flag)));
        cell.series.extend([tally.rate_series("rate"), tally.stall_series()]);
        let other = std::mem::replace(&mut cell.metrics, tally.metrics()).other;
        cell.metrics.other.extend(other);
        cell.metrics.put(metric::WORST_STALL_NS, worst_ns as f64, ops + before.ops);
        self.outcome.absorb(tally);
        if let (false, Some(mean_ns)) = (self.outcome.is_over(), mean_ns)
            && let Some(settling_ns) = self.settle(1)
        {
            // One allocation unit is opened for the sequential writes; any random write pays for
            // that too, so it is no debt.
            let debt_ns = (settling_ns - mean_ns.max(self.waited_for_room_ns(mean_ns))).max(0.0);
            let is_debt = debt_ns > worst_ns as f64;
            let all_ns = (before.busy_ns + busy_ns) as f64 + if is_debt { debt_ns } else { 0.0 };
            let paid_iops = (before.ops + ops) as f64 * 1e9 / all_ns;
            self.use_paid_rate(debt_ns, if is_debt { paid_iops } else { f64::INFINITY }, ops);
            self.flag_kept_back(before.bytes);
        }
        if !was_cut_short && !is_full_pass {
            let load = self.load(self.cell.block_bytes(), "data written again");
            rewrite_check::check(
                &mut self.outcome.cell,
                self.span.bytes,
                before.bytes,
                latest,
                &load,
                self.context,
            );
        }
        self.estimate_full_pass();
        self.compare_with_smaller();
    }

    /// Adds the time of iozone's full pass of 512 MiB.
    fn estimate_full_pass(&mut self) {
        let records = (FULL_PASS_BYTES / self.cell.block_bytes()) as f64;
        let metrics = &mut self.outcome.cell.metrics;
        if let Some(iops) = metrics.iops {
            metrics.add(metric::FULL_PASS_S, inverse(records, iops));
        }
    }

    /// Flags a medium that treats small writes differently, once both sizes are known.
    fn compare_with_smaller(&mut self) {
        if self.cell.block_bytes() != 16 * KIB {
            return;
        }
        let same_place = |cell: &&Cell| {
            let (a, b) = (&cell.params, &self.outcome.cell.params);
            cell.test == self.cell.test
                && a.block_bytes == Some(4 * KIB)
                && (a.span_offset_bytes, a.span_bytes, a.content, a.threads)
                    == (b.span_offset_bytes, b.span_bytes, b.content, b.threads)
        };
        let small = self.context.done.iter().find(same_place).and_then(|cell| cell.metrics.iops);
        if let (Some(small), Some(large)) = (small, self.outcome.cell.metrics.iops) {
            let ratio = small.value / large.value;
            if ratio > BYPASS_RATIO {
                self.outcome.cell.flags.push(Flag::SmallWriteBypass { ratio });
            }
        }
    }
}

fn mean_ns(tally: &IoTally) -> Option<f64> {
    (tally.ops > 0).then(|| tally.busy_ns as f64 / tally.ops as f64)
}

#[cfg(test)]
mod tests;
