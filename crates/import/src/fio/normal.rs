//! fio's normal text: its default output, of fio 2 and 3, read into the form of its JSON.

use std::collections::BTreeMap;

use regex::Captures;

use super::json::{DirectionStats, Document, JobOut, Times, cells};
use super::options::Job;
use super::same_job::FORMS;
use crate::MAX_CELLS;
use crate::prelude::*;

pub(crate) static NORMAL: Tool = tool! {
    "", "fio output", 1000.0, by_hand: Some(read);
    ["a line with '(groupid=.., jobs=..)'": r": \(groupid="]
    ["a line 'read: IOPS=.., BW=..' or 'write: ..'": RESULT]
    // Figures in detail, or sums.
    Repeats r"^\s*(?:slat|clat|lat \(|bw \(|iops |cpu |IO depths|submit|complete|issued rwt|latency |READ:|WRITE:|MIXED:|sync |Jobs:|\| |fio: )|: \(g=";
};

/// "a: (g=0): rw=randwrite, bs=(R) 4096B-4096B, (W) 4096B-4096B, .., ioengine=libaio, iodepth=1"; fio 2
/// has "bs=4K-4K/4K-4K/4K-4K".
const DESCRIPTION: &str = r"^(.*): \(g=\d+\): (?:rw=([^,]*))?(?:.*?\bbs=(?:\(R\) )?(\S+?)-(\S+?)(?:, \(W\) |/)(\S+?)-([^\s,/]+))?(?:.*?ioengine=([^,]*), iodepth=(\d+))?";
/// "a: (groupid=0, jobs=1): err= 5 (file:.., error=Input/output error): pid=1234: Mon Nov  2 ..".
const JOB: &str =
    r"^(.*): \(groupid=(\d+)(?:, jobs=(\d+)\))?(?:: err=\s*(\d+))?(?:.*?: pid=(\d+))?";
/// A line of results. fio 3: "read: IOPS=25.7k, BW=100MiB/s (105MB/s)(1000MiB/10001msec)"; fio 2:
/// "read : io=1000.0MB, bw=102400KB/s, iops=25600, runt= 10001msec".
const RESULT: &str = r"(?m)^[ \t]*(read|write|mixed)[ \t]*:\s*(?:IOPS=([^,\n]*)(?:, BW=(\S*)(?:.*/(\d+)msec\))?)?|io=.*?(?:\bbw=\s*([^,\n]*), )?iops=\s*([^,\n]*)(?:.*?runt=\s*(\d+)msec)?)";
const TIMES: &str = r"^(lat|clat|sync) \((\w+)\).*?min=([^,]*),.*?max=([^,]*),.*?avg=([^,]*)";

/// Reads the outputs in a text: descriptions of jobs after results begin a new one. Those on one
/// medium become one run.
fn read(source: &ImportText, reading: &mut Reading) -> Vec<ImportedRun> {
    let mut runs: Vec<ImportedRun> = Vec::new();
    let mut output = Output::default();
    for (at, line) in source.numbered() {
        if line.contains(": (g=") && !output.jobs.is_empty() {
            std::mem::take(&mut output).end(&mut runs, reading);
        }
        output.read(at, line, reading);
    }
    output.end(&mut runs, reading);
    runs
}

/// One output of fio.
#[derive(Default)]
struct Output {
    /// Descriptions by name, and true for those that fio cloned.
    described: BTreeMap<String, (Job, bool)>,
    /// Name in the line before, if that is a description.
    last: Option<String>,
    jobs: Vec<Report>,
    version: String,
    is_in_disks: bool,
    disk: Option<String>,
}

impl Output {
    fn read(&mut self, at: usize, line: &str, reading: &mut Reading) {
        let trimmed = line.trim();
        let before = self.last.take();
        self.is_in_disks |= line.starts_with("Disk stats");
        if let Some(parts) = re!(DESCRIPTION).captures(line) {
            let name = group(&parts, 1).to_owned();
            self.described.insert(name.clone(), (job(&parts), false));
            self.last = Some(name);
        } else if trimmed == "..." {
            let cloned = before.and_then(|name| self.described.get_mut(&name));
            cloned.into_iter().for_each(|(_, is_cloned)| *is_cloned = true);
        } else if let Some(version) = trimmed.strip_prefix("fio-") {
            self.version = short(version, 40);
        } else if let Some(parts) = re!(JOB).captures(line) {
            let job = self.described.get(group(&parts, 1));
            let job = job.map_or_else(Job::unknown, |(job, _)| job.clone());
            let report = Report::of(at, &parts, job);
            // The same process reports again later (`--status-interval`).
            self.jobs.retain(|old| report.process.is_empty() || old.key() != report.key());
            if self.jobs.len() < MAX_CELLS {
                self.jobs.push(report);
            }
        } else if self.is_in_disks && line.contains(": ios=") {
            self.disk.get_or_insert_with(|| trimmed.split(':').next().unwrap_or("").to_owned());
        } else if let Some(job) = self.jobs.last_mut() {
            let read = job.read(at, trimmed, reading);
            reading.accept(at, read);
        }
    }

