//! fio's terse text (`--output-format=terse`, versions 3 and 4), and five fields of it as Raspberry
//! Pi Diagnostics prints and judges them.

use record::units::KIB;
use record::{Cell, Direction, Latency, Params, Path};

use super::same_job::FORMS;
use crate::import::imported_run::{
    self, ImportTrouble, ImportedRun, estimate, keep_odd, label, note, percentiles, whole_ns,
};
use crate::import::reading::Reading;
use crate::import::text::{ImportText, number, short};
use crate::import::{Hints, Importer, Sign};

pub(in crate::import) const FULL: Importer = Importer {
    name: "fio terse output",
    signs: &[Sign {
        what: "a line that begins with '3;fio-'",
        is_there: |source| source.has(is_full),
    }],
    read: read_full,
    chatter: |_| false,
};

/// "rand-4k-write;0;0;131334;32833": name, KiB/s and IOPS of reading, the same of writing.
pub(in crate::import) const JOBS: Importer = Importer {
    name: "Raspberry Pi Diagnostics output",
    signs: &[Sign {
        what: "a line 'rand-4k-write;0;0;3291;822'",
        is_there: |source| source.has(|line| job_line(line).is_some()),
    }],
    read: read_jobs,
    chatter: is_of_diagnostics,
};

/// Where the fields of a direction begin in a line, counted from 0.
const READ: usize = 5;
const WRITE: usize = 46;
/// Fields of a direction, counted from its first: KiB, KiB/s, IOPS, ms.
const RUNTIME: usize = 3;
const COMPLETION: usize = 8;
const PERCENTILES: usize = 12;
const PERCENTILE_COUNT: usize = 20;
const TOTAL: usize = 32;

fn is_full(line: &str) -> bool {
    line.starts_with("3;fio-") || line.starts_with("4;fio-")
}

fn read_full(source: &ImportText, _: &Hints, reading: &mut Reading) -> Vec<ImportedRun> {
    let mut found = ImportedRun { form: FORMS[2], ..ImportedRun::by("fio") };
    for (at, line) in source.numbered().filter(|(_, line)| is_full(line)) {
        let fields: Vec<&str> = line.split(';').collect();
        if fields.len() < WRITE + 36 {
            reading.refuse(at, format_args!("{} fields where terse output has 130", fields.len()));
            continue;
        }
        found.version = short(fields[1].trim_start_matches("fio-"), 40);
        reading.take(at);
        for (first, direction) in [(READ, Direction::Read), (WRITE, Direction::Write)] {
            let cell = reading.accept(at, of_fields(at, &fields, first, direction));
            if let Some(Some(cell)) = cell {
                reading.add(&mut found, at, cell);
            }
        }
    }
    vec![found]
}

/// Lines of Raspberry Pi Diagnostics around its figures.
fn is_of_diagnostics(line: &str) -> bool {
    line.contains("KB/sec (target") || line.contains("IOPS (target")
}

fn of_fields(
    at: usize,
    fields: &[&str],
    first: usize,
    direction: Direction,
) -> Result<Option<Cell>, ImportTrouble> {
    let field = |offset: usize, what: &str| {
        let text = fields.get(first + offset).copied().unwrap_or_default();
        number(text).ok_or_else(|| {
            ImportTrouble::at(
                at,
                format_args!("{what} is '{}', which is no number", short(text, 20)),
            )
        })
    };
    let (kib, rate, iops) = (field(0, "KiB")?, field(1, "KiB/s")?, field(2, "IOPS")?);
    if kib == 0.0 {
        return Ok(None);
    }
    let mut cell = of_job(fields[2], direction, rate, iops);
    label(&mut cell, "job", fields[2]);
    cell.bytes = (kib * KIB as f64) as u64;
    cell.ops = cell.params.block_bytes.map_or(0, |block| cell.bytes / block);
    cell.written_bytes = if direction == Direction::Write { cell.bytes } else { 0 };
    cell.elapsed_ns = whole_ns(field(RUNTIME, "the time")? * 1e6);
    let error = fields[4].trim();
    if error != "0" {
        cell.stop = record::Stop::Error;
        cell.reason = Some(format!("fio ended with error {}", short(error, 20)));
    }
    let n = cell.ops;
    cell.metrics.iops = Some(estimate(iops, n));
    cell.metrics.bps = Some(estimate(rate * KIB as f64, n));
    // Times are microseconds; those of submission and completion together have no percentiles.
    let us = |offset: usize| field(offset, "a latency").map(|us| us * 1e3);
    let (min, max, mean) = (us(TOTAL)?, us(TOTAL + 1)?, us(TOTAL + 2)?);
    let mut latency =
        Latency { n, min: whole_ns(min), mean, max: whole_ns(max), ..Latency::default() };
    let listed = &fields[first + PERCENTILES..][..PERCENTILE_COUNT];
    let by_share = |share: f64| {
        let percent = format!("{:.6}%", share * 100.0);
        listed.iter().find_map(|field| {
            field
                .split_once('=')
                .filter(|(name, _)| *name == percent)
                .and_then(|(_, us)| number(us))
        })
    };
    let odd = percentiles(&mut latency, |share| by_share(share).map(|us| us * 1e3));
    keep_odd(&mut cell, &latency, &odd);
    cell.metrics.latency_ns = (latency.max > 0).then_some(latency);
    if us(COMPLETION)? < 0.95 * min {
        note(&mut cell, "percentiles are of completion alone, without submission");
    }
    Ok(Some(cell))
}

