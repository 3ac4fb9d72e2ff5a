//! The stages of the probe.
//!
//! 1. **Mark.** Single blocks are written at random places of the upper part, in groups; each group
//!    has a place near the end.
//! 2. **Fill the cache.** From the front a *ramp* is written sequentially, longer and longer. Each
//!    time it has doubled, one group is read, and no group twice. Where there is no flash, the
//!    marks vanish as soon as no memory of the controller answers for them: that is the size of the
//!    cache.
//! 3. **Fold.** Once the ramp is long enough, the addresses above it are read at random distances
//!    of at most the length of the ramp. On a medium that takes addresses modulo a distance, some
//!    of them return blocks of the ramp, each of which contains its own address: the greatest
//!    common divisor of the differences is the wrap distance.
//! 4. **Narrow down.** Between the last place that keeps data and the first that does not, blocks
//!    are marked, the cache is filled, the blocks are read, until 16 MiB are left. These are
//!    written whole and read sector by sector.

use device::Extent;
use record::CapacityKind;
use record::units::{KIB, MIB, SECOND_NS};

use super::block_content::{BlockContent, common, tail};
use super::prober::{Halt, Prober, StepOutcome};
use stats::Random;

/// Length in bytes of the ramp at its first doubling, without the bytes that are added to each:
/// caches come in powers of two, and a ramp slightly longer than one detects it, where otherwise
/// only the ramp of twice the length would.
const FIRST_RAMP_BYTES: u64 = 4 * MIB;
const BEYOND_BYTES: u64 = MIB;
/// Places of a group: near the end, and anywhere.
const NEAR_END: u64 = 1;
const ANYWHERE: u64 = 3;
/// Bytes that are written in about the time of one read. With a ramp of `l` bytes on a medium of
/// `c` bytes, the search for folded addresses takes the time of writing `l` bytes and of `2 c / l`
/// reads, which is shortest if `l` is the root of `2 c` times this.
const READ_WORTH_BYTES: u64 = 10_000;
/// Length in bytes of the shortest ramp with which folded addresses are sought.
const SHORTEST_FOLDING_BYTES: u64 = 16 * MIB;
const MAX_FOLDING_READS: u64 = 16384;
/// Number of addresses with data of others that is enough to compute a wrap distance.
const ENOUGH_FOLDED: usize = 24;
/// Number of unreadable places after which the search for folded addresses ends: each error may
/// take seconds.
const ENOUGH_UNUSABLE: usize = 64;
/// Number of places at which a wrap distance is tested, and the number of them that must agree.
const TRIALS: usize = 8;
const AGREEING: usize = 6;
/// Most multiples that are distinguished: no fake announces a million times its real size.
const MAX_TURNS: u64 = 1 << 20;
/// Bytes of the remaining range that are written completely.
const WINDOW_BYTES: u64 = 16 * MIB;
const WINDOW_PIECE_BYTES: u64 = 256 * KIB;
/// Bytes that fill an unknown cache, at first and at last.
const COMMON_CACHE_BYTES: u64 = 64 * MIB + BEYOND_BYTES;
const LARGE_CACHE_BYTES: u64 = 256 * MIB;
/// Shortest lost tail in bytes; a shorter one is damage.
const SHORTEST_TAIL_BYTES: u64 = 64 * KIB;
/// Number of lost marks, with none out of place, that prove a tail before it is measured.
const CLEAR_TAIL: usize = 3;
/// Least number of tested places in a lost tail.
const ASKED_OF_TAIL: u64 = 12;
/// Share of marks on the wrong side of the real size above which they are damage.
const SCATTERED: f64 = 0.1;
/// Probability above which a lost tail is explained by damage.
const LIKELY: f64 = 0.001;
/// Number of blocks of the ramp that are read at the end.
const RAMP_SAMPLES: u64 = 256;
const RAMP_SAMPLE_BYTES: u64 = 16 * KIB;
/// Share of the cell's time for marking, without the first group: one part in this many.
const MARKING_SHARE: u64 = 6;
/// Share of the cell's time for each search for folded addresses: one part in this many; and the
/// reads between two looks at the clock.
const FOLDING_SHARE: u64 = 4;
const COMB_READS_AT_ONCE: usize = 256;
/// Longest cell in nanoseconds that only has to tell a fake from a good medium; it uses half of its
/// time at most for the exact size of a fake.
const SHORT_NS: u64 = 60 * SECOND_NS;
/// Additional time in nanoseconds of a short cell after the first wrong data.
const SUSPECT_NS: u64 = 40 * SECOND_NS;
/// Share of the cell's time that is reserved for the stages after the ramp: one part in this many.
const RESERVE: u64 = 5;

