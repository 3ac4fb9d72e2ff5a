//! Reading of a journal's events from its bytes, up to the first line that does not check.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use record::Opening;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::journal_form::{FORM, FORM_FAMILY, HEADER_FILE, JournalError};
use crate::line::{checksum, event, unframe};

/// Content of a journal, in as much detail as the type `E` of each event has.
#[derive(Debug, PartialEq)]
pub(crate) struct JournalContents<E> {
    pub opening: Opening,
    /// Events in the order in which they were written.
    pub entries: Vec<E>,
    /// Whole lines that are not used.
    pub unread: Option<Unread>,
    /// Length of the lines that count, in bytes; 0 if the first line was read from its copy.
    pub sound_bytes: u64,
    /// Number of the next line.
    pub next: u64,
    /// JSON text of the first line.
    pub header: String,
}

/// Lines of a journal that are not used: the first one that does not check, and all after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// Number of the first of them, from 1.
    pub line: u64,
    /// Number of lines.
    pub lines: u64,
    /// Ids of cells that have no result because of it, as far as known.
    pub cells: BTreeSet<String>,
}

impl Unread {
    /// Lines that are not used, the first of this number; `None` without any. An incomplete last
    /// line is none: it was being written when the program was ended, and never acknowledged.
    fn of(bytes: &[u8], line: u64) -> Option<Unread> {
        let whole = bytes.split_inclusive(|byte| *byte == b'\n').filter(|it| it.ends_with(b"\n"));
        let cells = whole.clone().filter_map(held_cell).collect();
        let lines = whole.count() as u64;
        (lines > 0).then_some(Unread { line, lines, cells })
    }
}

/// Id of the cell whose result a line holds.
fn held_cell(line: &[u8]) -> Option<String> {
    let (line, start) = (String::from_utf8_lossy(line), "\"cell\":{\"id\":\"");
    Some(line.split_once(start)?.1.split('"').next()?.to_owned())
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} of the journal is damaged: ", self.line)?;
        match self.lines - 1 {
            0 => f.write_str("it is not used; ")?,
            1 => f.write_str("it and the line after it are not used; ")?,
            more => write!(f, "it and the {more} lines after it are not used; ")?,
        }
        match self.cells.len() {
            0 => f.write_str("no cell is measured again"),
            1 => f.write_str("1 cell is measured again by resume"),
            cells => write!(f, "{cells} cells are measured again by resume"),
        }
    }
}

/// The first line, once its form is known.
#[derive(Deserialize)]
struct HeaderIn<'a> {
    #[serde(borrow)]
    opening: &'a RawValue,
}

#[derive(Deserialize)]
struct FormOnly {
    form: String,
}

/// Reads a journal file; `decode` reads an event from its JSON.
pub(crate) fn read<E>(
    path: &Path,
    decode: fn(&str) -> serde_json::Result<E>,
) -> Result<JournalContents<E>, JournalError> {
    let bytes = bytes_of(path)?;
    parse(&bytes, &copy_of_header(path), path, decode)
}

/// Reads the bytes of a journal. Pages that its disk cannot read become zeros, which do not check:
/// a bad sector, or the end of a file whose size was written before a power cut and whose data was
/// not (FAT).
fn bytes_of(path: &Path) -> Result<Vec<u8>, JournalError> {
    let read = match read_regular(path) {
        Err(error) if is_of_the_disk(&error) => what_can_be_read(path),
        read => read,
    };
    read.map_err(|source| JournalError::Read { path: path.to_owned(), source })
}

/// Bytes that are read at once where the whole file cannot be: the kernel keeps or drops whole
/// pages.
const PAGE_BYTES: usize = 4096;

fn is_of_the_disk(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error())
}

/// Reads a file, with zeros for the pages that its disk cannot read.
fn what_can_be_read(path: &Path) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let mut bytes = vec![0; usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX)];
    let (mut failed, mut pages) = (None, 0);
    for (number, page) in bytes.chunks_mut(PAGE_BYTES).enumerate() {
        match file.read_exact_at(page, (number * PAGE_BYTES) as u64) {
            Ok(()) => pages += 1,
            Err(error) if is_of_the_disk(&error) => {
                page.fill(0);
                failed = Some(error);
            }
            Err(error) => return Err(error),
        }
    }
    failed.filter(|_| pages == 0).map_or(Ok(bytes), Err)
}

/// Path of the copy of a journal's first line.
fn header_path(journal: &Path) -> PathBuf {
    journal.with_file_name(HEADER_FILE)
}

/// Bytes of the copy; empty where it is missing, which is no error: only a damaged first line needs
/// it.
fn copy_of_header(journal: &Path) -> Vec<u8> {
    read_regular(&header_path(journal)).unwrap_or_default()
}

/// Reads a regular file, never a pipe or a device, which have no end.
pub(crate) fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    fs::read(path)
}

/// Reads the bytes of a journal and of the copy of its first line; `path` is only for the messages.
fn parse<E>(
    bytes: &[u8],
    copy: &[u8],
    path: &Path,
    decode: fn(&str) -> serde_json::Result<E>,
) -> Result<JournalContents<E>, JournalError> {
    let without = |reason: String| JournalError::NoHeader { path: path.to_owned(), reason };
    let first = bytes.split_inclusive(|byte| *byte == b'\n').next().unwrap_or_default();
    let (header, mut sound) = match (header(first, path)?, header(copy, path)?) {
        (Some(header), _) => (header, first.len()),
        (None, Some(header)) => (header, 0),
        (None, None) => {
            return Err(without("its first line and the copy of it are damaged".to_owned()));
        }
    };
    let opening = serde_json::from_str(header)
        .and_then(|HeaderIn { opening }| Opening::decode(opening.get()))
        .map_err(|error| without(without_place(&error)))?;
    let (of, mut next, mut entries) = (checksum(header.as_bytes()), 2, Vec::new());
    let counting = if sound > 0 { &bytes[sound..] } else { &[] };
    for line in counting.split_inclusive(|byte| *byte == b'\n') {
        let json = event(line, next, of).and_then(|json| String::from_utf8(json).ok());
        let read = json.and_then(|json| decode(&json).ok());
        let Some(entry) = read else { break };
        entries.push(entry);
        sound += line.len();
        next += 1;
    }
    let unread = Unread::of(&bytes[sound..], if sound == 0 { 1 } else { next });
    let header = header.to_owned();
    Ok(JournalContents { opening, entries, unread, sound_bytes: sound as u64, next, header })
}

/// JSON text of the first line of a journal of this form, if that is what the line is; a newer form
/// is an error.
fn header<'a>(line: &'a [u8], path: &Path) -> Result<Option<&'a str>, JournalError> {
    let Some(json) = unframe(line).and_then(|json| std::str::from_utf8(json).ok()) else {
        return Ok(None);
    };
    let form = serde_json::from_str::<FormOnly>(json).map(|header| header.form).unwrap_or_default();
    if form != FORM && form.starts_with(FORM_FAMILY) {
        return Err(JournalError::Newer { path: path.to_owned(), found: form });
    }
    Ok((form == FORM).then_some(json))
}

/// Text of the error without the line that serde_json counts: it parses one line at a time, so that
/// is always the first.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line 1 column").map_or(text.as_str(), |(what, _)| what).to_owned()
}
