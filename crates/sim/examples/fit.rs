//! Prints the table of modelled and published figures.
#![allow(clippy::print_stdout, reason = "it prints")]

fn main() {
    print!("{}", flashmark_sim::fit_table());
}
