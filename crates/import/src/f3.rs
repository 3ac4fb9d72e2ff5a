//! f3: f3write, f3read and f3probe, of versions up to 8 and from 9 on (which print the same in
//! other words).
//!
//! Its KB, MB and GB are powers of 1024.

use std::collections::BTreeMap;

use record::units::{GIB, saturating_sum};
use record::{
    Cell, Content, Direction, Params, Path, Pattern, Region, Series, SeriesAxis, Stop, metric, test,
};
use regex::Regex;

use super::errno::{Errno, ErrorSide};
use super::failed;
use super::imported_run::{
    ImportTrouble, ImportedRun, cell, estimate, io, moved, note, of_sectors, other, whole_ns,
};
use super::reading::Reading;
use super::text::{
    ImportText, binary_rate, group, number, re, short, time_ns, wanted, whole, with_unit,
};
use super::{Importer, sign};

pub(super) const IMPORTER: Importer = Importer {
    name: "f3 output",
    signs: &[
        sign!(
            "a line 'F3 read ..', 'Validating file ..', 'Creating file ..' or 'Device geometry:'",
            r"(?m)^\s*(?:F3 (?:read|write|probe)|Validating file |Creating file |Device geometry:)"
        ),
        sign!(
            "an average speed, 'Data OK: ..' or '*Usable* size: ..'",
            r"(?im)average .*speed|Data OK:|\*(?:Usable|Real)\* size:|^Creating file .* failure: "
        ),
    ],
    read: |source, _, reading| {
        let begins = re!(r"^\s*F3 (?:read|write|probe)");
        source
            .parts(|line| begins.is_match(line))
            .iter()
            .map(|part| read_one(part, reading))
            .collect()
    },
    is_ignored_line: |_| false,
};

const SECTOR: u64 = 512;
/// Sectors of each file but the last.
const SECTORS_OF_A_FILE: u64 = GIB / SECTOR;
/// Number of EIO, which f3 also reports in its own words.
const EIO: u32 = 5;

fn read_one(source: &ImportText, reading: &mut Reading) -> ImportedRun {
    let mut found = ImportedRun::by("f3");
    found.version = short(source.first(re!(r"^\s*F3 .*?(\S*)\s*$")).unwrap_or_default(), 20);
    if let Some((at, _)) = source.captures(re!(r"\*(?:Usable|Real)\* size:")).next()
        && let Some(cells) = reading.accept(at, probe(source, &mut found))
    {
        reading.add_all(&mut found, at, cells);
        let repeated = re!(
            r"^\s*(?:Probe time:|Operation:|Write:|Read:|Reset:|Sequential |Random )| blocks / |avg of"
        );
        source.captures(repeated).for_each(|(at, _)| reading.take(at));
    }
    if let Some((at, _)) = source.captures(re!("Data OK:")).next()
        && let Some(mut cell) = reading.accept(at, verified(source))
    {
        end_unread(&mut cell, source, reading);
        reading.add(&mut found, at, cell);
    }
    let is_speed =
        |line: &str| speed(0, line.trim()).is_ok_and(|cell| cell.is_some()).then_some(());
    for (at, _) in source.captures(re!(r"(?i)^\s*average .*speed")) {
        let lines = source.wrapped(at, is_speed).map_or(1, |(_, lines)| lines);
        let joined: Vec<&str> = (at..at + lines).map(|at| source.line(at).trim()).collect();
        if let Some(Some(mut cell)) = reading.accept(at, speed(at, &joined.join(" "))) {
            cell.series = curves(source, reading);
            reading.take_many(at, lines);
            reading.add(&mut found, at, cell);
        }
    }
    source.captures(re!("^Creating file .*%.* -- ")).for_each(|(at, _)| reading.take(at));
    let is_failed = source.has(|line| line.contains(" failure: "));
    if found.cells.is_empty() && !is_failed && source.has(|line| line.trim().starts_with("F3 ")) {
        reading.refuse(source.begin(), "it ends before its result");
    }
    found
}

fn rate(text: &str) -> Option<f64> {
    let (value, unit) = with_unit(text)?;
    binary_rate(value, unit.split_whitespace().next()?)
}

/// Parses "Average reading speed: 352.86 MB/s", since version 9 "Average sequential read speed:
/// 352.86 MB/s (2412544 sectors / 6.83s)".
fn speed(at: usize, line: &str) -> Result<Option<Cell>, ImportTrouble> {
    let pattern = re!(
        r"(?i)^average (?:(reading|sequential read)|writing|sequential write) speed:([^(]*)(?:\((\S+).*? / (.*)\))?"
    );
    let Some(found) = pattern.captures(line).filter(|found| group(found, 2) != "NO DATA") else {
        return Ok(None);
    };
    let (test, direction, content) = match found.get(1) {
        Some(_) => ("f3:read", Direction::Read, None),
        None => ("f3:write", Direction::Write, Some(Content::Incompressible)),
    };
    let (region, path) = (Some(Region::File), Path::Buffered);
    let mut cell =
        cell(test, Params { region, path, content, ..io(direction, Pattern::Sequential, None) });
    cell.metrics.bps = Some(estimate(wanted(at, "the speed", rate(group(&found, 2)))?, 1));
    moved(&mut cell, whole(group(&found, 3)).unwrap_or(0).saturating_mul(SECTOR), 0);
    cell.elapsed_ns = duration_ns(group(&found, 4)).map_or(0, whole_ns);
    note(
        &mut cell,
        "files of 1 GiB through a file system and the page cache, the mean over all of them",
    );
    Ok(Some(cell))
}

