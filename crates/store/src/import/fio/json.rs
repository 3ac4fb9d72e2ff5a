//! fio's JSON, of fio 2 (times in microseconds) and 3 (in nanoseconds), with the histograms of
//! json+; one document, or several in an array.

use std::collections::BTreeMap;

use record::{Cell, Direction, Histogram, Latency, Stop};
use serde::Deserialize;

use super::options::{Job, Options};
use super::{agreed_block, cell};
use crate::import::imported_run::{
    self, ImportTrouble, ImportedRun, estimate, label, note, percentiles, room_for_another,
    whole_ns,
};
use crate::import::text::{ImportText, short};
use crate::import::{Hints, Importer, Sign};

pub(in crate::import) const IMPORTER: Importer = Importer {
    name: "fio JSON",
    signs: &[
        Sign {
            what: "a key \"fio version\"",
            is_there: |source| source.contains("\"fio version\""),
        },
        Sign {
            what: "a list \"jobs\"",
            is_there: |source| source.contains("\"jobs\"") || source.contains("\"client_stats\""),
        },
    ],
    read,
};

/// The most documents in an array.
const MOST_DOCUMENTS: usize = 10_000;
/// The most JSON objects; a job has a few dozen.
const MOST_OBJECTS: usize = 400_000;
/// Buckets of a histogram in json+; fio has 1856.
const MOST_BINS: usize = 10_000;
/// Submission that takes more than this share of the time is told.
const NOTABLE_SUBMISSION: f64 = 0.05;

#[derive(Deserialize)]
struct Document {
    #[serde(rename = "fio version")]
    version: String,
    #[serde(default)]
    timestamp: Option<f64>,
    #[serde(default, rename = "global options")]
    global: Options,
    #[serde(default)]
    jobs: Vec<JobOut>,
    #[serde(default)]
    client_stats: Vec<JobOut>,
}

#[derive(Deserialize)]
struct JobOut {
    #[serde(default)]
    jobname: String,
    #[serde(default)]
    groupid: f64,
    #[serde(default)]
    error: f64,
    #[serde(default)]
    elapsed: f64,
    #[serde(default, rename = "job options")]
    options: Options,
    read: Option<Box<Way>>,
    write: Option<Box<Way>>,
}

/// One direction of a job.
#[derive(Deserialize)]
struct Way {
    #[serde(default)]
    io_bytes: f64,
    /// Only fio 3 has it; before, `io_bytes` was in KiB.
    io_kbytes: Option<f64>,
    #[serde(default)]
    bw: f64,
    bw_bytes: Option<f64>,
    #[serde(default)]
    iops: f64,
    #[serde(default)]
    runtime: f64,
    #[serde(default)]
    total_ios: f64,
    #[serde(default)]
    iops_stddev: f64,
    #[serde(default)]
    iops_samples: f64,
    lat_ns: Option<Box<Times>>,
    clat_ns: Option<Box<Times>>,
    slat_ns: Option<Box<Times>>,
    lat: Option<Box<Times>>,
    clat: Option<Box<Times>>,
    slat: Option<Box<Times>>,
}

#[derive(Deserialize)]
struct Times {
    #[serde(default)]
    min: f64,
    #[serde(default)]
    max: f64,
    #[serde(default)]
    mean: f64,
    #[serde(default)]
    percentile: BTreeMap<String, f64>,
    #[serde(default)]
    bins: BTreeMap<String, f64>,
}

fn read(source: &ImportText, _: &Hints) -> Result<Vec<ImportedRun>, ImportTrouble> {
    let documents = documents(source.text)?;
    let mut found: Vec<ImportedRun> = Vec::new();
    for document in &documents {
        let version = short(document.version.trim_start_matches("fio-"), 40);
        for (filename, cells) in by_medium(document)? {
            // Documents of one medium are one run.
            if let Some(known) = found
                .iter_mut()
                .find(|known| known.target.path == filename && known.version == version)
            {
                known.cells.extend(cells);
                known.finished = ended(document).or(known.finished.take());
                continue;
            }
            let mut one = ImportedRun {
                version: version.clone(),
                cells,
                started: begun(document),
                finished: ended(document),
                ..ImportedRun::by("fio")
            };
            one.on(&filename);
            found.push(one);
        }
    }
    if found.iter().all(|one| one.cells.is_empty()) {
        return Err(ImportTrouble::new("no job in it has done any I/O"));
    }
    Ok(found)
}

