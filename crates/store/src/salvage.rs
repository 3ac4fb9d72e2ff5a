//! Salvage of a run, also of one whose journal has lost its description.

use std::path::Path;

use record::Cell;
use serde_json::Value;

use crate::damage::{Damage, LineDamage};
use crate::journal::{JournalEntry, Opening};
use crate::journal_form::JournalError;
use crate::line::{LinePiece, scan};
use crate::numbering::{Numbered, Ordered, split};
use crate::reading::{self, JournalContents, find_header};
use crate::replay::{Replayed, replay};

/// Readable rest of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Salvage {
    /// The whole replay, if the journal describes the run.
    pub replayed: Option<Replayed>,
    /// Reason why it does not.
    pub header: Option<String>,
    /// Results in the order in which they were written; a cell that was measured again appears more
    /// than once.
    pub cells: Vec<Cell>,
    /// Results that this version cannot decode as a whole, as JSON with their line numbers.
    pub parts: Vec<(u64, Value)>,
    /// Damaged lines of the journal and their cost.
    pub damage: Vec<Damage>,
}

/// Reads what is left. Fails only if there is no file.
pub(crate) fn salvage(journal: &Path) -> Result<Salvage, JournalError> {
    let bytes = reading::bytes_of(journal)?;
    let copy = reading::copy_of_header(journal);
    let whole = reading::parse::<Opening, JournalEntry>(&bytes, &copy, journal);
    let found = scan(&bytes);
    let ordered = match find_header(&found.pieces, &copy) {
        Ok(header) => header.order(&found.pieces),
        Err(_) => without_header(&found.pieces),
    };
    let Ordered { events, damage, .. } = ordered;
    let (mut cells, mut parts) = (Vec::new(), Vec::new());
    for (number, json) in events {
        match serde_json::from_slice(&json) {
            Ok(JournalEntry::Cell(cell)) => cells.push(*cell),
            Ok(_) => {}
            Err(_) => parts.extend(part(&json).map(|value| (number, value))),
        }
    }
    let (replayed, header, damage) = match whole {
        Ok(contents) => salvaged(contents),
        Err(error) => (None, Some(error.to_string()), damage),
    };
    Ok(Salvage { replayed, header, cells, parts, damage })
}

fn salvaged(
    contents: JournalContents<Opening, JournalEntry>,
) -> (Option<Replayed>, Option<String>, Vec<Damage>) {
    let replayed = replay(contents);
    let damage = replayed.damage.clone();
    (Some(replayed), None, damage)
}

/// JSON of a result that is not a [`Cell`] of this version.
fn part(json: &[u8]) -> Option<Value> {
    let mut value: Value = serde_json::from_slice(json).ok()?;
    value.get_mut("cell").map(Value::take)
}

/// Takes every line that passes its checksum, whichever journal it was written for.
fn without_header(pieces: &[LinePiece<'_>]) -> Ordered {
    let mut found = Ordered::default();
    for (place, piece) in (1..).zip(pieces) {
        match *piece {
            LinePiece::Bad { reason, .. } => {
                found.damage.push(Damage::of_line(place, LineDamage::Flipped(reason.to_owned())))
            }
            LinePiece::Line(json) => match split(json) {
                Some(Numbered { number, json, .. }) => found.events.push((number, json)),
                None => found.events.push((place, json.to_owned())),
            },
        }
    }
    found
}
