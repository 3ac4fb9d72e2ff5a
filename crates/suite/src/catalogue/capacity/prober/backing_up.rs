//! Backup of old data before the probe overwrites it, and its restore.

use device::{Extent, IoErrorKind, Request};
use record::Stop;

use super::{Failed, Halt, MAX_ERRORS, Prober, StepOutcome};
use crate::backup::{Interruption, NotRestoredReason, Restored};

impl Prober<'_, '_> {
    /// Reads the parts of a range that were not read before. True if the range may be overwritten.
    pub(super) fn save(&mut self, range: Extent) -> StepOutcome<bool> {
        let missing = self.keep.as_ref().map(|keep| keep.missing(range)).unwrap_or_default();
        for place in missing {
            if self.context.must_stop() {
                self.outcome.end(Stop::Interrupted, None);
                return Err(Halt::Over);
            }
            if self.keep.as_ref().is_some_and(|keep| !keep.has_room_for(place.bytes)) {
                return Err(Halt::TimeUp);
            }
            self.time_left()?;
            match self.transfer(Request::read(0, place.offset_bytes, place.bytes)) {
                Ok(data) => self.back_up(place, &data)?,
                Err(error) if error.kind == IoErrorKind::Medium && self.errors < MAX_ERRORS => {
                    self.errors += 1;
                    self.note_unusable(Some(range), Failed { bytes: range.bytes, writing: false });
                    return Ok(false);
                }
                Err(error) => {
                    self.outcome.end(Stop::Error, Some(error));
                    return Err(Halt::Over);
                }
            }
        }
        Ok(true)
    }

    /// Keeps the data of a place that is going to be overwritten.
    fn back_up(&mut self, place: Extent, data: &[u8]) -> StepOutcome {
        if let Err(reason) = self.context.backup.keep(place.offset_bytes, data) {
            return self.cannot_keep(&reason);
        }
        self.keep.iter_mut().for_each(|keep| keep.take(place));
        self.unsealed.push(place);
        Ok(())
    }

    /// Makes kept data durable: after this its places may be overwritten.
    pub(super) fn seal(&mut self) -> StepOutcome {
        if let Err(reason) = self.context.backup.seal() {
            return self.cannot_keep(&reason);
        }
        self.unsealed.clear();
        Ok(())
    }

    fn cannot_keep(&mut self, reason: &str) -> StepOutcome {
        let cell = &mut self.outcome.cell;
        cell.stop = Stop::Error;
        cell.reason = Some(format!(
            "data on the medium could not be kept, so no more of it was overwritten: {reason}"
        ));
        Err(Halt::Over)
    }

    /// Restores all old data; only the medium can stop this. `None` if nothing was kept. Nothing
    /// may be probed afterwards.
    pub fn restore(&mut self) -> Option<Restored> {
        let kept = self.keep.take()?;
        let kept_bytes = kept.bytes();
        self.elsewhere.retain(|(place, _)| kept.knows_nothing_of(*place));
        let mut put = self.context.restore();
        // A place that did not take it may take it now: once more, if the announced amount of
        // writing allows.
        let refused = put.interrupted.is_none()
            && put.lost.iter().any(|lost| matches!(lost.why, NotRestoredReason::Refused(_)));
        if refused && kept_bytes <= self.budget_bytes {
            put = self.context.restore();
        }
        let unsealed = std::mem::take(&mut self.unsealed);
        put.lost.retain(|lost| {
            !(matches!(lost.why, NotRestoredReason::Damaged(_))
                && lost.place.is_some_and(|place| unsealed.contains(&place)))
        });
        if let Some(Interruption::Medium(error)) = &put.interrupted {
            self.outcome.end(self.outcome.cell.stop, Some(error.clone()));
        }
        Some(put)
    }
}
