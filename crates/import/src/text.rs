//! Text as tools print it, and the numbers in it.

use record::Moment;
use record::units::SECOND_NS;
use regex::Captures;

pub(crate) use record::text::one_line as short;

/// A regular expression, compiled at its first use. The programs know no classes of Unicode beside
/// `\w`, `\s`, `\d`: `\p{L}` compiles in tests alone.
macro_rules! re {
    ($pattern:expr) => {{
        static RE: std::sync::LazyLock<regex::Regex> =
            std::sync::LazyLock::new(|| regex::Regex::new($pattern).expect("a pattern of ours"));
        &*RE
    }};
}
pub(crate) use re;

/// Text of a group; empty if the group took no part in the match.
pub(crate) fn group<'a>(captured: &Captures<'a>, number: usize) -> &'a str {
    captured.get(number).map_or("", |group| group.as_str().trim())
}

/// Longest line that is read, in bytes; fio's JSON has shorter ones, and so has everything else.
const LONGEST_LINE: usize = 1 << 20;

/// A text in lines.
pub(super) struct ImportText<'a> {
    /// The whole text, lines that are too long included.
    pub text: &'a str,
    /// Lines of the text without their ends; those that are too long are empty.
    pub lines: Vec<&'a str>,
}

impl<'a> ImportText<'a> {
    pub fn new(text: &'a str) -> ImportText<'a> {
        let cut = |line: &'a str| if line.len() > LONGEST_LINE { &line[..0] } else { line };
        ImportText { text, lines: text.lines().map(cut).collect() }
    }

    /// Lines with their numbers, from 0.
    pub fn numbered(&self) -> impl Iterator<Item = (usize, &'a str)> {
        self.lines.iter().copied().enumerate()
    }

    /// A line by its number; empty if there is none.
    pub fn line(&self, at: usize) -> &'a str {
        self.lines.get(at).copied().unwrap_or_default()
    }

