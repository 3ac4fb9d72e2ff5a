//! Error numbers of Linux, their texts, and the side that caused them.

use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

use record::{CellError, IoErrorKind};

/// Table with a number and a text of strerror in each line: those of glibc in the languages of dd,
/// and those of musl.
const TEXTS: &str = include_str!("errno_texts.tsv");

/// Side that caused an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ErrorSide {
    /// The medium failed, or is gone.
    Medium,
    /// The call, the host or a full file system; says nothing of the medium.
    Host,
    /// Either may be.
    Unknown,
}

/// Known numbers with their texts.
const KNOWN: [(u32, &str, ErrorSide); 21] = [
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
    // How ext4, XFS and btrfs say that the medium gave other data than was written.
    (74, "a checksum of the file system failed", ErrorSide::Medium),
    (84, "damaged data (EILSEQ)", ErrorSide::Medium),
    (95, "operation not supported", ErrorSide::Host),
    (117, "the file system is damaged", ErrorSide::Medium),
    (121, "remote I/O error", ErrorSide::Medium),
    (123, "no medium found", ErrorSide::Medium),
];

/// Numbers for a device that is gone: ENXIO, ENODEV, ENOMEDIUM.
const GONE: [u32; 3] = [6, 19, 123];

/// An error that ended a tool's run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Errno {
    /// Number on Linux.
    pub number: u32,
    /// Text of the number, empty where it is unknown.
    words: &'static str,
    /// Side that caused it.
    pub origin: ErrorSide,
}

impl Errno {
    /// Makes the error of a number of Linux.
    pub fn of_number(number: u32) -> Errno {
        let known = KNOWN.iter().find(|(known, ..)| *known == number);
        let (_, words, origin) = known.copied().unwrap_or((number, "", ErrorSide::Unknown));
        Errno { number, words, origin }
    }

    /// The error for a cell. Of another tool's errors only one is certain: that the medium is gone.
    pub fn of_cell(&self) -> CellError {
        let kind = if GONE.contains(&self.number) { IoErrorKind::Gone } else { IoErrorKind::Other };
        CellError { errno: i32::try_from(self.number).ok(), ..CellError::of(kind) }
    }

    /// Error that a message names in the words of strerror, as a whole part between colons: the
    /// last such part counts, since names of files precede it.
    pub fn in_text(message: &str) -> Option<Errno> {
        let message = message.replace('：', ": ");
        let number = message.rsplit(": ").find_map(|part| LOWER_TEXTS.get(&folded(part)))?;
        Some(Errno::of_number(*number))
    }
}

impl fmt::Display for Errno {
    /// Writes "input/output error"; "error 117" where there are no words.
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

/// Folds a text for comparison: lower case, plain apostrophes, no full stop.
fn folded(text: &str) -> String {
    text.trim().trim_end_matches(['.', '。']).to_lowercase().replace('’', "'")
}
