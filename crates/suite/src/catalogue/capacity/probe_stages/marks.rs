//! Marks: single blocks at random places, in groups.

use device::Extent;

use super::ProbeStages;
use crate::catalogue::capacity::block_content::BlockContent;
use crate::catalogue::capacity::places::stratified;
use crate::catalogue::capacity::prober::StepOutcome;

/// Places of a group: near the end, and anywhere.
const NEAR_END: u64 = 1;
const ANYWHERE: u64 = 3;
/// Share of the cell's time for marking, without the first group: one part in this many.
const MARKING_SHARE: u64 = 6;

impl ProbeStages<'_, '_, '_> {
    /// Places for marks, in groups. The very last block is in the first group, each of the others
    /// has one near it.
    pub(super) fn places(&mut self, groups: u64) -> Vec<Vec<u64>> {
        let (span, block) = (self.prober.span, self.prober.block_bytes);
        let (from, end) = (span.offset_bytes + self.longest_ramp_bytes, span.end());
        let (zone_end, near_bytes) = match self.far.bytes {
            0 => (end, (end - from) / 64),
            _ => (self.far.offset_bytes, end - self.far.end()),
        };
        let zone = Extent::new(from, (zone_end - from) / block * block);
        let mut groups: Vec<Vec<u64>> = (0..groups)
            .map(|group| {
                let nearest = (near_bytes / block).max(2) as f64;
                let blocks =
                    if group == 0 { 1 } else { (nearest.powf(self.random.unit()) as u64).max(1) };
                (0..NEAR_END).map(|_| end - blocks * block).collect()
            })
            .collect();
        let strata = ANYWHERE * groups.len() as u64;
        for (index, place) in
            stratified(zone, strata, block, &mut self.random).into_iter().enumerate()
        {
            let group = index % groups.len();
            groups[group].push(place);
        }
        groups
    }

    /// Marks the places. If single writes are slow, marks only as many groups as the time allows,
    /// with the longest steps of the ramp.
    pub(super) fn mark(&mut self, steps: &mut Vec<u64>, groups: &mut Vec<Vec<u64>>) -> StepOutcome {
        self.prober.context.part(0.0, 0.15);
        let started_ns = self.prober.now_ns();
        let times = if self.prober.is_keeping() { 2 } else { 1 };
        let most_ns = self.prober.context.allotted_ns / MARKING_SHARE / times;
        let mut marked = 0;
        while marked < groups.len() && (marked == 0 || self.prober.now_ns() - started_ns < most_ns)
        {
            self.mark_places(&groups[marked])?;
            marked += 1;
        }
        self.prober.flush();
        self.mark_ns = (self.prober.now_ns() - started_ns) as f64
            / groups[..marked].iter().map(Vec::len).sum::<usize>() as f64;
        groups.truncate(marked);
        if marked == 1 && steps.len() > 2 {
            // The longest ramp tells of every cache, a short one how large it is, about.
            let half = groups[0].len() / 2;
            let other = groups[0].split_off(half);
            groups.push(other);
            *steps = vec![steps[1], self.longest_ramp_bytes];
        } else {
            let longest = steps.len() - 1;
            steps.drain(marked - 1..longest);
        }
        Ok(())
    }

    fn mark_places(&mut self, places: &[u64]) -> StepOutcome {
        let block = self.prober.block_bytes;
        let mut places = places.to_vec();
        places.sort_unstable();
        places.dedup();
        self.prober.write(
            "marking",
            self.mark_pass,
            block,
            places.into_iter().map(|place| Extent::new(place, block)),
        )
    }

    pub(super) fn read_marks(&mut self, places: &[u64]) -> StepOutcome<Vec<(u64, BlockContent)>> {
        let seen = self.prober.read(
            "reading marks",
            self.mark_pass,
            places,
            self.prober.block_bytes,
            |_| false,
        )?;
        self.prober.keep(&seen);
        Ok(seen)
    }

    /// Reads marks of a pass; true for each that is still there.
    pub(super) fn kept(&mut self, pass: u32, places: &[u64]) -> StepOutcome<Vec<(u64, bool)>> {
        let seen =
            self.prober.read("reading marks", pass, places, self.prober.block_bytes, |_| false)?;
        self.prober.keep(&seen);
        let wrap_bytes = self.prober.wrap_bytes;
        Ok(seen.iter().map(|(place, seen)| (*place, seen.is_present(*place, wrap_bytes))).collect())
    }

    /// Writes so many marks all over a range, empties a memory of them, and reads them: each place,
    /// and whether its mark was kept.
    pub(super) fn marked(
        &mut self,
        range: Extent,
        count: u64,
        cached_bytes: u64,
    ) -> StepOutcome<Vec<(u64, bool)>> {
        let block = self.prober.block_bytes;
        let places = stratified(range, count, block, &mut self.random);
        let pass = self.prober.new_data();
        let marks = places.iter().map(|place| Extent::new(*place, block));
        self.prober.write("narrowing down", pass, block, marks)?;
        self.prober.fill_cache(cached_bytes, range)?;
        self.kept(pass, &places)
    }
}
