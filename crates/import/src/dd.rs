//! dd: single runs and transcripts of several, and the list "Block: / Write: / Read:" that people
//! make from a sweep over block sizes.

mod summary;
mod sweep;

use record::{Cell, Content, Direction, Params, Path, Pattern, Region, Sync};

use self::summary::{DdSummary, begins_summary, records, summary};
use super::errno::{Errno, ErrorSide};
use super::failed;
use super::imported_run::{
    ImportTrouble, ImportedRun, cell, io, label, moved, note, our_test, rate, room_for_another,
    whole_ns,
};
use super::reading::Reading;
use super::text::{ImportText, group, number, prefix, re, short, size, whole};
use super::{Hints, Importer, Sign};

pub(super) use self::sweep::IMPORTER as SWEEP;

pub(super) const RUNS: Importer = Importer {
    name: "dd output",
    signs: &[
        Sign {
            what: "'.. records out'",
            is_there: |source| source.has(|line| records(line).is_some()) || has_summary(source),
        },
        Sign { what: "a line '.. bytes .. copied, .. s, ..'", is_there: has_summary },
    ],
    read: read_transcript,
    apart: "",
};

fn has_summary(source: &ImportText) -> bool {
    source.numbered().any(|(at, line)| summary_at(source, at, line).is_some())
}

/// The summary that begins in a line, and its number of lines. One that was wrapped must agree with
/// itself, and none of its lines may be a summary alone.
fn summary_at(source: &ImportText, at: usize, line: &str) -> Option<(DdSummary, usize)> {
    if let Some(found) = summary(line) {
        return Some((found, 1));
    }
    if !begins_summary(line) || summary(source.line(at + 1)).is_some() {
        return None;
    }
    let (found, lines) = source.wrapped(at, |line| summary(line).filter(DdSummary::agrees))?;
    (lines < 3 || summary(source.line(at + 2)).is_none()).then_some((found, lines))
}

/// Operands of a command line: `if=`, `of=`, `bs=`, flags and conversions.
#[derive(Clone, Debug, Default)]
struct Command {
    words: Vec<String>,
    input: String,
    output: String,
    block_bytes: Option<u64>,
    flags: Vec<String>,
}

/// Parses a line with or without a prompt as a command; `sudo` and paths before dd do not matter.
fn command(line: &str) -> Option<Command> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let dd = words.iter().position(|word| *word == "dd" || word.ends_with("/dd"))?;
    let own = &words[dd..];
    let after = |names: &'static [&str]| {
        let operands = own.iter().filter_map(|word| word.split_once('='));
        operands.filter(|(name, _)| names.contains(name)).map(|(_, value)| value)
    };
    let path = |names| after(names).next_back().map_or_else(String::new, |path| short(path, 200));
    let lists = after(&["iflag", "oflag", "conv"]);
    let command = Command {
        words: own.iter().take(30).map(|word| short(word, 200)).collect(),
        input: path(&["if"]),
        output: path(&["of"]),
        block_bytes: after(&["bs", "ibs", "obs"]).next_back().and_then(dd_size),
        flags: lists.flat_map(|list| list.split(',')).map(str::to_owned).collect(),
    };
    (!command.input.is_empty() || !command.output.is_empty()).then_some(command)
}

/// Bytes of a size with dd's own suffixes: K and KiB are 1024, kB is 1000.
fn dd_size(text: &str) -> Option<u64> {
    let Some(found) = re!("^(.*)([kKMG])B$").captures(text) else { return size(text) };
    let value = number(group(&found, 1))? * prefix(group(&found, 2), 1000.0)?;
    Some(value as u64)
}

impl Command {
    fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|known| known == flag)
    }

    fn direction(&self) -> Option<Direction> {
        const NOWHERE: [&str; 2] = ["/dev/null", "/dev/zero"];
        const MADE_UP: [&str; 3] = ["/dev/zero", "/dev/urandom", "/dev/random"];
        match (MADE_UP.contains(&self.input.as_str()), NOWHERE.contains(&self.output.as_str())) {
            (true, false) => Some(Direction::Write),
            (false, true) => Some(Direction::Read),
            _ => None,
        }
    }

    /// Path of the medium or file that was measured.
    fn place(&self) -> &str {
        if self.direction() == Some(Direction::Read) { &self.input } else { &self.output }
    }
}

/// Error in a message of dd, in any known language.
fn error(line: &str) -> Option<Errno> {
    failed::is_of_program(line, "dd").then(|| Errno::in_text(line)).flatten()
}

