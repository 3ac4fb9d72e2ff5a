//! A second check of the probe's marks. On a slow medium the probe has no time to fill a large
//! memory of the controller; the writes of later cells fill it.

use device::Device;
use record::units::{Bytes, MIB, SECOND_NS};
use record::{Cell, Ended, PlannedCell, Stop};

use super::{Measured, Runner};
use crate::catalogue::capacity;
use crate::events::RunEvent;
use crate::planned::{PROBE, span_of};
use stats::Random;

/// Bytes written by later cells before the marks are read again; they are also read at the end of
/// the run.
const ENOUGH_BYTES: u64 = 32 * MIB;
/// Time limit in nanoseconds of a repeated probe: it never delays an honest medium.
const RETRY_NS: u64 = 180 * SECOND_NS;
/// Least bytes that it fills: a memory of the controller, and a cache before it.
const CACHES_BYTES: u64 = 160 * MIB;
/// Fewest bytes that may still be written for it to begin: it fills a large memory several times.
const MIN_BYTES: u64 = 256 * MIB;

/// Time at which the marks are read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RecheckTime {
    /// As soon as enough bytes were written since the last check.
    Written,
    /// At the end of the run.
    Ended,
}

/// A loss that was seen after the probe.
struct LossSeen {
    caveat: String,
    /// Marks, and whether each was still there; all were, if data was read elsewhere instead.
    kept: Vec<(u64, bool)>,
}

impl LossSeen {
    fn note(self, cell: &mut Cell, more: &str) {
        let folds = self.kept.iter().all(|(_, kept)| *kept);
        capacity::note_loss(cell, self.caveat + more, &self.kept, folds);
    }
}

impl Runner<'_, '_> {
    /// Reads the probe's marks that no cell up to `index` was to overwrite. If some are lost, the
    /// medium is probed again. `false` ends the run.
    pub(super) fn recheck_marks(&mut self, index: usize, when: RecheckTime) -> bool {
        let written_bytes = self.written_bytes - self.rechecked_bytes;
        let is_due =
            written_bytes >= ENOUGH_BYTES || when == RecheckTime::Ended && written_bytes > 0;
        if self.probe_retried || !is_due {
            return true;
        }
        let Some((place, at)) = self.last_probe() else { return true };
        self.rechecked_bytes = self.written_bytes;
        if index == at {
            return true;
        }
        let later =
            self.plan.cells[at + 1..=index].iter().filter(|cell| cell.max_written_bytes > 0);
        let overwritten: Vec<_> = later.map(span_of).collect();
        self.medium.begin_turn("reading the probe's places again");
        self.medium.set_data_needed(true, &self.generator);
        if !self.medium.facts().keeps_data {
            return true;
        }
        let marks = capacity::marks_left(&self.end.cells[place], &overwritten);
        let mut random = Random::for_purpose(self.options.seed, "images of the run");
        // A medium that fails is the next cell's matter.
        let kept = capacity::kept(self.medium, &self.generator, &marks).unwrap_or_default();
        let gone = kept.iter().filter(|(_, kept)| !kept).count();
        let caveat = if gone > 0 {
            format!(
                "{gone} of {} places lost their data when {} more were written",
                marks.len(),
                Bytes(written_bytes)
            )
        } else if !std::mem::replace(&mut self.sought_images, true)
            && capacity::folds(&self.end.cells[place], self.medium, &self.generator, &mut random)
                .unwrap_or(false)
        {
            "data of some places was read at others, too".into()
        } else {
            return true;
        };
        let most_bytes = self.left_bytes(index).min(self.plan.cells[at].max_written_bytes);
        if most_bytes >= MIN_BYTES {
            let mut planned =
                PlannedCell { max_written_bytes: most_bytes, ..self.plan.cells[at].clone() };
            capacity::fill_cache_at_least(&mut planned, CACHES_BYTES);
            let seen = LossSeen { caveat, kept };
            return self.retry_probe(place, (at, &planned), seen);
        }
        self.rechecked_bytes -= written_bytes;
        when == RecheckTime::Written || self.note_loss(place, LossSeen { caveat, kept })
    }

    /// The last finished probe that found nothing missing and left marks that are still there: its
    /// index among the finished cells, and in the plan.
    fn last_probe(&self) -> Option<(usize, usize)> {
        let place = self.end.cells.iter().rposition(|cell| cell.test == PROBE)?;
        let probe = &self.end.cells[place];
        let at = self.plan.cells.iter().position(|planned| planned.id == probe.id)?;
        let is_gone = self.options.lost && self.options.done.iter().any(|it| it.id == probe.id);
        (capacity::found_nothing(probe) && !is_gone).then_some((place, at))
    }

    /// Replaces the conclusion that the medium is good, if not enough bytes may be written to probe
    /// it again; `false` ends the run.
    fn note_loss(&mut self, place: usize, seen: LossSeen) -> bool {
        seen.note(&mut self.end.cells[place], "");
        self.revised(place)
    }

    /// Removes the probe's cell and probes again, with other places and more time. What was `seen`
    /// is the result if that finds nothing.
    fn retry_probe(
        &mut self,
        place: usize,
        (at, planned): (usize, &PlannedCell),
        seen: LossSeen,
    ) -> bool {
        let second = self.probe_anew((at, planned), RETRY_NS);
        let Some(Measured { mut outcome, failed, written_last, .. }) = second else { return false };
        if outcome.cell.stop == Stop::Interrupted {
            // The first one stands until the second has come to its end: when the run goes on, the
            // marks are read again.
            self.end.failed = failed;
            return self.finish(if self.end.failed.is_some() {
                Ended::Error
            } else {
                Ended::Interrupted
            });
        }
        if !self.mark(planned, &outcome, &written_last) {
            return false;
        }
        let first = self.end.cells.remove(place);
        seen.note(&mut outcome.cell, "; a second probe found nothing missing");
        // What the kernel counted since the second one began is compared with its bytes alone.
        let goes_on = self.keep(at, outcome, failed);
        let Some(place) = self.end.cells.iter().rposition(|cell| cell.id == planned.id) else {
            return goes_on;
        };
        let cell = &mut self.end.cells[place];
        cell.written_bytes = cell.written_bytes.saturating_add(first.written_bytes);
        self.revised(place) && goes_on
    }

    /// Announces a second probe and makes it; `None` if the listener ended the run.
    pub(super) fn probe_anew(
        &mut self,
        (at, planned): (usize, &PlannedCell),
        allotted_ns: u64,
    ) -> Option<Measured> {
        self.probe_retried = true;
        let started = RunEvent::CellStarted { index: at, cell: planned, allotted_ns };
        if !self.tell(&started) {
            return None;
        }
        Some(self.measure(at, planned, allotted_ns))
    }
}
