//! `read-back`: reads what the tests before it wrote, at the end of a run. A medium that drops
//! writes without an error is as fast as any (docs/field/counterfeits.md#f3probe has no test of
//! it: f3 reads what it wrote for that).
//!
//! The sample is that of [`WriteLog`](device::WriteLog): of places of 4 KiB all over what was
//! written the last write, each write as likely as any other. The data of each write has a pass of
//! its own (`IoLoad::fresh`), so that what an earlier write left is not taken for it. Everything is
//! made durable first, caches of the host are dropped, and the oldest writes are read first; those
//! among the last 64 MiB may come from a cache of the medium. Tests that read back themselves
//! (`capacity`, `verify`) are not in the sample, nor what was written before a run was resumed.
//!
//! # Results
//! `written_places` (last writes of distinct places since the cell before it; estimated if there
//! are more than 16384, or than four times what is read), `read_back` of them; of these
//! `lost_writes` (other data, old data or none), `changed_writes` (up to 7 wrong bits in a sector),
//! `recent_writes` (among the last 64 MiB) and `recent_lost`; `first_bad_offset_bytes` if any is
//! lost.

use std::cell::Cell;

use device::{Device, Extent, LoggedWrite, SectorVerdict};

use super::prelude::*;
use crate::io_loop::{IoLoad, LoopLimits};

settings! {
    ReadBackSettings {
        places: Count = "2500", "most writes that are read back";
        max_time: Time = "12s", "time limit";
    }
}

spec! {
    /// Most writes that are read back.
    ReadBackSpec {
        places: u64,
    }
}

/// Bytes of the last writes of a run, which a cache may hold.
const RECENT_BYTES: u64 = 64 * MIB;
/// Least time limit of a run that has time for it, in nanoseconds.
pub(crate) const LEAST_RUN_NS: u64 = 60 * SECOND_NS;
/// Reason for leaving it out of a shorter one.
pub(crate) const TOO_SHORT: &str =
    "in less than a minute there is no time to read back what was written";

/// Reads back a sample of the run's writes.
pub struct ReadBack;

impl Procedure for ReadBack {
    type Settings = ReadBackSettings;
    type Spec = ReadBackSpec;

    fn entry(&self) -> Entry {
        Entry {
            name: test::READ_BACK,
            about: "reads back a sample of all that the run wrote: counts writes that are lost",
            source: "docs/field/counterfeits.md#f3probe",
            needs: Needs { data: true, ..Needs::READING },
        }
    }

    fn plan(&self, settings: &Self::Settings, cells: &mut Cells<'_, ReadBackSpec>) -> Planned {
        let target = cells.target;
        let kept = target.writable.clone().err().or_else(|| target.must_restore.clone());
        if let Some(reason) = kept {
            cells.skip(reason);
            return Ok(());
        }
        let is_bounded = target.is_bounded();
        let region = if is_bounded { Region::Middle } else { Region::Whole };
        let Some(span) = cells.region(region, u64::MAX) else { return Ok(()) };
        let block_bytes = (4 * KIB).max(cells.target.facts.logical_block_bytes);
        let params = cells.reads(region, span, Pattern::Uniform, block_bytes);
        cells.add(params, &ReadBackSpec { places: settings.places }, settings.max_time, 0);
        Ok(())
    }

    fn run(&self, cell: &TypedCell<ReadBackSpec>, context: &mut CellContext<'_>) -> CellOutcome {
        let Some(log) = context.medium.log() else {
            return CellOutcome::left_out(cell, "no log of the writes was kept");
        };
        let ((writes, population), recent_from) =
            (log.draw(cell.spec.places as usize), log.written_bytes().saturating_sub(RECENT_BYTES));
        let is_first = !context.done.iter().any(|done| done.test == cell.test);
        if writes.is_empty() && is_first {
            return CellOutcome::left_out(cell, "nothing was written that is known here");
        }
        if let Err(error) = context.flush().and_then(|_| context.medium.drop_caches()) {
            return CellOutcome::broken(cell, error);
        }
        let (generator, load) = (context.generator, IoLoad::read(cell.block_bytes()));
        let limits = LoopLimits::time(context.time_left_ns().max(1));
        let mut seen = Counts { recent_from, ..Counts::default() };
        // One read is under way at a time, so what is asked for next is looked at next.
        let (mut rest, asked) = (writes.iter(), Cell::new(None::<&LoggedWrite>));
        let mut next = |_| {
            asked.set(rest.next());
            asked.get().map(|write| write.part)
        };
        let mut look = |place: Extent, data: &[u8]| {
            if let Some(write) = asked.get() {
                let verdicts = generator.verify(data, write.pass, place.offset_bytes);
                seen.add(write, verdicts.map(|(_, verdict)| verdict));
            }
        };
        let tally = context.read_back("reading back", &load, &limits, &mut next, &mut look);
        let mut outcome = CellOutcome::new(cell);
        outcome.absorb(tally);
        seen.report(population, &mut outcome);
        outcome
    }
}

/// Writes that were read back.
#[derive(Default)]
struct Counts {
    /// Bytes that the run had written when the recent writes began.
    recent_from: u64,
    read: u64,
    lost: u64,
    changed: u64,
    recent: u64,
    recent_lost: u64,
    first_lost: Option<u64>,
}

impl Counts {
    fn add(&mut self, write: &LoggedWrite, verdicts: impl Iterator<Item = SectorVerdict>) {
        let (mut is_lost, mut is_changed) = (false, false);
        for verdict in verdicts {
            match verdict {
                SectorVerdict::Good => {}
                SectorVerdict::Changed { .. } => is_changed = true,
                _ => is_lost = true,
            }
        }
        let is_recent = write.written_bytes > self.recent_from;
        self.read += 1;
        self.lost += u64::from(is_lost);
        self.changed += u64::from(is_changed && !is_lost);
        self.recent += u64::from(is_recent);
        self.recent_lost += u64::from(is_recent && is_lost);
        if is_lost {
            let at = write.part.offset_bytes;
            self.first_lost = Some(self.first_lost.map_or(at, |first| first.min(at)));
        }
    }

    fn report(&self, population: f64, outcome: &mut CellOutcome) {
        let figures = [
            (metric::WRITTEN_PLACES, Some(population.round())),
            (metric::READ_BACK, Some(self.read as f64)),
            (metric::LOST_WRITES, Some(self.lost as f64)),
            (metric::CHANGED_WRITES, Some(self.changed as f64)),
            (metric::RECENT_WRITES, Some(self.recent as f64)),
            (metric::RECENT_LOST, Some(self.recent_lost as f64)),
            (metric::FIRST_BAD_OFFSET_BYTES, self.first_lost.map(|at| at as f64)),
        ];
        for (name, value) in figures {
            outcome.cell.metrics.put(name, value, self.read);
        }
    }
}

#[cfg(test)]
mod tests;
