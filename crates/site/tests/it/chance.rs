//! Chance that can be repeated: the seed is said, and may be given.

use std::io::{self, Write as _};

use stats::Random;

/// How often a repeated test repeats: few times in passing, as often as `FLASHMARK_<name>` says in
/// the full form.
pub fn times(name: &str, default: u64) -> u64 {
    std::env::var(format!("FLASHMARK_{name}"))
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

/// A seed that is the same in every run of the tests, or `FLASHMARK_SITE_SEED`; it is printed on
/// standard error, past whatever captures the output of tests: a failure can be had again.
pub fn seed(what: &str) -> u64 {
    let seed = times("SITE_SEED", 1);
    io::stderr().write_all(format!("{what}: FLASHMARK_SITE_SEED={seed}\n").as_bytes()).unwrap();
    seed
}

/// Random numbers from [`seed`].
pub fn random(what: &str) -> Random {
    Random::new(seed(what))
}
