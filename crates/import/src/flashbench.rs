//! flashbench: reads across boundaries (`-a`), and tables of rates by block size (`--open-au`, `-f`
//! and others of its form).
//!
//! Its K, M and G are powers of 1000. Its fields are seven characters wide: a rate of 1 GB/s and
//! more loses the end of its unit ("1.589G/"), a negative difference loses the end of "ns"
//! ("-54142n").

use record::{Cell, Content, Direction, Params, Pattern, Region, Series, SeriesAxis, test};

use super::imported_run::{ImportTrouble, ImportedRun, cell, estimate, label, note, other};
use super::reading::Reading;
use super::text::{ImportText, between, number, size, wanted, whole, with_unit};
use super::{Hints, Importer, Sign};

pub(super) const ALIGN: Importer = Importer {
    name: "flashbench -a output",
    signs: &[
        Sign {
            what: "lines that begin with 'align' and a number",
            is_there: |source| source.has(|line| boundary(line).is_some()),
        },
        Sign {
            what: "times 'pre', 'on', 'post' and 'diff'",
            is_there: |source| source.has(|line| times(line).is_some()),
        },
    ],
    read: read_align,
    chatter: |_| false,
};

pub(super) const AREAS: Importer = Importer {
    name: "flashbench --open-au or --find-fat output",
    signs: &[Sign {
        what: "lines '4MiB  1.589G/  865M/s'",
        is_there: |source| source.has(|line| row(line).is_some()),
    }],
    read: read_areas,
    chatter: |_| false,
};

const SIDES: [&str; 4] = ["pre", "on", "post", "diff"];

fn boundary(line: &str) -> Option<u64> {
    whole(line.trim().strip_prefix("align ")?.split_whitespace().next()?)
}

/// The words after "pre", "on", "post" and "diff".
fn times(line: &str) -> Option<[&str; 4]> {
    let mut words = line.split_whitespace().skip(2);
    let mut found = [""; 4];
    for (place, name) in found.iter_mut().zip(SIDES) {
        (words.next()? == name).then_some(())?;
        *place = words.next()?;
    }
    Some(found)
}

/// Nanoseconds of "9.16µs", "-1055ns", "1.2ms", "-54142n" (the field was too narrow for the last
/// letter) and "-123456" (and for both).
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

/// A listing for each run of lines of which none comes again: the same boundary once more begins
/// another.
fn read_align(source: &ImportText, _: &Hints, reading: &mut Reading) -> Vec<ImportedRun> {
    let mut found = ImportedRun::by("flashbench");
    let mut rows: Vec<(usize, u64, [f64; 4])> = Vec::new();
    let mut cut = false;
    for (at, line) in source.numbered() {
        let Some(size) = boundary(line) else { continue };
        let Some((texts, lines)) = source.wrapped(at, |line| times(line).map(owned)) else {
            reading.refuse(at, "not all of pre, on, post and diff are there");
            continue;
        };
        let Some(ns) = reading.accept(at, row_ns(at, &texts)) else { continue };
        if rows.iter().any(|(_, known, _)| *known == size) {
            listing(source, &mut found, &std::mem::take(&mut rows), cut, reading);
            cut = false;
        }
        cut |= texts
            .iter()
            .any(|text| text.ends_with('n') || text.ends_with(|c: char| c.is_ascii_digit()));
        reading.take_many(at, lines);
        rows.push((at, size, ns));
    }
    listing(source, &mut found, &rows, cut, reading);
    vec![found]
}

fn owned(texts: [&str; 4]) -> [String; 4] {
    texts.map(str::to_owned)
}

fn row_ns(at: usize, texts: &[String; 4]) -> Result<[f64; 4], ImportTrouble> {
    let mut ns = [0.0; 4];
    for ((place, name), text) in ns.iter_mut().zip(SIDES).zip(texts) {
        *place = wanted(at, name, time_ns(text))?;
    }
    Ok(ns)
}

/// The cell of one listing.
fn listing(
    source: &ImportText,
    found: &mut ImportedRun,
    rows: &[(usize, u64, [f64; 4])],
    cut: bool,
    reading: &mut Reading,
) {
    let Some(smallest) = rows.iter().map(|(_, size, _)| *size).min() else { return };
    let params = Params {
        direction: Some(Direction::Read),
        pattern: Some(Pattern::Strided),
        // It halves the size down to twice that of a read.
        block_bytes: blocksize(source).or((smallest >= 2).then_some(smallest / 2)),
        ..Params::default()
    };
    let mut cell = cell(test::ALIGN_READ, params);
    for (side, name) in SIDES.into_iter().enumerate() {
        let mut points: Vec<[f64; 2]> =
            rows.iter().map(|(_, size, ns)| [*size as f64, ns[side]]).collect();
        points.sort_by(|a, b| a[0].total_cmp(&b[0]));
        cell.series.push(Series {
            name: name.to_owned(),
            x: SeriesAxis::OffsetBytes,
            y: SeriesAxis::LatencyNs,
            points,
        });
    }
    cell.series.sort_by(|a, b| (a.name != "diff", &a.name).cmp(&(b.name != "diff", &b.name)));
    if cut {
        note(
            &mut cell,
            "negative differences have lost the end of their unit; they are nanoseconds",
        );
    }
    reading.add(found, rows[0].0, cell);
}

