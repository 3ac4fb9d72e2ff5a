//! Bytes, nanoseconds and rates: parsing of what a person types, and printing for people.
//!
//! MB = 10^6 bytes and MiB = 2^20 bytes; a bare `k`, `M`, `G` is binary, as in fio, dd and iozone.
//! Every printed figure names its unit.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One KiB, in bytes.
pub const KIB: u64 = 1 << 10;
/// One MiB, in bytes.
pub const MIB: u64 = 1 << 20;
/// One GiB, in bytes.
pub const GIB: u64 = 1 << 30;
/// One TiB, in bytes.
pub const TIB: u64 = 1 << 40;
/// One second, in nanoseconds.
pub const SECOND_NS: u64 = 1_000_000_000;
/// One millisecond, in nanoseconds.
pub const MILLISECOND_NS: u64 = 1_000_000;

/// A number of bytes.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Bytes(pub u64);

/// A length of time in nanoseconds.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Nanos(pub u64);

/// I/O operations a second.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Iops(pub f64);

/// A rate in bytes a second, printed as kB/s, MB/s or GB/s.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct BytesPerSecond(pub f64);

/// A size or duration could not be parsed; the message has the text and valid examples.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{given}' is not a {what}; write {examples}")]
pub struct UnitError {
    given: String,
    what: &'static str,
    examples: &'static str,
}

const SIZES: [(&str, u64); 21] = [
    ("", 1),
    ("b", 1),
    ("k", KIB),
    ("m", MIB),
    ("g", GIB),
    ("t", 1 << 40),
    ("ki", KIB),
    ("mi", MIB),
    ("gi", GIB),
    ("ti", 1 << 40),
    ("kib", KIB),
    ("mib", MIB),
    ("gib", GIB),
    ("tib", 1 << 40),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("tb", 1_000_000_000_000),
    ("s", 512),
    ("sector", 512),
    ("sectors", 512),
];

const DURATIONS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", MILLISECOND_NS),
    ("s", SECOND_NS),
    ("", SECOND_NS),
    ("m", 60 * SECOND_NS),
    ("min", 60 * SECOND_NS),
    ("h", 3_600 * SECOND_NS),
];

/// Splits "1.5GiB" into its number and its suffix and multiplies them out, rounded to a whole unit.
fn parse(text: &str, suffixes: &[(&str, u64)]) -> Option<u64> {
    let text = text.trim();
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, suffix) = text.split_at(split);
    let suffix = suffix.trim().to_ascii_lowercase();
    let (_, factor) = suffixes.iter().find(|(name, _)| *name == suffix)?;
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(*factor);
    }
    let value = number.parse::<f64>().ok()? * *factor as f64;
    (value.is_finite() && (0.0..9e18).contains(&value)).then_some(value.round() as u64)
}

impl std::str::FromStr for Bytes {
    type Err = UnitError;
    /// Reads "512", "4k", "4KiB", "1.5GiB", "32GB". A bare k, M, G or T is binary.
    fn from_str(text: &str) -> Result<Self, UnitError> {
        parse(text, &SIZES).map(Bytes).ok_or_else(|| UnitError {
            given: text.to_owned(),
            what: "size",
            examples: "a number with B, KiB, MiB, GiB (binary) or kB, MB, GB (decimal), for example 4KiB or 32GB",
        })
    }
}

impl std::str::FromStr for Nanos {
    type Err = UnitError;
    /// Reads "90", "90s", "500ms", "10m", "2h". A bare number is seconds.
    fn from_str(text: &str) -> Result<Self, UnitError> {
        parse(text, &DURATIONS).map(Nanos).ok_or_else(|| UnitError {
            given: text.to_owned(),
            what: "duration",
            examples: "a number with ms, s, m or h, for example 90s or 10m",
        })
    }
}

