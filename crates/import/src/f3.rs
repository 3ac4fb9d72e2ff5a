//! f3: f3write, f3read and f3probe, of versions up to 8 and from 9 on (which print the same in
//! other words).
//!
//! Its KB, MB and GB are powers of 1024.

use super::errno::{Errno, ErrorSide};
use super::failed;
use super::prelude::*;

pub(super) static TABLE: Tool = tool! {
    "f3", "f3 output", 1024.0, facts: of_run, ends: of_block;
    ["a line 'F3 read ..', 'Validating file ..', 'Creating file ..' or 'Device geometry:'": r"(?m)^\s*(?:F3 (?:read|write|probe)|Validating file |Creating file |Device geometry:)"]
    ["an average speed, 'Data OK: ..' or '*Usable* size: ..'": r"(?im)average .*speed|Data OK:|\*(?:Usable|Real)\* size:|^Creating file .* failure: "]
    Begins r"^\s*(?<head>F3) (?:read|write|probe).*?(?<version>\S*)\s*$";
    Leaves r"(?<failure> failure: )";
    Says r"^\s*(?<each_unread>(?:Validating file (?<file>\S+?)\..*?\.\.\.(?<sectors>.*?) - )?.*NOT fully read due to (?<error>.*))";
    Says r"(?<unread>Not all data was read due to I/O error)";
    // "Creating file 1.h2w ... OK! Avg: 20.13 MB/s", "Min: 9.91 MB/s, Max: 22.40 MB/s".
    Says r"^\s*(?<each_file>(?:Creating|Validating) file (?<file>\d+)\..*Avg: (?<average>\S+ [^\s,]+)|Min: (?<least>\S+ [^\s,]+), Max: (?<most>\S+ [^\s,]+))";
    Says r"^\s*(?<each_validated>Validating file )";
    Repeats r"^Creating file .*%.* -- ";
    Says r"^\s*(?<each_missing>Missing file.*)";
    Says r"^\s*Data OK:(?:.*\(\s*(?<good>\S+))?";
    Says r"^\s*Data LOST:(?:.*\(\s*(?<lost>\S+))?";
    Says r"^\s*Corrupted:(?:.*\(\s*(?<corrupted>\S+))?";
    Says r"^\s*Slightly changed:(?:.*\(\s*(?<changed>\S+))?";
    Says r"^\s*(?<counted>Overwritten:)(?:.*\(\s*(?<overwritten>\S+))?";
    // "Average sequential read speed: 352.86 MB/s (2412544 sectors / 6.83s)".
    Repeats r"(?i)^\s*average (?:writing|reading|sequential (?:read|write)) speed:\s*NO DATA";
    Says r"(?i)^\s*average (?<each_speed>writing|reading|sequential (?:read|write)) speed:\s*(?<rate>[\d.]\S* \S+/s)\s*(?:\((?<sectors>\S+).*? / (?<took>.*)\))?";
    Wraps r"(?i)^\s*average .*speed";
    // f3probe.
    Says r"The device `(?<path>.*?)'.*?(?:counterfeit of type (?<fake>\S+)|is (?<fine>the real thing)|is (?<damaged>damaged))?\s*$";
    Says r"^\s*\*(?:Usable|Real)\* size:[^(]*\((?<real>\d+) block";
    Says r"^\s*Announced size:[^(]*\((?<announced>\d+) block";
    Says r"^\s*Approximate cache size:[^(]*\((?<cache>\d+) block";
    Says r"^\s*Module:.*\(2\^(?<module>\d+) Byte";
    Says r"^\s*Physical block size:.*\(2\^(?<order>\d+) Byte";
    Says r"^\s*Probe time:(?<probed>.*)";
    // "Sequential write: 12.30 MB/s (1044481 blocks / 4.46s)".
    Says r"^\s*(?<each_probed>(?<order>Sequential|Random) (?<way>write|read)):(?<rate>[^(]*)\((?<blocks>\d+)\D.*? / (?<took>.*)\)";
    Repeats r"^\s*(?:Operation:|Write:|Read:|Reset:)| blocks / |avg of";
};

