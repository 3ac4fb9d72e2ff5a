//! Our own form of a trace: compact, streamed, and honest about where it breaks off.
//!
//! ```text
//! "flashmark-trace\n"   version u16, 0 u16, length u32, CRC-32C u32, then so much JSON: the Header
//! block, block, ...     each: length u32, entries u32, CRC-32C u32, then so much payload
//! end mark              a block of u32::MAX entries: requests, completions and losses as three u64
//! ```
//!
//! All numbers are little-endian. A block stands by itself: it begins with its time and the number
//! of its first request. An entry is a byte (what it is, four marks, whether a source follows),
//! then variable-length integers: the time since the entry before; for a request the distance from
//! the end of the one before, and the length; for a completion how many requests ago its own was.
//! This takes about 16 bytes for a request and its completion.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crc::{CRC_32_ISCSI, Crc, Table};
use device::Op;
use serde::{Deserialize, Serialize};

use super::{Issue, Marks, Notes, Steps, TraceError, TraceEvent};

/// What a file of ours begins with.
pub(crate) const MAGIC: &[u8; 16] = b"flashmark-trace\n";
const VERSION: u16 = 1;
/// A block is written when it has grown to this.
const BLOCK_BYTES: usize = 64 << 10;
/// No block is longer; a larger number is damage.
const MOST_BYTES: usize = 1 << 20;
/// "Entries" of the end mark.
const END: u32 = u32::MAX;

const KIND: u8 = 7;
const COMPLETED: u8 = 4;
const LOST: u8 = 5;
const MARKS_SHIFT: u32 = 3;
const SOURCE_FOLLOWS: u8 = 1 << 7;

/// What a recording is of, and how it was made. Everything may be missing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceHeader {
    /// Name of the recorded device ("mmcblk0"), in words.
    #[serde(default)]
    pub device: String,
    /// Its size in bytes.
    #[serde(default)]
    pub capacity_bytes: Option<u64>,
    /// Its smallest addressable unit in bytes.
    #[serde(default)]
    pub logical_block_bytes: Option<u64>,
    /// How it was recorded: "tracefs", "blktrace".
    #[serde(default)]
    pub recorder: String,
    /// When the recording began, RFC 3339.
    #[serde(default)]
    pub started: Option<String>,
    /// The kernel it was recorded on.
    #[serde(default)]
    pub kernel: Option<String>,
}

/// Writes a trace as it comes. Times may go back a little (events of several processors), numbers
/// must be those of [`issued`](Self::issued).
///
/// A recording that ends without [`finish`](Self::finish) is readable up to its last whole block,
/// and says that it was cut off.
pub struct TraceWriter<W: Write> {
    out: W,
    block: Vec<u8>,
    entries: u32,
    context: Context,
    issued: u64,
    completed: u64,
    lost: u64,
}

/// What the next entry is told relative to.
#[derive(Clone, Copy, Default)]
struct Context {
    time_ns: u64,
    end_bytes: u64,
    source: (u32, u32, u32),
}

impl<W: Write> TraceWriter<W> {
    /// Begins a trace: writes the magic number, the version and the header.
    pub fn new(mut out: W, header: &TraceHeader) -> io::Result<TraceWriter<W>> {
        let json = serde_json::to_vec(header)?;
        out.write_all(MAGIC)?;
        out.write_all(&VERSION.to_le_bytes())?;
        out.write_all(&[0; 2])?;
        out.write_all(&(json.len() as u32).to_le_bytes())?;
        out.write_all(&crc(&[&json]).to_le_bytes())?;
        out.write_all(&json)?;
        let block = Vec::with_capacity(BLOCK_BYTES + 64);
        Ok(TraceWriter {
            out,
            block,
            entries: 0,
            context: Context::default(),
            issued: 0,
            completed: 0,
            lost: 0,
        })
    }

    /// A request was issued; gives its number.
    pub fn issued(&mut self, issue: &Issue) -> io::Result<u64> {
        let source = (issue.device, issue.cpu, issue.pid);
        self.begin(issue.time_ns);
        let follows = if source == self.context.source { 0 } else { SOURCE_FOLLOWS };
        self.block.push(kind(issue.op) | issue.marks.bits() << MARKS_SHIFT | follows);
        self.time(issue.time_ns);
        if follows != 0 {
            for part in [source.0, source.1, source.2] {
                put(&mut self.block, u64::from(part));
            }
            self.context.source = source;
        }
        put(
            &mut self.block,
            zigzag(issue.offset_bytes.wrapping_sub(self.context.end_bytes) as i64),
        );
        put(&mut self.block, issue.length_bytes);
        self.context.end_bytes = issue.offset_bytes.wrapping_add(issue.length_bytes);
        self.issued += 1;
        self.end_entry()?;
        Ok(self.issued - 1)
    }

