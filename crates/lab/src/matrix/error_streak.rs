//! Whose failure a failed try was: the combination's, or the medium's.

use record::Cell;

/// So many combinations one after the other that meet an error of the kernel: that is no longer
/// chance.
const TOO_MANY: usize = 3;

/// A try of a combination that gave no figure.
#[derive(Clone, Debug)]
pub struct FailedTry {
    /// The number of its combination.
    pub number: usize,
    /// Repeat of the combination, from 1.
    pub repeat: u32,
    /// Its cells with their ids and labels, as the record keeps them.
    pub cells: Vec<Cell>,
}

impl FailedTry {
    /// Says in its cells that the medium is to blame.
    pub fn by_medium(mut self) -> FailedTry {
        for cell in &mut self.cells {
            cell.blame_medium();
        }
        self
    }

    /// Reason in its first cell; "without a reason" where none stands there.
    pub fn reason(&self) -> &str {
        self.cells.first().and_then(|cell| cell.reason.as_deref()).unwrap_or("without a reason")
    }
}

/// Tries that met an error of the kernel, without a good one between them. The medium answered
/// after each.
#[derive(Debug, Default)]
pub struct ErrorStreak(Vec<FailedTry>);

impl ErrorStreak {
    /// A try gave a figure: whatever failed before it was not the medium.
    pub fn end(&mut self) {
        self.0.clear();
    }

    /// One more; all of them when there are too many.
    pub fn add(&mut self, failed: FailedTry) -> Option<Vec<FailedTry>> {
        self.0.push(failed);
        (self.0.len() >= TOO_MANY).then(|| self.take())
    }

    /// Gives out the failed tries so far, and begins anew.
    pub fn take(&mut self) -> Vec<FailedTry> {
        std::mem::take(&mut self.0)
    }
}
