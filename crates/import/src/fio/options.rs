//! Options of a job of fio.

use std::collections::BTreeMap;

use record::{Content, Direction, Path, Pattern, Region, Sync};
use serde_json::Value;

use crate::text::{number, short, time_ns, with_unit};

/// Options of a job as fio repeats them in its output.
pub(super) type Options = BTreeMap<String, Value>;

/// Options with which a job is never one of our procedures.
const NOT_SIMPLE: [&str; 14] = [
    "rate",
    "rate_min",
    "rate_iops",
    "rate_iops_min",
    "thinktime",
    "bssplit",
    "bsrange",
    "blocksize_range",
    "zonesize",
    "zonemode",
    "random_distribution",
    "latency_target",
    "verify",
    "write_iolog",
];

/// Engines that have one I/O in flight, whatever `iodepth` says.
const SYNCHRONOUS: [&str; 7] = ["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "null"];

/// Parameters of a job.
#[derive(Clone, Debug)]
pub(super) struct Job {
    /// `rw=` as given ("randrw"); empty where the text does not say.
    pub kind: String,
    /// Order of the offsets; `None` if unknown.
    pub order: Option<Pattern>,
    /// True if no option makes it differ from our procedures.
    pub is_simple: bool,
    /// Block sizes of reads and of writes, in bytes.
    pub blocks: [Option<u64>; 2],
    pub queue_depth: u32,
    pub threads: u32,
    pub sync: Sync,
    pub path: Path,
    pub content: Option<Content>,
    pub region: Option<Region>,
    pub offset_bytes: Option<u64>,
    pub span_bytes: Option<u64>,
    /// Device or file (`filename=`); empty if the text does not say.
    pub filename: String,
    /// Longest runtime, in milliseconds.
    pub time_limit_ms: Option<f64>,
    /// Call that ends a number of writes, if one was asked for: "fsync", "fdatasync".
    pub commit: Option<&'static str>,
    pub notes: Vec<String>,
}

impl Job {
    /// A job without known options.
    pub fn unknown() -> Job {
        Job {
            kind: String::new(),
            order: None,
            is_simple: false,
            blocks: [None; 2],
            queue_depth: 1,
            threads: 1,
            sync: Sync::None,
            path: Path::Buffered,
            content: None,
            region: None,
            offset_bytes: None,
            span_bytes: None,
            filename: String::new(),
            time_limit_ms: None,
            commit: None,
            notes: Vec::new(),
        }
    }

    /// Direction, if it is only one.
    pub fn direction(&self) -> Option<Direction> {
        match self.kind.as_str() {
            "read" | "randread" => Some(Direction::Read),
            "write" | "randwrite" => Some(Direction::Write),
            _ => None,
        }
    }

    /// True if it both reads and writes.
    pub fn is_mixed(&self) -> bool {
        matches!(self.kind.as_str(), "rw" | "readwrite" | "randrw" | "trimwrite" | "randtrimwrite")
    }

    pub fn block_bytes(&self, direction: Direction) -> Option<u64> {
        self.blocks[usize::from(direction == Direction::Write)]
    }

    /// Takes `rw=`: the kind, and with it the order.
    pub fn set_kind(&mut self, rw: &str, repeats_places: bool) {
        let (kind, modified) = rw.split_once(':').map_or((rw, false), |(kind, _)| (kind, true));
        self.kind = short(kind, 20);
        self.is_simple &= !modified;
        self.order = match kind {
            "read" | "write" | "rw" | "readwrite" | "trim" | "trimwrite" => {
                Some(Pattern::Sequential)
            }
            _ if kind.starts_with("rand") && repeats_places => Some(Pattern::Uniform),
            _ if kind.starts_with("rand") => Some(Pattern::Permutation),
            _ => None,
        };
    }

    /// Takes engine and queue depth.
    pub fn set_depth(&mut self, engine: &str, depth: Option<u64>) {
        let depth = depth.and_then(|depth| u32::try_from(depth).ok()).unwrap_or(1).max(1);
        self.queue_depth = if SYNCHRONOUS.contains(&engine) { 1 } else { depth };
    }

    /// Reads the options of a job over those of all jobs; a missing option has fio's default.
    pub fn of(global: &Options, own: &Options) -> Job {
        let get = |names: &[&str]| {
            names.iter().find_map(|name| own.get(*name).or_else(|| global.get(*name))).map(as_text)
        };
        let is_on = |name: &str| get(&[name]).is_some_and(|value| value != "0");
        let count = |name: &str| get(&[name]).and_then(|text| text.trim().parse::<u64>().ok());
        let mut job = Job { is_simple: true, ..Job::unknown() };
        if global.is_empty() && own.is_empty() {
            job.is_simple = false;
            job.notes.push("the output does not repeat the options of the job: order, depth and path are not known".into());
            return job;
        }
        job.set_kind(
            &get(&["rw", "readwrite"]).unwrap_or_else(|| "read".into()),
            is_on("norandommap"),
        );
        job.set_depth(&get(&["ioengine"]).unwrap_or_else(|| "psync".into()), count("iodepth"));
        job.threads = count("numjobs").and_then(|n| u32::try_from(n).ok()).unwrap_or(1).max(1);
        job.path = if is_on("direct") || get(&["buffered"]).is_some_and(|value| value == "0") {
            Path::Direct
        } else {
            Path::Buffered
        };
        if job.path == Path::Buffered {
            job.notes
                .push("through the page cache: part of this may be the speed of memory".into());
        }
        job.sync = match get(&["sync"]).as_deref() {
            None | Some("0" | "none") => Sync::None,
            Some("dsync") => Sync::Data,
            Some(_) => Sync::File,
        };
        job.blocks = blocks(&get(&["bs", "blocksize"]).unwrap_or_else(|| "4k".into()));
        job.span_bytes = get(&["size"]).and_then(|text| fio_size(&text));
        job.offset_bytes = get(&["offset"]).and_then(|text| fio_size(&text));
        job.filename = get(&["filename"]).unwrap_or_default();
        job.region = (!job.filename.starts_with("/dev/")).then_some(Region::File);
        job.time_limit_ms = get(&["runtime", "timeout"]).and_then(|text| time_limit_ms(&text));
        job.content = content(&get);
        for name in NOT_SIMPLE {
            if let Some(value) = get(&[name]).filter(|value| value != "0" && value != "random") {
                job.is_simple = false;
                job.notes.push(format!("measured with {name}={}", short(&value, 60)));
            }
        }
        for name in ["fsync", "fdatasync"] {
            if let Some(every) = count(name).filter(|every| *every > 0) {
                job.is_simple = false;
                job.commit = Some(name);
                job.notes.push(format!("with an {name} after every {every} writes"));
            }
        }
        job
    }
}

fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Block sizes in bytes of "4k" or "4k,64k,4k": for reads, writes and trims.
fn blocks(text: &str) -> [Option<u64>; 2] {
    let mut parts = text.split(',').map(str::trim);
    let read = parts.next().and_then(fio_size);
    let write = parts.next().filter(|part| !part.is_empty()).map_or(read, fio_size);
    [read, write]
}

/// Bytes of a size as fio reads it: prefixes of 1024 ("4k", "1m", "2g"). `None` for percentages and
/// anything that is not a size.
pub(super) fn fio_size(text: &str) -> Option<u64> {
    crate::text::size(text)
}

/// Milliseconds of "5" and "5s" (seconds) or "2m" (minutes).
fn time_limit_ms(text: &str) -> Option<f64> {
    let (value, unit) = with_unit(text)?;
    let ns = time_ns(value, if unit.is_empty() { "s" } else { unit })?;
    (ns > 0.0).then_some(ns / 1e6)
}

fn content(get: &impl Fn(&[&str]) -> Option<String>) -> Option<Content> {
    let is_on = |name: &str| get(&[name]).is_some_and(|value| value != "0");
    let percent = get(&["buffer_compress_percentage"])
        .and_then(|text| number(&text))
        .filter(|percent| (0.0..=100.0).contains(percent));
    match percent {
        Some(percent) if percent >= 100.0 => Some(Content::Zeros),
        Some(percent) if percent > 0.0 => Some(Content::Compressible(percent as u8)),
        _ if is_on("zero_buffers") => Some(Content::Zeros),
        _ if is_on("refill_buffers") => Some(Content::Incompressible),
        _ => None,
    }
}