    /// Adds the results to the run on their medium. The clones of a job have their number as its
    /// threads, so that they are added up.
    fn end(self, runs: &mut Vec<ImportedRun>, reading: &mut Reading) {
        let mut clones: BTreeMap<(String, u64), u32> = BTreeMap::new();
        let name_of = |out: &JobOut| (out.jobname.clone(), out.groupid.to_bits());
        self.jobs.iter().for_each(|job| *clones.entry(name_of(&job.out)).or_insert(0) += 1);
        let of_report = |Report { at, out, mut job, .. }| {
            let is_cloned = self.described.get(&out.jobname).is_some_and(|(_, is)| *is);
            if is_cloned && job.params.threads == 1 {
                job.params.threads = clones[&name_of(&out)];
            }
            JobOut { described: Some((job, at)), ..out }
        };
        let jobs = self.jobs.into_iter().map(of_report).collect();
        let run = ImportedRun::by("fio");
        let mut run = ImportedRun { version: self.version, form: FORMS[1], ..run };
        run.on(&self.disk.map_or_else(String::new, |disk| format!("/dev/{disk}")));
        let place = runs.iter().position(|one| one.target.path == run.target.path);
        let place = place.unwrap_or_else(|| {
            runs.push(run);
            runs.len() - 1
        });
        for (_, at, cell) in cells(0, &Document { jobs, ..Document::default() }, reading) {
            reading.add(&mut runs[place], at, cell);
        }
    }
}

fn job(parts: &Captures) -> Job {
    // The text does not say if it bypassed the page cache, so it is not one of our tests.
    let mut job = Job::unknown();
    (job.params.path, job.params.region) = (Path::Direct, Some(Region::File));
    job.set_kind(group(parts, 2), false);
    let engine = parts.get(7).map_or("psync", |engine| engine.as_str());
    job.set_depth(engine, whole(group(parts, 8)));
    let block = |from: usize| {
        let is_one = group(parts, from) == group(parts, from + 1);
        size(group(parts, from)).filter(|_| is_one)
    };
    job.blocks = [block(3), block(5)];
    job.notes.push("fio's normal output does not say whether this went past the page cache".into());
    job
}

/// A job whose lines are being read.
struct Report {
    at: usize,
    out: JobOut,
    job: Job,
    /// With name and group it tells several reports of one job.
    process: String,
    /// What its lines are about: "read", "write", "mixed", "sync".
    part: Option<String>,
    /// Nanoseconds of the unit of the table of percentiles that is read, and its name, if it is of
    /// all I/Os.
    scale: Option<(f64, String)>,
}

impl Report {
    fn of(at: usize, parts: &Captures, mut job: Job) -> Report {
        job.params.threads = group(parts, 3).parse().unwrap_or(1);
        let out = JobOut {
            jobname: group(parts, 1).to_owned(),
            groupid: number(group(parts, 2)).unwrap_or(-1.0),
            error: number(group(parts, 4)).unwrap_or(0.0),
            ..JobOut::default()
        };
        let process = group(parts, 5).to_owned();
        Report { at, out, job, process, part: None, scale: None }
    }

    fn key(&self) -> (&str, &str, u64) {
        (&self.process, &self.out.jobname, self.out.groupid.to_bits())
    }

