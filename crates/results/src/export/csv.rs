//! Export as CSV (RFC 4180): a line with the names of the columns, then one line for each cell,
//! with columns of its run.

use std::io::Write;

use record::collection::CollectionRun;

use super::columns::{self, ColumnValue};
use super::{ExportError, Sink};

/// Writes CSV: a line of names, then a line for each cell with columns of its run.
pub struct CsvSink<W: Write> {
    to: csv::Writer<W>,
    has_head: bool,
}

impl<W: Write> CsvSink<W> {
    /// A sink that writes to `to`, with CRLF behind each line.
    pub fn new(to: W) -> CsvSink<W> {
        let to = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(to);
        CsvSink { to, has_head: false }
    }

    fn head(&mut self) -> Result<(), ExportError> {
        if !self.has_head {
            let names = columns::repeated()
                .map(|column| column.name)
                .chain(columns::CELL.iter().map(|column| column.name));
            self.to.write_record(names).map_err(failed)?;
            self.has_head = true;
        }
        Ok(())
    }
}

fn failed(error: csv::Error) -> ExportError {
    ExportError::Io(error.into())
}

fn field(value: ColumnValue) -> String {
    match value {
        // A spreadsheet would take these for a formula.
        ColumnValue::Text(text) if text.starts_with(['=', '+', '-', '@', '\t', '\r']) => {
            format!("'{text}")
        }
        ColumnValue::Text(text) => text,
        ColumnValue::Words(words) => words.join(" "),
        ColumnValue::Time(time) => time.to_string(),
        ColumnValue::Integer(number) => number.to_string(),
        ColumnValue::Real(number) => number.to_string(),
        ColumnValue::Truth(truth) => truth.to_string(),
        ColumnValue::Nothing => String::new(),
    }
}

impl<W: Write> Sink for CsvSink<W> {
    fn add(&mut self, entry: &CollectionRun) -> Result<(), ExportError> {
        self.head()?;
        let run: Vec<String> = columns::repeated().map(|column| field(column.of(entry))).collect();
        for cell in &entry.run.cells {
            let cell = columns::CELL.iter().map(|column| field(column.of(cell)));
            self.to.write_record(run.iter().cloned().chain(cell)).map_err(failed)?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<(), ExportError> {
        self.head()?;
        Ok(self.to.flush()?)
    }
}
