//! f3: f3write, f3read and f3probe, of versions up to 8 and from 9 on (which print other words for
//! the same).
//!
//! Its KB, MB and GB are powers of 1024.

use record::units::saturating_sum;
use record::{Cell, Content, Direction, Params, Path, Pattern, Region, metric, test};

use super::imported_run::{ImportTrouble, ImportedRun, cell, estimate, note, other, whole_ns};
use super::reading::Reading;
use super::text::{ImportText, between, binary_rate, number, short, time_ns, wanted, whole};
use super::{Hints, Importer, Sign};
use super::{f3_files, f3_unread};

pub(super) const IMPORTER: Importer = Importer {
    name: "f3 output",
    signs: &[
        Sign {
            what: "a line 'F3 read ..', 'Validating file ..', 'Creating file ..' or 'Device geometry:'",
            is_there: |source| {
                source
                    .has(|line| BEGINNINGS.iter().any(|words| line.trim_start().starts_with(words)))
            },
        },
        Sign {
            what: "an average speed, 'Data OK: ..' or '*Usable* size: ..'",
            is_there: |source| source.has(|line| ENDS.iter().any(|words| line.contains(words))),
        },
    ],
    read,
    chatter: |_| false,
};

const BEGINNINGS: [&str; 6] =
    ["F3 read", "F3 write", "F3 probe", "Validating file ", "Creating file ", "Device geometry:"];
const ENDS: [&str; 3] = ["Average ", "Data OK:", "*Usable* size:"];
const SECTOR: u64 = 512;

/// One output after the other: each begins with the name of its program.
fn read(source: &ImportText, _: &Hints, reading: &mut Reading) -> Vec<ImportedRun> {
    let begins = |line: &str| BEGINNINGS[..3].iter().any(|words| line.trim().starts_with(words));
    source.parts(begins).iter().map(|part| read_one(part, reading)).collect()
}

fn read_one(source: &ImportText, reading: &mut Reading) -> ImportedRun {
    let mut found = ImportedRun::by("f3");
    let heads = source.lines.iter().find_map(|line| line.trim().strip_prefix("F3 "));
    if let Some(version) = heads.and_then(|rest| rest.rsplit(' ').next()) {
        found.version = short(version, 20);
    }
    let line_of = |words: &str| source.numbered().find(|(_, line)| line.contains(words));
    if let Some((at, _)) = line_of("*Usable* size:")
        && let Some(cells) = reading.accept(at, probe(source, &mut found))
    {
        reading.add_all(&mut found, at, cells);
        source
            .numbered()
            .filter(|(_, line)| is_of_probe(line))
            .for_each(|(at, _)| reading.take(at));
    }
    if let Some((at, _)) = line_of("Data OK:")
        && let Some(mut cell) = reading.accept(at, verified(source))
    {
        f3_unread::end(&mut cell, source, reading);
        reading.add(&mut found, at, cell);
    }
    let is_speed =
        |line: &str| speed(0, line.trim()).is_ok_and(|cell| cell.is_some()).then_some(());
    for (at, line) in source.numbered() {
        let lines = source.wrapped(at, is_speed).map_or(1, |(_, lines)| lines);
        if !begins_speed(line) {
            continue;
        }
        let joined: Vec<&str> = (at..at + lines).map(|at| source.line(at).trim()).collect();
        if let Some(Some(mut cell)) = reading.accept(at, speed(at, &joined.join(" "))) {
            cell.series = f3_files::curves(source, reading);
            reading.take_many(at, lines);
            reading.add(&mut found, at, cell);
        }
    }
    if found.cells.is_empty() && source.has(|line| line.trim().starts_with("F3 ")) {
        reading.refuse(source.begin(), "it ends before its result");
    }
    found
}

/// Lines of f3probe with times or rates that are no results of ours.
fn is_of_probe(line: &str) -> bool {
    let line = line.trim();
    ["Probe time:", "Operation:", "Write:", "Read:", "Reset:", "Sequential ", "Random "]
        .iter()
        .any(|words| line.starts_with(words))
        || line.contains(" blocks / ")
        || line.contains("avg of")
}

fn begins_speed(line: &str) -> bool {
    line.trim().get(..8).is_some_and(|word| word.eq_ignore_ascii_case("average "))
        && line.to_ascii_lowercase().contains("speed")
}

