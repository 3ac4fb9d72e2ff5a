//! How a run tells how far it is (progress, and the ETA of a cell and of all), and hears that it is
//! to end.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};

use device::Extent;
use record::units::{MILLISECOND_NS, SECOND_NS};

use crate::IoTally;
use crate::events::{CellProgress, RunEvent, RunListener};

/// Time between two reports of progress, by the device's clock.
const REPORT_EVERY_NS: u64 = 100 * MILLISECOND_NS;

/// A cell without a time limit tells what is left of it from here on.
const MINUTE_NS: u64 = 60 * SECOND_NS;

/// Tells progress at intervals, and knows when to stop.
pub struct ProgressReporter<'a> {
    pub(crate) listener: &'a mut dyn RunListener,
    pub(crate) stop: &'a AtomicBool,
    pub(crate) phase: &'static str,
    /// Which part of the cell the present stretch is.
    pub(crate) part: (f64, f64),
    pub(crate) index: usize,
    pub(crate) cell_started_ns: u64,
    pub(crate) allotted_ns: u64,
    /// True if that is a limit, and not only the longest time there is.
    pub(crate) has_limit: bool,
    /// What the later cells will take; `None` where that is not known.
    pub(crate) later_ns: Option<u64>,
    pub(crate) next_ns: u64,
    pub(crate) written_bytes: u64,
    /// Where the cell wrote last: of each stretch the last place of each slot.
    pub(crate) written_last: VecDeque<Extent>,
    pub(crate) failed: Option<String>,
}

/// Places that are remembered of what a cell wrote last.
const WRITTEN_LAST: usize = 8;

impl ProgressReporter<'_> {
    pub(crate) fn begin(&mut self, now_ns: u64) {
        self.next_ns = now_ns + REPORT_EVERY_NS;
    }

    pub(crate) fn wrote(&mut self, bytes: u64) {
        self.written_bytes = self.written_bytes.saturating_add(bytes);
    }

    /// A stretch has ended; these are the last places it wrote.
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

    /// At the pace so far, but never more than the cell may take; `None` where it may take any time
    /// and has only begun.
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
            remaining_ns: self
                .left_of_cell_ns(elapsed_ns, share)
                .zip(self.later_ns)
                .map_or(0, |(own_ns, later_ns)| own_ns.saturating_add(later_ns)),
        });
        if let Err(reason) = self.listener.on_event(&event) {
            self.failed = Some(reason);
        }
    }
}
