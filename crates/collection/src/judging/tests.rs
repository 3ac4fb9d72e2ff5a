//! Hostile uploads, one at a time and at random; and honest ones, which are all accepted.

use std::io::Write;
use std::path::Path as FilePath;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use record::collection::{HeadlineFigure, Origin};
use record::units::{GIB, KIB};
use record::{
    Cell, Content, Direction, Estimate, Flag, Histogram, Latency, Link, MediumKind, Params,
    Pattern, Region, Series, SpeedClasses, Stop, Sync, TargetKind, WholeMedium,
};
use serde_json::{Value, json};

use super::*;

/// A cell as Flashmark measures it: writes of 4 KiB with these latencies.
fn measured(id: &str, latencies_ns: &[u64]) -> Cell {
    let mut histogram = Histogram::default();
    latencies_ns.iter().for_each(|ns| histogram.record(*ns));
    let (ops, sum) = (latencies_ns.len() as u64, latencies_ns.iter().sum::<u64>());
    let (iops, bytes) = (ops as f64 / (sum as f64 / 1e9), ops * 4 * KIB);
    let rate =
        |value: f64| Some(Estimate { value, ci95: Some([value * 0.9, value * 1.1]), n: ops });
    let mut cell = Cell::begun(
        id,
        id.split('/').next().unwrap(),
        Params {
            direction: Some(Direction::Write),
            pattern: Some(Pattern::Permutation),
            block_bytes: Some(4 * KIB),
            region: Some(Region::Middle),
            span_offset_bytes: Some(16 * GIB),
            span_bytes: Some(GIB),
            queue_depth: 1,
            threads: 1,
            sync: Sync::Data,
            content: Some(Content::Incompressible),
            ..Params::default()
        },
    );
    cell.metrics.iops = rate(iops);
    cell.metrics.bps = rate(iops * 4096.0);
    cell.metrics.latency_ns = Some(Latency {
        n: ops,
        min: *latencies_ns.iter().min().unwrap(),
        mean: sum as f64 / ops as f64,
        p50: Some(histogram.quantile(0.5)),
        max: *latencies_ns.iter().max().unwrap(),
        ..Latency::default()
    });
    cell.histogram = Some(histogram);
    (cell.ops, cell.bytes, cell.written_bytes, cell.elapsed_ns, cell.stop) =
        (ops, bytes, bytes, sum, Stop::Converged);
    cell.series = vec![Series {
        name: "rate".into(),
        x: record::SeriesAxis::Bytes,
        y: record::SeriesAxis::Bps,
        points: vec![[0.0, iops], [4096.0, iops]],
    }];
    cell
}

/// An honest run on an SD card.
fn honest() -> Published {
    let text = include_str!("../../../../fixtures/records/flashmark-0.1.0-sim.json");
    let mut run = Published::from(&Record::from_json(text).unwrap());
    let latencies: Vec<u64> = (0..200).map(|number| 500_000_000 + number * 3_000_000).collect();
    run.cells = vec![measured("random-write/1", &latencies)];
    run.elapsed_ns = 300_000_000_000;
    (run.kind, run.target, run.profile, run.engine) =
        (MediumKind::Sd, TargetKind::Block, None, Some("io_uring".into()));
    (run.vendor, run.model, run.capacity_bytes) =
        (Some("SanDisk".into()), Some("SD32G".into()), Some(31_914_983_424));
    run.link = Some(Link { max_bps: Some(104e6), ..Link::default() });
    run
}

fn json_of(run: &Published) -> Vec<u8> {
    serde_json::to_vec(run).unwrap()
}

fn read_plain(body: &[u8]) -> Result<Upload, Rejection> {
    read(body, &UploadLimits::default())
}

fn packed(text: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    packer.write_all(text).unwrap();
    packer.finish().unwrap()
}

/// Result of reading an honest run after a change.
fn outcome_of(change: impl FnOnce(&mut Published)) -> String {
    let mut run = honest();
    change(&mut run);
    match read_plain(&json_of(&run)) {
        Ok(upload) => format!("taken, caveats: {:?}", upload.caveats),
        Err(rejection) => rejection.to_string(),
    }
}

/// Result of reading an honest run after a change of its JSON.
fn outcome_of_json(change: impl FnOnce(&mut Value)) -> String {
    let mut value = serde_json::to_value(honest()).unwrap();
    change(&mut value);
    match read_plain(value.to_string().as_bytes()) {
        Ok(_) => "taken".to_owned(),
        Err(rejection) => {
            let message = rejection.to_string();
            // The column depends on the order of keys, which a feature of serde_json decides.
            message.split(" at line 1 colum").next().unwrap().to_owned()
        }
    }
}

/// Results, one per line, for a snapshot.
fn listed(outcomes: impl IntoIterator<Item = String>) -> String {
    outcomes.into_iter().collect::<Vec<_>>().join("\n")
}

#[test]
fn an_honest_run_is_taken_without_a_caveat_plain_or_packed() {
    let body = json_of(&honest());
    let upload = read_plain(&body).unwrap();
    assert_eq!((&upload.run, upload.caveats.as_slice()), (&honest(), &[][..]));
    let rate = upload.headline.figures[&HeadlineFigure::RandomWrite4k];
    assert!((1.0..2.0).contains(&rate), "{rate}");
    assert_eq!(read_plain(&packed(&body)), Ok(upload));
}

