//! Export of a collection for other tools: CSV, JSON and Parquet.
//!
//! All formats have the same columns, defined once in [`columns`]; docs/analysis.md explains
//! each. Sinks take one entry at a time, so that a collection of any size needs a few megabytes of
//! memory.

pub mod columns;
mod csv;
mod parquet;

use std::io::{self, Write};

use record::collection::CollectionRun;

pub use self::csv::CsvSink;
pub use self::parquet::{ParquetSink, groups_of, in_memory};

/// Something could not be exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The output could not be written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// JSON cannot represent a value.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// Parquet cannot represent a value.
    #[error("Parquet cannot hold this: {0}")]
    Parquet(#[from] ::parquet::errors::ParquetError),
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
        Ok(self.to.write_all(entry.encode().as_bytes())?)
    }

    fn finish(mut self: Box<Self>) -> Result<(), ExportError> {
        self.to.write_all(if self.is_empty { b"[]\n" } else { b"\n]\n" })?;
        Ok(self.to.flush()?)
    }
}

#[cfg(test)]
mod tests;
