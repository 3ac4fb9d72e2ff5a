//! Repeatable randomness: the seed is printed, and may be given.

use std::io::{self, Write as _};

use stats::Random;

/// Number of repetitions of a test: `FLASHMARK_<name>`, or `default`.
pub fn times(name: &str, default: u64) -> u64 {
    std::env::var(format!("FLASHMARK_{name}"))
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

/// Seed that is the same in every test run, or `FLASHMARK_SITE_SEED`. It is printed on standard
/// error, past the capture of test output, so that a failure can be repeated.
pub fn seed(what: &str) -> u64 {
    let seed = times("SITE_SEED", 1);
    io::stderr().write_all(format!("{what}: FLASHMARK_SITE_SEED={seed}\n").as_bytes()).unwrap();
    seed
}

/// Random numbers from [`seed`].
pub fn random(what: &str) -> Random {
    Random::new(seed(what))
}
