//! The repetition of a probe that found damage, at the end of the run: a card that loses data for
//! the first seconds only, by a loose contact or a weak supply, is not a damaged one.

use std::collections::BTreeSet;

use device::{Extent, IoErrorKind};
use record::units::{MIB, SECOND_NS};
use record::{CapacityKind, Cell, PlannedCell, Stop, metric};

use super::{PROBES_SHARE, Runner};
use crate::catalogue::capacity;
use crate::place_read::read_places;
use crate::planned::PROBE;

/// Longest repetition in nanoseconds.
const MOST_NS: u64 = 60 * SECOND_NS;
/// Fewest bytes that may still be written for a probe by writing.
const MIN_BYTES: u64 = 64 * MIB;
/// Most places that are read again.
const MOST_PLACES: usize = 64;

impl Runner<'_, '_> {
    /// Probes again if a probe found damage: by writing, or where data was restored by reading the
    /// places that failed. The result is a figure of the probe's cell.
    pub(super) fn repeat_probe(&mut self) {
        let is_damaged = |cell: &Cell| {
            cell.test == PROBE
                && CapacityKind::of_probe(cell) == Some(CapacityKind::Damaged)
                && !cell.metrics.other.contains_key(metric::FAILED_AGAIN)
        };
        let Some(place) = self.end.cells.iter().position(is_damaged) else { return };
        let id = &self.end.cells[place].id;
        let Some(at) = self.plan.cells.iter().position(|planned| planned.id == *id) else { return };
        let failed = if capacity::restores(&self.plan.cells[at]) {
            self.reads_fail(place)
        } else {
            self.probe_fails(place, at)
        };
        let Some(failed) = failed else { return };
        let cell = &mut self.end.cells[place];
        cell.metrics.put(metric::FAILED_AGAIN, f64::from(u8::from(failed)), 1);
        self.revised(place);
    }

    /// Whether a second probe finds a fault; `None` if there is no room for one, or if it comes to
    /// no result.
    fn probe_fails(&mut self, place: usize, at: usize) -> Option<bool> {
        let left_bytes = self.plan.max_written_bytes().saturating_sub(self.written_bytes);
        let planned = &self.plan.cells[at];
        let max_written_bytes = left_bytes.min(planned.max_written_bytes);
        if max_written_bytes < MIN_BYTES {
            return None;
        }
        let planned = PlannedCell { max_written_bytes, ..planned.clone() };
        let limit_ns = self.plan.time_limit_ns.unwrap_or(u64::MAX);
        let left_ns = limit_ns.saturating_sub(self.elapsed_ns()).max(limit_ns / PROBES_SHARE);
        let allotted_ns = left_ns.min(planned.max_ns).min(MOST_NS);
        let second = self.probe_anew((at, &planned), allotted_ns)?;
        if !self.mark(&planned, &second.outcome, &second.written_last) {
            return None;
        }
        self.end.cells[place].written_bytes += second.outcome.cell.written_bytes;
        let cell = second.outcome.cell;
        let is_bad = |name: &str| name.starts_with("marks_") && name != "marks_good";
        let failed = cell.metrics.other.iter().any(|(name, n)| is_bad(name) && n.value > 0.0);
        let is_cut = cell.stop == Stop::Interrupted;
        let is_good = CapacityKind::of_probe(&cell) == Some(CapacityKind::Good);
        (!is_cut && (failed || is_good)).then_some(failed)
    }

    /// Whether places of a probe that failed and were restored since still give errors, or differ
    /// from read to read; `None` if they cannot be read for another reason, or if reading them well
    /// tells nothing: of writes that were lost without an error.
    fn reads_fail(&mut self, place: usize) -> Option<bool> {
        let cell = &self.end.cells[place];
        let is_unrestored = |name: &str| cell.metrics.value(name).is_some_and(|bytes| bytes > 0.0);
        if [metric::UNRESTORED_BYTES, "owed_bytes"].into_iter().any(is_unrestored) {
            return Some(true);
        }
        let bytes = cell.params.block_bytes?;
        let failed = cell
            .series
            .iter()
            .filter(|series| series.name.starts_with("marks: ") && series.name != "marks: good");
        let is_silent = failed.clone().any(|series| series.name != "marks: unusable");
        let failed: BTreeSet<u64> =
            failed.flat_map(|series| &series.points).map(|[at, _]| *at as u64).collect();
        let step = failed.len().div_ceil(MOST_PLACES).max(1);
        let places: Vec<Extent> =
            failed.into_iter().step_by(step).map(|at| Extent::new(at, bytes)).collect();
        self.medium.begin_turn("reading the probe's places again");
        let twice = [(); 2].map(|()| read_places(self.medium, &places));
        match twice {
            [Ok(first), Ok(again)] => {
                let failed = first.len() < places.len() || first != again;
                (failed || !is_silent).then_some(failed)
            }
            [Err(error), _] | [_, Err(error)] => {
                (error.kind == IoErrorKind::Medium).then_some(true)
            }
        }
    }
}
