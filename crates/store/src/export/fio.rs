//! Export as fio's JSON (`--output-format=json+`), for the tools that draw fio's results. Our
//! importer reads it back.
//!
//! It has a job for each cell that moved data in one direction by a plan that fio can express.
//! Intervals, flags, curves and findings have no place in it; the version says that fio did not
//! measure it.

use record::collection::CollectionRun;
use record::{Cell, Content, Direction, Path, Pattern, Region, Sync};
use serde_json::{Map, Value, json};

use super::fio_fields;

/// Makes the document, with a newline at its end.
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
    let (ours, none) = (fio_fields::of_cell(cell), fio_fields::nothing());
    let (read, write) = if direction == Direction::Read { (ours, none) } else { (none, ours) };
    let mut job = json!({
        "jobname": cell.id,
        "groupid": 0,
        // fio has numbers for errors; 5 is EIO.
        "error": if cell.stop.cut_short() { 5 } else { 0 },
        "elapsed": cell.elapsed_ns.div_ceil(1_000_000_000),
        "job options": options,
        "read": read,
        "write": write,
        "trim": fio_fields::nothing(),
        "job_runtime": cell.elapsed_ns / 1_000_000,
        // Not measured; fio's tools read them all the same.
        "usr_cpu": 0.0,
        "sys_cpu": 0.0,
    });
    for (name, shares) in fio_fields::shares(cell) {
        job[name] = shares;
    }
    Some(job)
}

/// Options with which fio would measure the cell; `None` for a cell that fio cannot express.
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
    // The name of the file or device is not published.
    set("filename", if is_file { "medium" } else { "/dev/medium" }.to_owned());
    set("rw", rw.to_owned());
    set("ioengine", if params.queue_depth == 1 { "psync" } else { "io_uring" }.to_owned());
    set("iodepth", params.queue_depth.to_string());
    set("numjobs", params.threads.to_string());
    set("direct", u8::from(params.path == Path::Direct).to_string());
    for (name, value) in [
        // Without one fio takes 4096: the mean bytes of an I/O are nearer.
        ("bs", params.block_bytes.or(cell.bytes.checked_div(cell.ops).filter(|mean| *mean > 0))),
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
