//! Recorded operations on files: what `strace` wrote about a program, as [`FileOperation`]s in the
//! order in which they began.
//!
//! Paths are relative to a directory. What was written is not in it, only how much.

mod strace;
mod survey;
#[cfg(test)]
pub(crate) mod tests;

use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use self::strace::Strace;
use super::TraceError;
use super::lines::TraceLines;

pub use survey::FileTraceSurvey;

/// The command that records a program.
pub const RECORDER: &str = "strace -f -ttt -y -s 0 -e trace=%file,%desc -o TRACE PROGRAM";
/// Linux moves no more in one call.
const MAX_BYTES: u64 = 0x7fff_f000;

/// One system call that succeeded.
#[derive(Clone, Debug)]
pub(crate) struct FileOperation {
    /// When it began, in nanoseconds since the recording did.
    pub at_ns: u64,
    pub took_ns: u64,
    pub thread: u32,
    /// The line of the trace that shows it.
    pub line: u64,
    pub action: FileAction,
}

/// What an operation did. `file` is the number of an open file, unique in the trace.
#[derive(Clone, Debug)]
pub(crate) enum FileAction {
    Open {
        path: String,
        file: u64,
        flags: OFlags,
    },
    /// Closed the last descriptor of it.
    Close {
        file: u64,
    },
    /// So many bytes came; 0 at the end of the file.
    Read {
        file: u64,
        offset: u64,
        bytes: u64,
    },
    /// The offset is none where it was appended.
    Write {
        file: u64,
        offset: Option<u64>,
        bytes: u64,
    },
    Fsync {
        file: u64,
    },
    Fdatasync {
        file: u64,
    },
    Truncate {
        file: u64,
        bytes: u64,
    },
    Rename {
        from: String,
        to: String,
    },
    Link {
        from: String,
        to: String,
    },
    /// The target is as it stands in the link.
    Symlink {
        path: String,
        target: String,
    },
    Unlink {
        path: String,
    },
    Mkdir {
        path: String,
    },
    Rmdir {
        path: String,
    },
}

/// What is to be said about a trace that has been read to its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileTraceEnd {
    /// Calls that change files and cannot be done again.
    pub unattributed: u64,
    /// Mappings through which files may have been written; strace does not show these writes.
    pub mappings: u64,
    /// True if the last line is not whole.
    pub cut: bool,
}

impl FileAction {
    /// Its name in a trace and in results: "fsync".
    pub fn name(&self) -> &'static str {
        match self {
            FileAction::Open { .. } => "open",
            FileAction::Close { .. } => "close",
            FileAction::Read { .. } => "read",
            FileAction::Write { .. } => "write",
            FileAction::Fsync { .. } => "fsync",
            FileAction::Fdatasync { .. } => "fdatasync",
            FileAction::Truncate { .. } => "truncate",
            FileAction::Rename { .. } => "rename",
            FileAction::Link { .. } => "link",
            FileAction::Symlink { .. } => "symlink",
            FileAction::Unlink { .. } => "unlink",
            FileAction::Mkdir { .. } => "mkdir",
            FileAction::Rmdir { .. } => "rmdir",
        }
    }

    /// Bytes that it moved.
    pub fn moved_bytes(&self) -> u64 {
        match self {
            FileAction::Read { bytes, .. } | FileAction::Write { bytes, .. } => *bytes,
            _ => 0,
        }
    }

    /// The reason why it cannot be; none where it can.
    fn objection(&self) -> Option<String> {
        match self {
            FileAction::Read { offset, bytes, .. } => beyond(*offset, *bytes, MAX_BYTES),
            FileAction::Write { offset, bytes, .. } => {
                beyond(offset.unwrap_or(0), *bytes, MAX_BYTES)
            }
            FileAction::Truncate { bytes, .. } => beyond(0, *bytes, i64::MAX as u64),
            _ => None,
        }
    }
}

fn beyond(offset: u64, bytes: u64, most_bytes: u64) -> Option<String> {
    let end = offset.checked_add(bytes).filter(|end| i64::try_from(*end).is_ok());
    (bytes > most_bytes || end.is_none())
        .then(|| format!("no system call takes {bytes} bytes at {offset}"))
}

/// A trace in a file.
#[derive(Clone, Debug)]
pub struct FileTrace {
    path: PathBuf,
    /// The directory whose files count; paths are relative to it.
    below: String,
}

impl FileTrace {
    /// Reads the first line. Operations on files below the directory `below` count.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn open(path: &Path, below: &str) -> Result<FileTrace, TraceError> {
        let trace = FileTrace { path: path.to_owned(), below: below.to_owned() };
        let mut lines = TraceLines::open(path)?;
        let first = lines.next()?.ok_or_else(|| TraceError::of(path, "is empty"))?;
        match Strace::new(below).take(first, 1) {
            Ok(()) => Ok(trace),
            Err(_) => Err(lines.damaged(format_args!(
                "it is no output of strace; `{RECORDER}` records a program"
            ))),
        }
    }

    /// Its operations from the beginning, one by one.
    pub(crate) fn operations(&self) -> Result<FileOperations, TraceError> {
        let lines = TraceLines::open(&self.path)?;
        Ok(FileOperations { lines, strace: Strace::new(&self.below), is_over: false })
    }
}

/// The operations of a trace; only those that wait for the end of an earlier one are in memory.
pub(crate) struct FileOperations {
    lines: TraceLines,
    strace: Strace,
    is_over: bool,
}

impl FileOperations {
    /// The next operation; none after the last.
    ///
    /// # Errors
    /// Names the line and what is wrong with it.
    pub fn next_operation(&mut self) -> Result<Option<FileOperation>, TraceError> {
        loop {
            if let Some(operation) = self.strace.pop() {
                let objection = operation.action.objection();
                return match objection {
                    Some(objection) => Err(self.damaged(operation.line, &objection)),
                    None => Ok(Some(operation)),
                };
            }
            if self.is_over {
                return Ok(None);
            }
            self.read_line()?;
        }
    }

    fn read_line(&mut self) -> Result<(), TraceError> {
        let line = self.lines.next()?.map(str::to_owned);
        let cut = line.is_some() && !self.lines.ended_by_newline();
        match line.filter(|_| !cut) {
            Some(line) => {
                let number = self.lines.number();
                let taken = self.strace.take(&line, number);
                taken.map_err(|what| self.damaged(number, &what))
            }
            None => {
                self.is_over = true;
                self.strace.finish(cut);
                Ok(())
            }
        }
    }

    /// What is to be said about what was read so far.
    pub fn end(&self) -> FileTraceEnd {
        self.strace.end()
    }

    /// An error in a line.
    fn damaged(&self, line: u64, what: &str) -> TraceError {
        self.lines.damaged_at(line, what)
    }
}
