//! `cargo validation liars`: error that liars cause in a figure of a collection. The study draws
//! honest senders and liars, and compares the figure with and without the liars.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Result, ensure};
use collection::consensus::{Consensus, Vote};
use record::collection::HeadlineFigure;
use stats::Random;

use crate::section::Section;

const FIGURE: HeadlineFigure = HeadlineFigure::RandomWrite4k;
/// Shares of liars among all senders, in percent.
const SHARES: [usize; 8] = [1, 5, 10, 20, 25, 29, 40, 50];
/// Number of senders of a medium.
const SENDERS: usize = 100;
/// Spread of the honest figures, as a standard deviation of the logarithm.
const SPREAD: f64 = 0.1;
/// True figure of the medium, in IOPS.
const TRUTH: f64 = 1500.0;
/// Largest error of the figure, as a share, if less than three in ten lie.
const LIMIT: f64 = 0.1;
const TABLE: Section<'static> = Section {
    page: "docs/liars.md",
    heading: "How far lies move a figure",
    name: "cargo validation liars",
};

/// Flags of the study.
#[derive(clap::Args)]
pub struct Flags {
    /// Number of collections that are drawn for each share and each way to lie.
    #[arg(long, default_value_t = 500)]
    pub draws: u64,
    /// Seed of all random choices.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Write the table to docs/liars.md.
    #[arg(long)]
    pub write: bool,
}

/// A way to lie: the figure that a liar sends.
struct Lie {
    name: &'static str,
    value: fn(&mut Random) -> f64,
}

const LIES: [Lie; 5] = [
    Lie { name: "1000 times as fast", value: |_| TRUTH * 1000.0 },
    Lie { name: "500 times as slow", value: |_| TRUTH / 500.0 },
    Lie { name: "a little faster, still believed", value: |_| TRUTH * 1.4 },
    Lie { name: "a little slower, still believed", value: |_| TRUTH / 1.4 },
    Lie { name: "anything", value: |random| random.log_uniform(1.0, 1e6) },
];

/// Draws, prints the table, and fails if a figure moved too far with less than three liars in ten.
pub fn run(root: &Path, flags: &Flags) -> Result<()> {
    let mut table = String::from("| liars | ");
    let heads: Vec<&str> = LIES.iter().map(|lie| lie.name).collect();
    writeln!(table, "{} | one liar, as many runs and boards |", heads.join(" | "))?;
    writeln!(table, "|---|{}", "---|".repeat(LIES.len() + 1))?;
    let mut too_far = Vec::new();
    for share in SHARES {
        let mut cells = Vec::new();
        for lie in &LIES {
            let vote =
                |random: &mut Random, at| vote(format!("liar {at}"), (lie.value)(random), at);
            let worst = worst_of(flags, share, lie.name, |random| moved(random, share, vote));
            if share < 30 && worst > LIMIT {
                too_far.push(format!("{share} %, {}: {:.1} %", lie.name, worst * 100.0));
            }
            cells.push(format!("{:.1} %", worst * 100.0));
        }
        // One sender sends as many runs, each from a board of its own.
        let vote = |_: &mut Random, at| vote("liar".to_owned(), TRUTH * 1.4, at);
        let alone = worst_of(flags, share, "one", |random| moved(random, share, vote));
        cells.push(format!("{:.1} %", alone * 100.0));
        writeln!(table, "| {share} % | {} |", cells.join(" | "))?;
    }
    let text = format!(
        "`cargo validation liars --draws {} --seed {}`: the farthest that a figure moved, of {} collections each; {SENDERS} senders, honest ones spread by {:.0} %.\n\n{table}",
        flags.draws,
        flags.seed,
        flags.draws,
        SPREAD * 100.0
    );
    TABLE.publish(root, &text, flags.write)?;
    ensure!(
        too_far.is_empty(),
        "moved by more than {:.0} %: {}",
        LIMIT * 100.0,
        too_far.join("; ")
    );
    Ok(())
}

fn worst_of(flags: &Flags, share: usize, way: &str, moved: impl Fn(&mut Random) -> f64) -> f64 {
    let drawn = (0..flags.draws).map(|draw| {
        let purpose = format!("{share} {way} {draw}");
        moved(&mut Random::for_purpose(flags.seed, &purpose))
    });
    drawn.fold(0.0, f64::max)
}

/// Error of the figure, as a share of the figure of the honest senders alone, if this share of the
/// votes are lies.
fn moved(random: &mut Random, share: usize, lie: impl Fn(&mut Random, usize) -> Vote) -> f64 {
    let lies = SENDERS * share / 100;
    let mut votes = honest(random, SENDERS - lies);
    let before = figure(&votes);
    votes.extend((0..lies).map(|at| lie(random, at)));
    (figure(&votes) / before - 1.0).abs()
}

fn honest(random: &mut Random, count: usize) -> Vec<Vote> {
    let draw = |at| vote(format!("honest {at}"), TRUTH * (SPREAD * random.normal()).exp(), at);
    (0..count).map(draw).collect()
}

fn vote(sender: String, value: f64, board: usize) -> Vote {
    Vote {
        sender: Some(sender),
        host: Some(format!("board {board}")),
        figures: [(FIGURE, value)].into(),
        ..Vote::default()
    }
}

fn figure(votes: &[Vote]) -> f64 {
    Consensus::of(votes).figures.get(&FIGURE).map_or(f64::NAN, |spread| spread.median)
}
