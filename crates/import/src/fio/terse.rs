//! fio's terse text (`--output-format=terse`, versions 2 to 5), and five of its fields as Raspberry
//! Pi Diagnostics prints and judges them.

use record::units::KIB;
use record::{Cell, Direction, Latency, Params, Path};

use super::same_job::FORMS;
use crate::errno::{Errno, ErrorSide};
use crate::failed;
use crate::imported_run::{
    self, ImportTrouble, ImportedRun, estimate, keep_odd, label, note, percentiles, whole_ns,
};
use crate::reading::Reading;
use crate::text::{ImportText, number, short};
use crate::{Hints, Importer, Sign};

pub(crate) const FULL: Importer = Importer {
    name: "fio terse output",
    signs: &[Sign {
        what: "a line that begins with '3;fio-' (4 and 5, too), or with '2;'",
        is_there: |source| source.has(is_full),
    }],
    read: read_full,
    is_ignored_line: |_| false,
};

/// "rand-4k-write;0;0;131334;32833": name, KiB/s and IOPS of reading, the same of writing.
pub(crate) const JOBS: Importer = Importer {
    name: "Raspberry Pi Diagnostics output",
    signs: &[Sign {
        what: "a line 'rand-4k-write;0;0;3291;822'",
        is_there: |source| source.has(|line| job_line(line).is_some()),
    }],
    read: read_jobs,
    is_ignored_line: is_of_diagnostics,
};

/// Indices of the fields in a version of the form, from 0.
struct Layout {
    /// Index of fio's version; the oldest form has none.
    version: Option<usize>,
    name: usize,
    error: usize,
    read: usize,
    write: usize,
}

/// Beginning of a line of each version, and its layout. Version 5 has six more fields for each
/// direction.
const LAYOUTS: [(&str, Layout); 4] = [
    ("2;", Layout { version: None, name: 1, error: 3, read: 4, write: 45 }),
    ("3;fio-", Layout { version: Some(1), name: 2, error: 4, read: 5, write: 46 }),
    ("4;fio-", Layout { version: Some(1), name: 2, error: 4, read: 5, write: 46 }),
    ("5;fio-", Layout { version: Some(1), name: 2, error: 4, read: 5, write: 52 }),
];
/// Fewest fields of a line.
const FIELDS: usize = 82;
/// Indices of the fields of a direction, from its first; it begins with KiB, KiB/s, IOPS, ms.
const RUNTIME: usize = 3;
const COMPLETION: usize = 8;
const PERCENTILES: usize = 12;
const PERCENTILE_COUNT: usize = 20;
const TOTAL: usize = 32;

fn layout(line: &str) -> Option<&'static Layout> {
    let known = LAYOUTS.iter().find(|(begin, _)| line.starts_with(begin));
    // Other lists may also begin with a 2.
    let is_list = |layout: &Layout| {
        layout.version.is_some()
            || line.contains(";1.000000%=") && line.split(';').count() >= FIELDS
    };
    known.map(|(_, layout)| layout).filter(|layout| is_list(layout))
}

fn is_full(line: &str) -> bool {
    layout(line).is_some()
}

fn read_full(source: &ImportText, _: &Hints, reading: &mut Reading) -> Vec<ImportedRun> {
    let mut found = ImportedRun { form: FORMS[2], ..ImportedRun::by("fio") };
    for (at, line) in source.numbered() {
        let Some(layout) = layout(line) else { continue };
        let fields: Vec<&str> = line.split(';').collect();
        if fields.len() < layout.write + TOTAL + 4 {
            reading.refuse(at, format_args!("{} fields where terse output has 130", fields.len()));
            continue;
        }
        if let Some(version) = layout.version {
            found.version = short(fields[version].trim_start_matches("fio-"), 40);
        }
        reading.take(at);
        let mut has_moved = false;
        for (first, direction) in [(layout.read, Direction::Read), (layout.write, Direction::Write)]
        {
            let cell = reading.accept(at, of_fields(at, layout, &fields, first, direction));
            if let Some(Some(cell)) = cell {
                has_moved = true;
                reading.add(&mut found, at, cell);
            }
        }
        if let Some(cell) = failed_at_once(layout, &fields).filter(|_| !has_moved) {
            reading.add(&mut found, at, cell);
        }
    }
    vec![found]
}

/// A job that the medium ended before its first I/O.
fn failed_at_once(layout: &Layout, fields: &[&str]) -> Option<Cell> {
    let error = error_of(layout, fields).filter(|error| error.origin == ErrorSide::Medium)?;
    let form = Some(short(fields[layout.name], 40));
    let mut cell = imported_run::cell("fio", Params { form, ..Params::default() });
    failed::end(&mut cell, "fio", &error);
    Some(cell)
}

fn error_of(layout: &Layout, fields: &[&str]) -> Option<Errno> {
    let number = fields[layout.error].trim().trim_start_matches('-').parse().ok();
    number.filter(|number| *number > 0).map(Errno::of_number)
}

/// True for a line of Raspberry Pi Diagnostics around its figures.
fn is_of_diagnostics(line: &str) -> bool {
    line.contains("KB/sec (target") || line.contains("IOPS (target")
}

fn of_fields(
    at: usize,
    layout: &Layout,
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
    let mut cell = of_job(fields[layout.name], direction, rate, iops);
    label(&mut cell, "job", fields[layout.name]);
    cell.bytes = (kib * KIB as f64) as u64;
    cell.ops = cell.params.block_bytes.map_or(0, |block| cell.bytes / block);
    cell.written_bytes = if direction == Direction::Write { cell.bytes } else { 0 };
    cell.elapsed_ns = whole_ns(field(RUNTIME, "the time")? * 1e6);
    if let Some(error) = error_of(layout, fields) {
        failed::end(&mut cell, "fio", &error);
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

/// Cell of a job from its name and figures. KiB/s and IOPS give the block size if their quotient is
/// a power of two.
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
    // Rates and IOPS are truncated to whole numbers: with few IOPS that is a large error.
    let tolerance = 0.01 + 1.0 / iops;
    ((mean / power as f64 - 1.0).abs() < tolerance).then_some(power)
}

/// Parses name, then KiB/s and IOPS of reading and of writing.
fn job_line(line: &str) -> Option<(&str, [f64; 4])> {
    let mut fields = line.trim().split(';');
    let name = fields
        .next()
        .filter(|name| name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.len() <= 60)?;
    let figures: Vec<f64> = fields.map(number).collect::<Option<_>>()?;
    Some((name, figures.try_into().ok()?))
}

/// Reads runs of Raspberry Pi Diagnostics, up to three, or the same lines alone.
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
