//! Every file system with every scheduler under real work: trials find the combination that suits
//! the medium and the work.
//!
//! A [`Combination`] is tried in a fixed way: its file system is made and mounted, the work is done
//! on it, and it is unmounted. [`run`] tries all of them in random order, block by block (one
//! repeat of each is a block, so that a change with time affects all), and repeats those that may
//! still be best until the best two are significantly different. The medium is behind
//! [`MatrixBackend`]: a real one ([`MediumBackend`]), or in tests one that fails in a chosen way.

mod axes;
mod medium_backend;
mod results;
mod session;
#[cfg(test)]
mod tests;

pub use axes::{Axes, LeftOut};
pub use medium_backend::{MediumBackend, Probe};
pub use session::{End, MatrixEvent, MatrixLimits, MatrixTrial, run};

use std::path::PathBuf;

use device::{IoError, IoErrorKind};
use record::Combination;

/// Medium on which combinations are tried.
pub trait MatrixBackend {
    /// Prepares scheduler, file system and mount. [`MatrixBackend::end`] undoes it, and is called
    /// after every success.
    ///
    /// # Errors
    /// [`Unready::Combination`] if this combination is not possible and others may be; then nothing
    /// of it is left.
    fn begin(&mut self, combination: &Combination) -> Result<Prepared, Unready>;

    /// Undoes all of `begin` except for the scheduler.
    ///
    /// # Errors
    /// The reason in words. Nothing more may be tried then.
    fn end(&mut self) -> Result<(), String>;

    /// Checks that the medium still reads and writes. Called after a try that failed, while nothing
    /// is mounted.
    ///
    /// # Errors
    /// The failure of the medium.
    fn answers(&mut self) -> Result<(), MediumFailure>;
}

/// Reason why nothing more can be tried on a medium.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediumFailure {
    /// In words.
    pub reason: String,
    /// Error that the medium returned; `None` if something other than the medium failed.
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
    /// Empty directory on it, verified to be on this file system.
    pub directory: PathBuf,
    /// Description of the file system, for the record.
    pub on: String,
    /// Command that makes it, for a person to type, with DEVICE in place of the device.
    pub mkfs: String,
    /// Free space there, in bytes.
    pub free_bytes: u64,
}

/// The reason why a combination cannot be tried.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unready {
    /// This combination cannot be tried, others may; the reason in words.
    #[error("{0}")]
    Combination(String),
    /// No combination can be tried any more: the medium is gone or in use; the reason in words.
    #[error("{0}")]
    Medium(String),
}
