//! Order in which combinations are tried.

use stats::Random;

/// Numbers of `chosen` in the random order of one block. Each block has its own order, drawn from
/// the seed of the run over all `count` combinations. So leaving some out (because they were done
/// before an interruption, or are beaten) does not change the order of the others.
pub fn block(seed: u64, repeat: u32, count: usize, chosen: impl Fn(usize) -> bool) -> Vec<usize> {
    let mut all: Vec<usize> = (0..count).collect();
    Random::for_purpose(seed, &format!("matrix block {repeat}")).shuffle(&mut all);
    all.retain(|number| chosen(*number));
    all
}
