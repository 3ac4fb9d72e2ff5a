//! Orders in which addresses are visited.

use device::Extent;

use stats::Random;

use crate::rand48::Rand48;

/// Sequential blocks from the start of `span`; `None` at its end. A rest smaller than a block is
/// left out.
pub fn sequential(span: Extent, block_bytes: u64) -> impl FnMut(u32) -> Option<Extent> {
    let mut at = span.offset_bytes;
    move |_| {
        let next = Extent::new(at, block_bytes);
        span.contains(&next).then(|| {
            at += block_bytes;
            next
        })
    }
}

/// The numbers below `count`, in an order that spreads any first few of them over all.
pub fn bit_reversed(count: u64) -> impl Iterator<Item = u64> {
    let bits = u64::BITS - count.leading_zeros();
    (0..1_u64 << bits)
        .map(move |at| at.reverse_bits() >> (u64::BITS - bits.max(1)))
        .filter(move |at| *at < count)
}

/// Sequential blocks of pieces of `span`, the pieces in bit-reversed order: wherever it ends, what
/// was visited is an even sample of the span.
pub fn spread(span: Extent, piece_bytes: u64, block_bytes: u64) -> impl Iterator<Item = Extent> {
    bit_reversed(span.bytes.div_ceil(piece_bytes)).flat_map(move |piece| {
        let at = piece * piece_bytes;
        let blocks = piece_bytes.min(span.bytes - at) / block_bytes;
        (0..blocks).map(move |block| {
            Extent::new(span.offset_bytes + at + block * block_bytes, block_bytes)
        })
    })
}

/// All of `span` from its start in pieces of at most `piece_bytes`; the last one may be shorter.
pub fn pieces(span: Extent, piece_bytes: u64) -> impl FnMut(u32) -> Option<Extent> {
    let mut at = span.offset_bytes;
    move |_| {
        let next = Extent::new(at, piece_bytes.min(span.end() - at));
        at = next.end();
        (next.bytes > 0).then_some(next)
    }
}

/// Sequential blocks, which start again at the front of the span when it ends.
pub fn cyclic(span: Extent, block_bytes: u64) -> impl FnMut(u32) -> Option<Extent> {
    cyclic_from(span, block_bytes, span.offset_bytes)
}

/// The same, beginning at this byte of the span.
pub fn cyclic_from(
    span: Extent,
    block_bytes: u64,
    first: u64,
) -> impl FnMut(u32) -> Option<Extent> {
    let mut at = first;
    move |_| {
        if at + block_bytes > span.end() {
            at = span.offset_bytes;
        }
        let next = Extent::new(at, block_bytes);
        at += block_bytes;
        span.contains(&next).then_some(next)
    }
}

/// Uniform and independent blocks, at multiples of `align_bytes`, completely inside `span`.
pub fn uniform(
    span: Extent,
    block_bytes: u64,
    align_bytes: u64,
    mut random: Random,
) -> impl FnMut(u32) -> Option<Extent> {
    let places =
        if span.bytes < block_bytes { 0 } else { (span.bytes - block_bytes) / align_bytes + 1 };
    move |_| {
        (places > 0).then(|| {
            Extent::new(span.offset_bytes + random.below(places) * align_bytes, block_bytes)
        })
    }
}

/// Blocks in the order of a list of block numbers; `None` at its end.
pub fn listed(
    span: Extent,
    block_bytes: u64,
    order: Vec<u32>,
) -> impl FnMut(u32) -> Option<Extent> {
    let mut next = order.into_iter();
    move |_| {
        next.next().map(|block| {
            Extent::new(span.offset_bytes + u64::from(block) * block_bytes, block_bytes)
        })
    }
}

/// Every block of `span` exactly once, in an order drawn from `random`; `None` after the last.
pub fn once_each(
    span: Extent,
    block_bytes: u64,
    mut random: Random,
) -> impl FnMut(u32) -> Option<Extent> {
    let order = Permutation::new(span.bytes / block_bytes, &mut random);
    let mut turn = 0;
    move |_| {
        let block = order.at(turn)?;
        turn += 1;
        Some(Extent::new(span.offset_bytes + block * block_bytes, block_bytes))
    }
}

