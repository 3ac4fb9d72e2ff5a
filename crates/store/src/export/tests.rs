use std::io::{Cursor, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};

use ::parquet::file::reader::{FileReader, SerializedFileReader};
use record::collection::{
    CollectionRun, HeadlineFigure, Model, Origin, RunHeadline, SubmissionStatus,
};
use record::{Estimate, Published, Record};

use super::columns::{CELL, REPEATED, RUN, of_cells, of_runs};
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

fn entry(id: &str, label: &str) -> CollectionRun {
    let text = include_str!("../../../../fixtures/records/flashmark-0.1.0-sim.json");
    let run = Published {
        label: Some(label.into()),
        ..Published::from(&Record::from_json(text).unwrap())
    };
    CollectionRun {
        id: id.into(),
        local_name: None,
        received: "2026-05-01T00:00:00Z".into(),
        origin: Origin::Simulated,
        status: SubmissionStatus::Accepted,
        revision: 1,
        model: Model::of(&run),
        headline: RunHeadline {
            figures: [(HeadlineFigure::RandomWrite4k, 200.0)].into(),
            faults: vec!["span-cache".into()],
            ..RunHeadline::default()
        },
        run,
    }
}

fn entries() -> Vec<CollectionRun> {
    vec![entry("first", "=HYPERLINK(\"evil\")"), entry("second", "two\nlines, \"quoted\"")]
}

#[test]
fn csv_has_a_row_a_cell() {
    let kept = Kept::default();
    csv(&entries(), kept.clone()).unwrap();
    let bytes = kept.bytes();
    let mut reader = ::csv::Reader::from_reader(bytes.as_slice());
    let names: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    assert_eq!(names.len(), REPEATED.len() + CELL.len());
    let rows: Vec<::csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), entries().iter().map(|entry| entry.run.cells.len()).sum::<usize>());
    let at = |row: usize, name: &str| {
        rows[row][names.iter().position(|known| known == name).unwrap()].to_owned()
    };
    assert_eq!(
        [at(0, "run_id"), at(2, "run_id"), at(1, "test")],
        ["first", "second", "random-write"]
    );
    assert_eq!(
        [at(0, "label"), at(2, "label")],
        ["'=HYPERLINK(\"evil\")", "two\nlines, \"quoted\""]
    );
    assert_eq!(
        [at(1, "iops"), at(1, "iops_ci95_low"), at(1, "latency_max_ns"), at(1, "latency_p99_ns")],
        ["200", "150", "200000000", ""]
    );
    assert!(kept.text().contains("\r\n"));
}

#[test]
fn nothing_is_a_file_too() {
    let (table, array, document) = (Kept::default(), Kept::default(), Kept::default());
    csv(&[], table.clone()).unwrap();
    json(&[], array.clone()).unwrap();
    all(FioSink::new(document.clone()), &[]).unwrap();
    assert_eq!(table.text().lines().count(), 1);
    assert_eq!((array.text().as_str(), document.text().as_str()), ("[]\n", "[]\n"));
    let (runs, cells) = (Kept::default(), Kept::default());
    parquet(&[], runs.clone(), cells).unwrap();
    let reader = SerializedFileReader::new(bytes_of(&runs)).unwrap();
    assert_eq!(reader.metadata().file_metadata().num_rows(), 0);
    xlsx(&[], Kept::default()).unwrap();
}

