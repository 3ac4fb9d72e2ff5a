//! Filters of the templates.

use std::fmt::Display;

use askama::{Result, Values};

/// Units that are not parted from their number at the end of a line.
const UNITS: [&str; 24] = [
    "%", "ns", "µs", "ms", "s", "min", "h", "B", "KiB", "MiB", "GiB", "TiB", "kB", "MB", "GB",
    "TB", "kB/s", "MB/s", "GB/s", "Mbit/s", "IOPS", "I/Os", "×", "°C",
];

/// A text whose numbers stay on one line with their units.
#[askama::filter_fn]
pub fn tied(text: impl Display, _: &dyn Values) -> Result<String> {
    let mut out = String::new();
    for word in text.to_string().split(' ') {
        let unit = word.trim_end_matches([',', '.', ';', ':', ')']);
        let is_number = out.ends_with(|c: char| c.is_ascii_digit());
        if !out.is_empty() {
            out.push(if is_number && UNITS.contains(&unit) { '\u{a0}' } else { ' ' });
        }
        out.push_str(word);
    }
    Ok(out)
}