/// A cell of a job of which name and figures are known. Its block size follows from both where they
/// agree on a power of two.
fn of_job(name: &str, direction: Direction, kib_per_s: f64, iops: f64) -> Cell {
    let test = match direction {
        Direction::Read => "fio:read",
        Direction::Write => "fio:write",
    };
    let job = short(name, 40);
    let params = Params {
        direction: Some(direction),
        block_bytes: block(kib_per_s, iops),
        path: Path::Direct,
        form: Some(job),
        ..Params::default()
    };
    let mut cell = imported_run::cell(test, params);
    note(
        &mut cell,
        "terse output does not say order, depth and path; the name of the job stands for them",
    );
    cell
}

fn block(kib_per_s: f64, iops: f64) -> Option<u64> {
    let mean = kib_per_s * KIB as f64 / iops;
    if !mean.is_finite() || !(500.0..1e9).contains(&mean) {
        return None;
    }
    let power = 1u64 << (mean.log2().round() as u32).min(40);
    // Rates and IOPS are cut off to whole numbers: with few IOPS that is a good deal.
    let tolerance = 0.01 + 1.0 / iops;
    ((mean / power as f64 - 1.0).abs() < tolerance).then_some(power)
}

/// Name, then KiB/s and IOPS of reading and of writing.
fn job_line(line: &str) -> Option<(&str, [f64; 4])> {
    let mut fields = line.trim().split(';');
    let name = fields
        .next()
        .filter(|name| name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.len() <= 60)?;
    let figures: Vec<f64> = fields.map(number).collect::<Option<_>>()?;
    Some((name, figures.try_into().ok()?))
}

/// Runs of Raspberry Pi Diagnostics, up to three, or the same lines alone.
fn read_jobs(source: &ImportText, _: &Hints, reading: &mut Reading) -> Vec<ImportedRun> {
    let mut found = ImportedRun::by("Raspberry Pi Diagnostics");
    let mut run = String::new();
    for (at, line) in source.numbered() {
        if let Some(number) = line.trim().strip_prefix("Run ") {
            run = short(number, 10);
        }
        let Some((name, [read, reads, write, writes])) = job_line(line) else {
            if line.matches(';').count() == 4 && line.trim().starts_with("rand-") {
                reading.refuse(at, "a figure is no number");
            }
            continue;
        };
        reading.take(at);
        for (direction, rate, iops) in
            [(Direction::Read, read, reads), (Direction::Write, write, writes)]
        {
            if rate > 0.0 || iops > 0.0 {
                let mut cell = of_job(name, direction, rate, iops);
                cell.metrics.iops = Some(estimate(iops, 1));
                cell.metrics.bps = Some(estimate(rate * KIB as f64, 1));
                label(&mut cell, "run", &run);
                note(
                    &mut cell,
                    "Raspberry Pi Diagnostics has 4 or 32 I/Os in flight, on a file of 64 or 256 MB that caches may hold",
                );
                reading.add(&mut found, at, cell);
            }
        }
    }
    if source.contains("KB/sec (target") {
        found
            .notes
            .push("it asks only whether one of three runs passes the limits of class A1".into());
    } else {
        found.notes.push(
            "five fields of fio's terse output; taken for the jobs of Raspberry Pi Diagnostics"
                .into(),
        );
    }
    vec![found]
}
