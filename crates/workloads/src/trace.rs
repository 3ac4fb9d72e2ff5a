//! Recorded block I/O: what was issued when, and when it was done.
//!
//! A trace is read as a stream of [`TraceEvent`]s in the order of time, never as a whole: a
//! recording of a day fits in no memory. [`open`] tells by the content what wrote a file (blktrace or
//! fio).

mod blktrace;
mod error;
pub mod files;
mod iolog;
mod kernel;
mod lines;
mod open;
mod survey;
#[cfg(test)]
pub(crate) mod tests;

use device::Op;

pub use error::TraceError;
pub use open::{Trace, TraceFormat, open};
pub(crate) use survey::op_index;
pub use survey::{LatencyTimeline, Recorded, Span, TraceSurvey};

/// A request as it was handed to the driver (or, where only that was recorded, to the queue).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Issue {
    /// When, in nanoseconds of the recording's clock. What [`Trace::steps`] gives counts from the
    /// first request.
    pub time_ns: u64,
    pub op: Op,
    /// Durable when it is done (force unit access).
    pub fua: bool,
    /// First byte; 0 for a flush.
    pub offset_bytes: u64,
    /// Length in bytes; 0 for a flush.
    pub length_bytes: u64,
    /// Which of the recorded devices or files; the kernel's number (major << 20 | minor), or a
    /// file's number.
    pub device: u32,
}

/// One event of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TraceEvent {
    /// A request was issued. The first one of a trace has number 0, the next 1.
    Issued(Issue),
    /// The request of this number was done; both times are of the same clock.
    Completed { time_ns: u64, number: u64, op: Op, issued_ns: u64 },
}

impl TraceEvent {
    /// When it happened, in nanoseconds of the clock that [`Issue::time_ns`] is of.
    pub fn time_ns(&self) -> u64 {
        match self {
            TraceEvent::Issued(issue) => issue.time_ns,
            TraceEvent::Completed { time_ns, .. } => *time_ns,
        }
    }
}

/// The events of a trace, one after the other.
pub(crate) trait Steps {
    /// The next event; `None` after the last.
    fn next(&mut self) -> Result<Option<TraceEvent>, TraceError>;

    /// Where and how the recording breaks off, if it does; everything before was read. Complete when
    /// the stream has ended.
    fn cut_off(&self) -> Option<String>;
}
