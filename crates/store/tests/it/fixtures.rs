//! Records of every released version keep loading.
//!
//! Each release adds its sample: `REGENERATE=1 cargo test -p flashmark-store sample_of_this` writes
//! that of this version, and a person checks it by hand. Samples of older versions never change.

use std::path::PathBuf;

use record::{
    Cell, Content, Direction, Ended, Estimate, Flag, Histogram, Latency, Medium, MediumKind,
    Metrics, Params, Pattern, PlannedCell, Record, RecordError, Region, Run, SCHEMA, Series,
    SeriesAxis, Skip, Software, Stop, Target, TargetKind,
};

/// Latency of most writes of the sample: 97 quick ones, two slow ones and a stall take 0.5 s
/// together.
const QUICK_NS: u64 = 2_000_000;
const SLOW_NS: u64 = 53_000_000;
const STALL_NS: u64 = 200_000_000;

fn directory() -> PathBuf {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/records").into()
}

fn params() -> Params {
    Params {
        direction: Some(Direction::Write),
        pattern: Some(Pattern::Stratified),
        block_bytes: Some(4096),
        region: Some(Region::Middle),
        span_offset_bytes: Some(4_001_366_016),
        span_bytes: Some(1 << 30),
        queue_depth: 1,
        threads: 1,
        content: Some(Content::Incompressible),
        ..Params::default()
    }
}

/// 100 writes of 4 KiB in half a second: 200 IOPS, 819 200 bytes a second.
fn measured() -> Cell {
    let mut histogram = Histogram::default();
    (0..97).for_each(|_| histogram.record(QUICK_NS));
    (0..2).for_each(|_| histogram.record(SLOW_NS));
    histogram.record(STALL_NS);
    let estimate = |value, relative: f64| Estimate {
        value,
        ci95: Some([value * (1.0 - relative), value * (1.0 + relative)]),
        n: 100,
    };
    Cell {
        id: "random-write/2".to_owned(),
        test: "random-write".to_owned(),
        params: params(),
        metrics: Metrics {
            iops: Some(estimate(200.0, 0.25)),
            bps: Some(estimate(819_200.0, 0.25)),
            latency_ns: Some(Latency {
                n: 100,
                min: QUICK_NS,
                mean: 5e6,
                p50: Some(QUICK_NS),
                p90: Some(QUICK_NS),
                p95: Some(QUICK_NS),
                max: STALL_NS,
                ..Latency::default()
            }),
            ..Metrics::default()
        },
        histogram: Some(histogram),
        series: vec![Series {
            name: "IOPS over time".to_owned(),
            x: SeriesAxis::ElapsedNs,
            y: SeriesAxis::Iops,
            points: vec![[250e6, 350.0], [500e6, 50.0]],
        }],
        unit: None,
        ops: 100,
        bytes: 409_600,
        written_bytes: 409_600,
        run_written_bytes: None,
        elapsed_ns: 500_000_000,
        stop: Stop::Ops,
        reason: None,
        error: None,
        flags: vec![Flag::NotConverged { relative_half_width: 0.25 }],
        on: None,
        labels: std::collections::BTreeMap::new(),
        activity: Vec::new(),
        reach: None,
        host_state: None,
        rounds: Vec::new(),
    }
}

fn failed() -> Cell {
    Cell {
        stop: Stop::Error,
        reason: Some("the medium answered with an I/O error (EIO)".to_owned()),
        ..Cell::begun("prime", "prime", measured().params)
    }
}

/// Sample of this version: small, with something of every kind in it.
fn sample() -> Record {
    let planned = |cell: Cell| PlannedCell {
        id: cell.id,
        test: cell.test,
        params: cell.params,
        max_ns: 60_000_000_000,
        max_written_bytes: 1 << 30,
    };
    Record {
        schema: SCHEMA.to_owned(),
        run: Run {
            id: "sim-card-7".to_owned(),
            elapsed_ns: 500_000_000,
            seed: 7,
            suite: "quick".to_owned(),
            label: Some("a hand-checked sample".to_owned()),
            command: ["flashmark", "run", "sim:card", "--seed", "7"].map(str::to_owned).into(),
            software: Software {
                name: "flashmark".to_owned(),
                version: "0.1.0".to_owned(),
                commit: None,
            },
            ended: Ended::Error,
            ..Run::default()
        },
        medium: Medium {
            kind: MediumKind::Simulated,
            capacity_bytes: Some(8_000_000_000),
            interface: Some("sim".to_owned()),
            au_bytes: Some(4 << 20),
            profile: Some("card".to_owned()),
            ..Medium::default()
        },
        host: None,
        target: Target {
            kind: TargetKind::Simulated,
            path: "sim:card".to_owned(),
            engine: Some("virtual time".to_owned()),
            ..Target::default()
        },
        plan: vec![planned(failed()), planned(measured())],
        cells: vec![failed(), measured()],
        skipped: vec![Skip::new("ext2-fill", "time is up")],
        flags: vec![Flag::NotPrimed],
        findings: Vec::new(),
        summary: None,
    }
}

#[test]
fn records_of_every_released_version_load() {
    let mut loaded = 0;
    let files = std::fs::read_dir(directory()).unwrap().map(|entry| entry.unwrap().path());
    for path in files.filter(|path| path.extension().is_some_and(|form| form == "json")) {
        let text = std::fs::read_to_string(&path).unwrap();
        let record =
            Record::from_json(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert_eq!(Record::from_json(&record.to_json()).unwrap(), record, "{}", path.display());
        loaded += 1;
    }
    assert!(loaded >= 1, "there is a sample");
}

#[test]
fn the_sample_of_0_1_0_has_its_original_figures() {
    let text = std::fs::read_to_string(directory().join("flashmark-0.1.0-sim.json")).unwrap();
    let record = Record::from_json(&text).unwrap();
    let cell = record.cells_of("random-write").next().unwrap();
    let iops = cell.metrics.iops.unwrap().value;
    assert_eq!(iops, cell.ops as f64 / (cell.elapsed_ns as f64 / 1e9), "total over time");
    assert_eq!(cell.metrics.bps.unwrap().value, iops * 4096.0);
    let histogram = cell.histogram.as_ref().unwrap();
    assert_eq!((histogram.len(), histogram.count_above(100_000_000)), (100, 1));
    assert_eq!(97 * QUICK_NS + 2 * SLOW_NS + STALL_NS, cell.elapsed_ns);
}

#[test]
fn the_sample_of_this_version_is_what_it_writes() {
    let path = directory().join(format!("flashmark-{}-sim.json", env!("CARGO_PKG_VERSION")));
    if std::env::var_os("REGENERATE").is_some() {
        flashmark_store::atomic_write(&path, sample().to_json().as_bytes()).unwrap();
    }
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; REGENERATE=1 makes it", path.display()));
    assert_eq!(Record::from_json(&text).unwrap(), sample());
}

#[test]
fn a_record_of_a_newer_version_is_refused_politely() {
    let newer = sample().to_json().replace(SCHEMA, "flashmark/2");
    let error = Record::from_json(&newer).unwrap_err();
    assert!(matches!(error, RecordError::Newer { .. }));
    insta::assert_snapshot!(error, @"the record is of form 'flashmark/2', this version reads 'flashmark/1'; a newer flashmark reads it");
}
