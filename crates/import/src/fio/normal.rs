//! fio's normal text: its default output, of fio 2 and 3.

use std::collections::{BTreeMap, BTreeSet};

use record::units::saturating_sum;
use record::{Cell, Direction, Latency, Path, Region};

use super::add_up::add_up;
use super::options::Job;
use super::same_job::FORMS;
use super::{cell, sync_cell};
use crate::errno::{Errno, ErrorSide};
use crate::failed;
use regex::{Captures, Regex};

use crate::imported_run::{
    ImportTrouble, ImportedRun, keep_odd, label, percentiles, rates, whole_ns,
};
use crate::reading::Reading;
use crate::text::{
    ImportText, binary_rate, decimal_rate, group, number, prefix, re, short, size, time_ns, wanted,
    whole, with_unit,
};
use crate::{Hints, Importer, MAX_CELLS, sign};

pub(crate) const IMPORTER: Importer = Importer {
    name: "fio output",
    signs: &[
        sign!("a line with '(groupid=.., jobs=..)'", r": \(groupid="),
        sign!("a line 'read: IOPS=.., BW=..' or 'write: ..'", RESULT),
    ],
    read,
    // Lines that repeat figures, in detail or as sums.
    is_ignored_line: |line| {
        re!(r"^\s*(?:slat|clat|lat \(|bw \(|iops |cpu |IO depths|submit|complete|issued rwt|latency |READ:|WRITE:|MIXED:|sync |Jobs:|\| |fio: )|: \(g=").is_match(line)
    },
};

/// A line of results. fio 3: "read: IOPS=25.7k, BW=100MiB/s (105MB/s)(1000MiB/10001msec)"; fio 2:
/// "read : io=1000.0MB, bw=102400KB/s, iops=25600, runt= 10001msec".
const RESULT: &str = r"(?m)^[ \t]*(read|write|mixed)[ \t]*:\s*(?:IOPS=|io=.*iops=)";

/// The result of a direction of a job while its lines are read.
struct PartialResult {
    at: usize,
    cell: Cell,
    latency: Latency,
    is_total: bool,
    is_of_syncs: bool,
    /// Nanoseconds by a thousandth of a percent.
    percentiles: BTreeMap<u64, f64>,
    /// Nanoseconds of the unit of the table that is read, if it is of all I/Os.
    percentile_scale: Option<f64>,
}

impl PartialResult {
    fn of(at: usize, cell: Cell) -> PartialResult {
        PartialResult {
            at,
            cell,
            latency: Latency::default(),
            is_total: false,
            is_of_syncs: false,
            percentiles: BTreeMap::new(),
            percentile_scale: None,
        }
    }
}

/// A job whose result lines are being read.
struct JobResult<'a> {
    at: usize,
    name: &'a str,
    job: Job,
    /// Group in the text; with `process` it separates the clones of a job (`numjobs`), and several
    /// reports of one job.
    group: Option<&'a str>,
    process: Option<&'a str>,
    error: Option<Errno>,
    parts: Vec<PartialResult>,
    /// True while lines are about reads and writes together, which have no figures.
    is_between: bool,
}

/// Descriptions of jobs before the first result.
#[derive(Default)]
struct JobDescriptions<'a> {
    jobs: BTreeMap<&'a str, Job>,
    /// Names of the jobs that fio cloned.
    several: BTreeSet<&'a str>,
    last: Option<&'a str>,
}

impl<'a> JobDescriptions<'a> {
    /// Reads a line; false if it is not a description.
    fn read(&mut self, line: &'a str) -> bool {
        if let Some((name, rest)) = line.split_once(": (g=") {
            self.jobs.insert(name, described(rest));
            self.last = Some(name);
            return true;
        }
        let Some(name) = self.last.take() else { return false };
        let goes_on = line.trim() == "...";
        if goes_on {
            self.several.insert(name);
        }
        goes_on
    }
}

/// Reads the outputs in a text: descriptions of jobs after results begin a new one. Those on one
/// medium become one run.
fn read(source: &ImportText, _: &Hints, reading: &mut Reading) -> Vec<ImportedRun> {
    let mut runs: Vec<ImportedRun> = Vec::new();
    let has_results = std::cell::Cell::new(true);
    let begins = |line: &str| {
        if line.contains(": (groupid=") {
            has_results.set(true);
        }
        line.contains(": (g=") && has_results.replace(false)
    };
    for part in source.parts(begins) {
        let found = read_one(&part, reading);
        match runs.last_mut().filter(|last| last.target.path == found.target.path) {
            Some(last) => {
                last.cells.extend(found.cells);
                last.places.extend(found.places);
            }
            None => runs.push(found),
        }
    }
    runs
}

