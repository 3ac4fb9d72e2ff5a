//! `cargo validation truth --reruns`: runs `flashmark check` again and again on an emulated card (a
//! file system on an attached simulated medium), on a directory of the system's disk, and on both
//! beside four busy loops. It counts how often the 95 % interval
//! of a run contains the figure of another run of the same command.
//!
//! Runs alternate between the targets, so that other load on the machine affects all.

mod agreement;
mod load;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use tempfile::TempDir;

use crate::attached_medium::{Medium, Program};
use crate::mounted::Mounted;
use crate::programs::{go_on, interrupts, output_if};
use crate::section::Section;
use agreement::{Series, in_words, read, table};
use load::Load;

const TABLE: Section<'static> = Section {
    page: super::PAGE,
    heading: "Repetitions on real machines",
    name: "cargo validation truth --reruns",
};

/// Profile of the emulated card.
const CARD: &str = "a1";

/// Flags of the study.
#[derive(clap::Args)]
#[group(id = "of-reruns")]
pub struct Flags {
    /// Repeat `check` on real storage instead, and count how often a run's intervals contain the
    /// figures of the other runs. Needs root.
    #[arg(long, conflicts_with_all = ["profiles", "findings"])]
    pub reruns: bool,
    /// Number of runs of each target.
    #[arg(long, requires = "reruns", default_value_t = 20)]
    runs: usize,
    /// Targets to check. Without it, all.
    #[arg(long, requires = "reruns", value_delimiter = ',', value_name = "TARGET,..",
        value_parser = clap::builder::PossibleValuesParser::new(TARGETS.map(|target| target.name)))]
    only: Vec<String>,
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

/// Storage that is checked again and again.
#[derive(Clone, Copy)]
struct Target {
    name: &'static str,
    /// True for the emulated card; else a directory on the disk of the checkout.
    is_card: bool,
    /// True beside busy loops.
    is_busy: bool,
}

const TARGETS: [Target; 4] = [
    Target { name: "card", is_card: true, is_busy: false },
    Target { name: "directory", is_card: false, is_busy: false },
    Target { name: "card-busy", is_card: true, is_busy: true },
    Target { name: "directory-busy", is_card: false, is_busy: true },
];

/// Makes the missing runs and prints the table. An error if a goal is missed, unless the table is
/// written.
pub fn run(root: &Path, flags: &Flags, write: bool) -> Result<()> {
    let own = scratch(root)?;
    let directory = flags.keep.as_deref().unwrap_or(own.path());
    fs::create_dir_all(directory)?;
    let program = Program::given(root, flags.program.as_deref())?;
    let is_wanted = |target: &Target| {
        flags.only.is_empty() || flags.only.iter().any(|name| name == target.name)
    };
    let targets: Vec<Target> = TARGETS.into_iter().filter(is_wanted).collect();
    measure(root, &program, flags, directory, &targets)?;
    let series = targets
        .iter()
        .map(|target| kept(directory, *target, flags.runs))
        .collect::<Result<Vec<_>>>()?;
    let budget = flags.budget.iter().map(|budget| format!(" --budget {budget}"));
    let command = format!("{} --runs {}{}", TABLE.name, flags.runs, budget.collect::<String>());
    TABLE.publish(root, &table(&command, CARD, &series), write)?;
    let missed = series.iter().flat_map(Series::missed).count();
    ensure!(write || missed == 0, "{missed} goals are missed");
    Ok(())
}

/// Path of the record of a run, numbered from 0.
fn record_of(directory: &Path, target: Target, number: usize) -> PathBuf {
    directory.join(format!("{}-{number}.json", target.name))
}

/// Figures of the runs of a target that were kept.
fn kept(directory: &Path, target: Target, runs: usize) -> Result<Series> {
    let runs = (0..runs).map(|number| read(&record_of(directory, target, number)));
    let is_steady = target.is_card && !target.is_busy;
    Ok(Series { name: target.name, is_steady, runs: runs.collect::<Result<_>>()? })
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
    let missing: Vec<(Target, usize)> = (0..flags.runs)
        .flat_map(turn)
        .filter(|(target, number)| !record_of(directory, *target, *number).exists())
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let interrupted = interrupts()?;
    let (mut card, on_disk) = (None, scratch(root)?);
    for (target, number) in missing {
        if target.is_card && card.is_none() {
            let medium = Medium::attach(program, CARD)?;
            let mounted = Mounted::make(root, "ext4", Path::new(&medium.node))?;
            // Dropped in this order: it must be unmounted first.
            card = Some((mounted.before_everything_ordinary()?, medium));
        }
        let storage = match &card {
            Some((mounted, _)) if target.is_card => mounted.point(),
            _ => on_disk.path(),
        };
        let load = target.is_busy.then(Load::begin);
        let home = scratch(root)?;
        let budget = flags.budget.as_deref();
        let made = check(program, storage, home.path(), budget, &interrupted)?;
        drop(load);
        let record = record_of(directory, target, number);
        fs::copy(&made, &record).with_context(|| format!("writing {}", record.display()))?;
        eprintln!("{} run {}: {}", target.name, number + 1, in_words(read(&record)?));
    }
    Ok(())
}

/// Checks a directory, with results in `home`; returns the path of the record. An error if the
/// check fails or is interrupted, but not if the medium is not suitable.
fn check(
    program: &Program,
    directory: &Path,
    home: &Path,
    budget: Option<&str>,
    interrupted: &AtomicBool,
) -> Result<PathBuf> {
    // A session of its own, as that of a person's terminal: what else works there competes.
    let mut check = Command::new("setsid");
    check.args(["--wait", program.word(), "check", "--again", "--json", "--quiet"]);
    check.arg(directory);
    check.args(budget.map(|budget| format!("--budget={budget}")));
    check.env("FLASHMARK_HOME", home).stdin(Stdio::null());
    let printed = output_if(&mut check, |code| code == 1);
    go_on(interrupted)?;
    let printed: Value = serde_json::from_str(&printed?).context("reading what check printed")?;
    let run = printed["run"].as_str().context("check printed no name of its run")?;
    Ok(home.join(run).join("record.json"))
}

/// A directory below `root`/target; removed when dropped.
fn scratch(root: &Path) -> Result<TempDir> {
    let parent = root.join("target");
    fs::create_dir_all(&parent)?;
    tempfile::Builder::new()
        .prefix("flashmark-study-")
        .tempdir_in(&parent)
        .with_context(|| format!("no directory can be made in {}", parent.display()))
}
