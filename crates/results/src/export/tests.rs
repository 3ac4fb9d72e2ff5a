use std::io::Write;
use std::sync::{Arc, Mutex};

use ::parquet::file::reader::{FileReader, SerializedFileReader};
use record::collection::{CollectionRun, Model};
use record::{Estimate, Published, Record};

use super::columns::{CELL, REPEATED, of_cells, of_runs, repeated};
use super::*;

/// Bytes that a sink wrote; they outlive it.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Kept {
    fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }

    fn text(&self) -> String {
        String::from_utf8(self.bytes()).unwrap()
    }
}

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn all(mut sink: impl Sink, entries: &[CollectionRun]) {
    entries.iter().try_for_each(|entry| sink.add(entry)).unwrap();
    Box::new(sink).finish().unwrap();
}

fn entry(id: &str, label: &str) -> CollectionRun {
    let text = include_str!("../../../../fixtures/records/flashmark-0.1.0-sim.json");
    let mut run = Published::from(&Record::from_json(text).unwrap());
    run.label = Some(label.into());
    serde_json::from_value(serde_json::json!({
        "id": id, "received": "2026-05-01T00:00:00Z", "origin": "simulated", "model": Model::of(&run),
        "headline": { "figures": { "random-write-4k": 200.0 }, "faults": ["span-cache"] },
        "run": run,
    }))
    .unwrap()
}

fn entries() -> Vec<CollectionRun> {
    vec![entry("first", "=HYPERLINK(\"evil\")"), entry("second", "two\nlines, \"quoted\"")]
}

#[test]
fn csv_has_a_row_a_cell() {
    let kept = Kept::default();
    all(CsvSink::new(kept.clone()), &entries());
    let bytes = kept.bytes();
    let mut reader = ::csv::Reader::from_reader(bytes.as_slice());
    let names: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    assert_eq!(names.len(), repeated().count() + CELL.len());
    let rows: Vec<::csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), entries().iter().map(|entry| entry.run.cells.len()).sum::<usize>());
    let at = |row: usize, name: &str| &rows[row][names.iter().position(|it| it == name).unwrap()];
    for (row, name, value) in [
        (0, "run_id", "first"),
        (2, "run_id", "second"),
        (0, "label", "'=HYPERLINK(\"evil\")"),
        (2, "label", "two\nlines, \"quoted\""),
        (1, "test", "random-write"),
        (1, "iops", "200"),
        (1, "iops_ci95_low", "150"),
        (1, "latency_max_ns", "200000000"),
        (1, "latency_p99_ns", ""),
    ] {
        assert_eq!(at(row, name), value, "{name}");
    }
    assert!(kept.text().contains("\r\n"));
}

#[test]
fn nothing_is_a_file_too() {
    let (table, array) = (Kept::default(), Kept::default());
    all(CsvSink::new(table.clone()), &[]);
    all(JsonSink::new(array.clone()), &[]);
    assert_eq!(table.text().lines().count(), 1);
    assert_eq!(array.text(), "[]\n");
    let (runs, cells) = (Kept::default(), Kept::default());
    all(ParquetSink::new(runs.clone(), cells).unwrap(), &[]);
    let reader = SerializedFileReader::new(bytes_of(&runs)).unwrap();
    assert_eq!(reader.metadata().file_metadata().num_rows(), 0);
}

#[test]
fn json_comes_back_as_it_was() {
    let kept = Kept::default();
    all(JsonSink::new(kept.clone()), &entries());
    let back: Vec<CollectionRun> = serde_json::from_str(&kept.text()).unwrap();
    assert!(back == entries());
}

fn bytes_of(kept: &Kept) -> bytes::Bytes {
    bytes::Bytes::from(kept.bytes())
}

#[test]
fn parquet_has_the_values_of_every_column() {
    let (runs, cells) = (Kept::default(), Kept::default());
    let mut broken = entry("third", "");
    broken.run.cells[1].metrics.iops = Some(Estimate { value: f64::NAN, ci95: None, n: 0 });
    let runs_sent: Vec<CollectionRun> = entries().into_iter().chain([broken]).collect();
    all(ParquetSink::new(runs.clone(), cells.clone()).unwrap(), &runs_sent);
    let rows_of = |kept: &Kept, columns: usize| -> Vec<String> {
        let file = SerializedFileReader::new(bytes_of(kept)).unwrap();
        assert_eq!(file.metadata().file_metadata().schema_descr().num_columns(), columns);
        file.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect()
    };
    let (runs, cells) = (rows_of(&runs, of_runs().len()), rows_of(&cells, of_cells().len()));
    assert_eq!((runs.len(), cells.len()), (3, 6));
    for (row, value) in [
        (&runs[0], "run_id: \"first\""),
        (&runs[0], "random_write_4k_iops: 200.0"),
        (&runs[0], "is_fake: false"),
        (&runs[0], "worst_stall_ns: null"),
        (&runs[2], "label: null"),
        (&cells[1], "iops: 200.0"),
        (&cells[1], "block_bytes: 4096"),
        (&cells[5], "iops: null"),
    ] {
        assert!(row.contains(value), "{value}: {row}");
    }
}

#[test]
fn parquet_is_written_in_groups() {
    let (runs, cells) = (Kept::default(), Kept::default());
    let mut sink = ParquetSink::new(runs.clone(), cells.clone()).unwrap();
    let mut one = entry("many", "");
    // An open histogram is large.
    let cell = record::Cell { histogram: None, ..one.run.cells[1].clone() };
    one.run.cells = vec![cell; 50_000];
    for _ in 0..3 {
        sink.add(&one).unwrap();
    }
    Box::new(sink).finish().unwrap();
    let reader = SerializedFileReader::new(bytes_of(&cells)).unwrap();
    let groups: Vec<i64> =
        reader.metadata().row_groups().iter().map(|group| group.num_rows()).collect();
    assert_eq!(groups, [65_536, 65_536, 150_000 - 2 * 65_536]);
}

#[test]
fn every_column_is_explained() {
    let page = include_str!("../../../../docs/analysis.md");
    let mut names: Vec<String> =
        of_runs().into_iter().chain(of_cells().into_iter().skip(1)).map(|(name, _)| name).collect();
    let missing: Vec<&String> =
        names.iter().filter(|name| !page.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "docs/analysis.md does not explain {missing:?}");
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "a name stands for one column");
    assert_eq!(repeated().count(), REPEATED.split(' ').count());
}

#[test]
fn columns_have_units() {
    let units: serde_json::Value =
        serde_json::from_str(&columns::units(&columns::of_cells())).unwrap();
    assert_eq!(
        ["block_bytes", "bps_ci95_high", "iops", "latency_p99_9_ns", "iops_n"]
            .map(|name| units[name].as_str().unwrap()),
        ["B", "B/s", "1/s", "ns", "1"]
    );
    assert!(units.get("test").is_none(), "a text has none");
}
