//! seeker: its own output, and lists of access times of several media.

use record::units::{MIB, SECOND_NS};
use record::{Cell, Direction, Params, Path, Pattern, Region, metric, test};

use super::imported_run::{ImportedRun, cell, estimate, io, note, other};
use super::media_list::MediaList;
use super::text::{group, number, re, short, wanted, whole};
use super::{Importer, sign};

pub(super) const IMPORTER: Importer = Importer {
    name: "seeker output",
    signs: &[sign!("'.. ms random access time'", r"(?m)^\s*\S.*? [\d.]\S* ms random access time")],
    read: |source, _, reading| {
        let mut media = MediaList::default();
        let (mut version, mut path, mut capacity) = (String::new(), String::new(), None);
        for (at, line) in source.numbered() {
            if let Some(found) = re!(r"^\s*Seeker v([^,]*)").captures(line) {
                version = short(group(&found, 1), 20);
            } else if let Some(found) =
                re!(r"^\s*Benchmarking (.*?)(?: \[(?:(\d+)MB\])?|$)").captures(line)
            {
                path = group(&found, 1).to_owned();
                capacity = whole(group(&found, 2)).and_then(|mb| mb.checked_mul(MIB));
            }
            let Some(access) = re!(r"^\s*(.*) (\S+) ms random access time").captures(line) else {
                continue;
            };
            let Some(ms) = number(group(&access, 2)) else { continue };
            let name = group(&access, 1).trim_end_matches([':', ',', ' ']);
            let mut found = ImportedRun { version: version.clone(), ..ImportedRun::by("seeker") };
            if let Some(seeks) = re!("^Results: (.*) seeks/second$").captures(name) {
                found.on(&path);
                found.medium.capacity_bytes = capacity;
                let seeks = whole(group(&seeks, 1)).map(|seeks| seeks as f64);
                let seeks = reading.accept(at, wanted(at, "the number of seeks", seeks));
                let Some(seeks) = seeks else { continue };
                reading.add(&mut found, at, of_seeks(seeks));
            } else {
                // A list: each line is of a medium of its own.
                found.medium.model = Some(short(name, 60)).filter(|name| !name.is_empty());
                reading.add(&mut found, at, of_access_time(ms));
            }
            media.push(at, found, reading);
        }
        media.0
    },
    is_ignored_line: |_| false,
};

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

fn of_seeks(seeks_per_s: f64) -> Cell {
    let mut cell = begun("through the page cache: data in memory is found at once");
    let n = (seeks_per_s * SECONDS as f64) as u64;
    (cell.ops, cell.bytes) = (n, n.saturating_mul(512));
    cell.metrics.iops = Some(estimate(seeks_per_s, n));
    other(&mut cell, metric::SEEKS_PER_S, seeks_per_s, n);
    if seeks_per_s > 0.0 {
        // The time is printed with two digits behind the point; the inverse of the rate has all.
        other(&mut cell, metric::ACCESS_TIME_NS, 1e9 / seeks_per_s, n);
    }
    cell
}

fn of_access_time(ms: f64) -> Cell {
    let mut cell = begun("only the access time is given, in hundredths of a millisecond");
    other(&mut cell, metric::ACCESS_TIME_NS, ms * 1e6, 1);
    if ms > 0.0 {
        other(&mut cell, metric::SEEKS_PER_S, 1e3 / ms, 1);
    }
    cell
}
