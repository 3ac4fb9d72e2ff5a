//! Errors that ended the work of a tool, from the tool's own messages.
//!
//! An error of the medium ends the result it belongs to, which keeps its figures; if the text has
//! no result of the failed work, one without figures is added. An error of the host is a note.

use std::sync::LazyLock;

use record::{Cell, Direction, Params, Stop};
use regex::RegexSet;

use super::errno::{Errno, ErrorSide};
use super::imported_run::{ImportedRun, cell, note};
use super::reading::Reading;
use super::text::{ImportText, re, short};

/// Ends a result with an error of the tool that measured it.
pub(super) fn end(cell: &mut Cell, tool: &str, error: &Errno) {
    match error.origin {
        ErrorSide::Medium => {
            let number = error.number;
            cell.stop = Stop::Error;
            cell.reason = Some(format!("{tool} ended with error {number}: {error}"));
            cell.error = Some(error.of_cell());
        }
        ErrorSide::Host | ErrorSide::Unknown => note(cell, format!("{tool} ended early: {error}")),
    }
}

/// Meaning of a line with an error: its tool, its test, its direction, and true if it belongs to
/// the next result of the tool.
struct ErrorLine {
    tool: &'static str,
    is_of_next: bool,
    test: &'static str,
    direction: Option<Direction>,
}

/// Messages with an error: tool, beginning of the line, the test of ours, and its direction.
/// Messages that could come from any program count only if the text names the tool.
const LINES: [(&str, &str, &str, Option<Direction>); 15] = [
    ("dd", r"^(?:\S*/)?dd: ", "dd", None),
    ("fio", r"^(?:\S*/)?fio: ", "fio", None),
    ("ioping", r"^(?:\S*/)?ioping: ", "ioping", None),
    ("f3", r"^Creating file |for fdatasync\(\)$", "f3:write", Some(Direction::Write)),
    ("f3", r"^Validating file ", "verify", Some(Direction::Read)),
    ("f3", r"^(?:\S*/)?f3write: ", "f3:write", Some(Direction::Write)),
    ("f3", r"^(?:\S*/)?f3read: ", "verify", Some(Direction::Read)),
    ("f3", r"\bf3probe: ", "capacity", None),
    ("sysbench", r"^FATAL: ", "sysbench", None),
    ("bonnie++", r"^Bonnie: drastic I/O error", "bonnie++", None),
    ("hdparm", r"^Timing .*read\(\) failed: ", "buffered-read", Some(Direction::Read)),
    ("iozone", r"^read: ", "iozone", Some(Direction::Read)),
    ("iozone", r"^(?:write|fsync): ", "iozone", Some(Direction::Write)),
    ("flashbench", r"^time_read: ", "flashbench", Some(Direction::Read)),
    ("flashbench", r"^time_write: ", "flashbench", Some(Direction::Write)),
];

static PATTERNS: LazyLock<RegexSet> = LazyLock::new(|| {
    RegexSet::new(LINES.map(|(_, pattern, ..)| pattern)).expect("patterns of ours")
});

/// Most letters of a warning that are kept, and most warnings of one run.
const WARNING: usize = 200;
const MAX_WARNINGS: usize = 20;
/// Longest message.
const LONGEST: usize = 1000;

/// Adds the errors in a text to the results of the text.
pub(super) fn add(found: &mut Vec<ImportedRun>, source: &ImportText, reading: &mut Reading) {
    for (at, line) in source.numbered().filter(|(_, line)| line.len() < LONGEST) {
        // Some importers read their errors themselves.
        if reading.is_taken(at) {
            continue;
        }
        let Some(place) = place(line.trim(), source) else { continue };
        let Some(error) = error_of(line) else {
            keep_warning(found, &place, at, line.trim(), reading);
            continue;
        };
        // Each job of fio reports its own error at its end.
        if place.tool == "fio" && is_reported(found, &error) {
            reading.take(at);
            continue;
        }
        let found_at = result_of(found, &place, at);
        match found_at {
            Some((run, result)) => end(&mut found[run].cells[result], place.tool, &error),
            None if error.origin == ErrorSide::Medium => {
                let one = run_of(found, &place, at, line);
                reading.add(&mut found[one], at, without_figures(&place, &error));
            }
            None => {
                if let Some(cell) = result_before(found, place.tool, at) {
                    end(cell, place.tool, &error);
                }
            }
        }
        reading.take(at);
    }
}

/// True if a job of fio reports this error.
fn is_reported(found: &[ImportedRun], error: &Errno) -> bool {
    let mut as_reported = cell("fio", Params::default());
    end(&mut as_reported, "fio", error);
    let cells = found.iter().filter(|run| run.tool == "fio").flat_map(|run| &run.cells);
    cells.into_iter().any(|cell| match as_reported.stop {
        Stop::Error => cell.stop == Stop::Error && cell.reason == as_reported.reason,
        _ => as_reported.flags.iter().all(|flag| cell.flags.contains(flag)),
    })
}