#[test]
fn what_is_not_published_is_not_kept() {
    let mut value = serde_json::to_value(honest()).unwrap();
    value["serial"] = json!("0xDEADBEEF");
    value["host"] = json!({ "name": "janes-laptop" });
    value["cells"][0]["path"] = json!("/home/jane");
    value["link"]["address"] = json!("192.0.2.7");
    let upload = read_plain(value.to_string().as_bytes()).unwrap();
    assert_eq!(upload.run, honest());
}

#[test]
fn a_run_at_hand_is_judged_as_one_that_is_sent() {
    let mut bad = honest();
    bad.label = Some("<script>".into());
    let mut strange = honest();
    strange.elapsed_ns = 40 * 86_400 * 1_000_000_000;
    for run in [honest(), bad, strange] {
        let sent = read_plain(&json_of(&run));
        assert_eq!(read_run(run, &UploadLimits::default()), sent);
    }
}

#[test]
fn conclusions_are_drawn_here_and_not_taken() {
    let mut run = honest();
    run.findings = vec![record::Finding {
        confidence: Some(1.0),
        ..record::Finding::new("verdict", record::Severity::Info, "the best card there is")
    }];
    let upload = read_plain(&json_of(&run)).unwrap();
    assert_eq!(
        upload,
        read_plain(&json_of(&honest())).unwrap(),
        "the same run is the same, whatever is concluded from it"
    );
    assert!(upload.headline.verdict.is_some_and(|verdict| !verdict.contains("best card")));
}

