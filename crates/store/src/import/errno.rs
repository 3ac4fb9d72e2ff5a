//! Error numbers of Linux and the words for them, and which of them are the medium's.

use std::fmt;
use std::sync::LazyLock;

/// A number and a text of strerror in each line: those of glibc in the languages that dd is known
/// in, and those of musl.
const TEXTS: &str = include_str!("errno_texts.tsv");

/// EILSEQ as the C library of Windows has it; Linux has ENOMSG there.
const EILSEQ_OF_WINDOWS: u32 = 42;

/// Whose error it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The medium failed, or is gone.
    Medium,
    /// The call, the host or a full file system; says nothing of the medium.
    Host,
    /// Either may be.
    Unknown,
}

/// Numbers that are known, with words for them.
const KNOWN: [(u32, &str, Origin); 17] = [
    (1, "operation not permitted", Origin::Host),
    (2, "no such file or directory", Origin::Host),
    (5, "input/output error", Origin::Medium),
    (6, "no such device or address", Origin::Medium),
    (12, "out of memory", Origin::Host),
    (13, "permission denied", Origin::Host),
    (16, "device or resource busy", Origin::Unknown),
    (19, "no such device", Origin::Medium),
    (22, "invalid argument", Origin::Host),
    (24, "too many open files", Origin::Host),
    (25, "not a call for this device", Origin::Host),
    (28, "no space left", Origin::Host),
    (30, "read-only file system", Origin::Unknown),
    (61, "no data available", Origin::Medium),
    (84, "damaged data (EILSEQ)", Origin::Medium),
    (95, "operation not supported", Origin::Host),
    (121, "remote I/O error", Origin::Medium),
];

/// An error that ended a tool's run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Errno {
    /// As Linux counts them.
    pub number: u32,
    /// Words for it, empty where it is not known.
    words: &'static str,
    /// Whose error it is.
    pub origin: Origin,
}

impl Errno {
    /// The error of a number as Linux counts them.
    pub fn of_number(number: u32) -> Errno {
        let known = KNOWN.iter().find(|(known, ..)| *known == number);
        known.map_or(Errno { number, words: "", origin: Origin::Unknown }, |(_, words, origin)| {
            Errno { number, words, origin: *origin }
        })
    }

    /// The error of a number as the C library of Windows counts them.
    pub fn of_windows(number: u32) -> Errno {
        Errno::of_number(if number == EILSEQ_OF_WINDOWS { 84 } else { number })
    }

    /// The error that a line names in the words of strerror, the longest of them; none without.
    pub fn in_text(line: &str) -> Option<Errno> {
        let line = folded(line);
        let named = LOWER_TEXTS.iter().filter(|(_, text)| holds(&line, text));
        let (number, _) = named.max_by_key(|(_, text)| text.len())?;
        Some(Errno::of_number(*number))
    }
}

impl fmt::Display for Errno {
    /// "input/output error"; "error 117" where there are no words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.words {
            "" => write!(f, "error {}", self.number),
            words => f.write_str(words),
        }
    }
}

static LOWER_TEXTS: LazyLock<Vec<(u32, String)>> = LazyLock::new(|| {
    let lines = TEXTS.lines().filter_map(|line| line.split_once('\t'));
    lines.filter_map(|(number, text)| Some((number.parse().ok()?, folded(text)))).collect()
});

/// In lower case, with plain apostrophes.
fn folded(text: &str) -> String {
    text.to_lowercase().replace('’', "'")
}

/// Whether a text stands in a line and is not part of a longer word.
fn holds(line: &str, text: &str) -> bool {
    line.match_indices(text).any(|(at, _)| {
        let is_letter = |c: char| c.is_ascii_alphanumeric();
        !line[..at].ends_with(is_letter) && !line[at + text.len()..].starts_with(is_letter)
    })
}
