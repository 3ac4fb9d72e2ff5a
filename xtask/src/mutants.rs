//! `cargo xtask mutants`: would a wrong constant or a turned comparison be noticed? One at a time
//! is written into a copy of the sources, and the tests of its own crate are run. One that they let
//! pass has survived.

mod places;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use stats::Random;

use crate::section;
use crate::tidy::{is_tests, listed};
use places::{Mutant, mutants_of};

/// Where the table is kept, under which heading.
const PAGE: &str = "docs/testing.md";
const HEADING: &str = "Mutants";
const NAME: &str = "cargo xtask mutants";
/// Tests that take longer than this have noticed: something goes on for ever.
const PATIENCE: &str = "300";
/// Of so many mutants of a hundred the tests are to notice.
const TARGET_PERCENT: f64 = 90.0;

/// Crates that decide something, and the files of them that do: all, or those whose path holds one
/// of these.
const DECIDING: [(&str, &[&str]); 6] = [
    ("record", &[]),
    ("stats", &[]),
    ("device", &[]),
    ("findings", &[]),
    (
        "host",
        &[
            "target",
            "uses",
            "open_files",
            "claim",
            "contents",
            "layers",
            "location",
            "mounts",
            "reinserted",
            "stage",
            "loopdev",
            "snapshot",
        ],
    ),
    (
        "suite",
        &[
            "plan.rs",
            "runner.rs",
            "planned.rs",
            "cell_context.rs",
            "undo",
            "tally.rs",
            "fingerprint",
        ],
    ),
];

/// What only tests are made of, and decides nothing: the contract of a device as a test, and the
/// streams that estimators are held against.
const INSTRUMENTS: [&str; 2] = ["/conformance.rs", "stats/src/coverage/"];

/// What to try.
#[derive(clap::Args)]
pub struct Flags {
    /// Crates, with commas between; all that decide something without it.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Only of files whose path holds one of these.
    #[arg(long, value_delimiter = ',')]
    files: Vec<String>,
    /// So many mutants of each crate, drawn at random.
    #[arg(long, default_value_t = 40)]
    sample: usize,
    /// What they are drawn with.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Says which mutants there are, and tries none.
    #[arg(long)]
    list: bool,
    /// Keeps the table in docs/testing.md.
    #[arg(long)]
    write: bool,
}

/// What came of the mutants of a crate.
struct Tried {
    name: &'static str,
    of: usize,
    killed: usize,
    survived: Vec<Mutant>,
}

impl Tried {
    fn percent(&self) -> f64 {
        100.0 * self.killed as f64 / (self.killed + self.survived.len()).max(1) as f64
    }
}

/// Draws mutants, tries them, prints the table, and fails where too many survive.
pub fn run(root: &Path, flags: &Flags) -> Result<()> {
    let wanted = DECIDING
        .iter()
        .filter(|(name, _)| flags.only.is_empty() || flags.only.iter().any(|only| only == name));
    let tree = Tree::copy(root)?;
    let mut tried = Vec::new();
    for (name, files) in wanted {
        let mut all = of_crate(root, name, files)?;
        all.retain(|mutant| {
            flags.files.is_empty() || flags.files.iter().any(|part| mutant.path.contains(part))
        });
        let mut drawn: Vec<usize> = (0..all.len()).collect();
        Random::for_purpose(flags.seed, name).shuffle(&mut drawn);
        let drawn: Vec<&Mutant> = drawn.into_iter().take(flags.sample).map(|at| &all[at]).collect();
        if flags.list {
            drawn.iter().for_each(|mutant| println!("{mutant}"));
            continue;
        }
        tried.push(try_all(&tree, name, &drawn, all.len())?);
    }
    ensure!(
        flags.list || !tried.is_empty(),
        "no such crate among {}",
        DECIDING.map(|(name, _)| name).join(", ")
    );
    let text = table(&tried, flags);
    print!("{text}");
    if flags.write {
        section::keep(&root.join(PAGE), HEADING, NAME, &text)?;
    }
    let weak: Vec<&str> =
        tried.iter().filter(|of| of.percent() < TARGET_PERCENT).map(|of| of.name).collect();
    ensure!(weak.is_empty(), "too many survive in {}", weak.join(", "));
    Ok(())
}

