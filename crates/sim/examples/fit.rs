//! Prints the table of modelled against published numbers, as docs/simulated-media.md has it.
#![allow(clippy::disallowed_macros, reason = "it prints")]

fn main() {
    print!("{}", flashmark_sim::fit_table());
}