#[test]
fn json_comes_back_as_it_was() {
    let kept = Kept::default();
    json(&entries(), kept.clone()).unwrap();
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
    let all: Vec<CollectionRun> = entries().into_iter().chain([broken]).collect();
    parquet(&all, runs.clone(), cells.clone()).unwrap();
    let of_runs = SerializedFileReader::new(bytes_of(&runs)).unwrap();
    assert_eq!(
        of_runs.metadata().file_metadata().schema_descr().num_columns(),
        columns::of_runs().len()
    );
    let rows: Vec<String> =
        of_runs.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect();
    assert_eq!(rows.len(), 3);
    assert!(
        rows[0].contains("run_id: \"first\"")
            && rows[0].contains("random_write_4k_iops: 200.0")
            && rows[0].contains("is_fake: false"),
        "{}",
        rows[0]
    );
    assert!(rows[0].contains("worst_stall_ns: null") && rows[2].contains("label: null"));
    let of_cells = SerializedFileReader::new(bytes_of(&cells)).unwrap();
    let rows: Vec<String> =
        of_cells.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect();
    assert_eq!(rows.len(), 6);
    assert!(
        rows[1].contains("iops: 200.0") && rows[1].contains("block_bytes: 4096"),
        "{}",
        rows[1]
    );
    assert!(rows[5].contains("iops: null"), "{}", rows[5]);
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
fn a_workbook_is_a_zip_with_two_sheets_that_can_be_filtered() {
    let kept = Kept::default();
    xlsx(&entries(), kept.clone()).unwrap();
    let mut archive = zip::ZipArchive::new(Cursor::new(kept.bytes())).unwrap();
    let mut part = |name: &str| io::read_to_string(archive.by_name(name).unwrap()).unwrap();
    assert!(part("xl/workbook.xml").contains("name=\"Cells\""));
    assert!(part("xl/tables/table2.xml").contains("autoFilter ref=\"A1:"));
    let texts = part("xl/sharedStrings.xml");
    assert!(texts.contains("=HYPERLINK"), "a text stays one");
    assert!(!part("xl/worksheets/sheet1.xml").contains("<f>"), "and is no formula");
}

#[test]
fn the_fio_json_is_as_fio_would_write_it() {
    let mut one = entry("first", "");
    let document: serde_json::Value = serde_json::from_str(&fio(&one)).unwrap();
    assert_eq!(document["fio version"], "flashmark-0.1.0");
    let jobs = document["jobs"].as_array().unwrap();
    assert_eq!(jobs.len(), 1, "what failed before its first I/O is no job");
    let job = &jobs[0];
    assert_eq!(
        (job["job options"]["rw"].as_str(), job["job options"]["bs"].as_str()),
        (Some("randwrite"), Some("4096"))
    );
    assert_eq!(
        (job["write"]["total_ios"].as_u64(), job["write"]["iops"].as_f64()),
        (Some(100), Some(200.0))
    );
    assert_eq!(job["write"]["clat_ns"]["percentile"]["50.000000"], 2_000_000);
    assert_eq!(job["read"]["total_ios"], 0);
    let bins = job["write"]["clat_ns"]["bins"].as_object().unwrap();
    assert_eq!(bins.values().filter_map(serde_json::Value::as_u64).sum::<u64>(), 100);
    one.run.cells[1].params.pattern = Some(record::Pattern::Strided);
    let document: serde_json::Value = serde_json::from_str(&fio(&one)).unwrap();
    assert!(document["jobs"].as_array().unwrap().is_empty(), "fio has no word for it");
}

/// fio-plot 1.1.21 reads these and does not ask whether they exist; fio's own tool reads all three
/// directions, and never ends where a bucket is beyond fio's last.
#[test]
fn fios_json_has_what_its_tools_read() {
    let mut one = entry("first", "");
    let histogram = one.run.cells[1].histogram.as_mut().unwrap();
    histogram.record(40_000_000_000);
    histogram.record(50_000_000_000);
    let document: serde_json::Value = serde_json::from_str(&fio(&one)).unwrap();
    let job = &document["jobs"][0];
    for key in ["latency_ns", "latency_us", "latency_ms", "usr_cpu", "sys_cpu", "trim"] {
        assert!(job.get(key).is_some(), "{key}");
    }
    for key in ["rw", "bs", "iodepth", "numjobs"] {
        assert!(job["job options"].get(key).is_some(), "{key}");
    }
    for key in ["bw", "iops", "iops_stddev"] {
        assert!(job["read"].get(key).is_some() && job["write"].get(key).is_some(), "{key}");
    }
    let times = &job["write"]["lat_ns"];
    // 97 of 2 ms, 2 of 53, one of 200, and two that are longer than fio knows.
    assert!(times["mean"].as_f64().unwrap() > 0.0 && times["stddev"].as_f64().unwrap() > 0.0);
    assert_eq!(job["write"]["clat_ns"]["bins"]["17112760320"], 2);
    let share = |class: &str| job["latency_ms"][class].as_f64().unwrap();
    // A bucket of 2 ms reaches a little beyond.
    let short = share("2") + share("4");
    assert!((short - 9700.0 / 102.0).abs() < 1e-6, "{short}");
    assert!((share(">=2000") - 200.0 / 102.0).abs() < 1e-6);
    let rate = &job["write"];
    // Its curve: 350 and 50 I/Os a second.
    assert_eq!((rate["iops_min"].as_f64(), rate["iops_max"].as_f64()), (Some(50.0), Some(350.0)));
    assert!((rate["iops_stddev"].as_f64().unwrap() - 212.132).abs() < 0.001);
}

/// Fields of a cell that must survive export and import.
fn gist(cell: &record::Cell) -> (Option<u64>, u32, Option<f64>, u64, Option<u64>, Option<u64>) {
    let latency = cell.metrics.latency_ns.as_ref();
    let iops = cell.metrics.iops.map(|found| found.value);
    (
        cell.params.block_bytes,
        cell.params.queue_depth,
        iops,
        cell.ops,
        latency.and_then(|found| found.p50),
        latency.map(|found| found.max),
    )
}

#[test]
fn our_importer_reads_what_fio_would_have_printed() {
    let one = entry("first", "");
    let records = import::read("export.json", fio(&one).as_bytes()).unwrap();
    assert_eq!((records.len(), records[0].cells.len()), (1, 1));
    let (sent, back) = (&one.run.cells[1], &records[0].cells[0]);
    assert_eq!((back.test.as_str(), gist(back)), ("random-write", gist(sent)));
    assert_eq!(
        back.histogram.as_ref().map(record::Histogram::len),
        sent.histogram.as_ref().map(record::Histogram::len)
    );
    // Several runs are an array.
    let kept = Kept::default();
    all(FioSink::new(kept.clone()), &entries()).unwrap();
    let records = import::read("export.json", kept.text().as_bytes()).unwrap();
    assert_eq!(records.iter().map(|record| record.cells.len()).sum::<usize>(), 2);
}

#[test]
fn our_importer_reads_our_csv() {
    let kept = Kept::default();
    csv(&entries(), kept.clone()).unwrap();
    let records = import::read("export.csv", kept.text().as_bytes()).unwrap();
    assert_eq!(records.len(), 2, "one a run");
    for (record, entry) in records.iter().zip(entries()) {
        let (sent, back) = (&entry.run.cells[1], &record.cells[1]);
        assert_eq!(
            (&back.test, gist(back), &back.params.content),
            (&sent.test, gist(sent), &sent.params.content)
        );
        assert_eq!(
            back.metrics.iops.and_then(|found| found.ci95),
            sent.metrics.iops.and_then(|found| found.ci95)
        );
        assert_eq!(record.medium.capacity_bytes, entry.run.capacity_bytes);
    }
}

#[test]
fn the_reference_collection_comes_back_from_csv() {
    let mut bytes = Vec::new();
    let entries = import::reference::entries();
    csv(&entries, &mut bytes).unwrap();
    let records = import::read("export.csv", &bytes).unwrap();
    assert_eq!(records.len(), entries.len());
    for (record, entry) in records.iter().zip(&entries) {
        assert_eq!(record.run.software.name, entry.run.software.name);
        assert_eq!(
            (record.medium.kind, &record.medium.vendor, &record.medium.model),
            (entry.run.kind, &entry.run.vendor, &entry.run.model)
        );
        assert_eq!(record.cells, entry.run.cells);
    }
}

#[test]
fn every_column_is_explained() {
    let page = include_str!("../../../../docs/collection.md");
    let mut names: Vec<String> =
        of_runs().into_iter().chain(of_cells().into_iter().skip(1)).map(|(name, _)| name).collect();
    let missing: Vec<&String> =
        names.iter().filter(|name| !page.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "docs/collection.md does not explain {missing:?}");
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "a name stands for one column");
    assert!(REPEATED.iter().all(|name| RUN.iter().any(|column| column.name == *name)));
}