fn try_all(tree: &Tree, name: &'static str, drawn: &[&Mutant], of: usize) -> Result<Tried> {
    ensure!(tree.tests(name)? == Outcome::Passed, "the tests of {name} fail as they are");
    let mut tried = Tried { name, of, killed: 0, survived: Vec::new() };
    for (number, mutant) in drawn.iter().enumerate() {
        let outcome = tree.with(mutant, || tree.tests(name))?;
        eprintln!("{name} {}/{}: {outcome:?} {mutant}", number + 1, drawn.len());
        match outcome {
            Outcome::Passed => tried.survived.push((*mutant).clone()),
            Outcome::Failed => tried.killed += 1,
            Outcome::NotBuilt => {}
        }
    }
    Ok(tried)
}

/// Every mutant of a crate's sources, tests left out.
fn of_crate(root: &Path, name: &str, files: &[&str]) -> Result<Vec<Mutant>> {
    let folder = format!("crates/{name}/src/");
    let is_test = |path: &str| is_tests(path) || INSTRUMENTS.iter().any(|part| path.contains(part));
    let is_wanted = |path: &String| {
        path.starts_with(&folder)
            && path.ends_with(".rs")
            && !is_test(path)
            && (files.is_empty() || files.iter().any(|part| path.contains(part)))
    };
    let mut all = Vec::new();
    for path in listed(root)?.into_iter().filter(is_wanted) {
        let text = fs::read_to_string(root.join(&path)).with_context(|| path.clone())?;
        all.extend(mutants_of(&path, &text));
    }
    Ok(all)
}

/// A copy of the sources, with a place of its own to build in.
struct Tree {
    root: PathBuf,
    target: PathBuf,
}

/// What the tests said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Passed,
    Failed,
    NotBuilt,
}

impl Tree {
    fn copy(root: &Path) -> Result<Tree> {
        let place = root.join("target/mutants");
        let tree = Tree { root: place.join("tree"), target: place.join("target") };
        fs::create_dir_all(&tree.root)?;
        for name in listed(root)? {
            let (from, to) = (root.join(&name), tree.root.join(&name));
            // An unchanged file keeps its time, so that nothing is built again.
            if fs::read(&from).ok() != fs::read(&to).ok() && from.exists() {
                fs::create_dir_all(to.parent().context("a file of the project lies in a folder")?)?;
                fs::copy(&from, &to).with_context(|| name.clone())?;
            }
        }
        Ok(tree)
    }

    /// Does something with this mutant in place of what was there.
    fn with<T>(&self, mutant: &Mutant, act: impl FnOnce() -> Result<T>) -> Result<T> {
        let path = self.root.join(&mutant.path);
        let text = fs::read_to_string(&path)?;
        fs::write(&path, mutant.applied(&text))?;
        let done = act();
        fs::write(&path, text)?;
        done
    }

    /// Runs the tests of a crate.
    fn tests(&self, name: &str) -> Result<Outcome> {
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
        let package = format!("flashmark-{name}");
        let run = |rest: &[&str]| -> Result<Option<i32>> {
            let mut command = Command::new("timeout");
            command
                .args(["-k", "5", PATIENCE])
                .arg(&cargo)
                .args(["test", "--quiet", "--package", &package, "--lib", "--tests"])
                .args(rest);
            command
                .current_dir(&self.root)
                .env("CARGO_TARGET_DIR", &self.target)
                .env("INSTA_UPDATE", "no");
            // Proptest would note what it found in the sources.
            command
                .env("PROPTEST_FAILURE_PERSISTENCE", "off")
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            Ok(command.status().context("timeout (coreutils) is needed")?.code())
        };
        if run(&["--no-run"])? != Some(0) {
            return Ok(Outcome::NotBuilt);
        }
        Ok(if run(&[])? == Some(0) { Outcome::Passed } else { Outcome::Failed })
    }
}

fn table(tried: &[Tried], flags: &Flags) -> String {
    let mut text = format!(
        "`{NAME} --sample {} --seed {}`; target: {TARGET_PERCENT} % noticed by the tests of the crate itself. What does not compile is no mutant.\n\n\
         | crate | possible | tried | noticed | |\n|---|---:|---:|---:|---|\n",
        flags.sample, flags.seed
    );
    for of in tried {
        let percent = of.percent();
        let holds = if percent >= TARGET_PERCENT { "holds" } else { "missed" };
        text += &format!(
            "| {} | {} | {} | {percent:.1} % | {holds} |\n",
            of.name,
            of.of,
            of.killed + of.survived.len()
        );
    }
    let survived: Vec<String> =
        tried.iter().flat_map(|of| &of.survived).map(|mutant| format!("- {mutant}\n")).collect();
    if !survived.is_empty() {
        text += "\nThese survived:\n\n";
        text += &survived.concat();
    }
    text
}