const SECTOR: u64 = 512;
/// Sectors of each file but the last.
const SECTORS_OF_A_FILE: u64 = GIB / SECTOR;
/// Number of EIO, which f3 also reports in its own words.
const EIO: u32 = 5;

fn of_run(known: &mut Known, run: &mut ImportedRun) {
    run.medium.capacity_bytes = blocks(known, "announced").or(run.medium.capacity_bytes);
}

fn of_block(known: &Known) -> Made {
    let mut cells = Vec::new();
    if known.has("real") {
        cells.push(probe(known)?);
        cells.extend(known.each("each_probed").filter_map(|line| probed(line, block(known))));
    }
    if known.has("good") || known.has("counted") {
        cells.push(verified(known)?);
    }
    for line in known.each("each_speed") {
        cells.push(speed(known, line)?);
    }
    if cells.is_empty() && known.has("head") && !known.has("failure") {
        return Err("it ends before its result".to_owned());
    }
    Ok(cells)
}

fn speed(known: &Known, line: &Known) -> Result<Cell, String> {
    let bps = wanted("the speed", line.rate("rate"))?;
    let sectors = line.count("sectors").unwrap_or(0);
    let way = word(line.direction("each_speed").or(Some(Direction::Read)));
    let mut cell = over_files("f3", way, Path::Buffered, bps)
        .moved(sectors.saturating_mul(SECTOR), 0)
        .took(duration_ns(line.text("took")));
    cell.series = curves(known);
    Ok(cell)
}

/// Curves over the files of 1 GiB each, in bytes a second, from the lines that version 9 prints for
/// each.
fn curves(known: &Known) -> Vec<Series> {
    let mut points = [const { Vec::new() }; 3];
    let mut end = None;
    for line in known.each("each_file") {
        let file = line.count("file").map(|file| file.saturating_mul(GIB) as f64);
        end = file.filter(|_| line.rate("average").is_some()).or(end);
        let Some(end) = end else { continue };
        for (points, name) in points.iter_mut().zip(["average", "least", "most"]) {
            points.extend(line.rate(name).map(|bps| [end, bps]));
        }
    }
    let names =
        ["rate of each file", "slowest rate within each file", "fastest rate within each file"];
    let curves = names.into_iter().zip(points).filter(|(_, points)| !points.is_empty());
    let (x, y) = (SeriesAxis::Bytes, SeriesAxis::Bps);
    curves.map(|(name, points)| Series { name: name.to_owned(), x, y, points }).collect()
}

/// Sectors by state, under the names of `verify`.
fn verified(known: &Known) -> Result<Cell, String> {
    let count = |name: &str, words: &str| {
        known.count(name).ok_or_else(|| format!("a line '{words} ..' is missing"))
    };
    let (good, lost) = (count("good", "Data OK:")?, count("lost", "Data LOST:")?);
    let corrupted = count("corrupted", "Corrupted:")?;
    let changed = count("changed", "Slightly changed:")?;
    let overwritten = count("overwritten", "Overwritten:")?;
    let sum = saturating_sum([corrupted, changed, overwritten]);
    if sum != lost {
        return Err(format!("{lost} sectors are lost, but {sum} are listed"));
    }
    let cell = of_sectors([good, changed, overwritten, corrupted])?;
    let missing = known.each("each_missing").filter_map(|line| line.short("each_missing", 100));
    let mut cell = missing.fold(cell, Fill::note);
    end_unread(&mut cell, known);
    Ok(cell)
}

