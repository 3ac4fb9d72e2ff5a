//! `verify`: writes everything, then reads everything and looks at each sector
//! (docs/field/counterfeits.md#f3probe: f3write and f3read).
//!
//! The range is cut into parts. All parts are written before the first is read: a medium that is
//! smaller than it announces, or that answers from a cache, would pass if each part were read right
//! after it was written. Every part is a cell, so a run that was interrupted repeats no finished
//! part, and can estimate the remaining time. A block that cannot be written or read is counted,
//! and the next one follows.
//!
//! # Results
//! For each part a cell of the form "write" and one of the form "read"; `params.other.part` counts
//! from 0. `bps` and latencies of both. "write": `unwritable_sectors`. "read": `good_sectors`,
//! `changed_sectors` (up to 7 wrong bits), `overwritten_sectors` (data that belongs elsewhere, or a
//! write that was never made), `corrupted_sectors` (all others, of which `zero_sectors`,
//! `blank_sectors`, `unreadable_sectors`), and `first_bad_offset_bytes` if any is bad. Sectors have
//! 512 bytes. Series `overwritten by`: the place against the place for which its data was written.

use device::stamp::{SectorVerdict, VerifyCounts as Verdicts};
use device::{Device, Extent, IoErrorKind, SECTOR_BYTES};
use record::units::GIB;
use record::{Flag, PlannedCell, Series, SeriesAxis, Stop, TargetKind};

use super::prelude::*;
use crate::io_loop::{IoLoad, LoopLimits};
use crate::offsets::pieces;

settings! {
    VerifySettings {
        region: RegionWord(["whole", "middle", "front"]) = "whole",
            "whole (a file or --span: all of it), middle or front";
        span: Span = "1GiB", "span of the middle or front";
        block: Block = "1MiB", "size of each write and read";
        parts: Count = "16", "parts that are finished one by one; a resumed run repeats none";
        max_time: Time = "24h", "time limit, shared by the parts";
    }
}

spec! {
    /// A part, numbered from 0 on.
    VerifySpec {
        part: u64,
    }
}

/// The pass in which all parts are written; no other test uses it.
const PASS: u32 = 0x0056_4552;
/// Most errors of single blocks in a part; a medium with more has failed.
const MAX_ERRORS: usize = 1000;
/// Most bytes that a simulated medium may keep in memory.
const MAX_SIMULATED_BYTES: u64 = 4 * GIB;
/// Most points of a series.
const MAX_POINTS: usize = 240;

/// Writes all of a range, then reads it back: a cell for each part and direction.
pub struct Verify;

/// True if this cell writes data that a later one reads back.
pub(crate) fn is_writing(cell: &PlannedCell) -> bool {
    cell.test == test::VERIFY && cell.params.form.as_deref() == Some("write")
}

impl Procedure for Verify {
    type Settings = VerifySettings;
    type Spec = VerifySpec;

    fn entry(&self) -> Entry {
        Entry {
            name: test::VERIFY,
            about: "writes everything and reads it back: counts good, changed, overwritten and corrupted sectors",
            source: "docs/field/counterfeits.md#f3probe",
            needs: Needs { data: true, ..Needs::WRITING },
        }
    }

    fn plan(&self, settings: &Self::Settings, cells: &mut Cells<'_, VerifySpec>) -> Planned {
        let (target, block_bytes, parts) = (cells.target, settings.block, settings.parts.min(1000));
        let max_ns = settings.max_time / (2 * parts);
        let (region, found) = match settings.region {
            Region::Whole if target.is_bounded() => {
                (Region::Middle, cells.span(&settings.span.all(), Region::Middle)?)
            }
            Region::Whole => (Region::Whole, cells.region(Region::Whole, u64::MAX)),
            part => (part, cells.span(&settings.span, part)?),
        };
        let Some(mut span) = found else { return Ok(()) };
        let is_held = target.kind == TargetKind::Simulated && !target.facts.makes_data_anew;
        if is_held && span.bytes > MAX_SIMULATED_BYTES {
            let rest = Bytes(span.bytes - MAX_SIMULATED_BYTES);
            cells.skip(format!("{rest} beyond what a simulated medium holds in memory"));
            span.bytes = MAX_SIMULATED_BYTES;
        }
        let part_bytes = span.bytes.div_ceil(parts).next_multiple_of(block_bytes);
        let part_of = |part: u64| {
            let start = (part * part_bytes).min(span.bytes);
            Extent::new(span.offset_bytes + start, part_bytes.min(span.bytes - start))
        };
        for (direction, form) in [(Direction::Write, "write"), (Direction::Read, "read")] {
            let extents = (0..parts).map(|part| (part, part_of(part)));
            for (part, extent) in extents.filter(|(_, extent)| extent.bytes > 0) {
                let block_bytes = block_bytes.min(extent.bytes);
                let params = Params {
                    direction: Some(direction),
                    form: Some(form.into()),
                    ..cells.writes(region, extent, Pattern::Sequential, block_bytes)
                };
                let written_bytes = if direction == Direction::Write { extent.bytes } else { 0 };
                cells.add(params, &VerifySpec { part }, max_ns, written_bytes);
            }
        }
        Ok(())
    }

