//! Recorded operations on files, as text that anybody can read: a JSON object a line, the first of
//! them a [`FileTraceHeader`], the others a [`FileOperation`] each, in the order in which they
//! began. The last line counts them, so that a trace that was cut is known; it holds what comes
//! before.
//!
//! Paths are relative to the recorded directory. What was written is not in it, only how much.

mod survey;
#[cfg(test)]
pub(crate) mod tests;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use super::TraceError;
use super::lines::TraceLines;

pub use survey::FileTraceSurvey;

const VERSION: u32 = 1;
/// Linux moves no more in one call.
const MAX_BYTES: u64 = 0x7fff_f000;

/// What a recording is of, and how it was made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileTraceHeader {
    /// Version of the form; set by [`FileTraceWriter::new`].
    #[serde(rename = "flashmark_file_trace")]
    pub version: u32,
    /// The directory below which operations were recorded.
    #[serde(default)]
    pub directory: String,
    /// When the recording began, RFC 3339.
    #[serde(default)]
    pub started: Option<String>,
    /// The kernel it was recorded on.
    #[serde(default)]
    pub kernel: Option<String>,
}

/// One system call that succeeded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileOperation {
    /// When it began, in nanoseconds since the recording did.
    pub at_ns: u64,
    /// How long it took, in nanoseconds.
    pub took_ns: u64,
    /// The thread that did it.
    pub thread: u32,
    /// What it did.
    #[serde(flatten)]
    pub action: FileAction,
}

/// What an operation did. `file` is the number of an open file, unique in the trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum FileAction {
    /// Opened a file or directory.
    Open {
        /// Its path.
        path: String,
        /// Its number from now on.
        file: u64,
        /// Words of [`open_flags`], joined by `+`: "read+write+create".
        flags: String,
        /// True if it was made by this.
        #[serde(default)]
        new: bool,
        /// Its length before, in bytes.
        #[serde(default)]
        bytes: u64,
    },
    /// Was open when the recording began: no operation, and not counted.
    WasOpen {
        /// Its path.
        path: String,
        /// Its number from now on.
        file: u64,
        /// As of `open`.
        flags: String,
        /// Its length, in bytes.
        #[serde(default)]
        bytes: u64,
    },
    /// Closed it: the last descriptor of it.
    Close {
        /// Number of the open file.
        file: u64,
    },
    /// Read from a file.
    Read {
        /// Number of the open file.
        file: u64,
        /// First byte.
        offset: u64,
        /// How many bytes came; 0 at the end of the file.
        bytes: u64,
    },
    /// Wrote to a file.
    Write {
        /// Number of the open file.
        file: u64,
        /// First byte; none where it was appended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        offset: Option<u64>,
        /// How many bytes were taken.
        bytes: u64,
    },
    /// Changed a page through a mapping; done again as a write.
    Store {
        /// Number of the open file.
        file: u64,
        /// First byte of the page.
        offset: u64,
        /// Bytes of the file in that page.
        bytes: u64,
    },
    /// Made a file durable.
    Fsync {
        /// Number of the open file.
        file: u64,
    },
    /// Made the data of a file durable.
    Fdatasync {
        /// Number of the open file.
        file: u64,
    },
    /// Set the length of a file.
    Truncate {
        /// Number of the open file.
        file: u64,
        /// The new length.
        bytes: u64,
    },
    /// Gave a file or directory another name.
    Rename {
        /// Its old path.
        from: String,
        /// Its new path.
        to: String,
        /// True if it is a directory.
        #[serde(default)]
        directory: bool,
    },
    /// Made a symbolic link.
    Symlink {
        /// Path of the link.
        path: String,
        /// What it points to, as it stands in it.
        target: String,
    },
    /// Removed a file or link.
    Unlink {
        /// Its path.
        path: String,
    },
    /// Made a directory.
    Mkdir {
        /// Its path.
        path: String,
    },
    /// Removed a directory.
    Rmdir {
        /// Its path.
        path: String,
    },
}

/// The last line of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileTraceEnd {
    /// How many operations are in the trace.
    pub operations: u64,
    /// Operations that were seen, but whose file could not be told.
    #[serde(default)]
    pub unattributed: u64,
    /// Events that the kernel lost.
    #[serde(default)]
    pub lost: u64,
    /// True if the trace has no last line: the recorder was killed, or the file was cut.
    #[serde(skip)]
    pub cut: bool,
}

#[derive(Serialize, Deserialize)]
struct EndLine {
    end: FileTraceEnd,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    End(EndLine),
    Operation(FileOperation),
}

