//! flashbench: reads across boundaries (`-a`), and tables of rates by block size (`--open-au`, `-f`
//! and others of that form).
//!
//! Its K, M and G are powers of 1000. Its fields are seven characters wide: a rate of 1 GB/s and
//! more loses the end of its unit ("1.589G/"), a negative difference loses the end of "ns"
//! ("-54142n").

use record::{Cell, Content, Direction, Params, Pattern, Region, Series, SeriesAxis, test};
use regex::Captures;

use super::imported_run::{ImportTrouble, ImportedRun, cell, io, label, note, other, rate};
use super::reading::Reading;
use super::text::{ImportText, group, number, prefix, re, size, wanted, whole, with_unit};
use super::{Importer, sign};

pub(super) const ALIGN: Importer = Importer {
    name: "flashbench -a output",
    signs: &[
        sign!("lines that begin with 'align' and a number", BOUNDARY),
        sign!("times 'pre', 'on', 'post' and 'diff'", TIMES),
    ],
    read: read_align,
    apart: "",
};

pub(super) const AREAS: Importer = Importer {
    name: "flashbench --open-au or --find-fat output",
    signs: &[sign!("lines '4MiB  1.589G/  865M/s'", ROW)],
    read: read_areas,
    apart: "",
};

const BOUNDARY: &str = r"(?m)^\s*align (\d+)(?:\s|$)";
const SIDES: [&str; 4] = ["pre", "on", "post", "diff"];
const TIMES: &str = r"(?m)^\s*\S+\s+\S+\s+pre\s+(\S+)\s+on\s+(\S+)\s+post\s+(\S+)\s+diff\s+(\S+)";
/// A line with a block size and its rates.
const ROW: &str = r"(?m)^[ \t]*(\d\S*B)((?:[ \t]+\d\S*(?:/s|/|[GMK])){1,64})[ \t]*$";

/// Nanoseconds of "9.16µs", "-1055ns", "1.2ms", "-54142n" and "-123456" (in both the field was too
/// narrow for the unit).
fn time_ns(text: &str) -> Option<f64> {
    let plain = text.strip_prefix('-').unwrap_or(text);
    let (value, unit) = with_unit(plain)?;
    let value = if plain.len() < text.len() { -value } else { value };
    let factor = match unit {
        "ns" | "n" => 1.0,
        "" if value <= 0.0 => 1.0,
        "s" => 1e9,
        "ms" | "m" => 1e6,
        "us" | "u" => 1e3,
        other if other.starts_with(['µ', 'μ']) => 1e3,
        _ => return None,
    };
    Some(value * factor)
}

/// A line of a listing: its place, the boundary in bytes, nanoseconds of each side.
type Row = (usize, u64, [f64; 4]);

/// Reads the listings of a text: a boundary that the current listing already has begins the next
/// one.
fn read_align(source: &ImportText, _: &super::Hints, reading: &mut Reading) -> Vec<ImportedRun> {
    let mut found = ImportedRun::by("flashbench");
    let mut rows: Vec<Row> = Vec::new();
    let mut cut = false;
    for (at, boundary) in source.captures(re!(BOUNDARY)) {
        let Some(size) = whole(group(&boundary, 1)) else { continue };
        let times = |line: &str| {
            let found = re!(TIMES).captures(line)?;
            Some([1, 2, 3, 4].map(|side| group(&found, side).to_owned()))
        };
        let Some((texts, lines)) = source.wrapped(at, times) else {
            reading.refuse(at, "not all of pre, on, post and diff are there");
            continue;
        };
        let Some(ns) = reading.accept(at, row_ns(at, &texts)) else { continue };
        if rows.iter().any(|(_, known, _)| *known == size) {
            listing(source, &mut found, &std::mem::take(&mut rows), cut, reading);
            cut = false;
        }
        cut |= texts.iter().any(|text| re!(r"[\dn]$").is_match(text));
        reading.take_many(at, lines);
        rows.push((at, size, ns));
    }
    listing(source, &mut found, &rows, cut, reading);
    vec![found]
}

fn row_ns(at: usize, texts: &[String; 4]) -> Result<[f64; 4], ImportTrouble> {
    let mut ns = [0.0; 4];
    for ((place, name), text) in ns.iter_mut().zip(SIDES).zip(texts) {
        *place = wanted(at, name, time_ns(text))?;
    }
    Ok(ns)
}