/// Any other message of dd, such as one in an unknown language.
fn message(line: &str) -> Option<&str> {
    let rest = || line.split_once(": ").map(|(_, rest)| rest);
    failed::is_of_program(line, "dd").then(rest).flatten()
}

/// A summary that may be a progress report: the lines after it decide.
struct Pending {
    at: usize,
    summary: DdSummary,
}

#[derive(Default)]
struct Transcript {
    media: Vec<(String, ImportedRun)>,
    asked: Option<Command>,
    records: Option<String>,
    pending: Vec<Pending>,
    /// Error since the last figures; `error_lines` has its lines.
    error: Option<Errno>,
    error_lines: Vec<usize>,
    /// Other messages since the last figures.
    messages: Vec<String>,
    /// Figures at an error after which dd continues (`conv=noerror`): they count until the next
    /// ones.
    interim: Option<FigureAtError>,
}

/// Medium and command of a figure at an error.
struct FigureAtError {
    medium: usize,
    asked: Command,
    bytes: u64,
    error: Errno,
}

/// Reads every run of dd in a transcript.
fn read_transcript(source: &ImportText, _: &Hints, reading: &mut Reading) -> Vec<ImportedRun> {
    let mut state = Transcript::default();
    let mut next = source.begin();
    for (at, line) in source.numbered() {
        if at < next {
            continue;
        }
        let line = line.trim();
        if let Some(found) = command(line) {
            state.flush(reading);
            state.begin(found);
        } else if let Some(error) = error(line) {
            state.failed(error, at);
        } else if let Some(text) = message(line) {
            state.messages.push(short(text, 100));
        } else if let Some(counts) = records(line) {
            state.records = Some(counts.to_owned());
            reading.take(at);
        } else if let Some((found, lines)) = summary_at(source, at, line) {
            next = at + lines;
            reading.take_many(at, lines);
            state.push(Pending { at, summary: found }, reading);
        } else if !line.is_empty() {
            state.forget_errors();
        }
    }
    state.flush(reading);
    state.media.into_iter().map(|(_, found)| found).collect()
}

impl Transcript {
    /// Adds a summary. With `status=progress` dd prints intermediate ones; the one after its
    /// records counts.
    fn push(&mut self, one: Pending, reading: &mut Reading) {
        if self.records.is_none() {
            return self.pending.push(one);
        }
        let rises = |pair: &[Pending]| pair[0].summary.bytes < pair[1].summary.bytes;
        let is_progress = self.pending.windows(2).all(rises)
            && self.pending.last().is_some_and(|last| {
                last.summary.bytes <= one.summary.bytes
                    && last.summary.seconds <= one.summary.seconds
            });
        if is_progress {
            self.pending.clear();
        }
        self.flush(reading);
        let records = self.records.take();
        let asked = self.asked.take().or_else(|| self.go_on(&one));
        self.add(one, asked.as_ref(), records.as_deref(), reading);
    }

    /// Keeps an error; one of the medium is not replaced by those that follow from it.
    fn failed(&mut self, error: Errno, at: usize) {
        if self.error.as_ref().is_none_or(|known| known.origin != ErrorSide::Medium) {
            self.error = Some(error);
        }
        self.error_lines.push(at);
    }

    /// Drops errors and messages: they do not belong to the figures that follow.
    fn forget_errors(&mut self) {
        self.error = None;
        self.error_lines.clear();
        self.messages.clear();
    }

    fn begin(&mut self, command: Command) {
        (self.asked, self.records) = (Some(command), None);
        self.forget_errors();
        self.interim = None;
    }

    /// Command that continued after an error to these figures; drops the figures at the error.
    fn go_on(&mut self, one: &Pending) -> Option<Command> {
        let interim = self.interim.take().filter(|interim| interim.bytes <= one.summary.bytes)?;
        let run = &mut self.media[interim.medium].1;
        let last = run.cells.len().saturating_sub(1);
        let error = interim.error;
        run.retain(|result| result < last);
        self.error = self.error.take().or(Some(error));
        Some(interim.asked)
    }

    /// Takes summaries without records after them as results.
    fn flush(&mut self, reading: &mut Reading) {
        for one in std::mem::take(&mut self.pending) {
            let asked = self.asked.take();
            self.add(one, asked.as_ref(), None, reading);
        }
    }