/// "Average reading speed: 352.86 MB/s", since version 9 "Average sequential read speed: 352.86
/// MB/s (2412544 sectors / 6.83s)".
fn speed(at: usize, line: &str) -> Result<Option<Cell>, ImportTrouble> {
    let lower = line.to_ascii_lowercase();
    let Some((words, rest)) = lower
        .strip_prefix("average ")
        .and_then(|rest| rest.split_once(" speed:"))
        .and_then(|(words, rest)| Some((words, line.get(line.len() - rest.len()..)?)))
    else {
        return Ok(None);
    };
    let direction = match words {
        "reading" | "sequential read" => Direction::Read,
        "writing" | "sequential write" => Direction::Write,
        _ => return Ok(None),
    };
    if rest.trim() == "NO DATA" {
        return Ok(None);
    }
    let mut words = rest.split_whitespace();
    let bps = words
        .next()
        .and_then(number)
        .zip(words.next())
        .and_then(|(value, unit)| binary_rate(value, unit));
    let (test, content) = match direction {
        Direction::Read => ("f3:read", None),
        Direction::Write => ("f3:write", Some(Content::Incompressible)),
    };
    let params = Params {
        direction: Some(direction),
        pattern: Some(Pattern::Sequential),
        region: Some(Region::File),
        path: Path::Buffered,
        content,
        ..Params::default()
    };
    let mut cell = cell(test, params);
    cell.metrics.bps = Some(estimate(wanted(at, "the speed", bps)?, 1));
    if let Some((sectors, time)) =
        between(rest, "(", ")").and_then(|inside| inside.split_once(" / "))
    {
        let sectors = sectors.split_whitespace().next().and_then(whole).unwrap_or(0);
        cell.bytes = sectors.saturating_mul(SECTOR);
        cell.elapsed_ns = duration_ns(time).map_or(0, whole_ns);
        cell.written_bytes = if direction == Direction::Write { cell.bytes } else { 0 };
    }
    note(
        &mut cell,
        "files of 1 GiB through a file system and the page cache, the mean over all of them",
    );
    Ok(Some(cell))
}

/// Sectors by what became of them, under the names of `verify`.
fn verified(source: &ImportText) -> Result<Cell, ImportTrouble> {
    let count = |words: &str| {
        let found = source.numbered().find(|(_, line)| line.trim_start().starts_with(words));
        let (at, line) = found
            .ok_or_else(|| ImportTrouble::new(format_args!("a line '{words} ..' is missing")))?;
        let inside = line
            .rsplit_once('(')
            .and_then(|(_, inside)| inside.split_whitespace().next())
            .and_then(whole);
        inside.ok_or_else(|| ImportTrouble::at(at, "the number of sectors is missing"))
    };
    let (good, lost) = (count("Data OK:")?, count("Data LOST:")?);
    let [corrupted, changed, overwritten] =
        [count("Corrupted:")?, count("Slightly changed:")?, count("Overwritten:")?];
    let sum = saturating_sum([corrupted, changed, overwritten]);
    if sum != lost {
        return Err(ImportTrouble::new(format_args!(
            "{lost} sectors are lost, but {sum} are listed"
        )));
    }
    let span = good
        .saturating_add(lost)
        .checked_mul(SECTOR)
        .ok_or_else(|| ImportTrouble::new("more sectors than there can be"))?;
    let params = Params {
        direction: Some(Direction::Read),
        pattern: Some(Pattern::Sequential),
        region: Some(Region::File),
        span_bytes: Some(span),
        path: Path::Buffered,
        form: Some("read".into()),
        ..Params::default()
    };
    let mut cell = cell(test::VERIFY, params);
    let n = good.saturating_add(lost);
    let counts = [
        (metric::GOOD_SECTORS, good),
        (metric::CHANGED_SECTORS, changed),
        (metric::OVERWRITTEN_SECTORS, overwritten),
        (metric::CORRUPTED_SECTORS, corrupted),
    ];
    counts.into_iter().for_each(|(name, value)| other(&mut cell, name, value as f64, n));
    cell.bytes = span;
    for (at, line) in source.numbered().filter(|(_, line)| line.starts_with("Missing file")) {
        note(&mut cell, format!("line {at}: {}", short(line, 100)));
    }
    Ok(cell)
}

