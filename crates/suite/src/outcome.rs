//! Outcome of a cell.

use device::IoError;
use record::{Cell, Estimate, PlannedCell, Stop};

use crate::IoTally;
use stats::{latency, per_second};

/// Outcome of a cell.
#[derive(Debug)]
pub struct CellOutcome {
    /// The row of results.
    pub cell: Cell,
    /// The medium's error that ended it, if any.
    pub error: Option<IoError>,
    /// The reason why the cell could not be run after all; then it is left out.
    pub left_out: Option<String>,
}

impl CellOutcome {
    /// The outcome of a planned cell before anything was measured.
    pub fn new(planned: &PlannedCell) -> CellOutcome {
        let cell = Cell::begun(&planned.id, &planned.test, planned.params.clone());
        CellOutcome { cell, error: None, left_out: None }
    }

    /// The outcome of a cell that cannot be run here.
    pub fn left_out(planned: &PlannedCell, reason: impl Into<String>) -> CellOutcome {
        CellOutcome { left_out: Some(reason.into()), ..CellOutcome::new(planned) }
    }

    /// The outcome of a cell that failed without an error of its I/O.
    pub fn failed(planned: &PlannedCell, reason: impl Into<String>) -> CellOutcome {
        CellOutcome::new(planned).fail(reason)
    }

    /// The outcome of a cell whose medium failed before its I/O began.
    pub fn broken(planned: &PlannedCell, error: IoError) -> CellOutcome {
        let mut outcome = CellOutcome::new(planned);
        outcome.end(Stop::Error, Some(error));
        outcome
    }

    /// Ends the cell with an error that is not the medium's.
    pub fn fail(mut self, reason: impl Into<String>) -> CellOutcome {
        self.cell.stop = Stop::Error;
        self.cell.reason = Some(reason.into());
        self
    }

    /// Adds a stretch's counts, histogram and end. Metrics, series and flags do not change.
    pub fn absorb(&mut self, tally: IoTally) {
        self.cell.ops += tally.ops;
        self.cell.bytes += tally.bytes;
        self.cell.elapsed_ns += tally.busy_ns;
        if let Some(host_state) = tally.host_state {
            self.cell.host_state.get_or_insert_default().add(host_state);
        }
        match &mut self.cell.histogram {
            Some(histogram) => histogram.merge(&tally.histogram),
            None if tally.histogram.is_empty() => {}
            none => *none = Some(tally.histogram),
        }
        self.end(tally.stop, tally.error);
    }

    /// Computes rates and latencies over all its stretches together, whose slowest I/O took
    /// `worst_ns`; without an interval.
    pub fn rates_over_all(&mut self, worst_ns: u64) {
        let cell = &mut self.cell;
        let Some(histogram) = &cell.histogram else { return };
        let rate =
            |events: u64| Some(Estimate::of(per_second(events, cell.elapsed_ns.max(1)), cell.ops));
        (cell.metrics.iops, cell.metrics.bps) = (rate(cell.ops), rate(cell.bytes));
        cell.metrics.latency_ns = Some(latency(histogram, worst_ns));
    }

    /// Ends the cell as a stretch ended. An earlier error stays.
    pub fn end(&mut self, stop: Stop, error: Option<IoError>) {
        if self.cell.stop != Stop::Error {
            self.cell.stop = stop;
        }
        if let Some(error) = error {
            self.cell.stop = Stop::Error;
            if self.cell.reason.is_none() {
                (self.cell.reason, self.cell.error) =
                    (Some(error.to_string()), Some(error.of_cell()));
            }
            self.error.get_or_insert(error);
        }
    }

    /// True if an error or an interruption ended it.
    pub fn is_over(&self) -> bool {
        self.cell.stop.cut_short()
    }
}

impl IoTally {
    /// The outcome of a cell that consists of this stretch alone.
    pub fn outcome(self, planned: &PlannedCell) -> CellOutcome {
        let mut outcome = CellOutcome::new(planned);
        outcome.cell.metrics = self.metrics();
        outcome.cell.flags = self.flags();
        outcome.cell.series = vec![self.rate_series("rate"), self.stall_series()];
        outcome.absorb(self);
        outcome
    }
}
