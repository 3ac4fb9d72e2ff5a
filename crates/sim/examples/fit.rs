//! Prints the table of modelled against published numbers, as docs/simulated-media.md has it.
#![allow(clippy::print_stdout, reason = "it prints")]

fn main() {
    print!("{}", flashmark_sim::fit_table());
}
