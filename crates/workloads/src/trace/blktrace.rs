//! blktrace's binary files: one for each processor, merged by time.
//!
//! The record is `struct blk_io_trace` of the kernel's `blktrace_api.h`: 48 bytes in the byte order
//! of the machine that recorded, and behind it as many bytes of payload as it says.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use super::kernel::{Action, BlockEvent, Interpreter};
use super::{Issue, Steps, TraceError, TraceEvent};
use device::Op;

/// "eat", and the version in the lowest byte.
const MAGIC: u32 = 0x6561_7400;
const VERSION: u32 = 7;
const RECORD_BYTES: usize = 48;

/// Records of one file that are looked at together: a processor writes them in nearly the order of
/// time, but an interrupt may slip in.
const AHEAD: usize = 32;

/// Records among the first of a recording by which it is told whether there are events of the
/// driver.
const SAMPLE: usize = 50_000;

/// `action`: what happened in the lower half, what kind of request in the upper one.
mod bits {
    pub const WRITE: u32 = 1 << 17;
    pub const FLUSH: u32 = 1 << 18;
    pub const PASSTHROUGH: u32 = 1 << 25;
    pub const NOTIFY: u32 = 1 << 26;
    pub const DISCARD: u32 = 1 << 29;
    pub const FUA: u32 = 1 << 31;
    /// Set where the cgroup's number follows; the action is below it.
    pub const ACTION: u32 = 0xff;
}

/// True if the numbers are big-endian; `None` if these are not the first bytes of such a file.
pub(super) fn byte_order(head: &[u8]) -> Option<bool> {
    let bytes = *head.first_chunk()?;
    match (u32::from_le_bytes(bytes) & !0xff, u32::from_be_bytes(bytes) & !0xff) {
        (MAGIC, _) => Some(false),
        (_, MAGIC) => Some(true),
        _ => None,
    }
}

/// The files of a recording, of which `path` is one: NAME.blktrace.0, NAME.blktrace.1, and so on.
pub fn siblings(path: &Path) -> Vec<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let alone = vec![path.to_owned()];
    let Some((stem, number)) = name.rsplit_once('.') else { return alone };
    if !stem.ends_with(".blktrace") || number.parse::<u32>().is_err() {
        return alone;
    }
    let folder =
        path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(entries) = std::fs::read_dir(folder) else { return alone };
    let number_of = |found: &Path| {
        found.file_name()?.to_str()?.strip_prefix(stem)?.strip_prefix('.')?.parse::<u32>().ok()
    };
    let mut found: Vec<(u32, PathBuf)> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter_map(|path| Some((number_of(&path)?, path)))
        .collect();
    found.sort();
    found.into_iter().map(|(_, path)| path).collect()
}

/// The file of one processor, open for reading.
struct Source {
    path: PathBuf,
    input: BufReader<File>,
    big_endian: bool,
    at: u64,
    payload: Vec<u8>,
    cut_off: Option<String>,
}

impl Source {
    /// `None` for a file of a processor that was idle.
    fn open(path: &Path) -> Result<Option<Source>, TraceError> {
        let unreadable = |error| TraceError::unreadable(path, &error);
        let file = File::open(path).map_err(unreadable)?;
        let mut input = BufReader::with_capacity(256 << 10, file);
        let head = input.fill_buf().map_err(unreadable)?;
        if head.is_empty() {
            return Ok(None);
        }
        let foreign = || TraceError::damaged(path, "byte 0", "it is no file of blktrace's");
        let big_endian = byte_order(head).ok_or_else(foreign)?;
        let version = u32::from(if big_endian { head[3] } else { head[0] });
        if version != VERSION {
            let found = format!(
                "is a blktrace of version {version}; this flashmark reads version 7, which blktrace writes since 2006"
            );
            return Err(TraceError::of(path, found));
        }
        Ok(Some(Source {
            path: path.to_owned(),
            input,
            big_endian,
            at: 0,
            payload: Vec::new(),
            cut_off: None,
        }))
    }

    /// The next event of a request; what is not about one is passed over.
    fn next(&mut self) -> Result<Option<BlockEvent>, TraceError> {
        while self.cut_off.is_none() {
            let mut raw = [0; RECORD_BYTES];
            let got = fill(&mut self.input, &mut raw, &self.path)?;
            // A file system may leave zeros at the end of a file after a power cut.
            if got < RECORD_BYTES || raw == [0; RECORD_BYTES] {
                self.end(got);
                return Ok(None);
            }
            let record = Record { raw, big_endian: self.big_endian };
            if record.u32(0) != MAGIC | VERSION {
                let place = format_args!("byte {}", self.at);
                let what = "there is no record where one must begin";
                return Err(TraceError::damaged(&self.path, place, what));
            }
            self.payload.resize(usize::from(record.u16(46)), 0);
            if fill(&mut self.input, &mut self.payload, &self.path)? < self.payload.len() {
                self.end(RECORD_BYTES);
                return Ok(None);
            }
            self.at += (RECORD_BYTES + self.payload.len()) as u64;
            if let Some(event) = record.event() {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }

    /// Notes how the file ends, where there are so many bytes of a record that is not whole.
    fn end(&mut self, bytes: usize) {
        if bytes > 0 {
            let name = self.path.file_name().unwrap_or_default().to_string_lossy();
            self.cut_off = Some(format!("{name} breaks off within the record at byte {}", self.at));
        }
    }
}

/// One record as it lies in the file.
struct Record {
    raw: [u8; RECORD_BYTES],
    big_endian: bool,
}

impl Record {
    fn number<const N: usize>(&self, at: usize) -> [u8; N] {
        let mut bytes = [0; N];
        bytes.copy_from_slice(&self.raw[at..at + N]);
        if self.big_endian {
            bytes.reverse();
        }
        bytes
    }

    fn u16(&self, at: usize) -> u16 {
        u16::from_le_bytes(self.number(at))
    }

    fn u32(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.number(at))
    }

    fn u64(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.number(at))
    }

