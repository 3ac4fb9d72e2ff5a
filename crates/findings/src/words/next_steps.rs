//! Next steps for a reader: at most two, the most urgent first. A command works as printed, and
//! one that overwrites says so.

use record::{
    Answer, CapacityKind, Fitness, Outcome, Record, TargetKind, Use, UseLevel, metric, test,
};

use crate::conclusions::genuine::no_sign;
use crate::conclusions::health::waits;
use crate::conclusions::speed::flush::Flush;
use crate::figures::genuineness::{self, Genuineness};
use crate::figures::usability;
use crate::matrix;
use crate::verdict::conditions;
use crate::words::use_levels::levels_of;

/// Most steps that are shown.
const MOST: usize = 2;
/// Time budget for a check after a short one without a result.
const LONGER: &str = "10m";

/// A next step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextStep {
    /// Purpose, as the beginning of a sentence that ends with the command; a whole sentence without
    /// a command.
    pub words: String,
    /// Words of a command line; empty if none is needed.
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

/// Next steps for this medium, at most two. Empty for a run of another tool, for a published run,
/// and for a matrix, whose screen ends with its own.
pub fn next_steps(record: &Record) -> Vec<NextStep> {
    let target = record.target.path.as_str();
    if target.is_empty() || matrix::of(record).is_some() {
        return Vec::new();
    }
    // The sentence about the removed device has the next step.
    if record.findings.iter().any(|finding| finding.outcome == Some(Outcome::DeviceGone)) {
        return Vec::new();
    }
    let mut steps = of_its_state(record, target);
    if steps.is_empty() {
        steps = of_its_uses(record, target);
    }
    steps.retain(|step| !is_of_this_run(record, step));
    steps.truncate(MOST);
    steps
}

/// True if a step is the run that would name it.
fn is_of_this_run(record: &Record, step: &NextStep) -> bool {
    let own = &record.run.command;
    let words = step.command.iter().skip(1);
    let mut words = words.filter(|word| word.as_str() != record.run.suite).peekable();
    let is_suite = record.run.suite == "standard"
        || !matches!(step.command.get(1).map(String::as_str), Some("run"))
        || step.command.iter().any(|word| word == "--only");
    is_suite && words.peek().is_some() && words.all(|word| own.contains(word))
}

/// True if this run was already one of the longer ones that a step names.
fn is_longer(record: &Record) -> bool {
    record.run.command.iter().any(|word| word == LONGER)
}

/// Steps for a fake, damaged or unknown medium; empty if it is genuine as far as known, and
/// healthy.
fn of_its_state(record: &Record, target: &str) -> Vec<NextStep> {
    if genuineness::is_fake(record) {
        let mut steps = vec![NextStep::act("Return it to the seller, and keep no data on it.")];
        let is_found = genuineness::is_size_found(record);
        // If addresses repeat, a check writes too little to find the end of the real capacity.
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
    let is_of_no_place = waits::is_of_no_place(record);
    let is_unhealthy = record.summary.as_ref().is_some_and(|summary| summary.healthy == Answer::No);
    if is_unhealthy || is_of_no_place {
        let then = match is_of_no_place {
            true => "measure it again with another reader or cable",
            false => "replace it",
        };
        return vec![NextStep::act(&format!("Copy what is on it to another medium, then {then}."))];
    }
    if genuineness::is_damage_open(record) {
        let again = ["check", target, "--budget", LONGER];
        return vec![NextStep::run("After a copy of its data", &again)];
    }
    Vec::new()
}

/// Steps that follow from the verdicts on uses.
fn of_its_uses(record: &Record, target: &str) -> Vec<NextStep> {
    let levels = levels_of(&record.findings);
    let is_not_suitable = |of: &&UseLevel| {
        matches!(of.level, Fitness::NotSuitable | Fitness::Poor) && of.sure_percent.is_none()
    };
    let mut steps: Vec<NextStep> = levels
        .iter()
        .find(is_not_suitable)
        .map(|of| step_to_better_medium(record, of.wanted, target))
        .into_iter()
        .collect();
    let is_open = |of: &&UseLevel| of.sure_percent.is_some() || of.level == Fitness::CannotTell;
    if let Some(open) = levels.iter().find(is_open) {
        let wanted = String::from(open.wanted);
        let typed = record.run.command.windows(2).filter(|two| two[0] == "--claim");
        let claims = typed.flatten().map(String::as_str);
        let words = ["check", target, "--for", &wanted, "--budget", LONGER];
        let arguments: Vec<&str> = words.into_iter().chain(claims).collect();
        steps.push(NextStep::run("More samples", &arguments));
    }
    let is_fast = steps.is_empty() && conditions::may_fill(record) && !is_longer(record);
    if is_fast && record.target.kind != TargetKind::Block {
        steps.push(NextStep::run("Does it stay this fast? In half an hour", &["run", target]));
    }
    let certain =
        no_sign::command(record).filter(|_| genuineness::of(record) == Genuineness::NoSign);
    // What lies on it is kept: files on it can be measured beside.
    if certain.is_some() && is_lent(record) {
        steps.push(NextStep::act(
            "What it is good for: mount it and check its directory, which keeps what lies there.",
        ));
        return steps;
    }
    steps.extend(certain.map(|words| {
        let time = no_sign::time(record).map(|time| format!(" ({time})")).unwrap_or_default();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        NextStep::run(&format!("Every block, which erases it{time}"), &words)
    }));
    steps
}

/// True if a raw medium was only lent: its probe restored what it overwrote.
fn is_lent(record: &Record) -> bool {
    let probes = || record.cells_of(test::CAPACITY);
    probes().any(|cell| cell.metrics.other.contains_key(metric::RESTORED_BYTES))
}

/// Step to a better medium for this use: the label to look for, and the check of it
/// (docs/field/classes.md#minimum-rates).
fn step_to_better_medium(record: &Record, wanted: Use, target: &str) -> NextStep {
    let name = String::from(wanted);
    let arguments = ["check", target, "--for", &name];
    let is_simulated = record.target.kind == TargetKind::Simulated;
    let step = |another: &str, arguments: &[&str]| match is_simulated {
        true => NextStep::act(&format!("Try {another}.")),
        false => NextStep::run(&format!("Put {another} in its place"), arguments),
    };
    if matches!(Flush::of(record), Flush::Lies(..)) {
        return step("another one", &arguments);
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
    let another = format!("one that says {label}");
    match claim.is_empty() {
        true => step(&another, &arguments),
        false => step(&another, &["check", target, "--claim", &claim]),
    }
}

/// Video speed classes, in MB/s.
const VIDEO_CLASSES: [u32; 5] = [6, 10, 30, 60, 90];
const VIDEO_LABEL: &str = "a video class of that rate";