/// The numbers below `n` in a random order, in constant memory: a Feistel network over the next
/// even number of bits permutes a little more than `n` numbers, and is applied again to those that
/// are too large until they are not (cycle walking; Black and Rogaway 2002).
#[derive(Clone, Debug)]
pub struct Permutation {
    n: u64,
    half_bits: u32,
    keys: [u64; 4],
}

impl Permutation {
    /// A random order of the numbers below `n`.
    pub fn new(n: u64, random: &mut Random) -> Permutation {
        let bits = u64::BITS - n.saturating_sub(1).leading_zeros();
        // Rounds over very few bits mix badly, so there are at least eight.
        Permutation {
            n,
            half_bits: bits.div_ceil(2).max(4),
            keys: std::array::from_fn(|_| random.bits()),
        }
    }

    /// The number at this position of the order; `None` past the last.
    pub fn at(&self, turn: u64) -> Option<u64> {
        let below = |number: &u64| *number < self.n;
        let walk = |number: &u64| Some(self.mix(*number));
        Some(turn)
            .filter(below)
            .and_then(|turn| std::iter::successors(walk(&turn), walk).find(below))
    }

    fn mix(&self, number: u64) -> u64 {
        let mask = (1 << self.half_bits) - 1;
        let start = (number >> self.half_bits, number & mask);
        let (left, right) = self.keys.iter().fold(start, |(left, right), key| {
            let mixed = (right ^ key).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (right, left ^ ((mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93) >> 32 & mask))
        });
        left << self.half_bits | right
    }
}

/// iozone's order for `-i 2`: `srand48(0)`, then for every i swap `r[i]` with `r[lrand48() % n]`;
/// each record once (docs/field/iozone.md#single-file, docs/field/iozone.md#test-vectors).
pub fn iozone_permutation(records: u32) -> Vec<u32> {
    let mut random = Rand48::new(0);
    let mut order: Vec<u32> = (0..records).collect();
    for i in 0..order.len() {
        let other = random.lrand48() % u64::from(records);
        order.swap(i, other as usize);
    }
    order
}

/// One random block of each stratum (allocation unit) per pass, strata in a new random order each
/// pass, so that consecutive writes never share an open allocation unit
/// (docs/field/statistics.md#sampling-random-writes).
pub struct Stratified {
    span: Extent,
    stratum_bytes: u64,
    block_bytes: u64,
    order: Vec<u32>,
    at: usize,
    random: Random,
}

impl Stratified {
    /// Strata of `stratum_bytes` over `span`; at least one, and none smaller than a block.
    pub fn new(span: Extent, stratum_bytes: u64, block_bytes: u64, random: Random) -> Stratified {
        let stratum_bytes = stratum_bytes.max(block_bytes);
        let strata = (span.bytes / stratum_bytes).max(1) as u32;
        Stratified {
            span,
            stratum_bytes,
            block_bytes,
            order: (0..strata).collect(),
            at: strata as usize,
            random,
        }
    }

    /// Number of strata.
    pub fn strata(&self) -> u64 {
        self.order.len() as u64
    }
}

impl Iterator for Stratified {
    type Item = Extent;