/// Curves over the files of 1 GiB each, in bytes a second, from the lines that version 9 prints for
/// each ("Creating file 1.h2w ... OK! Avg: 20.13 MB/s", "Min: 9.91 MB/s, Max: 22.40 MB/s").
fn curves(source: &ImportText, reading: &mut Reading) -> Vec<Series> {
    let of_file = re!(
        r"^\s*(?:(?:Creating|Validating) file (\d+)\..*Avg: (\S+ [^\s,]+)|Min: (\S+ [^\s,]+), Max: (\S+ [^\s,]+))"
    );
    let mut points = [const { Vec::new() }; 3];
    let mut end = None;
    for (at, found) in source.captures(of_file) {
        let file = whole(group(&found, 1)).map(|file| file.saturating_mul(GIB) as f64);
        let [average, least, most] = [2, 3, 4].map(|number| rate(group(&found, number)));
        end = file.filter(|_| average.is_some()).or(end);
        let Some(end) = end else { continue };
        for (points, bps) in points.iter_mut().zip([average, least, most]) {
            points.extend(bps.map(|bps| [end, bps]));
        }
        reading.take(at);
    }
    let names =
        ["rate of each file", "slowest rate within each file", "fastest rate within each file"];
    let curves = names.into_iter().zip(points).filter(|(_, points)| !points.is_empty());
    let (x, y) = (SeriesAxis::Bytes, SeriesAxis::Bps);
    curves.map(|(name, points)| Series { name: name.to_owned(), x, y, points }).collect()
}

