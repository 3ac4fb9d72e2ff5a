//! Errors that ended the work of a tool, from the tool's own messages.
//!
//! An error of the medium ends the result it belongs to, which keeps its figures; if the text has
//! no result of the failed work, one without figures is added. An error of the host is a note.

use std::sync::LazyLock;

use regex::RegexSet;

use super::errno::{Errno, ErrorSide};
use super::prelude::*;

/// Ends a result with an error of the tool that measured it.
pub(super) fn end(cell: &mut Cell, tool: &str, error: &Errno) {
    match error.origin {
        ErrorSide::Medium => {
            let number = error.number;
            cell.stop = Stop::Error;
            cell.reason = Some(format!("{tool} ended with error {number}: {error}"));
            cell.error = Some(error.of_cell());
        }
        ErrorSide::Host | ErrorSide::Unknown => {
            cell.note(format!("{tool} ended early: {error}"));
        }
    }
}

/// A line with an error.
struct ErrorLine<'a> {
    at: usize,
    line: &'a str,
    tool: &'static str,
    /// Test and direction of ours.
    test: &'static str,
    direction: Option<Direction>,
    /// True if it belongs to the next result of the tool.
    is_of_next: bool,
}

const DD_MESSAGE: &str = r"^(?:\S*/)?dd: ";
const READ: Option<Direction> = Some(Direction::Read);
const WRITE: Option<Direction> = Some(Direction::Write);
/// Lines with an error: tool, pattern, and the rest of [`ErrorLine`]. Messages that could come from
/// any program count only if the text names the tool.
static LINES: [(&str, &str, &str, Option<Direction>, bool); 15] = [
    ("dd", DD_MESSAGE, "dd", None, true),
    ("fio", r"^(?:\S*/)?fio: ", "fio", None, true),
    ("ioping", r"^(?:\S*/)?ioping: ", "ioping", None, false),
    ("f3", r"^Creating file |for fdatasync\(\)$", "f3:write", WRITE, true),
    ("f3", r"^Validating file ", test::VERIFY, READ, true),
    ("f3", r"^(?:\S*/)?f3write: ", "f3:write", WRITE, false),
    ("f3", r"^(?:\S*/)?f3read: ", test::VERIFY, READ, false),
    ("f3", r"\bf3probe: ", test::CAPACITY, None, true),
    ("sysbench", r"^FATAL: ", "sysbench", None, false),
    ("bonnie++", r"^Bonnie: drastic I/O error", "bonnie++", None, false),
    ("hdparm", r"^Timing .*read\(\) failed: ", test::BUFFERED_READ, READ, false),
    ("iozone", r"^read: ", "iozone", READ, false),
    ("iozone", r"^(?:write|fsync): ", "iozone", WRITE, false),
    ("flashbench", r"^time_read: ", "flashbench", READ, false),
    ("flashbench", r"^time_write: ", "flashbench", WRITE, false),
];

static PATTERNS: LazyLock<RegexSet> = LazyLock::new(|| {
    RegexSet::new(LINES.iter().map(|(_, pattern, ..)| pattern)).expect("patterns of ours")
});

/// Most letters of a message that are kept, and most messages of one run.
const LONGEST_MESSAGE: usize = 200;
const MAX_MESSAGES: usize = 20;
/// Longest line with an error.
const LONGEST: usize = 1000;
/// Most lines between an error of dd and the figures that it ended.
const MAX_LINES_BETWEEN: usize = 40;

/// Adds the errors in a text to the results of the text. An error is printed before the result that
/// it ended, or after it if only the host failed.
pub(super) fn add(found: &mut Vec<ImportedRun>, source: &ImportText, reading: &mut Reading) {
    for (at, line) in source.numbered().filter(|(_, line)| line.len() < LONGEST) {
        // Some importers read their errors themselves.
        let it = if reading.is_taken(at) { None } else { error_line(at, line, source) };
        let Some(it) = it else { continue };
        let next = next_result(found, &it, source, reading);
        let Some(error) = error_of(line) else {
            if keep_message(found, &it, next) {
                reading.take(at);
            }
            continue;
        };
        reading.take(at);
        // Each job of fio reports its own error at its end.
        if it.tool == "fio" && is_reported(found, &error) {
            continue;
        }
        if next.is_none() && error.origin == ErrorSide::Medium {
            let mut without_figures = cell(it.test, it.direction, None, None);
            end(&mut without_figures, it.tool, &error);
            let run = run_of(found, &it);
            reading.add(&mut found[run], at, without_figures);
            continue;
        }
        let before = || results(found, it.tool).filter(|(there, ..)| *there <= at).max();
        let Some((_, run, result)) = next.or_else(before) else { continue };
        let cell = &mut found[run].cells[result].1;
        // The first error counts.
        if next.is_none() || cell.stop != Stop::Error {
            end(cell, it.tool, &error);
        }
    }
}