    fn read(&mut self, at: usize, line: &str, reading: &mut Reading) -> Result<(), String> {
        if let Some(found) = re!(RESULT).captures(line) {
            reading.take(at);
            self.part = None;
            // With `unified_rw_reporting=both` the text has no figures of both.
            if line.starts_with("mixed: IOPS=0,") {
                return Ok(());
            }
            let part = group(&found, 1);
            *self.out.stats_of(part) = Some(Box::new(stats(&found)?));
            self.part = Some(part.to_owned());
        } else if let Some(found) = re!(TIMES).captures(line) {
            if group(&found, 1) == "sync" {
                self.part = Some("sync".to_owned());
                self.out.sync.get_or_insert_default();
            }
            let time = |at: usize| time_ns(scaled(group(&found, at), 1000.0)?, group(&found, 2));
            let times = self.times(group(&found, 1));
            if let (Some(times), [Some(min), Some(max), Some(mean)]) = (times, [3, 4, 5].map(time))
            {
                (times.min, times.max, times.mean) = (min, max, mean);
            }
        } else if let Some(unit) = re!(r"^(.*)percentiles \((.*?)\)").captures(line) {
            // Others are of a class of priority, or of submission.
            let is_of_all = ["lat", "clat", "sync"].contains(&group(&unit, 1));
            let scale = time_ns(1.0, group(&unit, 2)).filter(|_| is_of_all);
            self.scale = scale.map(|scale| (scale, group(&unit, 1).to_owned()));
        } else if let Some((scale, name)) = self.scale.clone().filter(|_| line.starts_with('|')) {
            let listed = re!(r"([\d.]+)th=\[\s*(.*?)\]").captures_iter(line);
            let listed = listed.map(|entry| [1, 2].map(|at| number(group(&entry, at))));
            if let Some(times) = self.times(&name) {
                times.percentile.extend(listed.filter_map(|[percent, value]| {
                    Some((format!("{:.6}", percent?), value? * scale))
                }));
            }
        } else if line.starts_with("issued") {
            self.issued(line);
        }
        Ok(())
    }

    /// Times of completion ("clat"), or of submission and completion together, of what is read.
    fn times(&mut self, name: &str) -> Option<&mut Times> {
        let stats = self.out.stats_of(self.part.as_deref()?).as_deref_mut()?;
        let times = if name == "clat" { &mut stats.clat_ns } else { &mut stats.lat_ns };
        Some(times.get_or_insert_default())
    }

    /// Parses "issued rwts: total=0,38546,0,0 short=255,0,0,0 ..", of fio 2 "issued : total=r=1024/w=0/d=0,
    /// ..": I/Os read, written, trimmed and committed. With the time they give the figures to more
    /// digits than are printed.
    fn issued(&mut self, line: &str) {
        let counts = re!(r"total=r?=?(\d+)[,/]w?=?(\d+)[,/]d?=?\d+(?:,(\d+))?(?:.*?short=(\d+))?");
        let Some(counts) = counts.captures(line) else { return };
        let [reads, writes, syncs, short] =
            [1, 2, 3, 4].map(|at| whole(group(&counts, at)).unwrap_or(0) as f64);
        for (name, ios) in [("read", reads), ("write", writes), ("mixed", reads + writes)] {
            let way = (name == "write").then_some(Direction::Write);
            let block = self.job.block_bytes(way);
            self.out.stats_of(name).iter_mut().for_each(|stats| make_exact(stats, ios, block));
        }
        if let Some(times) = self.out.sync.as_mut().and_then(|stats| stats.lat_ns.as_mut()) {
            // fdatasyncs, which have no place of their own, are the first of the short ones.
            times.n = if syncs > 0.0 { syncs } else { short };
        }
    }
}

/// Takes the rates of a number of I/Os, where they agree with those that are printed.
fn make_exact(stats: &mut DirectionStats, ios: f64, block: Option<u64>) {
    let is_near = |a: f64, b: f64| (a / b - 1.0).abs() < 0.02;
    stats.total_ios = ios;
    let exact = ios / (stats.runtime / 1e3);
    if exact > 0.0 && is_near(exact, stats.iops) {
        stats.iops = exact;
    }
    let bps = stats.bw_bytes.unwrap_or(0.0);
    if let Some(block) = block.filter(|block| is_near(stats.iops * *block as f64, bps)) {
        stats.bw_bytes = Some(stats.iops * block as f64);
        stats.io_bytes = ios * block as f64;
    }
}

/// Figures of a line of results.
fn stats(parts: &Captures) -> Result<DirectionStats, String> {
    let is_new = parts.get(2).is_some();
    let [iops, rate, ms] = if is_new { [2, 3, 4] } else { [6, 5, 7] }.map(|at| group(parts, at));
    let bps = with_unit(rate).and_then(|(value, unit)| match is_new {
        // With `unit_base=1`.
        _ if unit.ends_with("bit/s") => {
            rate_in(value, &unit.replace("bit/s", "B/s"), 1000.0).map(|bits| bits / 8.0)
        }
        true => rate_in(value, unit, 1000.0),
        // fio 2 means 1024 by K.
        false => rate_in(value, unit, 1024.0),
    });
    Ok(DirectionStats {
        iops: wanted("IOPS", scaled(iops, 1000.0))?,
        bw_bytes: Some(wanted("the rate", bps)?),
        io_kbytes: Some(0.0),
        runtime: wanted("the time", number(ms))?,
        ..DirectionStats::default()
    })
}
