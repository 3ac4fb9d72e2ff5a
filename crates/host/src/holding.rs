//! Processes that hold a file or a medium.

use std::fmt;
use std::fs;

use crate::roots::{Roots, text};

/// Way in which a process holds a file or a medium so that nobody else should touch it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hold {
    /// A descriptor for writing.
    Writing,
    /// A shared mapping for writing.
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

/// A hold on a file or medium, and its process.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Holding {
    /// Way of the hold: open for writing, mapped for writing, or locked.
    pub how: Hold,
    /// The process; `None` if the kernel reports a holder that this process cannot see.
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
    /// Name of its program file, without characters that control a terminal.
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
    /// The process with that number, if it exists.
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

/// Text from a program or a path, with a question mark for each hidden character.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|c| if record::text::is_hidden(c) { '?' } else { c }).collect()
}

/// Kind of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LockKind {
    /// Lock of flock(2); "FLOCK" in `/proc/locks`.
    Flock,
    /// Lock of fcntl(2) that belongs to a process; "POSIX" in `/proc/locks`.
    Posix,
    /// Lock of fcntl(2) that belongs to an open file description; "OFDLCK" in `/proc/locks`.
    Ofd,
    /// Lease of fcntl(2) with F_SETLEASE; "LEASE" in `/proc/locks`.
    Lease,
}

impl LockKind {
    /// Each kind with its name in `/proc/locks` and `/proc/PID/fdinfo`, and for people.
    const NAMES: [(LockKind, &'static str, &'static str); 4] = [
        (LockKind::Flock, "FLOCK", "flock"),
        (LockKind::Posix, "POSIX", "POSIX lock"),
        (LockKind::Ofd, "OFDLCK", "OFD lock"),
        (LockKind::Lease, "LEASE", "lease"),
    ];

    /// Kind by its name in `/proc/locks` and `/proc/PID/fdinfo`.
    pub(crate) fn named(word: &str) -> Option<LockKind> {
        LockKind::NAMES.iter().find(|(_, name, _)| *name == word).map(|(kind, ..)| *kind)
    }
}

impl fmt::Display for LockKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = LockKind::NAMES.iter().find(|(kind, ..)| kind == self);
        f.write_str(name.map_or("", |(.., name)| name))
    }
}
