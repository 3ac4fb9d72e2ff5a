//! Recording the block I/O that a machine does by itself, so that a trial can be made with the real
//! load.
//!
//! The events `block_rq_issue` and `block_rq_complete` say when a request was handed to the driver
//! and when it was done. They are read from a private instance of tracefs as the kernel lays them
//! into its buffer, without being made into text: that is what keeps the cost down.

mod error;
mod files;
mod format;
mod page;
mod recorder;
mod source;
mod tracefs;

use std::cell::Cell;
use std::io::{self, Write};
use std::rc::Rc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use device::Op;
use rustix::time::{ClockId, clock_gettime};

pub use error::CaptureError;
pub use files::{CapturedFiles, capture_files, prepare_files};
pub use source::CaptureSource;

use crate::trace::kernel::{Action, BlockEvent, Interpreter};
use crate::trace::{Issue, TraceEvent, TraceHeader, TraceWriter};

/// What has been recorded is in the file after this time at the latest.
const KEEP_NS: u64 = 1_000_000_000;

/// When a recording ends by itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct CaptureLimits {
    /// Longest time of a recording, by the raw monotonic clock; `None` is no limit.
    pub time: Option<Duration>,
    /// When the trace has so many bytes; at most a few records more.
    pub size_bytes: Option<u64>,
}

/// What was recorded so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Captured {
    /// Reads whose issue was recorded.
    pub reads: u64,
    /// Writes whose issue was recorded.
    pub writes: u64,
    /// Discards whose issue was recorded.
    pub discards: u64,
    /// Flushes issued, those that a write asked to come before it included.
    pub flushes: u64,
    /// Bytes that the recorded reads ask for.
    pub read_bytes: u64,
    /// Bytes that the recorded writes hand over.
    pub written_bytes: u64,
    /// Requests that were seen to be done.
    pub completed: u64,
    /// Events that the kernel lost, because they came faster than they could be kept.
    pub lost: u64,
    /// Length of the trace.
    pub trace_bytes: u64,
    /// How long it was recorded.
    pub elapsed_ns: u64,
    /// Processor time it cost this process, user and system.
    pub cpu_ns: u64,
    /// True if it ended because the trace had the size that was allowed.
    pub full: bool,
}

impl Captured {
    /// Reads, writes, discards and flushes together.
    pub fn requests(&self) -> u64 {
        self.reads + self.writes + self.discards + self.flushes
    }

    /// Share of one processor that recording took, in percent.
    pub fn cpu_percent(&self) -> f64 {
        100.0 * self.cpu_ns as f64 / (self.elapsed_ns as f64).max(1.0)
    }

    fn count(&mut self, issue: &Issue) {
        match issue.op {
            Op::Read => {
                (self.reads, self.read_bytes) =
                    (self.reads + 1, self.read_bytes + issue.length_bytes)
            }
            Op::Write => {
                (self.writes, self.written_bytes) =
                    (self.writes + 1, self.written_bytes + issue.length_bytes)
            }
            Op::Discard => self.discards += 1,
            Op::Flush => self.flushes += 1,
        }
    }
}

/// Whether recording is possible here; if not, the error says what is missing. Removes what
/// captures that were killed left behind.
pub fn prepare() -> Result<(), CaptureError> {
    recorder::prepare()
}

/// Records until a limit or `stop`; `on_progress` is told several times a second how far it is.
/// What it makes in tracefs is gone when it returns.
pub fn capture<W: Write>(
    source: &CaptureSource,
    header: &TraceHeader,
    out: W,
    limits: CaptureLimits,
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(&Captured),
) -> Result<Captured, CaptureError> {
    let mut sink = Sink::new(out, header, source.has_requests(), limits)?;
    recorder::record(source, &mut sink, stop, on_progress)?;
    sink.finish()
}

/// A trace being written, and what is in it.
struct Sink<W: Write> {
    writer: TraceWriter<Counted<W>>,
    interpreter: Interpreter,
    bytes: Rc<Cell<u64>>,
    limits: CaptureLimits,
    captured: Captured,
    begun_ns: u64,
    begun_cpu_ns: u64,
    /// When what had come was last handed over.
    kept_ns: u64,
}

