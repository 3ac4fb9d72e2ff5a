//! Outputs of a matrix: those of every run, and a workbook and raw values.

use std::path::PathBuf;

use record::Record;
use store::RunDir;

use program::exit::{Exit, OrExit, Result};
use session::outputs::{self, Outputs, ResultFile};

/// Name of the workbook in a run's directory.
pub const WORKBOOK_FILE: &str = "matrix.xlsx";
/// Name of the raw values in a run's directory.
pub const CSV_FILE: &str = "matrix.csv";

/// Places that get the results beside the store.
#[derive(Clone, Debug)]
pub struct MatrixOutputs {
    /// Outputs that every run has.
    pub run: Outputs,
    /// File of the workbook.
    pub xlsx: Option<PathBuf>,
    /// File of the raw values, as CSV.
    pub csv: Option<PathBuf>,
}

impl MatrixOutputs {
    /// Checks that the files can be written, before hours are spent.
    pub fn check(&self) -> Result<()> {
        self.run.check()?;
        outputs::check([&self.xlsx, &self.csv].into_iter().flatten())
    }

    /// Delivers a record: tables and recommendation on the terminal; page, workbook and raw values
    /// into the run's directory and where the user said.
    pub fn deliver(&self, record: &Record, dir: &RunDir) -> Result<()> {
        let workbook = crate::workbook::workbook(record).or_internal()?;
        let csv = crate::workbook::csv(record);
        let file = |label, name, bytes, also| ResultFile { label, name, bytes, also };
        let others = [
            file("Workbook", WORKBOOK_FILE, workbook.as_slice(), self.xlsx.as_deref()),
            file("Values", CSV_FILE, csv.as_bytes(), self.csv.as_deref()),
        ];
        outputs::deliver_with(&others, record, dir, Exit::of(record, None), &self.run)
    }
}