    fn add(
        &mut self,
        one: Pending,
        asked: Option<&Command>,
        records: Option<&str>,
        reading: &mut Reading,
    ) {
        let Some(mut cell) = reading.accept(one.at, of_run(one.at, asked, records, &one.summary))
        else {
            return;
        };
        let error = self.error.take();
        if let Some(error) = &error {
            failed::end(&mut cell, "dd", error);
            self.error_lines.drain(..).for_each(|at| reading.take(at));
        }
        for text in self.messages.drain(..).take(3) {
            note(&mut cell, format!("dd said: {text}"));
        }
        let place = asked.map(|command| command.place().to_owned()).unwrap_or_default();
        let known = self.media.iter().position(|(known, _)| *known == place);
        let at = match known {
            Some(at) => at,
            None if reading.accept(one.at, room_for_another(&self.media)).is_none() => return,
            None => {
                let mut found = ImportedRun::by("dd");
                found.on(&place);
                found.command = asked.map(|command| command.words.clone()).unwrap_or_default();
                self.media.push((place, found));
                self.media.len() - 1
            }
        };
        reading.add(&mut self.media[at].1, one.at, cell);
        let goes_on = asked.filter(|asked| asked.has("noerror")).zip(error);
        self.interim = goes_on.map(|(asked, error)| FigureAtError {
            medium: at,
            asked: asked.clone(),
            bytes: one.summary.bytes,
            error,
        });
    }
}

fn of_run(
    at: usize,
    asked: Option<&Command>,
    records: Option<&str>,
    summary: &DdSummary,
) -> Result<Cell, ImportTrouble> {
    let DdSummary { bytes, seconds, bps: printed } = *summary;
    let (whole_records, partial) = records
        .and_then(|text| text.split_once('+'))
        .and_then(|(a, b)| Some((whole(a)?, whole(b)?)))
        .unwrap_or((0, 0));
    let ops = whole_records.saturating_add(partial);
    let block = (partial == 0 && whole_records > 0 && bytes % whole_records == 0)
        .then(|| bytes / whole_records);
    let mut cell = of_command(asked, block.or_else(|| asked.and_then(|asked| asked.block_bytes)));
    moved(&mut cell, bytes, ops);
    cell.elapsed_ns = whole_ns(seconds * 1e9);
    // dd prints two or three digits of the rate; bytes and time have more.
    let exact = (seconds > 0.0)
        .then(|| bytes as f64 / seconds)
        .filter(|exact| printed.is_none_or(|printed| (exact / printed - 1.0).abs() < 0.06));
    let bps = exact
        .or(printed)
        .ok_or_else(|| ImportTrouble::at(at, "the rate is missing or is no number"))?;
    if exact.is_none() {
        note(
            &mut cell,
            "bytes and time do not give the rate that dd printed; the printed one is shown",
        );
    }
    if bytes > 0 {
        rate(&mut cell, bps, ops.max(1));
    }
    Ok(cell)
}

fn of_command(asked: Option<&Command>, block_bytes: Option<u64>) -> Cell {
    let Some(asked) = asked else {
        let path = Path::Buffered;
        let mut cell = cell("dd", Params { path, ..io(None, Pattern::Sequential, block_bytes) });
        note(
            &mut cell,
            "the command is not in the text: whether this was reading or writing, and past the page cache, is not known",
        );
        return cell;
    };
    let direction = asked.direction();
    let writes = direction == Some(Direction::Write);
    let path = if asked.has("direct") { Path::Direct } else { Path::Buffered };
    let flush = ["fsync", "fdatasync"].into_iter().find(|flag| asked.has(flag));
    let is_synchronous = ["sync", "dsync"].iter().any(|flag| asked.has(flag));
    let test = match direction {
        Some(way) if path == Path::Direct && (!writes || flush.is_none() && !is_synchronous) => {
            our_test(Pattern::Sequential, way)
        }
        Some(Direction::Write) => "dd:write",
        Some(Direction::Read) => "dd:read",
        None => "dd:copy",
    };
    let is_zeros = asked.input == "/dev/zero";
    let params = Params {
        region: (!asked.place().starts_with("/dev/")).then_some(Region::File),
        sync: match (asked.has("sync"), asked.has("dsync")) {
            (true, _) if writes => Sync::File,
            (_, true) if writes => Sync::Data,
            _ => Sync::None,
        },
        path,
        content: writes.then_some(if is_zeros { Content::Zeros } else { Content::Incompressible }),
        ..io(direction, Pattern::Sequential, block_bytes)
    };
    let mut cell = cell(test, params);
    if let Some(flush) = flush {
        label(&mut cell, "flush", flush);
        note(&mut cell, format!("through the page cache, with the time of an {flush} at the end"));
    } else if path == Path::Buffered {
        note(&mut cell, "through the page cache: part of this may be the speed of memory");
    }
    if asked.input.ends_with("random") {
        note(&mut cell, format!("{} may be slower than the medium", asked.input));
    }
    cell
}
