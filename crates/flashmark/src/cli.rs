//! The command line as typed. Nothing here touches the system; `commands` turns these into what is
//! meant.

use record::text::printable;
use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::exit::{Result, usage};
use crate::outputs::{Outputs, ProgressForm};

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
    /// Check every medium that is plugged in, until Ctrl-C: for a shop, or a drawer of sticks.
    /// Media that are already plugged in at the start are left alone.
    Station(StationFlags),
    /// List media: what each is, whether it is in use and why, and whether testing is safe.
    List(ListFlags),
    /// Measure a target.
    Run(Box<RunFlags>),
    /// Continue an interrupted run; no finished cell is repeated.
    Resume(ResumeFlags),
    /// Measure the effect of host settings on reads: read-ahead, scheduler, largest command,
    /// governor. Writes nothing to the medium, and restores every setting.
    #[cfg(feature = "workloads")]
    HostEffects(HostEffectsFlags),
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
    #[cfg(feature = "submit")]
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
    /// Replay recorded I/O (captures, blktrace, fio iologs) as recorded, faster, or as fast as
    /// possible.
    Replay(Box<ReplayFlags>),
    #[cfg(feature = "export")]
    /// Export runs, or a whole collection: CSV, JSON, a workbook, Parquet, the output format of
    /// fio, or figures for Prometheus and Bencher.
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
    #[cfg(feature = "workloads")]
    /// Record the block I/O or the file operations of your own work, for replay. Needs root.
    Capture(CaptureFlags),
    /// Explain a finding, or a word such as p99: its meaning, and the evidence for it.
    Explain(ExplainFlags),
    /// Simulated media, to try commands on.
    #[command(subcommand)]
    Sim(SimCommand),
    /// Print completions for a shell.
    Completions {
        /// Name of the shell.
        shell: Shell,
    },
    /// Print a man page, for `man -l -`.
    Man(ManFlags),
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
            Command::Station(flags) => flags.progress,
            Command::Run(flags) => flags.outputs.progress,
            Command::Resume(flags) => flags.outputs.progress,
            #[cfg(feature = "workloads")]
            Command::Matrix(flags) => flags.outputs.progress,
            #[cfg(feature = "workloads")]
            Command::Replay(flags) => flags.outputs.progress,
            #[cfg(feature = "workloads")]
            Command::HostEffects(flags) => flags.outputs.progress,
            _ => ProgressForm::Auto,
        }
    }
}

/// Commands that a build may be without: name, the feature that brings it, whether it is here.
const OPTIONAL: [(&str, &str, bool); 14] = [
    ("articles", "export", cfg!(feature = "export")),
    ("publish", "export", cfg!(feature = "export")),
    ("validate", "export", cfg!(feature = "export")),
    ("collection", "export", cfg!(feature = "export")),
    ("export", "export", cfg!(feature = "export")),
    ("import", "export", cfg!(feature = "export")),
    ("submit", "submit", cfg!(feature = "submit")),
    ("matrix", "workloads", cfg!(feature = "workloads")),
    ("host-effects", "workloads", cfg!(feature = "workloads")),
    ("replay", "workloads", cfg!(feature = "workloads")),
    ("watch", "workloads", cfg!(feature = "workloads")),
    ("capture", "workloads", cfg!(feature = "workloads")),
    ("attach", "attach", cfg!(feature = "attach")),
    ("detach", "attach", cfg!(feature = "attach")),
];

/// Message for a command that this build does not have.
pub fn left_out(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let (name, feature, _) =
        OPTIONAL.iter().find(|(name, _, is_here)| name == typed && !is_here)?;
    Some(format!("this build is without `{name}`; `cargo build --features {feature}` brings it"))
}

/// Says what to type where a word is not UTF-8: the record and its journal hold text.
pub fn not_text(error: &clap::Error) -> Option<String> {
    if error.kind() != clap::error::ErrorKind::InvalidUtf8 {
        return None;
    }
    let word = std::env::args_os().find(|word| word.to_str().is_none())?;
    let word = printable(&word.to_string_lossy());
    Some(format!(
        "the name '{word}' is not UTF-8; rename it, or cd into it and type '.' where it is a directory"
    ))
}

/// Message for a target that was typed without a command.
pub fn without_command(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let is_target = typed.starts_with(['/', '.', '~'])
        || typed.starts_with("sim:")
        || std::path::Path::new(typed).exists();
    let typed = printable(typed);
    is_target.then(|| {
        format!(
            "what to do with {typed}? `flashmark run {typed}` measures it; `flashmark check {typed}` tells whether it is genuine, fit and healthy"
        )
    })
}

/// Hint for a command that was typed without its target.
pub fn without_target(error: &clap::Error) -> Option<String> {
    if error.kind() != clap::error::ErrorKind::MissingRequiredArgument {
        return None;
    }
    let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let command = std::env::args().nth(1)?;
    match missing.last()?.as_str() {
        "<TARGET>" => Some(format!(
            "TARGET is a directory on the medium (flashmark {command} /media/stick), a device \
             (/dev/sdX; `flashmark list` shows them) or a simulated medium (sim:a1)."
        )),
        "<DIR|DEVICE>" => Some(format!(
            "Name a directory on the medium (flashmark {command} /media/stick) or a device that is \
             not in use (/dev/sdX; `flashmark list` shows them)."
        )),
        "<DEV>..." | "<DEV>" => Some(
            "DEV is a device, by its name (sda, /dev/sda); `flashmark list` shows them.".to_owned(),
        ),
        _ => None,
    }
}

