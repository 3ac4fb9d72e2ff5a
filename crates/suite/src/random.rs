//! Seeded random numbers: every choice a run makes comes from the seed in its record.

/// SplitMix64 (Steele, Lea, Flood 2014): small, fast, and any 64-bit number is a good seed.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator of its own for `purpose`, so that adding a random choice in one place changes no other.
    pub fn new(seed: u64, purpose: &str) -> Random {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for byte in purpose.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        Random(seed ^ hash)
    }

    /// Any 64-bit number.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in `0..bound` (multiply-shift; the bias is below 2^-32 for bounds below 2^32). `bound` must not be 0.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Puts a list in random order (Fisher-Yates).
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for i in (1..list.len()).rev() {
            list.swap(i, self.below(i as u64 + 1) as usize);
        }
    }
}

/// The C library's `lrand48`: X' = 0x5DEECE66D X + 0xB mod 2^48, output X' >> 17 (flash.md I1).
#[derive(Clone, Debug)]
pub struct Rand48(u64);

impl Rand48 {
    /// `srand48(seed)`.
    pub fn new(seed: u32) -> Rand48 {
        Rand48(u64::from(seed) << 16 | 0x330e)
    }

    fn step(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(0x5_deec_e66d).wrapping_add(0xb) & ((1 << 48) - 1);
        self.0
    }

    /// `lrand48()`: uniform in 0..2^31.
    pub fn lrand48(&mut self) -> u64 {
        self.step() >> 17
    }

    /// `drand48()`: uniform in [0, 1).
    pub fn drand48(&mut self) -> f64 {
        self.step() as f64 / (1u64 << 48) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lrand48_is_the_c_librarys() {
        let mut random = Rand48::new(0);
        assert_eq!(
            [random.lrand48(), random.lrand48(), random.lrand48(), random.lrand48()],
            [366850414, 1610402240, 206956554, 1869309841]
        );
    }

    #[test]
    fn each_purpose_has_its_own_numbers() {
        assert_ne!(Random::new(1, "a").bits(), Random::new(1, "b").bits());
        assert_eq!(Random::new(1, "a").bits(), Random::new(1, "a").bits());
    }
}
