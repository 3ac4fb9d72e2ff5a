//! `cargo validation truth --findings`: compares the conclusions about media drawn at random with
//! the truth about these media.
//!
//! The seed is new each time and printed; `--seed` repeats a table. docs/truth.md explains the
//! rows.

pub mod cache;
mod cheats;
pub mod dice;
mod fakes;
mod first_lines;
mod in_suites;
mod levels;
mod look;
mod losses;
pub mod medium;
mod row;
mod trick;
mod trouble;
mod troubled;

use std::hash::{BuildHasher, Hasher};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Result, ensure};
use look::{Drawn, cell_text, suite};
use row::{Row, Target};

use crate::section::Section;

/// Flags of the study.
#[derive(clap::Args)]
#[group(id = "of-findings")]
pub struct Flags {
    /// Compare instead the conclusions about media drawn at random with the truth.
    #[arg(long)]
    pub findings: bool,
    /// Seed of what is drawn, to draw the same again.
    #[arg(long)]
    pub seed: Option<u64>,
    /// Share of the media to draw, from 0 to 1.
    #[arg(long, requires = "findings", default_value_t = 1.0)]
    pub share: f64,
    /// Parts to run: cheats, fakes, first-lines, in-suites, losses, levels, troubled.
    #[arg(
        long,
        requires = "findings",
        value_delimiter = ',',
        default_value = "cheats,fakes,losses"
    )]
    pub parts: Vec<String>,
    /// Show the errors for each medium with a wrong result; also with --drawn.
    #[arg(long)]
    pub wrong: bool,
}

/// Results of a part.
#[derive(Default)]
pub struct Part {
    /// Rows of the table.
    rows: Vec<Row>,
    /// Wrong statements, medium by medium.
    wrong: Vec<Wrong>,
}

impl Part {
    /// Adds a row, with the wrong statement of each medium.
    fn row(&mut self, what: impl Into<String>, target: Target, wrong: Vec<Option<Wrong>>) {
        let n = wrong.len();
        let wrong: Vec<Wrong> = wrong.into_iter().flatten().collect();
        let counts_faults = matches!(target, Target::Below(_));
        let of = if counts_faults { wrong.len() } else { n - wrong.len() };
        self.rows.push(Row { what: what.into(), target, of: of as f64, n });
        self.wrong.extend(wrong);
    }
}

/// A wrong statement about a medium.
pub struct Wrong {
    what: String,
    /// Medium, and the tests behind the statement.
    drawn: Option<(Drawn, &'static [&'static str])>,
}

impl Wrong {
    /// Text with the medium and the misleading cells, for which the medium is run once more.
    fn shown(&self) -> String {
        let Some((drawn, tests)) = &self.drawn else { return self.what.clone() };
        let (pausing, host) = (&drawn.trouble.pausing, &drawn.trouble.host);
        let mut text = format!(
            "{}: seed {}, {pausing:?}, {} stalls of the host\n{}",
            self.what,
            drawn.seed,
            host.len(),
            drawn.profile
        );
        if tests.is_empty() {
            return text;
        }
        let record = drawn.run(&suite(), false);
        for finding in record.findings.iter().filter(|finding| trick::is_claim(&finding.id)) {
            let lines = finding.evidence.iter().map(|line| findings::evidence_text(line, &record));
            let lines: Vec<String> = lines.collect();
            text += &format!("finding {}: {}\n", finding.id, lines.join("; "));
        }
        for cell in record.cells.iter().filter(|cell| tests.contains(&cell.test.as_str())) {
            text += &cell_text(cell);
        }
        text
    }
}

/// Draws media, runs them, prints the table. An error if a row misses its target.
pub fn run(root: &Path, flags: &Flags, write: bool) -> Result<()> {
    ensure!(flags.share > 0.0 && flags.share <= 1.0, "--share is above 0 and at most 1");
    let seed = flags.seed.unwrap_or_else(entropy);
    let (mut rows, mut wrong) = (Vec::new(), Vec::new());
    for part in &flags.parts {
        let hold = match part.as_str() {
            "cheats" => cheats::hold,
            "fakes" => fakes::hold,
            "first-lines" => first_lines::hold,
            "in-suites" => in_suites::hold,
            "losses" => losses::hold,
            "levels" => levels::hold,
            "troubled" => troubled::hold,
            other => anyhow::bail!(
                "there is no part '{other}': cheats, fakes, first-lines, in-suites, losses, levels, troubled"
            ),
        };
        let part = hold(seed, flags.share);
        rows.extend(part.rows);
        wrong.extend(part.wrong);
    }
    let text = page(&rows, seed, flags);
    let (heading, name) = if flags.parts == ["troubled"] {
        (
            "Are they true whatever lies between?",
            "cargo validation truth --findings --parts troubled",
        )
    } else {
        ("Are the findings true?", "cargo validation truth --findings")
    };
    Section { page: super::PAGE, heading, name }.publish(root, &text, write)?;
    if flags.wrong {
        wrong.iter().for_each(|wrong| println!("{}", wrong.shown()));
    }
    let missed = rows.iter().filter(|row| !row.holds()).count();
    ensure!(missed == 0, "{missed} of {} rows do not hold", rows.len());
    Ok(())
}