/// What f3probe finds, under the names of `capacity`.
fn probe(source: &ImportText, found: &mut ImportedRun) -> Result<Vec<Cell>, ImportTrouble> {
    let blocks = |words: &str| {
        let line = source.lines.iter().find(|line| line.trim_start().starts_with(words))?;
        Some((between(line, "(", " block").and_then(whole)?, *line))
    };
    let order = |words: &str| {
        let line = source.lines.iter().find(|line| line.trim_start().starts_with(words))?;
        whole(between(line, "(2^", " Byte")?).filter(|order| *order < 60)
    };
    let block = 1u64 << order("Physical block size:").unwrap_or(9);
    let bytes = |words: &str| blocks(words).and_then(|(count, _)| count.checked_mul(block));
    let real =
        bytes("*Usable* size:").ok_or_else(|| ImportTrouble::new("the usable size is missing"))?;
    let announced = bytes("Announced size:")
        .ok_or_else(|| ImportTrouble::new("the announced size is missing"))?;
    let kind = kind(source)
        .ok_or_else(|| ImportTrouble::new("no line 'Good news: ..' or 'Bad news: ..'"))?;
    let params =
        Params { region: Some(Region::Whole), span_bytes: Some(announced), ..Params::default() };
    let mut cell = cell(test::CAPACITY, params);
    other(&mut cell, "type", kind, 1);
    other(&mut cell, metric::REAL_BYTES, real as f64, 1);
    let wraps = order("Module:").map(|order| 1u64 << order).filter(|_| kind > 2.0).unwrap_or(0);
    other(&mut cell, metric::WRAP_BYTES, wraps as f64, 1);
    if let Some(cache) = bytes("Approximate cache size:") {
        other(&mut cell, metric::CACHE_BYTES, cache as f64, 1);
    }
    if let Some(time) = source.lines.iter().find_map(|line| line.trim().strip_prefix("Probe time:"))
    {
        cell.elapsed_ns = duration_ns(time).map_or(0, whole_ns);
    }
    found.medium.capacity_bytes = Some(announced);
    if let Some(device) = between(source.text, "The device `", "'") {
        found.on(device);
    }
    let speeds = source.lines.iter().filter_map(|line| probed_speed(line.trim(), block));
    Ok([cell].into_iter().chain(speeds).collect())
}

/// The kinds of `capacity`: 0 good, 1 damaged, 2 limbo, 3 wraparound, 4 chain.
fn kind(source: &ImportText) -> Option<f64> {
    if source.contains("is the real thing") {
        return Some(0.0);
    }
    if source.contains("' is damaged") {
        return Some(1.0);
    }
    let word = source.text.split_once("is a counterfeit of type ")?.1.split_whitespace().next()?;
    ["limbo", "wraparound", "chain"].iter().position(|kind| *kind == word).map(|at| at as f64 + 2.0)
}

/// Speeds that f3probe prints since version 9: "Sequential write: 12.30 MB/s (1044481 blocks /
/// 4.46s)".
fn probed_speed(line: &str, block: u64) -> Option<Cell> {
    let kinds = [
        ("Sequential write:", Direction::Write, Pattern::Sequential),
        ("Random write:", Direction::Write, Pattern::Uniform),
        ("Random read:", Direction::Read, Pattern::Uniform),
    ];
    let (rest, direction, pattern) = kinds
        .into_iter()
        .find_map(|(words, way, order)| Some((line.strip_prefix(words)?, way, order)))?;
    let mut words = rest.split_whitespace();
    let bps = binary_rate(number(words.next()?)?, words.next()?)?;
    let params = Params { direction: Some(direction), pattern: Some(pattern), ..Params::default() };
    let mut cell = cell("f3:probe", params);
    cell.metrics.bps = Some(estimate(bps, 1));
    let (count, time) = between(rest, "(", ")")?.split_once(" / ")?;
    cell.bytes = whole(count.split_whitespace().next()?)?.saturating_mul(block);
    cell.elapsed_ns = duration_ns(time).map_or(0, whole_ns);
    note(&mut cell, "over the few places that the probe touches, in writes of its own size");
    Some(cell)
}

/// "5.33s", "165.9ms", "658us", "1'02\"", "2:01'05\"", "3 days 1:00'00\"".
fn duration_ns(text: &str) -> Option<f64> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    if let Some(ns) = number(text.get(..end)?).and_then(|value| time_ns(value, text.get(end..)?)) {
        return Some(ns);
    }
    let mut seconds = 0.0;
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let unit = words.peek().copied().unwrap_or_default();
        match whole(word) {
            Some(weeks) if unit.starts_with("week") => seconds += weeks as f64 * 604_800.0,
            Some(days) if unit.starts_with("day") => seconds += days as f64 * 86_400.0,
            _ if word.ends_with('"') => {
                let (hours, rest) = word
                    .split_once(':')
                    .map_or((0, word), |(hours, rest)| (whole(hours).unwrap_or(0), rest));
                let (minutes, rest) = rest
                    .split_once('\'')
                    .map_or((0, rest), |(minutes, rest)| (whole(minutes).unwrap_or(0), rest));
                seconds += hours as f64 * 3600.0
                    + minutes as f64 * 60.0
                    + number(rest.trim_end_matches('"'))?;
                return Some(seconds * 1e9);
            }
            _ => {}
        }
    }
    None
}