/// Flags of `man`.
#[derive(Debug, Args)]
pub struct ManFlags {
    /// Command of the page. Without it, the page of the program.
    pub command: Vec<String>,
    /// Write all pages to this directory instead.
    #[arg(long, value_name = "DIRECTORY", conflicts_with = "command")]
    pub dir: Option<PathBuf>,
}

/// Flags of `list`.
#[derive(Debug, Args)]
pub struct ListFlags {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Flags of `check`.
#[derive(Debug, Args)]
#[command(override_usage = "flashmark check TARGET [OPTIONS]", after_help = CHECK_HELP)]
pub struct CheckFlags {
    /// Directory, block device, regular file, or sim:PROFILE. Data on a device is overwritten for
    /// good only with --erase; the capacity probe writes to it and restores it.
    pub target: String,
    /// Further targets.
    #[command(flatten)]
    pub more: MoreTargets,
    /// Intended uses: root-disk (a Raspberry Pi), camera, video=100Mbit, logger, database. Exit
    /// code 1 if it is poor or not suitable for one of them. Without it, all uses are judged.
    #[arg(long = "for", value_delimiter = ',', value_name = "USE,..")]
    pub uses: Vec<String>,
    /// Claims of the box, as for `run`. Exit code 1 if one is not met.
    #[arg(long, value_name = "CLAIMS")]
    pub claim: Option<String>,
    /// Exit code 1 also if a use or a claim cannot be decided.
    #[arg(long)]
    pub strict: bool,
    /// Time limit, for example 15s for a script; more time gives narrower intervals.
    #[arg(long, value_name = "DURATION", default_value = "2m")]
    pub budget: String,
    /// Measure even if the same medium was checked within the last day.
    #[arg(long)]
    pub again: bool,
    /// Label of this check, any text.
    #[arg(long)]
    pub label: Option<String>,
    /// Seed of all random choices. Without it, a new one is drawn and recorded; for a simulated
    /// medium it is 1.
    #[arg(long)]
    pub seed: Option<u64>,
    /// Access to the target.
    #[command(flatten)]
    pub access: AccessFlags,
    /// Print the plan and do nothing.
    #[arg(long)]
    pub plan: bool,
    /// Print one line of JSON instead of the answers.
    #[arg(long)]
    pub json: bool,
    /// Show no progress.
    #[arg(long, short)]
    pub quiet: bool,
    /// Form of the progress on standard error: a bar on a terminal and lines elsewhere; JSON, one
    /// event per line (docs/progress.md; also with --quiet); or none.
    #[arg(long, value_enum, value_name = "FORM", default_value_t)]
    pub progress: ProgressForm,
}

/// Flags of `station`.
#[derive(Debug, Args)]
pub struct StationFlags {
    /// Devices to check, for example sdb,sdc for the slots of a reader; others are ignored.
    #[arg(long, value_delimiter = ',', value_name = "NAME,..")]
    pub slot: Vec<String>,
    /// Intended uses of the media, as for `check`.
    #[arg(long = "for", value_delimiter = ',', value_name = "USE,..")]
    pub uses: Vec<String>,
    /// Time limit of each check.
    #[arg(long, value_name = "DURATION", default_value = "2m")]
    pub budget: String,
    /// Prefix of the labels; the number of the check follows it.
    #[arg(long, default_value = "station ")]
    pub label: String,
    /// Overwrite every medium that is plugged in: faster, and finds larger caches. Asks once for
    /// confirmation, at the start.
    #[arg(long)]
    pub erase: bool,
    /// Form of the progress on standard error, as for `run`.
    #[arg(long, value_enum, default_value_t = ProgressForm::Auto, value_name = "FORM")]
    pub progress: ProgressForm,
    /// Show no progress.
    #[arg(long, short)]
    pub quiet: bool,
}

const CHECK_HELP: &str = "\
Examples:
  flashmark check /dev/sdX
      is this card a fake? Its data is restored
  flashmark check . --for root-disk
      is the storage here suitable for a Raspberry Pi?
  flashmark check /dev/sdX --erase ID
      the same with writes: its data is lost
  flashmark check /dev/sdX /dev/sdY /dev/sdZ
      several sticks: one table at the end
  flashmark check . --budget 15s --json
      one line for a script

Exit codes are those of run: 0 done, 1 it failed (fake, broken, poor or not
suitable for a --for, below a --claim).";

/// Flags of `run`.
#[derive(Debug, Args)]
#[command(override_usage = "flashmark run TARGET [OPTIONS]")]
pub struct RunFlags {
    /// Directory (a test file is made in it and removed), regular file, block device, or
    /// sim:PROFILE.
    pub target: String,
    /// Further targets.
    #[command(flatten)]
    pub more: MoreTargets,
    /// Suite of tests: quick (about a minute), standard (about ten), full, seeds (every published
    /// test as published; seeds:000 to seeds:004: the tests of one article), or a TOML file.
    #[arg(long, default_value = "standard", value_name = "NAME|FILE")]
    pub suite: String,
    /// Run only these tests, separated by commas.
    #[arg(long, value_delimiter = ',', value_name = "TEST,..")]
    pub only: Vec<String>,
    /// Leave out these tests, separated by commas.
    #[arg(long, value_delimiter = ',', value_name = "TEST,..")]
    pub skip: Vec<String>,
    /// Change a setting of a test; `flashmark tests` lists them. May be given several times.
    #[arg(long, value_name = "TEST.SETTING=VALUE")]
    pub set: Vec<String>,
    /// Claims of the box, separated by commas: capacity=32GB, class=10, uhs=1, video=30, app=A1,
    /// read=95MB/s, write=40MB/s; or your own limits: random-read=1500IOPS, random-write=500IOPS,
    /// p99=20ms, longest=1s (of 4 KiB random writes). Exit code 1 if one is not met.
    #[arg(long, value_name = "CLAIMS")]
    pub claim: Option<String>,
    /// Intended uses: root-disk, camera, video=100Mbit, logger, database. Exit code 1 if it is not
    /// suitable for one of them.
    #[arg(long = "for", value_delimiter = ',', value_name = "USE,..")]
    pub uses: Vec<String>,
    /// Exit code 1 also if a use or a claim cannot be decided.
    #[arg(long)]
    pub strict: bool,
    /// Label of this run, any text.
    #[arg(long)]
    pub label: Option<String>,
    /// Seed of all random choices. Without it, a new one is drawn and recorded; for a simulated
    /// medium it is 1.
    #[arg(long)]
    pub seed: Option<u64>,
    /// Time limit of the run, for example 10m.
    #[arg(long, value_name = "DURATION")]
    pub time_limit: Option<String>,
    /// Target precision of each rate (half the width of its interval), for example 2%; finer takes
    /// longer.
    #[arg(long, value_name = "SHARE")]
    pub precision: Option<String>,
    /// Approximate duration of the run, for example 5m; more time gives narrower intervals.
    #[arg(long, value_name = "DURATION", conflicts_with_all = ["precision", "time_limit"])]
    pub time: Option<String>,
    /// Number of passes, all in one record; each measures every rate. From three passes on, the
    /// interval comes from the differences between them.
    #[arg(long, value_name = "N")]
    pub repeat: Option<NonZeroU32>,
    /// Continue to measure a medium that was found to be a fake.
    #[arg(long)]
    pub anyway: bool,
    /// Access to the target.
    #[command(flatten)]
    pub access: AccessFlags,
    /// Print the plan (tests, bytes written, wear, time) and do nothing.
    #[arg(long)]
    pub plan: bool,
    /// Outputs of the run.
    #[command(flatten)]
    pub outputs: Outputs,
}

/// Access to a target: flags of every command that measures one.
#[derive(Clone, Debug, Args)]
pub struct AccessFlags {
    /// Allow a raw medium or a file to be overwritten. ID is its serial number, CID or by-id name
    /// (its path if it has none); of a partition, its own name or that of its medium.
    #[arg(long, value_name = "ID")]
    pub erase: Vec<String>,
    /// Confirm that the data on the medium may be overwritten. A medium that is not empty needs
    /// this in a script; on a terminal, you are asked to type a word.
    #[arg(long, requires = "erase")]
    pub yes: bool,
    /// Use only this range of a raw medium or file, for example 1GiB+64MiB.
    #[arg(long, value_name = "OFFSET+SIZE")]
    pub span: Option<String>,
    /// I/O engine.
    #[arg(long, value_name = "ENGINE", default_value = "auto", value_parser = ["auto", "uring", "psync"])]
    pub engine: String,
}

impl AccessFlags {
    /// The name of the one medium that may be overwritten.
    pub fn erase(&self) -> Result<Option<String>> {
        match self.erase.as_slice() {
            [] => Ok(None),
            [one] => Ok(Some(one.clone())),
            _ => usage("--erase may be given once for each medium, and this is one"),
        }
    }
}

/// Further targets of one call.
#[derive(Debug, Default, Args)]
pub struct MoreTargets {
    /// Further targets. Those that share a bus or a reader are measured in turn, the others at the
    /// same time; one table is printed at the end. --erase may be given once for each. The exit
    /// code is the largest.
    #[arg(value_name = "TARGET")]
    pub more: Vec<String>,
    /// Measure only the target with this number, for the process that started this one.
    #[arg(long, hide = true)]
    pub nth: Option<usize>,
}

/// Flags of `resume`.
#[derive(Debug, Args)]
pub struct ResumeFlags {
    /// Run to continue: its id, the beginning of it, or "latest". Without it, the latest unfinished
    /// run.
    pub run: Option<String>,
    /// Present target of the medium, if it is not found automatically: another slot, another
    /// reader.
    pub target: Option<String>,
    /// Allow a medium to be overwritten that now holds other data than this run's. ID as for `run
    /// --erase`.
    #[arg(long, value_name = "ID")]
    pub erase: Option<String>,
    /// Continue without asking. With --erase, also confirms that its contents may be overwritten.
    #[arg(long)]
    pub yes: bool,
    /// Outputs of the run.
    #[command(flatten)]
    pub outputs: Outputs,
}

/// Flags of `restore`.
#[derive(Debug, Args)]
pub struct RestoreFlags {
    /// Run whose data to restore. Without it, the latest run that has not restored everything.
    pub run: Option<String>,
    /// Present target of the medium, if it is not found automatically: another slot, another
    /// reader.
    pub target: Option<String>,
    /// Delete the saved data and leave the medium as it is. Refused without --yes.
    #[arg(long)]
    pub forget: bool,
    /// Confirm --forget.
    #[arg(long)]
    pub yes: bool,
    /// Print nothing while waiting for the medium.
    #[arg(long, short)]
    pub quiet: bool,
}

const SHOW_HELP: &str = "\
Columns:
  95 % interval   range of the figure in 95 of 100 cases if the same run is
                  repeated here now; for a slow medium: of its long-run rate.
                  varies A-B: rounds from A to B, too far apart for an interval;
                  levels A, B: rounds at two levels;
                  one look: no time for rounds
  n               number of I/Os behind the figure
  p99             latency that 99 of 100 I/Os do not exceed; - if too few I/Os
  slowest         the longest of these I/Os
  stop            reason of the end: converged (precise enough), time, bytes,
                  ops; rounds: repeated as often as the time allowed

One number for a script:
  flashmark show --json | jq .summary.random_write_4k_iops";

/// Flags of `explain`.
#[derive(Debug, Args)]
pub struct ExplainFlags {
    /// Finding, as `flashmark show --findings` names it, or a word of the glossary. Without it, all
    /// are listed.
    #[arg(value_name = "FINDING")]
    pub name: Option<String>,
}

/// Flags of `show`.
#[derive(Debug, Args)]
#[command(after_help = SHOW_HELP)]
pub struct ShowFlags {
    /// Run: its id, the beginning of it, "latest", or a record file.
    #[arg(default_value = "latest")]
    pub run: String,
    /// Print all results, not only one screen of them.
    #[arg(long)]
    pub details: bool,
    /// Print every cell with every metric.
    #[arg(long, visible_alias = "cells", conflicts_with = "details")]
    pub all: bool,
    /// Print every finding with its evidence, confidence and meaning.
    #[arg(long, conflicts_with_all = ["all", "details", "json"])]
    pub findings: bool,
    /// Uses to judge it for: root-disk, camera, video=100Mbit, logger, database.
    #[arg(long = "for", value_delimiter = ',', value_name = "USE,..")]
    pub uses: Vec<String>,
    /// Print the record as JSON.
    #[arg(long, conflicts_with_all = ["all", "details"])]
    pub json: bool,
    /// Print a short Markdown table for a forum or an issue, without paths and serial numbers.
    #[arg(long, conflicts_with_all = ["all", "details", "findings", "json"])]
    pub markdown: bool,
    /// Print the outcome of its checks for a program instead: JUnit XML or annotations of a GitHub
    /// workflow. Figures for Bencher: `flashmark export --format bencher`.
    #[arg(long, value_enum, conflicts_with_all = ["all", "details", "findings", "json", "markdown"])]
    pub format: Option<OutcomeFormat>,
    /// Print the readable part of a damaged run, and name what is lost. Writes nothing.
    #[arg(long, conflicts_with_all = ["all", "details", "findings", "json", "markdown", "uses", "format"])]
    pub salvage: bool,
}

/// Flags of `runs`.
#[derive(Debug, Args)]
#[command(after_help = RUNS_HELP)]
pub struct RunsFlags {
    /// Columns of figures to print for each run, for example random-write-4k,dd: names, families,
    /// or all.
    #[arg(long, value_name = "COLUMNS")]
    pub columns: Option<String>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

const RUNS_HELP: &str = "\
Families of columns: random, iozone, dd, fill, seek, hdparm, threads,
completion, cpu, and all.
Examples:
  flashmark runs --columns random-write-4k,dd-write-64k,seeks
      the columns of published figures, for each kept run
  flashmark runs --columns all
      all known columns; --json gives their names";

/// Flags of `report`.
#[derive(Debug, Args)]
#[command(after_help = REPORT_HELP)]
pub struct ReportFlags {
    /// Runs to show. Without any, the latest; with --article, none.
    pub runs: Vec<String>,
    /// Print every figure of an article as published, with up to five runs beside it and the
    /// command that measures each column again. NUMBER is 000 to 004 (`flashmark articles` lists
    /// them).
    #[cfg(feature = "export")]
    #[arg(long, value_name = "NUMBER")]
    pub article: Option<String>,
    /// File of the page; with several runs, a directory with one page each. Without it, each page
    /// is kept with its run, and an article is printed.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

#[cfg(feature = "export")]
const REPORT_HELP: &str = "\
Examples:
  flashmark report latest --html run.html
      the page of a run
  flashmark report --article 004 latest
      the table of an article with your medium beside it
  flashmark report --article 004 latest --html article.html
      the same table as a page

Articles are numbered 000 to 004. The pages of a site are numbered from 1:
article-5 is the same as 004. A bare 4 is refused, as it could be either.";
#[cfg(not(feature = "export"))]
const REPORT_HELP: &str = "";

/// Flags of `compare`.
#[derive(Debug, Args)]
#[command(after_help = COMPARE_HELP)]
pub struct CompareFlags {
    /// Runs to compare: names, record files, or labels. Several runs of one medium are its repeats,
    /// and give the confidence in a difference. If all are of one medium, each name is compared
    /// separately, and all runs of a label are repeats. MEDIUM=RUN names the medium of a run if the
    /// reader hides it: runs with the same MEDIUM are of one medium.
    #[arg(required_unless_present = "before", value_name = "[MEDIUM=]RUN|LABEL")]
    pub runs: Vec<String>,
    /// Factor to separate from the medium: the runs are one experiment, which gives the effect of
    /// the medium, the effect of this factor, and their interaction. Exit code 1 if nothing can be
    /// separated.
    #[arg(long, value_enum, conflicts_with = "before")]
    pub by: Option<ByFlag>,
    /// Runs of one medium before a change: a run or a label.
    #[arg(long, value_name = "RUN|LABEL", requires = "after", conflicts_with = "runs")]
    pub before: Option<String>,
    /// Runs of the same medium after the change: a run or a label.
    #[arg(long, value_name = "RUN|LABEL", requires = "before", conflicts_with = "runs")]
    pub after: Option<String>,
    /// Limit for a slowdown, for example 10%. Exit code 1 if a figure is certainly slower by more
    /// than this, or if no figure can be decided.
    #[arg(long, value_name = "PERCENT", requires = "before")]
    pub fail_if: Option<String>,
    /// Exit code 1 also if any figure cannot be decided.
    #[arg(long, requires = "fail_if")]
    pub strict: bool,
    /// Write the comparison to this file as JSON; - for standard output.
    #[arg(long, value_name = "FILE|-")]
    pub json: Option<PathBuf>,
    /// Write the comparison to this file as a page.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Print Markdown tables for a forum or an issue, without paths and serial numbers.
    #[arg(long, conflicts_with_all = ["json", "fail_if"])]
    pub markdown: bool,
    /// Print the outcome of --fail-if for a program instead: JUnit XML, annotations of a GitHub
    /// workflow, or the ratios in Bencher Metric Format.
    #[arg(long, value_enum, requires = "fail_if", conflicts_with_all = ["json", "markdown"])]
    pub format: Option<OutcomeFormat>,
}

/// Form of the outcome of checks, for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OutcomeFormat {
    /// JUnit XML.
    Junit,
    /// Annotations of a GitHub workflow.
    Github,
    /// Bencher Metric Format.
    Bencher,
}

/// `--by` as typed.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ByFlag {
    /// Host (machine).
    Host,
    /// Card reader or USB bridge.
    Reader,
    /// Kernel release.
    Kernel,
    /// I/O scheduler.
    Scheduler,
    /// Settings of the tests that differ between the runs.
    Setting,
}

const COMPARE_HELP: &str = "\
Examples:
  flashmark compare latest card-b.json
      which of two media is faster at what
  flashmark compare a=RUN a=RUN b=RUN b=RUN
      two cards in two readers: the effect of the card and of the reader
  flashmark compare --by host pi-a.json pi-b.json laptop-a.json laptop-b.json
      two cards in two hosts: the effect of each, and their interaction
  flashmark compare --before before --after after --fail-if 10%
      after `run --label before`, a change, and `run --label after`

Make three runs of each label: a single run does not show changes between runs.
If a figure cannot be decided, the output gives the number of runs to add.

Exit codes with --fail-if: 0 passed, 1 slower, or no figure could be decided
(with --strict: or any could not). With --by: 0 separated, 1 nothing could be
separated.";

/// Flags of `host-effects`.
#[cfg(feature = "workloads")]
#[derive(Debug, Args)]
pub struct HostEffectsFlags {
    /// Directory (its medium is read), file, or block device that is not in use.
    #[arg(value_name = "DIR|DEVICE")]
    pub target: String,
    /// Number of rounds; each measures the setting as it is, changed, changed, as it is.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub rounds: u32,
    /// Duration of each read measurement.
    #[arg(long, value_name = "DURATION", default_value = "500ms")]
    pub time: String,
    /// Label of the run, any text.
    #[arg(long)]
    pub label: Option<String>,
    /// Outputs of the run.
    #[command(flatten)]
    pub outputs: Outputs,
}

/// Flags of `matrix`.
#[derive(Debug, Args)]
pub struct MatrixFlags {
    /// Block device, regular file, or directory (a file is made in it and removed). Needs root:
    /// file systems are made and mounted.
    pub target: String,
    /// File systems: ext2, ext3, ext4, ext4-nojournal, xfs, xfs-nolazy, btrfs, f2fs, jfs, nilfs2,
    /// vfat, exfat, or all.
    #[arg(long, value_delimiter = ',', value_name = "FS,..", default_value = "all")]
    pub fs: Vec<String>,
    /// I/O schedulers: none, mq-deadline, kyber, bfq, or all that the kernel offers.
    #[arg(long, value_delimiter = ',', value_name = "NAME,..", default_value = "all")]
    pub scheduler: Vec<String>,
    /// Work to measure: record-ops, threads, rrd, untar, sqlite, logger, boot, trace:FILE (recorded
    /// block I/O), files:TRACE (recorded operations on files).
    #[arg(long, value_delimiter = ',', value_name = "WORK,..", default_value = "record-ops")]
    pub work: Vec<String>,
    /// Change a setting of a work. May be given several times.
    #[arg(long, value_name = "WORK.SETTING=VALUE")]
    pub set: Vec<String>,
    /// Set of mount options, separated by commas. May be given several times; each set is measured.
    #[arg(long, value_name = "OPTION,..", default_value = "noatime")]
    pub mount_options: Vec<String>,
    /// Alignment of file systems to the medium's allocation unit by mkfs: no, yes, or both.
    #[arg(long, value_delimiter = ',', value_name = "yes|no", default_value = "no", value_parser = ["yes", "no"])]
    pub align: Vec<String>,
    /// Size of the allocation unit, for --align yes. Without it, the size that the medium declares,
    /// or else 4 MiB.
    #[arg(long, value_name = "SIZE")]
    pub au: Option<String>,
    /// Minimum number of repeats of each combination.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub repeats: u32,
    /// Maximum number of repeats of the combinations that may be best and do not differ
    /// significantly.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub most_repeats: u32,
    /// Time limit of all sessions together, for example 8h.
    #[arg(long, value_name = "DURATION")]
    pub time_limit: Option<String>,
    /// Size of the file that is made in a directory.
    #[arg(long, value_name = "SIZE")]
    pub size: Option<String>,
    /// Allow the medium or file to be overwritten. ID is its serial number, CID or by-id name (its
    /// path if it has none); of a partition, its own name or that of its medium.
    #[arg(long, value_name = "ID")]
    pub erase: Option<String>,
    /// Confirm that the data on the medium may be overwritten. A medium that is not empty needs
    /// this in a script; on a terminal, you are asked to type a word.
    #[arg(long, requires = "erase")]
    pub yes: bool,
    /// Label of this run, any text.
    #[arg(long)]
    pub label: Option<String>,
    /// Seed of all random choices. Without it, a new one is drawn and recorded; for a simulated
    /// medium it is 1.
    #[arg(long)]
    pub seed: Option<u64>,
    /// Write a workbook with raw values and formulas to this file.
    #[arg(long, value_name = "FILE")]
    pub xlsx: Option<PathBuf>,
    /// Write the raw values to this file, as CSV.
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Print the plan and do nothing.
    #[arg(long)]
    pub plan: bool,
    /// Outputs of the run.
    #[command(flatten)]
    pub outputs: Outputs,
}

/// Formats that `import` reads.
const IMPORT_HELP: &str = "\
Output of these tools is recognised: fio (JSON, text, terse), dd, iozone,
hdparm, ioping, f3 (f3write, f3read, f3probe), H2testw, bonnie++, sysbench
fileio, diskspd, elbencho, iostat -x, seeker, flashbench, CrystalDiskMark,
KDiskMark, AS SSD, PiBenchmarks, YABS, pg_test_fsync, Raspberry Pi
Diagnostics; also Flashmark's own records and tables. docs/importing.md
describes the result of each.";

/// Flags of `import`.
#[derive(Debug, Args)]
#[command(after_help = IMPORT_HELP)]
pub struct ImportFlags {
    /// Files with the output of other tools; - for standard input. The tool is recognised from the
    /// content.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Print what would be imported and keep nothing.
    #[arg(long)]
    pub plan: bool,
    /// Label of these runs, any text.
    #[arg(long)]
    pub label: Option<String>,
    /// Vendor of the medium, if the text does not name it.
    #[arg(long)]
    pub vendor: Option<String>,
    /// Model of the medium.
    #[arg(long)]
    pub model: Option<String>,
    /// Capacity of the medium, for example 32GB.
    #[arg(long, value_name = "SIZE")]
    pub capacity: Option<String>,
    /// Kind of medium: sd, emmc, usb, compact-flash, ssd, nvme, disk.
    #[arg(long)]
    pub kind: Option<String>,
    /// Unit of an iozone table whose head was cut off: ops or kB, per second.
    #[arg(long, value_name = "UNIT", value_parser = ["ops", "kB"])]
    pub iozone_unit: Option<String>,
}

/// Flags of `tests`.
#[derive(Debug, Args)]
pub struct TestsFlags {
    /// Test to show. Without it, all tests are listed.
    pub test: Option<String>,
}

/// Flags of `watch`.
#[derive(Debug, Args)]
pub struct WatchFlags {
    /// Devices or partitions: kernel names (sda1), paths, or names under /dev/disk/by-id.
    #[arg(required = true, value_name = "DEV")]
    pub devices: Vec<String>,
    /// Interval between reports, for example 1s or 100ms.
    #[arg(long, default_value = "1s", value_name = "DURATION")]
    pub interval: String,
    /// Number of reports. Without it, until Ctrl-C.
    #[arg(long, value_name = "N")]
    pub count: Option<u64>,
    /// Print a line of JSON for each device and report, with the names that iostat uses.
    #[arg(long)]
    pub json: bool,
}

/// Flags of `capture`.
#[derive(Debug, Args)]
pub struct CaptureFlags {
    /// Device or partition: kernel name (sda1), path, or name under /dev/disk/by-id.
    #[arg(value_name = "DEV", required_unless_present = "files", conflicts_with = "files")]
    pub device: Option<String>,
    /// Record the file operations of programs below this directory instead, for `matrix --work
    /// files:TRACE`.
    #[arg(long, value_name = "DIR")]
    pub files: Option<PathBuf>,
    /// File of the trace, best on another medium.
    #[arg(long, short, value_name = "TRACE")]
    pub output: PathBuf,
    /// Duration of the capture, for example 60s. Without it, until Ctrl-C.
    #[arg(long, value_name = "DURATION")]
    pub time: Option<String>,
    /// Maximum size of the trace, for example 1GiB; the capture ends there.
    #[arg(long, value_name = "SIZE")]
    pub size_limit: Option<String>,
    /// Show no progress.
    #[arg(long, short)]
    pub quiet: bool,
}

/// Commands for simulated media.
#[derive(Debug, Subcommand)]
pub enum SimCommand {
    /// List the profiles, one per line.
    List,
    /// Print a profile.
    Show {
        /// Name of the profile.
        profile: String,
    },
    #[cfg(feature = "attach")]
    /// Attach a simulated medium as a block device, in wall-clock time, for any tool. Needs root.
    ///
    /// Prints the path of the device and serves it until Ctrl-C. Written data is kept in memory and
    /// lost afterwards. Each profile is as slow as its original.
    Attach(AttachFlags),
    #[cfg(feature = "attach")]
    /// Detach what `attach` attached, and clean up after one that was killed.
    Detach(DetachFlags),
}

/// Flags of `sim attach`.
#[derive(Debug, Args)]
pub struct AttachFlags {
    /// Name of the profile, or a TOML file of your own.
    pub profile: String,
    /// Size instead of the profile's, for example 1GiB; a fake shrinks in proportion.
    #[arg(long)]
    pub size: Option<String>,
    /// Seed of all random choices.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Return at once and serve in the background, until `flashmark sim detach`.
    #[arg(long)]
    pub background: bool,
    /// File with the fixed cost of the path to the medium. If it does not exist, the cost is
    /// measured and written to it. Media that share the file differ in nothing else.
    #[arg(long, hide = true)]
    pub way: Option<PathBuf>,
    /// Serve the device for the process that was started with --background.
    #[arg(long, hide = true, conflicts_with = "background")]
    pub served: bool,
}

/// Flags of `sim detach`.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct DetachFlags {
    /// Device, as printed by `attach`.
    pub device: Option<PathBuf>,
    /// Detach everything that this user attached with --background, and what killed servers left.
    #[arg(long)]
    pub all: bool,
}

