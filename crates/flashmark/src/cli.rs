//! The command line as typed. Nothing here touches the system; `commands` turns these into what is
//! meant.

use clap::{Parser, Subcommand};

use session::flags::{CheckFlags, RestoreFlags, ResumeFlags, RunFlags};
use session::outputs::ProgressForm;

mod exchange;
mod results;
mod simulated;
mod workload;

pub use exchange::{
    CollectionCheckFlags, CollectionCommand, CollectionInitFlags, ExportFlags, ExportFormat,
    ImportFlags, PublishFlags, SubmitFlags, ValidateFlags,
};
pub use results::{
    ByFlag, CompareFlags, ExplainFlags, ListFlags, ReportFlags, RunsFlags, ShowFlags, TestsFlags,
};
pub use simulated::{AttachFlags, DetachFlags, SimCommand};
pub use workload::{FitFlag, MatrixFlags, ReplayFlags, WatchFlags};

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
    #[cfg(feature = "export")]
    /// List the five articles behind the published tests: what each measured and found.
    Articles,
    /// Compare media: which is faster at what, where curves cross, which is best for what.
    Compare(CompareFlags),
    #[cfg(feature = "export")]
    /// Make a site of a collection, as static files: a table to sort, filter and compare, a page
    /// for each medium, all data.
    Publish(PublishFlags),
    #[cfg(feature = "export")]
    /// Send a run to a public collection: shows what would be sent, and asks.
    Submit(SubmitFlags),
    #[cfg(feature = "export")]
    #[command(subcommand)]
    /// Make and check collections that are git repositories and need no server.
    Collection(CollectionCommand),
    #[cfg(feature = "export")]
    /// Check whether a collection would accept these records, and name the faults of the others.
    Validate(ValidateFlags),
    #[cfg(feature = "workloads")]
    /// Compare file systems and schedulers with real work, and recommend which to use.
    Matrix(Box<MatrixFlags>),
    #[cfg(feature = "workloads")]
    /// Replay recorded I/O (blktrace, fio iologs) as recorded, faster, or as fast as
    /// possible.
    Replay(Box<ReplayFlags>),
    #[cfg(feature = "export")]
    /// Export runs, or a whole collection: CSV, JSON, Parquet, or figures for Prometheus.
    Export(ExportFlags),
    #[cfg(feature = "export")]
    /// Import the output of other tools as runs: fio, iozone, dd, f3, flashbench, hdparm, ioping
    /// and more.
    Import(ImportFlags),
    /// List the tests, what each does, and its settings.
    Tests(TestsFlags),
    #[cfg(feature = "workloads")]
    /// Show the present I/O of devices, as `iostat -x` does. Needs no root.
    Watch(WatchFlags),
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
            #[cfg(feature = "workloads")]
            Command::Matrix(flags) => flags.outputs.progress,
            #[cfg(feature = "workloads")]
            Command::Replay(flags) => flags.outputs.progress,
            _ => ProgressForm::Auto,
        }
    }
}