/// A value with the unit in its metric's name (`_iops`, `_bps`, `_ns`, `_ms`, `_s`, `_bytes`,
/// `_per_s`).
pub fn quantity(name: &str, value: f64) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    match name {
        _ if name.ends_with("_per_s") => format!("{} /s", significant(value)),
        _ if name.ends_with("iops") => Iops(value).to_string(),
        _ if name.ends_with("bps") => BytesPerSecond(value).to_string(),
        _ if name.ends_with("_bytes") && value >= 0.0 => Bytes(value as u64).to_string(),
        _ if name.ends_with("_ns") || name.contains("_ns_per_") => nanos(value),
        _ if name.ends_with("_ms") => nanos(value * 1e6),
        _ if name.ends_with("_s") => nanos(value * 1e9),
        _ if name.ends_with("_ratio") => format!("{} x", significant(value)),
        _ if name.ends_with("_percent") => format!("{} %", significant(value)),
        _ if name.ends_with("_celsius") => format!("{} °C", significant(value)),
        _ => significant(value),
    }
}

/// A duration; negative ones (differences) keep their sign.
fn nanos(ns: f64) -> String {
    let text = Nanos(ns.abs().round() as u64).to_string();
    if ns < 0.0 { format!("-{text}") } else { text }
}

/// Both ends of an interval, with one unit if both have the same: "46.0 to 50.2 IOPS".
pub fn interval(name: &str, [low, high]: [f64; 2]) -> String {
    let (from, to) = (quantity(name, low), quantity(name, high));
    let parts = |text: &str| {
        text.split_once(' ')
            .filter(|(_, unit)| !unit.contains(' '))
            .map(|(number, unit)| (number.to_owned(), unit.to_owned()))
    };
    match (parts(&from), parts(&to)) {
        (Some((number, unit)), Some((_, same))) if unit == same => format!("{number} to {to}"),
        // 980 kB/s to 1.02 MB/s is harder to read than 0.980 to 1.02 MB/s.
        (Some(_), Some((number, _))) if high > 0.0 => {
            let scale = number.parse::<f64>().unwrap_or(f64::NAN) / high;
            format!("{} to {to}", significant(low * scale))
        }
        _ => format!("{from} to {to}"),
    }
}

/// An interval without the unit, which its figure has already.
pub fn without_unit<'a>(interval: &'a str, figure: &str) -> &'a str {
    let unit = figure.split_once(' ').map(|(_, unit)| format!(" {unit}")).unwrap_or_default();
    interval.strip_suffix(&unit).unwrap_or(interval)
}

/// A ratio with two digits: "0.55", "12".
pub fn times(ratio: f64) -> String {
    let decimals =
        if ratio > 0.0 { (1 - ratio.log10().floor() as i32).clamp(0, 6) as usize } else { 0 };
    format!("{ratio:.decimals$}")
}

/// A ratio in words: "41x slower than", "3.2x faster than".
pub fn against(ratio: f64) -> String {
    match ratio {
        ratio if ratio >= 1.05 => format!("{}x faster than", times(ratio)),
        ratio if ratio <= 1.0 / 1.05 => format!("{}x slower than", times(1.0 / ratio)),
        _ => "about as fast as".to_owned(),
    }
}

impl fmt::Display for Bytes {
    /// Writes exact binary sizes in binary units ("4 KiB", "1 GiB"), everything else in decimal
    /// ones ("31.9 GB").
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.0;
        let text = match bytes {
            0..KIB => format!("{bytes} B"),
            _ if bytes.is_multiple_of(TIB / 4) && bytes >= TIB => {
                format!("{} TiB", bytes as f64 / TIB as f64)
            }
            _ if bytes.is_multiple_of(GIB) && bytes < TIB => format!("{} GiB", bytes / GIB),
            _ if bytes.is_multiple_of(MIB) && bytes < TIB => format!("{} MiB", bytes / MIB),
            _ if bytes.is_multiple_of(KIB) && bytes < 16 * MIB => format!("{} KiB", bytes / KIB),
            _ => decimal(bytes),
        };
        f.pad(&text)
    }
}

