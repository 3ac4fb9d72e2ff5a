//! Runs as the program makes them, except for its files.

use std::sync::atomic::AtomicBool;

use anyhow::{Result, anyhow};
use clap::Parser as _;
use device::{Device, ExtentGuard, WriteBudget};
use flashmark::cli::RunFlags;
use flashmark::exit::{Exit, Failure};
use flashmark::open_target::OpenTarget;
use flashmark::request;
use record::{Flag, Record};
use suite::{Plan, RunEvent, RunListener, RunOptions};

/// Output of a run.
pub struct RunOutput {
    /// The record of the run, with its findings.
    pub record: Record,
    /// First three lines below the medium's name, joined, as a terminal of 80 columns shows them.
    pub first: String,
    /// Exit status of the program.
    pub exit: Exit,
}

/// Arguments of a command line.
#[derive(clap::Parser)]
struct Words {
    #[command(flatten)]
    flags: RunFlags,
}

/// Caveats about the run as a whole.
#[derive(Default)]
struct Caveats(Vec<Flag>);

impl RunListener for Caveats {
    fn on_event(&mut self, event: &RunEvent<'_>) -> Result<(), String> {
        if let RunEvent::Flagged(flag) = event {
            self.0.push((*flag).clone());
        }
        Ok(())
    }
}

/// Runs a suite on a fresh medium of this profile, at most for `time_limit` ("10m").
///
/// # Errors
/// If the program would refuse these arguments.
pub fn of(profile: &str, suite: &str, seed: u64, time_limit: Option<&str>) -> Result<RunOutput> {
    let words = ["run", &format!("sim:{profile}"), "--suite", suite, "--seed", &seed.to_string()]
        .map(str::to_owned);
    let limit = time_limit.map(|limit| format!("--time-limit={limit}"));
    run(&Words::parse_from(words.into_iter().chain(limit)).flags)
        .map_err(|failure| anyhow!("{failure}"))
}

fn run(flags: &RunFlags) -> Result<RunOutput, Failure> {
    let (request, wanted) = request::read(flags)?;
    let mut opened = OpenTarget::open(&request)?;
    let plan = Plan::make(&wanted.suite, &wanted.choice, &opened.info)
        .expect("every suite can be planned on a simulated medium");
    let budgeted: Box<dyn Device> =
        Box::new(WriteBudget::new(opened.take_device(&plan), plan.max_written_bytes()));
    let mut guarded = ExtentGuard::new(budgeted, plan.writes());
    let (stop, mut caveats) = (AtomicBool::new(false), Caveats::default());
    let options = RunOptions::new(request.seed, &opened.info, &stop);
    let end = suite::run(&mut guarded, &mut *opened.stage, &plan, options, &mut caveats);
    let run = record::Run {
        suite: plan.suite.clone(),
        seed: request.seed,
        ended: end.ended,
        elapsed_ns: end.elapsed_ns,
        ..record::Run::default()
    };
    let mut record = Record {
        medium: opened.medium.clone(),
        target: opened.target.clone(),
        plan: plan.cells,
        cells: end.cells,
        skipped: [plan.skipped, end.skipped].concat(),
        flags: caveats.0,
        ..Record::new(run)
    };
    findings::add_caveats(&mut record);
    record.findings = findings::conclude(&record);
    let summary = report::text::details(&record, &record.run.id, 80, false);
    let first: Vec<&str> = summary.lines().skip(1).take(3).map(str::trim).collect();
    Ok(RunOutput { first: first.join(" "), exit: Exit::of(&record, end.error.as_ref()), record })
}
