//! The ramps: sequential writes from the front, and at the far end where nothing is to be restored,
//! longer and longer, that fill every cache.

use device::Extent;
use record::units::{KIB, MIB};

use super::{ENOUGH_UNUSABLE, ProbeStages, ProbeTrouble};
use crate::catalogue::capacity::block_content::BlockContent;
use crate::catalogue::capacity::places::stratified;
use crate::catalogue::capacity::prober::{Halt, StepOutcome};

/// Length in bytes of the ramp at its first doubling, without the bytes that are added to each:
/// caches come in powers of two, and a ramp slightly longer than one detects it, where otherwise
/// only the ramp of twice the length would.
const FIRST_RAMP_BYTES: u64 = 4 * MIB;
pub(super) const BEYOND_BYTES: u64 = MIB;
/// Number of blocks of the ramp that are read at the end.
const RAMP_SAMPLES: u64 = 256;
const RAMP_SAMPLE_BYTES: u64 = 16 * KIB;
/// Share of the cell's time that is reserved for the stages after the ramp: one part in this many.
const RESERVE: u64 = 5;

impl ProbeStages<'_, '_, '_> {
    /// Lengths of the ramp at its steps, in bytes.
    pub(super) fn steps(&self) -> Vec<u64> {
        let doublings = std::iter::successors(Some(FIRST_RAMP_BYTES), |bytes| Some(bytes * 2))
            .map(|bytes| bytes + BEYOND_BYTES);
        let mut steps: Vec<u64> = [0]
            .into_iter()
            .chain(doublings.take_while(|bytes| *bytes < self.longest_ramp_bytes))
            .collect();
        steps.push(self.longest_ramp_bytes);
        steps
    }

    /// Makes the ramp longer, step by step, until marks are lost, addresses fold, or it has its
    /// full length.
    pub(super) fn grow(&mut self, groups: &[Vec<u64>]) -> StepOutcome<Option<ProbeTrouble>> {
        let mut folding_sought = false;
        let steps = self.steps.clone();
        for (step, &bytes) in steps.iter().enumerate() {
            if !self.has_time_for(bytes) {
                let affordable = self.affordable_bytes();
                self.extend_ramps(affordable)?;
                return Ok(None);
            }
            self.prober.context.part(
                0.15 + 0.6 * step as f64 / steps.len() as f64,
                0.15 + 0.6 * (step + 1) as f64 / steps.len() as f64,
            );
            // As soon as the ramp is long enough, and not when it has doubled: half a minute of a
            // slow medium.
            if !folding_sought && bytes >= self.folding_from_bytes {
                folding_sought = true;
                self.extend_ramp(self.folding_from_bytes)?;
                self.seek_folding(0)?;
                if !self.prober.folded.is_empty() {
                    return Ok(Some(ProbeTrouble::Folded));
                }
            }
            // The first piece tells how long the others take.
            self.extend_ramps(bytes.min(FIRST_RAMP_BYTES))?;
            if !self.has_time_for(bytes) {
                let affordable = self.affordable_bytes();
                self.extend_ramps(affordable)?;
                return Ok(None);
            }
            self.extend_ramps(bytes)?;
            let seen = self.read_marks(&groups[step])?;
            if !self.prober.folded.is_empty() {
                return Ok(Some(ProbeTrouble::Folded));
            }
            // Marks that answer with errors say nothing of a memory, which may answer for others.
            let is_lost = |(place, seen): &(u64, BlockContent)| {
                *seen != BlockContent::Unusable && !seen.is_present(*place, None)
            };
            if self.ramp_fails() || seen.iter().any(is_lost) {
                return Ok(Some(ProbeTrouble::Vanished(step)));
            }
            self.note_filled();
        }
        Ok(None)
    }

    /// True if the ramp can be made this long at the rate so far, with time left for the later
    /// stages.
    fn has_time_for(&mut self, bytes: u64) -> bool {
        let (left_ns, all_ns) = (self.prober.left_ns(), self.prober.context.allotted_ns);
        if self.ramp_bytes == 0 {
            return left_ns > 0;
        }
        // What is kept is written once more.
        let times = if self.prober.is_keeping() { 2.0 } else { 1.0 };
        let needed_ns =
            times * (bytes - self.ramp_bytes) as f64 / self.ramp_bytes as f64 * self.ramp_ns as f64;
        needed_ns <= left_ns.saturating_sub(all_ns / RESERVE) as f64
    }

    /// Length that the ramp can reach in half of the remaining time; the other half is for reading.
    fn affordable_bytes(&mut self) -> u64 {
        let times = if self.prober.is_keeping() { 2.0 } else { 1.0 };
        let ns_per_byte = times * self.ramp_ns as f64 / self.ramp_bytes.max(1) as f64;
        let more = self.prober.left_ns() as f64 / 2.0 / ns_per_byte.max(f64::MIN_POSITIVE);
        let more =
            if self.ramp_bytes == 0 { 0 } else { (more as u64).min(self.longest_ramp_bytes) };
        (self.ramp_bytes + more).min(self.longest_ramp_bytes) / MIB * MIB
    }

    /// True if the ramp itself meets errors everywhere.
    fn ramp_fails(&self) -> bool {
        let ramp = Extent::new(self.prober.span.offset_bytes, self.ramp_bytes);
        self.prober.failed_places_in(ramp) >= ENOUGH_UNUSABLE
    }

    fn note_filled(&mut self) {
        self.found.filled_cache_bytes = self.ramp_bytes + self.far_bytes;
        self.found.far_bytes = self.far_bytes;
    }

    /// Makes both ramps so long; the one at the far end waits in a short cell, which first has to
    /// know of fakes of the common kinds.
    fn extend_ramps(&mut self, bytes: u64) -> StepOutcome {
        self.extend_ramp(bytes)?;
        if self.far_is_last() { Ok(()) } else { self.extend_far_ramp(bytes) }
    }

    /// Makes the ramp at the far end as long as the other one, as far as time allows.
    pub(super) fn catch_up(&mut self) -> StepOutcome {
        let (left_ns, all_ns) = (self.prober.left_ns(), self.prober.context.allotted_ns);
        let bytes = left_ns.saturating_sub(all_ns / RESERVE) as f64 * self.ramp_bytes as f64
            / self.ramp_ns.max(1) as f64;
        if self.far_is_last() {
            self.extend_far_ramp((bytes as u64).min(self.ramp_bytes) / MIB * MIB)?;
        }
        Ok(())
    }

    fn extend_far_ramp(&mut self, bytes: u64) -> StepOutcome {
        let first = self.far.offset_bytes;
        let most_bytes = bytes.min(self.far.bytes);
        let pieces = (self.far_bytes / MIB..most_bytes / MIB)
            .map(|piece| Extent::new(first + piece * MIB, MIB));
        let started_ns = self.prober.now_ns();
        self.prober.write("filling caches", self.ramp_pass, MIB, pieces)?;
        self.ramp_ns += self.prober.now_ns() - started_ns;
        self.far_bytes = self.far_bytes.max(most_bytes);
        Ok(())
    }

    pub(super) fn extend_ramp(&mut self, bytes: u64) -> StepOutcome {
        let first = self.prober.span.offset_bytes;
        let pieces =
            (self.ramp_bytes / MIB..bytes / MIB).map(|piece| Extent::new(first + piece * MIB, MIB));
        let started_ns = self.prober.now_ns();
        self.prober.write("filling caches", self.ramp_pass, MIB, pieces)?;
        self.ramp_ns += self.prober.now_ns() - started_ns;
        self.ramp_bytes = self.ramp_bytes.max(bytes);
        Ok(())
    }

    /// Places all over the ramps, those of the far end first: it has the oldest of what may lie in a
    /// memory only.
    pub(super) fn ramp_samples(&mut self, most: u64) -> Vec<u64> {
        let far = Extent::new(self.far.offset_bytes, self.far_bytes);
        let front = Extent::new(self.prober.span.offset_bytes, self.ramp_bytes);
        let most = if far.bytes == 0 { most } else { most / 2 };
        let mut places = Vec::new();
        for ramp in [far, front] {
            let parts = most.min(ramp.bytes / RAMP_SAMPLE_BYTES);
            places.extend(stratified(ramp, parts, RAMP_SAMPLE_BYTES, &mut self.random));
        }
        places
    }

    /// Checks again with the ramp at its full length: all marks, the ramp itself, and folded
    /// addresses at finer distances.
    pub(super) fn recheck(&mut self, groups: &[Vec<u64>]) -> StepOutcome<Option<ProbeTrouble>> {
        self.prober.context.part(0.75, 1.0);
        let is_combed = self.combed_bytes > 0 && self.ramp_bytes < 2 * self.combed_bytes;
        if !is_combed {
            self.seek_folding(0)?;
        }
        let mut places = groups.concat();
        places.sort_unstable();
        let seen = self.read_marks(&places)?;
        self.note_filled();
        if !self.prober.folded.is_empty() {
            return Ok(Some(ProbeTrouble::Folded));
        }
        let samples = self.ramp_samples(RAMP_SAMPLES);
        let sampled = self.prober.read(
            "reading what filled the caches",
            self.ramp_pass,
            &samples,
            RAMP_SAMPLE_BYTES,
            |_| false,
        )?;
        self.prober.keep(&sampled);
        let lost = |seen: &[(u64, BlockContent)]| {
            seen.iter().any(|(place, seen)| !seen.is_present(*place, None))
        };
        if is_combed && !lost(&seen) && !lost(&sampled) && self.finds_folded_again()? {
            return Ok(Some(ProbeTrouble::Folded));
        }
        let last = self.steps.iter().rposition(|bytes| *bytes <= self.ramp_bytes).unwrap_or(0);
        Ok((lost(&seen) || lost(&sampled)).then_some(ProbeTrouble::Vanished(last)))
    }

    /// True if an address folds among as many others, of which time allows to look at: where addresses
    /// are hashed, a search sees one in as many as are the same place.
    fn finds_folded_again(&mut self) -> StepOutcome<bool> {
        let combed_bytes = self.combed_bytes;
        let ended = self.seek_folding(0);
        self.combed_bytes = combed_bytes;
        match ended {
            Err(halt) if halt != Halt::TimeUp => Err(halt),
            _ => Ok(!self.prober.folded.is_empty()),
        }
    }
}