    /// The request with this number was done.
    pub fn completed(&mut self, time_ns: u64, number: u64) -> io::Result<()> {
        let Some(ago) = self.issued.checked_sub(number).filter(|ago| *ago > 0) else {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("request {number} was never issued"),
            ));
        };
        self.begin(time_ns);
        self.block.push(COMPLETED);
        self.time(time_ns);
        put(&mut self.block, ago);
        self.completed += 1;
        self.end_entry()
    }

    /// So many events were lost around here.
    pub fn lost(&mut self, time_ns: u64, events: u64) -> io::Result<()> {
        self.begin(time_ns);
        self.block.push(LOST);
        self.time(time_ns);
        put(&mut self.block, events);
        self.lost += events;
        self.end_entry()
    }

    /// Requests written so far.
    pub fn requests(&self) -> u64 {
        self.issued
    }

    /// Hands over what has come so far, so that a recorder that is killed later leaves it behind.
    pub fn flush(&mut self) -> io::Result<()> {
        self.end_block()?;
        self.out.flush()
    }

    /// Ends the trace, and gives back what it was written to.
    pub fn finish(mut self) -> io::Result<W> {
        self.end_block()?;
        let totals = [self.issued, self.completed, self.lost].map(u64::to_le_bytes).concat();
        self.write_block(END, &totals)?;
        self.out.flush()?;
        Ok(self.out)
    }

    /// The first entry of a block is told relative to what the block itself says.
    fn begin(&mut self, time_ns: u64) {
        if self.entries == 0 {
            self.context = Context { time_ns, ..Context::default() };
            put(&mut self.block, time_ns);
            put(&mut self.block, self.issued);
        }
    }

    fn time(&mut self, time_ns: u64) {
        put(&mut self.block, zigzag(time_ns.wrapping_sub(self.context.time_ns) as i64));
        self.context.time_ns = time_ns;
    }

    fn end_entry(&mut self) -> io::Result<()> {
        self.entries += 1;
        if self.block.len() >= BLOCK_BYTES { self.end_block() } else { Ok(()) }
    }

    fn end_block(&mut self) -> io::Result<()> {
        if self.entries == 0 {
            return Ok(());
        }
        let block = std::mem::take(&mut self.block);
        let written = self.write_block(self.entries, &block);
        self.block = block;
        self.block.clear();
        self.entries = 0;
        written
    }

    fn write_block(&mut self, entries: u32, payload: &[u8]) -> io::Result<()> {
        let head = block_head(payload.len() as u32, entries);
        self.out.write_all(&head)?;
        self.out.write_all(&crc(&[&head, payload]).to_le_bytes())?;
        self.out.write_all(payload)
    }
}

fn block_head(length: u32, entries: u32) -> [u8; 8] {
    let mut head = [0; 8];
    head[..4].copy_from_slice(&length.to_le_bytes());
    head[4..].copy_from_slice(&entries.to_le_bytes());
    head
}

fn crc(parts: &[&[u8]]) -> u32 {
    static CRC_32C: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_ISCSI);
    let mut digest = CRC_32C.digest();
    parts.iter().for_each(|part| digest.update(part));
    digest.finalize()
}

fn kind(op: Op) -> u8 {
    match op {
        Op::Read => 0,
        Op::Write => 1,
        Op::Flush => 2,
        Op::Discard => 3,
    }
}

fn op(kind: u8) -> Op {
    match kind {
        0 => Op::Read,
        1 => Op::Write,
        2 => Op::Flush,
        _ => Op::Discard,
    }
}

fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Seven bits a byte, the lowest first.
fn put(block: &mut Vec<u8>, mut value: u64) {
    while value > 127 {
        block.push(value as u8 | 128);
        value >>= 7;
    }
    block.push(value as u8);
}

/// Reads a trace of ours block by block.
pub struct Reader<R> {
    input: R,
    path: PathBuf,
    header: TraceHeader,
    block: Vec<u8>,
    /// Where in the block the next entry begins.
    at: usize,
    left: u32,
    /// Where in the file the block began.
    block_at: u64,
    next_at: u64,
    context: Context,
    issued: u64,
    notes: Notes,
    ended: bool,
}

impl<R: Read> Reader<R> {
    /// Begins to read; `path` is for messages.
    pub fn new(mut input: R, path: &Path) -> Result<Reader<R>, TraceError> {
        let damaged = |what: &str| TraceError::Damaged {
            path: path.to_owned(),
            place: "its header".into(),
            what: what.into(),
        };
        let mut head = [0; 28];
        if fill(&mut input, &mut head, path)? < head.len() || &head[..16] != MAGIC {
            return Err(damaged("it is cut off"));
        }
        let version = u16::from_le_bytes([head[16], head[17]]);
        if version != VERSION {
            let found = format!("a capture of version {version}");
            return Err(TraceError::Version { path: path.to_owned(), found, reads: "version 1" });
        }
        let [length, sum] = [&head[20..24], &head[24..28]].map(number);
        if length as usize > MOST_BYTES {
            return Err(damaged("its length cannot be"));
        }
        let mut json = vec![0; length as usize];
        if fill(&mut input, &mut json, path)? < json.len() {
            return Err(damaged("it is cut off"));
        }
        if crc(&[&json]) != sum {
            return Err(damaged("its checksum does not match"));
        }
        let header = serde_json::from_slice(&json).map_err(|error| damaged(&error.to_string()))?;
        let next_at = (head.len() + json.len()) as u64;
        Ok(Reader {
            input,
            path: path.to_owned(),
            header,
            block: Vec::new(),
            at: 0,
            left: 0,
            block_at: next_at,
            next_at,
            context: Context::default(),
            issued: 0,
            notes: Notes::default(),
            ended: false,
        })
    }

