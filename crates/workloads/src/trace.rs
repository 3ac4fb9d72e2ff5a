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
mod pairs;
mod survey;
#[cfg(test)]
pub(crate) mod tests;

use device::Op;

pub use error::TraceError;
pub use open::{Trace, TraceFormat, open};
pub use survey::{LatencyTimeline, Recorded, Span, TraceSurvey, op_index};

/// Flags of a request beside its operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestFlags(u8);

impl RequestFlags {
    /// No flag.
    pub const NONE: RequestFlags = RequestFlags(0);
    /// Durable when it is done (force unit access).
    pub const FUA: RequestFlags = RequestFlags(1);
    /// Someone waited for it.
    pub const SYNC: RequestFlags = RequestFlags(2);
    /// Metadata of a file system.
    pub const META: RequestFlags = RequestFlags(4);
    /// Read ahead of need.
    pub const AHEAD: RequestFlags = RequestFlags(8);

    /// The flags that are in either of the two.
    #[must_use]
    pub fn union(self, other: RequestFlags) -> RequestFlags {
        RequestFlags(self.0 | other.0)
    }

    /// These flags if `given`, else none: for building them up from a recording's letters or bits.
    #[must_use]
    pub fn when(self, given: bool) -> RequestFlags {
        if given { self } else { RequestFlags::NONE }
    }

    /// True if all of `other` are among them.
    pub fn has(self, other: RequestFlags) -> bool {
        self.0 & other.0 == other.0
    }
}

/// A request as it was handed to the driver (or, where only that was recorded, to the queue).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Issue {
    /// When, in nanoseconds of the recording's clock. What [`Trace::steps`] gives counts from the
    /// first request.
    pub time_ns: u64,
    /// Operation: read, write, flush or discard.
    pub op: Op,
    /// Force unit access, synchronous, metadata, read-ahead.
    pub flags: RequestFlags,
    /// First byte; 0 for a flush.
    pub offset_bytes: u64,
    /// Length in bytes; 0 for a flush.
    pub length_bytes: u64,
    /// Which of the recorded devices or files; the kernel's number (major << 20 | minor), or a
    /// file's number.
    pub device: u32,
    /// The process that issued it; often a worker of the kernel's.
    pub pid: u32,
}

/// One event of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceEvent {
    /// A request was issued. The first one of a trace has number 0, the next 1.
    Issued(Issue),
    /// A request was done.
    Completed {
        /// When, on the same clock.
        time_ns: u64,
        /// The number of the request.
        number: u64,
    },
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

/// What is to be said about a recording beside its events; complete when the stream has ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// Where and how the recording breaks off, if it does; everything before was read.
    pub cut_off: Option<String>,
    /// Names of recorded files, by their number in [`Issue::device`]; empty where they are devices.
    pub files: Vec<String>,
}

/// The events of a trace, one after the other.
pub trait Steps {
    /// The next event; `None` after the last.
    fn next(&mut self) -> Result<Option<TraceEvent>, TraceError>;

    /// What is to be said about the recording, as far as it has been read.
    fn notes(&self) -> Notes;
}
