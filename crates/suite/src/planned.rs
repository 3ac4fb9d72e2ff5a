//! Planned cells: their list while a test plans, and access to their parameters.

use device::Extent;
use record::units::Bytes;
use record::{Params, PlannedCell, Skip, test};

use crate::SettingError;

/// The address range of a planned cell.
pub fn span_of(cell: &PlannedCell) -> Extent {
    Extent::new(cell.params.span_offset_bytes.unwrap_or(0), cell.params.span_bytes.unwrap_or(0))
}

/// Collects the cells of one test while it plans.
pub struct CellList<'a> {
    pub(crate) test: &'static str,
    pub(crate) logical_block_bytes: u64,
    pub(crate) cells: &'a mut Vec<PlannedCell>,
    pub(crate) skipped: &'a mut Vec<Skip>,
}

impl CellList<'_> {
    /// The same list for another owner, who adds to it.
    pub(crate) fn part(&mut self) -> CellList<'_> {
        CellList {
            test: self.test,
            logical_block_bytes: self.logical_block_bytes,
            cells: self.cells,
            skipped: self.skipped,
        }
    }

    /// Plans a cell that takes at most `max_ns` and writes at most `max_written_bytes`. Leaves out
    /// a block smaller than the medium's logical block.
    pub fn add(&mut self, params: Params, max_ns: u64, max_written_bytes: u64) {
        let logical = self.logical_block_bytes;
        if let Some(block) = params.block_bytes.filter(|block| block % logical != 0) {
            let why = format!("the medium addresses units of {}", Bytes(logical));
            return self.skip_size(block, &why);
        }
        let number = self.cells.iter().filter(|cell| cell.test == self.test).count() + 1;
        let id = format!("{}/{number}", self.test);
        self.cells.push(PlannedCell {
            id,
            test: self.test.to_owned(),
            params,
            max_ns,
            max_written_bytes,
        });
    }

    /// An error about a setting of the test.
    pub fn bad(&self, name: &str, reason: impl Into<String>) -> SettingError {
        SettingError::BadValue { test: self.test.into(), name: name.into(), reason: reason.into() }
    }

    /// The value that was found for the test; `None` if the test is skipped for the reason in
    /// `found`.
    pub fn or_skip<T>(&mut self, found: Result<T, String>) -> Option<T> {
        found.map_err(|reason| self.skip(reason)).ok()
    }

    /// Skips something of the test, for this reason.
    pub fn skip(&mut self, reason: impl Into<String>) {
        self.add_skip(Skip::new(self.test, reason));
    }

    /// Skips one block size of the test.
    pub fn skip_size(&mut self, block_bytes: u64, why: &str) {
        let reason = format!("{} blocks: {why}", Bytes(block_bytes));
        self.add_skip(Skip { block_bytes: Some(block_bytes), ..Skip::new(self.test, reason) });
    }

    fn add_skip(&mut self, skip: Skip) {
        if !self.skipped.contains(&skip) {
            self.skipped.push(skip);
        }
    }
}

/// The test with which suites begin, in a short form.
pub(crate) const PROBE: &str = test::CAPACITY;
