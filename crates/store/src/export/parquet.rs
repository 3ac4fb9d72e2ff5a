//! Two files of Parquet, for whoever asks questions of a whole collection: `runs.parquet` with a
//! row a run, `cells.parquet` with a row a cell. Written column by column without Arrow, which
//! would be four times the program for the same bytes.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;
use record::collection::CollectionRun;

use super::columns::{self, ColumnKind, ColumnValue};
use super::{ExportError, Sink};

/// Rows that are held in memory and written together.
const GROUP: usize = 65_536;

/// Writes the two files.
pub struct ParquetSink<R: Write + Send, C: Write + Send> {
    runs: Table<R>,
    cells: Table<C>,
}

impl<R: Write + Send, C: Write + Send> ParquetSink<R, C> {
    /// Writes runs to one and cells to the other.
    ///
    /// # Errors
    /// Where the first bytes cannot be written.
    pub fn new(runs: R, cells: C) -> Result<ParquetSink<R, C>, ExportError> {
        Ok(ParquetSink {
            runs: Table::new("runs", columns::of_runs(), runs)?,
            cells: Table::new("cells", columns::of_cells(), cells)?,
        })
    }
}

impl<R: Write + Send, C: Write + Send> Sink for ParquetSink<R, C> {
    fn add(&mut self, entry: &CollectionRun) -> Result<(), ExportError> {
        self.runs.add(columns::run_row(entry))?;
        columns::cell_rows(entry).try_for_each(|row| self.cells.add(row))
    }

    fn finish(self: Box<Self>) -> Result<(), ExportError> {
        self.runs.finish()?;
        self.cells.finish()
    }
}

/// The values of a column that are there, and for each row whether one is.
enum Values {
    Text(Vec<ByteArray>),
    Integer(Vec<i64>),
    Real(Vec<f64>),
    Truth(Vec<bool>),
}

struct Pending {
    values: Values,
    present: Vec<i16>,
}

impl Pending {
    fn new(kind: ColumnKind) -> Pending {
        let values = match kind {
            ColumnKind::Text => Values::Text(Vec::new()),
            ColumnKind::Integer => Values::Integer(Vec::new()),
            ColumnKind::Real => Values::Real(Vec::new()),
            ColumnKind::Truth => Values::Truth(Vec::new()),
        };
        Pending { values, present: Vec::new() }
    }

    fn push(&mut self, value: ColumnValue) -> Result<(), ExportError> {
        let is_there = value != ColumnValue::Nothing;
        match (&mut self.values, value) {
            (_, ColumnValue::Nothing) => {}
            (Values::Text(all), ColumnValue::Text(text)) => all.push(text.into_bytes().into()),
            (Values::Integer(all), ColumnValue::Integer(number)) => all.push(number),
            (Values::Real(all), ColumnValue::Real(number)) => all.push(number),
            (Values::Truth(all), ColumnValue::Truth(truth)) => all.push(truth),
            (_, other) => {
                return Err(ParquetError::General(format!(
                    "{other:?} stands in a column of another kind"
                ))
                .into());
            }
        }
        self.present.push(i16::from(is_there));
        Ok(())
    }

    fn write(&mut self, column: &mut SerializedColumnWriter) -> Result<(), ParquetError> {
        let present = Some(self.present.as_slice());
        match &mut self.values {
            Values::Text(all) => column
                .typed::<ByteArrayType>()
                .write_batch(all, present, None)
                .map(|_| all.clear())?,
            Values::Integer(all) => {
                column.typed::<Int64Type>().write_batch(all, present, None).map(|_| all.clear())?
            }
            Values::Real(all) => {
                column.typed::<DoubleType>().write_batch(all, present, None).map(|_| all.clear())?
            }
            Values::Truth(all) => {
                column.typed::<BoolType>().write_batch(all, present, None).map(|_| all.clear())?
            }
        }
        self.present.clear();
        Ok(())
    }
}

/// A Parquet file in the making, with the rows that are not written yet.
struct Table<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    columns: Vec<Pending>,
    rows: usize,
}

impl<W: Write + Send> Table<W> {
    fn new(
        name: &str,
        columns: Vec<(&'static str, ColumnKind)>,
        to: W,
    ) -> Result<Table<W>, ExportError> {
        let fields = columns.iter().map(|(name, kind)| match kind {
            ColumnKind::Text => format!("optional binary {name} (UTF8);"),
            ColumnKind::Integer => format!("optional int64 {name};"),
            ColumnKind::Real => format!("optional double {name};"),
            ColumnKind::Truth => format!("optional boolean {name};"),
        });
        let schema =
            parse_message_type(&format!("message {name} {{ {} }}", fields.collect::<String>()))?;
        let zstd = Compression::ZSTD(ZstdLevel::try_new(3)?);
        let properties = WriterProperties::builder()
            .set_compression(zstd)
            .set_created_by("flashmark".to_owned())
            .build();
        let writer = SerializedFileWriter::new(to, Arc::new(schema), Arc::new(properties))?;
        Ok(Table {
            writer,
            columns: columns.into_iter().map(|(_, kind)| Pending::new(kind)).collect(),
            rows: 0,
        })
    }

    fn add(&mut self, values: impl Iterator<Item = ColumnValue>) -> Result<(), ExportError> {
        for (column, value) in self.columns.iter_mut().zip(values) {
            column.push(value)?;
        }
        self.rows += 1;
        if self.rows == GROUP { self.write_group() } else { Ok(()) }
    }

    fn write_group(&mut self) -> Result<(), ExportError> {
        let mut group = self.writer.next_row_group()?;
        for column in &mut self.columns {
            let mut writer = group
                .next_column()?
                .ok_or_else(|| ParquetError::General("a column is missing".to_owned()))?;
            column.write(&mut writer)?;
            writer.close()?;
        }
        group.close()?;
        self.rows = 0;
        Ok(())
    }

    fn finish(mut self) -> Result<(), ExportError> {
        if self.rows > 0 {
            self.write_group()?;
        }
        self.writer.finish()?;
        Ok(self.writer.inner_mut().flush()?)
    }
}
