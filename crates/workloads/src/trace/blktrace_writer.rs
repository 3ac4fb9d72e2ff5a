//! Writes a trace in the form of blktrace's, which blkparse, btt, iowatcher and fio read too.
//!
//! One file stands for all processors: each record says processor 0, because blkparse leaves out
//! what another one than that of the file's name recorded. What a recorder has to say beside its
//! events are messages, as the kernel's own are.

use std::io::{self, Write};

use device::Op;
use serde::Serialize;

use super::blktrace::{CAPTURE, ENDED, LOST, MAGIC, RECORD_BYTES, VERSION, bits};
use super::kernel::{Action, BlockEvent, RequestKind};
use super::{Issue, RequestFlags};

/// What a recording is of, and how it was made: the first message of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TraceHeader {
    /// Name of the recorded device ("mmcblk0"), in words.
    pub device: String,
    /// Its size in bytes.
    pub capacity_bytes: Option<u64>,
    /// Its smallest addressable unit in bytes.
    pub logical_block_bytes: Option<u64>,
    /// How it was recorded: "tracefs".
    pub recorder: String,
    /// When the recording began, RFC 3339.
    pub started: Option<String>,
    /// The kernel it was recorded on.
    pub kernel: Option<String>,
}

/// Writes a trace as it comes. A recording that ends without [`finish`](Self::finish) is readable
/// up to its last whole record, and says that it was cut off.
pub struct TraceWriter<W: Write> {
    out: W,
    sequence: u32,
    /// Time of the last record.
    time_ns: u64,
}

impl<W: Write> TraceWriter<W> {
    /// Begins a trace at this time, of the clock that its events will have.
    pub fn new(out: W, header: &TraceHeader, time_ns: u64) -> io::Result<TraceWriter<W>> {
        let mut writer = TraceWriter { out, sequence: 0, time_ns };
        writer.message(&format!("{CAPTURE} {}", serde_json::to_string(header)?))?;
        Ok(writer)
    }

    /// Writes that a request was issued.
    pub fn issued(&mut self, issue: &Issue) -> io::Result<()> {
        let event = event(issue, Action::Issued, issue.time_ns);
        self.queued(&event)?;
        self.event(&event)
    }

    /// Writes that this request was done.
    pub fn completed(&mut self, time_ns: u64, issue: &Issue) -> io::Result<()> {
        self.event(&event(issue, Action::Completed, time_ns))
    }

    /// Writes that what is issued with this event was queued right before. Nobody recorded when it
    /// was, but fio and btt count only what was queued.
    pub(crate) fn queued(&mut self, event: &BlockEvent) -> io::Result<()> {
        self.event(&BlockEvent { action: Action::Queued, ..*event })
    }

    /// Writes an event of the kernel's; one that moves nothing is left out, as the completion that
    /// a write has once more when the flush after it is done.
    pub(crate) fn event(&mut self, event: &BlockEvent) -> io::Result<()> {
        let (op, offset_bytes, length_bytes) = match (event.what.op, event.length_bytes) {
            (Some(Op::Flush), _) => (Op::Flush, 0, 0),
            (None, _) | (_, 0) => return Ok(()),
            (Some(op), length_bytes) => (op, event.offset_bytes, length_bytes),
        };
        self.time_ns = event.time_ns;
        self.record(&Record {
            sector: offset_bytes / 512,
            bytes: u32::try_from(length_bytes).unwrap_or(u32::MAX),
            action: action(event, op),
            pid: event.pid,
            device: event.device,
            payload: &[],
        })
    }

    /// Writes that so many events were lost around here.
    pub fn lost(&mut self, events: u64) -> io::Result<()> {
        self.message(&format!("{LOST} {events}"))
    }

    /// Hands over what has come so far, so that a recorder that is killed later leaves it behind.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Ends the trace, and gives back what it was written to.
    pub fn finish(mut self) -> io::Result<W> {
        self.message(ENDED)?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn message(&mut self, text: &str) -> io::Result<()> {
        let action = bits::NOTIFY | bits::MESSAGE;
        let payload = &text.as_bytes()[..text.len().min(usize::from(u16::MAX))];
        self.record(&Record { sector: 0, bytes: 0, action, pid: 0, device: 0, payload })
    }

    fn record(&mut self, record: &Record<'_>) -> io::Result<()> {
        let mut raw = [0; RECORD_BYTES];
        let mut put = |at: usize, bytes: &[u8]| raw[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &(MAGIC | VERSION).to_le_bytes());
        put(4, &self.sequence.to_le_bytes());
        put(8, &self.time_ns.to_le_bytes());
        put(16, &record.sector.to_le_bytes());
        put(24, &record.bytes.to_le_bytes());
        put(28, &record.action.to_le_bytes());
        put(32, &record.pid.to_le_bytes());
        put(36, &record.device.to_le_bytes());
        put(46, &(record.payload.len() as u16).to_le_bytes());
        self.sequence = self.sequence.wrapping_add(1);
        self.out.write_all(&raw)?;
        self.out.write_all(record.payload)
    }
}

/// The parts of a record that differ from kind to kind.
struct Record<'a> {
    sector: u64,
    bytes: u32,
    action: u32,
    pid: u32,
    device: u32,
    payload: &'a [u8],
}

fn event(issue: &Issue, action: Action, time_ns: u64) -> BlockEvent {
    let &Issue { op, flags, offset_bytes, length_bytes, device, pid, .. } = issue;
    let what = RequestKind { op: Some(op), preflush: false, flags };
    BlockEvent { time_ns, action, what, offset_bytes, length_bytes, device, pid }
}

/// As the kernel says it: what happened, to which kind of request.
fn action(event: &BlockEvent, op: Op) -> u32 {
    let happened = match event.action {
        Action::Queued => 1 | 1 << 20,
        Action::Requeued => 6 | 1 << 21,
        Action::Issued => 7 | 1 << 22,
        Action::Completed => 8 | 1 << 23,
    };
    let moves = match op {
        Op::Read => bits::READ,
        Op::Write => bits::WRITE,
        Op::Flush => bits::READ | bits::FLUSH,
        Op::Discard => bits::WRITE | bits::DISCARD,
    };
    let when = |bit, given| if given { bit } else { 0 };
    let has = |bit, mark| when(bit, event.what.flags.has(mark));
    happened
        | bits::FILE_SYSTEM
        | moves
        | when(bits::FLUSH, event.what.preflush)
        | has(bits::FUA, RequestFlags::FUA)
        | has(bits::SYNC, RequestFlags::SYNC)
        | has(bits::META, RequestFlags::META)
        | has(bits::AHEAD, RequestFlags::AHEAD)
}
