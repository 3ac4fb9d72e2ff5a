//! A second look at the marks of the probe. On a slow medium the probe has no time to fill a
//! large memory of the controller; what later cells write does that in passing.

use device::Device;
use record::units::{Bytes, MIB, SECOND_NS};
use record::{Ended, PlannedCell, Stop};

use super::{Guarded, Measured, Runner};
use crate::FileStage;
use crate::catalogue::capacity;
use crate::events::{RunEvent, RunListener};
use crate::planned::{PROBE, span_of};
use stats::Random;

/// Written by later cells before the marks are read once more; and once more at the end of the run.
const ENOUGH_BYTES: u64 = 32 * MIB;
/// A probe that begins anew may take this long: no honest medium is delayed by it.
const RETRY_NS: u64 = 180 * SECOND_NS;
/// What it is to fill at least: a memory of the controller, and a cache before it.
const CACHES_BYTES: u64 = 160 * MIB;
/// With less to write it is not begun: it fills a large memory some times.
const LEAST_BYTES: u64 = 256 * MIB;

/// When the marks are read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// As soon as enough was written since they were read last.
    Written,
    /// At the end of the run.
    Ended,
}

impl Runner<'_> {
    /// Reads what the probe had marked, where no cell up to `index` was to write since. Where marks
    /// are gone that had been there, the medium is probed anew. `false` ends the run.
    pub(super) fn recheck_marks(
        &mut self,
        index: usize,
        when: When,
        medium: &mut Guarded,
        stage: &mut dyn FileStage,
        listener: &mut dyn RunListener,
    ) -> bool {
        let written_bytes = self.written_bytes - self.rechecked_bytes;
        let is_due = written_bytes >= ENOUGH_BYTES || when == When::Ended && written_bytes > 0;
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
        medium.set_data_needed(true);
        if !medium.facts().keeps_data {
            return true;
        }
        let marks = capacity::marks_left(&self.end.cells[place], &overwritten);
        let mut random = Random::for_purpose(self.options.seed, "images of the run");
        // A medium that fails is the next cell's matter.
        let gone = capacity::gone(medium, &self.filler, &marks).unwrap_or(0);
        let caveat = if gone > 0 {
            format!(
                "{gone} of {} places lost their data when {} more were written",
                marks.len(),
                Bytes(written_bytes)
            )
        } else if !std::mem::replace(&mut self.sought_images, true)
            && capacity::folds(&self.end.cells[place], medium, &self.filler, &mut random)
                .unwrap_or(false)
        {
            "data of some places was read at others, too".into()
        } else {
            return true;
        };
        let most_bytes = self.left_bytes(index).min(self.plan.cells[at].max_written_bytes);
        if most_bytes >= LEAST_BYTES {
            let mut planned =
                PlannedCell { max_written_bytes: most_bytes, ..self.plan.cells[at].clone() };
            capacity::fill_cache_at_least(&mut planned, CACHES_BYTES);
            return self.retry_probe(place, (at, &planned), caveat, medium, stage, listener);
        }
        self.rechecked_bytes -= written_bytes;
        when == When::Written || self.leave_open(place, caveat, listener)
    }

    /// The last finished probe that found nothing missing and left its marks: its place among the
    /// cells, and in the plan.
    fn last_probe(&self) -> Option<(usize, usize)> {
        let place = self.end.cells.iter().rposition(|cell| cell.test == PROBE)?;
        let at =
            self.plan.cells.iter().position(|planned| planned.id == self.end.cells[place].id)?;
        capacity::found_nothing(&self.end.cells[place]).then_some((place, at))
    }

    /// Takes back that the medium is good, where no more may be written to find out what it is;
    /// `false` ends the run.
    fn leave_open(&mut self, place: usize, caveat: String, listener: &mut dyn RunListener) -> bool {
        let cell = &mut self.end.cells[place];
        capacity::leave_open(cell, caveat);
        match listener.on_event(&RunEvent::CellRevised { cell }) {
            Ok(()) => true,
            Err(reason) => self.fail(reason),
        }
    }

    /// Takes the probe's cell back and probes once more, with other places and more time. `caveat`
    /// says what is known where that finds nothing.
    fn retry_probe(
        &mut self,
        place: usize,
        (at, planned): (usize, &PlannedCell),
        caveat: String,
        medium: &mut Guarded,
        stage: &mut dyn FileStage,
        listener: &mut dyn RunListener,
    ) -> bool {
        self.probe_retried = true;
        if let Err(reason) = listener.on_event(&RunEvent::CellStarted {
            index: at,
            cell: planned,
            allotted_ns: RETRY_NS,
        }) {
            return self.fail(reason);
        }
        let Measured { mut outcome, failed, written_bytes, written_last } =
            self.measure(at, planned, RETRY_NS, medium, stage, listener);
        self.written_bytes = written_bytes;
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
        if let Err(reason) = self.mark(planned, &outcome, &written_last, medium, listener) {
            return self.fail(reason);
        }
        let first = self.end.cells.remove(place);
        outcome.cell.written_bytes = outcome.cell.written_bytes.saturating_add(first.written_bytes);
        capacity::leave_open(
            &mut outcome.cell,
            format!("{caveat}; a second probe found nothing missing"),
        );
        self.keep(at, outcome, failed, listener)
    }
}
