//! Random numbers of other programs. All others are drawn from `stats::Random`, from the seed in
//! the record.

/// The C library's `lrand48`: X' = 0x5DEECE66D X + 0xB mod 2^48, output X' >> 17
/// (docs/field/iozone.md#test-vectors).
#[derive(Clone, Debug)]
pub struct Rand48(u64);

impl Rand48 {
    /// The state that the C library's `srand48(seed)` sets.
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
}
