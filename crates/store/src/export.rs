//! Export of a collection for other tools: CSV, JSON, workbooks, Parquet, and fio's JSON.
//!
//! All formats have the same columns, defined once in [`columns`]; docs/collection.md explains
//! each. Sinks take one entry at a time, so that a collection of any size needs a few megabytes of
//! memory (a workbook is the exception: its format needs all of it).

pub mod columns;
mod csv;
mod dataset;
mod fio;
mod fio_fields;
mod parquet;
mod xlsx;

use std::io::{self, Write};

use record::collection::CollectionRun;

pub use self::csv::CsvSink;
pub use self::dataset::DatasetSink;
pub use self::fio::fio;
pub use self::parquet::{ParquetSink, groups_of, in_memory};
pub use self::xlsx::XlsxSink;

/// Something could not be exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The output could not be written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// JSON cannot represent a value.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// The format of workbooks cannot represent a value.
    #[error("a workbook cannot hold this: {0}; --format parquet or csv can")]
    Workbook(#[from] rust_xlsxwriter::XlsxError),
    /// Parquet cannot represent a value.
    #[error("Parquet cannot hold this: {0}")]
    Parquet(#[from] ::parquet::errors::ParquetError),
    /// A sheet has fewer rows than the runs have cells.
    #[error(
        "a sheet of a workbook has 1,048,576 rows, and these runs have more cells; --format parquet or csv has no limit"
    )]
    TooManyRows,
}

impl From<ExportError> for io::Error {
    fn from(error: ExportError) -> io::Error {
        match error {
            ExportError::Io(error) => error,
            other => io::Error::other(other),
        }
    }
}

/// Receiver of entries, one after the other.
pub trait Sink {
    /// Writes one entry.
    ///
    /// # Errors
    /// If it cannot be written.
    fn add(&mut self, entry: &CollectionRun) -> Result<(), ExportError>;

    /// Writes the rest and the end. Without it the file is incomplete.
    ///
    /// # Errors
    /// If it cannot be written.
    fn finish(self: Box<Self>) -> Result<(), ExportError>;
}

/// Writes a JSON array of entries, one a line, as the record's types serialise them.
pub struct JsonSink<W: Write> {
    to: W,
    is_empty: bool,
}

impl<W: Write> JsonSink<W> {
    /// A sink that writes a JSON array to `to`.
    pub fn new(to: W) -> JsonSink<W> {
        JsonSink { to, is_empty: true }
    }
}

impl<W: Write> Sink for JsonSink<W> {
    fn add(&mut self, entry: &CollectionRun) -> Result<(), ExportError> {
        self.to.write_all(if self.is_empty { b"[\n" } else { b",\n" })?;
        self.is_empty = false;
        Ok(serde_json::to_writer(&mut self.to, entry)?)
    }

    fn finish(mut self: Box<Self>) -> Result<(), ExportError> {
        self.to.write_all(if self.is_empty { b"[]\n" } else { b"\n]\n" })?;
        Ok(self.to.flush()?)
    }
}

/// Writes fio's JSON, one document for each run, in an array if there are several.
pub struct FioSink<W: Write> {
    to: W,
    /// First document, held back until it is known that more follow.
    first: Option<String>,
    is_array: bool,
}

impl<W: Write> FioSink<W> {
    /// A sink that writes fio's JSON to `to`; an array where it gets several runs.
    pub fn new(to: W) -> FioSink<W> {
        FioSink { to, first: None, is_array: false }
    }
}

impl<W: Write> Sink for FioSink<W> {
    fn add(&mut self, entry: &CollectionRun) -> Result<(), ExportError> {
        let document = fio(entry);
        if let Some(first) = self.first.take() {
            write!(self.to, "[\n{}", first.trim_end())?;
            self.is_array = true;
        }
        if self.is_array {
            write!(self.to, ",\n{}", document.trim_end())?;
        } else {
            self.first = Some(document);
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<(), ExportError> {
        match self.first.take() {
            Some(only) => self.to.write_all(only.as_bytes())?,
            None if self.is_array => self.to.write_all(b"\n]\n")?,
            None => self.to.write_all(b"[]\n")?,
        }
        Ok(self.to.flush()?)
    }
}

fn all(mut sink: impl Sink, entries: &[CollectionRun]) -> Result<(), ExportError> {
    entries.iter().try_for_each(|entry| sink.add(entry))?;
    Box::new(sink).finish()
}

/// Writes CSV with one row for each cell.
///
/// # Errors
/// If it cannot be written.
pub fn csv(entries: &[CollectionRun], to: impl Write) -> Result<(), ExportError> {
    all(CsvSink::new(to), entries)
}

/// Writes a JSON array of entries.
///
/// # Errors
/// If it cannot be written.
pub fn json(entries: &[CollectionRun], to: impl Write) -> Result<(), ExportError> {
    all(JsonSink::new(to), entries)
}

/// Writes a workbook with the sheets "Runs" and "Cells".
///
/// # Errors
/// If there are more cells than a sheet has rows.
pub fn xlsx(entries: &[CollectionRun], to: impl Write) -> Result<(), ExportError> {
    all(XlsxSink::new(to)?, entries)
}

/// Writes two files of Parquet: one row for each run, and one for each cell.
///
/// # Errors
/// If they cannot be written.
pub fn parquet(
    entries: &[CollectionRun],
    runs: impl Write + Send,
    cells: impl Write + Send,
) -> Result<(), ExportError> {
    all(ParquetSink::new(runs, cells)?, entries)
}

#[cfg(test)]
mod tests;
