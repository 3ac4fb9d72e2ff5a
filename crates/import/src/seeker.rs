//! seeker: its own output, and lists of access times of several media.

use record::units::{MIB, SECOND_NS};
use record::{Cell, Direction, Params, Path, Pattern, Region, metric, test};

use super::imported_run::{ImportedRun, cell, estimate, note, other, room_for_another, whole_ns};
use super::reading::Reading;
use super::text::{ImportText, between, number, short, wanted, whole};
use super::{Hints, Importer, Sign};

pub(super) const IMPORTER: Importer = Importer {
    name: "seeker output",
    signs: &[Sign {
        what: "'.. ms random access time'",
        is_there: |source| source.has(|line| access(line).is_some()),
    }],
    read,
    chatter: |_| false,
};

/// seeker reads for half a minute.
const SECONDS: u64 = 30;

/// What stands before and the milliseconds.
fn access(line: &str) -> Option<(&str, f64)> {
    let (head, _) = line.trim().split_once(" ms random access time")?;
    let (name, value) = head.rsplit_once(' ')?;
    Some((name.trim_end_matches([':', ',', ' ']), number(value)?))
}

fn read(source: &ImportText, _: &Hints, reading: &mut Reading) -> Vec<ImportedRun> {
    let mut media: Vec<ImportedRun> = Vec::new();
    let mut measured = (String::new(), None);
    let mut version = String::new();
    for (at, line) in source.numbered() {
        if let Some(rest) = line.trim().strip_prefix("Seeker v") {
            version = short(rest.split(',').next().unwrap_or_default(), 20);
        } else if let Some(rest) = line.trim().strip_prefix("Benchmarking ") {
            let capacity =
                between(rest, "[", "MB]").and_then(whole).and_then(|mb| mb.checked_mul(MIB));
            measured = (rest.split(" [").next().unwrap_or_default().to_owned(), capacity);
        }
        let Some((name, ms)) = access(line) else { continue };
        let mut found = ImportedRun { version: version.clone(), ..ImportedRun::by("seeker") };
        let seeks =
            name.strip_prefix("Results: ").and_then(|rest| rest.strip_suffix(" seeks/second"));
        match seeks {
            Some(seeks) => {
                found.on(&measured.0);
                found.medium.capacity_bytes = measured.1;
                let seeks = wanted(at, "the number of seeks", whole(seeks).map(|n| n as f64));
                let Some(seeks) = reading.accept(at, seeks) else { continue };
                reading.add(&mut found, at, of_seeks(seeks));
            }
            None => {
                // A list: each line is of a medium of its own.
                found.medium.model = Some(short(name, 60)).filter(|name| !name.is_empty());
                reading.add(&mut found, at, of_access_time(ms));
            }
        }
        if reading.accept(at, room_for_another(&media)).is_some() {
            media.push(found);
        }
    }
    media
}

fn params() -> Params {
    Params {
        direction: Some(Direction::Read),
        pattern: Some(Pattern::Uniform),
        block_bytes: Some(512),
        region: Some(Region::Whole),
        path: Path::Buffered,
        form: Some("seeker v2".into()),
        ..Params::default()
    }
}

fn of_seeks(seeks_per_s: f64) -> Cell {
    let mut cell = cell(test::SEEK, params());
    cell.ops = (seeks_per_s * SECONDS as f64) as u64;
    cell.bytes = cell.ops.saturating_mul(512);
    cell.elapsed_ns = SECONDS * SECOND_NS;
    let n = cell.ops;
    cell.metrics.iops = Some(estimate(seeks_per_s, n));
    other(&mut cell, metric::SEEKS_PER_S, seeks_per_s, n);
    if seeks_per_s > 0.0 {
        // Printed with two digits behind the point; the inverse has all.
        other(&mut cell, metric::ACCESS_TIME_NS, 1e9 / seeks_per_s, n);
    }
    note(&mut cell, "through the page cache: data in memory is found at once");
    cell
}

fn of_access_time(ms: f64) -> Cell {
    let mut cell = cell(test::SEEK, params());
    other(&mut cell, metric::ACCESS_TIME_NS, ms * 1e6, 1);
    if ms > 0.0 {
        other(&mut cell, metric::SEEKS_PER_S, 1e3 / ms, 1);
    }
    cell.elapsed_ns = whole_ns((SECONDS * SECOND_NS) as f64);
    note(&mut cell, "only the access time is given, in hundredths of a millisecond");
    cell
}
