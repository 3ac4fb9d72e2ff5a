//! PiBenchmarks (Storage.sh): the table at its end. Its script defines the calls of hdparm, dd, fio
//! and iozone. If their own output is above the table, that is read instead.

use record::units::{KIB, MIB};
use record::{Cell, Content, Direction, Flag, Params, Path, Pattern, Region, test};
use regex::Captures;

use super::imported_run::{ImportTrouble, ImportedRun, cell, io, label, note, rate, rates};
use super::media::whole_disk;
use super::table::{Tool, tool};
use super::text::{ImportText, decimal, group, re, short, wanted};

/// Tool, operation, figure, unit.
const ROW: &str = r"(?m)^[ \t]*(HDParm|DD|FIO|IOZone)[ \t|]+((?:Cached )?Disk Read|Disk Write|4k (?:random )?(?:read|write))[ \t|]*(\d\S*)(.*)$";

pub(super) static TABLE: Tool = tool! {
    "", "the table of PiBenchmarks", 1000.0;
    ["lines 'HDParm  Disk Read  ..', 'FIO  4k random read  ..'": ROW]
}
.by_hand(|source, reading| {
    let mut found = ImportedRun::by("PiBenchmarks");
    for (at, line) in source.numbered() {
        if let Some(score) = line.trim().strip_prefix("Score:") {
            found.notes.push(format!("its score is {}", short(score, 20)));
            reading.take(at);
        }
        let Some(row) = re!(ROW).captures(line) else { continue };
        if stands_above(source, at, &row) {
            reading.take(at);
        } else if let Some(Some(cell)) = reading.accept(at, of_row(at, &row)) {
            reading.add(&mut found, at, cell);
        }
    }
    vec![found]
});

/// Assigns all results of its log to the medium that it tested: it writes to files in several
/// places and reads from the device, all on one medium.
pub(super) fn take_one_medium(source: &ImportText, found: &mut [ImportedRun]) {
    let detected = re!("has been detected as /dev/(.*?) ").captures(source.text);
    if !source.contains("has been detected as /dev/") && !re!(ROW).is_match(source.text) {
        return;
    }
    let mut disks: Vec<&str> =
        found.iter().filter_map(|run| run.target.device.as_deref()).map(whole_disk).collect();
    disks.dedup();
    if disks.len() > 1 {
        return;
    }
    let detected = detected.as_ref().map(|captures| group(captures, 1));
    let device =
        disks.first().copied().or(detected).map(|device| format!("/dev/{}", short(device, 40)));
    for run in found.iter_mut().filter(|run| run.target.device.is_none()) {
        run.target.path.clear();
        device.iter().for_each(|device| run.on(device));
    }
}

/// True if the tool's own output with this figure precedes the table.
fn stands_above(source: &ImportText, at: usize, row: &Captures) -> bool {
    let (tool, figure) = (group(row, 1), group(row, 3));
    let is_its = |line: &str| match tool {
        "HDParm" => line.contains("Timing "),
        "DD" => line.contains(" copied, "),
        "FIO" => line.starts_with("3;fio-"),
        _ => line.split_whitespace().all(|word| decimal(word).is_some()),
    };
    let has_figure = |line: &str| line.split([' ', '\t', ';']).any(|word| word == figure);
    let mut above = source.numbered().take_while(|(place, _)| *place < at);
    above.any(|(_, line)| is_its(line) && has_figure(line))
}

/// Cell of a row; `None` if the tool has no operation of that name.
fn of_row(at: usize, row: &Captures) -> Result<Option<Cell>, ImportTrouble> {
    let (tool, what, unit) = (group(row, 1), group(row, 2), group(row, 4));
    let figure = wanted(at, "the result", decimal(group(row, 3)))?;
    let writes = what.ends_with("rite");
    let direction = if writes { Direction::Write } else { Direction::Read };
    let is_random = what.contains("random");
    let region = Some(Region::File);
    let cell = match (tool, what) {
        ("HDParm", "Cached Disk Read" | "Disk Read") => {
            let is_cached = what.starts_with("Cached");
            let params = Params {
                span_offset_bytes: Some(0),
                path: if is_cached { Path::Buffered } else { Path::Direct },
                form: Some(if is_cached { "cache" } else { "direct" }.to_owned()),
                ..io(direction, Pattern::Sequential, 2 * MIB)
            };
            let mut cell = cell(test::BUFFERED_READ, params);
            let text = "hdparm past the page cache; through it where the reader does not let that";
            note(&mut cell, text);
            // It reads the same place again and again.
            cell.flags.extend(is_cached.then_some(Flag::Cached));
            rate(&mut cell, figure * MIB as f64, 1);
            cell
        }
        ("DD", "Disk Write") => {
            let (path, content) = (Path::Buffered, Some(Content::Zeros));
            let params =
                Params { region, path, content, ..io(direction, Pattern::Sequential, 4 * KIB) };
            let mut cell = cell("dd:write", params);
            label(&mut cell, "flush", "fsync");
            note(&mut cell, "through the page cache, with the time of an fsync at the end");
            note(&mut cell, "it prints dd's figure without its unit: GB/s stand there as MB/s");
            rate(&mut cell, figure * if unit.contains("GB") { 1e9 } else { 1e6 }, 1);
            cell
        }
        // "2352 IOPS (9410 KB/s)": of a file of 100 or 200 MB, 64 I/Os in flight.
        ("FIO", "4k random read" | "4k random write") => {
            let (queue_depth, path) = (64, Path::Direct);
            let params = Params {
                region,
                queue_depth,
                path,
                ..io(direction, Pattern::Permutation, 4 * KIB)
            };
            let mut cell = cell(if writes { "fio:randwrite" } else { "fio:randread" }, params);
            let kib = re!(r"\((.*?) KB/s").captures(unit).and_then(|kib| decimal(group(&kib, 1)));
            let bps = wanted(at, "the rate", kib)? * KIB as f64;
            rates(&mut cell, Some(figure), Some(bps), 1);
            note(&mut cell, "on a file of 100 or 200 MB, which caches of the medium may hold");
            cell
        }
        // `iozone -a -e -I -s 80M -r 4k`.
        ("IOZone", what) if what.starts_with("4k") => {
            let pattern = if is_random { Pattern::Permutation } else { Pattern::Sequential };
            let params = Params {
                region,
                span_bytes: Some(80 * MIB),
                path: Path::Direct,
                content: writes.then_some(Content::Byte(165)),
                form: Some(what[3..].replace(' ', "-")),
                ..io(direction, pattern, 4 * KIB)
            };
            let is_ours = is_random && !writes;
            let mut cell = cell(if is_ours { test::RECORD_OPS } else { "iozone" }, params);
            if writes {
                note(&mut cell, "the time of an fsync at the end is included (-e)");
            }
            rate(&mut cell, figure * KIB as f64, 1);
            cell
        }
        _ => return Ok(None),
    };
    Ok(Some(cell))
}
