//! Files of a matrix beside its record and page: a workbook, and the raw values.

use std::path::PathBuf;

use record::Record;

use program::exit::{OrExit, Result};
use session::outputs::ResultFile;

/// Places that get copies of the files.
#[derive(Clone, Debug, Default)]
pub struct MatrixFiles {
    /// Of the workbook.
    pub xlsx: Option<PathBuf>,
    /// Of the raw values, as CSV.
    pub csv: Option<PathBuf>,
}

impl MatrixFiles {
    /// The files of a record.
    pub fn of(&self, record: &Record) -> Result<Vec<ResultFile>> {
        let bytes = crate::workbook::workbook(record).or_internal()?;
        let workbook =
            ResultFile { label: "Workbook", name: "matrix.xlsx", bytes, also: self.xlsx.clone() };
        let bytes = crate::workbook::csv(record).into_bytes();
        let values =
            ResultFile { label: "Values", name: "matrix.csv", bytes, also: self.csv.clone() };
        Ok(vec![workbook, values])
    }
}