fn read_one(source: &ImportText, reading: &mut Reading) -> ImportedRun {
    let mut found = ImportedRun { form: FORMS[1], ..ImportedRun::by("fio") };
    let mut described = JobDescriptions::default();
    let mut job_results: Vec<JobResult> = Vec::new();
    for (at, line) in source.numbered() {
        let trimmed = line.trim();
        if described.read(line) {
        } else if let Some(version) = trimmed.strip_prefix("fio-") {
            found.version = short(version, 40);
        } else if let Some((name, rest)) = line.split_once(": (groupid=") {
            if job_results.len() < MAX_CELLS {
                job_results.push(begun_job(at, name, rest, &described));
            }
        } else if let Some(job) = job_results.last_mut() {
            job.read(at, trimmed, reading);
        }
    }
    let several = |name: &str| described.several.contains(name);
    for (at, cell) in added_up(last_looks(job_results), several) {
        reading.add(&mut found, at, cell);
    }
    let mut names = source.numbered().skip_while(|(_, line)| !line.starts_with("Disk stats"));
    if let Some((_, disk)) = names.find(|(_, line)| line.contains(": ios=")) {
        found.on(&format!("/dev/{}", disk.trim().split(':').next().unwrap_or_default()));
    }
    found
}

/// Parses "0, jobs=1): err= 5 (file:.., error=Input/output error): pid=1234: Mon Nov  2 12:00:00
/// 2026".
fn begun_job<'a>(
    at: usize,
    name: &'a str,
    rest: &'a str,
    described: &JobDescriptions,
) -> JobResult<'a> {
    let mut job = described.jobs.get(name).cloned().unwrap_or_else(Job::unknown);
    let count = |pattern: &Regex| group(&pattern.captures(rest)?, 1).parse::<u32>().ok();
    job.threads = count(re!(r"jobs=(\d+)\)")).unwrap_or(1);
    let number = count(re!(r"err=\s*(\d+)")).filter(|number| *number > 0);
    let process = re!("pid=([^:]*)").captures(rest).and_then(|found| found.get(1));
    JobResult {
        at,
        name,
        group: rest.split(',').next(),
        process: process.map(|process| process.as_str()),
        error: number.map(Errno::of_number),
        job,
        parts: Vec::new(),
        is_between: false,
    }
}

impl JobResult<'_> {
    fn read(&mut self, at: usize, line: &str, reading: &mut Reading) {
        if line.starts_with("mixed: IOPS=0,") {
            // With `unified_rw_reporting=both` the text has no figures of both.
            reading.take(at);
            self.is_between = true;
        } else if let Some(direction) = direction(line) {
            reading.take(at);
            self.is_between = false;
            let begun = reading.accept(at, begun(at, self.name, &self.job, direction, line));
            self.parts.extend(begun);
        } else if line.starts_with("sync (") && line.contains("min=") {
            let cell = sync_cell(&self.job, self.name, Latency::default());
            self.parts.push(PartialResult { is_of_syncs: true, ..PartialResult::of(at, cell) });
            self.is_between = false;
        }
        if let Some(part) = self.parts.last_mut().filter(|_| !self.is_between) {
            detail(part, line);
        }
        if let Some(rest) = line.strip_prefix("issued") {
            issued(&mut self.parts, rest);
        }
    }

    /// Cells of the job with the lines in which they begin.
    fn cells(self) -> Vec<(usize, Cell)> {
        let is_failed = self.error.as_ref().is_some_and(|error| error.origin == ErrorSide::Medium);
        let mut cells: Vec<(usize, Cell)> =
            self.parts.into_iter().map(|part| (part.at, finished(part))).collect();
        cells.retain(|(_, cell)| {
            cell.ops > 0 || cell.metrics.iops.is_some_and(|iops| iops.value > 0.0)
        });
        if cells.is_empty() && is_failed {
            let mut cell = cell(&self.job, self.job.direction());
            label(&mut cell, "job", self.name);
            cells.push((self.at, cell));
        }
        if let Some(error) = &self.error {
            cells.iter_mut().for_each(|(_, cell)| failed::end(cell, "fio", error));
        }
        cells
    }
}

