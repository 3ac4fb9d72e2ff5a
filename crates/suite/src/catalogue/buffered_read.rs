//! `buffered-read`: hdparm's -t, -t --direct and -T (docs/field/classic-tools.md#hdparm).
//!
//! - form "device" (`hdparm -t`): sequential reads of 2 MiB from the start, through the page cache,
//!   for at least 3 s or to the end;
//! - form "direct" (`hdparm -t --direct`): the same past the page cache;
//! - form "cache" (`hdparm -T`): the same 2 MiB over and over for at least 2 s. That is the speed
//!   of page cache, memory and processor, never the medium's, and is flagged so. hdparm takes off
//!   the cost of its lseek; there is none here.
//!
//! Before each run caches are dropped, and before those of the first two 3 s pass, as in hdparm. In 25 of 43
//! published result files the first run is 1.5 to 7.7 times the others: it is discarded (and kept
//! as `first_run_bps`), the median of the others is reported.
//!
//! Units: hdparm's "MB" are 2^20 bytes, other tools' 10^6. Results here are in bytes per second.

use device::{Device, Extent, IoError};
use record::{Estimate, Flag, Path, Stop};
use stats::{Interval, mean_interval, median, quantile_ranks};

use super::preconditioned_span::preconditioned_span;
use super::prelude::*;
use super::stretch::rest;
use crate::io_loop::{IoLoad, LoopLimits};
use crate::offsets::{cyclic, sequential};
use crate::{IoTally, SettingError};
use stats::latency;

settings! {
    BufferedReadSettings {
        form: Words(["device", "direct", "cache"]) = "device,direct,cache",
            "device (-t), direct (-t --direct), cache (-T)";
        offset: Place = "0", "where to begin";
        runs: Count = "3", "runs that count, after one that does not";
        pause: Time = "3s", "pause before each run of device and direct";
    }
}

spec! {
    /// Runs of one form.
    BufferedReadSpec {
        /// Runs that count.
        runs: u64,
        run_ns: u64,
        /// Pause before each.
        pause_ns: u64,
    }
}

/// Size of one read: as large as hdparm's buffer.
const BLOCK_BYTES: u64 = 2 * MIB;
/// Least time of `-t`, in nanoseconds.
const DEVICE_NS: u64 = 3 * SECOND_NS;
/// Least time of `-T`, in nanoseconds.
const CACHE_NS: u64 = 2 * SECOND_NS;
/// Time in nanoseconds by which the last read of a run may exceed its time.
const OVERTIME_NS: u64 = SECOND_NS / 2;

/// Reads as hdparm's -t, -t --direct and -T do, a cell for each of these forms.
pub struct BufferedRead;

impl Procedure for BufferedRead {
    type Settings = BufferedReadSettings;
    type Spec = BufferedReadSpec;

    fn entry(&self) -> Entry {
        Entry {
            name: test::BUFFERED_READ,
            about: "reads like hdparm -t, -t --direct and -T; the first run is discarded, the median of the others counts",
            source: "docs/field/classic-tools.md#hdparm",
            needs: Needs::READING,
        }
    }

    fn plan(&self, settings: &Self::Settings, cells: &mut Cells<'_, BufferedReadSpec>) -> Planned {
        let target = cells.target;
        let region = if target.is_bounded() { Region::Middle } else { Region::Front };
        let Some(whole) = cells.region(region, u64::MAX) else { return Ok(()) };
        let span = from(settings.offset, whole, cells)?;
        let runs = settings.runs.min(100);
        for form in &settings.form {
            if *form != "direct" && !target.facts.has_page_cache {
                cells.skip(format!("form {form} needs a page cache; there is none here"));
                continue;
            }
            let (run_ns, pause_ns) =
                if *form == "cache" { (CACHE_NS, 0) } else { (DEVICE_NS, settings.pause) };
            let block_bytes = BLOCK_BYTES.min(span.bytes);
            let params = Params {
                path: if *form == "direct" { Path::Direct } else { Path::Buffered },
                form: Some((*form).into()),
                ..cells.reads(region, span, Pattern::Sequential, block_bytes)
            };
            let each_ns = run_ns.saturating_add(pause_ns).saturating_add(OVERTIME_NS);
            let spec = BufferedReadSpec { runs, run_ns, pause_ns };
            cells.add(params, &spec, (runs + 1) * each_ns, 0);
        }
        Ok(())
    }

