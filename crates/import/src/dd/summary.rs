//! Summary lines of dd, in the languages of coreutils. Words and their order differ; the order of
//! the figures is common to all: bytes, time, rate.

use crate::text::{decimal_rate, re, whole, with_unit};

/// Figures of a summary of dd.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct DdSummary {
    pub bytes: u64,
    pub seconds: f64,
    /// Rate as printed, in bytes a second; `None` if it cannot be read.
    pub bps: Option<f64>,
}

/// Parts of the words for "copied" in coreutils' translations (its msgid "%s bytes copied, %s, %s").
const COPIED: &str = "(?i)copied|kopiert|kopeeritud|copié|copiad|copiat|kopiran|복사|gekopieerd|kopyaland|скопи|скопі|скапі|已复制|已複製|コピー|kopierad|kopioitu|skopiowan|zkopírován|skopírov|kopieret|cóipeáil|másolva|disalin|chép";

/// Parses "67108864 bytes (67 MB, 64 MiB) copied, 1.72648 s, 38.9 MB/s"; in Russian "скопировано
/// 67108864 байт (67 MB), 1,72648 c, 38,9 MB/c"; BSD: ".. transferred in 1.7 secs (..)".
pub(super) fn summary(line: &str) -> Option<DdSummary> {
    let line = line.trim();
    if line.len() > 400 {
        return None;
    }
    if let Some((bytes, rest)) = line.split_once(" bytes transferred in ") {
        let (time, rate) = rest.split_once(" (")?;
        let bps =
            with_unit(rate.trim_end_matches(')')).and_then(|(value, unit)| rate_of(value, unit));
        return Some(DdSummary { bytes: whole(bytes)?, seconds: seconds(time)?, bps });
    }
    let wide;
    let line = if line.contains('，') {
        wide = line.replace('，', ", ");
        &wide
    } else {
        line
    };
    let (rest, rate) = line.rsplit_once(", ")?;
    let (head, time) = rest.rsplit_once(", ")?;
    let (seconds, bytes) = (seconds(time)?, bytes(head)?);
    let bps = with_unit(rate).and_then(|(value, unit)| rate_of(value, unit));
    let found = DdSummary { bytes, seconds, bps };
    (found.agrees() || is_copied(head)).then_some(found)
}

impl DdSummary {
    /// True if the rate agrees with bytes and time.
    pub fn agrees(&self) -> bool {
        let exact = self.bytes as f64 / self.seconds;
        self.bps.is_some_and(|bps| (exact / bps - 1.0).abs() < 0.06)
    }
}

fn is_copied(head: &str) -> bool {
    re!(COPIED).is_match(head)
}

/// True if a line may be the beginning of a summary that was wrapped.
pub(super) fn begins_summary(line: &str) -> bool {
    let begun = line.trim_start();
    line.len() < 400
        && (begun.starts_with(|c: char| c.is_ascii_digit()) || is_copied(begun))
        && bytes(begun).is_some()
}

/// First whole number of a line: dd prints no other before the bytes.
fn bytes(head: &str) -> Option<u64> {
    let from = head.find(|c: char| c.is_ascii_digit())?;
    let rest = head.get(from..)?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let is_part = rest.get(end..)?.starts_with(['.', ',', '+', 'x']);
    let is_bracketed =
        head.get(..from)?.contains('(') || head.matches(')').count() > head.matches('(').count();
    whole(rest.get(..end)?).filter(|_| !is_part && !is_bracketed)
}

/// Seconds of "1.72648 s", "1,72648 c", "5 秒", "1e-05 s", "1.7 secs".
fn seconds(text: &str) -> Option<f64> {
    let (value, unit) = with_unit(text)?;
    let is_short = unit.chars().count() <= 10;
    let is_word = unit.chars().all(|c| c.is_alphabetic() || c == '.');
    (is_short && is_word && unit != "ms").then_some(value)
}

/// Bytes a second of "38.9 MB/s", "38,9 MB/c", "38,9 МБ/с", "38,9 Mo/s".
fn rate_of(value: f64, unit: &str) -> Option<f64> {
    let unit = unit.strip_suffix("/c").map_or(unit.to_owned(), |bytes| format!("{bytes}/s"));
    let latin = |c: char| match c {
        'с' | '秒' => 's',
        'Б' | 'б' | 'o' => 'B',
        'М' => 'M',
        'К' | 'к' => 'k',
        'Г' => 'G',
        other => other,
    };
    decimal_rate(value, &unit.chars().map(latin).collect::<String>())
}

/// Count of "1000+0 records out", "1000+0 записей получено", "输出了 1000+0 块记录": "1000+0".
pub(super) fn records(line: &str) -> Option<&str> {
    let found =
        re!(r"^\s*(?:[^\s\d]+\s+){0,5}(\d+\+\d+)(?:\s+[^\s\d]+){0,5}\s*$").captures(line)?;
    let is_short = line.len() <= 120 && (2..=6).contains(&line.split_whitespace().count());
    found.get(1).filter(|_| is_short).map(|counts| counts.as_str())
}
