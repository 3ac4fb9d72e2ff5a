//! Every way in which a file or a medium can be in use is refused, and the message names the
//! holder; idle targets are accepted.
//!
//! A case arranges one way of being in use: a program of `held.txt`, or more. Cases that the kernel of this machine cannot arrange
//! are counted and printed with the reason. In a virtual machine made for these tests
//! (`FLASHMARK_VM=1`) the modules are loaded first, and a case that still cannot be arranged is a
//! fault unless `FLASHMARK_WITHOUT` names it. `FLASHMARK_CASES` names the only cases to try.

mod files;
mod holding;
mod idle;
mod media;
mod stacks;

use std::any::Any;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::support::{Flashmark, Ran, Scratch, has_root, sum};
use holding::Holder;

/// Commands that write to a target, each tried on every fourth case; on all of them where
/// `FLASHMARK_ALL_COMMANDS` is set.
const COMMANDS: [&str; 4] = ["run", "check", "matrix", "replay"];
/// A trace of one write, as fio's iolog.
const TRACE: &str =
    "fio version 2 iolog\n/dev/sda add\n/dev/sda open\n/dev/sda write 0 4096\n/dev/sda close\n";
/// Cases tried at a time: each waits a second for a use that may end by itself.
const AT_A_TIME: usize = 8;