/// fio prints notices in front of the JSON where it does not write to a file.
fn documents(text: &str) -> Result<Vec<Document>, ImportTrouble> {
    let begins = |line: &&str| line.trim_start().starts_with(['{', '[']);
    let skipped: usize =
        text.split_inclusive('\n').take_while(|line| !begins(line)).map(str::len).sum();
    let json = text.get(skipped..).unwrap_or_default().trim();
    // Each result is some objects, and each object costs memory: more of them than any run has is
    // an attack.
    if json.bytes().filter(|byte| *byte == b'{').count() > MOST_OBJECTS {
        return Err(ImportTrouble::new(format_args!("it has more than {MOST_OBJECTS} objects")));
    }
    let unreadable = |error: serde_json::Error| {
        ImportTrouble::new(format_args!("its JSON cannot be read: {error}"))
    };
    let documents: Vec<Document> = if json.starts_with('[') {
        serde_json::from_str(json).map_err(unreadable)?
    } else {
        // Several runs appended to one file stand one after the other.
        serde_json::Deserializer::from_str(json)
            .into_iter()
            .collect::<Result<_, _>>()
            .map_err(unreadable)?
    };
    if documents.len() > MOST_DOCUMENTS {
        return Err(ImportTrouble::new(format_args!(
            "it has {} documents; at most {MOST_DOCUMENTS} are read",
            documents.len()
        )));
    }
    Ok(documents)
}

/// The clock is read when the output is written: at the end.
fn ended(document: &Document) -> Option<String> {
    moment(document.timestamp?)
}

fn begun(document: &Document) -> Option<String> {
    let elapsed = document.jobs.iter().map(|job| job.elapsed).fold(0.0, f64::max);
    moment(document.timestamp? - elapsed)
}

fn moment(seconds: f64) -> Option<String> {
    if !(0.0..1e11).contains(&seconds) {
        return None;
    }
    jiff::Timestamp::from_second(seconds as i64).ok().map(|moment| moment.to_string())
}

/// The cells of a document by what they were measured on. Jobs that fio made of one (`numjobs`) are
/// added up.
fn by_medium(document: &Document) -> Result<Vec<(String, Vec<Cell>)>, ImportTrouble> {
    let mut media: Vec<(String, Vec<Cell>)> = Vec::new();
    let mut places: BTreeMap<(String, u64, bool), (usize, usize)> = BTreeMap::new();
    let of_jobs = document
        .jobs
        .iter()
        .chain(document.client_stats.iter().filter(|job| job.jobname != "All clients"));
    for out in of_jobs {
        let job = Job::of(&document.global, &out.options);
        let filename = short(&job.filename, 200);
        for (direction, way) in [(Direction::Read, &out.read), (Direction::Write, &out.write)] {
            let Some(way) = way.as_ref().filter(|way| way.total_ios > 0.0 || way.io_bytes > 0.0)
            else {
                continue;
            };
            let cell = of_way(&job, out, direction, way)?;
            let key = (out.jobname.clone(), out.groupid.to_bits(), direction == Direction::Write);
            if let Some((medium, at)) = places.get(&key).filter(|_| job.threads > 1) {
                add_up(&mut media[*medium].1[*at], cell);
                continue;
            }
            let medium = match media.iter().position(|(name, _)| *name == filename) {
                Some(medium) => medium,
                None => {
                    room_for_another(&media)?;
                    media.push((filename.clone(), Vec::new()));
                    media.len() - 1
                }
            };
            media[medium].1.push(cell);
            places.insert(key, (medium, media[medium].1.len() - 1));
        }
    }
    Ok(media)
}

