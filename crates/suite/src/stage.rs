//! Files to measure on, for the tests whose published form uses a file system.

use device::{Device, Extent};

/// The reason why there is no file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileStageError {
    /// There is no file system for it; the test is skipped for this reason.
    #[error("{0}")]
    Unavailable(String),
    /// Making it failed; the cell ends in an error.
    #[error("{0}")]
    Failed(String),
}

/// An empty file to measure on. Dropping it removes it, and everything made for it.
pub struct StagedFile {
    /// I/O to the file. Declared before `keep`, so that it is closed first.
    pub device: Box<dyn Device>,
    /// Its file system and medium, in words.
    pub on: String,
    /// Objects that undo their changes when dropped.
    pub keep: Box<dyn std::any::Any>,
}

/// A staged file that outlives its cell, so that the next cell of the same test finds its data.
pub struct KeptFile {
    /// The file itself, still open for I/O.
    pub file: StagedFile,
    /// The test that made it.
    pub test: String,
    /// Its largest size in bytes, and the region of the medium for which it was made.
    pub made_for: (u64, Extent),
    /// Bytes of it that have been written, from its start.
    pub laid_bytes: u64,
}

/// Source of files to measure on. The program implements it with the host's file systems; simulated
/// media with a model of one.
pub trait FileStage {
    /// Makes an empty file that may grow to `bytes`, on the file system of the target, or on one
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
