//! End of a run's session: the same for runs of tests, matrices, replays and host effects.

use record::Record;
use store::{Ending, Journal, RunDir};

use crate::exit::{OrExit, Result};
use crate::outputs::keepable;

/// Adds the end of a session to the journal, makes the record from the journal, lets `conclude` add
/// the conclusions, and writes the record.
///
/// # Errors
///
/// If the run's directory cannot be written; the error says how to go on.
pub fn finish(
    dir: &RunDir,
    journal: &mut Journal,
    ending: Ending,
    conclude: impl FnOnce(&mut Record),
) -> Result<Record> {
    keepable(journal.append(&ending.into()), dir)?;
    let mut record = dir.replay().or_internal()?.record;
    conclude(&mut record);
    keepable(dir.write_record(&record), dir)?;
    Ok(record)
}
