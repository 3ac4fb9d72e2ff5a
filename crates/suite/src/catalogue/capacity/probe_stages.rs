//! The stages of the probe.
//!
//! 1. **Mark** (`marks.rs`). Single blocks are written at random places of the upper part, in
//!    groups; each group has a place near the end.
//! 2. **Fill the cache** (`ramp.rs`). From the front a *ramp* is written sequentially, longer and
//!    longer; where nothing is to be restored another one at the far end, as a memory may take only
//!    what has no flash. Each time they have doubled, one group is read, the oldest first, and no
//!    group twice. Where there is no flash, the marks vanish as soon as no memory of the controller
//!    answers for them: that is the size of the cache.
//! 3. **Fold** (`folding.rs`). Once the ramp is long enough, the addresses above it are read at
//!    random distances of at most the length of the ramp. On a medium that takes addresses modulo a
//!    distance, some of them return blocks of the ramp, each of which contains its own address: the
//!    greatest common divisor of the differences is the wrap distance. If nothing folds, lost marks
//!    are a lost tail or damage (`lost_tail.rs`), or what was written when the flash was full
//!    (`filling.rs`).
//! 4. **Narrow down** (`real_size.rs`). Between the last place that keeps data and the first that
//!    does not, blocks are marked, the cache is filled, the blocks are read, until 16 MiB are left.
//!    These are written whole and read sector by sector.

mod filling;
mod folding;
mod lost_tail;
mod marks;
mod ramp;
mod real_size;

use device::Extent;
use record::CapacityKind;
use record::units::{MIB, SECOND_NS};

use self::ramp::BEYOND_BYTES;
use super::block_content::BlockContent;
use super::prober::{Halt, Prober, StepOutcome};
use stats::Random;

/// Bytes that are written in about the time of one read. With a ramp of `l` bytes on a medium of
/// `c` bytes, the search for folded addresses takes the time of writing `l` bytes and of `2 c / l`
/// reads, which is shortest if `l` is the root of `2 c` times this.
const READ_WORTH_BYTES: u64 = 10_000;
/// Length in bytes of the shortest ramp with which folded addresses are sought.
const SHORTEST_FOLDING_BYTES: u64 = 16 * MIB;
/// Bytes that fill an unknown cache, at first and at last.
const COMMON_CACHE_BYTES: u64 = 64 * MIB + BEYOND_BYTES;
const LARGE_CACHE_BYTES: u64 = 256 * MIB;
/// Most bytes at the end that have marks only, where there is a ramp before them.
const NEAR_END_BYTES: u64 = 16 * MIB;
/// Number of places with errors after which no more are sought: each error may take seconds.
const ENOUGH_UNUSABLE: usize = 64;
/// Longest cell in nanoseconds that only has to tell a fake from a good medium; it uses half of its
/// time at most for the exact size of a fake.
const SHORT_NS: u64 = 60 * SECOND_NS;
/// Additional time in nanoseconds of a short cell after the first wrong data.
const SUSPECT_NS: u64 = 40 * SECOND_NS;

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
    /// Bytes written after the marks and before they were read for the last time: everywhere, and
    /// at the far end.
    pub filled_cache_bytes: u64,
    /// See `filled_cache_bytes`.
    pub far_bytes: u64,
    /// Bytes of marks and ramps that were written, and that were read back.
    pub written_bytes: u64,
    /// See `written_bytes`.
    pub read_bytes: u64,
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
    /// Place of the ramp at the far end; empty if there is none.
    far: Extent,
    /// Bytes of it that were written.
    far_bytes: u64,
    /// Lengths of both ramps at which marks are read.
    steps: Vec<u64>,
    /// Reads of the last search for folded addresses, and those that found data of another address.
    combed: [u64; 2],
    /// Bytes by which the real size may be larger than what was found.
    uncertain_bytes: u64,
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
        let ramps = if prober.is_keeping() { 1 } else { 2 };
        let longest_ramp_bytes = cache_bytes.min(span.bytes / 2 / ramps) / MIB * MIB;
        // Beyond it there are marks.
        let far_end = (span.end() - NEAR_END_BYTES.min(span.bytes / 16)) / MIB * MIB;
        let far_most_bytes = if ramps == 2 { longest_ramp_bytes } else { 0 };
        let far = Extent::new(far_end - far_most_bytes, far_most_bytes);
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
            far,
            far_bytes: 0,
            steps: Vec::new(),
            combed: [0; 2],
            uncertain_bytes: 0,
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
        if let (Some(kind), Some([low, high])) = (self.found.kind, self.found.real_bytes)
            && kind.is_fake()
        {
            let most = self.announced_bytes();
            self.found.real_bytes = Some([low, (high + self.uncertain_bytes).min(most)]);
        }
        ended
    }

    fn stages(&mut self) -> StepOutcome {
        let mut steps = self.steps();
        let mut groups = self.places(steps.len() as u64);
        self.mark(&mut steps, &mut groups)?;
        self.steps = steps;
        let trouble = match self.grow(&groups)? {
            None => {
                self.catch_up()?;
                self.recheck(&groups)?
            }
            trouble => trouble,
        };
        if trouble.is_some() && self.is_short() {
            // No honest medium is delayed by it.
            self.prober.context.allotted_ns += SUSPECT_NS;
        }
        match trouble {
            None => self.conclude_unharmed(),
            Some(ProbeTrouble::Folded) => self.measure_wraparound(),
            Some(ProbeTrouble::Vanished(step)) => self.explain_lost_marks(step, &groups),
        }
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

    fn is_short(&self) -> bool {
        self.prober.context.allotted_ns <= SHORT_NS
    }

    /// Number of ramps.
    fn ramps(&self) -> u64 {
        if self.far.bytes == 0 { 1 } else { 2 }
    }

    /// True if the ramp at the far end is written after the other one, and not step by step with it.
    fn far_is_last(&self) -> bool {
        self.planned_ns <= SHORT_NS
    }

    /// Shortens the rest of a short cell: it is a fake, and only its size is left to measure.
    fn hurry(&mut self) {
        if self.is_short() {
            self.prober.hurry(self.prober.context.allotted_ns - self.planned_ns / 2);
        }
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
}
