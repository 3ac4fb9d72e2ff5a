//! Folded addresses: the search for copies of the ramp, the wrap distance, and the real size below
//! it.

use device::Extent;
use record::CapacityKind;
use record::units::MIB;

use super::lost_tail::SHORTEST_TAIL_BYTES;
use super::real_size::WINDOW_BYTES;
use super::{COMMON_CACHE_BYTES, ENOUGH_UNUSABLE, LARGE_CACHE_BYTES, ProbeStages};
use crate::catalogue::capacity::block_content::{BlockContent, common};
use crate::catalogue::capacity::places::{evenly_spaced_blocks, stratified};
use crate::catalogue::capacity::prober::StepOutcome;

const MAX_FOLDING_READS: u64 = 16384;
/// Number of addresses with data of others that is enough to compute a wrap distance.
const ENOUGH_FOLDED: usize = 24;
/// Number of places at which a wrap distance is tested, and the number of them that must agree.
const TRIALS: usize = 8;
const AGREEING: usize = 6;
/// Blocks of the ramp beside one that was seen elsewhere, one of which is sought there too.
const NEIGHBOURS: u64 = 64;
/// Most multiples that are distinguished: no fake announces a million times its real size.
const MAX_TURNS: u64 = 1 << 20;
/// Share of the cell's time for each search for folded addresses: one part in this many; and the
/// reads between two looks at the clock.
const FOLDING_SHARE: u64 = 4;
const COMB_READS_AT_ONCE: usize = 256;

impl ProbeStages<'_, '_, '_> {
    /// Searches for copies of the ramp above it. The last `cached_bytes` of it may not be on flash
    /// yet.
    pub(super) fn seek_folding(&mut self, cached_bytes: u64) -> StepOutcome {
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
        self.combed = [0; 2];
        for part in places.chunks(COMB_READS_AT_ONCE) {
            let seen = self.prober.read(
                "looking for folded addresses",
                self.ramp_pass,
                part,
                block,
                enough,
            )?;
            let folded = |(_, seen): &&(u64, BlockContent)| {
                matches!(seen, BlockContent::WrongAddress { .. })
            };
            self.combed[0] += seen.len() as u64;
            self.combed[1] += seen.iter().filter(folded).count() as u64;
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

    /// Notes that addresses fold: the real size is at most the common divisor of all distances.
    pub(super) fn note_wraparound(&mut self) {
        self.found.kind = Some(CapacityKind::Wraparound);
        self.found.real_bytes = self.common_distance().map(|most_bytes| [0, most_bytes]);
    }

    /// Measures the wrap distance of folding addresses, and the real size below it.
    pub(super) fn measure_wraparound(&mut self) -> StepOutcome {
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
        let Some(wrap_bytes) = wrap_bytes else {
            self.found.real_bytes = self.hashed_bytes();
            return Ok(());
        };
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

    /// Real size of a medium whose addresses fold at no fixed distance, as if each had any place:
    /// the ramp has the same share of the flash as of what was read above it.
    fn hashed_bytes(&self) -> Option<[u64; 2]> {
        let [reads, folded] = self.combed.map(|count| count as f64);
        let size = |folded: f64| (self.ramp_bytes as f64 * reads / folded) as u64;
        let spread = 3.0 * folded.sqrt() + 3.0;
        let least = size(folded + spread).min(self.announced_bytes());
        let most = if folded > spread { size(folded - spread) } else { u64::MAX };
        (folded > 0.0).then_some([least, most.min(self.announced_bytes())])
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
            // Beside it: a place that gave a distance agrees with it whatever it is.
            let beside = block * (1 + self.random.below(NEIGHBOURS));
            let from = known[self.random.below(known.len() as u64) as usize];
            let from = if from + beside < ramp_end {
                from + beside
            } else {
                from.saturating_sub(beside).max(span.offset_bytes)
            };
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
}
