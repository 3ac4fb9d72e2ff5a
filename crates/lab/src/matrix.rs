//! Every file system with every scheduler, doing real work: which combination suits the medium and
//! the work is found by trying.
//!
//! A [`Combination`] is tried in a fixed way: its file system is made and mounted, the work is done
//! on it, it is unmounted. [`run`] tries all of them in random order, block by block (one repeat of
//! each is a block, so that what changes with time changes for all), and goes on with those that
//! may still be best until the best two are told apart. What it is tried on is behind
//! [`MatrixBackend`]: a real medium ([`MediumBackend`]), or in tests one that fails in a chosen
//! way.

mod axes;
mod error_streak;
mod medium_backend;
mod order;
mod results;
mod session;
#[cfg(test)]
mod tests;
mod trace_work;

pub use axes::{Axes, Combination, LeftOut};
pub use medium_backend::{MediumBackend, Probe};
pub use results::{Failed, Results, result_of};
pub use session::{End, MatrixEvent, MatrixLimits, MatrixTrial, run};
pub use trace_work::{PREFIX as TRACE_PREFIX, TraceWork};

use std::path::PathBuf;

use device::{IoError, IoErrorKind};

/// What combinations are tried on.
pub trait MatrixBackend {
    /// Makes ready: scheduler, file system, mount. What it gives is undone by
    /// [`MatrixBackend::end`], which is called after every success.
    ///
    /// # Errors
    /// [`Unready::Combination`] where this combination cannot be and others may; then nothing is
    /// left of it.
    fn begin(&mut self, combination: &Combination) -> Result<Prepared, Unready>;

    /// Undoes what `begin` did, but for the scheduler.
    ///
    /// # Errors
    /// In words. Nothing further may be tried then.
    fn end(&mut self) -> Result<(), String>;

    /// Whether the medium still reads and writes. Asked after a
    /// try that failed, while nothing is mounted.
    ///
    /// # Errors
    /// What it answered instead.
    fn answers(&mut self) -> Result<(), MediumFailure>;
}

/// The reason why nothing more can be tried on a medium.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediumFailure {
    /// In words.
    pub reason: String,
    /// The error that the medium answered with; none where it was not the medium that failed.
    pub error: Option<IoErrorKind>,
}

impl From<String> for MediumFailure {
    fn from(reason: String) -> MediumFailure {
        MediumFailure { reason, error: None }
    }
}

impl From<IoError> for MediumFailure {
    fn from(error: IoError) -> MediumFailure {
        MediumFailure { reason: error.to_string(), error: Some(error.kind) }
    }
}

/// A mounted file system to work on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    /// An empty directory on it, proved to be on it.
    pub directory: PathBuf,
    /// What it is, in words, for the record.
    pub on: String,
    /// The line that makes it, for a person to type, with DEVICE for the device.
    pub mkfs: String,
    /// Free space there, in bytes.
    pub free_bytes: u64,
}

/// The reason why a combination cannot be tried.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unready {
    /// This one cannot, others may; why, in words.
    #[error("{0}")]
    Combination(String),
    /// None can any more: the medium is gone or in use.
    #[error("{0}")]
    Medium(String),
}
