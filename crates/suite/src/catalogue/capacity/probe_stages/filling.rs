//! Flash that is given to whatever is written first, or last, wherever it is.

use device::Extent;
use record::CapacityKind;
use record::units::MIB;

use super::{COMMON_CACHE_BYTES, ProbeStages};
use crate::catalogue::capacity::block_content::{BlockContent, tail};
use crate::catalogue::capacity::places::stratified;
use crate::catalogue::capacity::prober::StepOutcome;

/// Places that are written again, and new ones between them; and those that must agree.
const TRIED: u64 = 16;
const AGREEING: usize = 15;
/// Samples of the ramps that show when the flash was full.
const SAMPLES: u64 = 128;

impl ProbeStages<'_, '_, '_> {
    /// True if places that were written before take new data and new ones between them do not: its
    /// flash is full. A worn medium takes neither, a lost tail has no kept places above it.
    pub(super) fn is_filling(
        &mut self,
        groups: &[Vec<u64>],
        cached_bytes: u64,
    ) -> StepOutcome<bool> {
        let block = self.prober.block_bytes;
        let marks = groups.concat();
        let marked = marks.len() as u64;
        let is_kept = |place: &u64| self.prober.shown.get(place) == Some(&BlockContent::Good);
        let mut kept: Vec<u64> = marks.into_iter().filter(is_kept).collect();
        let is_lost = |seen: &BlockContent| !seen.is_present(0, None);
        let first_lost = self.prober.shown.iter().find(|(_, seen)| is_lost(seen));
        kept.sort_unstable();
        let (Some(last), Some((&lost, _))) = (kept.last().copied(), first_lost) else {
            return Ok(false);
        };
        if lost > last || kept.len() < 2 {
            return Ok(false);
        }
        let zone = Extent::new(kept[0], last - kept[0]);
        let fresh: Vec<u64> = stratified(zone, TRIED, block, &mut self.random)
            .into_iter()
            .filter(|place| !self.prober.shown.contains_key(place))
            .collect();
        kept.truncate(TRIED as usize);
        let pass = self.prober.new_data();
        let places = fresh.iter().chain(&kept).map(|place| Extent::new(*place, block));
        self.prober.write("narrowing down", pass, block, places)?;
        // The end of the ramp was written when the flash was full, if it is.
        let fill_bytes = cached_bytes.min(COMMON_CACHE_BYTES).min(self.ramp_bytes / 2);
        let ramp_end = self.prober.span.offset_bytes + self.ramp_bytes;
        self.prober.fill_area(Extent::new(ramp_end - fill_bytes, fill_bytes), fill_bytes)?;
        let present = |seen: Vec<(u64, bool)>| seen.iter().filter(|(_, present)| *present).count();
        let again = present(self.kept(pass, &kept)?);
        let new = present(self.kept(pass, &fresh)?);
        if again * (TRIED as usize) < kept.len() * AGREEING || new > 0 || fresh.len() < AGREEING / 2
        {
            return Ok(false);
        }
        self.found.kind = Some(CapacityKind::Filling);
        self.found.cache_bytes = None;
        self.found.real_bytes = Some(self.filled_bytes(marked)?);
        Ok(true)
    }

    /// Bytes that were kept when no more were, least and most: how much of one mark is a piece of
    /// flash is not known.
    fn filled_bytes(&mut self, marks: u64) -> StepOutcome<[u64; 2]> {
        let mut samples = self.ramp_samples(SAMPLES);
        samples.sort_by_key(|place| self.ramp_written_before(*place));
        let block = self.prober.block_bytes;
        let kept = self.kept(self.ramp_pass, &samples)?;
        let (cut, _) = tail(&kept.iter().map(|(_, present)| *present).collect::<Vec<_>>());
        let before = |at: usize| samples.get(at).map(|place| self.ramp_written_before(*place));
        let least = if cut == 0 { 0 } else { before(cut - 1).unwrap_or(0) };
        let most = before(cut).unwrap_or(self.ramp_bytes + self.far_bytes);
        Ok([least + marks * block, most + (marks + 1) * MIB])
    }

    /// Bytes of both ramps, as long as the one at the far end, that were written after this place.
    pub(super) fn written_since(&self, place: u64) -> u64 {
        (self.ramp_bytes + self.far_bytes).saturating_sub(self.ramp_written_before(place))
    }

    /// Bytes of both ramps that were written before this place of them.
    fn ramp_written_before(&self, place: u64) -> u64 {
        let is_far = self.far.contains(&Extent::new(place, 1));
        let first = if is_far { self.far.offset_bytes } else { self.prober.span.offset_bytes };
        let at = place - first;
        let step = self.steps.partition_point(|bytes| *bytes <= at);
        let other = match (is_far, self.far_bytes) {
            (_, 0) => 0,
            (true, _) if self.far_is_last() => self.ramp_bytes,
            (false, _) if self.far_is_last() => 0,
            (true, _) => self.steps.get(step).copied().unwrap_or(self.ramp_bytes),
            (false, _) => step.checked_sub(1).map_or(0, |before| self.steps[before]),
        };
        at + other.min(if is_far { self.ramp_bytes } else { self.far_bytes })
    }

    /// Concludes that nothing stays: a memory that keeps only the last writes, if more than
    /// `remembered_bytes` of them were there, else damage.
    pub(super) fn nothing_stays(&mut self, remembered_bytes: u64) -> StepOutcome {
        // Each mark may have taken a piece of flash.
        let marks = self.prober.shown.len() as u64 * MIB;
        let most = self.found.cache_bytes.map_or(0, |[_, most]| most + marks);
        (self.found.kind, self.found.real_bytes) = if remembered_bytes > 0 {
            (Some(CapacityKind::Filling), Some([remembered_bytes, most]))
        } else {
            (Some(CapacityKind::Damaged), Some([0, 0]))
        };
        Ok(())
    }
}
