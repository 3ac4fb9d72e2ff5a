//! `cargo xtask mutants`: would a wrong constant or a turned comparison be noticed? One at a time
//! is written into a copy of the sources, and the tests of its own crate are run. One that they let
//! pass has survived.

mod known;
mod places;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result, bail, ensure};
use stats::Random;

use crate::section;
use crate::tidy::{is_tests, listed};
use places::{Mutant, mutants_of};

/// Where it is kept what came of them, under which heading.
const PAGE: &str = "docs/testing.md";
const HEADING: &str = "Mutants";
const NAME: &str = "cargo xtask mutants";
/// Tests that take longer than this have noticed: something goes on for ever.
const PATIENCE: &str = "120";
/// Crates that are built without optimization: that takes longer than their tests do.
const PLAIN: [&str; 3] = ["findings", "host", "suite"];
/// Of so many mutants of a hundred the tests are to notice.
const TARGET_PERCENT: f64 = 90.0;

/// A crate that decides something.
struct Deciding {
    name: &'static str,
    /// The files of it that do: all, or those whose path holds one of these.
    files: &'static [&'static str],
    /// Tests that take most of the time: they are run on what the others let pass.
    slow: &'static [&'static str],
    /// Tests that take minutes and are not run: what only they would notice has survived.
    left_out: &'static [&'static str],
}

