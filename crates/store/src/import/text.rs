//! Text as tools print it, and the numbers in it.

use super::ImportError;
use super::imported_run::ImportTrouble;
pub(crate) use super::imported_run::short;

/// Longest line that is looked at; fio's JSON has shorter ones, and so has everything else.
const LONGEST_LINE: usize = 1 << 20;

/// The text of a file, once decoded and cleaned of what only a terminal understands.
pub(super) fn decode(bytes: &[u8]) -> Result<String, ImportError> {
    let text = match bytes {
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => latin_or_utf8(rest),
        _ => latin_or_utf8(bytes),
    };
    if text.contains('\0') {
        return Err(ImportError::NotText);
    }
    Ok(tidied(&text))
}

fn utf16(bytes: &[u8], word: fn([u8; 2]) -> u16) -> String {
    let words = bytes.chunks_exact(2).map(|pair| word([pair[0], pair[1]]));
    char::decode_utf16(words).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

/// Old tools print µ as one byte: what is no UTF-8 is Latin-1.
fn latin_or_utf8(bytes: &[u8]) -> String {
    std::str::from_utf8(bytes)
        .map_or_else(|_| bytes.iter().map(|byte| *byte as char).collect(), str::to_owned)
}

/// Without carriage returns, with plain spaces, and with what was overprinted by backspaces gone.
fn tidied(text: &str) -> String {
    if !text.contains(['\r', '\u{8}', '\u{a0}', '\u{1b}', '\u{202f}']) {
        return text.to_owned();
    }
    let mut tidy = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\r' if letters.peek() == Some(&'\n') => {}
            '\r' => tidy.push('\n'),
            '\u{a0}' | '\u{202f}' => tidy.push(' '),
            '\u{8}' => drop(tidy.pop_if_inside_a_line()),
            // A colour: ESC [ .. letter.
            '\u{1b}' => while letters.next().is_some_and(|c| !c.is_ascii_alphabetic()) {},
            other => tidy.push(other),
        }
    }
    tidy
}

trait InsideLine {
    fn pop_if_inside_a_line(&mut self) -> Option<char>;
}

impl InsideLine for String {
    fn pop_if_inside_a_line(&mut self) -> Option<char> {
        if self.ends_with('\n') { None } else { self.pop() }
    }
}

/// A text in lines.
pub(super) struct ImportText<'a> {
    /// The whole text, lines that are too long included.
    pub text: &'a str,
    /// Its lines without their ends; absurdly long ones are empty here.
    pub lines: Vec<&'a str>,
}

impl<'a> ImportText<'a> {
    pub fn new(text: &'a str) -> ImportText<'a> {
        let lines =
            text.lines().map(|line| if line.len() > LONGEST_LINE { "" } else { line }).collect();
        ImportText { text, lines }
    }

    /// The lines with their numbers, counted from 1.
    pub fn numbered(&self) -> impl Iterator<Item = (usize, &'a str)> + '_ {
        (1..).zip(self.lines.iter().copied())
    }

    /// Whether a line is so.
    pub fn has(&self, is_so: impl Fn(&str) -> bool) -> bool {
        self.lines.iter().any(|line| is_so(line))
    }

    /// Whether this stands anywhere.
    pub fn contains(&self, words: &str) -> bool {
        self.text.contains(words)
    }
}

/// What stands between two texts; the first occurrence of each, the second after the first.
pub(super) fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(before)?;
    rest.split_once(after).map(|(inside, _)| inside)
}

/// A number as these tools print it: digits with a decimal point, perhaps an exponent. No sign, no
/// "nan", no "inf".
pub(super) fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let plain = text.starts_with(|c: char| c.is_ascii_digit() || c == '.') && text.len() <= 40;
    let known = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-');
    if !plain || !text.chars().all(known) {
        return None;
    }
    text.parse::<f64>().ok().filter(|value| value.is_finite())
}

/// The same with a sign in front.
pub(super) fn signed(text: &str) -> Option<f64> {
    match text.trim().strip_prefix('-') {
        Some(rest) => number(rest).map(|value| -value),
        None => number(text),
    }
}

/// A whole number in decimal digits alone; none for a sign, a point, or more than 64 bits.
pub(super) fn whole(text: &str) -> Option<u64> {
    let text = text.trim();
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

/// "12.1MB/s" as 12.1 and "MB/s"; the unit may stand apart.
pub(super) fn with_unit(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    Some((number(text.get(..end)?)?, text.get(end..)?.trim()))
}

/// What a prefix multiplies by: "K", "M", "G", "T" of 1000 or 1024, in either case; "" is 1.
pub(super) fn prefix(letter: &str, step: f64) -> Option<f64> {
    let power = match letter.to_ascii_lowercase().as_str() {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return None,
    };
    Some(step.powi(power))
}

/// Bytes of "4K", "16KiB", "1M", "512": prefixes of 1024, whatever follows them.
pub(super) fn size(text: &str) -> Option<u64> {
    let (value, unit) = with_unit(text)?;
    let unit = unit.to_ascii_lowercase();
    let letter = unit.trim_end_matches('b').trim_end_matches('i').trim_end_matches("yte");
    let bytes = value * prefix(letter, 1024.0)?;
    (bytes.fract() == 0.0 && bytes <= (1u64 << 60) as f64).then_some(bytes as u64)
}

/// Bytes a second of a rate "1.5 GB/s" whose prefixes are powers of 1000, or of 1024 where they say
/// so ("MiB/s").
pub(super) fn decimal_rate(value: f64, unit: &str) -> Option<f64> {
    rate(value, unit, 1000.0)
}

/// The same of a tool whose prefixes are powers of 1024 although it prints "MB/s".
pub(super) fn binary_rate(value: f64, unit: &str) -> Option<f64> {
    rate(value, unit, 1024.0)
}

fn rate(value: f64, unit: &str, step: f64) -> Option<f64> {
    let lower = unit.trim().to_ascii_lowercase();
    let bytes = lower.strip_suffix("/s").or_else(|| lower.strip_suffix("/sec"))?;
    let letter = bytes
        .strip_suffix("byte")
        .or_else(|| bytes.strip_suffix("bytes"))
        .or_else(|| bytes.strip_suffix('b'))?;
    let (letter, step) = letter.strip_suffix('i').map_or((letter, step), |letter| (letter, 1024.0));
    Some(tidy(value * prefix(letter.trim(), step)?))
}

/// Without what a product of decimal fractions has too much: 8.3 MB/s are 8300000 bytes, not
/// 8300000.000000001.
fn tidy(value: f64) -> f64 {
    if value < 1e12 { (value * 1e3).round() / 1e3 } else { value }
}

/// Nanoseconds of a time "155.3 us", "2.01 ms", "4.00 s".
pub(super) fn time_ns(value: f64, unit: &str) -> Option<f64> {
    let factor = match unit.trim() {
        "ns" | "nsec" => 1.0,
        "us" | "usec" | "µs" | "μs" => 1e3,
        "ms" | "msec" => 1e6,
        "s" | "sec" | "secs" | "seconds" => 1e9,
        "m" | "min" => 60e9,
        "h" | "hour" | "hours" => 3600e9,
        _ => return None,
    };
    Some(tidy(value * factor))
}

/// A figure of a line, or the trouble that it is none.
pub(super) fn wanted(line: usize, what: &str, value: Option<f64>) -> Result<f64, ImportTrouble> {
    value.ok_or_else(|| ImportTrouble::at(line, format_args!("{what} is missing or is no number")))
}