/// Ends the verification with the error that f3read met: "Validating file 1.h2w ...  833792/ 0/ 0/
/// 0 - NOT fully read due to "Input/output error"".
fn end_unread(cell: &mut Cell, known: &Known) {
    let n = known.each("each_validated").count() + known.each("each_unread").count();
    let files: Vec<(String, Errno)> = known
        .each("each_unread")
        .filter_map(|line| {
            let read = saturating_sum(line.text("sectors").split('/').filter_map(whole));
            // The text does not have the number of sectors of the last file.
            let is_last = line.count("file").is_none_or(|file| file >= n as u64);
            let all = if is_last { String::new() } else { format!(" of {SECTORS_OF_A_FILE}") };
            let progress = format!("file {} had {read}{all} sectors read", line.text("file"));
            Some((progress, Errno::in_text(line.text("error").trim_matches('"'))?))
        })
        .collect();
    let of_medium = files.iter().find(|(_, error)| error.origin == ErrorSide::Medium);
    let Some((_, first)) = of_medium.or(files.first()) else {
        if known.has("unread") {
            failed::end(cell, "f3", &Errno::of_number(EIO));
        }
        return;
    };
    failed::end(cell, "f3", first);
    if first.origin == ErrorSide::Medium {
        let which: Vec<&str> =
            files.iter().take(3).map(|(progress, _)| progress.as_str()).collect();
        cell.stop = Stop::Error;
        cell.reason = Some(format!("{}: {first}", which.join(", ")));
    }
}

/// Bytes of a block of f3probe.
fn block(known: &Known) -> u64 {
    order(known, "order").unwrap_or(SECTOR)
}

fn order(known: &Known, name: &str) -> Option<u64> {
    known.count(name).filter(|order| *order < 60).map(|order| 1u64 << order)
}

/// Bytes of a number of blocks.
fn blocks(known: &Known, name: &str) -> Option<u64> {
    known.count(name)?.checked_mul(block(known))
}

/// Result of f3probe, under the names of `capacity`: of the kinds 0 is good, 1 damaged, 2 limbo, 3
/// wraparound, 4 chain.
fn probe(known: &Known) -> Result<Cell, String> {
    let bytes =
        |name: &str| wanted(&format!("the {name} size"), blocks(known, name).map(|n| n as f64));
    let (real, announced) = (bytes("real")?, bytes("announced")?);
    let kinds = ["the real thing", "damaged", "limbo", "wraparound", "chain"];
    let kind = ["fine", "damaged", "fake"]
        .iter()
        .find_map(|name| kinds.iter().position(|kind| *kind == known.text(name)));
    let kind = kind.ok_or_else(|| "no line 'Good news: ..' or 'Bad news: ..'".to_owned())? as f64;
    let wraps = order(known, "module").filter(|_| kind > 2.0).unwrap_or(0);
    let cache = blocks(known, "cache").map(|bytes| bytes as f64);
    Ok(cell(test::CAPACITY, None, None, None)
        .region(Region::Whole)
        .span(announced as u64)
        .other("type", kind, 1)
        .other(metric::REAL_BYTES, real, 1)
        .other(metric::WRAP_BYTES, wraps as f64, 1)
        .other(metric::CACHE_BYTES, cache, 1)
        .took(duration_ns(known.text("probed"))))
}

/// Speeds that f3probe prints since version 9: "Sequential write: 12.30 MB/s (1044481 blocks /
/// 4.46s)".
fn probed(line: &Known, block: u64) -> Option<Cell> {
    let is_random = line.text("order") == "Random";
    let pattern = if is_random { Pattern::Uniform } else { Pattern::Sequential };
    let direction = line.direction("way");
    let mut cell = cell("f3:probe", direction, pattern, None).bps(line.rate("rate")?, 1);
    cell.bytes = line.count("blocks")?.saturating_mul(block);
    let text = "over the few places that the probe touches, in writes of its own size";
    Some(cell.took(duration_ns(line.text("took"))).note(text))
}

/// Nanoseconds, 0 if there are none, of "5.33s", "165.9ms", "658us", "1'02\"", "2:01'05\"", "1:34:28", "3 days 1:00'00\"".
fn duration_ns(text: &str) -> f64 {
    let parts = re!(
        r#"^\s*(?:(\d+) weeks?,? )?(?:(\d+) days?,? )?(?:(?:(\d+):)?(\d+)[':])?([\d.]+)(?:"|\s*$)"#
    );
    let Some(found) = parts.captures(text) else { return time(text).unwrap_or(0.0) };
    let units = [604_800.0, 86_400.0, 3600.0, 60.0, 1.0];
    let seconds =
        (1..).zip(units).map(|(at, unit)| number(group(&found, at)).unwrap_or(0.0) * unit);
    seconds.sum::<f64>() * 1e9
}