fn files_below(dir: &Path) -> Vec<String> {
    let mut found: Vec<String> = std::fs::read_dir(dir)
        .unwrap()
        .flat_map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            if path.is_dir() {
                files_below(&path).into_iter().map(|below| format!("{name}/{below}")).collect()
            } else {
                vec![name]
            }
        })
        .collect();
    found.sort_unstable();
    found
}

fn rows_of(path: &Path) -> i64 {
    let reader = SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap();
    reader.metadata().file_metadata().num_rows()
}

fn measured_in(month: &str) -> CollectionRun {
    let mut one = entry(month, "");
    one.run.kind = record::MediumKind::Sd;
    one.run.started = Some(format!("{month}-30T23:59:59Z"));
    one
}

#[test]
fn a_data_set_has_a_directory_for_each_kind_and_month() {
    let dir = tempfile::tempdir().unwrap();
    let mut undated = entry("undated", "");
    (undated.run.started, undated.received) = (None, String::new());
    let runs = [measured_in("2026-11"), undated, measured_in("2026-11"), measured_in("2025-01")];
    all(DatasetSink::new(dir.path()), &runs).unwrap();
    let cells: Vec<String> =
        files_below(dir.path()).into_iter().filter(|name| name.starts_with("cells/")).collect();
    assert_eq!(
        cells,
        [
            "cells/kind=sd/month=2025-01/part-0.parquet",
            "cells/kind=sd/month=2026-11/part-0.parquet",
            "cells/kind=simulated/month=unknown/part-0.parquet",
        ]
    );
    let rows =
        |table: &str| rows_of(&dir.path().join(table).join("kind=sd/month=2026-11/part-0.parquet"));
    let cell = &runs[0].run.cells[1];
    let points = cell.series.iter().map(|curve| curve.points.len()).sum::<usize>();
    let buckets = cell.histogram.as_ref().unwrap().buckets().count();
    assert_eq!(
        ["runs", "cells", "series", "histograms"].map(rows),
        [2, 4, 2 * points as i64, 2 * buckets as i64]
    );
}

#[test]
fn a_data_set_opens_few_files_at_a_time() {
    let dir = tempfile::tempdir().unwrap();
    let months: Vec<CollectionRun> = (0..60)
        .chain([0])
        .map(|at| measured_in(&format!("{}-{:02}", 2020 + at / 12, 1 + at % 12)))
        .map(|mut one| {
            one.run.started = one.run.started.map(|time| time.replace("-30T", "-28T"));
            one
        })
        .collect();
    all(DatasetSink::new(dir.path()), &months).unwrap();
    let runs: Vec<String> =
        files_below(dir.path()).into_iter().filter(|name| name.starts_with("runs/")).collect();
    assert_eq!(runs.len(), 61, "the first month was closed and got a second part");
    assert_eq!(runs.iter().map(|name| rows_of(&dir.path().join(name))).sum::<i64>(), 61);
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
