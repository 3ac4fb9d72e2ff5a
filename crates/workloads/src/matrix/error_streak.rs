//! Cause of a failed try: the combination, or the medium.

use record::Cell;

/// Number of combinations in succession with an error of the kernel that is no longer chance.
const TOO_MANY: usize = 3;

/// A try of a combination that gave no figure.
#[derive(Clone, Debug)]
pub struct FailedTry {
    /// Number of its combination.
    pub number: usize,
    /// Repeat of the combination, from 1.
    pub repeat: u32,
    /// Its cells with their ids and labels, as the record keeps them.
    pub cells: Vec<Cell>,
}

impl FailedTry {
    /// Marks its cells as failed by the medium.
    pub fn by_medium(mut self) -> FailedTry {
        for cell in &mut self.cells {
            cell.blame_medium();
        }
        self
    }

    /// Reason in its first cell; "without a reason" if there is none.
    pub fn reason(&self) -> &str {
        self.cells.first().and_then(|cell| cell.reason.as_deref()).unwrap_or("without a reason")
    }
}

/// Tries that met an error of the kernel, without a good one between them. The medium answered
/// after each.
#[derive(Debug, Default)]
pub struct ErrorStreak(Vec<FailedTry>);

impl ErrorStreak {
    /// Ends the streak: a try gave a figure, so the medium was not the cause of the failures
    /// before.
    pub fn end(&mut self) {
        self.0.clear();
    }

    /// Adds a failed try; returns all of them if there are too many.
    pub fn add(&mut self, failed: FailedTry) -> Option<Vec<FailedTry>> {
        self.0.push(failed);
        (self.0.len() >= TOO_MANY).then(|| self.take())
    }

    /// Returns the failed tries so far, and begins a new streak.
    pub fn take(&mut self) -> Vec<FailedTry> {
        std::mem::take(&mut self.0)
    }
}
