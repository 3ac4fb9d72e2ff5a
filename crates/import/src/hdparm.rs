//! hdparm -t, -T and -t --direct. Its MB are 2^20 bytes, its kB 2^10.

use record::units::MIB;
use record::{Cell, Direction, Flag, Params, Path, Pattern, test};
use regex::Captures;

use super::errno::{Errno, ErrorSide};
use super::failed;
use super::imported_run::{ImportTrouble, ImportedRun, cell, estimate, io, note, whole_ns};
use super::media_list::MediaList;
use super::text::{binary_rate, decimal, group, number, re, size, wanted, whole, with_unit};
use super::{Importer, sign};

pub(super) const IMPORTER: Importer = Importer {
    name: "hdparm output",
    signs: &[
        sign!(
            "a line 'Timing .. reads: ..'",
            r"(?m)^\s*Timing (?:.* reads.*:|.*read\(\) failed: )"
        ),
        sign!(
            "'.. MB in .. seconds = .. MB/sec'",
            r"(?m)^\s*Timing .*(?: seconds|read\(\) failed: )"
        ),
    ],
    read: |source, _, reading| {
        let mut media = MediaList::default();
        for (at, line) in source.numbered() {
            let device = line.trim().strip_suffix(':').filter(|name| name.starts_with("/dev/"));
            if let Some(device) = device {
                if media.0.last().is_none_or(|found| found.target.path != device) {
                    let mut found = ImportedRun::by("hdparm");
                    found.on(device);
                    media.push(at, found, reading);
                }
                continue;
            }
            let error = failure(line);
            if error.is_none() && !re!(TIMING).is_match(line) {
                continue;
            }
            if media.0.is_empty() {
                media.push(at, ImportedRun::by("hdparm"), reading);
            }
            let Some(found) = media.0.last_mut() else { continue };
            if let Some(error) = error {
                reading.add(found, at, failed_read(&error));
                continue;
            }
            let whole_line = |line: &str| line.contains("/sec").then(|| line.to_owned());
            let (line, lines) = source.wrapped(at, whole_line).unwrap_or((line.to_owned(), 1));
            let timing = re!(TIMING).captures(&line);
            if let Some(cell) = timing.and_then(|timing| reading.accept(at, timed(at, &timing))) {
                reading.take_many(at, lines);
                reading.add(found, at, cell);
            }
        }
        media.0
    },
    is_ignored_line: |_| false,
};

/// "According to hdparm, the sequential read rate is 9.2megbytes per second": the rate of a sentence.
const SENTENCE: &str = r"(?i)\bhdparm\b[^.]*? (?:is|was|of|gives|gave|says|said|shows|showed|reports|reported|got) (?:about |only )?(\d[\d.]*) ?(?:meg ?a?bytes?|MBytes?|MB)(?: per sec(?:ond)?| ?/ ?s(?:ec)?)\b";

pub(super) const IN_WORDS: Importer = Importer {
    name: "a rate of hdparm in a sentence",
    signs: &[sign!("'hdparm .. 9.2 MB per second'", SENTENCE)],
    read: |source, _, reading| {
        let mut found = ImportedRun::by("hdparm");
        for (at, words) in source.captures(re!(SENTENCE)) {
            let Some(rate) = number(group(&words, 1)) else { continue };
            let params = Params {
                path: Path::Buffered,
                form: Some("device".to_owned()),
                ..io(Direction::Read, Pattern::Sequential, READ_BYTES)
            };
            let mut cell = cell(test::BUFFERED_READ, params);
            cell.metrics.bps = Some(estimate(rate * MIB as f64, 1));
            note(
                &mut cell,
                "a rate in a sentence: taken for that of hdparm -t, which calls 2^20 bytes a megabyte",
            );
            reading.add(&mut found, at, cell);
        }
        vec![found]
    },
    is_ignored_line: |_| false,
};

/// Size of each read that `hdparm -t` and `-T` make.
const READ_BYTES: u64 = 2 * MIB;
/// Kind of read, offset (hdparm's GB are 2^30 bytes), megabytes, seconds, rate.
const TIMING: &str = r"^\s*Timing (.*?) reads\s*(?:\(offset (.*?)\)\s*)?:\s*(\S*)(?:.*? in (.*?) seconds)?(?:[^=]*= *(.*))?$";

/// Error of "Timing buffered disk reads: read() failed: Input/output error".
fn failure(line: &str) -> Option<Errno> {
    let words = re!(r"^\s*Timing .*?read\(\) failed: (.*)").captures(line)?;
    Errno::in_text(group(&words, 1)).filter(|error| error.origin == ErrorSide::Medium)
}

/// Cell of a read that failed; it has no figures.
fn failed_read(error: &Errno) -> Cell {
    let mut cell = cell(test::BUFFERED_READ, io(Direction::Read, None, None));
    failed::end(&mut cell, "hdparm", error);
    cell
}

fn timed(at: usize, timing: &Captures) -> Result<Cell, ImportTrouble> {
    let (form, path) = match group(timing, 1) {
        "buffered disk" => ("device", Path::Buffered),
        "O_DIRECT disk" => ("direct", Path::Direct),
        "cached" | "buffer-cache" | "O_DIRECT cached" => ("cache", Path::Buffered),
        other => {
            let what = format_args!("'{other}' is nothing that hdparm times").to_string();
            return Err(ImportTrouble::at(at, what));
        }
    };
    let megabytes = wanted(at, "the megabytes", whole(group(timing, 3)).map(|n| n as f64))?;
    let seconds = wanted(at, "the seconds", decimal(group(timing, 4)))?;
    let bps = with_unit(group(timing, 5)).and_then(|(value, unit)| binary_rate(value, unit));
    let offset = timing.get(2).map_or(Some(0), |text| size(&text.as_str().replace(' ', "")));
    let params = Params {
        span_offset_bytes: offset,
        path,
        form: Some(form.to_owned()),
        ..io(Direction::Read, Pattern::Sequential, READ_BYTES)
    };
    let mut cell = cell(test::BUFFERED_READ, params);
    cell.bytes = (megabytes * MIB as f64) as u64;
    cell.ops = cell.bytes / READ_BYTES;
    cell.elapsed_ns = whole_ns(seconds * 1e9);
    cell.metrics.bps = Some(estimate(wanted(at, "the rate", bps)?, 1));
    if form == "cache" {
        // This measures memory, never the medium.
        cell.flags.push(Flag::Cached);
    } else {
        let text =
            "one run: the first after other work may be several times too fast (the page cache)";
        note(&mut cell, text);
    }
    Ok(cell)
}
