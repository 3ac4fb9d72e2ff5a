//! flashbench: reads across boundaries (`-a`), and tables of rates by block size (`--open-au`, `-f`
//! and others of that form).
//!
//! Its K, M and G are powers of 1000. Its fields are seven characters wide: a rate of 1 GB/s and
//! more loses the end of its unit ("1.589G/"), a negative difference loses the end of "ns"
//! ("-54142n").

use super::prelude::*;
use super::text;

pub(super) static ALIGN: Tool = tool! {
    "flashbench", "flashbench -a output", 1000.0, facts: join_listing;
    ["lines that begin with 'align' and a number": r"(?m)^\s*align \d+(?:\s|$)"]
    ["times 'pre', 'on', 'post' and 'diff'": TIMES]
    Says r"flashbench .*?(?:--blocksize=|-b )\s*(?<block>\S+)";
    Gives TIMES => of_boundary;
    Wraps r"^\s*align \d+(?:\s|$)";
    Gives r"^\s*align \d+(?:\s|$)" => |_| Err("not all of pre, on, post and diff are there".to_owned());
};

pub(super) static AREAS: Tool = tool! {
    "flashbench", "flashbench --open-au or --find-fat output", 1000.0;
    ["lines '4MiB  1.589G/  865M/s'": ROW]
    // A heading above a table, "AU=2, random access", or the command.
    Says r"(?i)^(?<heading>.*(?:(?:open-au-nr|au)=\d+,*(?:\s|$)|flashbench .*open-au|open-au.*flashbench ).*)$";
    Gives ROW => of_areas;
};

/// Times in a line of a listing; the names are in their order, "diff" first.
const SIDES: [&str; 4] = ["diff", "on", "post", "pre"];
const TIMES: &str = r"(?m)^\s*align\s+(?<align>\d+)\s+pre\s+(?<pre>\S+)\s+on\s+(?<on>\S+)\s+post\s+(?<post>\S+)\s+diff\s+(?<diff>\S+)";
/// A line with a block size and its rates.
const ROW: &str = r"(?m)^[ \t]*(?<size>\d\S*B)(?<rates>(?:[ \t]+\d\S*(?:/s|/|[GMK])){1,64})[ \t]*$";

/// Nanoseconds of "9.16µs", "-1055ns", "1.2ms", "-54142n" and "-123456" (in both the field was too
/// narrow for the unit).
fn time_ns(text: &str) -> Option<f64> {
    let plain = text.strip_prefix('-').unwrap_or(text);
    let (value, unit) = with_unit(plain)?;
    let sign = if plain.len() < text.len() { -1.0 } else { 1.0 };
    let unit = match unit {
        "n" => "ns",
        "" if value * sign <= 0.0 => "ns",
        "m" => "ms",
        other if other.starts_with(['µ', 'μ']) => "us",
        other => other,
    };
    Some(sign * text::time_ns(value, unit)?)
}

fn of_boundary(known: &Known) -> Made {
    let align = wanted("the boundary", known.count("align"))? as f64;
    // Size of a read, if the command is above; flashbench halves the boundary down to twice that of
    // a read.
    let block = known.size("block").or((align >= 2.0).then_some(align as u64 / 2));
    let mut cell = cell(test::ALIGN_READ, Direction::Read, Pattern::Strided, block);
    let (x, y) = (SeriesAxis::OffsetBytes, SeriesAxis::LatencyNs);
    for side in SIDES {
        let ns = wanted(side, time_ns(known.text(side)))?;
        cell.series.push(Series { name: side.to_owned(), x, y, points: vec![[align, ns]] });
    }
    let is_cut = |side: &&str| known.text(side).ends_with(|c: char| c.is_ascii_digit() || c == 'n');
    let text = "negative differences have lost the end of their unit; they are nanoseconds";
    Ok(vec![cell.note_if(SIDES.iter().any(is_cut), text)])
}

/// Joins a boundary to the listing above it; one that the listing already has begins the next.
fn join_listing(known: &mut Known, run: &mut ImportedRun) {
    let Some(last) = run.cells.len().checked_sub(1).filter(|last| *last > 0 && known.has("align"))
    else {
        return;
    };
    let (listing, row) = run.cells.split_at_mut(last);
    let (listing, row) = (&mut listing[last - 1].1, &row[0].1);
    let is_there = |point: &[f64; 2]| point[0] == row.series[0].points[0][0];
    if listing.series[0].points.iter().any(is_there) {
        return;
    }
    for (all, one) in listing.series.iter_mut().zip(&row.series) {
        let before = all.points.partition_point(|point| point[0] < one.points[0][0]);
        all.points.insert(before, one.points[0]);
    }
    listing.params.block_bytes = listing.params.block_bytes.min(row.params.block_bytes);
    listing.flags = if row.flags.is_empty() { listing.flags.clone() } else { row.flags.clone() };
    run.cells.truncate(last);
}

/// Bytes a second of "865M/s", "1.589G/" and "12.34G", and true if the unit was cut off.
fn rate_of(text: &str) -> Option<(f64, bool)> {
    let found = re!(r"^([\d.]+)([GMKkB/])").captures(text)?;
    let factor = prefix(group(&found, 2).trim_matches(['B', '/']), 1000.0)?;
    Some((group(&found, 1).parse::<f64>().ok()? * factor, !text.ends_with("/s")))
}

fn of_areas(known: &Known) -> Made {
    let Some(block) = known.size("size").filter(|block| *block >= 512) else {
        return Ok(Vec::new());
    };
    let texts: Vec<&str> = known.text("rates").split_whitespace().collect();
    let of_column = |(column, text): (usize, &&str)| {
        let is_no_rate = || format!("'{text}' is no rate");
        let (bps, is_cut) = rate_of(text).ok_or_else(is_no_rate)?;
        let cell = if texts.len() > 1 { of_area(block, column) } else { of_open_aus(known, block) };
        Ok(cell.rate(bps, 1).note_if(is_cut, "the field was too narrow for the end of its unit"))
    };
    texts.iter().enumerate().map(of_column).collect()
}

/// Cell of a column of `-f`: one of the first allocation units, written once with each block size,
/// largest first.
fn of_area(block: u64, column: usize) -> Cell {
    let cell = cell("flashbench:find-fat", Direction::Write, Pattern::Sequential, block);
    cell.writes(Content::Zeros)
        .region(Region::Front)
        .param("au_index", column as f64)
        .label("area", &(column + 1).to_string())
}

/// Cell of a line of `--open-au`: all block sizes are measured in one allocation unit after the
/// other, not to the steady state that `open-aus` waits for.
fn of_open_aus(known: &Known, block: u64) -> Cell {
    let heading = known.text("heading").to_lowercase();
    let n_aus = re!(r"(?:open-au-nr|au)=(\d+),*(?:\s|$)").captures(&heading);
    let n_aus = n_aus.and_then(|found| number(group(&found, 1)));
    let is_linear = ["linear", "flashbench"].iter().any(|word| heading.contains(word));
    let (pattern, form) = match heading.contains("random") {
        true => (Pattern::Permutation, Some("random")),
        false => (Pattern::Sequential, is_linear.then_some("linear")),
    };
    let mut cell =
        cell("flashbench:open-au", Direction::Write, pattern, block).writes(Content::Zeros);
    cell.params.form = form.map(str::to_owned);
    match n_aus {
        Some(n) => cell.param("n_aus", n).other("open_aus", n, 1),
        None => cell.note("the text does not say how many allocation units were open"),
    }
}
