//! f3: f3write, f3read and f3probe, of versions up to 8 and from 9 on (which print other words for
//! the same).
//!
//! Its KB, MB and GB are powers of 1024.

use record::units::saturating_sum;
use record::{Cell, Content, Direction, Params, Path, Pattern, Region, metric, test};

use super::imported_run::{ImportTrouble, ImportedRun, cell, estimate, note, other, whole_ns};
use super::text::{ImportText, between, binary_rate, number, short, time_ns, wanted, whole};
use super::{Hints, Importer, Sign};

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
};

const BEGINNINGS: [&str; 6] =
    ["F3 read", "F3 write", "F3 probe", "Validating file ", "Creating file ", "Device geometry:"];
const ENDS: [&str; 3] = ["Average ", "Data OK:", "*Usable* size:"];
const SECTOR: u64 = 512;

fn read(source: &ImportText, _: &Hints) -> Result<Vec<ImportedRun>, ImportTrouble> {
    let mut found = ImportedRun::by("f3");
    if let Some(version) = source
        .lines
        .iter()
        .find_map(|line| line.strip_prefix("F3 "))
        .and_then(|rest| rest.rsplit(' ').next())
    {
        found.version = short(version, 20);
    }
    if source.contains("*Usable* size:") {
        probe(source, &mut found)?;
    }
    if source.contains("Data OK:") {
        found.cells.push(verified(source)?);
    }
    for (at, line) in source.numbered() {
        found.cells.extend(speed(at, line.trim())?);
    }
    if found.cells.is_empty() {
        return Err(ImportTrouble::new("it ends before its result"));
    }
    Ok(vec![found])
}

/// "Average reading speed: 352.86 MB/s", since version 9 "Average sequential read speed: 352.86
/// MB/s (2412544 sectors / 6.83s)".
fn speed(at: usize, line: &str) -> Result<Option<Cell>, ImportTrouble> {
    let Some((words, rest)) =
        line.strip_prefix("Average ").and_then(|rest| rest.split_once(" speed:"))
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
    for (at, line) in source
        .numbered()
        .filter(|(_, line)| line.starts_with("Missing file") || line.contains("NOT fully read"))
    {
        note(&mut cell, format!("line {at}: {}", short(line, 100)));
    }
    Ok(cell)
}

/// What f3probe finds, under the names of `capacity`.
fn probe(source: &ImportText, found: &mut ImportedRun) -> Result<(), ImportTrouble> {
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
    found.cells.push(cell);
    found.cells.extend(source.numbered().filter_map(|(_, line)| probed_speed(line.trim(), block)));
    Ok(())
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
