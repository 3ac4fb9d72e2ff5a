//! Prints the long-run figures of every profile: the tour of simulated media.
#![allow(clippy::print_stdout, reason = "it prints")]

use flashmark_sim::{Profile, truth};
use record::units::{BytesPerSecond, significant};

fn main() {
    println!(
        "{:18} {:>8} {:>8} {:>8} {:>10} {:>10}",
        "profile", "RW 4K", "RW 16K", "RR 4K", "write", "read"
    );
    for profile in Profile::all() {
        let headline = truth::headline(profile, 1);
        let [small, large, read] = [
            headline.random_write_4k_iops,
            headline.random_write_16k_iops,
            headline.random_read_4k_iops,
        ]
        .map(significant);
        let [write_rate, read_rate] =
            [headline.write_bps, headline.read_bps].map(|bps| BytesPerSecond(bps).to_string());
        println!(
            "{:18} {small:>8} {large:>8} {read:>8} {write_rate:>10} {read_rate:>10}",
            profile.name()
        );
    }
}
