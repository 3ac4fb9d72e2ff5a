//! Export as two files of Parquet, for queries over a whole collection: `runs.parquet` with a row
//! for each run, `cells.parquet` with a row for each cell. Written column by column without Arrow,
//! which would be four times the program for the same bytes.

use std::io::Write;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Compression, ZstdLevel};
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, ParquetMetaDataReader};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::ChunkReader;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;
use record::collection::CollectionRun;

use super::columns::{self, ColumnKind, ColumnValue, Columns};
use super::{ExportError, Sink};

/// Rows that are held in memory and written together, as a row group.
const GROUP: usize = 65_536;

/// Writes the two files.
pub struct ParquetSink<R: Write + Send, C: Write + Send> {
    runs: ParquetTable<R>,
    cells: ParquetTable<C>,
}

impl<R: Write + Send, C: Write + Send> ParquetSink<R, C> {
    /// Makes a sink that writes runs to one file and cells to the other.
    ///
    /// # Errors
    /// If the first bytes cannot be written.
    pub fn new(runs: R, cells: C) -> Result<ParquetSink<R, C>, ExportError> {
        Ok(ParquetSink {
            runs: ParquetTable::new("runs", columns::of_runs(), runs)?,
            cells: ParquetTable::new("cells", columns::of_cells(), cells)?,
        })
    }
}

impl<R: Write + Send, C: Write + Send> ParquetSink<R, C> {
    /// Appends row groups of finished files of runs and of cells unchanged, from the first up to
    /// but not including the last of each; [`groups_of`] counts them.
    ///
    /// # Errors
    /// If a file is not of this form, or this cannot be written.
    pub fn append<T: ChunkReader>(
        &mut self,
        [runs, cells]: [&T; 2],
        groups: [Range<usize>; 2],
    ) -> Result<(), ExportError> {
        let [of_runs, of_cells] = groups;
        self.runs.append(runs, of_runs)?;
        self.cells.append(cells, of_cells)
    }
}

/// Makes two finished files in memory, of runs and of cells.
///
/// # Errors
/// As of a sink.
pub fn in_memory(
    entries: impl IntoIterator<Item = Result<CollectionRun, ExportError>>,
) -> Result<[Bytes; 2], ExportError> {
    let (mut runs, mut cells) = (Vec::new(), Vec::new());
    let mut sink = Box::new(ParquetSink::new(&mut runs, &mut cells)?);
    entries.into_iter().try_for_each(|entry| sink.add(&entry?))?;
    sink.finish()?;
    Ok([runs.into(), cells.into()])
}

/// Number of row groups in a finished file.
///
/// # Errors
/// If it is not a Parquet file.
pub fn groups_of(file: &impl ChunkReader) -> Result<usize, ExportError> {
    Ok(ParquetMetaDataReader::new().parse_and_finish(file)?.num_row_groups())
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

/// Present values of a column.
enum Values {
    Text(Vec<ByteArray>),
    Time(Vec<i64>),
    Integer(Vec<i64>),
    Real(Vec<f64>),
    Truth(Vec<bool>),
}

/// A column of rows that are not written yet: its values, and Parquet's definition and repetition
/// levels, which assign them to rows. A list of words is a level deeper.
struct Pending {
    values: Values,
    definition: Vec<i16>,
    repetition: Option<Vec<i16>>,
}

/// Definition level of a word in a list that is present.
const WORD_LEVEL: i16 = 2;

impl Pending {
    fn new(kind: ColumnKind) -> Pending {
        let values = match kind {
            ColumnKind::Text | ColumnKind::Json | ColumnKind::Words => Values::Text(Vec::new()),
            ColumnKind::Time => Values::Time(Vec::new()),
            ColumnKind::Integer => Values::Integer(Vec::new()),
            ColumnKind::Real => Values::Real(Vec::new()),
            ColumnKind::Truth => Values::Truth(Vec::new()),
        };
        let repetition = (kind == ColumnKind::Words).then(Vec::new);
        Pending { values, definition: Vec::new(), repetition }
    }

    fn push(&mut self, value: ColumnValue) -> Result<(), ExportError> {
        if let (Values::Text(all), Some(repetition), ColumnValue::Words(words)) =
            (&mut self.values, &mut self.repetition, &value)
        {
            repetition.extend((0..words.len()).map(|at| i16::from(at > 0)));
            self.definition.extend(words.iter().map(|_| WORD_LEVEL));
            all.extend(words.iter().map(|word| ByteArray::from(word.as_str())));
            return Ok(());
        }
        let is_there = value != ColumnValue::Nothing;
        match (&mut self.values, value) {
            (_, ColumnValue::Nothing) => {}
            (Values::Text(all), ColumnValue::Text(text)) => all.push(text.into_bytes().into()),
            (Values::Time(all), ColumnValue::Time(time)) => {
                all.push(time.0.div_euclid(1000) as i64)
            }
            (Values::Integer(all), ColumnValue::Integer(number)) => all.push(number),
            (Values::Real(all), ColumnValue::Real(number)) => all.push(number),
            (Values::Truth(all), ColumnValue::Truth(truth)) => all.push(truth),
            (_, other) => {
                let why = format!("{other:?} stands in a column of another kind");
                return Err(ParquetError::General(why).into());
            }
        }
        self.definition.push(i16::from(is_there));
        self.repetition.iter_mut().for_each(|levels| levels.push(0));
        Ok(())
    }

    fn write(&mut self, column: &mut SerializedColumnWriter) -> Result<(), ParquetError> {
        let levels = (self.definition.as_slice(), self.repetition.as_deref());
        match &mut self.values {
            Values::Text(all) => write_batch::<ByteArrayType>(column, all, levels)?,
            Values::Integer(all) | Values::Time(all) => {
                write_batch::<Int64Type>(column, all, levels)?
            }
            Values::Real(all) => write_batch::<DoubleType>(column, all, levels)?,
            Values::Truth(all) => write_batch::<BoolType>(column, all, levels)?,
        }
        self.definition.clear();
        self.repetition.iter_mut().for_each(Vec::clear);
        Ok(())
    }
}

/// Writes the values of a column with their definition and repetition levels.
fn write_batch<T: DataType>(
    column: &mut SerializedColumnWriter,
    all: &mut Vec<T::T>,
    (definition, repetition): (&[i16], Option<&[i16]>),
) -> Result<(), ParquetError> {
    column.typed::<T>().write_batch(all, Some(definition), repetition)?;
    all.clear();
    Ok(())
}

/// A Parquet file in the making, with the rows that are not written yet.
struct ParquetTable<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    columns: Vec<Pending>,
    rows: usize,
}

