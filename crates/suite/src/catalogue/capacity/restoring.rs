//! Results of a restore: restored data, lost data, and data that can still be restored.

use device::Extent;
use record::units::Bytes;
use record::{Flag, metric};

use super::probe_stages::ProbeState;
use crate::CellOutcome;
use crate::backup::{Backup, NotRestoredReason, Restored};

/// Adds the results of the restore to the cell, and clears the log if everything with flash behind
/// it is restored. A place without flash held no data.
pub fn add_results(
    outcome: &mut CellOutcome,
    found: &ProbeState,
    put: &Restored,
    backup: &mut dyn Backup,
) {
    let missing = Missing::of(found, put);
    let kept = backup.outlives_process();
    let (unrestored_bytes, pending_bytes) = match kept {
        true => (missing.damaged_bytes, missing.other_bytes),
        false => (missing.damaged_bytes + missing.other_bytes, 0),
    };
    let cell = &mut outcome.cell;
    cell.metrics.put(metric::RESTORED_BYTES, put.bytes as f64, 1);
    cell.metrics.put(metric::UNRESTORED_BYTES, unrestored_bytes as f64, 1);
    if pending_bytes > 0 {
        cell.metrics.put("owed_bytes", pending_bytes as f64, 1);
    }
    let first = missing
        .first_bytes
        .map(|first| format!(", the first at {}", Bytes(first)))
        .unwrap_or_default();
    let mut note = |text: String| cell.flags.push(Flag::Note { text });
    if pending_bytes > 0 {
        note(format!(
            "{} of what the probe overwrote is not restored yet{first}; it is kept with the run: connect the medium and restore it with: flashmark restore",
            Bytes(pending_bytes)
        ));
    }
    if unrestored_bytes > 0 {
        note(format!(
            "{} of what the probe overwrote could not be restored{first}",
            Bytes(unrestored_bytes)
        ));
    }
    if missing.unplaced > 0 {
        note(format!(
            "{} pieces of what the probe overwrote could not be restored: what was kept of them is damaged",
            missing.unplaced
        ));
    }
    // What is missing still lies in the log, and whoever owns the medium may want it from there.
    let is_done = put.interrupted.is_none()
        && missing.damaged_bytes + missing.other_bytes + missing.unplaced == 0;
    let not_cleared = if is_done && !backup.places().is_empty() && put.not_cleared.is_none() {
        backup.clear().err()
    } else {
        put.not_cleared.clone()
    };
    if let Some(reason) = not_cleared {
        note(format!(
            "everything the probe overwrote is back, but what was kept of it could not be removed: {reason}"
        ));
    }
}

/// Data that is not restored although there is flash behind it.
#[derive(Default)]
struct Missing {
    /// Bytes whose backup is damaged.
    damaged_bytes: u64,
    other_bytes: u64,
    first_bytes: Option<u64>,
    /// Number of damaged pieces whose place is unknown too.
    unplaced: u64,
}

impl Missing {
    fn of(found: &ProbeState, put: &Restored) -> Missing {
        let mut missing = Missing {
            other_bytes: put.left_bytes,
            first_bytes: put.first_left_bytes,
            ..Missing::default()
        };
        for lost in &put.lost {
            let Some(place) = lost.place else {
                missing.unplaced += 1;
                continue;
            };
            if !has_flash(found, &place) {
                continue;
            }
            match lost.why {
                NotRestoredReason::Damaged(_) => missing.damaged_bytes += place.bytes,
                _ => missing.other_bytes += place.bytes,
            }
            missing.first_bytes = Some(
                missing
                    .first_bytes
                    .map_or(place.offset_bytes, |first| first.min(place.offset_bytes)),
            );
        }
        missing
    }
}

fn has_flash(found: &ProbeState, place: &Extent) -> bool {
    let real_bytes = found.real_bytes.map_or(u64::MAX, |[_, most]| most);
    let folded = found
        .wrap_bytes
        .filter(|wrap_bytes| *wrap_bytes > 0)
        .map_or(place.offset_bytes, |wrap_bytes| place.offset_bytes % wrap_bytes);
    folded < real_bytes
}
