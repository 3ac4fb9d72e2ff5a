//! A recorded trace, repeated on any device: at the recorded times, faster, or as fast as the
//! device can.
//!
//! One rule keeps the dependencies at every speed: **a request that was issued after another one
//! had completed waits for it.** The events of a trace are processed in the order of time; at a
//! completion the replay waits for that very request, and only then continues. So requests that
//! were in flight together are so again, and a request that waited waits. Of a trace without
//! completions (a fio iolog) no dependencies are known, and each request waits for the one before,
//! or for as many before as the user says.

mod cells;
mod fill;
mod placing;
mod player;
#[cfg(test)]
mod tests;

use record::units::Bytes;

pub use cells::{TEST, cells, planned, title};
pub use fill::fill;
pub use placing::{CapacityFit, Left, Placing};
pub use player::{Done, Player, ReplayOutcome, ReplayProgress};

/// Speed at which requests are issued.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// At the recorded times, so many times faster; 1 is as recorded.
    Times(f64),
    /// As soon as the requests that they waited for are done.
    Max,
}

/// Settings of a replay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReplaySettings {
    /// At the recorded times, faster, or as soon as possible.
    pub pace: Pace,
    /// Treatment of offsets that the medium does not have.
    pub fit: CapacityFit,
    /// Most requests in flight, for a trace that does not say which request waited for which.
    pub depth: u32,
    /// True to leave out writes, discards and flushes.
    pub reads_only: bool,
    /// Seed of the data that is written.
    pub seed: u64,
}

/// Reason why a trace cannot be repeated here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// It reaches beyond the end of the medium.
    #[error(
        "the trace reaches to byte {needs_bytes}, the target has {has_bytes} bytes ({}): say with --fit what becomes of the rest \
         (scale: the whole trace is squeezed into the target, wrap: it goes on at the beginning, skip: it is left out)", Bytes(*.has_bytes)
    )]
    TooLarge {
        /// End of the trace's address space, in bytes, with all its devices one behind the other.
        needs_bytes: u64,
        /// Bytes that the replay may touch.
        has_bytes: u64,
    },
    /// A request is longer than the part of the medium that may be touched.
    #[error("the trace has a request of {}, more than the {} of the target", Bytes(*.needs_bytes), Bytes(*.has_bytes))]
    LongerThanAll {
        /// Length of the longest read or write in the trace.
        needs_bytes: u64,
        /// Bytes that the replay may touch.
        has_bytes: u64,
    },
    /// Only reads are wanted, and there are none.
    #[error("the trace has no reads; without its writes there is nothing to replay")]
    NothingLeft,
}
