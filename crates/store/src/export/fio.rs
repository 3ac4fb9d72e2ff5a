//! A run as fio would have printed it (`--output-format=json+`), for the tools that draw fio's
//! results. Our importer reads it back.
//!
//! A job for each cell that moved data in one direction by a plan fio has words for. What fio has
//! none for (intervals, flags, curves, findings) is not in it; the version says that it was not fio
//! that measured.

use record::collection::CollectionRun;
use record::{Cell, Content, Direction, Histogram, Latency, Path, Pattern, Region, Sync};
use serde_json::{Map, Value, json};

/// The document, with a newline at its end.
pub fn fio(entry: &CollectionRun) -> String {
    let run = &entry.run;
    let software = if run.software.name.is_empty() { "flashmark" } else { &run.software.name };
    let jobs: Vec<Value> = run.cells.iter().filter_map(job).collect();
    let document = json!({
        "fio version": format!("{software}-{}", run.software.version),
        "time": run.started,
        "jobs": jobs,
    });
    format!("{document:#}\n")
}

fn job(cell: &Cell) -> Option<Value> {
    let direction = cell
        .params
        .direction
        .filter(|_| cell.ops > 0 && cell.metrics.iops.or(cell.metrics.bps).is_some())?;
    let options = options(cell, direction)?;
    let ours = way(cell);
    let none = json!({ "io_bytes": 0, "io_kbytes": 0, "bw_bytes": 0, "bw": 0, "iops": 0.0, "runtime": 0, "total_ios": 0 });
    let (read, write) = if direction == Direction::Read { (ours, none) } else { (none, ours) };
    Some(json!({
        "jobname": cell.id,
        "groupid": 0,
        // fio has numbers for errors; 5 is EIO.
        "error": if cell.stop.cut_short() { 5 } else { 0 },
        "elapsed": cell.elapsed_ns.div_ceil(1_000_000_000),
        "job options": options,
        "read": read,
        "write": write,
    }))
}

/// What fio would have to be told; `None` for what it cannot be.
fn options(cell: &Cell, direction: Direction) -> Option<Map<String, Value>> {
    let params = &cell.params;
    let rw = match (params.pattern?, direction) {
        (Pattern::Sequential, Direction::Read) => "read",
        (Pattern::Sequential, Direction::Write) => "write",
        (Pattern::Uniform | Pattern::Permutation | Pattern::Stratified, Direction::Read) => {
            "randread"
        }
        (Pattern::Uniform | Pattern::Permutation | Pattern::Stratified, Direction::Write) => {
            "randwrite"
        }
        (Pattern::Strided, _) => return None,
    };
    let is_file = params.region == Some(Region::File);
    let mut options = Map::new();
    let mut set =
        |name: &str, value: String| drop(options.insert(name.to_owned(), Value::String(value)));
    set("name", cell.id.clone());
    // Which it was is not published.
    set("filename", if is_file { "medium" } else { "/dev/medium" }.to_owned());
    set("rw", rw.to_owned());
    set("ioengine", if params.queue_depth == 1 { "psync" } else { "io_uring" }.to_owned());
    set("iodepth", params.queue_depth.to_string());
    set("numjobs", params.threads.to_string());
    set("direct", u8::from(params.path == Path::Direct).to_string());
    for (name, value) in [
        ("bs", params.block_bytes),
        ("size", params.span_bytes),
        ("offset", params.span_offset_bytes),
    ] {
        if let Some(bytes) = value {
            set(name, bytes.to_string());
        }
    }
    if params.pattern == Some(Pattern::Uniform) {
        set("norandommap", "1".to_owned());
    }
    match params.sync {
        Sync::None => {}
        Sync::Data => set("sync", "dsync".to_owned()),
        Sync::File => set("sync", "sync".to_owned()),
    }
    match params.content {
        Some(Content::Zeros) => set("zero_buffers", "1".to_owned()),
        Some(Content::Incompressible) => set("refill_buffers", "1".to_owned()),
        Some(Content::Compressible(percent)) => {
            set("buffer_compress_percentage", percent.to_string())
        }
        Some(Content::Byte(byte)) => set("buffer_pattern", format!("0x{byte:02x}")),
        Some(Content::Repeated) | None => {}
    }
    Some(options)
}

fn way(cell: &Cell) -> Value {
    let value =
        |estimate: Option<record::Estimate>| estimate.map_or(0.0, |found| found.value).max(0.0);
    let bps = value(cell.metrics.bps);
    let mut way = json!({
        "io_bytes": cell.bytes,
        "io_kbytes": cell.bytes / 1024,
        "bw_bytes": bps.round(),
        "bw": (bps / 1024.0).round(),
        "iops": value(cell.metrics.iops),
        "runtime": (cell.elapsed_ns as f64 / 1e6).round(),
        "total_ios": cell.ops,
    });
    if let Some(latency) = &cell.metrics.latency_ns {
        way["lat_ns"] = times(latency);
        let mut detail = times(latency);
        detail["percentile"] = percentiles(latency);
        if let Some(histogram) = &cell.histogram {
            detail["bins"] = bins(histogram);
        }
        way["clat_ns"] = detail;
    }
    way
}

fn times(latency: &Latency) -> Value {
    json!({ "min": latency.min, "max": latency.max, "mean": latency.mean, "N": latency.n })
}

/// Under the names fio gives them; what too few samples support is left out, as in the record.
fn percentiles(latency: &Latency) -> Value {
    let all = [
        ("50.000000", latency.p50),
        ("90.000000", latency.p90),
        ("95.000000", latency.p95),
        ("99.000000", latency.p99),
        ("99.900000", latency.p99_9),
    ];
    all.into_iter()
        .filter_map(|(name, ns)| Some((name.to_owned(), Value::from(ns?))))
        .collect::<Map<_, _>>()
        .into()
}

fn bins(histogram: &Histogram) -> Value {
    histogram
        .buckets()
        .map(|(ns, count)| (ns.to_string(), Value::from(count)))
        .collect::<Map<_, _>>()
        .into()
}
