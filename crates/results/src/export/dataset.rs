//! Export as a data set, for collections of any size: Parquet in directories by kind of medium and
//! month, such as `cells/kind=sd/month=2026-11/part-0.parquet`. A query reads only the partitions
//! that it needs. Runs, cells, curves and histograms are separate tables, joined by `run_id` and
//! `cell_id`.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use record::collection::CollectionRun;
use record::{Cell, Histogram, Series, SeriesAxis};

use super::columns::{self, ColumnKind, ColumnValue, Columns};
use super::parquet::{ParquetTable, RowValues};
use super::{ExportError, Sink};

/// Most values in memory, of all tables together: about 100 MB.
const MAX_HELD: usize = 1 << 21;

/// Most partitions whose files are open at a time, four files each.
const MAX_OPEN: usize = 48;

/// Most column chunks of a part. Their descriptions are in memory until its files end, about 1 kB
/// each.
const MAX_CHUNKS: usize = 4096;

/// Name of the column that is in the directory's name.
const KIND: &str = "kind";

/// Kind of medium and month in UTC, as in the names of directories.
type Partition = (&'static str, String);

/// Writes a data set into a directory.
pub struct DatasetSink {
    dir: PathBuf,
    open: BTreeMap<Partition, Part>,
    /// Number of parts of each partition so far.
    parts: BTreeMap<Partition, u32>,
    added: u64,
}

impl DatasetSink {
    /// A sink that writes into `dir`, which should be empty.
    pub fn new(dir: impl Into<PathBuf>) -> DatasetSink {
        DatasetSink { dir: dir.into(), open: BTreeMap::new(), parts: BTreeMap::new(), added: 0 }
    }

    fn part(&mut self, partition: &Partition) -> Result<&mut Part, ExportError> {
        if !self.open.contains_key(partition) {
            if self.open.len() == MAX_OPEN {
                let oldest = self.open.iter().min_by_key(|(_, part)| part.used);
                let oldest = oldest.map(|(partition, _)| partition.clone());
                oldest.map_or(Ok(()), |oldest| self.close(&oldest))?;
            }
            let number = self.parts.entry(partition.clone()).or_default();
            self.open.insert(partition.clone(), Part::new(&self.dir, partition, *number)?);
            *number += 1;
        }
        Ok(self.open.get_mut(partition).expect("it was opened above"))
    }

    fn close(&mut self, partition: &Partition) -> Result<(), ExportError> {
        self.open.remove(partition).map_or(Ok(()), Part::finish)
    }

    /// Writes the largest groups first, so that groups stay large.
    fn bound_memory(&mut self) -> Result<(), ExportError> {
        while self.open.values().map(Part::held).sum::<usize>() > MAX_HELD {
            let tables = self.open.values_mut().flat_map(|part| &mut part.tables);
            if let Some(largest) = tables.max_by_key(|table| table.held()) {
                largest.write_group()?;
            }
        }
        Ok(())
    }
}

impl Sink for DatasetSink {
    fn add(&mut self, entry: &CollectionRun) -> Result<(), ExportError> {
        let partition = (entry.run.kind.name(), month(entry));
        self.added += 1;
        let used = self.added;
        let part = self.part(&partition)?;
        part.used = used;
        part.add(entry)?;
        if part.chunks() > MAX_CHUNKS {
            self.close(&partition)?;
        }
        self.bound_memory()
    }

    fn finish(self: Box<Self>) -> Result<(), ExportError> {
        self.open.into_values().try_for_each(Part::finish)
    }
}

/// Month of the measurement, else of its receipt, as `2026-11`; `unknown` for a run without a time,
/// as of a simulated medium.
fn month(entry: &CollectionRun) -> String {
    let times = [entry.run.started.as_deref(), Some(&entry.received)];
    let month = times.into_iter().flatten().find_map(|time| {
        let ColumnValue::Time(time) = columns::time(Some(time)) else { return None };
        Some(time.to_string()[..7].to_owned())
    });
    month.unwrap_or_else(|| "unknown".to_owned())
}

/// The open files of a partition, in the order of [`tables`].
struct Part {
    tables: [ParquetTable<BufWriter<File>>; 4],
    /// Number of the run that was added last.
    used: u64,
}

impl Part {
    fn new(dir: &Path, partition: &Partition, number: u32) -> Result<Part, ExportError> {
        let (kind, month) = partition;
        let [runs, cells, series, histograms] = tables().map(|(name, columns)| {
            let dir = dir.join(format!("{name}/kind={kind}/month={month}"));
            fs::create_dir_all(&dir)?;
            let file = File::create(dir.join(format!("part-{number}.parquet")))?;
            ParquetTable::new(name, columns, BufWriter::new(file))
        });
        Ok(Part { tables: [runs?, cells?, series?, histograms?], used: 0 })
    }

    fn add(&mut self, entry: &CollectionRun) -> Result<(), ExportError> {
        let [runs, cells, series, histograms] = &mut self.tables;
        runs.add(run_row(entry))?;
        columns::cell_rows(entry).try_for_each(|row| cells.add(row))?;
        for cell in &entry.run.cells {
            for curve in &cell.series {
                series.add_rows(curve.points.len(), series_rows(&entry.id, cell, curve))?;
            }
            if let Some(histogram) = &cell.histogram {
                let rows = histogram.buckets().count();
                histograms.add_rows(rows, histogram_rows(&entry.id, cell, histogram))?;
            }
        }
        Ok(())
    }

    fn held(&self) -> usize {
        self.tables.iter().map(ParquetTable::held).sum()
    }

    fn chunks(&self) -> usize {
        self.tables.iter().map(ParquetTable::chunks).sum()
    }

    fn finish(self) -> Result<(), ExportError> {
        self.tables.into_iter().try_for_each(ParquetTable::finish)
    }
}

/// Names and columns of the tables.
fn tables() -> [(&'static str, Columns); 4] {
    let runs = columns::of_runs().into_iter().filter(|(name, _)| name != KIND).collect();
    [
        ("runs", runs),
        ("cells", columns::of_cells()),
        ("series", of(&SERIES)),
        ("histograms", of(&HISTOGRAMS)),
    ]
}

fn of(columns: &[(&str, ColumnKind)]) -> Columns {
    columns.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).collect()
}

fn run_row(entry: &CollectionRun) -> impl Iterator<Item = ColumnValue> {
    let columns = columns::of_runs().into_iter().zip(columns::run_row(entry));
    columns.filter(|((name, _), _)| name != KIND).map(|(_, value)| value)
}

/// Columns of the points of curves. The unit of `x` and of `y` is in the name of its axis.
const SERIES: [(&str, ColumnKind); 7] = [
    ("run_id", ColumnKind::Text),
    ("cell_id", ColumnKind::Text),
    ("series", ColumnKind::Text),
    ("x_axis", ColumnKind::Text),
    ("x", ColumnKind::Real),
    ("y_axis", ColumnKind::Text),
    ("y", ColumnKind::Real),
];

fn series_rows<'a>(run: &str, cell: &Cell, curve: &'a Series) -> [RowValues<'a>; 7] {
    let same = |text: &str| RowValues::Same(columns::text(Some(text)));
    let axis = |axis: SeriesAxis| RowValues::Same(columns::word(Some(axis)));
    let along = |at: usize| {
        let numbers = curve.points.iter().map(move |point| columns::real(Some(point[at])));
        RowValues::Each(Box::new(numbers))
    };
    [same(run), same(&cell.id), same(&curve.name), axis(curve.x), along(0), axis(curve.y), along(1)]
}

/// Columns of the buckets that are not empty: the largest latency of each in ns, and its count.
const HISTOGRAMS: [(&str, ColumnKind); 4] = [
    ("run_id", ColumnKind::Text),
    ("cell_id", ColumnKind::Text),
    ("latency_ns", ColumnKind::Integer),
    ("count", ColumnKind::Integer),
];

fn histogram_rows<'a>(run: &str, cell: &Cell, histogram: &'a Histogram) -> [RowValues<'a>; 4] {
    let same = |text: &str| RowValues::Same(columns::text(Some(text)));
    let integers = |of: fn((u64, u64)) -> u64| {
        let numbers = histogram.buckets().map(move |bucket| columns::integer(Some(of(bucket))));
        RowValues::Each(Box::new(numbers))
    };
    [same(run), same(&cell.id), integers(|(ns, _)| ns), integers(|(_, count)| count)]
}
