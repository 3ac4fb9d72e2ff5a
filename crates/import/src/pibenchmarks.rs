//! PiBenchmarks (Storage.sh): the table at its end. Its script defines the calls of hdparm, dd, fio
//! and iozone. If their own output is above the table, that is read instead.

use regex::Captures;

use super::media::whole_disk;
use super::prelude::*;

/// Tool, operation, figure, unit.
const ROW: &str = r"(?m)^[ \t]*(HDParm|DD|FIO|IOZone)[ \t|]+((?:Cached )?Disk Read|Disk Write|4k (?:random )?(?:read|write))[ \t|]*(\d\S*)(.*)$";

pub(super) static TABLE: Tool = tool! {
    "", "the table of PiBenchmarks", 1000.0, by_hand: Some(read);
    ["lines 'HDParm  Disk Read  ..', 'FIO  4k random read  ..'": ROW]
};

fn read(source: &ImportText, reading: &mut Reading) -> Vec<ImportedRun> {
    let mut found = ImportedRun::by("PiBenchmarks");
    for (at, line) in source.numbered() {
        if let Some(score) = line.trim().strip_prefix("Score:") {
            found.notes.push(format!("its score is {}", short(score, 20)));
            reading.take(at);
        }
        let Some(row) = re!(ROW).captures(line) else { continue };
        if stands_above(source, at, &row) {
            reading.take(at);
        } else if let Some(Some(cell)) = reading.accept(at, of_row(&row)) {
            reading.add(&mut found, at, cell);
        }
    }
    vec![found]
}

/// Assigns all results of its log to the medium that it tested: it writes to files in several
/// places and reads from the device, all on one medium.
pub(super) fn take_one_medium(source: &ImportText, found: &mut [ImportedRun]) {
    let detected = re!("has been detected as /dev/(.*?) ").captures(source.text);
    if !source.text.contains("has been detected as /dev/") && !re!(ROW).is_match(source.text) {
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
fn of_row(row: &Captures) -> Result<Option<Cell>, String> {
    let (tool, what, unit) = (group(row, 1), group(row, 2), group(row, 4));
    let figure = wanted("the result", decimal(group(row, 3)))?;
    let writes = what.ends_with("rite");
    let direction = if writes { Direction::Write } else { Direction::Read };
    let is_random = what.contains("random");
    let pattern = if is_random { Pattern::Permutation } else { Pattern::Sequential };
    let in_file = |test: &str| cell(test, direction, pattern, 4 * KIB).region(Region::File);
    let cell = match (tool, what) {
        ("HDParm", "Cached Disk Read" | "Disk Read") => {
            let is_cached = what.starts_with("Cached");
            let text = "hdparm past the page cache; through it where the reader does not let that";
            let mut cell = cell(test::BUFFERED_READ, direction, Pattern::Sequential, 2 * MIB)
                .path(if is_cached { Path::Buffered } else { Path::Direct })
                .form(if is_cached { "cache" } else { "direct" })
                .rate(figure * MIB as f64, 1)
                .note(text);
            cell.params.span_offset_bytes = Some(0);
            // It reads the same place again and again.
            cell.flags.extend(is_cached.then_some(Flag::Cached));
            cell
        }
        ("DD", "Disk Write") => in_file("dd:write")
            .path(Path::Buffered)
            .writes(Content::Zeros)
            .rate(figure * if unit.contains("GB") { 1e9 } else { 1e6 }, 1)
            .label("flush", "fsync")
            .note("through the page cache, with the time of an fsync at the end")
            .note("it prints dd's figure without its unit: GB/s stand there as MB/s"),
        // "2352 IOPS (9410 KB/s)": of a file of 100 or 200 MB, 64 I/Os in flight.
        ("FIO", "4k random read" | "4k random write") => {
            let kib = re!(r"\((.*?) KB/s").captures(unit).and_then(|kib| decimal(group(&kib, 1)));
            let bps = wanted("the rate", kib)? * KIB as f64;
            let text = "on a file of 100 or 200 MB, which caches of the medium may hold";
            let test = if writes { "fio:randwrite" } else { "fio:randread" };
            let mut cell = in_file(test).rates(Some(figure), Some(bps), 1).note(text);
            cell.params.queue_depth = 64;
            cell
        }
        // `iozone -a -e -I -s 80M -r 4k`.
        ("IOZone", what) if what.starts_with("4k") => {
            in_file(if is_random && !writes { test::RECORD_OPS } else { "iozone" })
                .span(80 * MIB)
                .writes(Content::Byte(165))
                .form(what[3..].replace(' ', "-"))
                .rate(figure * KIB as f64, 1)
                .note_if(writes, "the time of an fsync at the end is included (-e)")
        }
        _ => return Ok(None),
    };
    Ok(Some(cell))
}
