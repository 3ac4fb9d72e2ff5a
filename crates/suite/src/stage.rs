//! Files to measure on, for the tests whose published form works on a file system.

use device::{Device, Extent};

/// The reason why there is no file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileStageError {
    /// There is no file system to put it on; the test is left out for this reason.
    #[error("{0}")]
    Unavailable(String),
    /// Making it failed; the cell ends in an error.
    #[error("{0}")]
    Failed(String),
}

/// An empty file to measure on. Dropping it removes it, and what was made for it.
pub struct StagedFile {
    /// I/O to it. Declared before `keep`, so that it is closed first.
    pub device: Box<dyn Device>,
    /// What it lies on, in words.
    pub on: String,
    /// Whatever must be undone afterwards undoes itself when dropped.
    pub keep: Box<dyn std::any::Any>,
}

/// A staged file that outlives the cell which made it, so that the next cell of the same test finds
/// what was written.
pub struct KeptFile {
    /// The file itself, still open for I/O.
    pub file: StagedFile,
    /// The test that made it.
    pub test: String,
    /// What it may grow to, and where on the medium it was made: what it was made for.
    pub made_for: (u64, Extent),
    /// How much of it has been written, from its start.
    pub laid_bytes: u64,
}

/// Where files to measure on come from. The program implements it with the host's file systems;
/// simulated media with a model of one.
pub trait FileStage {
    /// Makes an empty file that may grow to `bytes`, on the file system that is there, or on one
    /// made inside `region` of the medium.
    fn file(&mut self, bytes: u64, region: Extent) -> Result<StagedFile, FileStageError>;
}

/// For targets without a file system: every request for a file is refused.
pub struct NoStage;

impl FileStage for NoStage {
    fn file(&mut self, _: u64, _: Extent) -> Result<StagedFile, FileStageError> {
        Err(FileStageError::Unavailable("there is no file system to put a file on".into()))
    }
}