const DECIDING: [Deciding; 6] = [
    Deciding { name: "record", files: &[], slow: &[], left_out: &[] },
    Deciding { name: "stats", files: &[], slow: &["coverage"], left_out: &[] },
    Deciding { name: "device", files: &[], slow: &[], left_out: &[] },
    Deciding { name: "findings", files: &[], slow: &["on_media", "drawn_records"], left_out: &[] },
    Deciding {
        name: "host",
        files: &[
            "target",
            "in_use",
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
        slow: &["stage", "partition", "members_of_arrays"],
        left_out: &[],
    },
    Deciding {
        name: "suite",
        files: &[
            "plan.rs",
            "runner.rs",
            "planned.rs",
            "cell_context.rs",
            "undo",
            "tally.rs",
            "fingerprint",
        ],
        slow: &[],
        left_out: &[
            "catalogue",
            "takes",
            "full_ends",
            "published",
            "every_suite",
            "benchmark_that_is_known",
            "overwhelm",
        ],
    },
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
    /// So many at a time, each in a copy of the sources of its own.
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Says which mutants there are, and tries none.
    #[arg(long)]
    list: bool,
    /// Keeps what came of each crate in docs/testing.md.
    #[arg(long)]
    write: bool,
}

/// What came of the mutants of a crate.
struct Tried {
    name: &'static str,
    of: usize,
    killed: usize,
    survived: Vec<Mutant>,
    /// Those that survived because they do what the source does.
    same: Vec<Mutant>,
}

impl Tried {
    fn percent(&self) -> f64 {
        100.0 * self.killed as f64 / (self.killed + self.survived.len()).max(1) as f64
    }
}

/// Draws mutants, tries them, prints what came of it, and fails where too many survive.
pub fn run(root: &Path, flags: &Flags) -> Result<()> {
    let wanted = DECIDING
        .iter()
        .filter(|of| flags.only.is_empty() || flags.only.iter().any(|only| only == of.name));
    let trees: Vec<Tree> =
        (0..flags.jobs.max(1)).map(|number| Tree::copy(root, number)).collect::<Result<_>>()?;
    let mut tried = Vec::new();
    for deciding in wanted {
        let mut all = of_crate(root, deciding)?;
        all.retain(|mutant| {
            flags.files.is_empty() || flags.files.iter().any(|part| mutant.path.contains(part))
        });
        let of = all.len();
        Random::for_purpose(flags.seed, deciding.name).shuffle(&mut all);
        all.truncate(flags.sample);
        if flags.list {
            all.iter().for_each(|mutant| println!("{mutant}"));
            continue;
        }
        tried.push(try_all(&trees, deciding, &all, of)?);
    }
    ensure!(
        flags.list || !tried.is_empty(),
        "no such crate among {}",
        DECIDING.map(|of| of.name).join(", ")
    );
    for of in &tried {
        let text = account(of, flags);
        print!("{text}");
        if flags.write {
            let mark = format!("{NAME} {}", of.name);
            section::keep(&root.join(PAGE), HEADING, &mark, &text)?;
        }
    }
    let weak: Vec<&str> =
        tried.iter().filter(|of| of.percent() < TARGET_PERCENT).map(|of| of.name).collect();
    ensure!(weak.is_empty(), "too many survive in {}", weak.join(", "));
    Ok(())
}

fn try_all(trees: &[Tree], deciding: &Deciding, drawn: &[Mutant], of: usize) -> Result<Tried> {
    let name = deciding.name;
    ensure!(trees[0].tests(deciding)? == Outcome::Passed, "the tests of {name} fail as they are");
    let next = AtomicUsize::new(0);
    let outcomes: Mutex<Vec<(usize, Outcome)>> = Mutex::default();
    let try_some = |tree: &Tree| -> Result<()> {
        while let Some((at, mutant)) = {
            let at = next.fetch_add(1, Ordering::Relaxed);
            drawn.get(at).map(|mutant| (at, mutant))
        } {
            let outcome = tree.with(mutant, || tree.tests(deciding))?;
            eprintln!("{name} {}/{}: {outcome:?} {mutant}", at + 1, drawn.len());
            lock(&outcomes).push((at, outcome));
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let at_work: Vec<_> =
            trees.iter().map(|tree| scope.spawn(move || try_some(tree))).collect();
        at_work.into_iter().try_for_each(|one| one.join().expect("a job does not panic"))
    })?;
    let mut outcomes = std::mem::take(&mut *lock(&outcomes));
    outcomes.sort_unstable_by_key(|(at, _)| *at);
    let of_kind = |kind| outcomes.iter().filter(move |(_, outcome)| *outcome == kind);
    let (same, survived) = of_kind(Outcome::Passed)
        .map(|(at, _)| drawn[*at].clone())
        .partition(|mutant| known::known(mutant).is_some_and(|known| known.same));
    Ok(Tried { name, of, killed: of_kind(Outcome::Failed).count(), survived, same })
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Every mutant of a crate's sources, tests left out.
fn of_crate(root: &Path, deciding: &Deciding) -> Result<Vec<Mutant>> {
    let files = deciding.files;
    let folder = format!("crates/{}/src/", deciding.name);
    let is_test = |path: &str| is_tests(path) || INSTRUMENTS.iter().any(|part| path.contains(part));
    let is_wanted = |path: &String| {
        path.starts_with(&folder)
            && path.ends_with(".rs")
            && !is_test(path)
            && (files.is_empty() || files.iter().any(|part| path.contains(part)))
    };
    let paths: Vec<String> = listed(root)?.into_iter().filter(is_wanted).collect();
    if let Some(gone) = files.iter().find(|part| !paths.iter().any(|path| path.contains(**part))) {
        bail!("{folder} has no file {gone} any more");
    }
    let mut all = Vec::new();
    for path in paths {
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
    fn copy(root: &Path, number: usize) -> Result<Tree> {
        let place = root.join(format!("target/mutants/{number}"));
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

    /// Runs the tests of a crate: those within it, those beside it, and the slow ones.
    fn tests(&self, deciding: &Deciding) -> Result<Outcome> {
        let name = deciding.name;
        if !self.cargo(name, &["--lib", "--no-run"])? {
            return Ok(Outcome::NotBuilt);
        }
        let skipping = |tests: &[&'static str]| -> Vec<&str> {
            tests.iter().flat_map(|test| ["--skip", *test]).collect()
        };
        let quick = [&["--"], &skipping(&[deciding.slow, deciding.left_out].concat())[..]].concat();
        let slow = [&["--"], deciding.slow, &skipping(deciding.left_out)].concat();
        let has_tests_beside = self.root.join("crates").join(name).join("tests").is_dir();
        let has_passed = self.cargo(name, &[&["--lib"], &quick[..]].concat())?
            && (!has_tests_beside || self.cargo(name, &[&["--test", "*"], &quick[..]].concat())?)
            && (deciding.slow.is_empty()
                || self.cargo(name, &[&["--lib", "--tests"], &slow[..]].concat())?);
        Ok(if has_passed { Outcome::Passed } else { Outcome::Failed })
    }

    /// `cargo test` of a crate with these flags: whether it ended well.
    fn cargo(&self, name: &str, flags: &[&str]) -> Result<bool> {
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
        let package = format!("flashmark-{name}");
        let level = if PLAIN.contains(&name) { 0 } else { 2 };
        let plain = format!("profile.dev.package.{package}.opt-level={level}");
        let status = Command::new("timeout")
            .args(["-k", "5", PATIENCE])
            .arg(&cargo)
            .args(["test", "--quiet", "--config", &plain])
            .args(["--package", &package])
            .args(flags)
            .current_dir(&self.root)
            .env("CARGO_TARGET_DIR", &self.target)
            .env("INSTA_UPDATE", "no")
            // Proptest would note what it found in the sources.
            .env("PROPTEST_FAILURE_PERSISTENCE", "off")
            // What holds for anything drawn says little of a limit, and takes most of the time.
            .env("PROPTEST_CASES", "16")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .context("timeout (coreutils) is needed")?;
        Ok(status.success())
    }
}

/// What came of a crate, in words, and its survivors with the reasons.
fn account(tried: &Tried, flags: &Flags) -> String {
    let percent = tried.percent();
    let holds = if percent >= TARGET_PERCENT { "holds" } else { "**missed**" };
    let all = tried.killed + tried.survived.len();
    let only = if flags.files.is_empty() {
        String::new()
    } else {
        format!(" --files {}", flags.files.join(","))
    };
    let mut text = format!(
        "**{}**: {} of {all} noticed, {percent:.1} % ({holds}); {} are possible. \\\n\
         `{NAME} --only {}{only} --sample {} --seed {}`\n",
        tried.name, tried.killed, tried.of, tried.name, flags.sample, flags.seed
    );
    for (title, mutants) in
        [("Survived", &tried.survived), ("Not counted: they do the same", &tried.same)]
    {
        if !mutants.is_empty() {
            text += &format!("\n{title}:\n\n");
            text.extend(mutants.iter().map(line_of));
        }
    }
    text
}

fn line_of(mutant: &Mutant) -> String {
    let why = known::known(mutant).map_or_else(String::new, |known| format!("\n  ({})", known.why));
    format!("- {mutant}{why}\n")
}
