//! What is in a text, judged as if each record of it were sent alone.

use axum::http::StatusCode;
use import::{Hints, Import, ImportError, KnownMedium, understand};
use record::collection::Origin;
use record::{Published, Record};
use report::words;
use sha2::{Digest as _, Sha256};
use store::collection::Collection;

use super::SHOWN_CELLS;
use crate::problem::Problem;
use crate::state::{Quarantine, hex};
use crate::submissions::{self, Judged};
use ::collection::UploadLimits;

/// What a medium is called that the text does not name. No part of what is published.
const NAME: &str = "pasted text";

/// What was found in a text.
pub(super) struct FoundInText {
    /// One for each medium.
    pub records: Vec<FoundRecord>,
    /// The lines that were not understood; the records are above.
    pub import: Import,
    /// Of all that would be published.
    pub digest: String,
}

/// A record, and whether it can be added.
pub(super) struct FoundRecord {
    /// What its medium is called.
    pub name: String,
    /// The record as it was read, with as many results as are shown.
    pub record: Record,
    /// How many results it has.
    pub cells: usize,
    /// As it would come in, or why it cannot.
    pub judged: Result<Judged, Problem>,
}

/// Reads a text and judges what is in it.
///
/// # Errors
/// Where nothing in it is understood, or the collection cannot be asked.
pub(super) fn look(
    collection: &Collection,
    text: &[u8],
    known: &KnownMedium,
    hints: &Hints,
    limits: &UploadLimits,
    policy: Quarantine,
) -> Result<FoundInText, Problem> {
    let mut import = understand(NAME, text, hints).map_err(|error| not_understood(&error))?;
    let mut sum = Sha256::new();
    let mut records = Vec::new();
    for mut record in std::mem::take(&mut import.records) {
        known.tell(&mut record);
        let run = Published::from(&record);
        let json =
            serde_json::to_vec(&run).map_err(|error| Problem::internal(&error.to_string()))?;
        sum.update((json.len() as u64).to_le_bytes());
        sum.update(&json);
        let judged = match is_imported(&run).and_then(|()| judge(collection, &json, limits, policy))
        {
            // Of the collection, not of the record.
            Err(problem) if problem.status.is_server_error() => return Err(problem),
            judged => judged,
        };
        let (name, cells) = (words::name(&record.medium), record.cells.len());
        record.cells.truncate(SHOWN_CELLS);
        records.push(FoundRecord { name, record, cells, judged });
    }
    Ok(FoundInText { records, import, digest: hex(&sum.finalize()) })
}

/// Whether another tool measured it, as far as the text says.
fn is_imported(run: &Published) -> Result<(), Problem> {
    if Origin::of(run) == Origin::Imported {
        return Ok(());
    }
    let reason = "this says that Flashmark measured it; a text is no measurement: send the run \
                  with 'flashmark submit'";
    Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "not-imported", reason))
}

fn judge(
    collection: &Collection,
    json: &[u8],
    limits: &UploadLimits,
    policy: Quarantine,
) -> Result<Judged, Problem> {
    // What is bounded on the wire is not bounded once it is understood.
    let limits = UploadLimits { body_bytes: limits.unpacked_bytes, ..limits.clone() };
    Ok(submissions::judged(collection, ::collection::read(json, None, &limits)?, policy, None)?)
}

fn not_understood(error: &ImportError) -> Problem {
    let (status, code) = match error {
        ImportError::TooLong(_) | ImportError::TooManyLines => {
            (StatusCode::PAYLOAD_TOO_LARGE, "too-large")
        }
        _ => (StatusCode::UNPROCESSABLE_ENTITY, "not-understood"),
    };
    Problem::new(status, code, words::clean(&format!("the text cannot be read: {error}")))
}