/// Flags of `publish`.
#[derive(Debug, Args)]
pub struct PublishFlags {
    /// Directory of the site. A directory that is not empty and no such site is never changed.
    pub dir: PathBuf,
    /// Runs to publish. Without any, all runs of this machine that measured something.
    #[arg(conflicts_with = "database")]
    pub runs: Vec<String>,
    /// Collection in a repository of records, instead of runs.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["database", "runs"])]
    pub collection: Option<PathBuf>,
    /// Collection in a database, instead of runs: sqlite:FILE, or postgres://.. if this build
    /// supports it.
    #[arg(long, value_name = "ADDRESS")]
    pub database: Option<String>,
    /// Title of the site. Without it, the title of the repository, or "Flashmark collection".
    #[arg(long)]
    pub title: Option<String>,
    /// Public address of the site, for example https://example.org/cards/; feed readers need it.
    /// Without it, the address of the repository's settings.
    #[arg(long, value_name = "URL")]
    pub address: Option<String>,
    /// Leave out the built-in reference data.
    #[arg(long)]
    pub no_reference: bool,
    /// Add keys of medium and host, made with the secret in this file: a collection can distinguish
    /// them, but not identify them.
    #[arg(long, value_name = "FILE", conflicts_with = "database")]
    pub keys: Option<PathBuf>,
}