/// The size of a read, where the command stands above its output.
fn blocksize(source: &ImportText) -> Option<u64> {
    let command = source.lines.iter().find(|line| line.contains("flashbench "))?;
    let (_, rest) = command.split_once("--blocksize=").or_else(|| command.split_once("-b "))?;
    size(rest.split_whitespace().next()?)
}

/// A block size and the rates behind it, as printed.
fn row(line: &str) -> Option<(u64, Vec<&str>)> {
    let mut words = line.split_whitespace();
    let first = words.next()?;
    let block =
        first.ends_with('B').then(|| size(first)).flatten().filter(|block| *block >= 512)?;
    let rates: Vec<&str> = words.collect();
    let is_rate = |text: &&str| {
        text.ends_with("/s") || text.ends_with('/') || text.ends_with(['G', 'M', 'K'])
    };
    (!rates.is_empty()
        && rates.len() <= 64
        && rates.iter().all(|text| is_rate(text) && text.starts_with(|c: char| c.is_ascii_digit())))
    .then_some((block, rates))
}

/// Bytes a second of "865M/s", "1.589G/" and "12.34G", and whether the unit was cut off.
fn rate(text: &str) -> Option<(f64, bool)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let value = number(text.get(..end)?)?;
    let unit = text.get(end..)?;
    let factor = match unit.chars().next()? {
        'G' => 1e9,
        'M' => 1e6,
        'K' | 'k' => 1e3,
        'B' | '/' => 1.0,
        _ => return None,
    };
    Some((value * factor, !unit.ends_with("/s")))
}

/// What a heading above a table says: "AU=2, random access".
#[derive(Clone, Copy, Default)]
struct Heading {
    n_aus: Option<u64>,
    is_random: Option<bool>,
}

fn heading(line: &str) -> Option<Heading> {
    let lower = format!("{} ", line.to_ascii_lowercase());
    let n_aus = between(&lower, "au=", " ").or_else(|| between(&lower, "open-au-nr=", " "));
    let n_aus = n_aus.and_then(|text| whole(text.trim_end_matches(',')));
    let is_command = lower.contains("flashbench ") && lower.contains("open-au");
    let is_random = if lower.contains("random") {
        Some(true)
    } else if lower.contains("linear") || is_command {
        Some(false)
    } else {
        None
    };
    (n_aus.is_some() || is_command).then_some(Heading { n_aus, is_random })
}

fn read_areas(source: &ImportText, _: &Hints, reading: &mut Reading) -> Vec<ImportedRun> {
    let mut found = ImportedRun::by("flashbench");
    let mut current = Heading::default();
    for (at, line) in source.numbered() {
        if let Some(next) = heading(line) {
            current = next;
        }
        let Some((block, texts)) = row(line) else { continue };
        for (column, text) in texts.iter().enumerate() {
            let Some((bps, is_cut)) = rate(text) else {
                reading.refuse(at, format_args!("'{text}' is no rate"));
                continue;
            };
            let mut cell =
                if texts.len() > 1 { of_area(block, column) } else { of_open_aus(block, current) };
            cell.metrics.bps = Some(estimate(bps, 1));
            cell.metrics.iops = Some(estimate(bps / block as f64, 1));
            if is_cut {
                note(&mut cell, "the field was too narrow for the end of its unit");
            }
            reading.add(&mut found, at, cell);
        }
    }
    vec![found]
}

fn writes(block_bytes: u64, pattern: Pattern, form: &str) -> Params {
    Params {
        direction: Some(Direction::Write),
        pattern: Some(pattern),
        block_bytes: Some(block_bytes),
        content: Some(Content::Zeros),
        form: (!form.is_empty()).then(|| form.to_owned()),
        ..Params::default()
    }
}

/// A column of `-f`: one of the first allocation units, written once with each block size, largest
/// first.
fn of_area(block: u64, column: usize) -> Cell {
    let mut params = writes(block, Pattern::Sequential, "");
    params.region = Some(Region::Front);
    params.other.insert("au_index".into(), column as f64);
    let mut cell = cell("flashbench:find-fat", params);
    label(&mut cell, "area", &(column + 1).to_string());
    cell
}

/// A line of `--open-au`: all block sizes are measured in one allocation unit after the other, not
/// to the steady state that `open-aus` waits for.
fn of_open_aus(block: u64, heading: Heading) -> Cell {
    let (pattern, form) = match heading.is_random {
        Some(true) => (Pattern::Permutation, "random"),
        Some(false) => (Pattern::Sequential, "linear"),
        None => (Pattern::Sequential, ""),
    };
    let mut params = writes(block, pattern, form);
    if let Some(n_aus) = heading.n_aus {
        params.other.insert("n_aus".into(), n_aus as f64);
    }
    let mut cell = cell("flashbench:open-au", params);
    match heading.n_aus {
        Some(n_aus) => other(&mut cell, "open_aus", n_aus as f64, 1),
        None => note(&mut cell, "the text does not say how many allocation units were open"),
    }
    cell
}