    fn next(&mut self) -> Option<Extent> {
        if self.at == self.order.len() {
            let last = self.order.last().copied();
            self.random.shuffle(&mut self.order);
            // The last of one pass must not be the first of the next: that allocation unit is still
            // open.
            if self.order.len() > 1 && self.order.first().copied() == last {
                self.order.swap(0, 1);
            }
            self.at = 0;
        }
        let stratum = u64::from(self.order[self.at]) * self.stratum_bytes;
        self.at += 1;
        let length = self.stratum_bytes.min(self.span.bytes - stratum);
        let blocks = length / self.block_bytes;
        (blocks > 0).then(|| {
            let block = self.random.below(blocks) * self.block_bytes;
            Extent::new(self.span.offset_bytes + stratum + block, self.block_bytes)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FNV-1a over whole 64-bit words (docs/field/iozone.md#test-vectors).
    fn fnv(order: &[u32]) -> u64 {
        order.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &r| {
            (hash ^ u64::from(r)).wrapping_mul(1099511628211)
        })
    }

    #[test]
    fn iozones_order_is_iozones() {
        for (records, first, last, hash) in [
            (
                131072,
                [124188, 61258, 125462, 51982, 108870, 24447, 119145, 113582, 5818, 121191],
                4178,
                0xbb1ce0c0f639e265,
            ),
            (256, [66, 177, 130, 127, 56, 233, 105, 5, 163, 175], 109, 0xd31b24c5d535de65),
            (
                16384,
                [13591, 6287, 2842, 11472, 5328, 4594, 4457, 15278, 8997, 7267],
                15362,
                0xf594ad60f183ba97,
            ),
        ] {
            let order = iozone_permutation(records);
            assert_eq!(order[..10], first);
            assert_eq!(order.last(), Some(&last));
            assert_eq!(fnv(&order), hash, "{records} records");
        }
    }

    /// The beginning of an order must be a fair sample of all places: over many seeds each eighth
    /// of the numbers comes first, and follows any other, equally often (chi-square with 63 degrees
    /// of freedom: above 103 once in a thousand).
    #[test]
    fn the_first_of_an_order_may_be_any_and_so_may_the_second() {
        let mut seen = [0.0; 64];
        for seed in 0..64_000 {
            let order = Permutation::new(131_072, &mut Random::for_purpose(seed, "fair"));
            let eighth = |turn| order.at(turn).unwrap() / 16_384;
            seen[(eighth(0) * 8 + eighth(1)) as usize] += 1.0;
        }
        let chi_square: f64 = seen.iter().map(|n: &f64| (n - 1000.0).powi(2) / 1000.0).sum();
        assert!(chi_square < 103.0, "{chi_square}: {seen:?}");
    }

    proptest::proptest! {
        #[test]
        fn every_order_stays_in_its_span(start in 0u64..1 << 40, blocks in 1u64..500, seed: u64) {
            let span = Extent::new(start * 512, blocks * 4096);
            let mut orders: Vec<Box<dyn FnMut(u32) -> Option<Extent>>> = vec![
                Box::new(sequential(span, 4096)),
                Box::new(cyclic(span, 4096)),
                Box::new(cyclic_from(span, 10240, span.offset_bytes + span.bytes / 2)),
                Box::new(pieces(span, 10240)),
                Box::new(uniform(span, 4096, 512, Random::for_purpose(seed, "uniform"))),
            ];
            let mut stratified = Stratified::new(span, 16384, 4096, Random::for_purpose(seed, "stratified"));
            orders.push(Box::new(move |_| stratified.next()));
            orders.push(Box::new(once_each(span, 4096, Random::for_purpose(seed, "once each"))));
            for order in &mut orders {
                for _ in 0..600 {
                    if let Some(io) = order(0) {
                        assert!(span.contains(&io), "{io:?} is not in {span:?}");
                    }
                }
            }
        }

        #[test]
        fn once_each_is_each_once(n in 0u64..3000, seed: u64) {
            let order = Permutation::new(n, &mut Random::for_purpose(seed, ""));
            let mut numbers: Vec<u64> = (0..n).map_while(|turn| order.at(turn)).collect();
            assert_eq!(order.at(n), None);
            numbers.sort_unstable();
            assert_eq!(numbers, (0..n).collect::<Vec<_>>());
        }

        #[test]
        fn stratified_never_visits_a_stratum_twice_in_succession(strata in 2u64..50, seed: u64) {
            let span = Extent::new(0, strata * 65536);
            let mut order = Stratified::new(span, 65536, 4096, Random::for_purpose(seed, ""));
            let visited: Vec<u64> = (0..3 * strata).map(|_| order.next().unwrap().offset_bytes / 65536).collect();
            assert!(visited.windows(2).all(|pair| pair[0] != pair[1]));
            for pass in visited.chunks(strata as usize) {
                let mut pass = pass.to_vec();
                pass.sort_unstable();
                assert_eq!(pass, (0..strata).collect::<Vec<_>>());
            }
        }
    }
}
