//! The command line as typed. Nothing here touches the system; `commands` turns these into what is
//! meant.

use clap::{Parser, Subcommand};

use session::flags::{CheckFlags, RestoreFlags, ResumeFlags, RunFlags};
use session::outputs::ProgressForm;

mod results;
mod simulated;

pub use results::{
    ByFlag, CompareFlags, ExplainFlags, ListFlags, ReportFlags, RunsFlags, ShowFlags, TestsFlags,
};
pub use simulated::SimCommand;

/// Tells how storage really behaves.
#[derive(Debug, Parser)]
#[command(name = "flashmark", version, about, propagate_version = true, arg_required_else_help = true, after_help = AFTER_HELP)]
pub struct Cli {
    /// Command to run.
    #[command(subcommand)]
    pub command: Command,
}

const AFTER_HELP: &str = "\
Start with:
  flashmark check .
      is the storage here genuine, suitable, healthy? Two minutes, without root
  flashmark run . --suite quick
      measures the storage of this directory in about a minute, without root
  flashmark list
      shows the media that are plugged in, and whether testing them is safe

Exit codes:
  0 done, 1 the medium failed a check, 2 usage, 3 refused for safety,
  4 I/O error on the medium, 5 internal error, 130 interrupted (the record is
  kept and can be resumed)";

/// Command to run.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check in two minutes whether a medium is genuine, suitable for your use, and healthy: three
    /// answers and four figures.
    Check(Box<CheckFlags>),
    /// List media: what each is, whether it is in use and why, and whether testing is safe.
    List(ListFlags),
    /// Measure a target.
    Run(Box<RunFlags>),
    /// Continue an interrupted run; no finished cell is repeated.
    Resume(ResumeFlags),
    /// Restore data that a run overwrote and could not restore itself: it was killed, or the medium
    /// was pulled out.
    Restore(RestoreFlags),
    /// Print the summary of a run.
    Show(ShowFlags),
    /// List the runs kept on this machine.
    Runs(RunsFlags),
    /// Write the page of one or more runs, or show an article with runs beside it.
    Report(ReportFlags),
    /// List the five articles behind the published tests: what each measured and found.
    Articles,
    /// Compare media: which is faster at what, where curves cross, which is best for what.
    Compare(CompareFlags),
    /// List the tests, what each does, and its settings.
    Tests(TestsFlags),
    /// Explain a finding, or a word such as p99: its meaning, and the evidence for it.
    Explain(ExplainFlags),
    /// Simulated media, to try commands on.
    #[command(subcommand)]
    Sim(SimCommand),
    /// Keep the files of a run from standard input: for a run that root made by sudo.
    #[command(hide = true)]
    KeepCopy {
        /// Name of the run.
        name: String,
    },
}

impl Command {
    /// Form of the progress of this command.
    pub fn progress(&self) -> ProgressForm {
        match self {
            Command::Check(flags) => flags.progress,
            Command::Run(flags) => flags.outputs.progress,
            Command::Resume(flags) => flags.outputs.progress,
            _ => ProgressForm::Auto,
        }
    }
}