impl<W: Write> Sink<W> {
    fn new(
        out: W,
        header: &TraceHeader,
        has_requests: bool,
        limits: CaptureLimits,
    ) -> Result<Sink<W>, CaptureError> {
        let bytes = Rc::new(Cell::new(0));
        let (begun_ns, begun_cpu_ns) =
            (clock_ns(ClockId::MonotonicRaw), clock_ns(ClockId::ProcessCPUTime));
        let out = Counted { out, bytes: Rc::clone(&bytes) };
        let writer = TraceWriter::new(out, header, begun_ns).map_err(CaptureError::Write)?;
        let mut sink = Sink {
            writer,
            interpreter: Interpreter::new(has_requests),
            bytes,
            limits,
            captured: Captured::default(),
            begun_ns,
            begun_cpu_ns,
            kept_ns: begun_ns,
        };
        sink.writer.flush().map_err(CaptureError::Write)?;
        Ok(sink)
    }

    /// Hands over what has come, once a second: whoever kills a recorder loses no more than that.
    fn keep(&mut self) -> Result<(), CaptureError> {
        let now_ns = clock_ns(ClockId::MonotonicRaw);
        if now_ns.saturating_sub(self.kept_ns) < KEEP_NS {
            return Ok(());
        }
        self.kept_ns = now_ns;
        self.writer.flush().map_err(CaptureError::Write)
    }

    /// Counts an event of the kernel's, and writes it.
    fn take(&mut self, event: &BlockEvent) -> Result<(), CaptureError> {
        self.interpreter.take(event);
        let mut is_new = false;
        while let Some(step) = self.interpreter.pop() {
            match step {
                TraceEvent::Issued(issue) => {
                    is_new = true;
                    self.captured.count(&issue);
                }
                TraceEvent::Completed { .. } => self.captured.completed += 1,
            }
        }
        if is_new && event.action == Action::Issued {
            self.writer.queued(event).map_err(CaptureError::Write)?;
        }
        self.writer.event(event).map_err(CaptureError::Write)
    }

    fn lost(&mut self, events: u64) -> Result<(), CaptureError> {
        self.captured.lost += events;
        self.writer.lost(events).map_err(CaptureError::Write)
    }

    /// True if the trace is as long as it may be.
    fn is_full(&mut self) -> bool {
        self.captured.full = self.limits.size_bytes.is_some_and(|most| self.bytes.get() >= most);
        self.captured.full
    }

    /// True if the time is up.
    fn is_over(&self) -> bool {
        self.limits.time.is_some_and(|most| u128::from(self.elapsed_ns()) >= most.as_nanos())
    }

    fn elapsed_ns(&self) -> u64 {
        clock_ns(ClockId::MonotonicRaw).saturating_sub(self.begun_ns)
    }

    /// How far it is.
    fn so_far(&mut self) -> &Captured {
        self.captured.trace_bytes = self.bytes.get();
        self.captured.elapsed_ns = self.elapsed_ns();
        self.captured.cpu_ns = clock_ns(ClockId::ProcessCPUTime).saturating_sub(self.begun_cpu_ns);
        &self.captured
    }

    fn finish(mut self) -> Result<Captured, CaptureError> {
        let mut captured = *self.so_far();
        let mut out = self.writer.finish().map_err(CaptureError::Write)?;
        out.flush().map_err(CaptureError::Write)?;
        captured.trace_bytes = self.bytes.get();
        Ok(captured)
    }
}

/// Counts what goes through.
struct Counted<W> {
    out: W,
    bytes: Rc<Cell<u64>>,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.bytes.set(self.bytes.get() + written as u64);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn clock_ns(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{RequestFlags, RequestKind};

    /// A request that goes back to the queue is queued once: fio counts what is queued.
    #[test]
    fn a_request_that_is_issued_again_is_counted_once() {
        let mut trace = Vec::new();
        let limits = CaptureLimits::default();
        let mut sink = Sink::new(&mut trace, &TraceHeader::default(), true, limits).unwrap();
        let what = RequestKind { op: Some(Op::Write), preflush: true, flags: RequestFlags::NONE };
        for action in [Action::Issued, Action::Requeued, Action::Issued, Action::Completed] {
            let (offset_bytes, length_bytes, device, pid) = (4096, 512, 8 << 20, 7);
            let time_ns = 5;
            sink.take(&BlockEvent {
                time_ns,
                action,
                what,
                offset_bytes,
                length_bytes,
                device,
                pid,
            })
            .unwrap();
        }
        let captured = sink.finish().unwrap();
        assert_eq!((captured.writes, captured.flushes, captured.completed), (1, 1, 2));
        let first = trace.windows(4).skip(1).position(|word| word == [7, 0x74, 0x61, 0x65]);
        let records = trace[1 + first.unwrap()..].chunks_exact(48);
        let actions: Vec<u8> = records.map(|record| record[28]).collect();
        assert_eq!(actions, b"\x01\x07\x06\x07\x08\x02", "Q, D, R, D, C and the end");
    }
}