fn of_way(job: &Job, out: &JobOut, direction: Direction, way: &Way) -> Result<Cell, ImportTrouble> {
    let bytes = if way.io_kbytes.is_some() { way.io_bytes } else { way.io_bytes * 1024.0 };
    let numbers =
        [bytes, way.bw, way.bw_bytes.unwrap_or(0.0), way.iops, way.runtime, way.total_ios];
    if let Some(value) =
        numbers.into_iter().find(|value| !value.is_finite() || *value < 0.0 || *value > 1e18)
    {
        return Err(ImportTrouble::new(format_args!(
            "job '{}': {value:?} cannot be",
            short(&out.jobname, 40)
        )));
    }
    let mut cell = cell(job, direction);
    cell.params.block_bytes = agreed_block(cell.params.block_bytes, bytes, way.total_ios);
    cell.ops = way.total_ios as u64;
    cell.bytes = bytes as u64;
    cell.written_bytes = if direction == Direction::Write { cell.bytes } else { 0 };
    cell.elapsed_ns = whole_ns(way.runtime * 1e6);
    // Flags such as time_based are not always repeated: who ran for as long as allowed was ended by
    // the time.
    let is_timed = job.runtime_ms.is_some_and(|allowed| way.runtime >= 0.99 * allowed);
    cell.stop = if is_timed { Stop::Time } else { Stop::Bytes };
    if out.error != 0.0 {
        cell.stop = Stop::Error;
        cell.reason = Some(format!("fio ended with error {}", out.error));
    }
    cell.metrics.iops = Some(estimate(way.iops, cell.ops));
    cell.metrics.bps = Some(estimate(way.bw_bytes.unwrap_or(way.bw * 1024.0), cell.ops));
    label(&mut cell, "job", &out.jobname);
    add_intervals(&mut cell, way);
    add_latency(&mut cell, way)?;
    Ok(cell)
}

/// Samples of the rate below which there is no interval.
const LEAST_SAMPLES: f64 = 5.0;

/// fio looks at the rate twice a second, and gives the standard deviation of what it saw: from
/// these samples comes an interval, narrower than true where neighbours depend on each other. That
/// is said.
fn add_intervals(cell: &mut Cell, way: &Way) {
    let (n, deviation) = (way.iops_samples, way.iops_stddev);
    let is_usable =
        (LEAST_SAMPLES..1e9).contains(&n) && deviation > 0.0 && deviation < 1e12 && way.iops > 0.0;
    if !is_usable {
        return;
    }
    let half = t_975(n - 1.0) * deviation / n.sqrt() / way.iops;
    for figure in [&mut cell.metrics.iops, &mut cell.metrics.bps].into_iter().flatten() {
        figure.ci95 = Some([(figure.value * (1.0 - half)).max(0.0), figure.value * (1.0 + half)]);
    }
    note(
        cell,
        format!(
            "the interval is that of fio's {n} looks at the rate, as if they did not depend on each other"
        ),
    );
}

