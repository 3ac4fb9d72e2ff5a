//! Events of a run, for its screen and journal.

use record::{Cell, FingerprintMark, Flag, PlannedCell, Skip};

/// An event of a run, passed to its [`RunListener`] in the order of time.
#[derive(Clone, Debug)]
pub enum RunEvent<'a> {
    /// A cell begins.
    CellStarted {
        /// Its number in the plan.
        index: usize,
        /// The cell as it was planned.
        cell: &'a PlannedCell,
        /// Its time limit in nanoseconds, by the device's clock.
        allotted_ns: u64,
    },
    /// Progress of the running cell.
    Progress(CellProgress<'a>),
    /// A cell ended. When the listener returns, the cell is durable.
    CellFinished {
        /// Its number in the plan.
        index: usize,
        /// The cell with its results.
        cell: &'a Cell,
    },
    /// A finished cell was changed; it replaces the earlier one.
    CellRevised {
        /// The changed cell.
        cell: &'a Cell,
    },
    /// A round begins: a cell is measured again.
    RoundStarted {
        /// The cell as it was planned.
        cell: &'a PlannedCell,
        /// The number of the round; the first measurement is round 1.
        number: usize,
    },
    /// A round ended; its results are added to its cell, which follows as revised.
    RoundFinished {
        /// Results of the round alone.
        cell: &'a Cell,
    },
    /// No more rounds are measured.
    RoundsDone {
        /// All cells with their results, in the order of their first measurement.
        cells: &'a [Cell],
    },
    /// A cell was left out.
    Skipped(&'a Skip),
    /// A caveat about the run as a whole.
    Flagged(&'a Flag),
    /// True if data of the medium is going to be restored; false if that is done, as far as
    /// possible now. The process should not be ended in between. The log of backed-up data
    /// ([`Backup`](crate::Backup)) has the data that could not be restored, and the cell's note
    /// says so.
    RestorePending(bool),
    /// Checksums of some places of the span of a cell that wrote: they identify the medium later.
    Marked(&'a [FingerprintMark]),
}

/// Progress of a cell.
#[derive(Clone, Copy, Debug, Default)]
pub struct CellProgress<'a> {
    /// Number of the cell in the plan.
    pub index: usize,
    /// Present activity ("priming", "measuring").
    pub phase: &'a str,
    /// Share of the cell that is done, 0 to 1, by the nearest limit.
    pub share: f64,
    /// I/Os done in this phase.
    pub ops: u64,
    /// Bytes moved in this phase.
    pub bytes: u64,
    /// Nanoseconds since the cell began, by the device's clock.
    pub elapsed_ns: u64,
    /// IOPS over this phase.
    pub iops: f64,
    /// Bytes per second over this phase.
    pub bps: f64,
    /// Bytes written by the whole run.
    pub written_bytes: u64,
    /// Estimated remaining time of the whole run, in nanoseconds; 0 if unknown.
    pub remaining_ns: u64,
    /// Share of the run's time that is over, 0 to 1; `None` if unknown.
    pub run_share: Option<f64>,
}

/// Receives the events of a run.
pub trait RunListener {
    /// Handles an event. An `Err` ends the run: results that cannot be kept must not be measured.
    fn on_event(&mut self, event: &RunEvent<'_>) -> Result<(), String>;
}

/// A listener that ignores everything.
impl RunListener for () {
    fn on_event(&mut self, _: &RunEvent<'_>) -> Result<(), String> {
        Ok(())
    }
}
