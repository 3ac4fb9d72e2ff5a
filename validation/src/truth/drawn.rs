//! `cargo validation truth --drawn MEDIA`: counts how often intervals contain the truth on media
//! drawn at random, and how often bounds are on their side of it.
//!
//! Cards, better cards, sticks and disks over the ranges of docs/field/ftl.md#translation-layers,
//! each with one of five kinds of volatile cache or none. No code under test knows the kind that
//! combines writes.

use std::path::Path;

use anyhow::Result;
use sim::Profile;

use super::findings::cache::Cache;
use super::findings::dice::Dice;
use super::findings::medium::{Medium, parsed};
use super::findings::{each, entropy};
use super::held::{Effort, Held, Share, hold_runs};
use super::{Flags, marked, percent, runs};
use crate::section::Section;

/// Number of runs of each medium.
const RUNS: u64 = 4;
/// Chance of the truth is at most a third of a run's, which lowers a coverage of 95 % by one
/// percent.
const EFFORT: Effort = Effort { times: 9, bounds: (20_000, 400_000) };
const SUITES: [&str; 2] = ["quick", "standard"];
/// Tests whose truth can be computed, and the one during which the medium rests before single
/// sectors.
const TESTS: [&str; 7] = [
    "prime",
    "sequential-write",
    "sequential-read",
    "random-read",
    "random-write",
    "record-ops",
    "sector-write",
];

fn draw(seed: u64, number: u64) -> (Cache, Profile, String) {
    let mut dice = Dice::new(seed, "coverage", number);
    let cache = Cache::ALL[(number % Cache::ALL.len() as u64) as usize];
    let medium = match number / Cache::ALL.len() as u64 % 10 {
        0 => Medium::disk(&mut dice),
        kind if kind % 2 == 1 => Medium::hybrid(&mut dice),
        _ => Medium::mapped(&mut dice),
    };
    let text = medium.behind(cache, &mut dice).profile();
    (cache, parsed(&text), text)
}

/// A medium, and the results of each suite on it.
struct Drawn {
    cache: Cache,
    held: [Held; SUITES.len()],
    /// Profile as TOML, to be printed with wrong figures.
    text: String,
}

impl Drawn {
    fn hold(seed: u64, number: u64) -> Drawn {
        let (cache, profile, text) = draw(seed, number);
        let run =
            |suite, run| runs::of(&profile, suite, seed.wrapping_add(RUNS * number + run), &TESTS);
        let held = SUITES.map(|suite| {
            hold_runs(&profile, &(0..RUNS).map(|of| run(suite, of)).collect::<Vec<_>>(), EFFORT)
        });
        Drawn { cache, held, text }
    }

    /// Wrong figures, below the profile; empty if there are none.
    fn wrong(&self) -> String {
        let of = |(suite, held): (&str, &Held)| {
            held.cells
                .iter()
                .flat_map(|cell| &cell.wrong)
                .map(|line| format!("  {suite} {line}\n"))
                .collect::<String>()
        };
        let lines: String = SUITES.into_iter().zip(&self.held).map(of).collect();
        if lines.is_empty() {
            lines
        } else {
            format!("\n{}\n{}{lines}", self.cache.name(), self.text)
        }
    }
}

/// Draws media, runs the suites, prints the table.
pub fn run(root: &Path, media: u64, flags: &Flags) -> Result<()> {
    let seed = flags.findings.seed.unwrap_or_else(entropy);
    let all = each(media, |number| Drawn::hold(seed, number));
    let text = format!("`cargo validation truth --drawn {media} --seed {seed}`\n\n{}", table(&all));
    let (heading, name) = ("Media drawn at random", "cargo validation truth --drawn");
    Section { page: super::PAGE, heading, name }.publish(root, &text, flags.write)?;
    if flags.cells {
        for drawn in &all {
            println!(
                "{}\n{}{}",
                drawn.cache.name(),
                drawn.text,
                drawn.held.iter().map(super::cells).collect::<String>()
            );
        }
    }
    if flags.findings.wrong {
        all.iter().for_each(|drawn| print!("{}", drawn.wrong()));
    }
    Ok(())
}

/// Makes a line for each cache and suite, and their sums.
fn table(all: &[Drawn]) -> String {
    let mut text = "| cache | suite | IOPS | bytes/s | p50 | p99 | bounds on their side |\n|---|---|---:|---:|---:|---:|---:|\n".to_owned();
    let mut total = Held::default();
    for cache in Cache::ALL {
        for (at, suite) in SUITES.iter().enumerate() {
            let mut sum = Held::default();
            for drawn in all.iter().filter(|drawn| drawn.cache == cache) {
                sum.add(&drawn.held[at]);
                total.add(&drawn.held[at]);
            }
            text += &line(cache.name(), suite, &sum);
        }
    }
    text += &line("**all**", "", &total);
    let Share { of, all } = total.counts.constant;
    text += &format!(
        "\nFigures in which chance has no part, right to three digits: {of} of {all}. Cells during which a cache filled up, not counted: {}.\n",
        total.mixed
    );
    text
}

fn line(cache: &str, suite: &str, sum: &Held) -> String {
    let shares = sum
        .counts
        .coverage
        .map(|coverage| format!("{} ({})", marked(coverage), coverage.runs))
        .join(" | ");
    format!(
        "| {cache} | {suite} | {shares} | {} of {} |\n",
        percent(sum.counts.bounds),
        sum.counts.bounds.all
    )
}