/// Flags of `validate`.
#[derive(Debug, Args)]
#[command(override_usage = "flashmark validate FILE..")]
pub struct ValidateFlags {
    /// Records or published runs, plain or compressed with gzip; a directory stands for all files
    /// below it.
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Print only doubtful and refused records, and the counts.
    #[arg(long)]
    pub quiet: bool,
}

/// Commands for a collection in a repository of records.
#[derive(Debug, Subcommand)]
pub enum CollectionCommand {
    /// Make a repository: settings, a page for contributors, workflows that check pull requests and
    /// publish pages.
    Init(CollectionInitFlags),
    /// Check the records of a repository, or only those that changed.
    Check(CollectionCheckFlags),
}

/// Flags of `collection init`.
#[derive(Debug, Args)]
#[command(override_usage = "flashmark collection init DIR")]
pub struct CollectionInitFlags {
    /// Directory of the repository: new, empty, or a fresh clone.
    pub dir: PathBuf,
    /// Title of the collection.
    #[arg(long, default_value = "Flashmark collection")]
    pub title: String,
    /// Public address of its pages, for example https://example.org/cards/.
    #[arg(long, value_name = "URL")]
    pub address: Option<String>,
}

/// Flags of `collection check`.
#[derive(Debug, Args)]
#[command(override_usage = "flashmark collection check [DIR]")]
pub struct CollectionCheckFlags {
    /// Directory of the repository.
    #[arg(default_value = ".")]
    pub dir: PathBuf,
    /// Check only changes since this git revision; changes outside the records are refused.
    #[arg(long, value_name = "REVISION")]
    pub since: Option<String>,
    /// Account that sent these changes; it may change only its own records.
    #[arg(long, value_name = "ACCOUNT", requires = "since")]
    pub sender: Option<String>,
}