    /// What the recording is of.
    pub fn header(&self) -> &TraceHeader {
        &self.header
    }

    fn damaged(&self, what: impl Into<String>) -> TraceError {
        TraceError::Damaged {
            path: self.path.clone(),
            place: format!("byte {}", self.block_at),
            what: what.into(),
        }
    }

    fn cut_off(&mut self, how: &str) {
        self.ended = true;
        self.notes.cut_off = Some(format!("{how} at byte {}", self.block_at));
    }

    /// Reads the next block; `false` when there is none.
    fn next_block(&mut self) -> Result<bool, TraceError> {
        self.block_at = self.next_at;
        let mut head = [0; 12];
        let got = fill(&mut self.input, &mut head, &self.path)?;
        let [length, entries, sum] = [&head[..4], &head[4..8], &head[8..]].map(number);
        if got < head.len() || head == [0; 12] {
            self.cut_off("the recording was not ended; it breaks off");
            return Ok(false);
        }
        if length as usize > MOST_BYTES {
            return Err(self.damaged(format!("a block of {length} bytes cannot be")));
        }
        self.block.resize(length as usize, 0);
        if fill(&mut self.input, &mut self.block, &self.path)? < self.block.len() {
            self.cut_off("the recording was not ended; it breaks off within the block");
            return Ok(false);
        }
        if crc(&[&head[..8], &self.block]) != sum {
            return Err(self.damaged("a block's checksum does not match"));
        }
        self.next_at += (head.len() + self.block.len()) as u64;
        self.at = 0;
        if entries == END {
            self.ended = true;
            return Ok(false);
        }
        self.left = entries;
        self.context = Context { time_ns: self.get()?, ..Context::default() };
        let issued = self.get()?;
        if issued < self.issued {
            return Err(self.damaged("its requests are counted backwards"));
        }
        self.issued = issued;
        Ok(true)
    }

    #[inline]
    fn byte(&mut self) -> Result<u8, TraceError> {
        let byte = self.block.get(self.at).copied();
        self.at += 1;
        byte.ok_or_else(|| self.damaged("an entry goes beyond its block"))
    }

    #[inline]
    fn get(&mut self) -> Result<u64, TraceError> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Ok(value);
            }
        }
        Err(self.damaged("a number is too long"))
    }

    fn entry(&mut self) -> Result<Option<TraceEvent>, TraceError> {
        self.left -= 1;
        let tag = self.byte()?;
        let time_ns = self.context.time_ns.wrapping_add_signed(unzigzag(self.get()?));
        self.context.time_ns = time_ns;
        match tag & KIND {
            COMPLETED => {
                let ago = self.get()?;
                match self.issued.checked_sub(ago) {
                    Some(number) if ago > 0 => Ok(Some(TraceEvent::Completed { time_ns, number })),
                    _ => Err(self.damaged("a completion of a request that was never issued")),
                }
            }
            LOST => {
                self.notes.lost = self.notes.lost.saturating_add(self.get()?);
                Ok(None)
            }
            kind @ 0..=3 => self.request(tag, kind, time_ns).map(Some),
            unknown => Err(self.damaged(format!("an entry of the unknown kind {unknown}"))),
        }
    }

    #[inline]
    fn request(&mut self, tag: u8, kind: u8, time_ns: u64) -> Result<TraceEvent, TraceError> {
        if tag & SOURCE_FOLLOWS != 0 {
            self.context.source = (self.get()? as u32, self.get()? as u32, self.get()? as u32);
        }
        let offset_bytes = self.context.end_bytes.wrapping_add_signed(unzigzag(self.get()?));
        let length_bytes = self.get()?;
        self.context.end_bytes = offset_bytes.wrapping_add(length_bytes);
        self.issued += 1;
        let (device, cpu, pid) = self.context.source;
        let marks = Marks::from_bits(tag >> MARKS_SHIFT);
        Ok(TraceEvent::Issued(Issue {
            time_ns,
            op: op(kind),
            marks,
            offset_bytes,
            length_bytes,
            device,
            cpu,
            pid,
        }))
    }
}

impl<R: Read> Steps for Reader<R> {
    fn next(&mut self) -> Result<Option<TraceEvent>, TraceError> {
        loop {
            while self.left > 0 {
                if let Some(step) = self.entry()? {
                    return Ok(Some(step));
                }
            }
            if self.ended || !self.next_block()? {
                return Ok(None);
            }
        }
    }

    fn notes(&self) -> Notes {
        self.notes.clone()
    }
}

fn number(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte))
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
            Err(source) => return Err(TraceError::Read { path: path.to_owned(), source }),
        }
    }
    Ok(filled)
}