/// Words of the flags of `open`.
const FLAGS: [(&str, OFlags); 10] = [
    ("create", OFlags::CREATE),
    ("exclusive", OFlags::EXCL),
    ("truncate", OFlags::TRUNC),
    ("append", OFlags::APPEND),
    ("direct", OFlags::DIRECT),
    // Before those whose bits are among its own.
    ("sync", OFlags::SYNC),
    ("dsync", OFlags::DSYNC),
    ("temporary", OFlags::TMPFILE),
    ("directory", OFlags::DIRECTORY),
    ("path", OFlags::PATH),
];

/// The flags of `open` that these words mean; none where a word is unknown.
pub fn open_flags(words: &str) -> Option<OFlags> {
    let (mut reads, mut writes, mut flags) = (false, false, OFlags::empty());
    for word in words.split('+') {
        match word {
            "read" => reads = true,
            "write" => writes = true,
            word => flags |= FLAGS.iter().find(|(name, _)| *name == word)?.1,
        }
    }
    let access = match (reads, writes) {
        (true, true) => OFlags::RDWR,
        (false, true) => OFlags::WRONLY,
        _ => OFlags::RDONLY,
    };
    Some(flags | access)
}

/// The words that [`open_flags`] understands; flags without a word change nothing on the medium.
pub fn flag_words(flags: OFlags) -> String {
    let access = flags & OFlags::RWMODE;
    let mut words = vec![match access {
        OFlags::WRONLY => "write",
        OFlags::RDWR => "read+write",
        _ => "read",
    }];
    let mut left = flags;
    for (word, flag) in FLAGS {
        if left.contains(flag) {
            words.push(word);
            left.remove(flag);
        }
    }
    words.join("+")
}

