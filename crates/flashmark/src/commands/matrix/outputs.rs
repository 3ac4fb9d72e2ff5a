//! Outputs of a matrix: screen, page, workbook and raw values.

use std::path::PathBuf;

use record::Record;
use store::{RunDir, atomic_write};

use crate::exit::{OrExit, Result};
use crate::outputs::{self, PAGE_FILE, ProgressForm, keepable};
use crate::terminal::OutputStream;
use crate::{messages, progress_events};

/// Name of the workbook in a run's directory.
pub const WORKBOOK_FILE: &str = "matrix.xlsx";
/// Name of the raw values in a run's directory.
pub const CSV_FILE: &str = "matrix.csv";

/// Places that get the results beside the store.
#[derive(Clone, Debug, Default)]
pub struct MatrixOutputs {
    /// File of the record; "-" is standard output.
    pub json: Option<PathBuf>,
    /// File of the page; a copy is always in the run's directory.
    pub html: Option<PathBuf>,
    /// File of the workbook.
    pub xlsx: Option<PathBuf>,
    /// File of the raw values, as CSV.
    pub csv: Option<PathBuf>,
    /// True to print all findings at the end, and not one screen of them.
    pub details: bool,
    /// True to print nothing but errors.
    pub quiet: bool,
    /// Form of the progress.
    pub progress: ProgressForm,
}

impl MatrixOutputs {
    /// Checks that the files can be written, before hours are spent.
    pub fn check(&self) -> Result<()> {
        outputs::check([&self.json, &self.html, &self.xlsx, &self.csv].into_iter().flatten())
    }

    /// Delivers a record: tables and recommendation on the terminal; page, workbook and raw values
    /// into the run's directory and where the user said.
    pub fn deliver(&self, record: &Record, dir: &RunDir) -> Result<()> {
        let page = report::html::page(record);
        let workbook = store::workbook::workbook(record).or_internal()?;
        let csv = store::workbook::csv(record);
        let files = [
            (PAGE_FILE, page.as_bytes(), &self.html),
            (WORKBOOK_FILE, workbook.as_slice(), &self.xlsx),
            (CSV_FILE, csv.as_bytes(), &self.csv),
        ];
        for (name, bytes, also) in files {
            keepable(dir.write_file(name, bytes), dir)?;
            if let Some(path) = also {
                atomic_write(path, bytes).or_internal()?;
            }
        }
        crate::hand_over::to_invoker(dir, self.quiet);
        let to_stdout = self.json.as_ref().is_some_and(|path| path.as_os_str() == "-");
        match &self.json {
            Some(_) if to_stdout => outputs::print_record(record, dir)?,
            Some(path) => atomic_write(path, record.to_json().as_bytes()).or_internal()?,
            None => {}
        }
        progress_events::concluded(record, dir);
        if self.quiet || to_stdout && messages::are_json() {
            return Ok(());
        }
        let place = |name: &str| dir.path().join(name).display().to_string();
        let mut files = outputs::files(dir);
        files.extend([("Workbook", place(WORKBOOK_FILE)), ("Values", place(CSV_FILE))]);
        let stream = if to_stdout { OutputStream::Error } else { OutputStream::Output };
        outputs::show(record, dir.name(), &files, self.details, stream)
    }
}
