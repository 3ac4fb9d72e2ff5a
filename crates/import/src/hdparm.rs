//! hdparm -t, -T and -t --direct. Its MB are 2^20 bytes, its kB 2^10.

use record::units::MIB;
use record::{Cell, Direction, Flag, Params, Path, Pattern, test};

use super::errno::{Errno, ErrorSide};
use super::failed;
use super::imported_run::{
    ImportTrouble, ImportedRun, cell, estimate, note, room_for_another, whole_ns,
};
use super::reading::Reading;
use super::text::{ImportText, between, binary_rate, decimal, size, wanted, whole};
use super::{Hints, Importer, Sign};

pub(super) const IMPORTER: Importer = Importer {
    name: "hdparm output",
    signs: &[
        Sign {
            what: "a line 'Timing .. reads: ..'",
            is_there: |source| source.has(|line| timing(line).is_some() || failure(line).is_some()),
        },
        Sign {
            what: "'.. MB in .. seconds = .. MB/sec'",
            is_there: |source| {
                source.has(|line| {
                    failure(line).is_some()
                        || timing(line).is_some_and(|(.., rest)| rest.contains(" seconds"))
                })
            },
        },
    ],
    read,
    chatter: |_| false,
};

/// Size of each read that `hdparm -t` and `-T` make.
const READ_BYTES: u64 = 2 * MIB;

/// What was timed, the offset as printed, and what came of it.
fn timing(line: &str) -> Option<(&str, &str, &str)> {
    let (what, rest) = line.trim().strip_prefix("Timing ")?.split_once(" reads")?;
    let (offset, rest) = rest.split_once(':')?;
    // A read that failed has no figures.
    let fits = offset.is_empty() || offset.trim().starts_with("(offset ");
    (fits && !rest.contains(" failed")).then_some((what, offset, rest))
}

/// The error of "Timing buffered disk reads: read() failed: Input/output error".
fn failure(line: &str) -> Option<Errno> {
    let (_, words) = line.trim().strip_prefix("Timing ")?.split_once("read() failed: ")?;
    Errno::in_text(words).filter(|error| error.origin == ErrorSide::Medium)
}

/// A read that failed; it has no figures.
fn failed_read(error: &Errno) -> Cell {
    let params = Params { direction: Some(Direction::Read), ..Params::default() };
    let mut cell = cell(test::BUFFERED_READ, params);
    failed::end(&mut cell, "hdparm", error);
    cell
}

fn read(source: &ImportText, _: &Hints, reading: &mut Reading) -> Vec<ImportedRun> {
    let mut media: Vec<ImportedRun> = Vec::new();
    for (at, line) in source.numbered() {
        let trimmed = line.trim();
        if let Some(device) = trimmed.strip_suffix(':').filter(|device| device.starts_with("/dev/"))
        {
            if media.last().is_none_or(|found| found.target.path != device) {
                let mut found = ImportedRun::by("hdparm");
                found.on(device);
                if reading.accept(at, room_for_another(&media)).is_some() {
                    media.push(found);
                }
            }
        } else if let Some(error) = failure(line) {
            if media.is_empty() {
                media.push(ImportedRun::by("hdparm"));
            }
            if let Some(found) = media.last_mut() {
                reading.add(found, at, failed_read(&error));
            }
        } else if timing(line).is_some() {
            if media.is_empty() {
                media.push(ImportedRun::by("hdparm"));
            }
            let whole_line = |line: &str| line.contains("/sec").then(|| line.to_owned());
            let (line, lines) = source.wrapped(at, whole_line).unwrap_or((line.to_owned(), 1));
            let (what, offset, rest) = timing(&line).unwrap_or_default();
            if let (Some(cell), Some(found)) =
                (reading.accept(at, timed(at, what, offset, rest)), media.last_mut())
            {
                reading.take_many(at, lines);
                reading.add(found, at, cell);
            }
        }
    }
    media
}

/// Bytes of "(offset 1 GB)": hdparm's GB are 2^30 bytes; no offset is the beginning.
fn offset_bytes(text: &str) -> Option<u64> {
    if text.trim().is_empty() {
        return Some(0);
    }
    size(&between(text, "(offset ", ")")?.replace(' ', ""))
}

fn timed(at: usize, what: &str, offset: &str, rest: &str) -> Result<Cell, ImportTrouble> {
    let (form, path) = match what.trim() {
        "buffered disk" => ("device", Path::Buffered),
        "O_DIRECT disk" => ("direct", Path::Direct),
        "cached" | "buffer-cache" | "O_DIRECT cached" => ("cache", Path::Buffered),
        other => {
            return Err(ImportTrouble::at(
                at,
                format_args!("'{other}' is nothing that hdparm times"),
            ));
        }
    };
    let megabytes = wanted(
        at,
        "the megabytes",
        rest.split_whitespace().next().and_then(whole).map(|n| n as f64),
    )?;
    let seconds = wanted(at, "the seconds", between(rest, " in ", " seconds").and_then(decimal))?;
    let printed = rest.split_once('=').map(|(_, rate)| rate.trim()).unwrap_or_default();
    let bps = printed.split_once(' ').and_then(|(value, unit)| binary_rate(decimal(value)?, unit));
    let params = Params {
        direction: Some(Direction::Read),
        pattern: Some(Pattern::Sequential),
        block_bytes: Some(READ_BYTES),
        span_offset_bytes: offset_bytes(offset),
        path,
        form: Some(form.to_owned()),
        ..Params::default()
    };
    let mut cell = cell(test::BUFFERED_READ, params);
    cell.bytes = (megabytes * MIB as f64) as u64;
    cell.ops = cell.bytes / READ_BYTES;
    cell.elapsed_ns = whole_ns(seconds * 1e9);
    cell.metrics.bps = Some(estimate(wanted(at, "the rate", bps)?, 1));
    if form == "cache" {
        // That is memory, never the medium.
        cell.flags.push(Flag::Cached);
    } else {
        note(
            &mut cell,
            "one run: the first after other work may be several times too fast (the page cache)",
        );
    }
    Ok(cell)
}
