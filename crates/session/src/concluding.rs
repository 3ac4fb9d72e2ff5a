//! Conclusions of a run, drawn from its journal when it ends, or later.

use record::{Ended, Flag, Record};
use store::{Ending, Lock, RunDir};

use crate::outputs::{self, Outputs};
use crate::request::RunRequest;
use program::exit::{OrExit, Result};

/// Adds what is still to be restored to the medium, and the conclusions, those for the user's
/// claims and uses included.
pub fn judged(mut record: Record, request: &RunRequest, dir: &RunDir) -> Record {
    record.flags.extend(dir.unrestored().map(|unrestored| Flag::NotRestored {
        bytes: unrestored.bytes,
        first_offset_bytes: unrestored.first_offset_bytes.unwrap_or(0),
        run: dir.name().to_owned(),
    }));
    complete(&mut record, &request.uses);
    record
}

/// Adds what follows only from the whole run and is not in its journal: the caveats that the record
/// gives its cells, and the conclusions.
pub fn complete(record: &mut Record, uses: &[record::Use]) {
    findings::add_caveats(record);
    concluded_for(record, uses);
}

/// Draws the conclusions and the summary of a record, for these uses.
pub fn concluded_for(record: &mut Record, uses: &[record::Use]) {
    findings::Analysis::of(record, uses).keep_in(record);
}

/// Ends a run that was killed after its last cell, before it was marked complete. Needs no medium.
pub fn conclude_late(dir: &RunDir, lock: Lock, request: &RunRequest, outputs: &Outputs) -> Result {
    let record = dir.replay().or_internal()?.record;
    if record.run.ended != Ended::Complete {
        // When it was done is not known.
        let ending = Ending {
            ended: Ended::Complete,
            elapsed_ns: record.run.elapsed_ns,
            ..Ending::default()
        };
        dir.journal(lock).or_internal()?.append(&ending.into()).or_internal()?;
    }
    let record = judged_and_written(dir, request)?;
    let exit = request.exit(&record, None);
    outputs::deliver(&record, dir, exit, outputs, Vec::new())?;
    request.print_outcome(&record, exit, outputs.shows_a_screen());
    Ok(exit)
}

/// Makes the record of a run again from its journal.
pub fn judged_and_written(dir: &RunDir, request: &RunRequest) -> Result<Record> {
    let record = judged(dir.replay().or_internal()?.record, request, dir);
    dir.write_record(&record).or_internal()?;
    Ok(record)
}