/// One way of being in use, or of being idle, and how it is arranged.
type Case = (&'static str, fn() -> Arranged);

/// The arranged target, or the reason why it cannot be arranged here.
type Arranged = Result<Stage, String>;

type Arrange = Box<dyn Fn() -> Arranged + Sync>;

/// A case that is a program: the kind of its target, what it does, and words of the refusal.
struct Program {
    on_medium: bool,
    code: &'static str,
    words: &'static str,
}

/// Every case of a group: the programs of `held.txt`, and others.
fn cases(group: &str, others: &[Case]) -> Vec<(&'static str, Arrange)> {
    let mut parts = include_str!("held.txt").split("\n## ");
    let lines = parts.find_map(|part| part.strip_prefix(group)).unwrap_or_default().trim().lines();
    let programs = lines.map(|line| {
        let (name, rest) = line.split_once(" | ").unwrap();
        let (code, words) = rest.split_once(" | ").unwrap_or((rest, ""));
        let code = match code {
            "MAPPED" => files::MAPPED,
            "FIRST_THREAD_ENDED" => files::FIRST_THREAD_ENDED,
            code => code,
        };
        let program = Program { on_medium: group.contains("media"), code, words };
        let arrange = move || program.holding();
        (name, Box::new(arrange) as Arrange)
    });
    let others = others.iter().map(|(name, arrange)| (*name, Box::new(*arrange) as Arrange));
    programs.chain(others).collect()
}

impl Program {
    fn holding(&self) -> Arranged {
        let stage = if self.on_medium { media::attached_medium()? } else { Stage::file() };
        let holder = Holder::python(Path::new(&stage.target), self.code)?;
        if self.words.is_empty() {
            return Ok(stage.keeps(holder));
        }
        let target = stage.target.trim_start_matches("/dev/").to_owned();
        let words = self.words.split(" .. ").chain(["python3", &target]);
        let stage = words.fold(stage, |stage, words| stage.refused_with(words));
        Ok(stage.refused_with(holder.name()).keeps(holder))
    }
}

/// What must not change of the image.
#[derive(Clone, Copy)]
enum Compared {
    Content,
    /// The first page: the kernel writes to the rest.
    FirstPage,
    /// Its times: whoever opened it would break the lease on it, and wait 45 s for that.
    Times,
}

/// A target and its holders.
struct Stage {
    scratch: Scratch,
    /// Name of the target, and its name for `--erase`; without one it is only read.
    target: String,
    erase: Option<String>,
    /// Image that must not change.
    image: Option<PathBuf>,
    compared: Compared,
    /// Words that the refusal must contain.
    reasons: Vec<String>,
    /// Holders of the target; the last one added is released first.
    keep: Vec<Box<dyn Any>>,
}

impl Stage {
    fn new(scratch: Scratch, target: impl AsRef<Path>) -> Stage {
        let target = target.as_ref().to_str().unwrap().to_owned();
        Stage {
            scratch,
            erase: Some(target.clone()),
            target,
            image: None,
            compared: Compared::Content,
            reasons: Vec::new(),
            keep: Vec::new(),
        }
    }

    /// A file in a scratch directory that is the target and must not change.
    fn file() -> Stage {
        let scratch = Scratch::new();
        let image = scratch.image("image", 24 << 20);
        Stage::new(scratch, &image).unchanged(&image)
    }

    fn unchanged(mut self, image: &Path) -> Stage {
        self.image = Some(image.to_owned());
        self
    }

    fn comparing(mut self, compared: Compared) -> Stage {
        self.compared = compared;
        self
    }

    /// The part of the image that must not change, or its digest.
    fn kept(&self) -> Option<String> {
        let image = self.image.as_deref()?;
        Some(match self.compared {
            Compared::Content => format!("{:?}", sum(image)),
            Compared::FirstPage => {
                let mut page = [0; 4096];
                File::open(image).and_then(|mut file| file.read_exact(&mut page)).unwrap();
                format!("{page:?}")
            }
            Compared::Times => {
                let facts = image.metadata().unwrap();
                format!("{:?} {}.{}", facts.modified(), facts.ctime(), facts.ctime_nsec())
            }
        })
    }

    fn erased_as(mut self, name: &str) -> Stage {
        self.erase = Some(name.to_owned());
        self
    }

    fn only_read(mut self) -> Stage {
        self.erase = None;
        self
    }

    fn refused_with(mut self, words: impl Into<String>) -> Stage {
        self.reasons.push(words.into());
        self
    }

    fn keeps(mut self, thing: impl Any) -> Stage {
        self.keep.push(Box::new(thing));
        self
    }

    /// Output and number of runs when this command is to write to the target.
    fn measured(&self, command: &str) -> (Ran, usize) {
        let flashmark = Flashmark::new();
        let trace = self.scratch.file("trace", TRACE);
        let words = match command {
            "check" => vec!["check", &self.target, "--budget", "5s", "--quiet"],
            "matrix" => vec!["matrix", &self.target, "--fs", "ext2", "--work", "logger"],
            "replay" => vec!["replay", trace.to_str().unwrap(), &self.target],
            _ => vec!["run", &self.target, "--suite", "quick", "--quiet", "--time-limit", "2s"],
        };
        let erase = self.erase.iter().flat_map(|name| ["--erase", name]);
        let ran = flashmark.run(&words.into_iter().chain(erase).collect::<Vec<_>>());
        (ran, flashmark.runs().len())
    }

    /// Fault in the refusal of the target, if there is one.
    fn fault_in_refusal(&self, command: &str) -> Option<String> {
        let before = self.kept();
        let (ran, runs) = self.measured(command);
        let missing = self.reasons.iter().find(|words| !ran.err.contains(words.as_str()));
        if self.kept() != before {
            return Some(format!("{command}: it was WRITTEN TO: {ran}"));
        }
        match missing {
            _ if ran.code != Some(3) || runs > 0 => {
                Some(format!("{command}: it is not refused: {ran}"))
            }
            Some(words) => Some(format!("{command}: the refusal does not say '{words}': {ran}")),
            None => None,
        }
    }

    /// Fault in accepting the target for reading, if there is one.
    fn fault_in_taking(&self, _: &str) -> Option<String> {
        let flashmark = Flashmark::new();
        let words = format!(
            "run {} --suite quick --quiet --only sequential-read --time-limit 1s",
            self.target
        );
        let ran = flashmark.run(&words);
        (ran.code != Some(0)).then(|| format!("{ran}"))
    }
}

impl Stage {
    /// What another run that was to hold the target said, if it has ended by itself.
    fn ended_by_itself(&mut self) -> Option<String> {
        self.keep.iter_mut().find_map(|thing| thing.downcast_mut::<files::Run>()?.ended())
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        while self.keep.pop().is_some() {}
    }
}

/// Faults of a case with these commands. A case whose holder ended by itself is arranged anew: the
/// target was free then.
fn faults_of(
    name: &str,
    arrange: &dyn Fn() -> Arranged,
    commands: &[&str],
    fault: fn(&Stage, &str) -> Option<String>,
) -> Result<Vec<String>, String> {
    let mut ended = String::new();
    for _ in 0..3 {
        let mut stage = arrange()?;
        let found: Vec<_> = commands
            .iter()
            .filter_map(|command| fault(&stage, command))
            .map(|fault| format!("{name}: {fault}"))
            .collect();
        match stage.ended_by_itself() {
            Some(said) => ended = said,
            None => return Ok(found),
        }
    }
    Ok(vec![format!("{name}: what holds it ends by itself: {ended}")])
}

/// Tries all cases; prints how many could be tried here, and why the others could not.
#[allow(clippy::print_stderr, reason = "says what was left out")]
fn try_all(what: &str, others: &[Case], fault: fn(&Stage, &str) -> Option<String>) {
    if !has_root() {
        return;
    }
    let only = std::env::var("FLASHMARK_CASES").ok();
    let all = std::env::var_os("FLASHMARK_ALL_COMMANDS").is_some();
    let mut cases = cases(what, others);
    cases.retain(|(name, _)| {
        only.as_ref().is_none_or(|only| only.split(',').any(|meant| meant == *name))
    });
    let (next, faults, left_out) =
        (AtomicUsize::new(0), Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some((name, arrange)) = cases.get(at) else { break };
                    let in_turn = &COMMANDS[at % COMMANDS.len()..][..1];
                    let commands = if all { &COMMANDS[..] } else { in_turn };
                    match faults_of(name, arrange, commands, fault) {
                        Ok(found) => faults.lock().unwrap().extend(found),
                        Err(why) => left_out.lock().unwrap().push((*name, why)),
                    }
                }
            });
        }
    });
    let (faults, left_out) = (faults.into_inner().unwrap(), left_out.into_inner().unwrap());
    eprintln!("{what}: {} cases, {} tried", cases.len(), cases.len() - left_out.len());
    for (name, why) in &left_out {
        eprintln!("not available here: {name}: {}", why.trim());
    }
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), cases.len(), faults.join("\n"));
    let expected = std::env::var("FLASHMARK_WITHOUT").unwrap_or_default();
    let missing: Vec<_> = left_out
        .iter()
        .filter(|(name, _)| !expected.split(',').any(|known| known == *name))
        .collect();
    assert!(
        !holding::in_machine_made_for_it() || missing.is_empty(),
        "not even in a machine made for it: {missing:?}"
    );
}

#[test]
fn a_file_that_is_in_use_is_refused() {
    try_all("files in use", files::CASES, Stage::fault_in_refusal);
}

#[test]
fn a_medium_that_is_in_use_is_refused() {
    try_all("media in use", media::CASES, Stage::fault_in_refusal);
}

#[test]
fn a_medium_that_other_devices_are_made_of_is_refused() {
    try_all("stacks", stacks::CASES, Stage::fault_in_refusal);
}

#[test]
fn what_is_idle_is_not_refused() {
    try_all("idle files", idle::FILES, Stage::fault_in_taking);
    try_all("idle media", idle::MEDIA, Stage::fault_in_taking);
}
