//! Export as a workbook for spreadsheets: a sheet of runs and a sheet of cells, each a table with
//! filters.

use std::io::Write;

use record::collection::CollectionRun;
use rust_xlsxwriter::{Table, TableColumn, Workbook, Worksheet, XlsxError};

use super::columns::{self, ColumnKind, ColumnValue, Columns};
use super::{ExportError, Sink};

/// Most rows of a sheet.
const ROWS: u32 = 1_048_576;
/// Most characters of a field.
const LETTERS: usize = 32_767;

/// Collects a workbook and writes it at the end.
pub struct XlsxSink<W: Write> {
    to: W,
    runs: Sheet,
    cells: Sheet,
}

/// A sheet that is being filled.
struct Sheet {
    sheet: Worksheet,
    columns: Columns,
    row: u32,
}

impl Sheet {
    fn new(name: &str, columns: Columns) -> Result<Sheet, XlsxError> {
        let mut sheet = Worksheet::new();
        sheet.set_name(name)?;
        sheet.set_freeze_panes(1, 1)?;
        for (at, (_, kind)) in (0..).zip(&columns) {
            let is_number =
                matches!(kind, ColumnKind::Integer | ColumnKind::Real | ColumnKind::Truth);
            sheet.set_column_width(at, if is_number { 13 } else { 18 })?;
        }
        Ok(Sheet { sheet, columns, row: 1 })
    }

    fn add(&mut self, values: impl Iterator<Item = ColumnValue>) -> Result<(), ExportError> {
        if self.row == ROWS {
            return Err(ExportError::TooManyRows);
        }
        for (column, value) in (0..).zip(values) {
            match value {
                ColumnValue::Text(text) => {
                    self.sheet.write_string(self.row, column, fitting(text))?
                }
                ColumnValue::Words(words) => {
                    self.sheet.write_string(self.row, column, fitting(words.join(" ")))?
                }
                ColumnValue::Time(time) => {
                    self.sheet.write_string(self.row, column, time.to_string())?
                }
                ColumnValue::Integer(number) => {
                    self.sheet.write_number(self.row, column, number as f64)?
                }
                ColumnValue::Real(number) => self.sheet.write_number(self.row, column, number)?,
                ColumnValue::Truth(truth) => self.sheet.write_boolean(self.row, column, truth)?,
                ColumnValue::Nothing => continue,
            };
        }
        self.row += 1;
        Ok(())
    }

    fn finish(mut self, name: &str) -> Result<Worksheet, ExportError> {
        let columns: Vec<TableColumn> =
            self.columns.iter().map(|(name, _)| TableColumn::new().set_header(name)).collect();
        let table = Table::new().set_name(name).set_columns(&columns);
        let last = self.columns.len() as u16 - 1;
        // A table needs at least one row.
        self.sheet.add_table(0, 0, self.row.max(2) - 1, last, &table)?;
        Ok(self.sheet)
    }
}

/// Cuts a text to the most characters of a field.
fn fitting(text: String) -> String {
    if text.chars().count() <= LETTERS {
        text
    } else {
        text.chars().take(LETTERS - 1).chain(['…']).collect()
    }
}

impl<W: Write> XlsxSink<W> {
    /// Makes a sink that writes to `to` at the end.
    ///
    /// # Errors
    /// If the format refuses its own columns.
    pub fn new(to: W) -> Result<XlsxSink<W>, ExportError> {
        Ok(XlsxSink {
            to,
            runs: Sheet::new("Runs", columns::of_runs())?,
            cells: Sheet::new("Cells", columns::of_cells())?,
        })
    }
}

impl<W: Write> Sink for XlsxSink<W> {
    fn add(&mut self, entry: &CollectionRun) -> Result<(), ExportError> {
        self.runs.add(columns::run_row(entry))?;
        columns::cell_rows(entry).try_for_each(|row| self.cells.add(row))
    }

    fn finish(mut self: Box<Self>) -> Result<(), ExportError> {
        let mut workbook = Workbook::new();
        workbook.push_worksheet(self.runs.finish("Runs")?);
        workbook.push_worksheet(self.cells.finish("Cells")?);
        let bytes = workbook.save_to_buffer()?;
        self.to.write_all(&bytes)?;
        Ok(self.to.flush()?)
    }
}
