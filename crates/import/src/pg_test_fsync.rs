//! `pg_test_fsync`: commits per second by each way in which PostgreSQL can make a write durable. An
//! operation is one group of writes with its sync; a kB of it is 1024 bytes.

use record::{Cell, CountUnit, Direction, Flag, Params, Path, Pattern, Region, Sync};
use regex::Captures;

use super::imported_run::{ImportTrouble, ImportedRun, cell, estimate, io, moved, whole_ns};
use super::text::{group, number, re, wanted, whole};
use super::{Importer, sign};

/// Writes of an operation ("8 *  2kB"), method, operations per second.
const ROW: &str = r"^\s*(?:(?:(\d+) \* +)?(\d+)kB )?(open_datasync|open_sync|fdatasync|fsync_writethrough|fsync|write, fsync, close|write, close, fsync|write)(?: writes?)? +([\d.]+) ops/sec(?: +\d+ usecs/op)?$";
/// "Compare file sync methods using two 8kB writes:", "Non-sync'ed 8kB writes:".
const HEADING: &str = r"^(?:Compare|Test|Non-[Ss]ync'ed)(?:.* (two))?(?:.* (\d+)kB write)?";

pub(super) const IMPORTER: Importer = Importer {
    name: "pg_test_fsync output",
    signs: &[
        sign!("a line 'Compare file sync methods ..'", "(?m)^Compare file sync methods using "),
        sign!("lines '.. ops/sec'", r"(?m)^\s*\S.* ops/sec"),
    ],
    // Each output begins with its time limit.
    read: |source, _, reading| {
        let parts = source.parts(|line| re!(r"^\d+ seconds? per test").is_match(line));
        let read_one = |part: &super::text::ImportText| {
            let mut found = ImportedRun::by("pg_test_fsync");
            let seconds = part.first(re!(r"(\d+) seconds? per test")).and_then(whole).unwrap_or(0);
            let is_direct = part.first(re!("(O_DIRECT|F_NOCACHE) supported")).is_some();
            let (mut writes, mut block_kib) = (1, 8);
            for (at, line) in part.numbered() {
                if let Some(heading) = re!(HEADING).captures(line) {
                    writes = if heading.get(1).is_some() { 2 } else { 1 };
                    block_kib = whole(group(&heading, 2)).unwrap_or(block_kib);
                }
                let Some(row) = re!(ROW).captures(line.trim_end()) else { continue };
                let of_row = |number| whole(group(&row, number));
                let size = (of_row(1).unwrap_or(writes), of_row(2).unwrap_or(block_kib));
                let cell = reading.accept(at, of_row_at(at, &row, size, seconds, is_direct));
                cell.into_iter().for_each(|cell| reading.add(&mut found, at, cell));
            }
            found
        };
        parts.iter().map(read_one).collect()
    },
    is_ignored_line: |_| false,
};

fn of_row_at(
    at: usize,
    row: &Captures,
    (writes, kib): (u64, u64),
    seconds: u64,
    is_direct: bool,
) -> Result<Cell, ImportTrouble> {
    let method = group(row, 3);
    let sync = match method {
        "open_datasync" => Sync::Data,
        "open_sync" => Sync::File,
        _ => Sync::None,
    };
    let is_direct = is_direct && sync != Sync::None;
    let params = Params {
        region: Some(Region::File),
        path: if is_direct { Path::Direct } else { Path::Buffered },
        form: Some(format!("{method}, {writes} x {kib} KiB")),
        sync,
        ..io(Direction::Write, Pattern::Sequential, kib.checked_mul(1024))
    };
    let mut cell = cell("pg_test_fsync", params);
    let per_s = wanted(at, "the rate", number(group(row, 4)))?;
    let commits = (per_s * seconds as f64) as u64;
    let ops = commits.saturating_mul(writes);
    moved(&mut cell, ops.saturating_mul(kib).saturating_mul(1024), ops);
    cell.elapsed_ns = whole_ns(seconds as f64 * 1e9);
    cell.metrics.iops = Some(estimate(per_s, commits));
    cell.unit = (method != "write").then_some(CountUnit::Commits);
    cell.flags.extend((method == "write").then_some(Flag::Cached));
    Ok(cell)
}