/// Flags of `submit`.
#[derive(Debug, Args)]
pub struct SubmitFlags {
    /// Run: its id, the beginning of it, "latest", or a record file.
    #[arg(value_name = "RUN", conflicts_with = "withdraw")]
    pub run: Option<String>,
    /// Address of the collection, for example https://cards.example.org; or a repository made by
    /// `collection init`: its directory or git address.
    #[arg(long, value_name = "URL", env = "FLASHMARK_COLLECTION")]
    pub to: Option<String>,
    /// Your account at the forge, if the collection is a repository. Without it, git's github.user.
    #[arg(long, value_name = "ACCOUNT", conflicts_with_all = ["withdraw", "pending", "replace"])]
    pub sender: Option<String>,
    /// Print everything that would be sent, to the last digit, and send nothing.
    #[arg(long, conflicts_with = "withdraw")]
    pub show: bool,
    /// Add keys of medium and host, made with the secret in this file: a collection can distinguish
    /// them, but not identify them.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["withdraw", "pending"])]
    pub keys: Option<PathBuf>,
    /// Send without asking.
    #[arg(long)]
    pub yes: bool,
    /// Token of the collection, or the one printed when the run was sent. Other users can read a
    /// command line; the environment variable is safer.
    #[arg(long, value_name = "TOKEN", env = "FLASHMARK_TOKEN", hide_env_values = true)]
    pub token: Option<String>,
    /// Replace this run of the collection; it stays readable as an earlier revision.
    #[arg(long, value_name = "ID", conflicts_with = "withdraw")]
    pub replace: Option<String>,
    /// Send the runs that could not be sent before: to the collection of --to, or each to its own.
    #[arg(long, conflicts_with_all = ["run", "show", "replace", "withdraw"])]
    pub pending: bool,
    /// Withdraw this run from the collection, permanently.
    #[arg(long, value_name = "ID")]
    pub withdraw: Option<String>,
    /// Reason for the withdrawal, for the record of the collection.
    #[arg(
        long,
        value_name = "WORDS",
        requires = "withdraw",
        default_value = "withdrawn by who sent it",
        hide_default_value = true
    )]
    pub why: String,
}