#[test]
fn bodies_that_are_no_document() {
    let limits = UploadLimits { unpacked_bytes: 100_000, ..UploadLimits::default() };
    let refusal = |body: &[u8]| read(body, &limits).unwrap_err().to_string();
    let bomb = packed(&vec![b' '; 1 << 20]);
    let mut followed = packed(b"{}");
    followed.extend_from_slice(b"more");
    let mut cut = packed(b"{\"schema\":1}");
    cut.truncate(cut.len() - 9);
    insta::assert_snapshot!(listed([
        refusal(&[b'['; 100_001]),
        refusal(&bomb),
        refusal(&packed(&bomb)),
        refusal(b"\x1f\x8b{}"),
        refusal(&cut),
        refusal(&followed),
        refusal(b""),
        refusal(b"{\"schema\":"),
        refusal(b"\xff\xfe{}"),
        refusal(b"{\"schema\": NaN}"),
        refusal(b"{} {}"),
    ]), @r"
too-large: the document has 100001 bytes; at most 100000 are taken
too-large: the body unpacks to more than 100000 bytes
not-json: the body is not JSON: expected value at line 1 column 1
encoding: the body is not packed with gzip, or damaged: unexpected end of file
encoding: the body is not packed with gzip, or damaged: incomplete deflate stream
encoding: 4 bytes follow what is packed in the body
not-json: the body is not JSON: EOF while parsing a value at line 1 column 0
not-json: the body is not JSON: EOF while parsing a value at line 1 column 10
not-json: the body is not JSON: expected value at line 1 column 1
not-json: the body is not JSON: expected value at line 1 column 12
not-json: the body is not JSON: trailing characters at line 1 column 4
");
}

#[test]
fn documents_that_are_no_run() {
    let refusal = |text: &str| read_plain(text.as_bytes()).unwrap_err().to_string();
    let record = include_str!("../../../../fixtures/records/flashmark-0.1.0-sim.json");
    insta::assert_snapshot!(listed([
        refusal("{}"),
        refusal("[]"),
        refusal("7"),
        refusal(r#"{"schema": 1}"#),
        refusal(r#"{"schema": "fio/3"}"#),
        refusal(r#"{"schema": "flashmark/2", "cells": "all different"}"#),
        refusal(r#"{"cells": [], "schema": "flashmark/17"}"#),
        refusal(r#"{"schema": "flashmark/1"}"#),
        refusal(record),
        outcome_of_json(|run| run["cells"] = json!([])),
        outcome_of_json(|run| run["cells"][0]["metrics"]["iops"]["value"] = json!("many")),
        outcome_of_json(|run| run["cells"][0]["ops"] = json!(-1)),
        outcome_of_json(|run| run["cells"][0]["histogram"] = json!("AAAA")),
        outcome_of_json(|run| run["kind"] = json!("floppy")),
    ]), @r#"
wrong-schema: the document does not say what it is; a run begins with "schema": "flashmark/1"
wrong-schema: the document does not say what it is; a run begins with "schema": "flashmark/1"
wrong-schema: the document does not say what it is; a run begins with "schema": "flashmark/1"
wrong-schema: the document does not say what it is; a run begins with "schema": "flashmark/1"
wrong-schema: schema: 'fio/3' is no run of Flashmark; that would be 'flashmark/1'
newer-schema: schema: 'flashmark/2' is newer than what this version reads, 'flashmark/1'
newer-schema: schema: 'flashmark/17' is newer than what this version reads, 'flashmark/1'
not-a-run: missing field `elapsed_ns` at line 1 column 25
not-a-run: the document is a whole record; only the published part of one is taken, which is what `flashmark submit` sends
not-a-run: cells: there is none, so nothing was measured
not-a-run: cells[0].metrics.iops.value: invalid type: string "many", expected f64
not-a-run: cells[0].ops: invalid value: integer `-1`, expected u64
not-a-run: cells[0].histogram: not a latency histogram: it is too short
not-a-run: kind: unknown variant `floppy`, expected one of `sd`, `emmc`, `usb`, `compact-flash`, `ssd`, `nvme`, `disk`, `virtual`, `loop`, `simulated`, `unknown`
"#);
}

/// Regression: some kilobytes with 1500 histograms, each with all buckets filled, took gigabytes.
#[test]
fn filled_places_of_histograms_have_a_limit() {
    let mut histogram = Histogram::default();
    (1..40_000u64).for_each(|step| histogram.record(step * step));
    let places = histogram.buckets().count();
    let with = |count: usize| {
        outcome_of(|run| {
            let mut cell = run.cells[0].clone();
            cell.histogram = Some(histogram.clone());
            run.cells = vec![cell; count];
        })
    };
    let most = 60 + 2_000_000 / places;
    assert!(with(most + 1).starts_with("too-many: cells["), "{}", with(most + 1));
    assert!(!with(most - 1).contains("places"), "{}", with(most - 1));
}

#[test]
fn nesting_lists_and_texts_have_limits() {
    let limits = UploadLimits {
        depth: 8,
        cells: 3,
        series_points: 5,
        text_bytes: 50,
        ..UploadLimits::default()
    };
    let outcome = |change: &dyn Fn(&mut Value)| {
        let mut value = serde_json::to_value(honest()).unwrap();
        change(&mut value);
        read(value.to_string().as_bytes(), &limits)
            .map(|_| ())
            .map_err(|rejection| rejection.to_string())
    };
    assert_eq!(outcome(&|_| ()), Ok(()));
    let nested = |depth: usize| (0..depth).fold(json!(1), |inner, _| json!([inner]));
    assert_eq!(outcome(&|run| run["more"] = nested(7)), Ok(()), "dropped, but not too deep");
    insta::assert_snapshot!(listed(
        [
            outcome(&|run| run["more"] = nested(8)),
            outcome(&|run| run["more"] = nested(120)),
            outcome(&|run| run["cells"] = json!([1, 2, 3, 4])),
            outcome(&|run| run["cells"][0]["series"][0]["points"] = json!([[0, 0], [0, 0], [0, 0], [0, 0], [0, 0], [0, 0]])),
            outcome(&|run| run["label"] = json!("x".repeat(51))),
            outcome(&|run| run["cells"][0]["metrics"]["x".repeat(200)] = json!({ "value": 1, "n": 1 })),
            outcome(&|run| (0..300).for_each(|number| run["cells"][0]["params"][format!("p{number}")] = json!(1))),
            outcome(&|run| run["cells"][0]["histogram"] = json!("A".repeat(300_000))),
        ]
        .map(Result::unwrap_err)
    ), @r"
too-deep: more[0][0][0][0][0][0][0]: nested more than 8 deep
too-deep: more[0][0][0][0][0][0][0]: nested more than 8 deep
too-many: cells: more than 3 entries
too-many: cells[0].series[0].points: more than 5 entries
text: label: a text of 51 bytes; at most 50 are taken
text: cells[0].metrics: a name of 200 bytes; at most 128 are taken
too-many: cells[0].params: more than 256 members
text: cells[0].histogram: a text of 300000 bytes; at most 262144 are taken
");
    let deep = "[".repeat(100_000);
    assert_eq!(read_plain(deep.as_bytes()).unwrap_err().code, "too-deep");
}

#[test]
fn texts_that_are_meant_for_a_browser_or_a_database() {
    insta::assert_snapshot!(listed([
        outcome_of(|run| run.label = Some("<script>alert(1)</script>".into())),
        outcome_of(|run| run.model = Some("x</title>".into())),
        outcome_of(|run| run.label = Some("Robert'); DROP TABLE runs;--".into())),
        outcome_of(|run| run.vendor = Some("' UNION SELECT secret FROM tokens --".into())),
        outcome_of(|run| run.model = Some("a\u{0}b".into())),
        outcome_of(|run| run.model = Some("a\u{1b}[31mb".into())),
        outcome_of(|run| run.label = Some("good \u{202e}dab".into())),
        outcome_of(|run| _ = run.cells[0].labels.insert("a\nb".into(), "c".into())),
    ]), @r"
markup: label: a text with a tag in it; write it without
markup: model: a text with a tag in it; write it without
markup: label: a text with a statement for a database in it; write it without
markup: vendor: a text with a statement for a database in it; write it without
text: model: the character U+0000, which cannot be printed
text: model: the character U+001B, which cannot be printed
text: label: the character U+202E, which cannot be printed
text: cells[0].labels: the character U+000A, which cannot be printed
");
    for honest in [
        "Mom's 32 GB; from a drawer",
        "a < b, 3 <4",
        "SD \"Ultra\"",
        "select a table from the union",
        "Größe 日本 \u{1f4be}",
    ] {
        assert_eq!(
            outcome_of(|run| run.label = Some(honest.into())),
            "taken, caveats: []",
            "{honest}"
        );
    }
}

/// An honest run was refused: 5293 IOPS, but 2233 writes in 0.38 s. Its first stretch had to pay for
/// deferred work, and a round did not.
#[test]
fn a_rate_that_pays_for_deferred_work_is_lower_than_its_time_says() {
    let paid = |run: &mut Published, share: f64| {
        let cell = &mut run.cells[0];
        let iops = cell.metrics.iops.as_mut().unwrap();
        iops.value *= share;
        iops.ci95 = None;
        let paid = *iops;
        cell.metrics.bps = None;
        cell.metrics.other.insert(record::metric::PAID_IOPS.into(), paid);
    };
    assert_eq!(outcome_of(|run| paid(run, 0.8)), "taken, caveats: []");
    let outcome = outcome_of(|run| paid(run, 1.2));
    assert!(outcome.starts_with("contradiction"), "{outcome}");
}

#[test]
fn numbers_that_cannot_be() {
    insta::assert_snapshot!(listed([
        outcome_of_json(|run| run["cells"][0]["elapsed_ns"] = json!(u64::MAX)),
        outcome_of(|run| run.capacity_bytes = Some(u64::MAX)),
        outcome_of(|run| run.part_of = Some(WholeMedium { device: "sdb".into(), capacity_bytes: u64::MAX })),
        outcome_of(|run| run.cells[0].metrics.iops.as_mut().unwrap().value = -1.0),
        outcome_of(|run| run.cells[0].metrics.bps.as_mut().unwrap().value = 1e300),
        outcome_of(|run| run.cells[0].metrics.iops.as_mut().unwrap().ci95 = Some([2.0, 1.0])),
        outcome_of(|run| _ = run.cells[0].metrics.other.insert("debt_ns".into(), Estimate { value: -5.0, ci95: None, n: 1 })),
        outcome_of(|run| run.cells[0].params.queue_depth = 0),
        outcome_of(|run| run.cells[0].params.content = Some(Content::Compressible(101))),
        outcome_of(|run| run.cells[0].series[0].points[1] = [-1.0, 0.0]),
        outcome_of(|run| run.link.as_mut().unwrap().max_bps = Some(-1.0)),
        outcome_of(|run| run.started = Some("yesterday".into())),
        outcome_of(|run| run.classes = Some(SpeedClasses { speed_class: Some(u32::MAX), ..SpeedClasses::default() })),
    ]), @r"
out-of-range: cells[0] (random-write/1).elapsed_ns: 1.8446744073709552e19 cannot be; it would be from 0.0 to 3.2e17
out-of-range: capacity_bytes: 1.8446744073709552e19 cannot be; it would be from 0.0 to 1.152921504606847e18
out-of-range: part_of.capacity_bytes: 1.8446744073709552e19 cannot be; it would be from 0.0 to 1.152921504606847e18
out-of-range: cells[0] (random-write/1).metrics.iops.value: -1.0 cannot be; it would be from 0.0 to 1000000000.0
out-of-range: cells[0] (random-write/1).metrics.bps.value: 1e300 cannot be; it would be from 0.0 to 1000000000000.0
contradiction: cells[0] (random-write/1).metrics.iops: the interval from 2.0 to 1.0 is the wrong way round
out-of-range: cells[0] (random-write/1).metrics.debt_ns.value: -5.0 cannot be; it would be from 0.0 to 3.2e17
out-of-range: cells[0] (random-write/1).params.queue_depth: 0.0 cannot be; it would be from 1.0 to 65536.0
out-of-range: cells[0] (random-write/1).params.content: 101.0 cannot be; it would be from 0.0 to 100.0
out-of-range: cells[0] (random-write/1).series[0]: -1.0 cannot be; it would be from 0.0 to 1.152921504606847e18
out-of-range: link.max_bps: -1.0 cannot be; it would be from 1.0 to 1000000000000.0
out-of-range: started: no time as RFC 3339 writes it, for example 2026-05-01T12:00:00Z
out-of-range: classes.speed_class: 4294967295.0 cannot be; it would be from 0.0 to 1000.0
");
    let huge = String::from_utf8(json_of(&honest())).unwrap().replacen(
        "\"n\":200",
        "\"n\":200,\"x\":1e999",
        1,
    );
    insta::assert_snapshot!(read_plain(huge.as_bytes()).unwrap_err(), @r"out-of-range: cells[0].metrics.iops.x: number out of range at line 1 column 1113");
}

#[test]
fn numbers_that_contradict_each_other() {
    let latency = |run: &mut Published, change: &dyn Fn(&mut Latency)| {
        change(run.cells[0].metrics.latency_ns.as_mut().unwrap())
    };
    insta::assert_snapshot!(listed([
        outcome_of(|run| run.cells.push(run.cells[0].clone())),
        outcome_of(|run| run.elapsed_ns = 1_000_000_000),
        outcome_of(|run| run.cells[0].ops = 201),
        outcome_of(|run| run.cells[0].bytes = 4096),
        outcome_of(|run| run.cells[0].metrics.iops.as_mut().unwrap().value = 15.0),
        outcome_of(|run| run.cells[0].metrics.iops.as_mut().unwrap().n = 100_000),
        outcome_of(|run| run.cells[0].metrics.bps.as_mut().unwrap().value = 1000.0),
        outcome_of(|run| run.cells[0].elapsed_ns = 0),
        outcome_of(|run| run.cells[0].elapsed_ns /= 2),
        outcome_of(|run| latency(run, &|latency| latency.min = 1)),
        outcome_of(|run| latency(run, &|latency| latency.max = 2_000_000_000)),
        outcome_of(|run| latency(run, &|latency| latency.mean = 600_000_000.0)),
        outcome_of(|run| latency(run, &|latency| latency.p50 = Some(700_000_000))),
        outcome_of(|run| latency(run, &|latency| latency.p99 = Some(600_000_000))),
        outcome_of(|run| latency(run, &|latency| _ = latency.ci95.insert("p12".into(), [1, 2]))),
        outcome_of(|run| latency(run, &|latency| _ = latency.ci95.insert("p50".into(), [2, 1]))),
        outcome_of(|run| run.engine = Some("virtual time".into())),
    ]), @r"
contradiction: cells[1] (random-write/1): another cell has the same id
contradiction: elapsed_ns: 1000000000 ns, but the cells took 159700000000 ns together
contradiction: cells[0] (random-write/1).metrics.latency_ns: the histogram has 200 entries, the cell 201 I/Os
contradiction: cells[0] (random-write/1).bytes: 4096 bytes in 200 I/Os of 4096
contradiction: cells[0] (random-write/1).metrics.iops: 15.0, but 200 in 159.7 s are 1.2523481527864748 a second
contradiction: cells[0] (random-write/1).metrics.iops: it rests on 100000 of 200
contradiction: cells[0] (random-write/1).metrics.bps: 1000.0, but 819200 in 159.7 s are 5129.618033813401 a second
contradiction: cells[0] (random-write/1).metrics.iops: a rate where nothing was done, or in no time
contradiction: cells[0] (random-write/1).metrics.iops: 1.2523481527864748, but 200 in 79.85 s are 2.5046963055729496 a second
contradiction: cells[0] (random-write/1).metrics.latency_ns: min is 1.0 ns, and 499908608.0 ns by the histogram
contradiction: cells[0] (random-write/1).metrics.latency_ns: max is 2000000000.0 ns, and 1097859071.0 ns by the histogram
contradiction: cells[0] (random-write/1).metrics.latency_ns: mean is 600000000.0 ns, and 798764563.48 ns by the histogram
contradiction: cells[0] (random-write/1).metrics.latency_ns: p50 is 700000000.0 ns, and 797442047.0 ns by the histogram
contradiction: cells[0] (random-write/1).metrics.latency_ns: p99 is 600000000 ns, p50 is 797442047 ns
contradiction: cells[0] (random-write/1).metrics.latency_ns.ci95: there is no percentile 'p12'
out-of-range: cells[0] (random-write/1).metrics.latency_ns.ci95.p50: 1.0 cannot be; it would be from 2.0 to 3.2e17
contradiction: engine: virtual time is that of simulated media, and this medium is not simulated by its kind, target and profile
");
}

/// A cell of the test with a curve; its rate falls to a third.
fn sustained() -> Cell {
    let latencies: Vec<u64> =
        (0..4000).map(|number| if number < 2000 { 1_000_000 } else { 3_000_000 }).collect();
    let mut cell = measured("sustained/1", &latencies);
    let points = (0..40)
        .map(|number| [f64::from(number) * 4096e2, if number < 20 { 4.096e6 } else { 1.365e6 }]);
    cell.series[0].points = points.collect();
    let at_the_end = Estimate { value: 1.365e6, ci95: None, n: 4000 };
    cell.metrics.other.insert("sustained_bps".into(), at_the_end);
    cell
}

#[test]
fn a_rate_at_the_end_is_held_against_its_ios_and_its_curve() {
    let outcome = |change: &dyn Fn(&mut Cell)| {
        outcome_of(|run| {
            run.cells = vec![sustained()];
            change(&mut run.cells[0]);
        })
    };
    assert_eq!(outcome(&|_| ()), "taken, caveats: []");
    let forged = |factor: f64| {
        outcome(&move |cell| cell.metrics.other.get_mut("sustained_bps").unwrap().value *= factor)
    };
    for factor in [1000.0, 3.5, 0.1] {
        assert!(forged(factor).contains("sustained_bps: "), "{factor}: {}", forged(factor));
    }
    // A curve forged with it does not help, nor does one of another cell.
    let with_curve = outcome(&|cell| {
        cell.metrics.other.get_mut("sustained_bps").unwrap().value *= 100.0;
        cell.series[0].points.iter_mut().for_each(|[_, bps]| *bps *= 100.0);
    });
    assert!(with_curve.contains("sustained_bps: "), "{with_curve}");
    let bare = outcome(&|cell| cell.histogram = None);
    assert!(bare.contains("without I/Os that it is made of"), "{bare}");
    // A cell of the test whose figure the table of the site shows.
    let on_plain = outcome_of(|run| {
        let forged = Estimate { value: 90e6, ci95: Some([89e6, 91e6]), n: 200 };
        run.cells[0].metrics.other.insert("sustained_bps".into(), forged);
    });
    assert!(on_plain.contains("sustained_bps: "), "{on_plain}");
    // Curves of a packed record: every second point, or the ends.
    for points in [20, 2] {
        let thinned = outcome(&|cell| {
            let all = std::mem::take(&mut cell.series[0].points);
            let step = all.len() / points;
            cell.series[0].points = all.into_iter().step_by(step).collect();
        });
        assert_eq!(thinned, "taken, caveats: []", "{points}");
    }
}

/// Throttled except at every eighth point of its last quarter: a packed record keeps only these.
#[test]
fn dips_that_a_thinned_curve_lost_may_be_in_the_rate_at_the_end() {
    let outcome = |step: usize| {
        outcome_of(|run| {
            let mut cell = sustained();
            let bps = |at: usize| if at >= 72 && !at.is_multiple_of(8) { 1.365e6 } else { 4.096e6 };
            let points = (0..96).step_by(step).map(|at| [at as f64 * 4096e2, bps(at)]);
            cell.series[0].points = points.collect();
            cell.metrics.other.get_mut("sustained_bps").unwrap().value = 1.7e6;
            run.cells = vec![cell];
        })
    };
    for step in [1, 2, 4, 8, 16] {
        assert_eq!(outcome(step), "taken, caveats: []", "every {step}");
    }
}

/// The cell with `more` I/Os in all, of which `left_out` have no latency; rates are those of all
/// I/Os, as the program writes them.
fn with_left_out(mut cell: Cell, more: u64, left_out: u64) -> Cell {
    let timed = cell.ops as f64;
    cell.ops += more;
    cell.bytes += more * 4096;
    for rate in [&mut cell.metrics.iops, &mut cell.metrics.bps].into_iter().flatten() {
        let factor = cell.ops as f64 / timed;
        (rate.n, rate.value) = (cell.ops, rate.value * factor);
        rate.ci95 = rate.ci95.map(|ends| ends.map(|end| end * factor));
    }
    cell.host_state = Some(record::HostState { left_out, ..Default::default() });
    cell
}

#[test]
fn a_plain_cell_with_host_stalls_is_taken() {
    let outcome = |timed: u64, more: u64, left_out: u64| {
        let took: Vec<u64> = (0..timed).map(|at| 60_000_000 + at % 997 * 1_000_000).collect();
        outcome_of(|run| {
            run.cells = vec![with_left_out(measured("random-write/1", &took), more, left_out)];
            run.elapsed_ns = run.cells[0].elapsed_ns;
        })
    };
    for (timed, left_out) in [(6656, 1), (6656, 600), (6, 2), (1, 2)] {
        assert_eq!(outcome(timed, left_out, left_out), "taken, caveats: []", "{timed} {left_out}");
    }
    for (timed, more, left_out) in [(6656, 2, 1), (6656, 700, 700), (6, 17, 17)] {
        let refused = outcome(timed, more, left_out);
        assert!(refused.contains("entries, the cell"), "{timed} {more} {left_out}: {refused}");
    }
    let of_others = outcome_of(|run| {
        let mut cell = with_left_out(measured("random-write/1", &[700_000_000; 200]), 1, 1);
        cell.metrics.iops.as_mut().unwrap().n = 202;
        run.cells = vec![cell];
    });
    assert!(of_others.contains("it rests on 202 of 201"), "{of_others}");
}

#[test]
fn ios_during_a_host_stall_have_no_latency() {
    let outcome = |more: u64, left_out: u64| {
        outcome_of(|run| run.cells = vec![with_left_out(sustained(), more, left_out)])
    };
    assert_eq!(outcome(1, 1), "taken, caveats: []");
    assert_eq!(outcome(400, 400), "taken, caveats: []");
    for (more, left_out) in [(1, 0), (2, 1), (4000, 4000)] {
        let refused = outcome(more, left_out);
        assert!(refused.contains("entries, the cell"), "{more} {left_out}: {refused}");
    }
}

#[test]
fn commits_a_second_are_those_of_their_times() {
    let outcome = |change: &dyn Fn(&mut Cell)| {
        outcome_of(|run| {
            let mut cell = measured("commit/1", &vec![2_000_000; 500]);
            (cell.unit, cell.metrics.bps) = (Some(record::CountUnit::Commits), None);
            // A checkpoint, of which a commit has a share.
            (cell.ops, cell.elapsed_ns) = (3000, cell.elapsed_ns + 300_000_000);
            cell.metrics.iops.as_mut().unwrap().value = 434.8;
            change(&mut cell);
            run.cells = vec![cell];
        })
    };
    assert_eq!(outcome(&|_| ()), "taken, caveats: []");
    for factor in [10.0, 1.3, 0.5] {
        let forged = outcome(&|cell| cell.metrics.iops.as_mut().unwrap().value *= factor);
        assert!(forged.contains("their times come to"), "{factor}: {forged}");
    }
    let on_others = outcome(&|cell| cell.metrics.iops.as_mut().unwrap().n = 499);
    assert!(on_others.contains("it rests on 499 of 500"), "{on_others}");
    let bare = outcome(&|cell| cell.histogram = None);
    assert!(bare.contains("without the times of commits"), "{bare}");
    let in_no_time = outcome(&|cell| cell.elapsed_ns /= 1000);
    assert!(in_no_time.contains("commits of"), "{in_no_time}");
}

/// A cell does one checkpoint, however many commits it has; each of 500 has a share of it.
#[test]
fn each_of_two_thousand_commits_bears_the_share_of_a_checkpoint() {
    let outcome = |factor: f64| {
        outcome_of(|run| {
            let mut cell = measured("commit/2", &vec![6_180_000; 2000]);
            (cell.unit, cell.metrics.bps) = (Some(record::CountUnit::Commits), None);
            (cell.ops, cell.elapsed_ns) = (9000, cell.elapsed_ns + 618_000_000);
            let rate = cell.metrics.iops.as_mut().unwrap();
            (rate.value, rate.ci95) = (1e9 / (6_180_000.0 + 618e6 / 500.0) * factor, None);
            run.cells = vec![cell];
        })
    };
    assert_eq!(outcome(1.0), "taken, caveats: []");
    for factor in [0.8, 1.4] {
        let forged = outcome(factor);
        assert!(forged.contains("their times come to"), "{factor}: {forged}");
    }
}

/// Reads, writes and flushes of a replay are three views of the same minutes.
#[test]
fn the_cells_of_a_replay_may_add_up_to_more_than_the_run() {
    let with_cells = |test: &str| {
        let mut run = honest();
        run.cells = ["1", "2", "3"]
            .map(|number| measured(&format!("{test}/{number}"), &[700_000_000; 200]))
            .into();
        run.elapsed_ns = 200 * 700_000_000;
        run
    };
    assert_eq!(
        read_plain(&json_of(&with_cells("replay"))).map(|upload| upload.run.cells.len()),
        Ok(3)
    );
    assert!(read_plain(&json_of(&with_cells("random-write"))).is_err());
}

#[test]
fn rates_above_the_link_and_spans_beyond_the_medium_are_refused() {
    insta::assert_snapshot!(listed([
        outcome_of(|run| run.link.as_mut().unwrap().max_bps = Some(1000.0)),
        outcome_of(|run| run.cells[0].params.span_offset_bytes = Some(31 * GIB)),
        outcome_of(|run| run.cells[0].params.span_bytes = Some(u64::MAX)),
    ]), @r"
impossible: cells[0] (random-write/1).metrics.bps: 5130 bytes per second over a link of 1000, without the flag for that
impossible: cells[0] (random-write/1).params: a span that ends at byte 34359738368 of a medium of 31914983424 bytes
out-of-range: cells[0] (random-write/1).params.span_bytes: 1.8446744073709552e19 cannot be; it would be from 0.0 to 1.152921504606847e18
");
    let flagged = outcome_of(|run| {
        run.link.as_mut().unwrap().max_bps = Some(1000.0);
        run.cells[0].flags.push(Flag::FasterThanLink { bps: 2000.0, link_bps: 1000.0 });
    });
    assert_eq!(flagged, "taken, caveats: []", "it says so itself, and stands for nothing");
}

#[test]
fn implausible_runs_get_caveats() {
    let fast = |kind: MediumKind, latency_ns: u64| {
        outcome_of(|run| {
            (run.kind, run.link) = (kind, None);
            let latencies: Vec<u64> =
                (0..200).map(|number| latency_ns + number * latency_ns / 100).collect();
            run.cells = vec![measured("random-read/1", &latencies)];
        })
    };
    insta::assert_snapshot!(listed([
        outcome_of(|run| run.cells[0].histogram = None),
        outcome_of(|run| run.cells = vec![measured("random-write/1", &[1_000_000; 100])]),
        outcome_of(|run| run.label = Some("cheap cards at www.example.com".into())),
        outcome_of(|run| run.capacity_bytes = Some(100_000_000_000_000)),
        outcome_of(|run| run.elapsed_ns = 40 * 86_400 * 1_000_000_000),
        outcome_of(
            |run| run.cells[0] = Cell { stop: Stop::Error, ..Cell::begun("random-write/1", "random-write", run.cells[0].params.clone()) }
        ),
        outcome_of(|run| {
            let short = &mut run.cells[0];
            short.histogram = Some(Histogram::default());
            for ns in 100..300 {
                short.histogram.as_mut().unwrap().record(ns * 1_000);
            }
            short.metrics.latency_ns = None;
        }),
        fast(MediumKind::Disk, 200_000),
        fast(MediumKind::Ssd, 200_000),
        fast(MediumKind::CompactFlash, 1000),
        fast(MediumKind::Unknown, 500),
        outcome_of(|run| run.software.name = "Flashmark".into()),
        outcome_of(|run| run.software.name = "FlashMark  (official)".into()),
        outcome_of(|run| run.software.name = "Fl\u{0430}shmark".into()),
        outcome_of(|run| {
            run.software.name = "Flashmark".into();
            run.cells[0].metrics.iops.as_mut().unwrap().value *= 1000.0;
        }),
        outcome_of(|run| {
            run.software.name = "fio".into();
            run.cells = vec![measured("random-write/1", &[1_000_000; 100])];
        }),
    ]), @r#"
taken, caveats: ["random-write/1 has a rate, but no latencies that it is made of"]
taken, caveats: ["100 of 100 I/Os of random-write/1 took the same time"]
taken, caveats: ["label has an address in it"]
taken, caveats: ["100 TB is more than any SD card has"]
taken, caveats: ["it took 40 days 0 h"]
taken, caveats: ["no cell has a result"]
taken, caveats: ["I/Os of random-write/1 took 0.0250 % of its time together, and more of it passed between them"]
taken, caveats: ["random-read-4k of 2506 IOPS is beyond what any disk does"]
taken, caveats: []
taken, caveats: ["random-read-4k of 501253 IOPS is beyond what any CompactFlash card does"]
taken, caveats: ["random-read-4k of 1002506 IOPS is beyond what any medium but an NVMe drive does; say of which kind it is"]
taken, caveats: []
taken, caveats: ["its software is called flashmark (official), and is not Flashmark"]
taken, caveats: ["its software is called flashmark, and is not Flashmark"]
contradiction: cells[0] (random-write/1).metrics.iops: 1252.3481527864749, but 200 in 159.7 s are 1.2523481527864748 a second
taken, caveats: ["100 of 100 I/Os of random-write/1 took the same time"]
"#);
}

#[test]
fn a_simulated_medium_is_marked_as_one_and_has_no_caveat() {
    let mut run = honest();
    (run.kind, run.target, run.engine) =
        (MediumKind::Simulated, TargetKind::Simulated, Some("virtual time".into()));
    run.cells = vec![measured("random-write/1", &[1_000_000; 100])];
    let upload = read_plain(&json_of(&run)).unwrap();
    assert_eq!((Origin::of(&upload.run), upload.caveats), (Origin::Simulated, Vec::new()));
}

/// Records that the importers make from real outputs of other tools are accepted, and so are
/// published figures of others.
#[test]
#[allow(clippy::disallowed_methods, reason = "reads fixtures")]
fn what_other_tools_measured_is_taken() {
    let dir = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/import");
    let (mut runs, mut refused, mut with_caveats) = (0, Vec::new(), Vec::new());
    let mut send = |name: &str, run: &Published| {
        runs += 1;
        match read_plain(&json_of(run)) {
            Err(rejection) => refused.push(format!("{name}: {rejection}")),
            Ok(upload) => {
                with_caveats
                    .extend(upload.caveats.iter().map(|caveat| format!("{name}: {caveat}")));
            }
        }
    };
    for file in std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| !path.ends_with("README.md"))
    {
        let name = file.file_name().unwrap().to_str().unwrap();
        // Some samples need a question to the user: the importer says what is missing.
        for record in import::read(name, &std::fs::read(&file).unwrap()).into_iter().flatten() {
            send(name, &Published::from(&record));
        }
    }
    report::reference::runs().iter().for_each(|run| send(&run.name(), run));
    assert!(runs > 100, "{runs}");
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    with_caveats.sort();
    insta::assert_snapshot!(with_caveats.join("\n"), @r"
    flashbench_a_1024_loop.txt: no cell has a result
    flashbench_a_16384_loop.txt: no cell has a result
    iozone_kB.txt: sequential-write of 2.68 GB/s is beyond what any medium but an NVMe drive does; say of which kind it is
    ");
}

/// Replaces a value in a document; numbers choose its path.
fn mangle(value: &mut Value, way: &[usize], other: &Value) {
    let Some((step, rest)) = way.split_first() else { return *value = other.clone() };
    match value {
        Value::Array(list) if !list.is_empty() => {
            let at = step % list.len();
            mangle(&mut list[at], rest, other);
        }
        Value::Object(members) if !members.is_empty() => {
            let at = step % members.len();
            if let Some((_, inner)) = members.iter_mut().nth(at) {
                mangle(inner, rest, other);
            }
        }
        place => *place = other.clone(),
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop_oneof![Just(0.0), Just(-0.0), Just(1e-300), Just(1e300), Just(1e19)]
            .prop_map(|number: f64| Value::from(number)),
        ".{0,40}".prop_map(Value::from),
        Just(json!([])),
        Just(json!({})),
    ]
}

/// True for one printable line with a known code and its status.
fn is_in_order(rejection: &Rejection) -> bool {
    let codes = [
        "too-large",
        "encoding",
        "not-json",
        "too-deep",
        "too-many",
        "text",
        "markup",
        "wrong-schema",
        "newer-schema",
        "not-a-run",
    ];
    let plain = rejection.reason.chars().all(|c| !c.is_control() && c != '\u{202e}')
        && rejection.reason.len() < 1000;
    let known = codes.contains(&rejection.code)
        || ["out-of-range", "contradiction", "impossible"].contains(&rejection.code);
    plain && known
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(mut body in prop::collection::vec(any::<u8>(), 0..300), gzip: bool) {
        if gzip {
            body.splice(0..0, [0x1f, 0x8b, 8]);
        }
        let found = read_plain(&body);
        prop_assert!(found.is_err_and(|rejection| is_in_order(&rejection)));
    }

    #[test]
    fn a_mangled_run_is_read_or_refused(changes in prop::collection::vec((prop::collection::vec(0usize..50, 1..7), any_value()), 1..4)) {
        let mut value = serde_json::to_value(honest()).unwrap();
        changes.iter().for_each(|(way, other)| mangle(&mut value, way, other));
        match read_plain(value.to_string().as_bytes()) {
            Err(rejection) => prop_assert!(is_in_order(&rejection), "{rejection}"),
            Ok(upload) => {
                // An accepted run is accepted again, and is unchanged.
                let again = read_plain(&json_of(&upload.run));
                prop_assert_eq!(again, Ok(upload));
            }
        }
    }

    /// A run of a medium of any speed and any spread is accepted.
    #[test]
    fn an_honest_run_of_any_medium_is_taken(latencies in prop::collection::vec(1u64..20_000_000_000, 1..300)) {
        let mut run = honest();
        run.link = None;
        run.cells = vec![measured("random-write/1", &latencies)];
        run.elapsed_ns = run.cells[0].elapsed_ns;
        let taken = read_plain(&json_of(&run));
        prop_assert!(taken.is_ok(), "{taken:?}");
    }
}

/// Lognormal latencies in nanoseconds, at evenly spaced shares.
fn lognormal(median_ns: f64, sigma: f64, ios: u32) -> Vec<u64> {
    let normal = |share: f64| {
        // Normal quantile to 0.0005 (Abramowitz and Stegun, 26.2.23).
        let tail = share.min(1.0 - share);
        let t = (-2.0 * tail.ln()).sqrt();
        let z = t
            - (2.515_517 + 0.802_853 * t + 0.010_328 * t * t)
                / (1.0 + 1.432_788 * t + 0.189_269 * t * t + 0.001_308 * t * t * t);
        if share < 0.5 { -z } else { z }
    };
    let share = |at: u32| (f64::from(at) + 0.5) / f64::from(ios);
    (0..ios).map(|at| (median_ns * (sigma * normal(share(at))).exp()) as u64).collect()
}

#[test]
fn one_cell_of_lognormal_latencies_is_a_chance_and_two_are_a_caveat() {
    let with = |cells: &[(&str, f64)]| {
        outcome_of(|run| {
            let drawn = cells.iter().map(|(id, sigma)| measured(id, &lognormal(2e6, *sigma, 7000)));
            run.cells.extend(drawn);
            run.elapsed_ns += run.cells.iter().map(|cell| cell.elapsed_ns).sum::<u64>();
        })
    };
    let one = with(&[("random-read/9", 0.115)]);
    assert_eq!(one, "taken, caveats: []", "seen on tmpfs: 7,054 I/Os");
    let apart = with(&[("random-read/9", 0.115), ("random-write/9", 0.4)]);
    assert_eq!(apart, "taken, caveats: []");
    let two = with(&[("random-read/9", 0.1), ("random-write/9", 0.105)]);
    assert!(two.contains("random-read/9 and random-write/9 are spread as"), "{two}");
}
