//! End of a session of a matrix or a replay.

use anyhow::Error;
use record::Record;
use store::{Ending, Journal, RunDir};

use program::exit::{OrExit, Result};
use session::outputs::keepable;

/// Continuation of a run whose results cannot be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Continuation {
    /// `flashmark resume` goes on with it.
    Resume,
    /// It is started again from the beginning.
    StartAgain,
}

impl Continuation {
    fn kept<T>(self, done: std::result::Result<T, impl Into<Error>>, dir: &RunDir) -> Result<T> {
        match self {
            Continuation::Resume => keepable(done, dir),
            Continuation::StartAgain => done.map_err(Into::into).or_internal(),
        }
    }
}

/// Adds the end of a session to the journal, makes the record from the journal, lets `conclude` add
/// the conclusions, and writes the record.
///
/// # Errors
///
/// If the run's directory cannot be written; the error names `continuation`.
pub fn finish(
    dir: &RunDir,
    journal: &mut Journal,
    ending: Ending,
    continuation: Continuation,
    conclude: impl FnOnce(&mut Record),
) -> Result<Record> {
    continuation.kept(journal.append(&ending.into()), dir)?;
    let mut record = dir.replay().or_internal()?.record;
    conclude(&mut record);
    continuation.kept(dir.write_record(&record), dir)?;
    Ok(record)
}
