//! Who holds a file or a medium, and how.

use std::fmt;
use std::fs;

use crate::roots::{Roots, text};

/// How a process holds a file or a medium so that nobody else should touch it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hold {
    /// A descriptor that can write.
    Writing,
    /// Memory that is written back to it.
    Mapped,
    /// A lock on it.
    Lock(LockKind),
}

impl fmt::Display for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Hold::Writing => f.write_str("held open for writing"),
            Hold::Mapped => f.write_str("mapped for writing"),
            Hold::Lock(kind) => write!(f, "locked ({kind})"),
        }
    }
}

/// Who holds something, and how.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Holding {
    /// Open for writing, mapped for writing, or locked.
    pub how: Hold,
    /// Who; `None` where the kernel tells of a holder that this process cannot see.
    pub by: Option<Process>,
}

impl fmt::Display for Holding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.by {
            Some(process) => write!(f, "{} by {process}", self.how),
            None => write!(f, "{} by a program that cannot be seen from here", self.how),
        }
    }
}

/// A running program, as `/proc/PID` shows it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Process {
    /// What it runs: the name of its file, without characters that a terminal would take for
    /// commands.
    pub program: String,
    /// Process id, as in `/proc/PID`.
    pub number: u32,
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (process {})", self.program, self.number)
    }
}

impl Process {
    /// The process with that number, if it is there.
    pub(crate) fn find(roots: &Roots, number: u32) -> Option<Process> {
        let dir = roots.proc.join(number.to_string());
        let file = fs::read_link(dir.join("exe")).ok();
        let file = file.as_ref().and_then(|path| {
            Some(path.file_name()?.to_string_lossy().trim_end_matches(" (deleted)").to_owned())
        });
        let program = file.or_else(|| text(&dir.join("comm")))?;
        Some(Process { program: plain(&program), number })
    }
}

/// Text that a program or a path chose, without control characters.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// What kind of lock it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LockKind {
    /// Lock of flock(2); "FLOCK" in `/proc/locks`.
    Flock,
    /// fcntl(2), of a process.
    Posix,
    /// fcntl(2), of an open file description.
    Ofd,
    /// Lease of fcntl(2) with F_SETLEASE; "LEASE" in `/proc/locks`.
    Lease,
}

impl LockKind {
    /// As `/proc/locks` and `/proc/PID/fdinfo` call it.
    pub(crate) fn named(word: &str) -> Option<LockKind> {
        match word {
            "FLOCK" => Some(LockKind::Flock),
            "POSIX" => Some(LockKind::Posix),
            "OFDLCK" => Some(LockKind::Ofd),
            "LEASE" => Some(LockKind::Lease),
            _ => None,
        }
    }
}

impl fmt::Display for LockKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LockKind::Flock => "flock",
            LockKind::Posix => "POSIX lock",
            LockKind::Ofd => "OFD lock",
            LockKind::Lease => "lease",
        })
    }
}