/// Flags of `replay`.
#[derive(Debug, Args)]
pub struct ReplayFlags {
    /// Trace: a capture of flashmark, a file of blktrace (NAME.blktrace.0, or NAME for all
    /// processors), text of blkparse, or a fio iolog (version 2 or 3).
    pub trace: PathBuf,
    /// Directory (a test file is made in it and removed), regular file, block device, or
    /// sim:PROFILE.
    pub target: String,
    /// Speed of the replay. 1: each request at its recorded time; N: N times as fast (0.5: half as
    /// fast); max: as fast as possible. Requests that waited for others when they were recorded
    /// always wait.
    #[arg(long, default_value = "1", value_name = "1|N|max")]
    pub speed: String,
    /// Adaptation of the trace to the size of the target: squeezed or stretched to it, wrapped
    /// around at its end, or without the requests beyond it. Without this, a larger trace is
    /// refused.
    #[arg(long, value_name = "HOW")]
    pub fit: Option<FitFlag>,
    /// Queue depth of a trace that does not record which requests waited for others (a fio iolog).
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub depth: u32,
    /// Leave out writes, flushes and discards, so that nothing on the target changes.
    #[arg(long)]
    pub reads_only: bool,
    /// Label of this run, any text.
    #[arg(long)]
    pub label: Option<String>,
    /// Seed of the data that is written.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Access to the target.
    #[command(flatten)]
    pub access: AccessFlags,
    /// Print the content of the trace and the plan, and do nothing.
    #[arg(long)]
    pub plan: bool,
    /// Outputs of the run.
    #[command(flatten)]
    pub outputs: Outputs,
}

