//! A recorded trace, done again on any device: when it was done, faster, or as fast as the device
//! can.
//!
//! One rule keeps what depends on what, at every speed: **a request that was issued after another
//! one had completed waits for it.** The steps of a trace are gone through in the order of time; at
//! a completion the replay waits for that very request, and only then goes on. So what ran beside
//! each other does so again, and what waited waits. Of a trace without completions (a fio iolog)
//! nothing is known, and each request waits for the one before, or for as many before as the user
//! says.

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

/// When requests are issued.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// When the recording says, this many times faster; 1 is as recorded.
    Times(f64),
    /// As soon as what they waited for is done.
    Max,
}

/// How a trace is done again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReplaySettings {
    /// At the recorded times, faster, or as soon as possible.
    pub pace: Pace,
    /// What becomes of places that the medium does not have.
    pub fit: CapacityFit,
    /// Most requests in flight of a trace that does not say what waited for what.
    pub depth: u32,
    /// Writes, discards and flushes are left out.
    pub reads_only: bool,
    /// The data that is written comes from this.
    pub seed: u64,
}

/// The reason why a trace cannot be done again here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// It touches places that the medium does not have.
    #[error(
        "the trace reaches to byte {needs_bytes}, the target has {has_bytes} bytes ({}): say with --fit what becomes of the rest \
         (scale: the whole trace is squeezed into the target, wrap: it goes on at the beginning, skip: it is left out)", Bytes(*.has_bytes)
    )]
    TooLarge {
        /// Where the trace's address space ends, in bytes, all its devices one behind the other.
        needs_bytes: u64,
        /// Bytes that the replay may touch.
        has_bytes: u64,
    },
    /// A request is longer than all there is.
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