    /// `None` for one that is not about a request, or moves nothing.
    fn event(&self) -> Option<BlockEvent> {
        let action = self.u32(28);
        if action & (bits::NOTIFY | bits::PASSTHROUGH) != 0 {
            return None;
        }
        let happened = match action & bits::ACTION {
            1 => Action::Queued,
            6 => Action::Requeued,
            7 => Action::Issued,
            8 => Action::Completed,
            _ => return None,
        };
        let has = |bit| action & bit != 0;
        let length_bytes = u64::from(self.u32(24));
        // A flush without data is a flush, one with data comes before it.
        let op = match () {
            () if length_bytes == 0 => has(bits::FLUSH).then_some(Op::Flush)?,
            () if has(bits::DISCARD) => Op::Discard,
            () if has(bits::WRITE) => Op::Write,
            () => Op::Read,
        };
        let request = Issue {
            time_ns: self.u64(8),
            op,
            fua: has(bits::FUA),
            offset_bytes: if op == Op::Flush { 0 } else { self.u64(16).wrapping_mul(512) },
            length_bytes,
            device: self.u32(36),
        };
        let preflush = has(bits::FLUSH) && op != Op::Flush;
        Some(BlockEvent { action: happened, request, preflush })
    }
}

/// All files of a recording, merged.
struct Merged {
    sources: Vec<Source>,
    /// The next events of each, in the order of time.
    ahead: Vec<VecDeque<BlockEvent>>,
}

impl Merged {
    fn open(paths: &[PathBuf]) -> Result<Merged, TraceError> {
        let mut sources = Vec::new();
        for path in paths {
            sources.extend(Source::open(path)?);
        }
        let ahead = vec![VecDeque::with_capacity(AHEAD); sources.len()];
        let mut merged = Merged { sources, ahead };
        for at in 0..merged.sources.len() {
            for _ in 0..AHEAD {
                merged.refill(at)?;
            }
        }
        Ok(merged)
    }

    fn refill(&mut self, at: usize) -> Result<(), TraceError> {
        if let Some(event) = self.sources[at].next()? {
            let ahead = &mut self.ahead[at];
            let is_before = |other: &BlockEvent| other.request.time_ns <= event.request.time_ns;
            let place = ahead.partition_point(is_before);
            ahead.insert(place, event);
        }
        Ok(())
    }

    fn next(&mut self) -> Result<Option<BlockEvent>, TraceError> {
        let first = |ahead: &VecDeque<BlockEvent>| ahead.front().map(|event| event.request.time_ns);
        let times =
            self.ahead.iter().enumerate().filter_map(|(at, ahead)| Some((first(ahead)?, at)));
        let Some((_, at)) = times.min() else { return Ok(None) };
        let event = self.ahead[at].pop_front();
        self.refill(at)?;
        Ok(event)
    }
}

/// Reads a recording of blktrace's.
pub(super) struct Blktrace {
    merged: Merged,
    interpreter: Interpreter,
}

impl Blktrace {
    /// Opens the recording that `path` is a part of.
    pub fn open(path: &Path) -> Result<Blktrace, TraceError> {
        let paths = siblings(path);
        let mut sample = Merged::open(&paths)?;
        if sample.sources.is_empty() {
            return Err(TraceError::of(path, "is empty"));
        }
        let mut has_issues = false;
        for _ in 0..SAMPLE {
            match sample.next()? {
                Some(event) if event.action == Action::Issued => has_issues = true,
                Some(_) if !has_issues => {}
                _ => break,
            }
        }
        Ok(Blktrace { merged: Merged::open(&paths)?, interpreter: Interpreter::new(has_issues) })
    }
}

impl Steps for Blktrace {
    fn next(&mut self) -> Result<Option<TraceEvent>, TraceError> {
        loop {
            if let Some(step) = self.interpreter.pop() {
                return Ok(Some(step));
            }
            match self.merged.next()? {
                Some(event) => self.interpreter.take(&event),
                None => return Ok(None),
            }
        }
    }

    fn cut_off(&self) -> Option<String> {
        self.merged.sources.iter().find_map(|source| source.cut_off.clone())
    }
}

/// Reads until the buffer is full or the input ends; how much it was.
pub(super) fn fill(
    input: &mut impl Read,
    buffer: &mut [u8],
    path: &Path,
) -> Result<usize, TraceError> {
    let mut filled = 0;
    while filled < buffer.len() {
        match input.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(got) => filled += got,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(TraceError::unreadable(path, &error)),
        }
    }
    Ok(filled)
}
