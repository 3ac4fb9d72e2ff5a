//! What a run tells while it goes on. Screen and journal only listen.

use record::{Cell, FingerprintMark, Flag, PlannedCell, Skip};

/// What a run tells its [`RunListener`], in the order in which it happens.
#[derive(Clone, Debug)]
pub enum RunEvent<'a> {
    /// A cell begins; it may take this long.
    CellStarted {
        /// Its number in the plan.
        index: usize,
        /// The cell as it was planned.
        cell: &'a PlannedCell,
        /// Time it may take, by the device's clock.
        allotted_ns: u64,
    },
    /// The cell that is running has come further.
    Progress(CellProgress<'a>),
    /// It ended. When this returns, the cell is safe.
    CellFinished {
        /// Its number in the plan.
        index: usize,
        /// The cell with its results.
        cell: &'a Cell,
    },
    /// A finished cell was looked at again; it takes the place of the one that was told before.
    CellRevised {
        /// The cell as it is now.
        cell: &'a Cell,
    },
    /// A cell is measured once more: a round begins.
    RoundStarted {
        /// The cell as it was planned.
        cell: &'a PlannedCell,
        /// The number of the round; what was measured first is round 1.
        number: usize,
    },
    /// A round ended; its figures go into those of its cell, which is told next as revised.
    RoundFinished {
        /// What the round came to by itself.
        cell: &'a Cell,
    },
    /// No more rounds are measured. These are all cells with what they came to.
    RoundsDone {
        /// In the order in which they were measured first.
        cells: &'a [Cell],
    },
    /// A cell was left out.
    Skipped(&'a Skip),
    /// A caveat about the run as a whole.
    Flagged(&'a Flag),
    /// The medium is not as its owner left it and is going to be put right; or that is done, as far
    /// as it can be now. In between the process should not be ended. What could not be put right is
    /// in the log of what was backed up ([`Backup`](crate::Backup)), and the cell's note says so.
    RestorePending(bool),
    /// What was read, after a cell that wrote, at some places of its span: by this the medium is
    /// known again.
    Marked(&'a [FingerprintMark]),
}

/// How far a cell is.
#[derive(Clone, Copy, Debug)]
pub struct CellProgress<'a> {
    /// Number of the cell in the plan.
    pub index: usize,
    /// What it is doing ("priming", "measuring").
    pub phase: &'a str,
    /// How much of the cell is done, 0 to 1, by whichever limit is nearest.
    pub share: f64,
    /// I/Os done in this phase.
    pub ops: u64,
    /// Bytes moved in this phase.
    pub bytes: u64,
    /// Time since the cell began, by the device's clock.
    pub elapsed_ns: u64,
    /// I/Os a second over this phase.
    pub iops: f64,
    /// Bytes a second over this phase.
    pub bps: f64,
    /// Bytes written by the whole run.
    pub written_bytes: u64,
    /// What is left of the whole run, estimated, in nanoseconds; 0 where nothing is known of it.
    pub remaining_ns: u64,
}

/// Hears what a run tells.
pub trait RunListener {
    /// Takes note of an event. An `Err` ends the run: a result that cannot be kept must not be
    /// measured.
    fn on_event(&mut self, event: &RunEvent<'_>) -> Result<(), String>;
}

/// A listener that takes no notice of anything.
impl RunListener for () {
    fn on_event(&mut self, _: &RunEvent<'_>) -> Result<(), String> {
        Ok(())
    }
}