/// `--fit` as typed.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum FitFlag {
    /// Squeeze or stretch the whole trace to the target, each MiB as a whole.
    Scale,
    /// Continue at the beginning for places beyond the end.
    Wrap,
    /// Leave out requests beyond the end.
    Skip,
}

/// Flags of `export`.
#[derive(Debug, Args)]
pub struct ExportFlags {
    /// Runs to export; of a collection, by their ids there. With --database and without runs, all
    /// of it.
    #[arg(value_name = "RUN", required_unless_present_any = ["database", "all"])]
    pub runs: Vec<String>,
    /// Export all runs of this machine that measured something.
    #[arg(long, conflicts_with_all = ["runs", "database"])]
    pub all: bool,
    /// Earliest end of a run: 2026-11-01, 2026-11-01T12:00:00Z, or 30d for the last thirty days.
    /// Earlier runs, and runs without a time such as those of simulated media, are left out.
    #[arg(long, value_name = "WHEN")]
    pub since: Option<String>,
    /// Format of the export. All but xlsx, parquet and dataset go to standard output if no file is
    /// named.
    #[arg(long, value_enum, default_value_t = ExportFormat::Csv)]
    pub format: ExportFormat,
    /// File or directory to write to. Parquet makes two files, runs.parquet and cells.parquet, in
    /// the directory; a data set replaces an existing one.
    #[arg(long, short, value_name = "FILE|DIR|-")]
    pub output: Option<PathBuf>,
    /// Collection to export: sqlite:FILE, or postgres://.. if this build supports it.
    #[arg(long, value_name = "ADDRESS")]
    pub database: Option<String>,
    /// Add keys of medium and host, made with the secret in this file: a collection can distinguish
    /// them, but not identify them.
    #[arg(long, value_name = "FILE", conflicts_with = "database")]
    pub keys: Option<PathBuf>,
}

/// Format of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// One row for each cell.
    Csv,
    /// Workbook with a sheet of runs and a sheet of cells.
    Xlsx,
    /// File of runs and file of cells.
    Parquet,
    /// Parquet of runs, cells, curves and histograms, in directories by kind and month.
    Dataset,
    /// Complete data, with histograms and curves.
    Json,
    /// Output format of fio (json+).
    Fio,
    /// Headline figures as gauges, for Prometheus.
    Openmetrics,
    /// Headline figures in Bencher Metric Format.
    Bencher,
}
