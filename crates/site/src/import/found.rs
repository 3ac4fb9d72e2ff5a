//! Records in a text, checked as if each were submitted alone.

use axum::http::StatusCode;
use import::{Hints, Import, ImportError, KnownMedium, understand};
use record::collection::Origin;
use record::text::{hex, printable};
use record::{Published, Record};
use report::words;
use sha2::{Digest as _, Sha256};
use store::collection::Collection;

use super::SHOWN_CELLS;
use crate::problem::Problem;
use crate::state::Quarantine;
use crate::submissions::{self, Judged};
use ::collection::UploadLimits;

/// Name of a medium that the text does not name. It is not published.
const NAME: &str = "pasted text";

/// Result of reading a text.
pub(super) struct FoundInText {
    /// One record for each medium.
    pub records: Vec<FoundRecord>,
    /// The lines that were not understood; the records are moved to `records`.
    pub import: Import,
    /// Digest of everything that would be published.
    pub digest: String,
}

/// A record, and the result of its checks.
pub(super) struct FoundRecord {
    /// Name of its medium.
    pub name: String,
    /// The record as read, limited to the results that are shown.
    pub record: Record,
    /// Number of its results.
    pub cells: usize,
    /// The record as it would be stored, or the reason of its rejection.
    pub judged: Result<Judged, Problem>,
}

/// Reads a text and checks its records.
///
/// # Errors
/// If no line of it is understood, or the collection cannot be read.
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
        known.apply_to(&mut record);
        let run = Published::from(&record);
        let json =
            serde_json::to_vec(&run).map_err(|error| Problem::internal(&error.to_string()))?;
        sum.update((json.len() as u64).to_le_bytes());
        sum.update(&json);
        let judged = match is_imported(&run).and_then(|()| judge(collection, &json, limits, policy))
        {
            // An error of the collection, not of the record.
            Err(problem) if problem.status.is_server_error() => return Err(problem),
            judged => judged,
        };
        let (name, cells) = (words::name(&record.medium), record.cells.len());
        record.cells.truncate(SHOWN_CELLS);
        records.push(FoundRecord { name, record, cells, judged });
    }
    Ok(FoundInText { records, import, digest: hex(&sum.finalize()) })
}

/// Rejects a run that the text attributes to Flashmark instead of another tool.
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
    // The limit of the body does not apply to the record made from it.
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
    Problem::new(status, code, printable(&format!("the text cannot be read: {error}")))
}