/// The 97.5 % quantile of Student's distribution, to a hundredth from 4 degrees of freedom on
/// (Cornish and Fisher's expansion).
fn t_975(freedom: f64) -> f64 {
    let z = 1.959_964_f64;
    let terms = [
        (z.powi(3) + z) / 4.0,
        (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0,
        (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0,
    ];
    z + terms[0] / freedom + terms[1] / freedom.powi(2) + terms[2] / freedom.powi(3)
}

/// Times of I/Os: submission and completion together where fio has percentiles of that, or no
/// histogram; else completion alone, so that percentiles, extremes and histogram of a cell are of
/// one kind.
fn add_latency(cell: &mut Cell, way: &Way) -> Result<(), ImportTrouble> {
    let (total, completion, submission, scale) = match (&way.lat_ns, &way.clat_ns) {
        (None, None) => (way.lat.as_deref(), way.clat.as_deref(), way.slat.as_deref(), 1e3),
        (total, completion) => {
            (total.as_deref(), completion.as_deref(), way.slat_ns.as_deref(), 1.0)
        }
    };
    let has_detail = |times: &&Times| {
        times.percentile.values().any(|value| *value > 0.0) || !times.bins.is_empty()
    };
    let detail = total.filter(has_detail).or(completion.filter(has_detail));
    let binned = detail.filter(|times| !times.bins.is_empty());
    let Some(extremes) = binned.or(total).or(completion).filter(|times| times.max > 0.0) else {
        return Ok(());
    };
    if [extremes.min, extremes.max, extremes.mean]
        .iter()
        .any(|value| !value.is_finite() || *value < 0.0 || *value > 1e17)
    {
        return Err(ImportTrouble::new(format_args!(
            "job '{}': a latency that cannot be",
            cell.label("job")
        )));
    }
    let scaled = |value: f64| whole_ns(value * scale);
    let mut latency = Latency {
        n: cell.ops,
        min: scaled(extremes.min),
        mean: extremes.mean * scale,
        max: scaled(extremes.max),
        ..Latency::default()
    };
    if let Some(times) = detail {
        percentiles(&mut latency, |share| {
            at(&times.percentile, share * 100.0).map(|value| value * scale)
        });
        if scale == 1.0 {
            cell.histogram = histogram(&times.bins)?;
        }
        let submitting = submission.map_or(0.0, |times| times.mean);
        let is_completion = total.is_none_or(|total| !std::ptr::eq(total, times));
        if is_completion && total.is_some_and(|total| submitting > NOTABLE_SUBMISSION * total.mean)
        {
            let text = format!(
                "percentiles are of completion alone; submission took {:.1} us more on average",
                submitting * scale / 1e3
            );
            note(cell, text);
        }
    }
    cell.metrics.latency_ns = Some(latency);
    Ok(())
}

/// A percentile by its number: the keys are "99.900000".
fn at(percentiles: &BTreeMap<String, f64>, percent: f64) -> Option<f64> {
    percentiles.get(&format!("{percent:.6}")).copied().filter(|value| value.is_finite())
}

/// The buckets of json+: time in nanoseconds, and how many I/Os took it.
fn histogram(bins: &BTreeMap<String, f64>) -> Result<Option<Histogram>, ImportTrouble> {
    if bins.is_empty() {
        return Ok(None);
    }
    if bins.len() > MOST_BINS {
        return Err(ImportTrouble::new(format_args!(
            "a histogram has {} buckets; at most {MOST_BINS} are read",
            bins.len()
        )));
    }
    let mut histogram = Histogram::default();
    for (ns, count) in bins {
        let ns = ns.parse::<u64>().map_err(|_| {
            ImportTrouble::new(format_args!(
                "a bucket of a histogram is called '{}'",
                short(ns, 20)
            ))
        })?;
        if !(0.0..1e15).contains(count) {
            return Err(ImportTrouble::new(format_args!(
                "a bucket of a histogram has {count} I/Os"
            )));
        }
        histogram.record_n(ns, *count as u64);
    }
    Ok(Some(histogram))
}

/// Adds one of several equal jobs to the first: rates and counts are sums, extremes extremes,
/// percentiles cannot be added.
fn add_up(sum: &mut Cell, other: Cell) {
    let add = |a: &mut Option<record::Estimate>, b: Option<record::Estimate>| {
        if let (Some(a), Some(b)) = (a, b) {
            a.value += b.value;
            a.ci95 = None;
            a.n = a.n.saturating_add(b.n);
        }
    };
    add(&mut sum.metrics.iops, other.metrics.iops);
    add(&mut sum.metrics.bps, other.metrics.bps);
    sum.ops = sum.ops.saturating_add(other.ops);
    sum.bytes = sum.bytes.saturating_add(other.bytes);
    sum.written_bytes = sum.written_bytes.saturating_add(other.written_bytes);
    sum.elapsed_ns = sum.elapsed_ns.max(other.elapsed_ns);
    if other.stop == Stop::Error {
        (sum.stop, sum.reason) = (other.stop, other.reason);
    }
    if let (Some(a), Some(b)) = (&mut sum.metrics.latency_ns, other.metrics.latency_ns) {
        let (n, m) = (a.n.max(1) as f64, b.n.max(1) as f64);
        let mean = (a.mean * n + b.mean * m) / (n + m);
        let (min, max) = (a.min.min(b.min), a.max.max(b.max));
        *a = Latency { n: a.n.saturating_add(b.n), min, mean, max, ..Latency::default() };
    }
    match (&mut sum.histogram, other.histogram) {
        (Some(a), Some(b)) => a.merge(&b),
        (a, _) => *a = None,
    }
    if let (Some(latency), Some(histogram)) = (&mut sum.metrics.latency_ns, &sum.histogram) {
        percentiles(latency, |share| Some(histogram.quantile(share) as f64));
    }
    sum.flags
        .retain(|flag| !matches!(flag, record::Flag::Note { text } if text.starts_with("percentiles") || text.starts_with("the interval")));
    imported_run::note(sum, "added up from the jobs that fio lists one by one");
}
