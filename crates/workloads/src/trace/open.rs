//! Which tool wrote a trace, told by its content.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::blktrace::{self, Blktrace, fill};
use super::iolog::{self, Iolog};
use super::{Steps, TraceError, TraceEvent};

/// As much of a file as is looked at to tell what it is.
const HEAD_BYTES: usize = 16 << 10;

/// What wrote a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceFormat {
    /// blktrace, binary, a file for each processor.
    Blktrace,
    /// fio's `write_iolog`, version 2 or 3.
    Iolog,
}

impl TraceFormat {
    /// What wrote it, for people: "blktrace", "a fio iolog".
    pub fn in_words(self) -> &'static str {
        match self {
            TraceFormat::Blktrace => "blktrace",
            TraceFormat::Iolog => "a fio iolog",
        }
    }
}

/// A trace that has been recognised. It can be read as often as one likes.
#[derive(Clone, Debug)]
pub struct Trace {
    path: PathBuf,
    form: TraceFormat,
}

/// Finds out what a file is. Of blktrace's files any one stands for all of its recording, and so
/// does NAME for NAME.blktrace.0.
pub fn open(path: &Path) -> Result<Trace, TraceError> {
    let first = PathBuf::from(format!("{}.blktrace.0", path.display()));
    let path = if !path.exists() && first.exists() { &first } else { path };
    let unreadable = |error| TraceError::unreadable(path, &error);
    let metadata = std::fs::metadata(path).map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(unreadable(std::io::Error::other(
            "it is not a regular file; a trace is read twice",
        )));
    }
    let mut head = vec![0; HEAD_BYTES];
    let got = fill(&mut File::open(path).map_err(unreadable)?, &mut head, path)?;
    head.truncate(got);
    let unknown = || TraceError::unknown(path, &beginning(&head));
    let form = match head.is_empty() {
        false => recognise(&head).ok_or_else(unknown)?,
        // Of a processor that was idle.
        true if blktrace::siblings(path).len() > 1 => TraceFormat::Blktrace,
        true => return Err(TraceError::of(path, "is empty")),
    };
    Ok(Trace { path: path.to_owned(), form })
}

fn recognise(head: &[u8]) -> Option<TraceFormat> {
    if blktrace::byte_order(head).is_some() {
        return Some(TraceFormat::Blktrace);
    }
    let text = String::from_utf8_lossy(head);
    iolog::version(text.lines().next()?).map(|_| TraceFormat::Iolog)
}

/// The first bytes of a file that is none of these, as they may be shown.
fn beginning(head: &[u8]) -> String {
    let shown = &head[..head.len().min(16)];
    if shown.iter().all(|byte| (32..127).contains(byte)) {
        format!("'{}'", String::from_utf8_lossy(shown))
    } else {
        format!(
            "the bytes {}",
            shown.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
        )
    }
}

impl Trace {
    /// The file, or the first one.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Which tool wrote it, told by its content.
    pub fn form(&self) -> TraceFormat {
        self.form
    }

    /// Its events from the beginning; times count from the first request.
    pub(crate) fn steps(&self) -> Result<Box<dyn Steps>, TraceError> {
        let path = &self.path;
        let steps: Box<dyn Steps> = match self.form {
            TraceFormat::Blktrace => Box::new(Blktrace::open(path)?),
            TraceFormat::Iolog => Box::new(Iolog::open(path)?),
        };
        Ok(Box::new(FromZero { steps, first_ns: None }))
    }
}

/// Counts the time from the first request on.
struct FromZero {
    steps: Box<dyn Steps>,
    first_ns: Option<u64>,
}

impl Steps for FromZero {
    fn next(&mut self) -> Result<Option<TraceEvent>, TraceError> {
        let Some(mut step) = self.steps.next()? else { return Ok(None) };
        let first_ns = *self.first_ns.get_or_insert(step.time_ns());
        match &mut step {
            TraceEvent::Issued(issue) => issue.time_ns = issue.time_ns.saturating_sub(first_ns),
            TraceEvent::Completed { time_ns, issued_ns, .. } => {
                *time_ns = time_ns.saturating_sub(first_ns);
                *issued_ns = issued_ns.saturating_sub(first_ns);
            }
        }
        Ok(Some(step))
    }

    fn cut_off(&self) -> Option<String> {
        self.steps.cut_off()
    }
}
