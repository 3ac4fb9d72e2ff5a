//! Five fields of fio's terse output as Raspberry Pi Diagnostics prints and judges them.

use crate::prelude::*;

/// "rand-4k-write;0;0;131334;32833": name, KiB/s and IOPS of reading, the same of writing.
const JOB: &str = r"(?m)^\s*(?<job>[A-Za-z][^;\n]{0,59});(?<read>[\d.]+);(?<reads>[\d.]+);(?<write>[\d.]+);(?<writes>[\d.]+)\s*$";

pub(crate) static JOBS: Tool = tool! {
    "Raspberry Pi Diagnostics", "Raspberry Pi Diagnostics output", 1024.0, facts: of_run;
    ["a line 'rand-4k-write;0;0;3291;822'": JOB]
    Says r"^\s*Run (?<run>\d+)";
    Gives JOB => of_job;
    Gives r"^\s*rand-[^;]*(?:;[^;]*){4}$" => |_| Err("a figure is no number".to_owned());
    Says r"(?<wrong> speed 0 IOPS \(target)";
    Says r"(?<judged>KB/sec \(target|IOPS \(target)";
};

fn of_run(known: &mut Known, run: &mut ImportedRun) {
    let judged = "it asks only whether one of three runs passes the limits of class A1";
    let bare = "five fields of fio's terse output; taken for the jobs of Raspberry Pi Diagnostics";
    let wrong = "its version prints 0 IOPS and FAIL for a line that it does not read; the figures are those it measured";
    let is_wrong = known.has("wrong");
    let notes = [Some(if known.has("judged") { judged } else { bare }), is_wrong.then_some(wrong)];
    run.notes = notes.into_iter().flatten().map(str::to_owned).collect();
}

fn of_job(known: &Known) -> Made {
    let of_direction = |(direction, rate, iops): (Direction, &str, &str)| {
        let (rate, iops) = (known.number(rate)?, known.number(iops)?);
        let is_random = known.text("job").starts_with("rand");
        let pattern = if is_random { Pattern::Uniform } else { Pattern::Sequential };
        let text =
            "terse output does not say order, depth and path; the name of the job stands for them";
        // The IOPS of the others are cut to a few.
        let cell = cell(format!("fio:{}", word(Some(direction))), direction, pattern, block(rate, iops))
            .form(known.short("job", 40)?)
            .rates(Some(iops).filter(|_| is_random), Some(rate * KIB as f64), 1)
            .label("run", known.text("run"))
            .note(text)
            .note("Raspberry Pi Diagnostics has 4 or 32 I/Os in flight, on a file of 64 or 256 MB that caches may hold");
        (rate > 0.0 || iops > 0.0).then_some(cell)
    };
    let ways = [(Direction::Read, "read", "reads"), (Direction::Write, "write", "writes")];
    Ok(ways.into_iter().filter_map(of_direction).collect())
}

/// Block size, if the quotient of KiB/s and IOPS is a power of two.
fn block(kib_per_s: f64, iops: f64) -> Option<u64> {
    let mean = kib_per_s * KIB as f64 / iops;
    if !mean.is_finite() || !(500.0..1e9).contains(&mean) {
        return None;
    }
    let power = 1u64 << (mean.log2().round() as u32).min(40);
    // Both are truncated to whole numbers: with few IOPS that is a large error.
    let tolerance = 0.01 + 1.0 / iops;
    ((mean / power as f64 - 1.0).abs() < tolerance).then_some(power)
}