/// Sectors by state, under the names of `verify`.
fn verified(source: &ImportText) -> Result<Cell, ImportTrouble> {
    let counts = re!(
        r"^\s*(Data OK:|Data LOST:|Corrupted:|Slightly changed:|Overwritten:)(?:.*\(\s*(\S+))?"
    );
    let mut lines = BTreeMap::new();
    for (at, found) in source.captures(counts) {
        lines.entry(group(&found, 1)).or_insert((at, whole(group(&found, 2))));
    }
    let count = |words: &str| {
        let (at, sectors) = lines
            .get(words)
            .ok_or_else(|| ImportTrouble::new(format_args!("a line '{words} ..' is missing")))?;
        sectors.ok_or_else(|| ImportTrouble::at(*at, "the number of sectors is missing"))
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
    let mut cell = of_sectors(good, changed, overwritten, corrupted)?;
    for (at, line) in source.numbered().filter(|(_, line)| line.starts_with("Missing file")) {
        note(&mut cell, format!("line {at}: {}", short(line, 100)));
    }
    Ok(cell)
}

/// Ends the verification with the error that f3read met: "Validating file 1.h2w ...  833792/ 0/ 0/
/// 0 - NOT fully read due to "Input/output error"".
fn end_unread(cell: &mut Cell, source: &ImportText, reading: &mut Reading) {
    let files: Vec<(usize, String, Errno)> = source
        .captures(re!(
            r"^\s*(?:Validating file (\S+?)\..*?\.\.\.(.*?) - )?.*NOT fully read due to (.*)"
        ))
        .filter_map(|(at, found)| {
            let read = saturating_sum(group(&found, 2).split('/').filter_map(whole));
            let is_last =
                !source.captures(re!(r"^\s*Validating file ")).any(|(place, _)| place > at);
            // The text does not have the number of sectors of the last file.
            let all = if is_last { String::new() } else { format!(" of {SECTORS_OF_A_FILE}") };
            let progress = format!("file {} had {read}{all} sectors read", group(&found, 1));
            Some((at, progress, Errno::in_text(group(&found, 3).trim_matches('"'))?))
        })
        .collect();
    let of_medium = files.iter().find(|(.., error)| error.origin == ErrorSide::Medium);
    let Some((_, _, first)) = of_medium.or(files.first()) else {
        if source.contains("Not all data was read due to I/O error") {
            failed::end(cell, "f3", &Errno::of_number(EIO));
        }
        return;
    };
    failed::end(cell, "f3", first);
    if first.origin == ErrorSide::Medium {
        let which: Vec<&str> =
            files.iter().take(3).map(|(_, progress, _)| progress.as_str()).collect();
        cell.stop = Stop::Error;
        cell.reason = Some(format!("{}: {first}", which.join(", ")));
    }
    files.iter().for_each(|(at, ..)| reading.take(*at));
}

/// Results of f3probe, under the names of `capacity`.
fn probe(source: &ImportText, found: &mut ImportedRun) -> Result<Vec<Cell>, ImportTrouble> {
    let first = |pattern: &Regex| source.first(pattern).and_then(whole);
    let order = |pattern| first(pattern).filter(|order| *order < 60).map(|order| 1u64 << order);
    let block = order(re!(r"^\s*Physical block size:.*\(2\^(\d+) Byte")).unwrap_or(SECTOR);
    let bytes = |pattern| first(pattern).and_then(|count| count.checked_mul(block));
    let missing = |what: &str| ImportTrouble::new(format_args!("{what} is missing"));
    let real = bytes(re!(r"^\s*\*(?:Usable|Real)\* size:[^(]*\((\d+) block"))
        .ok_or_else(|| missing("the usable size"))?;
    let announced = bytes(re!(r"^\s*Announced size:[^(]*\((\d+) block"))
        .ok_or_else(|| missing("the announced size"))?;
    let kind = kind(source)
        .ok_or_else(|| ImportTrouble::new("no line 'Good news: ..' or 'Bad news: ..'"))?;
    let params =
        Params { region: Some(Region::Whole), span_bytes: Some(announced), ..Params::default() };
    let mut cell = cell(test::CAPACITY, params);
    other(&mut cell, "type", kind, 1);
    other(&mut cell, metric::REAL_BYTES, real as f64, 1);
    let wraps = order(re!(r"^\s*Module:.*\(2\^(\d+) Byte")).filter(|_| kind > 2.0).unwrap_or(0);
    other(&mut cell, metric::WRAP_BYTES, wraps as f64, 1);
    if let Some(cache) = bytes(re!(r"^\s*Approximate cache size:[^(]*\((\d+) block")) {
        other(&mut cell, metric::CACHE_BYTES, cache as f64, 1);
    }
    let time = source.first(re!(r"^\s*Probe time:(.*)")).and_then(duration_ns);
    cell.elapsed_ns = time.map_or(0, whole_ns);
    found.medium.capacity_bytes = Some(announced);
    source.first(re!("The device `(.*?)'")).into_iter().for_each(|device| found.on(device));
    let speeds = source.lines.iter().filter_map(|line| probed_speed(line.trim(), block));
    Ok([cell].into_iter().chain(speeds).collect())
}

/// Kind under the numbers of `capacity`: 0 good, 1 damaged, 2 limbo, 3 wraparound, 4 chain.
fn kind(source: &ImportText) -> Option<f64> {
    let kinds = ["is the real thing", "' is damaged", "limbo", "wraparound", "chain"];
    let word = re!(r"is the real thing|' is damaged|is a counterfeit of type (\S+)");
    let found = word.captures(source.text)?;
    let phrase = found.get(1).or(found.get(0))?.as_str();
    kinds.iter().position(|kind| *kind == phrase).map(|at| at as f64)
}

/// Speeds that f3probe prints since version 9: "Sequential write: 12.30 MB/s (1044481 blocks /
/// 4.46s)".
fn probed_speed(line: &str, block: u64) -> Option<Cell> {
    let found = re!(r"^(Sequential write|Random write|Random read):([^(]*)\((\d+)\D.*? / (.*)\)")
        .captures(line)?;
    let (pattern, direction) = match group(&found, 1) {
        "Sequential write" => (Pattern::Sequential, Direction::Write),
        "Random write" => (Pattern::Uniform, Direction::Write),
        _ => (Pattern::Uniform, Direction::Read),
    };
    let mut cell = cell("f3:probe", io(direction, pattern, None));
    cell.metrics.bps = Some(estimate(rate(group(&found, 2))?, 1));
    cell.bytes = whole(group(&found, 3))?.saturating_mul(block);
    cell.elapsed_ns = duration_ns(group(&found, 4)).map_or(0, whole_ns);
    note(&mut cell, "over the few places that the probe touches, in writes of its own size");
    Some(cell)
}

/// Nanoseconds of "5.33s", "165.9ms", "658us", "1'02\"", "2:01'05\"", "1:34:28", "3 days 1:00'00\"".
fn duration_ns(text: &str) -> Option<f64> {
    if let Some((value, unit)) = re!(r"^\s*([\d.]+)\s*([a-zµμ]+)\s*$")
        .captures(text)
        .map(|found| (group(&found, 1).to_owned(), group(&found, 2).to_owned()))
    {
        return time_ns(number(&value)?, &unit);
    }
    if re!(r"^\s*\d+(?::\d+)+\s*$").is_match(text) {
        let parts = text.trim().split(':').map(number);
        return parts
            .map(|part| part.unwrap_or(0.0))
            .reduce(|all, part| all * 60.0 + part)
            .map(|s| s * 1e9);
    }
    let found =
        re!(r#"^\s*(?:(\d+) weeks?,? )?(?:(\d+) days?,? )?(?:(\d+):)?(?:(\d+)')?([\d.]+)""#)
            .captures(text)?;
    let units = [604_800.0, 86_400.0, 3600.0, 60.0, 1.0];
    let seconds =
        (1..).zip(units).map(|(at, unit)| number(group(&found, at)).unwrap_or(0.0) * unit);
    Some(seconds.sum::<f64>() * 1e9)
}