/// Findings so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProbeState {
    /// Good, damaged, or the kind of fake; `None` while it is unknown.
    pub kind: Option<CapacityKind>,
    /// Bytes from the first on that keep data: [least, most].
    pub real_bytes: Option<[u64; 2]>,
    /// Modulus of addresses in bytes.
    pub wrap_bytes: Option<u64>,
    /// Bytes of the latest writes in the controller's memory: [least, most].
    pub cache_bytes: Option<[u64; 2]>,
    /// Bytes written after the marks and before they were read for the last time.
    pub filled_cache_bytes: u64,
}

impl ProbeState {
    /// Drops conclusions from places that did not answer. Folding of addresses is kept: it follows
    /// from data that was read.
    pub fn forget_what_was_lost(&mut self) {
        self.kind = self.wrap_bytes.map(|_| CapacityKind::Wraparound);
        self.real_bytes = None;
        self.cache_bytes = None;
    }
}

/// A running probe.
pub struct ProbeStages<'h, 'a, 'b> {
    prober: &'h mut Prober<'a, 'b>,
    found: &'h mut ProbeState,
    random: Random,
    ramp_pass: u32,
    mark_pass: u32,
    ramp_bytes: u64,
    ramp_ns: u64,
    /// Time to write a mark, in nanoseconds.
    mark_ns: f64,
    /// Places whose marks were read after every cache was filled; true if the mark was kept.
    evidence: Vec<(u64, bool)>,
    longest_ramp_bytes: u64,
    folding_from_bytes: u64,
    /// Length of the ramp at the last search for folded addresses over the whole medium.
    combed_bytes: u64,
    /// The cell's time in nanoseconds, before anything was suspicious.
    planned_ns: u64,
}

/// The reason why the ramp was not made longer.
enum ProbeTrouble {
    /// Marks were lost after this step.
    Vanished(usize),
    /// A read brought data that was written to another address: addresses fold.
    Folded,
}

