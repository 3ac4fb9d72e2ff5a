//! seeker: its own output, and lists of access times of several media.

use super::prelude::*;

pub(super) static TABLE: Tool = tool! {
    "seeker", "seeker output", 1024.0, facts: of_run;
    ["'.. ms random access time'": r"(?m)^\s*\S.*? [\d.]\S* ms random access time"]
    Says r"^\s*Seeker v(?<version>[^,]*)";
    Says r"^\s*Benchmarking (?<path>.*?)(?: \[(?:(?<mib>\d+)MB\])?|$)";
    Gives r"^\s*Results: (?<seeks>.*) seeks/second, (?<ms>[\d.]\S*) ms random access time" => of_seeks;
    // A list: each line is of a medium of its own.
    Gives r"^\s*(?<model>.*?)[:, ]+(?<ms>[\d.]\S*) ms random access time" => of_access_time;
};

fn of_run(known: &mut Known, run: &mut ImportedRun) {
    run.medium.capacity_bytes = known.count("mib").and_then(|mib| mib.checked_mul(MIB));
}

/// Seconds for which seeker reads.
const SECONDS: u64 = 30;

fn begun(text: &str) -> Cell {
    cell(test::SEEK, Direction::Read, Pattern::Uniform, 512)
        .region(Region::Whole)
        .path(Path::Buffered)
        .form("seeker v2")
        .took((SECONDS * SECOND_NS) as f64)
        .note(text)
}

fn of_seeks(known: &Known) -> Made {
    let seeks = known.count("seeks").map(|seeks| seeks as f64);
    let seeks_per_s = wanted("the number of seeks", seeks)?;
    let n = (seeks_per_s * SECONDS as f64) as u64;
    // The time is printed with two digits behind the point; the inverse of the rate has all.
    let ns = (seeks_per_s > 0.0).then(|| 1e9 / seeks_per_s);
    let cell = begun("through the page cache: data in memory is found at once")
        .moved(n.saturating_mul(512), n)
        .rates(Some(seeks_per_s), None, n)
        .other(metric::SEEKS_PER_S, seeks_per_s, n)
        .other(metric::ACCESS_TIME_NS, ns, n);
    Ok(vec![cell])
}

fn of_access_time(known: &Known) -> Made {
    let Some(ms) = known.number("ms") else { return Ok(Vec::new()) };
    let cell = begun("only the access time is given, in hundredths of a millisecond")
        .other(metric::ACCESS_TIME_NS, ms * 1e6, 1)
        .other(metric::SEEKS_PER_S, (ms > 0.0).then(|| 1e3 / ms), 1);
    Ok(vec![cell])
}