/// Makes the table, and a sentence on the rows that hold.
fn page(rows: &[Row], seed: u64, flags: &Flags) -> String {
    let mut only =
        if flags.share < 1.0 { format!(" --share {}", flags.share) } else { String::new() };
    if flags.parts.len() < 2 {
        only += &format!(" --parts {}", flags.parts.join(","));
    }
    let mut text = format!(
        "`cargo validation truth --findings --seed {seed}{only}`\n\n| what | target | result | n | |\n|---|---|---|---:|---|\n"
    );
    rows.iter().for_each(|row| text.push_str(&row.line()));
    let missed: Vec<&str> =
        rows.iter().filter(|row| !row.holds()).map(|row| row.what.as_str()).collect();
    let held = rows.len() - missed.len();
    text += &match missed.as_slice() {
        [] => format!("\nAll {held} rows hold.\n"),
        missed => format!("\n{held} of {} rows hold. Missed: {}.\n", rows.len(), missed.join("; ")),
    };
    text
}

/// A random seed, for calls without one.
pub fn entropy() -> u64 {
    std::hash::RandomState::new().build_hasher().finish() >> 16
}

/// Calls `work` for each number below `n`, on all processors; returns its results in order.
pub fn each<T: Send>(n: u64, work: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let (next, done) = (AtomicU64::new(0), Mutex::new(Vec::new()));
    let one = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= n {
                break;
            }
            let result = work(number);
            done.lock().expect("no other thread panics").push((number, result));
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(one))));
    let mut done = done.into_inner().expect("no thread panicked");
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

/// This share of a number, at least one.
fn some(many: u64, share: f64) -> u64 {
    ((many as f64 * share).round() as u64).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_marks_whether_it_holds() {
        let row = |target, of: f64, n| Row { what: "x".into(), target, of, n };
        let at_least = |of| row(Target::AtLeast(95.0), of, 20);
        assert!(at_least(19.0).holds() && !at_least(18.0).holds());
        let below = |of| row(Target::Below(1.0), of, 1000);
        assert!(below(9.0).holds() && !below(10.0).holds());
        let seconds = |of| row(Target::Seconds(2.0), of, 3);
        assert!(seconds(2.0).holds() && !seconds(2.1).holds());
        assert!(!row(Target::AtLeast(0.0), 0.0, 0).holds(), "of nothing nothing is known");
        let flags = Flags {
            findings: true,
            seed: Some(7),
            share: 0.05,
            parts: vec!["cheats".into()],
            wrong: false,
        };
        insta::assert_snapshot!(page(&[below(50.0), at_least(20.0), seconds(1.6)], 7, &flags), @r"
        `cargo validation truth --findings --seed 7 --share 0.05 --parts cheats`

        | what | target | result | n | |
        |---|---|---|---:|---|
        | x | under 1 % | 5.00 % | 1000 | **missed** |
        | x | 95 % | 100.0 % | 20 | holds |
        | x | 2 s | 2 s | 3 | holds |

        2 of 3 rows hold. Missed: x.
        ");
    }

    #[test]
    fn the_right_and_the_wrong_are_counted_by_the_target() {
        let wrong = |is_wrong: bool| is_wrong.then(|| Wrong { what: "w".into(), drawn: None });
        let mut part = Part::default();
        part.row("found", Target::AtLeast(98.0), vec![wrong(false), wrong(true), wrong(false)]);
        part.row("falsely", Target::Below(1.0), vec![wrong(false), wrong(true)]);
        let counts: Vec<_> = part.rows.iter().map(|row| (row.of, row.n)).collect();
        assert_eq!((counts, part.wrong.len()), (vec![(2.0, 3), (1.0, 2)], 2));
    }

    #[test]
    fn the_same_seed_draws_the_same_media_with_profiles_that_can_be() {
        for trick in trick::TRICKS {
            let draw = |seed| trick.draw(&mut dice::Dice::new(seed, trick.name, 3)).0;
            assert_eq!(draw(1).profile(), draw(1).profile());
            assert_ne!(draw(1).profile(), draw(2).profile());
            let cache = cache::Cache::Queue { honest: false };
            let behind = draw(1).behind(cache, &mut dice::Dice::new(1, "cache", 3));
            assert!(behind.spec().cache.is_some_and(|cache| !cache.honest));
        }
    }
}