    fn run(&self, cell: &TypedCell<VerifySpec>, context: &mut CellContext<'_>) -> CellOutcome {
        if is_writing(cell) { write(cell, context) } else { read(cell, context) }
    }
}

/// Result of going over a part.
struct PartResult {
    outcome: CellOutcome,
    /// Blocks that gave errors.
    unusable: Vec<Extent>,
    /// Bytes of the part that were reached.
    reached_bytes: u64,
}

impl PartResult {
    fn unusable_sectors(&self) -> u64 {
        self.unusable.iter().map(|block| block.bytes / SECTOR_BYTES as u64).sum()
    }
}

/// Goes over a range block by block, and continues after blocks with errors. `look` is called with
/// the data of reads.
fn sweep(
    cell: &TypedCell<VerifySpec>,
    context: &mut CellContext<'_>,
    range: Extent,
    look: &mut dyn FnMut(Extent, &[u8]),
) -> PartResult {
    let writes = is_writing(cell);
    let load = if writes {
        IoLoad { pass: PASS, ..IoLoad::write(cell.block_bytes()) }
    } else {
        IoLoad::read(cell.block_bytes())
    };
    let mut places = pieces(range, cell.block_bytes());
    let mut swept =
        PartResult { outcome: CellOutcome::new(cell), unusable: Vec::new(), reached_bytes: 0 };
    let mut is_first = true;
    loop {
        let mut last = Extent::new(range.offset_bytes, 0);
        let limits = LoopLimits::time(context.time_left_ns()).bytes(range.bytes);
        let mut next = |slot| {
            let place = places(slot);
            last = place.unwrap_or(last);
            place
        };
        let mut tally = match writes {
            true => context.drive("writing", &load, &limits, &mut next),
            false => context.read_back("reading back", &load, &limits, &mut next, look),
        };
        let tolerated = tally.error.as_ref().is_some_and(|error| error.kind == IoErrorKind::Medium)
            && swept.unusable.len() < MAX_ERRORS;
        if tolerated {
            swept.unusable.push(last);
            (tally.error, tally.stop) = (None, Stop::Bytes);
        }
        let failed = tally.error.is_some();
        swept.reached_bytes =
            if failed { last.offset_bytes } else { last.end() } - range.offset_bytes;
        if std::mem::take(&mut is_first) {
            let along = tally.rate_along_span("rate along the span", range.offset_bytes);
            swept.outcome = tally.outcome(cell);
            swept.outcome.cell.series[0] = along;
        } else {
            swept.outcome.absorb(tally);
        }
        if !tolerated {
            return swept;
        }
    }
}

/// Writes a part. The cell's span is the part that was written.
fn write(cell: &TypedCell<VerifySpec>, context: &mut CellContext<'_>) -> CellOutcome {
    let span = cell.span();
    let mut swept = sweep(cell, context, span, &mut |_, _| {});
    if !swept.outcome.is_over()
        && let Err(error) = context.flush()
    {
        swept.outcome.end(Stop::Error, Some(error));
    }
    let unwritable = swept.unusable_sectors() as f64;
    let PartResult { mut outcome, reached_bytes, .. } = swept;
    let sectors = reached_bytes / SECTOR_BYTES as u64;
    outcome.cell.metrics.put("unwritable_sectors", unwritable, sectors);
    if reached_bytes < span.bytes {
        outcome
            .cell
            .flags
            .push(Flag::PartlyPrimed { primed_bytes: reached_bytes, wanted_bytes: span.bytes });
    }
    outcome.cell.params.span_bytes = Some(reached_bytes);
    outcome
}

