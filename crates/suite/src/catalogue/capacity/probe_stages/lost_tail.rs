//! Lost marks: a lost tail, or damage.

use device::Extent;
use record::CapacityKind;
use record::units::{KIB, MIB};

use super::ProbeStages;
use crate::catalogue::capacity::block_content::{BlockContent, tail};
use crate::catalogue::capacity::prober::StepOutcome;

/// Shortest lost tail in bytes; a shorter one is damage.
pub(super) const SHORTEST_TAIL_BYTES: u64 = 64 * KIB;
/// Number of lost marks, with none out of place, that prove a tail before it is measured.
const CLEAR_TAIL: usize = 3;
/// Least number of tested places in a lost tail.
const ASKED_OF_TAIL: u64 = 12;
/// Share of marks on the wrong side of the real size above which they are damage.
const SCATTERED: f64 = 0.1;
/// Probability above which a lost tail is explained by damage.
const LIKELY: f64 = 0.001;

impl ProbeStages<'_, '_, '_> {
    /// Explains lost marks after this step: a lost tail, folding addresses, or damage.
    pub(super) fn explain_lost_marks(&mut self, step: usize, groups: &[Vec<u64>]) -> StepOutcome {
        // A memory may take all writes, or only those without flash.
        let before = if step == 0 { 0 } else { self.steps[step - 1] };
        let now = self.ramp_bytes + self.far_bytes;
        let now = self.remembered_at_far_end().map_or(now, |most| now.min(most));
        let before = before.min(now);
        self.found.cache_bytes = Some([before, now]);
        // What was marked last has had the least written after it; now at least as much as what was
        // marked first.
        let cached_bytes = now + MIB;
        self.look_early(groups)?;
        self.extend_ramp(
            (cached_bytes + self.folding_from_bytes)
                .min(self.longest_ramp_bytes)
                .max(self.ramp_bytes),
        )?;
        self.seek_folding(cached_bytes)?;
        let mut later = groups[step..].concat();
        later.sort_unstable();
        let seen = self.read_marks(&later)?;
        if !self.prober.folded.is_empty() {
            return self.measure_wraparound();
        }
        if self.is_filling(groups, cached_bytes)? {
            return Ok(());
        }
        self.note_evidence(&seen);
        let (first, end) = (self.prober.span.offset_bytes, self.prober.span.end());
        if let Some(lost) = self.split(&self.evidence, first).1
            && !self.has_clear_tail()
        {
            self.ask_tail(lost, ASKED_OF_TAIL, cached_bytes)?;
            self.evidence.sort_unstable();
        }
        let (kept, lost, _) = self.split(&self.evidence, first);
        let Some(lost) = lost else { return self.damaged() };
        if self.has_clear_tail() {
            self.found.kind = Some(CapacityKind::Limbo);
        }
        let real_bytes = self.narrow_down(kept, lost, cached_bytes)?;
        if real_bytes == first {
            return self.nothing_stays(before);
        }
        // A mark that was lost once and is kept now is no fake's: its tail is asked anew.
        let least = if real_bytes > lost { u64::MAX } else { ASKED_OF_TAIL };
        self.ask_tail(real_bytes, least, cached_bytes)?;
        if end - real_bytes < SHORTEST_TAIL_BYTES
            || self.is_scattered(real_bytes)
            || self.is_by_chance(real_bytes)
        {
            return self.damaged();
        }
        self.found.kind = Some(CapacityKind::Limbo);
        Ok(())
    }

    /// Concludes a fake from a tail that is clearly lost by the marks so far, even if no time is
    /// left to find its kind and size.
    fn look_early(&mut self, groups: &[Vec<u64>]) -> StepOutcome {
        let mut places = groups.concat();
        places.sort_unstable();
        let seen = self.read_marks(&places)?;
        self.note_evidence(&seen);
        if self.prober.folded.is_empty() && self.has_clear_tail() {
            let (kept, lost, _) = self.split(&self.evidence, self.prober.span.offset_bytes);
            self.found.kind = Some(CapacityKind::Limbo);
            self.found.real_bytes = lost.map(|lost| [kept, lost]);
            self.hurry();
        }
        Ok(())
    }

    /// What was seen of the ramp at the far end.
    fn far_samples(&self) -> impl Iterator<Item = (u64, BlockContent)> {
        let far = self.prober.shown.range(self.far.offset_bytes..self.far.end());
        far.map(|(place, seen)| (*place, *seen))
    }

    /// Most bytes that a memory had of the ramp at the far end: fewer than were written after the
    /// last place that was lost; 0 where nothing was lost without an error.
    fn remembered_at_far_end(&self) -> Option<u64> {
        let lost = self.far_samples().filter(|(_, seen)| *seen == BlockContent::Lost);
        let is_silent = self.prober.shown.values().any(|seen| *seen == BlockContent::Lost);
        let since = lost.map(|(place, _)| self.written_since(place)).min();
        since.or((!is_silent).then_some(0))
    }

    /// Begins the evidence with these marks and the ramp at the far end, without what may lie in a
    /// memory only.
    fn note_evidence(&mut self, marks: &[(u64, BlockContent)]) {
        let most = self.found.cache_bytes.map_or(0, |[_, most]| most);
        let remembered = self.remembered_at_far_end().unwrap_or(most);
        let far = self
            .far_samples()
            .map(|(place, seen)| (place, seen.is_present(place, None)))
            .filter(|(place, kept)| !kept || self.written_since(*place) > remembered);
        let marks = marks.iter().map(|(place, seen)| (*place, seen.is_present(*place, None)));
        self.evidence = far.chain(marks).collect();
        self.evidence.sort_unstable();
    }

    /// True if enough marks are lost, and none of them is out of place, for a lost tail.
    fn has_clear_tail(&self) -> bool {
        let wrong = self.split(&self.evidence, self.prober.span.offset_bytes).2;
        wrong == 0 && self.evidence.iter().filter(|(_, present)| !present).count() >= CLEAR_TAIL
    }

    /// Tests more places of a tail of which fewer than `least` were tested: damage may have hit only
    /// the last marks by chance.
    fn ask_tail(&mut self, real_bytes: u64, least: u64, cached_bytes: u64) -> StepOutcome {
        let block = self.prober.block_bytes;
        let from = real_bytes.next_multiple_of(block);
        // Beyond these places there is to be room for what empties a memory of them.
        let all_bytes = self.prober.span.end().saturating_sub(from);
        let tail = Extent::new(from, all_bytes / self.ramps() / block * block);
        let asked = self.evidence.iter().filter(|(place, _)| *place >= from).count() as u64;
        if asked >= least || tail.bytes < ASKED_OF_TAIL * block {
            return Ok(());
        }
        let points = self.marked(tail, ASKED_OF_TAIL, cached_bytes)?;
        self.evidence.extend(points);
        Ok(())
    }

    /// True if damage that hits as often as below the real size may have caused all losses above
    /// it.
    fn is_by_chance(&self, real_bytes: u64) -> bool {
        let [(lost, below), (gone, _)] = self.lost_around(real_bytes);
        let share = (lost + 1) as f64 / (below + 2) as f64;
        share.powi(gone as i32) > LIKELY
    }

    /// The end of the range that keeps data, the beginning of the lost tail, and the number of
    /// places that fit neither; the places are in order.
    pub(super) fn split(&self, points: &[(u64, bool)], first: u64) -> (u64, Option<u64>, usize) {
        let (cut, wrong) = tail(&points.iter().map(|(_, present)| *present).collect::<Vec<_>>());
        let kept = if cut == 0 { first } else { points[cut - 1].0 + self.prober.block_bytes };
        (kept, points.get(cut).map(|(place, _)| *place), wrong)
    }

    /// True if too many places are lost below the real size, or kept above it, for a fake.
    fn is_scattered(&self, real_bytes: u64) -> bool {
        let [(lost, below), (gone, above)] = self.lost_around(real_bytes);
        let share = |wrong: usize, asked: usize| wrong as f64 / asked.max(1) as f64;
        share(lost, below).max(share(above - gone, above)) > SCATTERED
    }

    /// Number of lost places and of tested ones: below the real size, and from there on.
    fn lost_around(&self, real_bytes: u64) -> [(usize, usize); 2] {
        let mut counts = [(0, 0); 2];
        for (place, present) in &self.evidence {
            let (lost, asked) = &mut counts[usize::from(*place >= real_bytes)];
            *lost += usize::from(!present);
            *asked += 1;
        }
        counts
    }
}
