//! Progress reports of a run (share, and remaining time of a cell and of the run), and its end on
//! request.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};

use device::Extent;
use record::units::{MILLISECOND_NS, SECOND_NS};

use crate::IoTally;
use crate::events::{CellProgress, RunEvent, RunListener};

/// Nanoseconds between two reports of progress, by the device's clock.
const REPORT_EVERY_NS: u64 = 100 * MILLISECOND_NS;

/// Nanoseconds after which a cell without a time limit reports its remaining time.
const MINUTE_NS: u64 = 60 * SECOND_NS;

/// Reports progress at intervals, and knows when to stop.
pub struct ProgressReporter<'a> {
    pub(crate) listener: &'a mut dyn RunListener,
    pub(crate) stop: &'a AtomicBool,
    pub(crate) phase: &'static str,
    /// Part of the cell that the present stretch is, in shares of 0 to 1.
    pub(crate) part: (f64, f64),
    pub(crate) index: usize,
    pub(crate) cell_started_ns: u64,
    /// Nanoseconds of the run when the cell began.
    pub(crate) run_ns: u64,
    pub(crate) allotted_ns: u64,
    /// True if that is a limit of the cell, and not only the longest possible time.
    pub(crate) has_limit: bool,
    /// Expected time of the later cells in nanoseconds; `None` if unknown.
    pub(crate) later_ns: Option<u64>,
    pub(crate) next_ns: u64,
    pub(crate) written_bytes: u64,
    /// Last places that the cell wrote: of each stretch the last place of each slot.
    pub(crate) written_last: VecDeque<Extent>,
    pub(crate) failed: Option<String>,
}

/// Most places that are remembered of the last writes of a cell.
const WRITTEN_LAST: usize = 8;

impl ProgressReporter<'_> {
    pub(crate) fn begin(&mut self, now_ns: u64) {
        self.next_ns = now_ns + REPORT_EVERY_NS;
    }

    pub(crate) fn wrote(&mut self, bytes: u64) {
        self.written_bytes = self.written_bytes.saturating_add(bytes);
    }

    /// Notes the last places that a finished stretch wrote.
    pub(crate) fn wrote_at(&mut self, places: &[Extent]) {
        for place in places.iter().filter(|place| place.bytes > 0).take(WRITTEN_LAST) {
            self.written_last.truncate(WRITTEN_LAST - 1);
            self.written_last.push_front(*place);
        }
    }

    #[inline]
    pub(crate) fn is_due(&self, now_ns: u64) -> bool {
        now_ns >= self.next_ns
    }

    #[inline]
    pub(crate) fn must_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.failed.is_some()
    }

    /// Remaining nanoseconds at the rate so far, but never more than the cell may take; `None` if
    /// it has no limit and has only begun.
    fn left_of_cell_ns(&self, elapsed_ns: u64, share: f64) -> Option<u64> {
        let most_ns = self.allotted_ns.saturating_sub(elapsed_ns);
        let at_this_pace = elapsed_ns as f64 * (1.0 - share) / share.max(1e-6);
        let is_under_way =
            share > 0.02 || !self.has_limit && elapsed_ns > MINUTE_NS && share > 1e-4;
        match (is_under_way, self.has_limit) {
            (true, _) => Some(most_ns.min(at_this_pace as u64)),
            (false, true) => Some(most_ns),
            (false, false) => None,
        }
    }

    pub(crate) fn report(&mut self, now_ns: u64, share: f64, tally: &IoTally) {
        self.next_ns = now_ns + REPORT_EVERY_NS;
        let elapsed_ns = now_ns.saturating_sub(self.cell_started_ns);
        let seconds = tally.busy_ns.max(1) as f64 / 1e9;
        let (from, to) = self.part;
        let share = from + (to - from) * share;
        let left_ns = self.left_of_cell_ns(elapsed_ns, share).zip(self.later_ns);
        let left_ns = left_ns.map(|(own_ns, later_ns)| own_ns.saturating_add(later_ns));
        let run_ns = self.run_ns.saturating_add(elapsed_ns) as f64;
        let event = RunEvent::Progress(CellProgress {
            index: self.index,
            phase: self.phase,
            share,
            ops: tally.ops,
            bytes: tally.bytes,
            elapsed_ns,
            iops: tally.ops as f64 / seconds,
            bps: tally.bytes as f64 / seconds,
            written_bytes: self.written_bytes,
            remaining_ns: left_ns.unwrap_or(0),
            run_share: left_ns.map(|left_ns| run_ns / (run_ns + left_ns as f64).max(1.0)),
        });
        if let Err(reason) = self.listener.on_event(&event) {
            self.failed = Some(reason);
        }
    }
}
