//! seeker: its own output, and lists of access times of several media.

use record::units::{MIB, SECOND_NS};
use record::{Cell, Direction, Params, Path, Pattern, Region, metric, test};

use super::imported_run::{cell, estimate, io, note, other};
use super::table::{Known, Made, Tool, tool};
use super::text::wanted;

pub(super) static TABLE: Tool = tool! {
    "seeker", "seeker output", 1024.0;
    ["'.. ms random access time'": r"(?m)^\s*\S.*? [\d.]\S* ms random access time"]
    Says r"^\s*Seeker v(?<version>[^,]*)";
    Says r"^\s*Benchmarking (?<path>.*?)(?: \[(?:(?<mib>\d+)MB\])?|$)";
    Gives r"^\s*Results: (?<seeks>.*) seeks/second, (?<ms>[\d.]\S*) ms random access time" => of_seeks;
    // A list: each line is of a medium of its own.
    Gives r"^\s*(?<model>.*?)[:, ]+(?<ms>[\d.]\S*) ms random access time" => of_access_time;
}
.facts(|known, run| {
    run.medium.capacity_bytes = known.count("mib").and_then(|mib| mib.checked_mul(MIB));
});

/// Seconds for which seeker reads.
const SECONDS: u64 = 30;

fn begun(text: &str) -> Cell {
    let (region, path, form) = (Some(Region::Whole), Path::Buffered, Some("seeker v2".into()));
    let params = Params { region, path, form, ..io(Direction::Read, Pattern::Uniform, 512) };
    let mut cell = cell(test::SEEK, params);
    cell.elapsed_ns = SECONDS * SECOND_NS;
    note(&mut cell, text);
    cell
}

fn of_seeks(known: &Known) -> Made {
    let seeks = known.count("seeks").map(|seeks| seeks as f64);
    let seeks_per_s = wanted("the number of seeks", seeks)?;
    let mut cell = begun("through the page cache: data in memory is found at once");
    let n = (seeks_per_s * SECONDS as f64) as u64;
    (cell.ops, cell.bytes) = (n, n.saturating_mul(512));
    cell.metrics.iops = Some(estimate(seeks_per_s, n));
    other(&mut cell, metric::SEEKS_PER_S, seeks_per_s, n);
    if seeks_per_s > 0.0 {
        // The time is printed with two digits behind the point; the inverse of the rate has all.
        other(&mut cell, metric::ACCESS_TIME_NS, 1e9 / seeks_per_s, n);
    }
    Ok(vec![cell])
}

fn of_access_time(known: &Known) -> Made {
    let Some(ms) = known.number("ms") else { return Ok(Vec::new()) };
    let mut cell = begun("only the access time is given, in hundredths of a millisecond");
    other(&mut cell, metric::ACCESS_TIME_NS, ms * 1e6, 1);
    if ms > 0.0 {
        other(&mut cell, metric::SEEKS_PER_S, 1e3 / ms, 1);
    }
    Ok(vec![cell])
}
