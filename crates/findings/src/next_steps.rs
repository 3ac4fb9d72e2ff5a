//! Next steps of a reader: at most two, the most urgent first. A command works when it is typed as
//! it is printed, and none of them overwrites anything for good.

use record::{Answer, CapacityKind, Fitness, Outcome, Record, TargetKind, Use};

use crate::flush::Flush;
use crate::use_levels::{UseLevel, levels_of};
use crate::{conditions, genuineness, matrix, usability};

/// So many are told.
const MOST: usize = 2;
/// The budget of a check that a short one left open.
const LONGER: &str = "10m";

/// Something to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextStep {
    /// What it is for, as the beginning of a sentence that the command ends; a whole sentence where
    /// there is no command.
    pub words: String,
    /// The words of a command line; empty where it takes none.
    pub command: Vec<String>,
}

impl NextStep {
    fn act(words: &str) -> NextStep {
        NextStep { words: words.to_owned(), command: Vec::new() }
    }

    fn run(words: &str, arguments: &[&str]) -> NextStep {
        let command = std::iter::once("flashmark").chain(arguments.iter().copied());
        NextStep { words: words.to_owned(), command: command.map(str::to_owned).collect() }
    }
}

/// What to do next with this medium, at most two steps; none of a run of another tool, of one that
/// was published, and of a matrix, whose screen ends with its own.
pub fn next_steps(record: &Record) -> Vec<NextStep> {
    let target = record.target.path.as_str();
    if target.is_empty() || matrix::of(record).is_some() {
        return Vec::new();
    }
    // What to try next stands in the sentence that tells of it.
    if record.findings.iter().any(|finding| finding.outcome == Some(Outcome::DeviceGone)) {
        return Vec::new();
    }
    let mut steps = of_its_state(record, target);
    if steps.is_empty() {
        steps = of_its_uses(record, target);
    }
    steps.truncate(MOST);
    steps
}

/// What its state asks for; nothing where it is a medium, genuine as far as is known, and healthy.
fn of_its_state(record: &Record, target: &str) -> Vec<NextStep> {
    if genuineness::is_fake(record) {
        let mut steps = vec![NextStep::act("Return it to the seller, and keep no data on it.")];
        let is_found = genuineness::is_size_found(record);
        // Where addresses repeat, a check does not write enough to find the end of what is real.
        let wraps =
            matches!(genuineness::capacity_verdict(record), Some((_, CapacityKind::Wraparound)));
        let size: Option<&[&str]> = match record.target.kind {
            _ if is_found => None,
            _ if !wraps => Some(&["check", target, "--budget", LONGER]),
            TargetKind::Block => None,
            _ => Some(&["run", target, "--only", "capacity"]),
        };
        steps.extend(size.map(|size| NextStep::run("How much of it is real, more exactly", size)));
        return steps;
    }
    if usability::of_run(record).is_some() || usability::is_host_cached(record) {
        return vec![NextStep::run("The media that can be measured here", &["list"])];
    }
    if record.summary.as_ref().is_some_and(|summary| summary.healthy == Answer::No) {
        return vec![NextStep::act("Copy what is on it to another medium, then replace it.")];
    }
    Vec::new()
}

/// What the verdicts on uses leave to do.
fn of_its_uses(record: &Record, target: &str) -> Vec<NextStep> {
    let levels = levels_of(&record.findings);
    let is_not_suitable = |of: &&UseLevel| {
        matches!(of.level, Fitness::NotSuitable | Fitness::Poor) && of.few_samples.is_none()
    };
    let mut steps: Vec<NextStep> = levels
        .iter()
        .find(is_not_suitable)
        .map(|of| another(record, of.wanted, target))
        .into_iter()
        .collect();
    let is_open = |of: &&UseLevel| of.few_samples.is_some() || of.level == Fitness::CannotTell;
    if let Some(open) = levels.iter().find(is_open) {
        let wanted = String::from(open.wanted);
        let arguments = ["check", target, "--for", &wanted, "--budget", LONGER];
        steps.push(NextStep::run("What few samples leave open", &arguments));
    }
    let is_fast = steps.is_empty() && conditions::may_fill(record);
    if is_fast && record.target.kind != TargetKind::Block {
        steps.push(NextStep::run("Whether it stays this fast, in half an hour", &["run", target]));
    }
    steps
}

/// How to find a medium that does for this use: what stands on its label, and the check of it
/// (docs/field/classes.md#minimum-rates).
fn another(record: &Record, wanted: Use, target: &str) -> NextStep {
    let name = String::from(wanted);
    let mut arguments = vec!["check", target, "--for", &name];
    if matches!(Flush::of(record), Flush::Lies(..)) {
        return NextStep::run("Whether another medium does better, put in its place", &arguments);
    }
    let (label, claim) = match wanted {
        Use::RootDisk | Use::Database => ("A1 or A2", "app=A1".to_owned()),
        Use::Camera => ("class 10, U1 or V10", "class=10".to_owned()),
        Use::Video { mbit } => match VIDEO_CLASSES.into_iter().find(|of| of * 8 >= mbit) {
            Some(class) => (VIDEO_LABEL, format!("video={class}")),
            None => ("the rate of the recording", format!("write={}MB/s", mbit.div_ceil(8))),
        },
        Use::Logger => ("high endurance", String::new()),
    };
    let words = format!("Look for a medium that says {label}, put it there, and hold it to that");
    if !claim.is_empty() {
        arguments.extend(["--claim", &claim]);
    }
    NextStep::run(&words, &arguments)
}

/// Video speed classes, in MB/s.
const VIDEO_CLASSES: [u32; 5] = [6, 10, 30, 60, 90];
const VIDEO_LABEL: &str = "a video class (V30 and so on) of that rate";
