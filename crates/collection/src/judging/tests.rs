//! Hostile uploads, one at a time and at random; and honest ones, which are all accepted.

use std::io::Write;
use std::path::Path as FilePath;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use record::collection::{HeadlineFigure, Origin};
use record::units::{GIB, KIB};
use record::{
    Cell, Content, Direction, Estimate, Flag, Histogram, Link, MediumKind, Params, Pattern, Region,
    Round, Series, SpeedClasses, Stop, Sync, TargetKind, WholeMedium,
};
use serde_json::{Value, json};

use super::*;

/// A cell as Flashmark measures it: writes of 4 KiB with these latencies.
fn measured(id: &str, latencies_ns: &[u64]) -> Cell {
    let mut histogram = Histogram::default();
    latencies_ns.iter().for_each(|ns| histogram.record(*ns));
    let (ops, took_ns) = (latencies_ns.len() as u64, latencies_ns.iter().sum::<u64>());
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
    let rate = Some(Estimate { value: 1.0, ci95: Some([0.9, 1.1]), n: ops });
    (cell.metrics.iops, cell.metrics.bps) = (rate, rate);
    (cell.ops, cell.bytes, cell.elapsed_ns) = (ops, ops * 4 * KIB, took_ns);
    (cell.written_bytes, cell.stop) = (cell.bytes, Stop::Converged);
    stats::set_rates(&mut cell);
    let longest_ns = *latencies_ns.iter().max().unwrap();
    cell.metrics.latency_ns = Some(stats::latency(&histogram, longest_ns));
    cell.histogram = Some(histogram);
    let bps = cell.metrics.bps.unwrap().value;
    cell.series = vec![Series {
        name: "rate".into(),
        x: record::SeriesAxis::Bytes,
        y: record::SeriesAxis::Bps,
        points: vec![[4096.0, bps], [8192.0, bps]],
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
out-of-range: cells[0].ops: -1.0 cannot be; it would be from 0.0 to 1000000000000000.0
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
text: cells[0].metrics: a text of 200 bytes; at most 128 are taken
too-many: cells[0].params: more than 256 members
text: cells[0].histogram: a text of 300000 bytes; at most 262144 are taken
");
    let deep = "[".repeat(100_000);
    assert_eq!(read_plain(deep.as_bytes()).unwrap_err().code, "too-deep");
}

#[test]
fn texts_that_are_meant_for_a_browser() {
    insta::assert_snapshot!(listed([
        outcome_of(|run| run.label = Some("<script>alert(1)</script>".into())),
        outcome_of(|run| run.model = Some("x</title>".into())),
        outcome_of(|run| run.model = Some("a\u{0}b".into())),
        outcome_of(|run| run.model = Some("a\u{1b}[31mb".into())),
        outcome_of(|run| run.label = Some("good \u{202e}dab".into())),
        outcome_of(|run| _ = run.cells[0].labels.insert("a\nb".into(), "c".into())),
    ]), @r"
markup: label: a text with a tag in it; write it without
markup: model: a text with a tag in it; write it without
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
out-of-range: cells[0].elapsed_ns: 1.8446744073709552e19 cannot be; it would be from 0.0 to 3.2e17
out-of-range: capacity_bytes: 1.8446744073709552e19 cannot be; it would be from 0.0 to 1.152921504606847e18
out-of-range: part_of.capacity_bytes: 1.8446744073709552e19 cannot be; it would be from 0.0 to 1.152921504606847e18
out-of-range: cells[0].metrics.iops.value: -1.0 cannot be; it would be from 0.0 to 1000000000.0
out-of-range: cells[0].metrics.bps.value: 1e300 cannot be; it would be from 0.0 to 1000000000000.0
taken, caveats: []
out-of-range: cells[0].metrics.debt_ns.value: -5.0 cannot be; it would be from 0.0 to 3.2e17
out-of-range: cells[0].params.queue_depth: 0.0 cannot be; it would be from 1.0 to 65536.0
out-of-range: cells[0].params.content.compressible: 101.0 cannot be; it would be from 0.0 to 100.0
taken, caveats: []
out-of-range: link.max_bps: -1.0 cannot be; it would be from 0.0 to 1000000000000.0
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

/// I/Os during a host stall count, and have no latency.
#[test]
fn a_histogram_has_the_ios_of_its_cell_but_for_a_few_of_the_host() {
    for (timed, more, left_out, is_taken) in [
        (6656, 1, 1, true),
        (6656, 600, 600, true),
        (6, 2, 2, true),
        (1, 2, 2, true),
        (6656, 2, 1, false),
        (6656, 700, 700, false),
        (6, 17, 17, false),
    ] {
        let outcome = outcome_of(|run| {
            let took: Vec<u64> = (0..timed).map(|at| 60_000_000 + at % 997 * 1_000_000).collect();
            let mut cell = measured("random-write/1", &took);
            (cell.ops, cell.bytes) = (timed + more, cell.bytes + more * 4096);
            cell.host_state = Some(record::HostState { left_out, ..Default::default() });
            run.cells = vec![cell];
        });
        let what = if is_taken { "taken, caveats: []" } else { "entries, the cell" };
        assert!(outcome.contains(what), "{timed} {more} {left_out}: {outcome}");
    }
}

/// What a run prints after a change: rates with the width of their interval, p50, p99, the longest
/// I/O and the longest stall.
fn printed(run: &Published) -> [f64; 7] {
    let metrics = &judge(run.clone()).unwrap().run.cells[0].metrics;
    let (iops, latency) = (metrics.iops.unwrap(), metrics.latency_ns.clone().unwrap());
    let ends = iops.ci95.map_or(0.0, |[low, high]| high / low);
    let [p50, p99] = [latency.p50, latency.p99].map(|ns| ns.unwrap() as f64);
    let stall = metrics.other[record::metric::WORST_STALL_NS].value;
    [iops.value, metrics.bps.unwrap().value, ends, p50, p99, latency.max as f64, stall]
}

/// A run of four rounds, of 1000 writes each.
fn in_rounds() -> Published {
    let mut run = honest();
    let latencies: Vec<u64> = (0..4000).map(|at| 700_000 + at % 1000 * 600).collect();
    let mut cell = measured("random-write/1", &latencies);
    let quarter = cell.elapsed_ns / 4;
    let iops = 1e12 / quarter as f64;
    let round =
        |began_ns| Round { began_ns, ops: 1000, elapsed_ns: quarter, iops, half_width: Some(0.01) };
    cell.rounds = (0..4).map(|at| round(at * 3 * quarter)).collect();
    cell.metrics
        .other
        .insert("worst_stall_ns".into(), Estimate { value: 1_299_400.0, ci95: None, n: 4000 });
    run.cells = vec![cell];
    judge(run).unwrap().run
}

/// Multiplies the numbers of a cell at a path, in all rounds if it begins with `rounds`.
fn scale(cell: &mut Value, path: &str, factor: f64) {
    let places = match path.strip_prefix("rounds/") {
        Some(name) => (0..4).map(|at| format!("/rounds/{at}/{name}")).collect(),
        None => vec![format!("/{path}")],
    };
    for place in places {
        let number = cell.pointer_mut(&place).unwrap();
        let scaled = number.as_f64().unwrap() * factor;
        *number = if number.is_u64() { json!(scaled as u64) } else { json!(scaled) };
    }
}

#[test]
fn what_a_sender_states_moves_no_figure() {
    let attacks: [&[(&str, f64)]; 15] = [
        &[("elapsed_ns", 0.1)],
        &[("elapsed_ns", 0.1), ("rounds/elapsed_ns", 0.1), ("rounds/iops", 10.0)],
        &[("elapsed_ns", 0.0)],
        &[("metrics/iops/value", 10.0), ("metrics/bps/value", 10.0)],
        &[("metrics/iops/ci95/0", 0.01), ("metrics/iops/ci95/1", 100.0)],
        &[("metrics/iops/ci95/0", 2.0)],
        &[("metrics/bps/value", 10.0)],
        &[("bytes", 10.0)],
        &[("metrics/latency_ns/p50", 0.1), ("metrics/latency_ns/p99", 0.1)],
        &[("metrics/latency_ns/max", 0.1), ("metrics/worst_stall_ns/value", 0.1)],
        &[("rounds/ops", 10.0)],
        &[("rounds/ops", 0.1)],
        &[("rounds/iops", 10.0)],
        &[("rounds/elapsed_ns", 0.0)],
        &[("rounds/elapsed_ns", 0.1), ("rounds/iops", 10.0)],
    ];
    let honest = in_rounds();
    assert_eq!(judge(honest.clone()).unwrap().run, honest, "what is drawn stays");
    let mut changes: Vec<(String, Value)> = Vec::new();
    for attack in attacks {
        let mut cell = serde_json::to_value(&honest.cells[0]).unwrap();
        attack.iter().for_each(|(path, factor)| scale(&mut cell, path, *factor));
        changes.push((format!("{attack:?}"), cell));
    }
    for (name, forged) in [
        ("paid_iops", json!({ "value": 1e9, "ci95": null, "n": 1 })),
        ("sustained_bps", json!({ "value": 90e6, "ci95": [89e6, 91e6], "n": 200 })),
    ] {
        let mut cell = serde_json::to_value(&honest.cells[0]).unwrap();
        cell["metrics"][name] = forged;
        changes.push((name.to_owned(), cell));
    }
    // A unit of other tests would hide I/Os from the count.
    let mut lines = serde_json::to_value(&honest.cells[0]).unwrap();
    lines["unit"] = json!("lines");
    scale(&mut lines, "metrics/iops/value", 10.0);
    changes.push(("lines".to_owned(), lines));
    for (attack, cell) in changes {
        let run =
            Published { cells: vec![serde_json::from_value(cell).unwrap()], ..honest.clone() };
        for (was, is) in printed(&honest).into_iter().zip(printed(&run)) {
            // An interval that does not have its figure inside is none.
            assert!((is / was - 1.0).abs() < 0.005 || is == 0.0, "{attack}: {was} {is}");
        }
        let drawn = &judge(run).unwrap().run.cells[0].metrics.other;
        assert_eq!(drawn.get("sustained_bps"), None, "{attack}");
    }
}

/// Latencies are evidence. Whoever makes them longer makes the medium slower.
#[test]
fn a_stretched_histogram_is_a_slower_medium() {
    let mut run = in_rounds();
    let mut longer = Histogram::default();
    (0..4000).for_each(|at| longer.record(7_000_000 + at % 1000 * 6000));
    run.cells[0].histogram = Some(longer);
    assert!((printed(&run)[0] / printed(&in_rounds())[0] - 0.1).abs() < 0.001);
}

#[test]
fn windows_of_a_nanosecond_are_joined() {
    let mut run = in_rounds();
    let points = (1..=100).map(|at| [f64::from(at) * 163_840.0, 1.6e14]);
    run.cells[0].series[0].points = points.collect();
    let drawn = &judge(run).unwrap().run.cells[0].series[0].points;
    let fastest = drawn.iter().map(|[_, bps]| *bps).fold(0.0, f64::max);
    assert!(fastest <= 650e6, "{fastest}, which no card does");
}

/// 7.9 million I/Os a second of another tool, without latencies: beyond any medium with one I/O at a
/// time. Three I/Os keep their rate; a line asks for more of them.
#[test]
fn what_has_hardly_any_evidence_is_looked_at() {
    let stated = |kind: MediumKind, latencies: &[u64]| {
        outcome_of(|run| {
            (run.kind, run.link, run.software.name) = (kind, None, "fio".into());
            run.cells = vec![measured("random-read/1", latencies)];
            let cell = &mut run.cells[0];
            let iops = cell.metrics.iops.as_mut().unwrap();
            (iops.value, iops.ci95, cell.metrics.bps, cell.histogram) = (7.9e6, None, None, None);
        })
    };
    for kind in [MediumKind::Nvme, MediumKind::Ssd, MediumKind::Sd] {
        let outcome = stated(kind, &[1_000_000; 100]);
        assert!(outcome.contains("random-read-4k of 7900000 IOPS is beyond"), "{outcome}");
    }
    let with_latencies = outcome_of(|run| {
        run.software.name = "fio".into();
        run.cells[0].metrics.iops.as_mut().unwrap().value = 7.9e6;
        run.cells[0].metrics.iops.as_mut().unwrap().ci95 = None;
    });
    assert_eq!(with_latencies, "taken, caveats: []", "its rate is that of its latencies");
}

#[test]
fn a_rate_at_the_end_is_held_within_its_ios() {
    let with = |of_first: f64, histogram: bool| {
        let mut run = honest();
        let took = |at: u64| if at < 2000 { 1_000_000 } else { 3_000_000 };
        let mut cell = measured("sustained/1", &(0..4000).map(took).collect::<Vec<_>>());
        let stated = Estimate { value: 4.096e6 * of_first, ci95: None, n: 4000 };
        cell.metrics.other.insert(record::metric::SUSTAINED_BPS.into(), stated);
        cell.histogram = cell.histogram.filter(|_| histogram);
        run.cells = vec![cell];
        let cell = judge(run).unwrap().run.cells.remove(0);
        cell.metrics.other.get(record::metric::SUSTAINED_BPS).map(|rate| rate.value / 4.096e6)
    };
    for (stated, held) in [(1.0, 1.0), (0.333, 0.333), (0.5, 0.5), (100.0, 1.0), (0.01, 0.333)] {
        let found = with(stated, true).unwrap();
        assert!((found / held - 1.0).abs() < 0.005, "{stated}: {found}");
    }
    assert_eq!(with(1.0, false), None, "without I/Os that it is made of");
}

#[test]
fn commits_a_second_are_held_within_their_times() {
    let with = |per_second: f64| {
        let mut run = honest();
        let mut cell = measured("commit/1", &[2_000_000; 500]);
        (cell.unit, cell.metrics.bps) = (Some(record::CountUnit::Commits), None);
        // A checkpoint, of which a commit has a share.
        (cell.ops, cell.elapsed_ns) = (3000, cell.elapsed_ns + 300_000_000);
        cell.metrics.iops.as_mut().unwrap().value = per_second;
        run.cells = vec![cell];
        judge(run).unwrap().run.cells[0].metrics.iops.unwrap().value
    };
    for (stated, held) in [(434.8, 434.8), (384.6, 384.6), (4348.0, 500.0), (100.0, 384.6)] {
        assert!((with(stated) / held - 1.0).abs() < 0.005, "{stated}: {}", with(stated));
    }
}

/// Every cell of the golden corpus that has its latencies prints what it printed.
#[test]
#[allow(clippy::disallowed_methods, reason = "reads fixtures")]
fn figures_of_the_corpus_are_drawn_as_they_were_measured() {
    let dir = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/records");
    let mut cells = 0;
    for file in std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
        let text = std::fs::read_to_string(&file).unwrap();
        let Ok(record) = Record::from_json(&text) else { continue };
        let run = Published::from(&record);
        let drawn = judge(run.clone()).unwrap_or_else(|why| panic!("{}: {why}", file.display()));
        for (was, is) in run.cells.iter().zip(&drawn.run.cells) {
            if was.histogram.is_some() {
                assert_eq!(unlike(was, is), None, "{} {}", file.display(), was.id);
                cells += 1;
            }
        }
    }
    assert!(cells > 300, "{cells}");
}

/// A figure that differs by more than half a percent.
fn unlike(was: &Cell, is: &Cell) -> Option<String> {
    let latency = |cell: &Cell| {
        let latency = cell.metrics.latency_ns.clone().unwrap_or_default();
        let [p50, p90, p99] =
            [latency.p50, latency.p90, latency.p99].map(|ns| ns.unwrap_or(0) as f64);
        [latency.min as f64, latency.mean, p50, p90, p99, latency.max as f64]
    };
    let rates = |cell: &Cell| {
        let metrics = &cell.metrics;
        [metrics.iops, metrics.bps].map(|rate| rate.map_or(0.0, |rate| rate.value))
    };
    let other = |name: &String| is.metrics.other.get(name).map_or(0.0, |figure| figure.value);
    let of_the_test = was.metrics.other.iter().map(|(name, was)| (was.value, other(name)));
    let pairs = rates(was).into_iter().zip(rates(is));
    let mut pairs = pairs.chain(latency(was).into_iter().zip(latency(is))).chain(of_the_test);
    let apart = pairs.find(|(was, is)| (was - is).abs() > 0.005 * was.abs())?;
    Some(format!("{apart:?}"))
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
out-of-range: cells[0].params.span_bytes: 1.8446744073709552e19 cannot be; it would be from 0.0 to 1.152921504606847e18
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
        fast(MediumKind::Disk, 200_000),
        fast(MediumKind::Ssd, 200_000),
        fast(MediumKind::CompactFlash, 1000),
        fast(MediumKind::Unknown, 500),
        outcome_of(|run| run.software.name = "Flashmark".into()),
        outcome_of(|run| run.software.name = "FlashMark  (official)".into()),
        outcome_of(|run| run.software.name = "Fl\u{0430}shmark".into()),
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
taken, caveats: ["random-read-4k of 2506 IOPS is beyond what any disk does"]
taken, caveats: []
taken, caveats: ["random-read-4k of 501253 IOPS is beyond what any CompactFlash card does"]
taken, caveats: ["random-read-4k of 1002506 IOPS is beyond what any medium but an NVMe drive does; say of which kind it is"]
taken, caveats: []
taken, caveats: ["its software is called flashmark (official), and is not Flashmark"]
taken, caveats: ["its software is called flashmark, and is not Flashmark"]
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
    let codes = "too-large encoding not-json too-deep too-many text markup wrong-schema newer-schema \
                 not-a-run out-of-range contradiction impossible";
    let plain = rejection.reason.chars().all(|c| !c.is_control() && c != '\u{202e}')
        && rejection.reason.len() < 1000;
    let known = codes.split(' ').any(|code| code == rejection.code);
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
