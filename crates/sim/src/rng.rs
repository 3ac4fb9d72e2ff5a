//! Seeded random numbers: the only source of randomness in a simulated medium.

use stats::Random;

/// A generator of pseudo-random numbers (xoshiro256++ by Blackman and Vigna), fast and repeatable.
#[derive(Clone, Debug)]
pub(crate) struct SimRng {
    state: [u64; 4],
}

/// Spreads a counter or a seed over all 64 bits.
pub(crate) fn mix(x: u64) -> u64 {
    Random::new(x).bits()
}

impl SimRng {
    /// The generator of this seed.
    pub(crate) fn new(seed: u64) -> SimRng {
        let words = [1, 2, 3, 4].map(|number| Random::after(seed, number).bits());
        SimRng { state: words }
    }

    /// The next 64 random bits.
    #[inline]
    pub(crate) fn bits(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// A uniform number from 0 to 1, 1 excluded.
    #[inline]
    pub(crate) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// A uniform number from 0 to `n`, `n` excluded.
    #[inline]
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(n)) >> 64) as u64
    }
}

/// Multipliers of service times: lognormal with a heavier tail and a mean of exactly 1, so that
/// jitter never changes a long-run truth.
///
/// A draw is a look-up in a table of quantiles instead of a logarithm and an exponential for every
/// I/O.
#[derive(Clone, Debug)]
pub(crate) struct Jitter {
    multipliers: Box<[f64]>,
}

const TABLE_BITS: u32 = 12;

impl Jitter {
    /// A lognormal spread of `sigma` (standard deviation of the logarithm); a share `tail_share` of
    /// the draws is 3 to `tail_factor` times as long.
    pub(crate) fn new(sigma: f64, tail_share: f64, tail_factor: f64) -> Option<Jitter> {
        if sigma == 0.0 && tail_share == 0.0 {
            return None;
        }
        let n = 1usize << TABLE_BITS;
        let tails = (tail_share * n as f64).round() as usize;
        let mut multipliers: Box<[f64]> =
            (0..n).map(|i| (sigma * normal_quantile((i as f64 + 0.5) / n as f64)).exp()).collect();
        // The tail is spread evenly over the table, so that it is independent of where the body of
        // the distribution lies.
        for k in 0..tails {
            let share = (k as f64 + 0.5) / tails as f64;
            multipliers[k * n / tails] *=
                3.0f64.min(tail_factor) + (tail_factor - 3.0).max(0.0) * share;
        }
        let mean = multipliers.iter().sum::<f64>() / n as f64;
        multipliers.iter_mut().for_each(|m| *m /= mean);
        Some(Jitter { multipliers })
    }

    /// Draws one multiplier from the table.
    #[inline]
    pub(crate) fn draw(&self, rng: &mut SimRng) -> f64 {
        self.multipliers[(rng.bits() >> (64 - TABLE_BITS)) as usize]
    }
}

/// The quantile of the standard normal distribution (rational approximation of P. Acklam, error
/// under 1.2e-9).
fn normal_quantile(p: f64) -> f64 {
    const A: [f64; 6] = [
        -39.696_830_286_653_76,
        220.946_098_424_520_5,
        -275.928_510_446_968_7,
        138.357_751_867_269,
        -30.664_798_066_147_16,
        2.506_628_277_459_239,
    ];
    const B: [f64; 5] = [
        -54.476_098_798_224_06,
        161.585_836_858_040_9,
        -155.698_979_859_886_6,
        66.801_311_887_719_72,
        -13.280_681_552_885_72,
    ];
    const C: [f64; 6] = [
        -0.007_784_894_002_430_293,
        -0.322_396_458_041_136_5,
        -2.400_758_277_161_838,
        -2.549_732_539_343_734,
        4.374_664_141_464_968,
        2.938_163_982_698_783,
    ];
    const D: [f64; 4] = [
        0.007_784_695_709_041_462,
        0.322_467_129_070_039_8,
        2.445_134_137_142_996,
        3.754_408_661_907_416,
    ];
    let polynomial =
        |coefficients: &[f64], x: f64| coefficients.iter().fold(0.0, |sum, c| sum * x + c);
    if p > 0.5 {
        return -normal_quantile(1.0 - p);
    }
    if p < 0.02425 {
        let q = (-2.0 * p.ln()).sqrt();
        return polynomial(&C, q) / (polynomial(&D, q) * q + 1.0);
    }
    let q = p - 0.5;
    let r = q * q;
    polynomial(&A, r) * q / (polynomial(&B, r) * r + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitter_keeps_the_mean_and_has_the_spread_asked_for() {
        let jitter = Jitter::new(0.1, 0.0, 1.0).unwrap();
        let logs: Vec<f64> = jitter.multipliers.iter().map(|m| m.ln()).collect();
        let mean_log = logs.iter().sum::<f64>() / logs.len() as f64;
        let sigma =
            (logs.iter().map(|l| (l - mean_log).powi(2)).sum::<f64>() / logs.len() as f64).sqrt();
        assert!((jitter.multipliers.iter().sum::<f64>() / 4096.0 - 1.0).abs() < 1e-12);
        assert!((sigma - 0.1).abs() < 1e-4, "{sigma}");
    }

    #[test]
    fn a_tail_is_as_frequent_and_as_long_as_asked_for() {
        let jitter = Jitter::new(0.05, 0.005, 10.0).unwrap();
        let long: Vec<f64> = jitter.multipliers.iter().copied().filter(|m| *m > 2.0).collect();
        assert_eq!(long.len(), 20);
        assert!(long.iter().all(|m| (2.5..12.5).contains(m)), "{long:?}");
        assert!((jitter.multipliers.iter().sum::<f64>() / 4096.0 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn normal_quantiles_are_the_textbook_ones() {
        for (p, z) in [(0.5, 0.0), (0.975, 1.959_963_985), (0.001, -3.090_232_306)] {
            assert!((normal_quantile(p) - z).abs() < 1e-6, "{p}");
        }
    }

    #[test]
    fn numbers_below_a_bound_are_uniform() {
        let mut rng = SimRng::new(7);
        let mut counts = [0u32; 10];
        (0..100_000).for_each(|_| counts[rng.below(10) as usize] += 1);
        assert!(counts.iter().all(|c| (9_500..10_500).contains(c)), "{counts:?}");
    }
}
