//! `cargo validation truth --reruns`: runs `flashmark check` again and again on a file system whose rate the
//! kernel keeps steady, on a directory of the system's disk, and on both beside a program that
//! loads processors and disk in bursts. It counts how often the 95 % interval of a run contains the
//! figure of another run of the same command; with `--changes`, how often `compare` finds slower
//! storage, of storage that was slowed down and of storage that was not.
//!
//! Runs alternate between the targets, so that other load on the machine affects all.

mod changes;
mod checks;
mod judged;
mod repetitions;
mod shares;
mod sides;
mod storage;
mod throttle;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::attached::load::Load;
use crate::attached::medium::Program;
use crate::programs::interrupts;
use checks::{check, in_words};
use storage::{Places, scratch};

/// Page with the tables.
const PAGE: &str = "docs/truth.md";

/// Flags of the study.
#[derive(clap::Args)]
#[group(id = "of-reruns")]
pub struct Flags {
    /// Repeat `check` on real storage instead, and count how often a run's intervals contain the
    /// figures of the other runs. Needs root.
    #[arg(long, conflicts_with_all = ["profiles", "findings", "drawn"])]
    pub reruns: bool,
    /// Number of runs of each target. Without it, 20, or 6 with --changes.
    #[arg(long, requires = "reruns")]
    runs: Option<usize>,
    /// Targets to check. Without it, all.
    #[arg(long, requires = "reruns", value_delimiter = ',', value_name = "TARGET,..", conflicts_with = "changes",
        value_parser = clap::builder::PossibleValuesParser::new(TARGETS.map(|target| target.name)))]
    only: Vec<String>,
    /// Count instead how often `compare --before --after` reports a slowdown, of storage whose rate
    /// was lowered and of storage whose rate was not.
    #[arg(long, requires = "reruns")]
    changes: bool,
    /// Program to measure with. Without it, one is built.
    #[arg(long, requires = "reruns", value_name = "PATH")]
    program: Option<PathBuf>,
    /// Directory of the runs: existing ones are counted, missing ones are made and kept there.
    #[arg(long, requires = "reruns", value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Time limit of each check, for example 15s. Without it, the default of `check`.
    #[arg(long, requires = "reruns", value_name = "DURATION")]
    budget: Option<String>,
}

impl Flags {
    fn runs(&self) -> usize {
        self.runs.unwrap_or(if self.changes { 6 } else { 20 })
    }

    /// Arguments that make the same measurement.
    fn words(&self) -> String {
        let budget = self.budget.as_ref().map(|budget| format!(" --budget {budget}"));
        format!("--runs {}{}", self.runs(), budget.unwrap_or_default())
    }
}

/// Storage that is checked again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Target {
    name: &'static str,
    /// Percent by which the caps on the rate of the throttled file system are lowered; `None` for a
    /// directory on the disk of the checkout.
    lowered: Option<u64>,
    /// True during a load in bursts.
    is_busy: bool,
}

const LOOP: Target = Target { name: "loop", lowered: Some(0), is_busy: false };
const DIRECTORY: Target = Target { name: "directory", lowered: None, is_busy: false };
const TARGETS: [Target; 4] = [
    LOOP,
    DIRECTORY,
    Target { name: "loop-busy", is_busy: true, ..LOOP },
    Target { name: "directory-busy", is_busy: true, ..DIRECTORY },
];

/// Makes the missing runs and prints the table; `seed` draws the three runs for each side of
/// `--changes`. An error if a goal is missed, unless the table is written.
pub fn run(root: &Path, flags: &Flags, seed: u64, write: bool) -> Result<()> {
    let own = scratch(root)?;
    let directory = flags.keep.as_deref().unwrap_or(own.path());
    fs::create_dir_all(directory)?;
    let program = Program::given(root, flags.program.as_deref())?;
    let is_wanted = |target: &Target| {
        flags.only.is_empty() || flags.only.iter().any(|name| name == target.name)
    };
    let targets: Vec<Target> = match flags.changes {
        true => changes::LEVELS.to_vec(),
        false => TARGETS.into_iter().filter(is_wanted).collect(),
    };
    measure(root, &program, flags, directory, &targets)?;
    let (section, text, missed) = if flags.changes {
        changes::counted(&program, (flags, seed), directory)?
    } else {
        repetitions::counted(flags, directory, &targets)?
    };
    section.publish(root, &text, write)?;
    ensure!(write || missed == 0, "{missed} goals are missed");
    Ok(())
}

/// Path of the record of a run, numbered from 0.
fn record_of(directory: &Path, target: Target, number: usize) -> PathBuf {
    directory.join(format!("{}-{number}.json", target.name))
}

/// Makes the missing records, one of each target after the other. Each turn begins with another
/// target, so that none always follows the same one.
fn measure(
    root: &Path,
    program: &Program,
    flags: &Flags,
    directory: &Path,
    targets: &[Target],
) -> Result<()> {
    let turn = |number: usize| {
        (0..targets.len()).map(move |at| (targets[(at + number) % targets.len()], number))
    };
    let missing: Vec<(Target, usize)> = (0..flags.runs())
        .flat_map(turn)
        .filter(|(target, number)| !record_of(directory, *target, *number).exists())
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let interrupted = interrupts()?;
    let mut places = Places::new(root);
    let beside = scratch(root)?;
    for (target, number) in missing {
        let (storage, command) = places.of(target, program)?;
        let load = target.is_busy.then(|| Load::begin(beside.path(), number as u64)).transpose()?;
        let home = scratch(root)?;
        let kept = check(command, &storage, home.path(), flags.budget.as_deref(), &interrupted)?;
        drop(load);
        let record = record_of(directory, target, number);
        fs::copy(&kept, &record).with_context(|| format!("writing {}", record.display()))?;
        eprintln!("{} run {}: {}", target.name, number + 1, in_words(&record)?);
    }
    Ok(())
}

/// Sentence that all goals are met, or a list of those that are missed.
fn goals_missed(missed: &[String]) -> String {
    match missed {
        [] => "None is missed.".to_owned(),
        missed => format!("Missed:\n\n- {}", missed.join("\n- ")),
    }
}

#[cfg(test)]
impl Flags {
    /// Flags without any choice.
    fn of(runs: usize, budget: Option<&str>) -> Flags {
        Flags {
            reruns: true,
            runs: Some(runs),
            only: Vec::new(),
            changes: false,
            program: None,
            keep: None,
            budget: budget.map(str::to_owned),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_study_goes_on_where_it_was_kept() -> Result<()> {
        let (manifest, keep) = (Path::new(env!("CARGO_MANIFEST_DIR")), tempfile::tempdir()?);
        for number in 0..2 {
            let record = checks::recorded(record::Summary {
                sequential_read_bps: Some(10.0),
                sequential_read_bps_low: Some(9.0),
                sequential_read_bps_high: Some(12.0),
                ..record::Summary::default()
            });
            fs::write(record_of(keep.path(), LOOP, number), record.to_json())?;
        }
        // Nothing is missing, so that a program that cannot run is enough.
        let program = Program::given(manifest, Some(&manifest.join("Cargo.toml")))?;
        let flags = Flags::of(2, None);
        measure(manifest, &program, &flags, keep.path(), &[LOOP])?;
        let (_, table, _) = repetitions::counted(&flags, keep.path(), &[LOOP])?;
        assert!(table.contains("\n| loop | 2 | 100 (14.4, 0.0) | - | - | - |\n"), "{table}");
        assert!(repetitions::counted(&flags, keep.path(), &[DIRECTORY]).is_err());
        Ok(())
    }
}
