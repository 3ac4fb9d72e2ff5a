//! Hostile uploads, one at a time and at random; and honest ones, which are all accepted.

use std::io::Write;
use std::path::Path as FilePath;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use record::collection::HeadlineFigure;
use record::units::GIB;
use record::{Cell, Estimate, Histogram, Link, MediumKind, Metrics, Round, TargetKind};
use serde_json::{Value, json};

use super::*;

/// A cell as Flashmark measures it: writes of 4 KiB with these latencies.
fn measured(id: &str, latencies_ns: &[u64]) -> Cell {
    let mut histogram = Histogram::default();
    latencies_ns.iter().for_each(|ns| histogram.record(*ns));
    let (ops, took_ns) = (latencies_ns.len() as u64, latencies_ns.iter().sum::<u64>());
    let (bytes, longest_ns) = (ops * 4096, *latencies_ns.iter().max().unwrap());
    let rate = Estimate { value: 1.0, ci95: Some([0.9, 1.1]), n: ops };
    let bps = stats::per_second(bytes, took_ns);
    let mut cell: Cell = serde_json::from_value(json!({
        "id": id, "test": id.split('/').next(), "ops": ops, "bytes": bytes, "written_bytes": bytes,
        "elapsed_ns": took_ns, "stop": "converged",
        "params": {
            "direction": "write", "pattern": "permutation", "block_bytes": 4096, "region": "middle",
            "span_offset_bytes": 16 * GIB, "span_bytes": GIB, "queue_depth": 1, "threads": 1,
            "sync": "data", "path": "direct", "content": "incompressible",
        },
        "metrics": { "iops": rate, "bps": rate, "latency_ns": stats::latency(&histogram, longest_ns) },
        "series": [{ "name": "rate", "x": "bytes", "y": "bps", "points": [[4096, bps], [8192, bps]] }],
        "histogram": histogram,
    }))
    .unwrap();
    stats::set_rates(&mut cell);
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

/// What a run prints as it is read.
fn outcome_of(run: &Value) -> String {
    match read_plain(run.to_string().as_bytes()) {
        Ok(upload) if upload.run == honest() => "the same run".to_owned(),
        Ok(upload) => format!("taken {}", upload.caveats.join("; ")).trim().to_owned(),
        // The column depends on the order of keys, which a feature of serde_json decides.
        Err(why) => why.to_string().split(" at line 1 colum").next().unwrap().to_owned(),
    }
}

/// The run with other values at these places: `label "x" & /ops *10`. A place that begins with `/` is
/// one of the first cell, with `#` it is one of each of four rounds. `*10` multiplies a number;
/// `text:51` is a text so long, `nested:8`, `list:501` and `members:300` are lists and objects. `took`
/// has the test of the only cell, the time of its first I/O, how much more each next one takes, and
/// their number.
fn changed(run: &Published, changes: &str) -> Value {
    let mut run = serde_json::to_value(run).unwrap();
    for (place, value) in changes.split(" & ").map(|change| change.split_once(' ').unwrap()) {
        let place =
            if place.starts_with('/') { format!("/cells/0{place}") } else { format!("/{place}") };
        if place == "/took" {
            let (test, first, more, count): (String, u64, u64, u64) =
                serde_json::from_str(value).unwrap();
            let took: Vec<u64> = (0..count).map(|at| first + at * more).collect();
            run["cells"] = json!([measured(&format!("{test}/1"), &took)]);
            continue;
        }
        for round in if place.contains('#') { 0..4 } else { 0..1 } {
            put(&mut run, &place.replace('#', &round.to_string()), value);
        }
    }
    run
}

fn put(run: &mut Value, place: &str, value: &str) {
    let (parent, name) = place.rsplit_once('/').unwrap();
    let old = match run.pointer_mut(parent).unwrap() {
        Value::Array(list) => &mut list[name.parse::<usize>().unwrap()],
        object => &mut object[name],
    };
    let (kind, count) = value.split_once(':').unwrap_or(("", ""));
    let count: usize = count.parse().unwrap_or(0);
    *old = match (kind, value.strip_prefix('*')) {
        ("text", _) => json!("x".repeat(count)),
        ("nested", _) => (0..count).fold(json!(1), |inner, _| json!([inner])),
        ("list", _) => json!(vec![1; count]),
        ("members", _) => (0..count).map(|at| (at.to_string(), json!(1))).collect(),
        (_, Some(factor)) => {
            let scaled = old.as_f64().unwrap() * factor.parse::<f64>().unwrap();
            if old.is_u64() { json!(scaled as u64) } else { json!(scaled) }
        }
        _ => serde_json::from_str(value).unwrap(),
    };
}

#[test]
fn a_changed_record_prints_what_is_wrong_with_it() {
    let said = |changes: &str| outcome_of(&changed(&honest(), changes));
    crate::cases::check_rows("src/judging/changes.txt", said);
}

#[test]
fn an_honest_run_is_taken_without_a_caveat_plain_or_packed() {
    let body = json_of(&honest());
    let upload = read_plain(&body).unwrap();
    assert_eq!((&upload.run, upload.caveats.as_slice()), (&honest(), &[][..]));
    let rate = upload.headline.figures[&HeadlineFigure::RandomWrite4k];
    assert!((1.0..2.0).contains(&rate), "{rate}");
    assert!(upload.headline.verdict.is_some(), "drawn here");
    assert_eq!(read_plain(&packed(&body)), Ok(upload));
}

#[test]
fn bodies_that_are_no_document() {
    let limits = UploadLimits { unpacked_bytes: 100_000, ..UploadLimits::default() };
    let bomb = packed(&vec![b' '; 1 << 20]);
    let followed = [packed(b"{}"), b"more".to_vec()].concat();
    let mut cut = packed(b"{\"schema\":1}");
    cut.truncate(cut.len() - 9);
    for (body, printed) in [
        (
            &[b'['; 100_001][..],
            "too-large: the document has 100001 bytes; at most 100000 are taken",
        ),
        (&bomb, "too-large: the body unpacks to more than 100000 bytes"),
        (&packed(&bomb), "not-json: the body is not JSON: expected value"),
        (&cut, "encoding: the body is not packed with gzip, or damaged: incomplete deflate stream"),
        (&followed, "encoding: 4 bytes follow what is packed in the body"),
        (b"", "not-json: the body is not JSON: EOF while parsing a value"),
        (b"\xff\xfe{}", "not-json: the body is not JSON: expected value"),
        (b"{\"schema\": NaN}", "not-json: the body is not JSON: expected value"),
        (b"{\"ops\": [2, 1e999]}", "out-of-range: ops[1]: number out of range"),
        (&b"[".repeat(90_000), "too-deep: "),
        (b"[]", "wrong-schema: the document does not say what it is"),
    ] {
        let found = read(body, &limits).unwrap_err().to_string();
        assert!(found.starts_with(printed), "{found}");
    }
}

/// Regression: some kilobytes with 1500 histograms, each with all buckets filled, took gigabytes.
#[test]
fn filled_places_of_histograms_have_a_limit() {
    let mut histogram = Histogram::default();
    (1..40_000u64).for_each(|step| histogram.record(step * step));
    let places = histogram.buckets().count();
    let with = |count: usize| {
        let cell = Cell { histogram: Some(histogram.clone()), ..honest().cells.remove(0) };
        outcome_of(&json!(Published { cells: vec![cell; count], ..honest() }))
    };
    let most = 600_000 / places;
    assert!(with(most + 1).starts_with("too-many: cells["), "{}", with(most + 1));
    assert!(!with(most - 1).contains("places"), "{}", with(most - 1));
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
    let stall = Estimate::of(1_299_400.0, 4000);
    cell.metrics.other.insert("worst_stall_ns".into(), stall);
    run.cells = vec![cell];
    judge(run).unwrap().run
}

/// What a sender states, and moves no figure.
const STATED: &str = include_str!("stated.txt");

#[test]
fn what_a_sender_states_moves_no_figure() {
    let honest = in_rounds();
    assert_eq!(judge(honest.clone()).unwrap().run, honest, "what is drawn stays");
    for attack in STATED.lines().skip(1) {
        let run: Published = serde_json::from_value(changed(&honest, attack)).unwrap();
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

#[test]
fn a_rate_at_the_end_is_held_within_its_ios() {
    let with = |of_first: f64, histogram: bool| {
        let mut run = honest();
        let took = |at: u64| if at < 2000 { 1_000_000 } else { 3_000_000 };
        let mut cell = measured("sustained/1", &(0..4000).map(took).collect::<Vec<_>>());
        let stated = Estimate::of(4.096e6 * of_first, 4000);
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
    let figures = |cell: &Cell| {
        let Metrics { iops, bps, latency_ns, .. } = cell.metrics.clone();
        let latency = latency_ns.unwrap_or_default();
        let percentiles = [latency.p50, latency.p90, latency.p99].map(|ns| ns.unwrap_or(0) as f64);
        let ends = [latency.min as f64, latency.mean, latency.max as f64];
        let rates = [iops, bps].map(|rate| rate.map_or(0.0, |rate| rate.value));
        [percentiles.as_slice(), &ends, &rates].concat()
    };
    let other = |name: &String| is.metrics.other.get(name).map_or(0.0, |figure| figure.value);
    let of_the_test = was.metrics.other.iter().map(|(name, was)| (was.value, other(name)));
    let mut pairs = figures(was).into_iter().zip(figures(is)).chain(of_the_test);
    let apart = pairs.find(|(was, is)| (was - is).abs() > 0.005 * was.abs())?;
    Some(format!("{apart:?}"))
}

/// Records that the importers make from real outputs of other tools are accepted, and so are
/// published figures of others.
#[test]
#[allow(clippy::disallowed_methods, reason = "reads fixtures")]
fn what_other_tools_measured_is_taken() {
    let dir = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/import");
    let published = report::reference::runs().into_iter();
    let mut runs: Vec<(String, Published)> = published.map(|run| (run.name(), run)).collect();
    for file in std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
        let name = file.file_name().unwrap().to_str().unwrap();
        // Some samples need a question to the user: the importer says what is missing.
        let records = import::read(name, &std::fs::read(&file).unwrap()).into_iter().flatten();
        runs.extend(records.map(|record| (name.to_owned(), Published::from(&record))));
    }
    assert!(runs.len() > 100, "{}", runs.len());
    let said = |(name, run): &(String, Published)| match read_plain(&json_of(run)) {
        Err(why) => Some(format!("{name} is refused: {why}")),
        Ok(upload) => Some(format!("{name}: {}", upload.caveats.first()?)),
    };
    let mut said: Vec<String> = runs.iter().filter_map(said).collect();
    said.sort();
    insta::assert_snapshot!(said.join("\n"), @r"
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
    let odd = json!([null, -1, -0.0, 1e-300, 1e300, 1e19, [], {}]).as_array().unwrap().clone();
    prop_oneof![
        prop::sample::select(odd),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,40}".prop_map(Value::from),
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