/// Keeps a message of fio without an error as a note of its run: a warning about the measurement.
fn keep_warning(
    found: &mut [ImportedRun],
    place: &ErrorLine,
    at: usize,
    line: &str,
    reading: &mut Reading,
) {
    if place.tool != "fio" {
        return;
    }
    let runs = found.iter_mut().filter(|run| run.tool == "fio");
    let of = |run: &ImportedRun| run.places.iter().copied().find(|there| *there >= at);
    let next = runs.min_by_key(|run| of(run).unwrap_or(usize::MAX));
    let Some(run) = next else { return };
    let message = line.split_once(": ").map_or(line, |(_, message)| message);
    let text = format!("fio said: {}", short(message, WARNING));
    if !run.notes.contains(&text) && run.notes.len() < MAX_WARNINGS {
        run.notes.push(text);
    }
    reading.take(at);
}

/// Nearest result of the tool before a line.
fn result_before<'a>(found: &'a mut [ImportedRun], tool: &str, at: usize) -> Option<&'a mut Cell> {
    let runs = found.iter_mut().filter(|run| run.tool == tool);
    let results = runs.flat_map(|run| run.places.iter().zip(&mut run.cells));
    let before = results.filter(|(there, _)| **there <= at);
    before.max_by_key(|(there, _)| **there).map(|(_, cell)| cell)
}

/// Error of "errno = 5 (..)", "errno=5 for ..", "err=5/file:.." by its number, else by the words of
/// strerror.
fn error_of(line: &str) -> Option<Errno> {
    let number = re!(r"errno = (\d+) |errno=(\d+) |err=(\d+)/").captures(line);
    let number =
        number.and_then(|found| found.iter().skip(1).flatten().next()?.as_str().parse().ok());
    number.map(Errno::of_number).or_else(|| Errno::in_text(line))
}

fn place(line: &str, source: &ImportText) -> Option<ErrorLine> {
    let at = PATTERNS.matches(line).into_iter().next()?;
    let (tool, pattern, test, direction) = LINES[at];
    let is_of_tool = match tool {
        "iozone" => source.contains("ozone"),
        "sysbench" => source.contains("sysbench"),
        _ => true,
    };
    let is_of_next =
        tool == "fio" || tool == "f3" && (!pattern.contains("f3") || test == "capacity");
    is_of_tool.then_some(ErrorLine { tool, is_of_next, test, direction })
}

/// True if a line is a message of this program: "dd: ..", "/bin/dd: ..".
pub(super) fn is_of_program(line: &str, program: &str) -> bool {
    line.split_once(": ").is_some_and(|(name, _)| name.rsplit('/').next() == Some(program))
}

/// Run and cell to which an error belongs, as indices.
fn result_of(found: &[ImportedRun], place: &ErrorLine, at: usize) -> Option<(usize, usize)> {
    let results = found.iter().enumerate().filter(|(_, run)| run.tool == place.tool);
    let results = results.flat_map(|(run, one)| {
        one.places.iter().enumerate().map(move |(result, place)| (*place, run, result))
    });
    let is_f3 = place.tool == "f3";
    let fits = |run: usize, result: usize| {
        let cell = &found[run].cells[result];
        !is_f3 || cell.test == place.test
    };
    let mut next = results.filter(|(there, run, result)| *there >= at && fits(*run, *result));
    let next = if place.is_of_next { next.by_ref().min() } else { None };
    next.map(|(_, run, result)| (run, result))
}

/// Index of the tool's run that is nearest before a line, else of any of its runs, else of a new
/// one. Only runs on the device that the line names count.
fn run_of(found: &mut Vec<ImportedRun>, place: &ErrorLine, at: usize, line: &str) -> usize {
    let of_tool = |run: &(usize, &ImportedRun)| run.1.tool == place.tool;
    let named = device(line);
    let is_its = |run: &ImportedRun| named.is_none_or(|device| run.target.path == device);
    let runs = || found.iter().enumerate();
    let nearest = runs()
        .filter(|run| of_tool(run) && is_its(run.1))
        .filter(|(_, run)| run.places.iter().any(|there| *there <= at))
        .max_by_key(|(_, run)| run.places.iter().filter(|there| **there <= at).max().copied());
    if let Some((run, _)) = nearest.or_else(|| runs().find(|run| of_tool(run) && is_its(run.1))) {
        return run;
    }
    let mut one = ImportedRun::by(place.tool);
    if let Some(device) = named {
        one.on(device);
    }
    found.push(one);
    found.len() - 1
}

/// Device in a message: "/dev/sdx".
fn device(line: &str) -> Option<&str> {
    re!("/dev/[A-Za-z0-9/_-]*").find(line).map(|device| device.as_str())
}

fn without_figures(place: &ErrorLine, error: &Errno) -> Cell {
    let params = Params { direction: place.direction, ..Params::default() };
    let mut cell = cell(place.test, params);
    end(&mut cell, place.tool, error);
    cell
}