    /// Metrics: `bps` (median of the runs, with their interval), `run_1_bps` and on,
    /// `first_run_bps` (discarded), `latency_ns` of the runs that count.
    fn run(
        &self,
        cell: &TypedCell<BufferedReadSpec>,
        context: &mut CellContext<'_>,
    ) -> CellOutcome {
        let (span, caveat) = preconditioned_span(cell, context);
        let cached = cell.form() == "cache";
        let schedule = schedule(cell.spec, context.allotted_ns);
        let mut outcome = CellOutcome::new(cell);
        let (mut rates, mut worst_ns) = (Vec::new(), 0);
        for number in 0..=schedule.runs {
            let tally = match one_run(cell, span, &schedule, context) {
                Ok(tally) => tally,
                Err(error) => {
                    outcome.end(Stop::Error, Some(error));
                    break;
                }
            };
            let over = tally.stop.cut_short();
            let name =
                if number == 0 { "first_run_bps".to_owned() } else { format!("run_{number}_bps") };
            if let Some(bps) = tally.metrics().bps {
                outcome.cell.metrics.other.insert(name, bps);
                rates.extend((number > 0 && !over).then_some(bps.value));
            }
            if number > 0 || over {
                worst_ns = worst_ns.max(tally.worst_ns);
                outcome.absorb(tally);
            }
            if over {
                break;
            }
        }
        outcome.cell.params.span_bytes = Some(span.bytes);
        outcome = summary(outcome, &mut rates, worst_ns);
        outcome.cell.flags.extend(cached.then_some(Flag::Cached));
        outcome.cell.flags.extend(caveat.filter(|_| !cached));
        outcome
    }
}

/// Part of `span` behind the requested offset.
fn from(
    offset: u64,
    span: Extent,
    cells: &Cells<'_, BufferedReadSpec>,
) -> Result<Extent, SettingError> {
    let block = cells.target.facts.logical_block_bytes.max(1);
    if !offset.is_multiple_of(block) {
        let why = format!("{offset} is no multiple of {}, the unit of the medium", Bytes(block));
        return Err(cells.bad("offset", why));
    }
    if offset >= span.bytes {
        return Err(cells.bad("offset", format!("only {} are available", Bytes(span.bytes))));
    }
    Ok(Extent::new(span.offset_bytes + offset, span.bytes - offset))
}

/// Number and times of the runs. If the cell gets less time than it wants, every run gets less, so
/// that all can be done.
fn schedule(planned: BufferedReadSpec, allotted_ns: u64) -> BufferedReadSpec {
    let share_ns = allotted_ns / (planned.runs + 1);
    let run_ns = planned.run_ns.min(share_ns);
    BufferedReadSpec { run_ns, pause_ns: planned.pause_ns.min(share_ns - run_ns), ..planned }
}

/// One run as hdparm does it. An `Err` if the caches could not be dropped.
fn one_run(
    cell: &TypedCell<BufferedReadSpec>,
    span: Extent,
    schedule: &BufferedReadSpec,
    context: &mut CellContext<'_>,
) -> Result<IoTally, IoError> {
    let block_bytes = cell.block_bytes().min(span.bytes);
    let load = IoLoad { path: cell.params.path, ..IoLoad::read(block_bytes) };
    context.medium.drop_caches()?;
    if cell.form() == "cache" {
        let limits = LoopLimits::time(schedule.run_ns.min(context.time_left_ns()));
        let same = Extent::new(span.offset_bytes, block_bytes);
        return Ok(context.drive(
            "reading the cache",
            &load,
            &limits,
            &mut cyclic(same, block_bytes),
        ));
    }
    rest(schedule.pause_ns, context);
    let limits = LoopLimits::time(schedule.run_ns.min(context.time_left_ns()));
    Ok(context.drive("measuring", &load, &limits, &mut sequential(span, block_bytes)))
}

/// Adds the result of all runs.
fn summary(mut outcome: CellOutcome, rates: &mut [f64], worst_ns: u64) -> CellOutcome {
    outcome.cell.metrics.bps = typical(rates);
    outcome.cell.metrics.latency_ns =
        outcome.cell.histogram.as_ref().map(|histogram| latency(histogram, worst_ns));
    outcome
}

/// The median of the runs. Its interval is from order statistics if there are enough runs (6),
/// otherwise Student's for their mean; the median of so few runs is never outside of that.
fn typical(rates: &mut [f64]) -> Option<Estimate> {
    let value = median(rates)?;
    rates.sort_unstable_by(f64::total_cmp);
    let n = rates.len() as u64;
    let ranked = quantile_ranks(n, 0.5, 0.95)
        .map(|(low, high)| [rates[low as usize - 1], rates[high as usize - 1]]);
    let ci95 = ranked
        .or_else(|| mean_interval(rates).map(|(_, Interval { low, high })| [low.max(0.0), high]));
    Some(Estimate { value, ci95, n })
}