/// True if a job of fio reports this error.
fn is_reported(found: &[ImportedRun], error: &Errno) -> bool {
    let words = error.to_string();
    let mut cells = found.iter().filter(|run| run.tool == "fio").flat_map(|run| &run.cells);
    cells.any(|(_, cell)| {
        let notes = cell.flags.iter().map(ToString::to_string);
        notes.chain(cell.reason.clone()).any(|text| text.ends_with(&words))
    })
}

/// Keeps a message without an error: of dd as a note of its result, of fio, which warns of the
/// measurement, as one of its run; true if it did.
fn keep_message(found: &mut [ImportedRun], it: &ErrorLine, next: Option<Place>) -> bool {
    let (_, message) = it.line.split_once(": ").unwrap_or_default();
    let text = format!("{} said: {}", it.tool, short(message, LONGEST_MESSAGE));
    match (it.tool, next) {
        ("dd", Some((_, run, result))) => {
            (&mut found[run].cells[result].1).note(text);
        }
        ("fio", next) => {
            let last = || found.iter().position(|run| run.tool == "fio");
            let Some(run) = next.map(|(_, run, _)| run).or_else(last) else { return false };
            if found[run].notes.len() < MAX_MESSAGES {
                found[run].note(text);
            }
        }
        _ => return false,
    }
    true
}

/// Error of "errno = 5 (..)", "errno=5 for ..", "err=5/file:.." by its number, else by the words of
/// strerror.
fn error_of(line: &str) -> Option<Errno> {
    let number = re!(r"errno = (\d+) |errno=(\d+) |err=(\d+)/").captures(line);
    let number =
        number.and_then(|found| found.iter().skip(1).flatten().next()?.as_str().parse().ok());
    number.map(Errno::of_number).or_else(|| Errno::in_text(line))
}

fn error_line<'a>(at: usize, line: &'a str, source: &ImportText) -> Option<ErrorLine<'a>> {
    let (tool, _, test, direction, is_of_next) =
        LINES[PATTERNS.matches(line.trim()).into_iter().next()?];
    let is_of_tool = match tool {
        "iozone" => source.text.contains("ozone"),
        "sysbench" => source.text.contains("sysbench"),
        _ => true,
    };
    is_of_tool.then_some(ErrorLine { at, line, tool, test, direction, is_of_next })
}

/// Line of a result, and the indices of its run and its cell.
type Place = (usize, usize, usize);

/// Results of a tool.
fn results<'a>(found: &'a [ImportedRun], tool: &'a str) -> impl Iterator<Item = Place> + 'a {
    let runs = found.iter().enumerate().filter(move |(_, run)| run.tool == tool);
    runs.flat_map(|(run, one)| {
        one.cells.iter().enumerate().map(move |(result, (there, _))| (*there, run, result))
    })
}

/// Result that an error ended, and that is printed after it.
fn next_result(
    found: &[ImportedRun],
    it: &ErrorLine,
    source: &ImportText,
    reading: &Reading,
) -> Option<Place> {
    let fits =
        |run: usize, result: usize| it.tool != "f3" || found[run].cells[result].1.test == it.test;
    let next = results(found, it.tool).filter(|_| it.is_of_next);
    let next = next.filter(|(there, run, result)| *there >= it.at && fits(*run, *result)).min();
    // Between an error of dd and its figures there are only lines of dd.
    let is_of_dd = |at: usize| {
        let line = source.line(at).trim();
        let is_its = reading.is_taken(at) && !line.contains("f=") || re!(DD_MESSAGE).is_match(line);
        is_its || line.is_empty()
    };
    let is_near = |there: usize| {
        it.tool != "dd" || there - it.at < MAX_LINES_BETWEEN && (it.at..there).all(is_of_dd)
    };
    next.filter(|(there, ..)| is_near(*there))
}

/// Index of the tool's run that is nearest before a line, else of a new one. Only runs on the device
/// that the line names count.
fn run_of(found: &mut Vec<ImportedRun>, it: &ErrorLine) -> usize {
    let named = re!("/dev/[A-Za-z0-9/_-]*").find(it.line).map(|device| device.as_str());
    let is_its = |run: &ImportedRun| {
        run.tool == it.tool && named.is_none_or(|device| run.target.path == device)
    };
    let before = |run: &ImportedRun| {
        let places = run.cells.iter().map(|(there, _)| *there);
        places.filter(|there| *there <= it.at).chain([run.begin]).max()
    };
    let runs = found.iter().enumerate().filter(|(_, run)| is_its(run));
    if let Some((run, _)) = runs.max_by_key(|(_, run)| before(run)) {
        return run;
    }
    let mut one = ImportedRun::by(it.tool);
    named.iter().for_each(|device| one.on(device));
    found.push(one);
    found.len() - 1
}