impl<'h, 'a, 'b> ProbeStages<'h, 'a, 'b> {
    /// A probe with a ramp of at most this length.
    pub fn new(
        prober: &'h mut Prober<'a, 'b>,
        found: &'h mut ProbeState,
        cache_bytes: u64,
    ) -> ProbeStages<'h, 'a, 'b> {
        let span = prober.span;
        let longest_ramp_bytes = cache_bytes.min(span.bytes / 2) / MIB * MIB;
        let shortest_bytes =
            (2 * span.bytes).saturating_mul(READ_WORTH_BYTES).isqrt().next_multiple_of(MIB);
        let folding_from_bytes = shortest_bytes.max(SHORTEST_FOLDING_BYTES).min(longest_ramp_bytes);
        let random = prober.context.random("places");
        let (mark_pass, ramp_pass) = (prober.new_data(), prober.new_data());
        let planned_ns = prober.context.allotted_ns;
        ProbeStages {
            prober,
            found,
            random,
            ramp_pass,
            mark_pass,
            ramp_bytes: 0,
            ramp_ns: 0,
            mark_ns: 0.0,
            evidence: Vec::new(),
            longest_ramp_bytes,
            folding_from_bytes,
            combed_bytes: 0,
            planned_ns,
        }
    }

    /// Goes through the stages until the medium is known. `found` has the findings, for any end.
    pub fn go(&mut self) -> StepOutcome {
        let ended = self.stages();
        // Data that was written to another address is no honest medium's, however little of it was
        // seen.
        if self.found.kind.is_none() && !self.prober.folded.is_empty() {
            self.note_wraparound();
        }
        ended
    }

    fn stages(&mut self) -> StepOutcome {
        let mut steps = self.steps();
        let mut groups = self.places(steps.len() as u64);
        self.mark(&mut steps, &mut groups)?;
        let trouble = match self.grow(&steps, &groups)? {
            None => self.recheck(&steps, &groups)?,
            trouble => trouble,
        };
        if trouble.is_some() && self.is_short() {
            // No honest medium is delayed by it.
            self.prober.context.allotted_ns += SUSPECT_NS;
        }
        match trouble {
            None => self.conclude_unharmed(),
            Some(ProbeTrouble::Folded) => self.measure_wraparound(),
            Some(ProbeTrouble::Vanished(step)) => self.explain_lost_marks(step, &steps, &groups),
        }
    }

    /// Lengths of the ramp at its steps, in bytes.
    fn steps(&self) -> Vec<u64> {
        let doublings = std::iter::successors(Some(FIRST_RAMP_BYTES), |bytes| Some(bytes * 2))
            .map(|bytes| bytes + BEYOND_BYTES);
        let mut steps: Vec<u64> = [0]
            .into_iter()
            .chain(doublings.take_while(|bytes| *bytes < self.longest_ramp_bytes))
            .collect();
        steps.push(self.longest_ramp_bytes);
        steps
    }

    /// Places for marks, in groups. The very last block is in the first group, each of the others
    /// has one near it.
    fn places(&mut self, groups: u64) -> Vec<Vec<u64>> {
        let (span, block) = (self.prober.span, self.prober.block_bytes);
        let zone = Extent::new(
            span.offset_bytes + self.longest_ramp_bytes,
            span.bytes - self.longest_ramp_bytes,
        );
        let mut groups: Vec<Vec<u64>> = (0..groups)
            .map(|group| {
                let nearest = (zone.bytes / 64 / block).max(2) as f64;
                let blocks =
                    if group == 0 { 1 } else { (nearest.powf(self.random.unit()) as u64).max(1) };
                (0..NEAR_END).map(|_| zone.end() - blocks * block).collect()
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
    fn mark(&mut self, steps: &mut Vec<u64>, groups: &mut Vec<Vec<u64>>) -> StepOutcome {
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

    /// Makes the ramp longer, step by step, until marks are lost, addresses fold, or it has its
    /// full length.
    fn grow(&mut self, steps: &[u64], groups: &[Vec<u64>]) -> StepOutcome<Option<ProbeTrouble>> {
        let mut folding_sought = false;
        for (step, &bytes) in steps.iter().enumerate() {
            if !self.has_time_for(bytes) {
                let affordable = self.affordable_bytes();
                self.extend_ramp(affordable)?;
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
            self.extend_ramp(bytes.min(FIRST_RAMP_BYTES))?;
            if !self.has_time_for(bytes) {
                let affordable = self.affordable_bytes();
                self.extend_ramp(affordable)?;
                return Ok(None);
            }
            self.extend_ramp(bytes)?;
            let seen = self.read_marks(&groups[step])?;
            if !self.prober.folded.is_empty() {
                return Ok(Some(ProbeTrouble::Folded));
            }
            if !seen.iter().all(|(place, seen)| seen.is_present(*place, None)) {
                return Ok(Some(ProbeTrouble::Vanished(step)));
            }
            self.found.filled_cache_bytes = bytes;
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

    fn extend_ramp(&mut self, bytes: u64) -> StepOutcome {
        let first = self.prober.span.offset_bytes;
        let pieces =
            (self.ramp_bytes / MIB..bytes / MIB).map(|piece| Extent::new(first + piece * MIB, MIB));
        let started_ns = self.prober.now_ns();
        self.prober.write("filling caches", self.ramp_pass, MIB, pieces)?;
        self.ramp_ns += self.prober.now_ns() - started_ns;
        self.ramp_bytes = self.ramp_bytes.max(bytes);
        Ok(())
    }

    fn read_marks(&mut self, places: &[u64]) -> StepOutcome<Vec<(u64, BlockContent)>> {
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

    /// Searches for copies of the ramp above it. The last `cached_bytes` of it may not be on flash
    /// yet.
    fn seek_folding(&mut self, cached_bytes: u64) -> StepOutcome {
        let (span, block) = (self.prober.span, self.prober.block_bytes);
        let ramp_end = span.offset_bytes + self.ramp_bytes;
        let above = Extent::new(ramp_end, span.end() - ramp_end);
        let stride = self
            .ramp_bytes
            .saturating_sub(cached_bytes)
            .max(above.bytes / MAX_FOLDING_READS)
            .max(MIB);
        let places = evenly_spaced_blocks(above, stride, block, &mut self.random);
        let enough = |seen: &[(u64, BlockContent)]| {
            let count =
                |is: fn(&BlockContent) -> bool| seen.iter().filter(|(_, seen)| is(seen)).count();
            count(|seen| matches!(seen, BlockContent::WrongAddress { .. })) >= ENOUGH_FOLDED
                || count(|seen| *seen == BlockContent::Unusable) >= ENOUGH_UNUSABLE
        };
        let most_ns = self.prober.context.allotted_ns / FOLDING_SHARE;
        let started_ns = self.prober.now_ns();
        self.combed_bytes = self.ramp_bytes;
        for part in places.chunks(COMB_READS_AT_ONCE) {
            let seen = self.prober.read(
                "looking for folded addresses",
                self.ramp_pass,
                part,
                block,
                enough,
            )?;
            if enough(&seen)
                || self.prober.folded.len() >= if self.is_short() { 1 } else { ENOUGH_FOLDED }
            {
                break;
            }
            if self.prober.now_ns() - started_ns > most_ns && part.last() != places.last() {
                self.combed_bytes = 0;
                break;
            }
        }
        Ok(())
    }

    /// Checks again with the ramp at its full length: all marks, the ramp itself, and folded
    /// addresses at finer distances.
    fn recheck(&mut self, steps: &[u64], groups: &[Vec<u64>]) -> StepOutcome<Option<ProbeTrouble>> {
        self.prober.context.part(0.75, 1.0);
        if self.combed_bytes == 0 || self.ramp_bytes >= 2 * self.combed_bytes {
            self.seek_folding(0)?;
        }
        let mut places = groups.concat();
        places.sort_unstable();
        let seen = self.read_marks(&places)?;
        self.found.filled_cache_bytes = self.ramp_bytes;
        if !self.prober.folded.is_empty() {
            return Ok(Some(ProbeTrouble::Folded));
        }
        let ramp = Extent::new(self.prober.span.offset_bytes, self.ramp_bytes);
        let samples = stratified(
            ramp,
            RAMP_SAMPLES.min(self.ramp_bytes / RAMP_SAMPLE_BYTES),
            RAMP_SAMPLE_BYTES,
            &mut self.random,
        );
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
        let last = steps.iter().rposition(|bytes| *bytes <= self.ramp_bytes).unwrap_or(0);
        Ok((lost(&seen) || lost(&sampled)).then_some(ProbeTrouble::Vanished(last)))
    }

    /// Concludes that the medium is good, if caches of common size were filled: nothing was lost,
    /// nothing folds.
    fn conclude_unharmed(&mut self) -> StepOutcome {
        let enough_bytes = if self.is_short() {
            SHORTEST_FOLDING_BYTES
        } else {
            self.folding_from_bytes.max(COMMON_CACHE_BYTES)
        };
        if self.combed_bytes == 0 || self.ramp_bytes < enough_bytes.min(self.longest_ramp_bytes) {
            return Err(Halt::TimeUp);
        }
        let damaged = self.prober.shown.values().any(|seen| *seen != BlockContent::Good);
        self.found.kind = Some(if damaged { CapacityKind::Damaged } else { CapacityKind::Good });
        self.found.real_bytes = Some([self.announced_bytes(); 2]);
        Ok(())
    }

    /// Explains lost marks after this step: a lost tail, folding addresses, or damage.
    fn explain_lost_marks(
        &mut self,
        step: usize,
        steps: &[u64],
        groups: &[Vec<u64>],
    ) -> StepOutcome {
        self.found.cache_bytes = Some([if step == 0 { 0 } else { steps[step - 1] }, steps[step]]);
        // What was marked last has had the least written after it; now at least as much as what was
        // marked first.
        let cached_bytes = steps[step] + MIB;
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
        self.evidence =
            seen.iter().map(|(place, seen)| (*place, seen.is_present(*place, None))).collect();
        let (first, end) = (self.prober.span.offset_bytes, self.prober.span.end());
        if let Some(lost) = self.split(&self.evidence, first).1
            && !self.has_clear_tail()
        {
            self.ask_tail(lost, cached_bytes)?;
            self.evidence.sort_unstable();
        }
        let (kept, lost, _) = self.split(&self.evidence, first);
        let Some(lost) = lost else { return self.damaged() };
        if self.has_clear_tail() {
            self.found.kind = Some(CapacityKind::Limbo);
        }
        let real_bytes = self.narrow_down(kept, lost, cached_bytes)?;
        if real_bytes == first {
            (self.found.kind, self.found.real_bytes) = (Some(CapacityKind::Damaged), Some([0, 0]));
            return Ok(());
        }
        self.ask_tail(real_bytes, cached_bytes)?;
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
        self.evidence =
            seen.iter().map(|(place, seen)| (*place, seen.is_present(*place, None))).collect();
        if self.prober.folded.is_empty() && self.has_clear_tail() {
            let (kept, lost, _) = self.split(&self.evidence, self.prober.span.offset_bytes);
            self.found.kind = Some(CapacityKind::Limbo);
            self.found.real_bytes = lost.map(|lost| [kept, lost]);
            self.hurry();
        }
        Ok(())
    }

    fn is_short(&self) -> bool {
        self.prober.context.allotted_ns <= SHORT_NS
    }

    /// Notes that addresses fold: the real size is at most the common divisor of all distances.
    fn note_wraparound(&mut self) {
        self.found.kind = Some(CapacityKind::Wraparound);
        self.found.real_bytes = self.common_distance().map(|most_bytes| [0, most_bytes]);
    }

    /// Shortens the rest of a short cell: it is a fake, and only its size is left to measure.
    fn hurry(&mut self) {
        if self.is_short() {
            self.prober.hurry(self.prober.context.allotted_ns - self.planned_ns / 2);
        }
    }

    /// True if enough marks are lost, and none of them is out of place, for a lost tail.
    fn has_clear_tail(&self) -> bool {
        let wrong = self.split(&self.evidence, self.prober.span.offset_bytes).2;
        wrong == 0 && self.evidence.iter().filter(|(_, present)| !present).count() >= CLEAR_TAIL
    }

    /// Tests more places of a tail with few tested places: damage may have hit only the last marks
    /// by chance.
    fn ask_tail(&mut self, real_bytes: u64, cached_bytes: u64) -> StepOutcome {
        let block = self.prober.block_bytes;
        let from = real_bytes.next_multiple_of(block);
        let tail = Extent::new(from, self.prober.span.end().saturating_sub(from));
        let asked = self.evidence.iter().filter(|(place, _)| *place >= from).count() as u64;
        if asked >= ASKED_OF_TAIL || tail.bytes < ASKED_OF_TAIL * block {
            return Ok(());
        }
        let places = stratified(tail, ASKED_OF_TAIL, block, &mut self.random);
        let pass = self.prober.new_data();
        self.prober.write(
            "narrowing down",
            pass,
            block,
            places.iter().map(|place| Extent::new(*place, block)),
        )?;
        self.prober.fill_cache(cached_bytes, tail)?;
        let points = self.kept(pass, &places)?;
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
    fn split(&self, points: &[(u64, bool)], first: u64) -> (u64, Option<u64>, usize) {
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

    fn damaged(&mut self) -> StepOutcome {
        self.found.kind = Some(CapacityKind::Damaged);
        self.found.cache_bytes = None;
        self.found.real_bytes = Some([self.announced_bytes(); 2]);
        Ok(())
    }

    /// Announced capacity in bytes; up to a block more than can be marked.
    fn announced_bytes(&self) -> u64 {
        self.prober.context.target.facts.capacity_bytes
    }

    /// Measures the wrap distance of folding addresses, and the real size below it.
    fn measure_wraparound(&mut self) -> StepOutcome {
        // Whatever time is left to find out modulo what.
        self.note_wraparound();
        // One address that folds is enough to find out, and a few reads: to seek more of them takes
        // longer than a short cell has.
        let mut wrap_bytes = self.wrap_bytes()?;
        self.found.wrap_bytes = wrap_bytes;
        self.note_wraparound();
        self.hurry();
        if wrap_bytes.is_none() && self.prober.folded.len() < ENOUGH_FOLDED {
            self.extend_ramp(self.folding_from_bytes.max(self.ramp_bytes))?;
            self.seek_folding(0)?;
            wrap_bytes = self.wrap_bytes()?;
        }
        let Some(wrap_bytes) = wrap_bytes else { return self.damaged() };
        self.prober.wrap_bytes = Some(wrap_bytes);
        self.found.wrap_bytes = Some(wrap_bytes);
        self.found.kind = Some(CapacityKind::Wraparound);
        let first = self.prober.span.offset_bytes;
        self.found.real_bytes = Some([first.min(wrap_bytes), wrap_bytes]);
        if wrap_bytes <= first + WINDOW_BYTES {
            return self.measure_small_wraparound(
                wrap_bytes,
                first.min(wrap_bytes),
                COMMON_CACHE_BYTES,
            );
        }
        let cached_bytes =
            self.found.cache_bytes.map_or(0, |[_, most]| most + MIB).max(COMMON_CACHE_BYTES);
        match self.first_lost(wrap_bytes, cached_bytes)? {
            None => {
                self.found.real_bytes = Some([wrap_bytes, wrap_bytes]);
                Ok(())
            }
            Some((kept, lost, cached_bytes)) => {
                self.found.kind = Some(CapacityKind::Chain);
                let real_bytes = self.narrow_down(kept, lost, cached_bytes)?;
                self.conclude_wraparound(wrap_bytes, real_bytes)
            }
        }
    }

    /// Measures a wrap distance so small that everything below it is written completely.
    fn measure_small_wraparound(
        &mut self,
        wrap_bytes: u64,
        first: u64,
        cached_bytes: u64,
    ) -> StepOutcome {
        let real_bytes = if first == wrap_bytes {
            wrap_bytes
        } else {
            self.window(first, wrap_bytes, cached_bytes)?
        };
        self.conclude_wraparound(wrap_bytes, real_bytes)
    }

    /// Concludes a wraparound or a chain from the wrap distance and the real size.
    fn conclude_wraparound(&mut self, wrap_bytes: u64, real_bytes: u64) -> StepOutcome {
        let whole = wrap_bytes.saturating_sub(real_bytes) < SHORTEST_TAIL_BYTES;
        let real_bytes = if whole { wrap_bytes } else { real_bytes };
        self.found.real_bytes = Some([real_bytes, real_bytes]);
        self.found.kind = Some(if whole { CapacityKind::Wraparound } else { CapacityKind::Chain });
        Ok(())
    }

    /// Tests marks below the wrap distance: returns the end of the kept range, the beginning of the
    /// lost one, and the bytes of cache that were filled; `None` if all are kept. Half of the marks
    /// are read after a cache of common size is filled, all after a large one.
    fn first_lost(
        &mut self,
        wrap_bytes: u64,
        cached_bytes: u64,
    ) -> StepOutcome<Option<(u64, u64, u64)>> {
        let (first, block) = (self.prober.span.offset_bytes, self.prober.block_bytes);
        let below = Extent::new(first, (wrap_bytes - first) / block * block);
        // A memory is filled beyond the wrap distance, or where there is too little room for that,
        // in front of the marks.
        let has_room = self.prober.span.end().saturating_sub(below.end()) >= LARGE_CACHE_BYTES;
        let front_bytes =
            if has_room { 0 } else { (below.bytes / 4).min(LARGE_CACHE_BYTES) / MIB * MIB };
        let spared = Extent::new(first + front_bytes, below.bytes - front_bytes);
        let mut places = stratified(
            Extent::new(spared.offset_bytes, spared.bytes - 2 * block),
            14,
            block,
            &mut self.random,
        );
        places.extend([below.end() - 2 * block, below.end() - block]);
        let pass = self.prober.new_data();
        self.prober.write(
            "marking",
            pass,
            block,
            places.iter().map(|place| Extent::new(*place, block)),
        )?;
        let (mut written, mut points) = (0, Vec::<(u64, bool)>::new());
        for (half, bytes) in
            [cached_bytes, cached_bytes.max(LARGE_CACHE_BYTES)].into_iter().enumerate()
        {
            self.prober.fill_cache(bytes - written, spared)?;
            written = bytes;
            // What was kept a moment ago may have been answered by a memory that the larger amount
            // fills: all of them once more.
            let chosen: Vec<u64> = places.iter().copied().step_by(2 - half).collect();
            points = self.kept(pass, &chosen)?;
            if points.iter().any(|(_, present)| !present) {
                break;
            }
        }
        points.sort_unstable();
        let (kept, lost, _) = self.split(&points, first);
        Ok(lost.map(|lost| (kept, lost, written)))
    }

    /// Reads marks of a pass; true for each that is still there.
    fn kept(&mut self, pass: u32, places: &[u64]) -> StepOutcome<Vec<(u64, bool)>> {
        let seen =
            self.prober.read("reading marks", pass, places, self.prober.block_bytes, |_| false)?;
        self.prober.keep(&seen);
        let wrap_bytes = self.prober.wrap_bytes;
        Ok(seen.iter().map(|(place, seen)| (*place, seen.is_present(*place, wrap_bytes))).collect())
    }

    /// Common divisor of all distances of folded addresses, if it is the wrap distance. If the true
    /// wrap distance is a part of it, reads at multiples of that part show distances that are not
    /// multiples of the whole. Two addresses differ by fewer wrap distances than the medium is
    /// long, so that every possible part is tried.
    fn wrap_bytes(&mut self) -> StepOutcome<Option<u64>> {
        let Some(mut wrap_bytes) = self.common_distance() else { return Ok(None) };
        let most_turns = (self.prober.span.end() / MIB).min(MAX_TURNS);
        loop {
            for divisor in prime_factors(wrap_bytes, most_turns) {
                if wrap_bytes / divisor >= MIB {
                    self.read_images(wrap_bytes / divisor, divisor)?;
                }
            }
            match self.common_distance() {
                Some(smaller) if smaller < wrap_bytes => wrap_bytes = smaller,
                _ => break,
            }
        }
        let seen = self.read_images(wrap_bytes, 1)?;
        let agreeing = seen
            .iter()
            .filter(|(place, seen)| {
                matches!(seen, BlockContent::WrongAddress { .. })
                    && seen.is_present(*place, Some(wrap_bytes))
            })
            .count();
        Ok((agreeing * TRIALS >= AGREEING * seen.len().max(1)).then_some(wrap_bytes))
    }

    fn common_distance(&self) -> Option<u64> {
        common(self.prober.folded.iter().map(|(place, by)| place.abs_diff(*by)))
    }

    /// Reads places where copies of the ramp would be if addresses folded at `wrap_bytes`: at
    /// multiples of it away from the ramp, but not at multiples of `excluded_factor` times it (1
    /// excludes nothing).
    fn read_images(
        &mut self,
        wrap_bytes: u64,
        excluded_factor: u64,
    ) -> StepOutcome<Vec<(u64, BlockContent)>> {
        let (span, block) = (self.prober.span, self.prober.block_bytes);
        let ramp_end = span.offset_bytes + self.ramp_bytes;
        let known: Vec<u64> = self
            .prober
            .folded
            .iter()
            .map(|(_, by)| by / block * block)
            .filter(|by| (span.offset_bytes..ramp_end).contains(by))
            .collect();
        let mut places = Vec::new();
        for _ in 0..TRIALS * 64 {
            if known.is_empty() || places.len() == TRIALS {
                break;
            }
            let from = known[self.random.below(known.len() as u64) as usize];
            let turns = 1 + self.random.below((span.end() / wrap_bytes).max(1));
            let place = (from + turns * wrap_bytes) / block * block;
            if place >= ramp_end
                && place + block <= span.end()
                && (excluded_factor == 1 || !turns.is_multiple_of(excluded_factor))
            {
                places.push(place);
            }
        }
        self.prober.read("looking for folded addresses", self.ramp_pass, &places, block, |_| false)
    }

    /// Finds the real size between data kept up to `kept` and lost from `lost` on, to the sector.
    fn narrow_down(&mut self, mut kept: u64, mut lost: u64, cached_bytes: u64) -> StepOutcome<u64> {
        let block = self.prober.block_bytes;
        let at_once = self.marks_at_once(cached_bytes);
        self.found.real_bytes = Some([kept, lost]);
        while lost - kept > WINDOW_BYTES.max(cached_bytes / 2) {
            let between = Extent::new(kept, lost - kept);
            let places = stratified(between, at_once, block, &mut self.random);
            let pass = self.prober.new_data();
            self.prober.write(
                "narrowing down",
                pass,
                block,
                places.iter().map(|place| Extent::new(*place, block)),
            )?;
            self.prober.fill_cache(cached_bytes, between)?;
            let points = self.kept(pass, &places)?;
            let (up_to, from, _) = self.split(&points, kept);
            (kept, lost) = (up_to, from.unwrap_or(lost));
            self.evidence.extend(points);
            self.found.real_bytes = Some([kept, lost]);
        }
        let real_bytes = self.window(kept, lost, cached_bytes)?;
        self.found.real_bytes = Some([real_bytes, real_bytes]);
        Ok(real_bytes)
    }

    /// Number of marks of a round, from 8 to 128, for which the remaining range shrinks fastest in
    /// the time of marks and cache fills.
    fn marks_at_once(&self, cached_bytes: u64) -> u64 {
        let cache_fill_ns =
            cached_bytes as f64 * self.ramp_ns as f64 / self.ramp_bytes.max(1) as f64;
        let cost =
            |marks: &u64| (*marks as f64 * self.mark_ns + cache_fill_ns) / (*marks as f64).ln();
        [8, 16, 32, 64, 128]
            .into_iter()
            .min_by(|a, b| cost(a).total_cmp(&cost(b)))
            .expect("there are five to choose from")
    }

    /// Writes a small range completely and reads it sector by sector; returns the beginning of its
    /// lost tail.
    fn window(&mut self, kept: u64, lost: u64, cached_bytes: u64) -> StepOutcome<u64> {
        let logical = self.prober.context.target.facts.logical_block_bytes.max(512);
        // The block that was lost may be there in part. Beyond the wrap distance there are the
        // first bytes of the medium again.
        let end = (lost + self.prober.block_bytes)
            .min(self.prober.wrap_bytes.unwrap_or(self.prober.span.end()));
        let range = Extent::new(kept, end.saturating_sub(kept) / logical * logical);
        if range.bytes == 0 {
            return Ok(end);
        }
        let pieces = (0..range.bytes.div_ceil(WINDOW_PIECE_BYTES)).map(|piece| {
            let at = piece * WINDOW_PIECE_BYTES;
            Extent::new(kept + at, WINDOW_PIECE_BYTES.min(range.bytes - at))
        });
        let pass = self.prober.new_data();
        self.prober.write("narrowing down", pass, WINDOW_PIECE_BYTES, pieces)?;
        self.prober.fill_cache(cached_bytes, range)?;
        let present = self.prober.sectors("narrowing down", pass, range, WINDOW_PIECE_BYTES)?;
        let (cut, _) = tail(&present);
        Ok(if cut == present.len() { end } else { kept + cut as u64 * 512 })
    }
}

/// The prime factors of a number up to a limit, each once, in their order.
fn prime_factors(mut number: u64, most: u64) -> Vec<u64> {
    let mut found = Vec::new();
    let mut divisor = 2;
    while number > 1 && divisor <= most {
        if divisor * divisor > number {
            divisor = number;
            if divisor > most {
                break;
            }
        }
        if number.is_multiple_of(divisor) {
            found.push(divisor);
            while number.is_multiple_of(divisor) {
                number /= divisor;
            }
        }
        divisor += 1;
    }
    found
}

/// Blocks at equal distances from a random place on: any range as long as the distance contains
/// one. Their order spreads any first few of them over the whole range, so that frequent copies are
/// found soon.
pub(super) fn evenly_spaced_blocks(
    range: Extent,
    stride_bytes: u64,
    block_bytes: u64,
    random: &mut Random,
) -> Vec<u64> {
    let stride = (stride_bytes / block_bytes).saturating_sub(1).max(1);
    let blocks = range.bytes / block_bytes;
    let first = random.below(stride);
    let count = blocks.saturating_sub(first).div_ceil(stride);
    let bits = u64::BITS - count.leading_zeros();
    let spread = (0..1_u64 << bits)
        .map(|at| at.reverse_bits() >> (u64::BITS - bits.max(1)))
        .filter(|at| *at < count);
    spread.map(|at| range.offset_bytes + (first + at * stride) * block_bytes).collect()
}

/// One random block in each of so many equal parts of a range, in order.
fn stratified(range: Extent, parts: u64, block_bytes: u64, random: &mut Random) -> Vec<u64> {
    let blocks = range.bytes / block_bytes;
    let bound =
        |part: u64| (u128::from(blocks) * u128::from(part) / u128::from(parts.max(1))) as u64;
    let place = |part: u64, random: &mut Random| {
        let (from, to) = (bound(part), bound(part + 1));
        (to > from).then(|| range.offset_bytes + (from + random.below(to - from)) * block_bytes)
    };
    (0..parts).filter_map(|part| place(part, random)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_its_prime_factors_up_to_a_limit() {
        assert_eq!(prime_factors(32 << 30, 65536), [2]);
        assert_eq!(prime_factors(2 * 9 * 17 * 4096, 65536), [2, 3, 17]);
        assert_eq!(prime_factors(17 * 65537, 65536), [17]);
        assert_eq!(prime_factors(17 * 101, 101), [17, 101]);
        assert_eq!([0, 1].map(|number| prime_factors(number, 9)), [[0; 0], [0; 0]]);
    }

    proptest::proptest! {
        #[test]
        fn nothing_as_long_as_the_combs_distance_is_missed(offset in 0u64..1 << 30, blocks in 1u64..1 << 20, stride in 2u64..1 << 12, at in 0.0f64..1.0, seed: u64) {
            let range = Extent::new(offset * 4096, blocks * 4096);
            let places = evenly_spaced_blocks(range, stride * 4096, 4096, &mut Random::for_purpose(seed, ""));
            assert!(places.iter().all(|place| range.contains(&Extent::new(*place, 4096))));
            assert_eq!(places.iter().collect::<std::collections::BTreeSet<_>>().len(), places.len());
            if stride < blocks {
                let from = range.offset_bytes + (at * (blocks - stride) as f64) as u64 * 4096;
                assert!(places.iter().any(|place| Extent::new(from, stride * 4096).contains(&Extent::new(*place, 4096))), "{from}");
            }
        }

        #[test]
        fn one_block_of_each_part_in_order(offset in 0u64..1 << 30, bytes in 0u64..1 << 32, parts in 0u64..300, seed: u64) {
            let range = Extent::new(offset * 512, bytes);
            let places = stratified(range, parts, 4096, &mut Random::for_purpose(seed, ""));
            assert!(places.iter().all(|place| range.contains(&Extent::new(*place, 4096))));
            assert!(places.windows(2).all(|pair| pair[0] < pair[1]));
            assert_eq!(places.len() as u64, parts.min(bytes / 4096));
        }
    }
}
