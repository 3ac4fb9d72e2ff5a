//! fio's JSON, of fio 2 (times in microseconds) and 3 (in nanoseconds), with the histograms of
//! json+; one document, or several in an array.

use std::collections::BTreeMap;

use record::Params;
use serde::Deserialize;
use stats::student_t;

use super::add_up::add_up;
use super::options::{Job, Options};
use super::same_job::FORMS;
use super::{agreed_block, cell};
use crate::errno::{Errno, ErrorSide};
use crate::failed;
use crate::imported_run::cell as plain;
use crate::prelude::*;

pub(crate) static JSON: Tool = tool! {
    "", "fio JSON", 1000.0, by_hand: Some(read);
    ["a key \"fio version\"": "\"fio version\""]
    ["a list \"jobs\"": "\"(?:jobs|client_stats)\""]
};

/// Most JSON objects; a job has a few dozen.
const MAX_OBJECTS: usize = 400_000;
/// Share of the time for submission above which a note reports it.
const NOTABLE_SUBMISSION: f64 = 0.05;

/// Output of fio: what its JSON has. The normal text is read into the same form.
#[derive(Default, Deserialize)]
pub(super) struct Document {
    #[serde(rename = "fio version")]
    pub version: String,
    pub timestamp: Option<f64>,
    pub timestamp_ms: Option<f64>,
    #[serde(default, rename = "global options")]
    pub global: Options,
    #[serde(default)]
    pub jobs: Vec<JobOut>,
    #[serde(default)]
    pub client_stats: Vec<JobOut>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct JobOut {
    pub jobname: String,
    pub groupid: f64,
    pub error: f64,
    pub elapsed: f64,
    #[serde(rename = "job options")]
    pub options: Options,
    pub read: Option<Box<DirectionStats>>,
    pub write: Option<Box<DirectionStats>>,
    /// Figures of reads and writes together (`unified_rw_reporting`).
    pub mixed: Option<Box<DirectionStats>>,
    /// Commits; only fio 3 has them.
    pub sync: Option<Box<DirectionStats>>,
    /// Parameters and line of a job that the normal text describes.
    #[serde(skip)]
    pub described: Option<(Job, usize)>,
}

/// One direction of a job.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct DirectionStats {
    pub io_bytes: f64,
    /// Data in KiB; only fio 3 has it. Before, `io_bytes` was in KiB.
    pub io_kbytes: Option<f64>,
    pub bw: f64,
    pub bw_bytes: Option<f64>,
    pub iops: f64,
    pub runtime: f64,
    pub total_ios: f64,
    pub iops_stddev: f64,
    pub iops_samples: f64,
    pub lat_ns: Option<Box<Times>>,
    pub clat_ns: Option<Box<Times>>,
    pub slat_ns: Option<Box<Times>>,
    pub lat: Option<Box<Times>>,
    pub clat: Option<Box<Times>>,
    pub slat: Option<Box<Times>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Times {
    #[serde(rename = "N")]
    pub n: f64,
    pub min: f64,
    pub max: f64,
    pub mean: f64,
    pub percentile: BTreeMap<String, f64>,
    /// I/Os of each bucket of json+, by its time in nanoseconds.
    pub bins: BTreeMap<u64, u64>,
}

fn read(source: &ImportText, reading: &mut Reading) -> Vec<ImportedRun> {
    let mut found: Vec<ImportedRun> = Vec::new();
    let mut last_error = None;
    for (at, document) in documents(source, reading) {
        last_error = document.jobs.iter().find_map(error_of);
        let version = short(document.version.trim_start_matches("fio-"), 40);
        // fio reads the clock when it writes the output.
        let elapsed = document.jobs.iter().map(|job| job.elapsed).fold(0.0, f64::max);
        let [started, finished] = [elapsed, 0.0].map(|before| moment(document.timestamp? - before));
        for (filename, at, cell) in cells(at, &document, reading) {
            // Documents of one medium are one run.
            let is_it = |run: &ImportedRun| run.target.path == filename && run.version == version;
            let place = found.iter().position(is_it).unwrap_or(found.len());
            if place == found.len() {
                if !reading.has_room(at, found.len()) {
                    break;
                }
                let (version, started) = (version.clone(), started.clone());
                let run = ImportedRun::by("fio");
                found.push(ImportedRun { version, started, form: FORMS[0], ..run });
                found[place].on(&filename);
            }
            found[place].finished = finished.clone().or(found[place].finished.take());
            reading.add(&mut found[place], at, cell);
        }
    }
    if found.iter().all(|one| one.cells.is_empty()) && reading.refusals() == 0 {
        let error = last_error.map_or_else(String::new, |it| format!("; fio ended early: {it}"));
        reading.refuse(0, format_args!("no job in it has done any I/O{error}"));
    }
    found
}

/// Documents with the places of their first lines. Text around them, such as fio's notices, is left
/// to other importers; a file may have several runs in succession. Intermediate reports of a run
/// (`--status-interval`) are dropped.
fn documents(source: &ImportText, reading: &mut Reading) -> Vec<(usize, Document)> {
    let text = source.text;
    // Each result is some objects, and each object costs memory: more of them than any run has is
    // an attack.
    if text.bytes().filter(|byte| *byte == b'{').count() > MAX_OBJECTS {
        reading.refuse(0, format_args!("more than {MAX_OBJECTS} objects"));
        return Vec::new();
    }
    let mut documents: Vec<(usize, Document)> = Vec::new();
    let mut from = 0;
    while let Some(begin) = re!(r"(?m)^[\s,\[]*\{").find_at(text, from) {
        let start = begin.end() - 1;
        let rest = &text[start..];
        let first = source.place_of(start);
        let (document, length) = match first_of::<Document>(rest) {
            Ok((document, length)) => (Some(document), length),
            // Braces of another text.
            Err(_) if !rest.contains("\"fio version\"") => break,
            Err(error) => {
                let last = first + error.line().saturating_sub(1);
                // A text that ends within a string ends with a line break in it.
                if error.is_eof() || error.line() > rest.trim_end().lines().count() {
                    let end = source.place_of(text.trim_end().len().saturating_sub(1));
                    reading.refuse(end, "its JSON is cut off here: the end is missing");
                } else {
                    let what = error.to_string();
                    let what = what.split(" at line ").next().unwrap_or_default();
                    reading.refuse(last, format_args!("its JSON cannot be read: {what}"));
                }
                let lines = rest.split_inclusive('\n').take(error.line());
                let length = lines.map(str::len).sum();
                (whole_jobs(&rest[..length]), length)
            }
        };
        let last = source.place_of((start + length).saturating_sub(1));
        reading.take_many(first, last + 1 - first.min(last));
        from = start + length.max(1);
        let Some(document) = document else { continue };
        if documents.last().is_some_and(|(_, before)| document.is_later_look_than(before)) {
            documents.pop();
        }
        documents.push((first, document));
    }
    documents
}

/// Parses the value with which a text begins; returns its length in bytes too.
fn first_of<T: serde::de::DeserializeOwned>(text: &str) -> Result<(T, usize), serde_json::Error> {
    let mut stream = serde_json::Deserializer::from_str(text).into_iter();
    let value = stream.next().unwrap_or_else(|| serde_json::from_str(""))?;
    Ok((value, stream.byte_offset()))
}

/// A document that is cut off or damaged, with its whole jobs.
fn whole_jobs(text: &str) -> Option<Document> {
    let jobs = re!(r#""(?:jobs|client_stats)"\s*:\s*\["#).find(text)?;
    let head = format!("{}\"jobs\":[]}}", &text[..jobs.start()]);
    let mut document: Document = serde_json::from_str(&head).ok()?;
    let mut rest = &text[jobs.end()..];
    while let Ok((job, length)) = first_of(rest) {
        document.jobs.push(job);
        rest = rest[length..].trim_start().trim_start_matches(',');
    }
    Some(document)
}

/// Largest difference between the clock and the runtime of a job, in milliseconds.
const CLOCK_MS: f64 = 400.0;

impl Document {
    /// Time of its beginning by the longest of its jobs, and the runtime of that, in milliseconds.
    fn begun_ms(&self) -> Option<(f64, f64)> {
        let moment = self.timestamp_ms.or(self.timestamp.map(|seconds| seconds * 1e3))?;
        let stats = self.jobs.iter().flat_map(JobOut::stats);
        let ran = stats.map(|(_, stats)| stats.runtime).fold(0.0, f64::max);
        Some((moment - ran, ran))
    }

    /// True if it shows the jobs of an earlier one at a later moment: the same jobs with the same
    /// options, which began at the same time.
    fn is_later_look_than(&self, before: &Document) -> bool {
        let ios = |job: &JobOut| job.stats().map(|(_, stats)| stats.total_ios).sum::<f64>();
        let is_same = |(a, b): (&JobOut, &JobOut)| {
            (&a.jobname, a.groupid, &a.options) == (&b.jobname, b.groupid, &b.options)
                && ios(a) <= ios(b)
        };
        let (Some((from, ran)), Some((to, _))) = (before.begun_ms(), self.begun_ms()) else {
            return false;
        };
        !before.jobs.is_empty()
            && before.jobs.len() == self.jobs.len()
            && before.global == self.global
            && before.jobs.iter().zip(&self.jobs).all(is_same)
            && (to - from).abs() < CLOCK_MS.min(ran / 2.0)
    }
}

impl JobOut {
    /// Figures of each direction, and of both together.
    fn stats(&self) -> impl Iterator<Item = (Option<Direction>, &DirectionStats)> {
        let (read, write) = (Some(Direction::Read), Some(Direction::Write));
        let all = [(read, &self.read), (write, &self.write), (None, &self.mixed)];
        all.into_iter().filter_map(|(way, stats)| Some((way, stats.as_deref()?)))
    }

    /// Figures by their name: of a direction, of both together ("mixed"), of commits ("sync").
    pub fn stats_of(&mut self, name: &str) -> &mut Option<Box<DirectionStats>> {
        match name {
            "read" => &mut self.read,
            "write" => &mut self.write,
            "sync" => &mut self.sync,
            _ => &mut self.mixed,
        }
    }
}

/// Cells of a document, each with the path of its file and its line. The clones of a job (`numjobs`)
/// are added up.
pub(super) fn cells(
    line: usize,
    document: &Document,
    reading: &mut Reading,
) -> Vec<(String, usize, Cell)> {
    let mut cells: Vec<(String, usize, Cell)> = Vec::new();
    let mut places: BTreeMap<(String, u64, String), usize> = BTreeMap::new();
    let of_clients = document.client_stats.iter().filter(|job| job.jobname != "All clients");
    for out in document.jobs.iter().chain(of_clients) {
        let described = out.described.clone();
        let (job, line) =
            described.unwrap_or_else(|| (Job::of(&document.global, &out.options), line));
        for cell in reading.accept(line, of_job(&job, out)).into_iter().flatten() {
            let kind = format!("{} {:?}", cell.test, cell.params.direction);
            let key = (out.jobname.clone(), out.groupid.to_bits(), kind);
            if let Some(at) = places.get(&key).filter(|_| job.params.threads > 1) {
                add_up(&mut cells[*at].2, cell);
                continue;
            }
            places.insert(key, cells.len());
            cells.push((short(&job.filename, 200), line, cell));
        }
    }
    cells
}

/// Cells of a job: of each direction, or of both together, and of its commits.
fn of_job(job: &Job, out: &JobOut) -> Made {
    let mut cells = Vec::new();
    for (direction, stats) in out.stats() {
        let has_moved = stats.total_ios > 0.0 || stats.io_bytes > 0.0 || stats.iops > 0.0;
        // Figures of both together repeat those of each.
        if has_moved && (direction.is_some() || cells.is_empty()) {
            cells.push(of_direction(job, out, direction, stats)?);
        }
    }
    let syncs = out.sync.as_ref().and_then(|sync| sync.lat_ns.as_deref());
    if let Some(times) = syncs.filter(|times| times.n > 0.0 && times.max > 0.0) {
        cells.push(of_syncs(job, out, times)?);
    }
    // A job that the medium ended before its first I/O.
    let of_medium = error_of(out).filter(|error| error.origin == ErrorSide::Medium);
    if let Some(error) = of_medium.filter(|_| cells.is_empty()) {
        let mut failed = cell(job, job.direction());
        failed::end(&mut failed, "fio", &error);
        cells.push(failed);
    }
    Ok(cells.into_iter().map(|cell| cell.label("job", &out.jobname)).collect())
}

/// Error with which a job ended.
fn error_of(out: &JobOut) -> Option<Errno> {
    let number = Some(out.error.abs()).filter(|error| (1.0..1e6).contains(error))? as u32;
    Some(Errno::of_number(number))
}

/// Refuses a job with a number that cannot be.
fn check(out: &JobOut, numbers: &[f64]) -> Result<(), String> {
    let Some(odd) = numbers.iter().find(|number| !(0.0..=1e18).contains(*number)) else {
        return Ok(());
    };
    let name = short(&out.jobname, 40);
    Err(format!("job '{name}': {odd:?} cannot be"))
}

fn of_syncs(job: &Job, out: &JobOut, times: &Times) -> Result<Cell, String> {
    check(out, &[times.n, times.min, times.max, times.mean])?;
    let commit = job.commit.unwrap_or("sync");
    let Params { pattern, region, path, threads, .. } = job.params;
    let n = times.n as u64;
    let mut cell = plain(format!("fio:{commit}"), Direction::Write, pattern, None)
        .path(path)
        .moved(0, n)
        .other("mean_latency_ns", times.mean, n)
        .note(format!("how long each {commit} took; the writes are a result of their own"));
    (cell.params.region, cell.params.threads) = (region, threads.max(1));
    set_times(&mut cell, times, Some(times), 1.0);
    Ok(cell)
}

fn of_direction(
    job: &Job,
    out: &JobOut,
    direction: Option<Direction>,
    stats: &DirectionStats,
) -> Result<Cell, String> {
    let bytes = if stats.io_kbytes.is_some() { stats.io_bytes } else { stats.io_bytes * 1024.0 };
    let bps = stats.bw_bytes.unwrap_or(stats.bw * 1024.0);
    check(out, &[bytes, bps, stats.iops, stats.runtime, stats.total_ios])?;
    let mut cell = cell(job, direction);
    cell.params.block_bytes = agreed_block(cell.params.block_bytes, bytes, stats.total_ios);
    let n = stats.total_ios as u64;
    let mut cell = cell.moved(bytes as u64, n).took(stats.runtime * 1e6).rates(
        Some(stats.iops),
        Some(bps),
        n.max(1),
    );
    // Flags such as time_based are not always repeated: a job that ran for as long as allowed was
    // ended by the time.
    let is_timed = job.time_limit_ms.is_some_and(|allowed| stats.runtime >= 0.99 * allowed);
    cell.stop = if is_timed { Stop::Time } else { Stop::Bytes };
    if let Some(error) = error_of(out) {
        failed::end(&mut cell, "fio", &error);
    }
    // With group_reporting the samples come from single jobs, and their rate is not that of the
    // group.
    if job.params.threads == 1 {
        add_intervals(&mut cell, stats);
    }
    add_latency(&mut cell, out, stats)?;
    Ok(cell)
}

/// Fewest samples of the rate for an interval.
const MIN_SAMPLES: f64 = 5.0;

/// Adds intervals. fio samples the rate twice a second and prints the standard deviation; the
/// interval from these samples is too narrow where neighbours depend on each other, and a note says
/// so.
fn add_intervals(cell: &mut Cell, stats: &DirectionStats) {
    let (n, deviation) = (stats.iops_samples, stats.iops_stddev);
    let is_usable =
        (MIN_SAMPLES..1e9).contains(&n) && deviation > 0.0 && deviation < 1e12 && stats.iops > 0.0;
    if !is_usable {
        return;
    }
    let half = student_t(0.975, n - 1.0) * deviation / n.sqrt() / stats.iops;
    for figure in [&mut cell.metrics.iops, &mut cell.metrics.bps].into_iter().flatten() {
        figure.ci95 = Some([(figure.value * (1.0 - half)).max(0.0), figure.value * (1.0 + half)]);
    }
    cell.note(format!(
        "the interval is that of fio's {n} looks at the rate, as if they did not depend on each other"
    ));
}

/// Adds the times of I/Os: submission and completion together if fio has percentiles of that, or no
/// histogram; else completion alone, so that percentiles, extremes and histogram of a cell have one
/// definition.
fn add_latency(cell: &mut Cell, out: &JobOut, stats: &DirectionStats) -> Result<(), String> {
    let is_old = stats.lat_ns.is_none() && stats.clat_ns.is_none();
    let (of_all, scale) = match is_old {
        true => ([&stats.lat, &stats.clat, &stats.slat], 1e3),
        false => ([&stats.lat_ns, &stats.clat_ns, &stats.slat_ns], 1.0),
    };
    let [total, completion, submission] = of_all.map(|times| times.as_deref());
    let has_detail = |times: &&Times| {
        times.percentile.values().any(|value| *value > 0.0) || !times.bins.is_empty()
    };
    let detail = total.filter(has_detail).or(completion.filter(has_detail));
    let binned = detail.filter(|times| !times.bins.is_empty());
    let Some(extremes) = binned.or(total).or(completion).filter(|times| times.max > 0.0) else {
        return Ok(());
    };
    check(out, &[extremes.min, extremes.max, extremes.mean])?;
    set_times(cell, extremes, detail, scale);
    let submitting = submission.map_or(0.0, |times| times.mean);
    let is_of_completion = total.filter(|total| detail.is_some_and(|it| !std::ptr::eq(*total, it)));
    if is_of_completion.is_some_and(|total| submitting > NOTABLE_SUBMISSION * total.mean) {
        let us = submitting * scale / 1e3;
        let text = format!(
            "percentiles are of completion alone; submission took {us:.1} us more on average"
        );
        cell.note(text);
    }
    Ok(())
}

/// Sets the times of the I/Os of a cell: extremes and mean, and percentiles and histogram, in units of
/// `scale` nanoseconds.
fn set_times(cell: &mut Cell, extremes: &Times, detail: Option<&Times>, scale: f64) {
    let [min, max] = [extremes.min, extremes.max].map(|value| whole_ns(value * scale));
    let mean = extremes.mean * scale;
    let by_share = |share: f64| {
        let ns = detail?.percentile.get(&format!("{:.6}", share * 100.0))? * scale;
        Some(ns).filter(|ns| ns.is_finite())
    };
    cell.times(Latency { n: cell.ops, min, mean, max, ..Latency::default() }, by_share);
    // The buckets are in nanoseconds.
    let bins = detail.map(|times| &times.bins).filter(|bins| scale == 1.0 && !bins.is_empty());
    for (ns, count) in bins.into_iter().flatten() {
        cell.histogram.get_or_insert_default().record_n(*ns, *count);
    }
}
