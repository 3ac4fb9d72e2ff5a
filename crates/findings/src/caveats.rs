//! Caveats that follow from a whole run: figures that cannot be the medium's, and figures that may
//! not last.
//!
//! A measurement flags what it can see itself. These caveats follow from the path to the medium and
//! from other cells, so they are added once, at the end of the run.

mod permanence;
mod plausibility;

use std::mem::{discriminant, take};

use record::{Flag, Record};

use permanence::PermanenceEvidence;
pub use plausibility::LINK_SLACK;

/// Adds the caveats of a run to its cells, and removes those that other cells disprove. Existing
/// caveats stay, so a second call changes nothing.
pub fn add_caveats(record: &mut Record) {
    let mut cells = take(&mut record.cells);
    for cell in &mut cells {
        for flag in
            [plausibility::caveats(cell, record), permanence::caveats(cell, record)].concat()
        {
            let is_same = |known: &Flag| discriminant(known) == discriminant(&flag);
            if !cell.flags.iter().any(is_same) {
                cell.flags.push(flag);
            }
        }
    }
    let answers = PermanenceEvidence::of(&cells, record);
    for cell in &mut cells {
        let mut flags = take(&mut cell.flags);
        flags.retain(|flag| !answers.answer(cell, flag));
        cell.flags = flags;
    }
    record.cells = cells;
}