/// Contents of the sectors of a part.
#[derive(Default)]
struct SectorContents {
    verdicts: Verdicts,
    first_bad_bytes: Option<u64>,
    overwritten_by: Vec<[f64; 2]>,
}

impl SectorContents {
    fn add(&mut self, offset_bytes: u64, verdict: SectorVerdict) {
        self.verdicts.add(verdict);
        if verdict != SectorVerdict::Good {
            self.bad_at(offset_bytes);
        }
        if let SectorVerdict::Overwritten { by_offset_bytes, .. } = verdict {
            self.overwritten_by.push([offset_bytes as f64, by_offset_bytes as f64]);
            // Every second one goes whenever there are too many: what stays lies all over the part.
            if self.overwritten_by.len() >= 2 * MAX_POINTS {
                self.overwritten_by = self.overwritten_by.iter().step_by(2).copied().collect();
            }
        }
    }

    fn bad_at(&mut self, offset_bytes: u64) {
        self.first_bad_bytes =
            Some(self.first_bad_bytes.map_or(offset_bytes, |first| first.min(offset_bytes)));
    }
}

/// Reads back the part as far as it was written.
fn read(cell: &TypedCell<VerifySpec>, context: &mut CellContext<'_>) -> CellOutcome {
    let planned = cell.span();
    let is_part = |done: &&record::Cell| {
        let params = &done.params;
        done.test == cell.test
            && params.form.as_deref() == Some("write")
            && params.span_offset_bytes == Some(planned.offset_bytes)
    };
    let written_bytes = context
        .done
        .iter()
        .find(is_part)
        .and_then(|done| done.params.span_bytes)
        .unwrap_or(0)
        .min(planned.bytes);
    if written_bytes == 0 {
        return CellOutcome::left_out(
            cell,
            "this part was not written, so there is nothing to read back",
        );
    }
    if let Err(error) = context.medium.drop_caches() {
        return CellOutcome::broken(cell, error);
    }
    let (generator, mut account) = (context.generator, SectorContents::default());
    let span = Extent::new(planned.offset_bytes, written_bytes);
    let swept = sweep(cell, context, span, &mut |place, data| {
        generator
            .verify(data, PASS, place.offset_bytes)
            .for_each(|(offset, verdict)| account.add(offset, verdict));
    });
    swept.unusable.iter().for_each(|block| account.bad_at(block.offset_bytes));
    let unreadable = swept.unusable_sectors();
    let PartResult { mut outcome, reached_bytes, .. } = swept;
    outcome.cell.params.span_bytes = Some(reached_bytes);
    add_results(&mut outcome, account, unreadable);
    outcome
}

fn add_results(outcome: &mut CellOutcome, account: SectorContents, unreadable: u64) {
    let SectorContents { verdicts, first_bad_bytes, mut overwritten_by } = account;
    let n = verdicts.sectors() + unreadable;
    let figures = [
        (metric::GOOD_SECTORS, verdicts.good),
        (metric::CHANGED_SECTORS, verdicts.changed),
        (metric::OVERWRITTEN_SECTORS, verdicts.overwritten),
        (
            metric::CORRUPTED_SECTORS,
            verdicts.corrupted + verdicts.zero + verdicts.blank + unreadable,
        ),
        (metric::ZERO_SECTORS, verdicts.zero),
        (metric::BLANK_SECTORS, verdicts.blank),
        (metric::UNREADABLE_SECTORS, unreadable),
    ];
    let first = first_bad_bytes.map(|first| (metric::FIRST_BAD_OFFSET_BYTES, first));
    for (name, value) in figures.into_iter().chain(first) {
        outcome.cell.metrics.put(name, value as f64, n);
    }
    if !overwritten_by.is_empty() {
        overwritten_by.sort_by(|a, b| a[0].total_cmp(&b[0]));
        let points = overwritten_by
            .iter()
            .step_by(overwritten_by.len().div_ceil(MAX_POINTS))
            .copied()
            .collect();
        outcome.cell.series.push(Series::new(
            "overwritten by",
            [SeriesAxis::OffsetBytes, SeriesAxis::OffsetBytes],
            points,
        ));
    }
}

#[cfg(test)]
mod tests;