/// A size in decimal units, as rates are: "268 MB".
pub fn decimal(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{} kB", significant(bytes as f64 / 1e3)),
        1_000_000..1_000_000_000 => format!("{} MB", significant(bytes as f64 / 1e6)),
        1_000_000_000..1_000_000_000_000 => format!("{} GB", significant(bytes as f64 / 1e9)),
        _ => format!("{} TB", significant(bytes as f64 / 1e12)),
    }
}

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0 as f64;
        let text = match self.0 {
            0..1_000 => format!("{} ns", self.0),
            1_000..1_000_000 => format!("{} µs", significant(ns / 1e3)),
            1_000_000..SECOND_NS => format!("{} ms", significant(ns / 1e6)),
            _ if ns < 120e9 => format!("{} s", significant(ns / 1e9)),
            _ => {
                let seconds = (ns / 1e9).round() as u64;
                match seconds {
                    0..7_200 => format!("{} min {:02} s", seconds / 60, seconds % 60),
                    7_200..172_800 => format!("{} h {:02} min", seconds / 3_600, seconds / 60 % 60),
                    _ => format!("{} days {} h", seconds / 86_400, seconds / 3_600 % 24),
                }
            }
        };
        f.pad(&text)
    }
}

impl fmt::Display for Iops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{} IOPS", significant(self.0)))
    }
}

impl fmt::Display for BytesPerSecond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self.0 {
            rate if rate < 1e6 => format!("{} kB/s", significant(rate / 1e3)),
            rate if rate < 1e9 => format!("{} MB/s", significant(rate / 1e6)),
            rate => format!("{} GB/s", significant(rate / 1e9)),
        };
        f.pad(&text)
    }
}

/// Rounds to three significant digits, never in scientific notation: 0.0123, 1.23, 12.3, 123, 1234.
pub fn significant(value: f64) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let decimals = (2 - value.abs().log10().floor() as i32).clamp(0, 9) as usize;
    format!("{value:.decimals$}")
}

/// A number with so many significant digits, at least one; what is not finite stays.
pub fn rounded(value: f64, digits: usize) -> f64 {
    format!("{value:.*e}", digits.saturating_sub(1)).parse().unwrap_or(value)
}

/// Sum of bytes or times, at most `u64::MAX`: the values of a hostile file may overflow.
pub fn saturating_sum(values: impl IntoIterator<Item = u64>) -> u64 {
    values.into_iter().fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Result<u64, String> {
        text.parse::<Bytes>().map(|b| b.0).map_err(|e| e.to_string())
    }

    fn answer(question: &str) -> String {
        let (kind, of) = question.split_once(' ').unwrap();
        let number = || of.parse::<f64>().unwrap();
        let words: Vec<&str> = of.split(' ').collect();
        match kind {
            "read-size" => bytes(of).map_or_else(|error| error, |bytes| bytes.to_string()),
            "read-time" => of.parse::<Nanos>().unwrap().0.to_string(),
            "size" => Bytes(of.parse().unwrap()).to_string(),
            "time" => Nanos(of.parse().unwrap()).to_string(),
            "rate" => BytesPerSecond(number()).to_string(),
            "digits" => significant(number()),
            "quantity" => quantity(words[0], words[1].parse().unwrap()),
            "interval" => interval(words[0], [words[1], words[2]].map(|end| end.parse().unwrap())),
            _ => panic!("{question}"),
        }
    }

    #[test]
    fn numbers_and_texts_of_every_unit_are_those_of_the_rows() {
        crate::cases::check_rows("src/units.txt", answer);
        let rows = include_str!("units.txt");
        assert_eq!(rows.matches("\nread-time ").count(), DURATIONS.len());
        for (suffix, _) in SIZES {
            let has = |row: &str| {
                let number =
                    row.strip_prefix("read-size ").unwrap_or_default().split(" => ").next();
                let letters = number.unwrap_or_default().trim_start_matches(['1', '2', ' ']);
                letters.to_lowercase() == suffix
            };
            assert!(rows.lines().any(has), "{suffix}");
        }
        assert_eq!(without_unit("46.0 to 50.2 IOPS", "47.0 IOPS"), "46.0 to 50.2");
    }

    proptest::proptest! {
        #[test]
        fn whole_numbers_survive_reading(n in 0u64..1 << 40) {
            assert_eq!(bytes(&n.to_string()), Ok(n));
            assert_eq!(bytes(&format!("{n} KiB")), Ok(n * KIB));
        }
    }
}
