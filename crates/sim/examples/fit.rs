//! Prints the table of modelled and published figures that is in docs/simulated-media.md.
#![allow(clippy::print_stdout, reason = "it prints")]

fn main() {
    print!("{}", flashmark_sim::fit_table());
}
