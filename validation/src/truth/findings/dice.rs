//! Random numbers for media: uniform in narrow ranges, uniform in the logarithm over decades.

use stats::Random;

/// Source of random choices.
pub struct Dice(Random);

impl Dice {
    /// Source for one medium among all of a purpose.
    pub fn new(seed: u64, purpose: &str, number: u64) -> Dice {
        Dice(Random::for_purpose(
            Random::for_purpose(seed, purpose).bits().wrapping_add(number),
            purpose,
        ))
    }

    pub fn bits(&mut self) -> u64 {
        self.0.bits()
    }

    /// Number from `low` to `high`, uniform.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.0.unit()
    }

    /// Number from `low` to `high`, uniform in the logarithm.
    pub fn spread(&mut self, low: f64, high: f64) -> f64 {
        self.0.log_uniform(low, high)
    }

    /// Element of a list.
    pub fn one_of<T: Copy>(&mut self, list: &[T]) -> T {
        *self.0.pick(list)
    }

    /// True in this share of all cases.
    pub fn happens(&mut self, share: f64) -> bool {
        self.0.unit() < share
    }
}
