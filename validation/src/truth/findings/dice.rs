//! Chance for media: uniform where a range is narrow, uniform in the logarithm where it spans
//! decades.

use stats::Random;

/// What is drawn comes from here.
pub struct Dice(Random);

impl Dice {
    /// Those of one medium among all of a purpose.
    pub fn new(seed: u64, purpose: &str, number: u64) -> Dice {
        Dice(Random::for_purpose(
            Random::for_purpose(seed, purpose).bits().wrapping_add(number),
            purpose,
        ))
    }

    pub fn bits(&mut self) -> u64 {
        self.0.bits()
    }

    /// Uniform from `low` to `high`.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.0.unit()
    }

    /// Uniform in the logarithm.
    pub fn spread(&mut self, low: f64, high: f64) -> f64 {
        self.0.log_uniform(low, high)
    }

    /// One of a list.
    pub fn one_of<T: Copy>(&mut self, list: &[T]) -> T {
        *self.0.pick(list)
    }

    /// True in this share of all cases.
    pub fn happens(&mut self, share: f64) -> bool {
        self.0.unit() < share
    }
}
