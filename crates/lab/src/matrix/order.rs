//! In which order combinations are tried.

use stats::Random;

/// The numbers of `chosen` in the random order of one block. Each block has its own order, drawn
/// from the seed of the run over all `count` combinations, so that leaving some out (because they
/// were done before an interruption, or are beaten) changes nothing about the others.
pub fn block(seed: u64, repeat: u32, count: usize, chosen: impl Fn(usize) -> bool) -> Vec<usize> {
    let mut all: Vec<usize> = (0..count).collect();
    Random::for_purpose(seed, &format!("matrix block {repeat}")).shuffle(&mut all);
    all.retain(|number| chosen(*number));
    all
}