impl<W: Write + Send> ParquetTable<W> {
    fn new(name: &str, columns: Columns, to: W) -> Result<ParquetTable<W>, ExportError> {
        let fields = columns.iter().map(|(name, kind)| match kind {
            ColumnKind::Text => format!("optional binary {name} (UTF8);"),
            ColumnKind::Json => format!("optional binary {name} (JSON);"),
            // An empty list is absent, so that the list itself is one level only.
            ColumnKind::Words => format!(
                "optional group {name} (LIST) {{ repeated group list {{ required binary element (UTF8); }} }}"
            ),
            ColumnKind::Time => format!("optional int64 {name} (TIMESTAMP(MICROS,true));"),
            ColumnKind::Integer => format!("optional int64 {name};"),
            ColumnKind::Real => format!("optional double {name};"),
            ColumnKind::Truth => format!("optional boolean {name};"),
        });
        let schema =
            parse_message_type(&format!("message {name} {{ {} }}", fields.collect::<String>()))?;
        let zstd = Compression::ZSTD(ZstdLevel::try_new(3)?);
        let properties = WriterProperties::builder()
            .set_compression(zstd)
            .set_created_by(format!("flashmark version {}", env!("CARGO_PKG_VERSION")))
            .set_key_value_metadata(Some(vec![
                KeyValue::new("flashmark.schema".to_owned(), record::SCHEMA.to_owned()),
                KeyValue::new("flashmark.units".to_owned(), columns::units(&columns)),
            ]))
            .build();
        let writer = SerializedFileWriter::new(to, Arc::new(schema), Arc::new(properties))?;
        Ok(ParquetTable {
            writer,
            columns: columns.into_iter().map(|(_, kind)| Pending::new(kind)).collect(),
            rows: 0,
        })
    }

    fn add(&mut self, values: impl IntoIterator<Item = ColumnValue>) -> Result<(), ExportError> {
        for (column, value) in self.columns.iter_mut().zip(values) {
            column.push(value)?;
        }
        self.rows += 1;
        if self.rows == GROUP { self.write_group() } else { Ok(()) }
    }

    fn append<T: ChunkReader>(
        &mut self,
        from: &T,
        groups: Range<usize>,
    ) -> Result<(), ExportError> {
        let metadata = ParquetMetaDataReader::new().parse_and_finish(from)?;
        for at in groups {
            let theirs = metadata.row_groups().get(at);
            let theirs = theirs.ok_or_else(|| ParquetError::General("no such group".to_owned()))?;
            let mut group = self.writer.next_row_group()?;
            for column in theirs.columns() {
                let close = ColumnCloseResult {
                    bytes_written: column.compressed_size() as u64,
                    rows_written: theirs.num_rows() as u64,
                    metadata: column.clone(),
                    bloom_filter: None,
                    column_index: None,
                    offset_index: None,
                };
                group.append_column(from, close)?;
            }
            group.close()?;
        }
        Ok(())
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
