//! `cargo validation truth --findings`: compares the conclusions about media drawn at random with
//! the truth about these media.
//!
//! The seed is new each time and printed; `--seed` repeats a table. docs/truth.md explains the
//! rows.

pub mod cache;
mod cheats;
pub mod dice;
mod fakes;
mod look;
pub mod medium;
mod row;
#[cfg(test)]
mod tests;
mod trick;
mod trouble;
mod troubled;

use std::fmt::Write as _;
use std::hash::{BuildHasher, Hasher};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Result, ensure};
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
    /// Parts to run: cheats, fakes, troubled.
    #[arg(long, requires = "findings", value_delimiter = ',', default_value = "cheats,fakes")]
    pub parts: Vec<String>,
    /// Show the errors for each medium with a wrong result; also with --drawn.
    #[arg(long)]
    pub wrong: bool,
}

/// Results of a part.
#[derive(Default)]
pub struct Part {
    /// Rows of the table.
    pub rows: Vec<Row>,
    /// Wrong statements, medium by medium.
    pub wrong: Vec<Wrong>,
}

impl Part {
    /// Adds a row, with the wrong statement of each medium.
    fn row(&mut self, what: impl Into<String>, target: Target, wrong: Vec<Option<Wrong>>) {
        let counts_faults = !matches!(target, Target::AtLeast(_));
        self.rows.push(Row::share(
            what,
            target,
            wrong.iter().map(|wrong| wrong.is_some() == counts_faults),
        ));
        self.wrong.extend(wrong.into_iter().flatten());
    }
}

/// A wrong statement about a medium.
pub struct Wrong {
    what: String,
    /// Medium, seed, and the tests behind the statement.
    medium: Option<(medium::Medium, u64, &'static [&'static str])>,
}

impl Wrong {
    /// Makes one with all that is known, without a medium to run again.
    pub fn without_medium(what: String) -> Wrong {
        Wrong { what, medium: None }
    }

    /// Makes one about this medium, from these tests.
    pub fn of(
        what: String,
        medium: &medium::Medium,
        seed: u64,
        tests: &'static [&'static str],
    ) -> Wrong {
        Wrong { what, medium: Some((medium.clone(), seed, tests)) }
    }

    /// Text with the medium and the misleading cells, for which the medium is run once more.
    fn shown(&self) -> String {
        let Some((medium, seed, tests)) = &self.medium else { return self.what.clone() };
        let record = look::look(medium, &look::suite(), *seed);
        let mut text = format!("{}:\n{}", self.what, medium.profile());
        for finding in record.findings.iter().filter(|finding| trick::is_claim(&finding.id)) {
            text += &format!("finding {}: {}\n", finding.id, finding.evidence.join("; "));
        }
        for cell in record.cells.iter().filter(|cell| tests.contains(&cell.test.as_str())) {
            text += &look::cell_text(cell);
        }
        text
    }
}

/// Draws media, runs them, prints the table. An error if a row misses its target.
pub fn run(root: &Path, flags: &Flags, write: bool) -> Result<()> {
    ensure!(flags.share > 0.0 && flags.share <= 1.0, "--share is above 0 and at most 1");
    let seed = flags.seed.unwrap_or_else(entropy);
    let mut rows = Vec::new();
    let mut wrong = Vec::new();
    for part in &flags.parts {
        let part = match part.as_str() {
            "cheats" => cheats::hold(seed, flags.share),
            "fakes" => fakes::hold(seed, flags.share),
            "troubled" => troubled::hold(seed, flags.share),
            other => anyhow::bail!("there is no part '{other}': cheats, fakes, troubled"),
        };
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
    match missed.as_slice() {
        [] => writeln!(text, "\nAll {} rows hold.", rows.len()),
        missed => writeln!(
            text,
            "\n{} of {} rows hold. Missed: {}.",
            rows.len() - missed.len(),
            rows.len(),
            missed.join("; ")
        ),
    }
    .ok();
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