    /// Number of the line with this byte of the text.
    pub fn place_of(&self, byte: usize) -> usize {
        let start = |line: &str| (line.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        self.lines.partition_point(|line| start(line) <= byte).saturating_sub(1)
    }
}

/// A number with a unit of rates or times. "Gb/s" is the speed of a link, in bits.
pub(super) const FIGURE: &str = r"\d[.,]?[ \t]*(?:(?i:[kmt]?b/s|[kmg]ib/s|[kmg]?b/sec|[kmg]/s|[mk]/sec|iops|ops/s|ops/sec|[uµμ]s|usec|ms|msec|mbps)|[gG]B/s|gb/s)(?:[^\w/]|$)";

/// Parses a number as these tools print it: digits with a decimal point, perhaps an exponent. No
/// sign, no "nan", no "inf".
pub(super) fn number(text: &str) -> Option<f64> {
    let is_plain = re!(r"^[0-9.][0-9.eE+-]{0,39}$").is_match(text.trim());
    text.trim().parse().ok().filter(|value: &f64| is_plain && value.is_finite())
}

/// Parses a whole number of decimal digits; `None` for a sign, a point, or more than 64 bits.
pub(super) fn whole(text: &str) -> Option<u64> {
    let digits = Some(text.trim()).filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    digits?.parse().ok()
}

/// Splits "12.1MB/s" into 12.1 and "MB/s", "1e+03 us" into 1000 and "us", "49,3 MB/s" into 49.3 and
/// its unit, with or without a space.
pub(super) fn with_unit(text: &str) -> Option<(f64, &str)> {
    let parts = re!(r"(?s)^([0-9.,]*(?:[eE][+-]?[0-9]+)?)(.*)$").captures(text.trim())?;
    Some((decimal(group(&parts, 1))?, group(&parts, 2)))
}

/// Parses a number with a decimal point or a decimal comma.
pub(super) fn decimal(text: &str) -> Option<f64> {
    if text.contains(',') && !text.contains('.') {
        return number(&text.replacen(',', ".", 1));
    }
    number(text)
}

/// Factor of a prefix: "K", "M", "G", "T" of 1000 or 1024, in either case; "" is 1.
pub(super) fn prefix(letter: &str, step: f64) -> Option<f64> {
    let power = ["", "k", "m", "g", "t"].iter().position(|it| letter.eq_ignore_ascii_case(it));
    Some(step.powi(power? as i32))
}

/// Bytes of "4K", "16KiB", "1M", "512": prefixes of 1024, whatever follows them.
pub(super) fn size(text: &str) -> Option<u64> {
    let (value, unit) = with_unit(text)?;
    let unit = unit.to_ascii_lowercase();
    let letter = unit.trim_end_matches('b').trim_end_matches('i').trim_end_matches("yte");
    let bytes = value * prefix(letter, 1024.0)?;
    (bytes.fract() == 0.0 && bytes <= (1u64 << 60) as f64).then_some(bytes as u64)
}

/// Number of a text with a prefix: "25.7k" as 25700, "16 KiB" as 16384 where `step` is 1024.
pub(super) fn scaled(text: &str, step: f64) -> Option<f64> {
    let (value, letter) = with_unit(text)?;
    Some(value * prefix(letter.trim_end_matches(['B', 'i']), step)?)
}

/// Bytes a second of a text "1.5 GB/s"; see [`rate_in`].
pub(super) fn rate(text: &str, step: f64) -> Option<f64> {
    with_unit(text).and_then(|(value, unit)| rate_in(value, unit, step))
}

/// Bytes a second, with prefixes that are powers of `step` unless the unit says "MiB/s".
pub(super) fn rate_in(value: f64, unit: &str, step: f64) -> Option<f64> {
    let lower = unit.trim().to_ascii_lowercase();
    let bytes = lower.strip_suffix("/s").or_else(|| lower.strip_suffix("/sec"))?;
    let letter = bytes
        .strip_suffix("byte")
        .or_else(|| bytes.strip_suffix("bytes"))
        .or_else(|| bytes.strip_suffix('b'))?;
    let (letter, step) = letter.strip_suffix('i').map_or((letter, step), |letter| (letter, 1024.0));
    Some(tidy(value * prefix(letter.trim(), step)?))
}

/// Removes the error of a product of decimal fractions: 8.3 MB/s are 8300000 bytes, not
/// 8300000.000000001.
fn tidy(value: f64) -> f64 {
    if value < 1e12 { (value * 1e3).round() / 1e3 } else { value }
}

/// Nanoseconds of a text "2.01 ms".
pub(super) fn time(text: &str) -> Option<f64> {
    with_unit(text).and_then(|(value, unit)| time_ns(value, unit))
}

/// Nanoseconds of a time "155.3 us", "2.01 ms", "4.00 s".
pub(super) fn time_ns(value: f64, unit: &str) -> Option<f64> {
    let factor = match unit.trim() {
        "ns" | "nsec" => 1.0,
        "us" | "usec" | "µs" | "μs" | "µ" | "μ" | "u" => 1e3,
        "ms" | "msec" => 1e6,
        "s" | "sec" | "secs" | "seconds" => 1e9,
        "m" | "min" => 60e9,
        "h" | "hour" | "hours" => 3600e9,
        _ => return None,
    };
    Some(tidy(value * factor))
}

/// Moment in RFC 3339, so many seconds after the beginning of 1970.
pub(super) fn moment(seconds: f64) -> Option<String> {
    let seconds = Some(seconds).filter(|seconds| (0.0..1e11).contains(seconds))? as i128;
    Some(Moment(seconds * i128::from(SECOND_NS)).to_string())
}

/// Figure of a line, or why it cannot be read.
pub(super) fn wanted<T>(what: &str, value: Option<T>) -> Result<T, String> {
    value.ok_or_else(|| format!("{what} is missing or is no number"))
}