/// Adds the cell of a listing.
fn listing(
    source: &ImportText,
    found: &mut ImportedRun,
    rows: &[Row],
    cut: bool,
    reading: &mut Reading,
) {
    let Some(smallest) = rows.iter().map(|(_, size, _)| *size).min() else { return };
    // Size of a read, if the command is above; flashbench halves the size down to twice that of a
    // read.
    let command = source.first(re!(r"flashbench .*?(?:--blocksize=|-b )\s*(\S+)")).and_then(size);
    let block = command.or((smallest >= 2).then_some(smallest / 2));
    let mut cell = cell(test::ALIGN_READ, io(Direction::Read, Pattern::Strided, block));
    // The names are in their order, "diff" first.
    for side in [3, 1, 2, 0] {
        let mut points: Vec<[f64; 2]> =
            rows.iter().map(|(_, size, ns)| [*size as f64, ns[side]]).collect();
        points.sort_by(|a, b| a[0].total_cmp(&b[0]));
        let (x, y) = (SeriesAxis::OffsetBytes, SeriesAxis::LatencyNs);
        cell.series.push(Series { name: SIDES[side].to_owned(), x, y, points });
    }
    if cut {
        let text = "negative differences have lost the end of their unit; they are nanoseconds";
        note(&mut cell, text);
    }
    reading.add(found, rows[0].0, cell);
}

/// Bytes a second of "865M/s", "1.589G/" and "12.34G", and true if the unit was cut off.
fn rate_of(text: &str) -> Option<(f64, bool)> {
    let found = re!(r"^([\d.]+)([GMKkB/])").captures(text)?;
    let factor = prefix(group(&found, 2).trim_matches(['B', '/']), 1000.0)?;
    Some((number(group(&found, 1))? * factor, !text.ends_with("/s")))
}

/// Parses a heading above a table, "AU=2, random access", or the command: number of open units, and
/// true if they are written at random.
fn heading(line: &str) -> Option<(Option<u64>, Option<bool>)> {
    let n_aus = re!(r"(?i)(?:open-au-nr|au)=(\d+),*(?:\s|$)").captures(line);
    let n_aus = n_aus.and_then(|found: Captures| whole(group(&found, 1)));
    let is_command = re!("(?i)flashbench .*open-au|open-au.*flashbench ").is_match(line);
    let is_linear = is_command || re!("(?i)linear").is_match(line);
    let is_random =
        if re!("(?i)random").is_match(line) { Some(true) } else { is_linear.then_some(false) };
    (n_aus.is_some() || is_command).then_some((n_aus, is_random))
}

fn read_areas(source: &ImportText, _: &super::Hints, reading: &mut Reading) -> Vec<ImportedRun> {
    let mut found = ImportedRun::by("flashbench");
    let mut current = (None, None);
    for (at, line) in source.numbered() {
        current = heading(line).unwrap_or(current);
        let Some(row) = re!(ROW).captures(line) else { continue };
        let Some(block) = size(group(&row, 1)).filter(|block| *block >= 512) else { continue };
        let texts: Vec<&str> = group(&row, 2).split_whitespace().collect();
        for (column, text) in texts.iter().enumerate() {
            let Some((bps, is_cut)) = rate_of(text) else {
                reading.refuse(at, format_args!("'{text}' is no rate"));
                continue;
            };
            let mut cell =
                if texts.len() > 1 { of_area(block, column) } else { of_open_aus(block, current) };
            rate(&mut cell, bps, 1);
            if is_cut {
                note(&mut cell, "the field was too narrow for the end of its unit");
            }
            reading.add(&mut found, at, cell);
        }
    }
    vec![found]
}

/// Cell of a column of `-f`: one of the first allocation units, written once with each block size,
/// largest first.
fn of_area(block: u64, column: usize) -> Cell {
    let content = Some(Content::Zeros);
    let region = Some(Region::Front);
    let params = Params { content, region, ..io(Direction::Write, Pattern::Sequential, block) };
    let mut cell = cell("flashbench:find-fat", params);
    cell.params.other.insert("au_index".into(), column as f64);
    label(&mut cell, "area", &(column + 1).to_string());
    cell
}

/// Cell of a line of `--open-au`: all block sizes are measured in one allocation unit after the
/// other, not to the steady state that `open-aus` waits for.
fn of_open_aus(block: u64, (n_aus, is_random): (Option<u64>, Option<bool>)) -> Cell {
    let (pattern, form) = match is_random {
        Some(true) => (Pattern::Permutation, Some("random")),
        Some(false) => (Pattern::Sequential, Some("linear")),
        None => (Pattern::Sequential, None),
    };
    let (content, form) = (Some(Content::Zeros), form.map(str::to_owned));
    let params = Params { content, form, ..io(Direction::Write, pattern, block) };
    let mut cell = cell("flashbench:open-au", params);
    if let Some(n_aus) = n_aus {
        cell.params.other.insert("n_aus".into(), n_aus as f64);
        other(&mut cell, "open_aus", n_aus as f64, 1);
    } else {
        note(&mut cell, "the text does not say how many allocation units were open");
    }
    cell
}