impl FileAction {
    /// Its name in a trace and in results: "fsync".
    pub fn name(&self) -> &'static str {
        match self {
            FileAction::Open { .. } => "open",
            FileAction::WasOpen { .. } => "was_open",
            FileAction::Close { .. } => "close",
            FileAction::Read { .. } => "read",
            FileAction::Write { .. } => "write",
            FileAction::Store { .. } => "store",
            FileAction::Fsync { .. } => "fsync",
            FileAction::Fdatasync { .. } => "fdatasync",
            FileAction::Truncate { .. } => "truncate",
            FileAction::Rename { .. } => "rename",
            FileAction::Symlink { .. } => "symlink",
            FileAction::Unlink { .. } => "unlink",
            FileAction::Mkdir { .. } => "mkdir",
            FileAction::Rmdir { .. } => "rmdir",
        }
    }

    /// Bytes that it moved.
    pub fn moved_bytes(&self) -> u64 {
        match self {
            FileAction::Read { bytes, .. }
            | FileAction::Write { bytes, .. }
            | FileAction::Store { bytes, .. } => *bytes,
            _ => 0,
        }
    }

    /// Number of the open file that it needs.
    pub fn file(&self) -> Option<u64> {
        match self {
            FileAction::Close { file }
            | FileAction::Read { file, .. }
            | FileAction::Write { file, .. }
            | FileAction::Store { file, .. }
            | FileAction::Fsync { file }
            | FileAction::Fdatasync { file }
            | FileAction::Truncate { file, .. } => Some(*file),
            _ => None,
        }
    }

    /// The reason why it cannot be; none where it can.
    fn objection(&self) -> Option<String> {
        let outside = |path: &String| {
            let inside = path.split('/').all(|part| !matches!(part, "" | "." | ".."));
            (!inside || path.contains('\0'))
                .then(|| format!("the path '{path}' is not one below the directory"))
        };
        match self {
            FileAction::Open { path, flags, .. } | FileAction::WasOpen { path, flags, .. } => {
                let flags =
                    open_flags(flags).is_none().then(|| format!("the flags '{flags}' are unknown"));
                // The directory itself may be opened.
                outside(path).filter(|_| path != ".").or(flags)
            }
            FileAction::Rename { from, to, .. } => outside(from).or_else(|| outside(to)),
            FileAction::Symlink { path, .. }
            | FileAction::Unlink { path }
            | FileAction::Mkdir { path }
            | FileAction::Rmdir { path } => outside(path),
            FileAction::Read { offset, bytes, .. } | FileAction::Store { offset, bytes, .. } => {
                beyond(*offset, *bytes, MAX_BYTES)
            }
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

/// Writes a trace as it comes.
pub struct FileTraceWriter<W: Write> {
    out: W,
    operations: u64,
}

impl<W: Write> FileTraceWriter<W> {
    /// Begins a trace.
    ///
    /// # Errors
    /// Those of `out`, as of all that follows.
    pub fn new(mut out: W, header: &FileTraceHeader) -> io::Result<FileTraceWriter<W>> {
        line(&mut out, &FileTraceHeader { version: VERSION, ..header.clone() })?;
        Ok(FileTraceWriter { out, operations: 0 })
    }

    /// Adds an operation; it began no earlier than the one before.
    pub fn operation(&mut self, operation: &FileOperation) -> io::Result<()> {
        self.operations += u64::from(!matches!(operation.action, FileAction::WasOpen { .. }));
        line(&mut self.out, operation)
    }

    /// Operations written so far.
    pub fn operations(&self) -> u64 {
        self.operations
    }

    /// Hands over what has come so far.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Ends the trace, and gives back what it was written to.
    pub fn finish(mut self, unattributed: u64, lost: u64) -> io::Result<W> {
        let end = FileTraceEnd { operations: self.operations, unattributed, lost, cut: false };
        line(&mut self.out, &EndLine { end })?;
        self.out.flush()?;
        Ok(self.out)
    }
}

fn line(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}

/// A trace in a file, and what it says of itself.
#[derive(Clone, Debug)]
pub struct FileTrace {
    /// The file.
    pub path: PathBuf,
    /// Its first line.
    pub header: FileTraceHeader,
}

impl FileTrace {
    /// Reads the first line.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn open(path: &Path) -> Result<FileTrace, TraceError> {
        let mut lines = TraceLines::open(path)?;
        let no_trace = || {
            TraceError::Damaged {
            path: path.to_owned(),
            place: "line 1".into(),
            what: "it is no recording of operations on files; `flashmark capture --files DIR` makes one".into(),
        }
        };
        let first = lines.next()?.ok_or_else(|| TraceError::Empty(path.to_owned()))?;
        let header: FileTraceHeader = serde_json::from_str(first).map_err(|_| no_trace())?;
        if header.version != VERSION {
            let found = format!("a recording of files of version {}", header.version);
            return Err(TraceError::Version { path: path.to_owned(), found, reads: "version 1" });
        }
        Ok(FileTrace { path: path.to_owned(), header })
    }

    /// Its operations from the beginning, one by one.
    pub fn operations(&self) -> Result<FileOperations, TraceError> {
        let mut lines = TraceLines::open(&self.path)?;
        lines.next()?;
        Ok(FileOperations { lines, counted: 0, last_ns: 0, end: None })
    }
}

/// The operations of a trace; no more than one is held in memory.
pub struct FileOperations {
    lines: TraceLines,
    counted: u64,
    last_ns: u64,
    end: Option<FileTraceEnd>,
}

impl FileOperations {
    /// The next operation; none after the last.
    ///
    /// # Errors
    /// [`TraceError::Damaged`] names the line and what is wrong with it.
    pub fn next_operation(&mut self) -> Result<Option<FileOperation>, TraceError> {
        if self.end.is_some() {
            return Ok(None);
        }
        let read = self.lines.next()?.map(serde_json::from_str);
        let half = !self.lines.ended_by_newline() && matches!(read, Some(Err(_)));
        let Some(read) = read.filter(|_| !half) else {
            let operations = self.counted;
            self.end = Some(FileTraceEnd { operations, cut: true, ..FileTraceEnd::default() });
            return Ok(None);
        };
        match read.map_err(|error| self.damaged(&format!("this is no operation ({error})")))? {
            Line::End(EndLine { end }) if end.operations == self.counted => {
                self.end = Some(end);
                Ok(None)
            }
            Line::End(EndLine { end }) => Err(self.damaged(&format!(
                "{} operations are in it, and it ends after {}",
                self.counted, end.operations
            ))),
            Line::Operation(operation) => self.check(operation).map(Some),
        }
    }

    fn check(&mut self, operation: FileOperation) -> Result<FileOperation, TraceError> {
        if let Some(objection) = operation.action.objection() {
            return Err(self.damaged(&objection));
        }
        if operation.at_ns < self.last_ns {
            return Err(self.damaged("it began before the operation that stands before it"));
        }
        self.last_ns = operation.at_ns;
        self.counted += u64::from(!matches!(operation.action, FileAction::WasOpen { .. }));
        Ok(operation)
    }

    /// What the last line says, once it has been read.
    pub fn end(&self) -> Option<FileTraceEnd> {
        self.end
    }

    /// An error in the line that was read last.
    pub(crate) fn damaged(&self, what: &str) -> TraceError {
        TraceError::Damaged {
            path: self.lines.path().to_owned(),
            place: format!("line {}", self.lines.number()),
            what: what.to_owned(),
        }
    }
}
