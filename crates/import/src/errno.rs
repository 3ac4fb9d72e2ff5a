//! Error numbers of Linux and the words for them, and which of them are the medium's.

use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

use record::{CellError, IoErrorKind};

/// A number and a text of strerror in each line: those of glibc in the languages that dd is known
/// in, and those of musl.
const TEXTS: &str = include_str!("errno_texts.tsv");

/// Whose error it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ErrorSide {
    /// The medium failed, or is gone.
    Medium,
    /// The call, the host or a full file system; says nothing of the medium.
    Host,
    /// Either may be.
    Unknown,
}

/// Numbers that are known, with words for them.
const KNOWN: [(u32, &str, ErrorSide); 19] = [
    (1, "operation not permitted", ErrorSide::Host),
    (2, "no such file or directory", ErrorSide::Host),
    (5, "input/output error", ErrorSide::Medium),
    (6, "no such device or address", ErrorSide::Medium),
    (12, "out of memory", ErrorSide::Host),
    (13, "permission denied", ErrorSide::Host),
    (16, "device or resource busy", ErrorSide::Unknown),
    (19, "no such device", ErrorSide::Medium),
    (22, "invalid argument", ErrorSide::Host),
    (24, "too many open files", ErrorSide::Host),
    (25, "not a call for this device", ErrorSide::Host),
    (28, "no space left", ErrorSide::Host),
    (30, "read-only file system", ErrorSide::Unknown),
    // Of Windows: on Linux 42 is ENOMSG, which no I/O gives.
    (42, "damaged data (EILSEQ)", ErrorSide::Medium),
    (61, "no data available", ErrorSide::Medium),
    (84, "damaged data (EILSEQ)", ErrorSide::Medium),
    (95, "operation not supported", ErrorSide::Host),
    (121, "remote I/O error", ErrorSide::Medium),
    (123, "no medium found", ErrorSide::Medium),
];

/// Numbers of a device that is not there any more: ENXIO, ENODEV, ENOMEDIUM.
const GONE: [u32; 3] = [6, 19, 123];

/// An error that ended a tool's run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Errno {
    /// As Linux counts them.
    pub number: u32,
    /// Words for it, empty where it is not known.
    words: &'static str,
    /// Whose error it is.
    pub origin: ErrorSide,
}

impl Errno {
    /// The error of a number as Linux counts them.
    pub fn of_number(number: u32) -> Errno {
        let known = KNOWN.iter().find(|(known, ..)| *known == number);
        known.map_or(
            Errno { number, words: "", origin: ErrorSide::Unknown },
            |(_, words, origin)| Errno { number, words, origin: *origin },
        )
    }

    /// The same as data. Of what another tool met, only that the medium went away is sure.
    pub fn of_cell(&self) -> CellError {
        let kind = if GONE.contains(&self.number) { IoErrorKind::Gone } else { IoErrorKind::Other };
        CellError { errno: i32::try_from(self.number).ok(), ..CellError::of(kind) }
    }

    /// The error that a message names in the words of strerror, as a whole part between colons:
    /// the last such part counts, since names of files stand before it.
    pub fn in_text(message: &str) -> Option<Errno> {
        let message = message.replace('：', ": ");
        let number = message.rsplit(": ").find_map(|part| LOWER_TEXTS.get(&folded(part)))?;
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

static LOWER_TEXTS: LazyLock<HashMap<String, u32>> = LazyLock::new(|| {
    let lines = TEXTS.lines().filter_map(|line| line.split_once('\t'));
    lines.filter_map(|(number, text)| Some((folded(text), number.parse().ok()?))).collect()
});

/// In lower case, with plain apostrophes, without a full stop.
fn folded(text: &str) -> String {
    text.trim().trim_end_matches(['.', '。']).to_lowercase().replace('’', "'")
}