/// Drops intermediate reports of a job (`--status-interval`): the same process reports again later.
fn last_looks(job_results: Vec<JobResult<'_>>) -> Vec<JobResult<'_>> {
    let places: BTreeMap<_, usize> = job_results
        .iter()
        .zip(0..)
        .filter_map(|(job, at)| Some(((job.name, job.group, job.process?), at)))
        .collect();
    let last: BTreeSet<usize> = places.into_values().collect();
    job_results
        .into_iter()
        .zip(0..)
        .filter(|(job, at)| job.process.is_none() || last.contains(at))
        .map(|(job, _)| job)
        .collect()
}

/// Cells of jobs; the clones of a job are added up.
fn added_up(
    job_results: Vec<JobResult>,
    is_one_of_several: impl Fn(&str) -> bool,
) -> Vec<(usize, Cell)> {
    let mut cells: Vec<(usize, Cell)> = Vec::new();
    let mut sums: BTreeMap<(String, Option<String>, String), usize> = BTreeMap::new();
    for job in job_results {
        let (name, group) = (job.name.to_owned(), job.group.map(str::to_owned));
        let is_part = job.job.threads == 1 && is_one_of_several(&name);
        for (at, cell) in job.cells() {
            let kind = format!("{} {:?}", cell.test, cell.params.direction);
            let key = (name.clone(), group.clone(), kind);
            match sums.get(&key).filter(|_| is_part) {
                Some(sum) => {
                    let sum = &mut cells[*sum].1;
                    sum.params.threads = sum.params.threads.saturating_add(1);
                    add_up(sum, cell);
                }
                None => {
                    sums.insert(key, cells.len());
                    cells.push((at, cell));
                }
            }
        }
    }
    cells
}

/// Direction of a line of results; the inner `None` is reads and writes together.
fn direction(line: &str) -> Option<Option<Direction>> {
    Some(match group(&re!(RESULT).captures(line)?, 1) {
        "read" => Some(Direction::Read),
        "write" => Some(Direction::Write),
        _ => None,
    })
}

/// Parses "0): rw=randwrite, bs=(R) 4096B-4096B, (W) 4096B-4096B, .., ioengine=libaio, iodepth=1";
/// fio 2 has "bs=4K-4K/4K-4K/4K-4K".
fn described(text: &str) -> Job {
    // The text does not say if it bypassed the page cache, so it is not one of our tests.
    let mut job = Job { path: Path::Direct, region: Some(Region::File), ..Job::unknown() };
    let first = |found: Option<Captures>| found.map(|found| group(&found, 1).to_owned());
    let kind = first(re!("rw=([^,]*)").captures(text)).unwrap_or_default();
    job.set_kind(&kind, false);
    let engine = first(re!("ioengine=([^,]*)").captures(text));
    let depth = first(re!("iodepth=([^,]*)").captures(text)).and_then(|depth| whole(&depth));
    job.set_depth(engine.as_deref().unwrap_or("psync"), depth);
    let new = [re!(r"\(R\)([^,]*)"), re!(r"\(W\)([^,]*)")];
    let old = [re!(" bs=([^,/]*)"), re!(" bs=[^,/]*/([^,/]*)")];
    for (direction, way) in [(Direction::Read, 0), (Direction::Write, 1)] {
        let range = new[way].captures(text).or(old[way].captures(text));
        let ends = range.as_ref().and_then(|range| group(range, 1).split_once('-'));
        let ends = ends.filter(|(from, to)| from == to);
        job.set_block(direction, ends.and_then(|(from, _)| size(from)));
    }
    job.notes.push("fio's normal output does not say whether this went past the page cache".into());
    job
}

fn begun(
    at: usize,
    name: &str,
    job: &Job,
    direction: Option<Direction>,
    line: &str,
) -> Result<PartialResult, ImportTrouble> {
    let mut cell = cell(job, direction);
    label(&mut cell, "job", name);
    let first = |pattern: &Regex| {
        pattern.captures(line).map_or_else(String::new, |found| group(&found, 1).to_owned())
    };
    let rate = first(re!(r"(?:BW|bw)=[ ,(]*([^ ,(]*)"));
    let rate = with_unit(&rate);
    let is_new = line.contains("IOPS=");
    let bps = rate.and_then(|(value, unit)| match is_new {
        // With `unit_base=1`.
        _ if unit.ends_with("bit/s") => {
            let bytes = unit.replace("bit/s", "B/s");
            decimal_rate(value, &bytes).map(|bits| bits / 8.0)
        }
        true => decimal_rate(value, unit),
        // fio 2 means 1024 by K.
        false => binary_rate(value, unit),
    });
    let iops = thousands(&first(re!(r"(?:IOPS|iops)=[ ,(]*([^ ,(]*)")));
    let runtime = if is_new { re!("/([^/]*?)msec\\)") } else { re!("runt=(.*?)msec") };
    let iops = wanted(at, "IOPS", iops)?;
    let bps = wanted(at, "the rate", bps)?;
    cell.elapsed_ns = whole_ns(wanted(at, "the time", number(&first(runtime)))? * 1e6);
    rates(&mut cell, Some(iops), Some(bps), 1);
    Ok(PartialResult::of(at, cell))
}

/// Parses a number with a prefix of thousands: "25.7k" as 25700.
fn thousands(text: &str) -> Option<f64> {
    let (value, unit) = with_unit(text)?;
    Some(value * prefix(unit, 1000.0)?)
}

/// Thousandths of a percent: jobs may have lists of their own, with other numbers of digits.
fn percentile_key(percent: f64) -> u64 {
    (percent * 1e3).round() as u64
}

/// Parses lines below a result: latencies and their percentiles.
fn detail(part: &mut PartialResult, line: &str) {
    let times = re!(r"^(lat|clat|sync) \((\w+)\).*?min=([^,]*),.*?max=([^,]*),.*?avg=([^,]*)");
    if let Some(found) = times.captures(line).filter(|it| !part.is_total || group(it, 1) != "clat")
    {
        let time = |number: usize| time_ns(thousands(group(&found, number))?, group(&found, 2));
        if let (Some(min), Some(max), Some(mean)) = (time(3), time(4), time(5)) {
            let (min, max) = (whole_ns(min), whole_ns(max));
            part.latency = Latency { min, max, mean, ..Latency::default() };
            part.is_total = group(&found, 1) == "lat";
        }
    } else if let Some(unit) = re!(r"^(.*)percentiles \((.*?)\)").captures(line) {
        // Others are of a class of priority, or of submission.
        let is_of_all = ["lat", "clat", "sync"].contains(&group(&unit, 1));
        part.percentile_scale = time_ns(1.0, group(&unit, 2)).filter(|_| is_of_all);
    } else if let Some(scale) = part.percentile_scale.filter(|_| line.starts_with('|')) {
        for entry in re!(r"([\d.]+)th=\[\s*(.*?)\]").captures_iter(line) {
            let entry = [1, 2].map(|at| number(group(&entry, at)));
            if let [Some(percent), Some(value)] = entry {
                part.percentiles.insert(percentile_key(percent), value * scale);
            }
        }
    }
}

/// Parses "rwts: total=0,38546,0,0 short=255,0,0,0 ..": I/Os read, written, trimmed and committed.
/// With the time they give the figures to more digits than are printed.
fn issued(parts: &mut [PartialResult], text: &str) {
    let counts = |mark: &str| -> Vec<u64> {
        let listed =
            text.split_once(mark).map(|(_, rest)| rest.split(' ').next().unwrap_or_default());
        // fio 2 has "total=r=1024/w=0/d=0,".
        let listed = listed.unwrap_or_default().trim_end_matches(',').split([',', '/']);
        listed.map_while(|text| whole(text.trim_start_matches(['r', 'w', 'd', '=']))).collect()
    };
    let (totals, short) = (counts("total="), counts("short="));
    for part in parts.iter_mut().filter(|part| part.cell.ops == 0) {
        let cell = &mut part.cell;
        let writes = cell.params.direction == Some(Direction::Write);
        cell.ops = match cell.params.direction {
            _ if part.is_of_syncs => commits(&totals, &short),
            Some(_) => totals.get(usize::from(writes)).copied().unwrap_or(0),
            None => saturating_sum(totals.iter().take(2).copied()),
        };
        let seconds = cell.elapsed_ns as f64 / 1e9;
        let (Some(iops), Some(bps)) = (&mut cell.metrics.iops, &mut cell.metrics.bps) else {
            continue;
        };
        (iops.n, bps.n) = (cell.ops.max(1), cell.ops.max(1));
        let exact = cell.ops as f64 / seconds;
        if seconds > 0.0 && cell.ops > 0 && (exact / iops.value - 1.0).abs() < 0.02 {
            iops.value = exact;
        }
        if let Some(block) = cell
            .params
            .block_bytes
            .filter(|block| (iops.value * *block as f64 / bps.value - 1.0).abs() < 0.02)
        {
            bps.value = iops.value * block as f64;
            cell.bytes = cell.ops.saturating_mul(block);
            cell.written_bytes = if writes { cell.bytes } else { 0 };
        }
    }
}

/// Number of commits: fsyncs are the fourth of the totals, and fdatasyncs, which have no place of
/// their own, the first of the short ones.
fn commits(totals: &[u64], short: &[u64]) -> u64 {
    let fsyncs = totals.get(3).copied().filter(|count| *count > 0);
    fsyncs.or(short.first().copied()).unwrap_or(0)
}

fn finished(part: PartialResult) -> Cell {
    let PartialResult { mut cell, mut latency, percentiles: listed, .. } = part;
    latency.n = cell.ops;
    let odd =
        percentiles(&mut latency, |share| listed.get(&percentile_key(share * 100.0)).copied());
    keep_odd(&mut cell, &latency, &odd);
    cell.metrics.latency_ns = (latency.max > 0).then_some(latency);
    cell
}
