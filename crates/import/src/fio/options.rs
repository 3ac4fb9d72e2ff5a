//! Options of a job of fio.

use std::collections::BTreeMap;

use record::units::Nanos;
use record::{Content, Direction, Params, Path, Pattern, Region, Sync};
use serde_json::Value;

use crate::imported_run::BUFFERED;
use crate::text::{number, short, size};

/// Options of a job as fio repeats them in its output.
pub(super) type Options = BTreeMap<String, Value>;

/// Options with which a job is never one of our procedures.
const NOT_SIMPLE: &str = "rate rate_min rate_iops rate_iops_min thinktime bssplit bsrange \
     blocksize_range zonesize zonemode random_distribution latency_target verify write_iolog";

/// Engines that have one I/O in flight, whatever `iodepth` says.
const SYNCHRONOUS: [&str; 7] = ["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "null"];

/// Parameters of a job.
#[derive(Clone, Debug, Default)]
pub(super) struct Job {
    /// `rw=` as given ("randrw"); empty where the text does not say.
    pub kind: String,
    /// True if no option makes it differ from our procedures.
    pub is_simple: bool,
    /// Block sizes of reads and of writes, in bytes.
    pub blocks: [Option<u64>; 2],
    /// The other parameters.
    pub params: Params,
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
        let (path, threads) = (Path::Buffered, 1);
        Job { params: Params { path, threads, ..Params::default() }, ..Job::default() }
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

    /// Block size of a direction; of both together that of reads.
    pub fn block_bytes(&self, direction: Option<Direction>) -> Option<u64> {
        self.blocks[usize::from(direction == Some(Direction::Write))]
    }

    /// Takes `rw=`: the kind, and with it the order.
    pub fn set_kind(&mut self, rw: &str, repeats_places: bool) {
        let (kind, modified) = rw.split_once(':').map_or((rw, false), |(kind, _)| (kind, true));
        self.kind = short(kind, 20);
        self.is_simple &= !modified;
        self.params.pattern = match kind {
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
        let depth = depth.and_then(|depth| u32::try_from(depth).ok()).unwrap_or(1);
        self.params.queue_depth = if SYNCHRONOUS.contains(&engine) { 1 } else { depth.max(1) };
    }

    /// Reads the options of a job over those of all jobs; a missing option has fio's default.
    pub fn of(global: &Options, own: &Options) -> Job {
        let get = |names: &[&str]| {
            names.iter().find_map(|name| own.get(*name).or_else(|| global.get(*name))).map(as_text)
        };
        let or = |names: &[&str], usual: &str| get(names).unwrap_or_else(|| usual.to_owned());
        let is_on = |name: &str| or(&[name], "0") != "0";
        let count = |name: &str| or(&[name], "").trim().parse::<u64>().ok();
        let mut job = Job::unknown();
        if global.is_empty() && own.is_empty() {
            job.notes.push("the output does not repeat the options of the job: order, depth and path are not known".into());
            return job;
        }
        job.is_simple = true;
        job.set_kind(&or(&["rw", "readwrite"], "read"), is_on("norandommap"));
        job.set_depth(&or(&["ioengine"], "psync"), count("iodepth"));
        job.blocks = blocks(&or(&["bs", "blocksize"], "4k"));
        job.filename = or(&["filename"], "");
        let limit = or(&["runtime", "timeout"], "").parse::<Nanos>().ok();
        job.time_limit_ms = limit.map(|ns| ns.0 as f64 / 1e6).filter(|ms| *ms > 0.0);
        let is_direct = is_on("direct") || or(&["buffered"], "1") == "0";
        if !is_direct {
            job.notes.push(BUFFERED.to_owned());
        }
        let threads = count("numjobs").and_then(|n| u32::try_from(n).ok()).unwrap_or(1).max(1);
        job.params = Params {
            threads,
            path: if is_direct { Path::Direct } else { Path::Buffered },
            sync: match &*or(&["sync"], "0") {
                "0" | "none" => Sync::None,
                "dsync" => Sync::Data,
                _ => Sync::File,
            },
            span_bytes: get(&["size"]).and_then(|text| size(&text)),
            span_offset_bytes: get(&["offset"]).and_then(|text| size(&text)),
            region: (!job.filename.starts_with("/dev/")).then_some(Region::File),
            content: match number(&or(&["buffer_compress_percentage"], "0")) {
                Some(100.0) => Some(Content::Zeros),
                Some(percent) if percent > 0.0 && percent < 100.0 => {
                    Some(Content::Compressible(percent as u8))
                }
                _ if is_on("zero_buffers") => Some(Content::Zeros),
                _ if is_on("refill_buffers") => Some(Content::Incompressible),
                _ => None,
            },
            ..job.params
        };
        for name in NOT_SIMPLE.split(' ') {
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
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Block sizes in bytes of "4k" or "4k,64k,4k": for reads, writes and trims.
fn blocks(text: &str) -> [Option<u64>; 2] {
    let mut parts = text.split(',').map(str::trim);
    let read = parts.next().and_then(size);
    let write = parts.next().filter(|part| !part.is_empty()).map_or(read, size);
    [read, write]
}
