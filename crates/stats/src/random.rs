/// A small seeded source of random numbers (SplitMix64; Steele, Lea & Flood 2014): equal seeds give
/// equal numbers on every machine and in every version, so whatever was drawn can be drawn again.
/// Any 64-bit number is a good seed.
#[derive(Debug, Clone)]
pub struct Random {
    state: u64,
}

/// Golden ratio times 2^64, made odd: from one state to the next.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl Random {
    /// The generator of this seed.
    pub fn new(seed: u64) -> Self {
        Random { state: seed }
    }

    /// A generator of its own for `purpose`, so that adding a random choice in one place changes no
    /// other.
    pub fn for_purpose(seed: u64, purpose: &str) -> Self {
        let fnv_1a = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        Random { state: seed ^ purpose.bytes().fold(0xcbf2_9ce4_8422_2325, fnv_1a) }
    }

    /// The generator as it is when `drawn` numbers have been drawn from that of this seed.
    pub fn after(seed: u64, drawn: u64) -> Self {
        Random { state: seed.wrapping_add(drawn.wrapping_mul(STEP)) }
    }

    /// The next 64 random bits of the stream.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in [0, 1).
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in `0..bound` (multiply-shift; the bias of at most bound / 2^64 is beyond notice).
    /// `bound` must not be 0.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// A number between `low` and `high`, both positive, uniform in its logarithm.
    pub fn log_uniform(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.unit())
    }

    /// One of these, all equally likely. `all` must not be empty.
    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len() as u64) as usize]
    }

    /// Puts a list in random order (Fisher-Yates).
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for i in (1..list.len()).rev() {
            list.swap(i, self.below(i as u64 + 1) as usize);
        }
    }

    /// Standard normal (Box-Muller; the second number of the pair is not kept).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (2.0 * std::f64::consts::PI * self.unit()).cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_reference_code() {
        // splitmix64.c of Vigna (prng.di.unimi.it), seed 1234567.
        let mut random = Random::new(1_234_567);
        let expected = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
        ];
        assert_eq!([(); 4].map(|()| random.bits()), expected);
        assert_eq!(Random::after(1_234_567, 2).bits(), expected[2]);
    }

    #[test]
    fn each_purpose_has_its_own_numbers() {
        assert_ne!(Random::for_purpose(1, "a").bits(), Random::for_purpose(1, "b").bits());
        assert_eq!(Random::for_purpose(1, "a").bits(), Random::for_purpose(1, "a").bits());
    }

    #[test]
    fn everything_drawn_is_within_its_bounds_and_comes_up() {
        let mut random = Random::new(5);
        let mut list: Vec<u64> = (0..5).collect();
        let mut seen = [[0; 5]; 2];
        for _ in 0..200 {
            let unit = random.unit();
            assert!((0.0..1.0).contains(&unit), "{unit}");
            seen[0][random.below(5) as usize] += 1;
            seen[1][*random.pick(&list) as usize] += 1;
            random.shuffle(&mut list);
        }
        assert!(seen.iter().flatten().all(|times| (15..70).contains(times)), "{seen:?}");
        list.sort_unstable();
        assert_eq!(list, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn each_power_of_ten_comes_up_alike() {
        let mut random = Random::new(5);
        let mut seen = [0; 4];
        for _ in 0..4_000 {
            let value = random.log_uniform(1e-2, 1e2);
            assert!((1e-2..1e2).contains(&value), "{value}");
            seen[(value.log10() + 2.0) as usize] += 1;
        }
        assert!(seen.iter().all(|times| (900..1_100).contains(times)), "{seen:?}");
    }
}
