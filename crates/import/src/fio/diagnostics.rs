//! Five fields of fio's terse output as Raspberry Pi Diagnostics prints and judges them.

use record::units::KIB;
use record::{Cell, Direction, Params, Path, Pattern};

use crate::imported_run::{self, ImportedRun, estimate, label, note};
use crate::reading::Reading;
use crate::text::{ImportText, number, short};
use crate::{Hints, Importer, Sign};

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

/// True for a line of Raspberry Pi Diagnostics around its figures.
fn is_of_diagnostics(line: &str) -> bool {
    line.contains("KB/sec (target") || line.contains("IOPS (target")
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
        pattern: Some(if is_random(name) { Pattern::Uniform } else { Pattern::Sequential }),
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

fn is_random(job: &str) -> bool {
    job.starts_with("rand")
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
                // The others are cut to a few.
                cell.metrics.iops = Some(estimate(iops, 1)).filter(|_| is_random(name));
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
    if source.contains("speed 0 IOPS (target") {
        let text = "its version prints 0 IOPS and FAIL for a line that it does not read; the figures are those it measured";
        found.notes.push(text.into());
    }
    vec![found]
}
