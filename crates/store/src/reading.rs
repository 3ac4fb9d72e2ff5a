//! Reading of a journal's events from its bytes, also of a damaged one.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::damage::{Damage, LineDamage};
use crate::journal_form::{FORM, FORM_1, FORM_FAMILY, HEADER_FILE, JournalError};
use crate::line::{LinePiece, checksum, scan};
use crate::numbering::{Numbering, Ordered, by_number, by_place, looks_like_header};

/// Content of a journal, in as much detail as the types `H` (of the header) and `E` (of each event)
/// have.
#[derive(Debug, PartialEq)]
pub(crate) struct JournalContents<H, E> {
    pub opening: H,
    /// Events in the order in which they were written.
    pub entries: Vec<E>,
    pub damage: Vec<Damage>,
    pub tail: Tail,
    pub numbering: Numbering,
    /// Text of the first line.
    pub header: Vec<u8>,
}

/// State of the end of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tail {
    /// Length without a torn line, in bytes.
    pub sound_bytes: u64,
    /// True if a torn line follows.
    pub torn: bool,
    /// True if the newline behind the last line is damaged.
    pub open: bool,
}

/// The first line, once its form is known.
#[derive(Deserialize)]
struct HeaderIn<H> {
    opening: H,
}

#[derive(Deserialize)]
struct FormOnly {
    form: String,
}

/// Reads a journal file.
pub(crate) fn read<H: DeserializeOwned, E: DeserializeOwned>(
    path: &Path,
) -> Result<JournalContents<H, E>, JournalError> {
    let bytes = bytes_of(path)?;
    parse(&bytes, &copy_of_header(path), path)
}

/// Reads the bytes of a journal. Pages that its disk cannot read become zeros and cost the lines in
/// them: a bad sector, or the end of a file whose size was written before a power cut and whose
/// data was not (FAT).
pub(crate) fn bytes_of(path: &Path) -> Result<Vec<u8>, JournalError> {
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
pub(crate) fn header_path(journal: &Path) -> PathBuf {
    journal.with_file_name(HEADER_FILE)
}

/// Bytes of the copy; empty where it is missing, which is no error: only a damaged first line needs
/// it.
pub(crate) fn copy_of_header(journal: &Path) -> Vec<u8> {
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
pub(crate) fn parse<H: DeserializeOwned, E: DeserializeOwned>(
    bytes: &[u8],
    copy: &[u8],
    path: &Path,
) -> Result<JournalContents<H, E>, JournalError> {
    let found = scan(bytes);
    let header = find_header(&found.pieces, copy).map_err(|missing| missing.error(path))?;
    let HeaderIn { opening } = serde_json::from_slice(header.json)
        .map_err(|error| HeaderError::reason(without_place(&error)).error(path))?;
    let Ordered { events, mut damage, next } = header.order(&found.pieces);
    let mut entries = Vec::with_capacity(events.len());
    for (number, json) in events {
        match serde_json::from_slice(&json) {
            Ok(entry) => entries.push(entry),
            Err(error) => {
                damage.push(Damage::of_line(number, LineDamage::Unknown(without_place(&error))))
            }
        }
    }
    if found.torn_tail {
        damage.push(Damage::of_line(next, LineDamage::Torn));
    }
    damage.sort_by_key(|damage| damage.first);
    let tail = Tail { sound_bytes: found.sound_bytes, torn: found.torn_tail, open: found.open_end };
    Ok(JournalContents {
        opening,
        entries,
        damage,
        tail,
        numbering: header.numbering(next),
        header: header.json.to_owned(),
    })
}

/// Text of the error without the line that serde_json counts: it parses one line at a time, so that
/// is always the first.
pub(crate) fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line 1 column").map_or(text.as_str(), |(what, _)| what).to_owned()
}

/// First line of a journal, or its copy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JournalHeader<'a> {
    /// JSON text, without checksum and newline.
    pub json: &'a [u8],
    /// True if the lines behind it carry numbers.
    is_numbered: bool,
}

impl<'a> JournalHeader<'a> {
    /// Events behind it, in order.
    pub fn order(&self, pieces: &[LinePiece<'_>]) -> Ordered {
        if self.is_numbered { by_number(pieces, self.json) } else { by_place(pieces, self.json) }
    }

    fn numbering(&self, next: u64) -> Numbering {
        if self.is_numbered {
            Numbering::Number { of: checksum(self.json), next }
        } else {
            Numbering::Place
        }
    }

    /// Recognises the first line of a journal of a form that this version reads; a newer form is an
    /// error.
    fn of(json: &'a [u8]) -> Result<Option<JournalHeader<'a>>, HeaderError> {
        let form =
            serde_json::from_slice::<FormOnly>(json).map(|header| header.form).unwrap_or_default();
        let version = |form: &str| form.strip_prefix(FORM_FAMILY)?.parse::<u32>().ok();
        match version(&form) {
            _ if form == FORM || form == FORM_1 => {
                Ok(Some(JournalHeader { json, is_numbered: form == FORM }))
            }
            found if found > version(FORM) => Err(HeaderError::Newer(form)),
            _ => Ok(None),
        }
    }
}

/// Reason why there is no header.
#[derive(Debug)]
pub(crate) enum HeaderError {
    /// A newer version wrote it; with its form.
    Newer(String),
    /// Neither the line nor its copy can be read; with the reason.
    Unreadable(String),
}

impl HeaderError {
    fn reason(text: impl Into<String>) -> HeaderError {
        HeaderError::Unreadable(text.into())
    }

    /// Error about the journal at `path`.
    pub fn error(self, path: &Path) -> JournalError {
        let path = path.to_owned();
        match self {
            HeaderError::Newer(found) => JournalError::Newer { path, found },
            HeaderError::Unreadable(reason) => JournalError::NoHeader { path, reason },
        }
    }
}

/// Finds the header: the copy, if the journal holds the same line anywhere; else the line that
/// comes first; else the copy; else any line that looks like one.
pub(crate) fn find_header<'a>(
    pieces: &[LinePiece<'a>],
    copy: &'a [u8],
) -> Result<JournalHeader<'a>, HeaderError> {
    let lines = || pieces.iter().filter_map(line_of);
    let copied = scan(copy).pieces.iter().find_map(line_of).map(JournalHeader::of).transpose();
    if let Ok(Some(Some(header))) = copied
        && lines().any(|line| line == header.json)
    {
        return Ok(header);
    }
    let first = pieces.first().and_then(line_of);
    if let Some(header) = first.map(JournalHeader::of).transpose()?.flatten() {
        return Ok(header);
    }
    if let Some(header) = copied?.flatten() {
        return Ok(header);
    }
    let later = lines()
        .filter(|line| looks_like_header(line))
        .find_map(|line| JournalHeader::of(line).ok().flatten());
    later.ok_or_else(|| {
        HeaderError::reason(match pieces.first() {
            None => "its first line is missing".to_owned(),
            Some(LinePiece::Line(_)) => {
                "it does not begin with the first line of a flashmark journal".to_owned()
            }
            Some(LinePiece::Bad { reason, .. }) => format!("its first line is damaged ({reason})"),
        })
    })
}

fn line_of<'a>(piece: &LinePiece<'a>) -> Option<&'a [u8]> {
    match *piece {
        LinePiece::Line(json) => Some(json),
        LinePiece::Bad { .. } => None,
    }
}
