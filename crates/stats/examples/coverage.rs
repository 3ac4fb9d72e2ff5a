//! Prints how often the intervals of rates hold the truth (docs/methodology.md, "Coverage"):
//! `cargo run --release -p flashmark-stats --example coverage`.
#![allow(clippy::print_stdout, reason = "it prints")]

use flashmark_stats::coverage::{CoverageRow, Estimand, table};

/// Runs of each stream.
const RUNS: u32 = 1000;

fn main() {
    println!("| stream | 100 events | 1000 | 10,000 | rule |\n|---|---|---|---|---|");
    let rows: Vec<CoverageRow> =
        table(RUNS, 1).into_iter().filter(|row| row.what == Estimand::Rate).collect();
    for rows in rows.chunk_by(|a, b| a.stream == b.stream) {
        let cell = |row: &CoverageRow| {
            format!("{:.1} ({:.1})", 100.0 * row.coverage.share(), 100.0 * row.coverage.half_width)
        };
        println!(
            "| {} | {} |",
            rows[0].stream,
            rows.iter().map(cell).collect::<Vec<_>>().join(" | ")
        );
    }
}
