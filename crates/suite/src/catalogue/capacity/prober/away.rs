//! Distinction of damaged places from a medium that was gone for a time.

use device::{Extent, IoError, IoErrorKind, Request};
use record::Stop;

use super::{Failed, Prober};
use crate::backup::Restored;
use crate::catalogue::capacity::block_content::BlockContent;
use crate::io_loop::{IoLoad, LoopLimits};

/// Most failed places that are tried again at the end.
const MAX_TRIED_AGAIN: usize = 64;

impl Prober<'_, '_> {
    /// True if all places that gave errors work now: the medium was unavailable for a time, which
    /// says nothing about its places. Restored data has been written again; elsewhere new data is
    /// written, on a medium that may be erased.
    pub fn was_away_for_a_time(&mut self, put: Option<&Restored>) -> bool {
        if self
            .outcome
            .error
            .as_ref()
            .is_some_and(|error| matches!(error.kind, IoErrorKind::Gone | IoErrorKind::ReadOnly))
        {
            return !self.unusable.is_empty();
        }
        let step = self.unusable.len().div_ceil(MAX_TRIED_AGAIN).max(1);
        let failed: Vec<(u64, Failed)> =
            self.unusable.iter().step_by(step).map(|(place, failed)| (*place, *failed)).collect();
        let bad = failed
            .iter()
            .find(|(offset_bytes, failed)| !self.works_now(*offset_bytes, *failed, put));
        match bad {
            None => !failed.is_empty(),
            Some((_, bad)) => put.is_none() && bad.writing && self.takes_no_writes(),
        }
    }

    /// True if a place that accepted a write before no longer does: the whole medium refuses
    /// writes, which ends the cell. Only on a medium that may be erased.
    fn takes_no_writes(&mut self) -> bool {
        let good = self.shown.iter().find(|(place, seen)| {
            **seen == BlockContent::Good && !self.unusable.contains_key(place)
        });
        let Some((&offset_bytes, _)) = good else { return false };
        let Err(error) = self.write_again(Extent::new(offset_bytes, self.block_bytes)) else {
            return false;
        };
        let detail = "every write fails, also where writes were taken before".into();
        self.outcome
            .end(Stop::Error, Some(IoError { kind: IoErrorKind::ReadOnly, detail, ..error }));
        true
    }

    /// Writes new data to a place of a medium that may be erased.
    fn write_again(&mut self, place: Extent) -> Result<(), IoError> {
        self.budget_bytes = self.budget_bytes.saturating_sub(place.bytes);
        let load = IoLoad { pass: self.new_data(), ..IoLoad::write(place.bytes) };
        let mut places = Some(place).into_iter();
        let tally = self.context.drive(
            "trying again what failed",
            &load,
            &LoopLimits::time(u64::MAX),
            &mut |_| places.next(),
        );
        tally.error.map_or(Ok(()), Err)
    }

    /// True if a place gives no error now. Kept data has just been written by the restore, and
    /// nothing is written after it.
    fn works_now(&mut self, offset_bytes: u64, failed: Failed, put: Option<&Restored>) -> bool {
        let place = Extent::new(offset_bytes, failed.bytes);
        if let Some(put) = put {
            let refused = |place: &Extent| {
                put.lost.iter().any(|lost| lost.place.is_some_and(|lost| lost.overlaps(place)))
            };
            return !refused(&place)
                && self.transfer(Request::read(0, place.offset_bytes, place.bytes)).is_ok();
        }
        if failed.writing && place.bytes <= self.budget_bytes && self.write_again(place).is_err() {
            return false;
        }
        self.transfer(Request::read(0, place.offset_bytes, place.bytes)).is_ok()
    }
}
