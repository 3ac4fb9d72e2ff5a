//! Tests of the crate with random input.

mod benches;
mod cut_short;
mod drawn_runs;
mod drawn_tallies;
mod plans;

use stats::Random;

fn one_in(random: &mut Random, many: u64) -> bool {
    random.below(many) == 0
}
