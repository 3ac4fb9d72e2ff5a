//! bonnie++'s CSV: of 1.03 (name, size, figures) and of 1.9x and 2.00 (version of the format,
//! version of the program, name, concurrency, time, size, ..).

use super::{FILES, Results, is_figure, latency_ns, rate, size_and_chunk};
use crate::text::{number, short, size};

/// Rates and percents of the tests with data, and as many of those with files.
const FIGURES: usize = 2 * FILES;

/// The results of a line.
pub(super) fn line(line: &str) -> Option<Results> {
    let line = line.trim();
    if line.len() > 1000 || line.matches(',').count() < 13 {
        return None;
    }
    let fields: Vec<&str> = line.split(',').map(str::trim).collect();
    if is_version(fields[0]) { of_new(&fields) } else { of_1_03(&fields) }
}

fn is_version(text: &str) -> bool {
    let known = ["1.93c", "1.94", "1.95", "1.96", "1.97", "1.98", "1.99", "2.00"];
    known.iter().any(|version| text.starts_with(version))
}

/// Name, size, 12 figures, number of files, 12 figures.
fn of_1_03(fields: &[&str]) -> Option<Results> {
    let (span, chunk) = size_and_chunk(fields.get(1)?)?;
    let mut results = Results {
        version: "1.03".to_owned(),
        span_bytes: Some(span),
        chunk_bytes: chunk,
        threads: 1,
        ..Results::default()
    };
    figures(&mut results, 0, fields.get(2..2 + FIGURES)?)?;
    let files = 2 + FIGURES;
    results.files = fields.get(files).map(|text| short(text, 40)).unwrap_or_default();
    if let Some(of_files) = fields.get(files + 1..files + 1 + FIGURES) {
        figures(&mut results, FILES, of_files)?;
    }
    Some(results)
}

/// Where 1.98 has the size of a seek's read and the number of processes that seek, the others go on
/// with figures.
fn of_new(fields: &[&str]) -> Option<Results> {
    let has_seek_fields = fields[0].starts_with("1.98") || fields[0].starts_with("1.99");
    let first = if has_seek_fields { 9 } else { 7 };
    // `-s 0` measures no data.
    let span = match *fields.get(5)? {
        "" | "0" => None,
        text => Some(size_and_chunk(text)?.0),
    };
    let mut results = Results {
        version: short(fields.get(1)?, 20),
        span_bytes: span,
        chunk_bytes: fields.get(6).and_then(|text| size(text)).filter(|chunk| *chunk > 0),
        threads: fields.get(3)?.parse().ok().filter(|n| (1..=65_536).contains(n))?,
        began: fields.get(4).and_then(|text| text.parse().ok()),
        ..Results::default()
    };
    figures(&mut results, 0, fields.get(first..first + FIGURES)?)?;
    let files = first + FIGURES;
    results.files = fields.get(files).map(|text| short(text, 40)).unwrap_or_default();
    if let Some(of_files) = fields.get(files + 5..files + 5 + FIGURES) {
        figures(&mut results, FILES, of_files)?;
    }
    let latencies = fields.get(files + 5 + FIGURES..).unwrap_or_default();
    for (place, text) in results.longest_ns.iter_mut().zip(latencies) {
        *place = latency_ns(text);
    }
    Some(results)
}

/// Pairs of rate and percent; none where one is neither a number nor blank nor plus signs.
fn figures(results: &mut Results, from: usize, fields: &[&str]) -> Option<()> {
    fields.iter().all(|text| text.is_empty() || is_figure(text)).then_some(())?;
    for (place, pair) in results.figures[from..].iter_mut().zip(fields.chunks(2)) {
        *place = rate(pair[0]).map(|rate| (rate, pair.get(1).and_then(|text| number(text))));
    }
    Some(())
}
