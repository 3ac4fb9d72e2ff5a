//! The command line as typed. Nothing here touches the system; `commands` turns these into what is
//! meant.

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
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const AFTER_HELP: &str = "\
Start with:
  flashmark check .
      is the storage here genuine, fit, healthy? Two minutes, without root
  flashmark run . --suite quick
      the storage under this directory, in about a minute, without root
  flashmark list
      what is plugged in, and whether testing it is safe

Exit codes:
  0 done, 1 the medium failed a check, 2 usage, 3 refused for safety,
  4 I/O error on the medium, 5 internal error, 130 interrupted (the record is
  kept and can be resumed)";

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Answers three questions in two minutes: is it genuine, fit for what you want, healthy? With
    /// four numbers.
    Check(Box<CheckFlags>),
    /// Checks every medium that is plugged in, until Ctrl-C: a shop, a drawer of sticks. What is
    /// plugged in when it begins is left as it is.
    Station(StationFlags),
    /// Shows media, what they are, whether they are in use and why, and whether testing is safe.
    List(ListFlags),
    /// Measures a target.
    Run(Box<RunFlags>),
    /// Goes on with a run that was interrupted; no finished cell is repeated.
    Resume(ResumeFlags),
    /// Says what settings of this host do to reads of a medium: read-ahead, scheduler, largest
    /// command, governor. Writes nothing, and puts every setting back.
    #[cfg(feature = "lab")]
    HostEffects(HostEffectsFlags),
    /// Restores data that a run overwrote and could not restore itself: it was killed, or the
    /// medium was pulled out.
    Restore(RestoreFlags),
    /// Prints the summary of a run.
    Show(ShowFlags),
    /// Lists the runs kept on this machine.
    Runs(RunsFlags),
    /// Writes the page of one run or several, or shows an article with runs beside it.
    Report(ReportFlags),
    #[cfg(feature = "export")]
    /// Lists the five articles that the published tests are from: what each measured and found.
    Articles,
    /// Holds media against each other: who is faster at what, where curves cross, who is best for
    /// what.
    Compare(CompareFlags),
    #[cfg(feature = "export")]
    /// Makes a site of a collection: a table to sort, filter and compare, a page a medium, all
    /// data; plain files.
    Publish(PublishFlags),
    #[cfg(feature = "submit")]
    /// Sends a run to a collection that others can read: shows what would be sent, and asks.
    Submit(SubmitFlags),
    #[cfg(feature = "export")]
    #[command(subcommand)]
    /// Makes and judges collections that are a git repository and need no server.
    Collection(CollectionCommand),
    #[cfg(feature = "export")]
    /// Says whether a collection would take these records, and what is wrong with the others.
    Validate(ValidateFlags),
    #[cfg(feature = "lab")]
    /// Tries file systems and schedulers with real work, and says which to use.
    Matrix(Box<MatrixFlags>),
    #[cfg(feature = "lab")]
    /// Does recorded I/O again: captures, blktrace, fio iologs; as recorded, faster, or as fast as
    /// possible.
    Replay(Box<ReplayFlags>),
    #[cfg(feature = "export")]
    /// Writes runs, or a whole collection, as CSV, JSON, a workbook, Parquet, what fio would have
    /// printed, or figures for Prometheus and Bencher.
    Export(ExportFlags),
    #[cfg(feature = "export")]
    /// Makes runs of what other tools printed: fio, iozone, dd, f3, flashbench, hdparm, ioping and
    /// more.
    Import(ImportFlags),
    /// Shows the tests, what each does and what can be set.
    Tests(TestsFlags),
    #[cfg(feature = "lab")]
    /// Shows what devices do from moment to moment, as `iostat -x` does. Needs no root.
    Watch(WatchFlags),
    #[cfg(feature = "lab")]
    /// Records the block I/O of your own work, or what it does with files, to replay it. Needs
    /// root.
    Capture(CaptureFlags),
    /// Explains a finding, or a word such as p99: what it means and what it is concluded from.
    Explain(ExplainFlags),
    /// Simulated media to try things on.
    #[command(subcommand)]
    Sim(SimCommand),
    /// Prints completions for a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Prints a man page, for `man -l -`.
    Man(ManFlags),
    /// Keeps the files of a run that come in on standard input: for what root measured by sudo.
    #[command(hide = true)]
    KeepCopy {
        /// Name of the run.
        name: String,
    },
}

impl Command {
    /// What is to be written of its progress.
    pub fn progress(&self) -> ProgressForm {
        match self {
            Command::Check(flags) => flags.progress,
            Command::Station(flags) => flags.progress,
            Command::Run(flags) => flags.outputs.progress,
            Command::Resume(flags) => flags.outputs.progress,
            #[cfg(feature = "lab")]
            Command::Matrix(flags) => flags.outputs.progress,
            #[cfg(feature = "lab")]
            Command::Replay(flags) => flags.outputs.progress,
            #[cfg(feature = "lab")]
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
    ("matrix", "lab", cfg!(feature = "lab")),
    ("host-effects", "lab", cfg!(feature = "lab")),
    ("replay", "lab", cfg!(feature = "lab")),
    ("watch", "lab", cfg!(feature = "lab")),
    ("capture", "lab", cfg!(feature = "lab")),
    ("attach", "attach", cfg!(feature = "attach")),
    ("detach", "attach", cfg!(feature = "attach")),
];

/// What to say where a command was typed that this build is without.
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
    let word = report::words::clean(&word.to_string_lossy());
    Some(format!(
        "the name '{word}' is not UTF-8; rename it, or cd into it and type '.' where it is a directory"
    ))
}

/// What to say where a target was typed and no command.
pub fn without_command(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let is_target = typed.starts_with(['/', '.', '~'])
        || typed.starts_with("sim:")
        || std::path::Path::new(typed).exists();
    let typed = report::words::clean(typed);
    is_target.then(|| {
        format!(
            "what to do with {typed}? `flashmark run {typed}` measures it; `flashmark check {typed}` tells whether it is genuine, fit and healthy"
        )
    })
}

/// What can be named where a command was typed without the medium that it is about.
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
    /// Of which command; without it, of the program.
    pub command: Vec<String>,
    /// Writes all pages there instead.
    #[arg(long, value_name = "DIRECTORY", conflicts_with = "command")]
    pub dir: Option<PathBuf>,
}

/// Flags of `list`.
#[derive(Debug, Args)]
pub struct ListFlags {
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

/// Flags of `check`.
#[derive(Debug, Args)]
#[command(override_usage = "flashmark check TARGET [OPTIONS]", after_help = CHECK_HELP)]
pub struct CheckFlags {
    /// A directory, a block device, a regular file, or sim:PROFILE. On a device nothing is
    /// overwritten for good unless you give it away with --erase.
    pub target: String,
    /// Further targets.
    #[command(flatten)]
    pub more: MoreTargets,
    /// What you want it for: root-disk (a Raspberry Pi), camera, video=100Mbit, logger, database.
    /// Poor or not suitable for one of them: exit code 1. Without it everything is judged.
    #[arg(long = "for", value_delimiter = ',', value_name = "USE,..")]
    pub uses: Vec<String>,
    /// What the box claims, as `run` takes it. Below it: exit code 1.
    #[arg(long, value_name = "CLAIMS")]
    pub claim: Option<String>,
    /// Exit code 1 also where that cannot be told of a use or a claim.
    #[arg(long)]
    pub strict: bool,
    /// The longest it may take: 15s for a script, more for narrower intervals.
    #[arg(long, value_name = "DURATION", default_value = "2m")]
    pub budget: String,
    /// Measures though the same medium was checked within a day.
    #[arg(long)]
    pub again: bool,
    /// Your words for this check.
    #[arg(long)]
    pub label: Option<String>,
    /// Every random choice comes from this number; without it a new one is drawn and recorded, for
    /// a simulated medium 1.
    #[arg(long)]
    pub seed: Option<u64>,
    /// What may be touched, and how.
    #[command(flatten)]
    pub access: AccessFlags,
    /// Prints what would be done and does nothing.
    #[arg(long)]
    pub plan: bool,
    /// One line of JSON instead of the answers.
    #[arg(long)]
    pub json: bool,
    /// No progress on the screen.
    #[arg(long, short)]
    pub quiet: bool,
    /// Progress on standard error: a bar on a terminal and lines elsewhere, JSON (an event a line,
    /// docs/progress.md; with --quiet as well), or none.
    #[arg(long, value_enum, value_name = "FORM", default_value_t)]
    pub progress: ProgressForm,
}

/// Flags of `station`.
#[derive(Debug, Args)]
pub struct StationFlags {
    /// Only what appears as these devices, for example sdb,sdc: the slots of a reader.
    #[arg(long, value_delimiter = ',', value_name = "NAME,..")]
    pub slot: Vec<String>,
    /// What the media are wanted for, as `check` takes it.
    #[arg(long = "for", value_delimiter = ',', value_name = "USE,..")]
    pub uses: Vec<String>,
    /// The longest a check may take.
    #[arg(long, value_name = "DURATION", default_value = "2m")]
    pub budget: String,
    /// Words before the number of each check; together they are the label of its run.
    #[arg(long, default_value = "station ")]
    pub label: String,
    /// Overwrites every medium that is plugged in: faster, and larger caches are found. Asks for
    /// the word once, when it begins.
    #[arg(long)]
    pub erase: bool,
    /// Progress on standard error, as of `run`.
    #[arg(long, value_enum, default_value_t = ProgressForm::Auto, value_name = "FORM")]
    pub progress: ProgressForm,
    /// No progress on the screen.
    #[arg(long, short)]
    pub quiet: bool,
}

const CHECK_HELP: &str = "\
Examples:
  flashmark check /dev/sdX
      is this card a fake? What lies on it is restored
  flashmark check . --for root-disk
      will the storage here do for a Raspberry Pi?
  flashmark check /dev/sdX --erase ID
      the same with writes: what lies on it is lost
  flashmark check /dev/sdX /dev/sdY /dev/sdZ
      a drawer of sticks: one table at the end
  flashmark check . --budget 15s --json
      one line for a script

Exit codes are those of run: 0 done, 1 it failed (fake, broken, poor or not suitable
for a --for, below a --claim).";

/// Flags of `run`.
#[derive(Debug, Args)]
#[command(override_usage = "flashmark run TARGET [OPTIONS]")]
pub struct RunFlags {
    /// A directory (a test file is made in it and removed), a regular file, a block device, or
    /// sim:PROFILE.
    pub target: String,
    /// Further targets.
    #[command(flatten)]
    pub more: MoreTargets,
    /// quick (about a minute), standard (about ten), full, seeds (every published test as
    /// published; seeds:000 to seeds:004 what one article did), or a TOML file.
    #[arg(long, default_value = "standard", value_name = "NAME|FILE")]
    pub suite: String,
    /// Only these tests, separated by commas.
    #[arg(long, value_delimiter = ',', value_name = "TEST,..")]
    pub only: Vec<String>,
    /// Without these tests.
    #[arg(long, value_delimiter = ',', value_name = "TEST,..")]
    pub skip: Vec<String>,
    /// Changes a setting of a test; `flashmark tests` shows them. May be given several times.
    #[arg(long, value_name = "TEST.SETTING=VALUE")]
    pub set: Vec<String>,
    /// What the box claims, separated by commas: capacity=32GB, class=10, uhs=1, video=30, app=A1,
    /// read=95MB/s, write=40MB/s; or your own limits: random-read=1500IOPS, random-write=500IOPS,
    /// p99=20ms, longest=1s (of 4 KiB random writes). Below it: exit code 1.
    #[arg(long, value_name = "CLAIMS")]
    pub claim: Option<String>,
    /// What you want it for: root-disk, camera, video=100Mbit, logger, database. Not suitable
    /// for one of them: exit code 1.
    #[arg(long = "for", value_delimiter = ',', value_name = "USE,..")]
    pub uses: Vec<String>,
    /// Exit code 1 also where that cannot be told of a use or a claim.
    #[arg(long)]
    pub strict: bool,
    /// Your words for this run.
    #[arg(long)]
    pub label: Option<String>,
    /// Every random choice comes from this number; without it a new one is drawn and recorded, for
    /// a simulated medium 1.
    #[arg(long)]
    pub seed: Option<u64>,
    /// The longest the run may take, for example 10m.
    #[arg(long, value_name = "DURATION")]
    pub time_limit: Option<String>,
    /// Measures each rate until it is certain to this share, for example 2%; finer takes longer.
    #[arg(long, value_name = "SHARE")]
    pub precision: Option<String>,
    /// Spends about this long, for example 5m: more time makes rates more certain.
    #[arg(long, value_name = "DURATION", conflicts_with_all = ["precision", "time_limit"])]
    pub time: Option<String>,
    /// Measures every rate so often, one whole turn after the other, in one record: how far the
    /// turns differ is the interval from three on.
    #[arg(long, value_name = "N")]
    pub repeat: Option<NonZeroU32>,
    /// Goes on measuring a medium that turned out to be a fake.
    #[arg(long)]
    pub anyway: bool,
    /// What may be touched, and how.
    #[command(flatten)]
    pub access: AccessFlags,
    /// Prints what would be done (tests, bytes written, wear, time) and does nothing.
    #[arg(long)]
    pub plan: bool,
    /// Where results go.
    #[command(flatten)]
    pub outputs: Outputs,
}

/// What of a target may be touched, and how: flags of what measures it.
#[derive(Clone, Debug, Args)]
pub struct AccessFlags {
    /// Allows a raw medium or a file to be overwritten; names it by serial number, CID or by-id
    /// name (by its path where it has none), a partition by its own name or its medium's.
    #[arg(long, value_name = "ID")]
    pub erase: Vec<String>,
    /// Says that what lies on it may be overwritten. A medium that is not empty asks for this in a
    /// script, and for the word on a terminal.
    #[arg(long, requires = "erase")]
    pub yes: bool,
    /// Touches only this range of a raw medium or file, for example 1GiB+64MiB.
    #[arg(long, value_name = "OFFSET+SIZE")]
    pub span: Option<String>,
    /// How I/O is issued.
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
    /// More of them: what shares a bus or a reader takes turns, the rest goes side by side; one
    /// table at the end. --erase may be given once for each. The exit code is the largest.
    #[arg(value_name = "TARGET")]
    pub more: Vec<String>,
    /// Measures only the target with this number, for the call that has started this process.
    #[arg(long, hide = true)]
    pub nth: Option<usize>,
}

/// Flags of `resume`.
#[derive(Debug, Args)]
pub struct ResumeFlags {
    /// Which run: its id, the beginning of it, or "latest"; without it, the latest unfinished one.
    pub run: Option<String>,
    /// Where its medium is now, if it is not found by itself: another slot, another reader.
    pub target: Option<String>,
    /// Allows a medium to be overwritten on which not this run's data but something else lies now;
    /// names it as `run --erase` does.
    #[arg(long, value_name = "ID")]
    pub erase: Option<String>,
    /// Goes on without asking.
    #[arg(long)]
    pub yes: bool,
    /// Where results go.
    #[command(flatten)]
    pub outputs: Outputs,
}

/// Flags of `restore`.
#[derive(Debug, Args)]
pub struct RestoreFlags {
    /// Which run; without it, the latest that has not restored everything.
    pub run: Option<String>,
    /// Where its medium is now, if it is not found by itself: another slot, another reader.
    pub target: Option<String>,
    /// Gives up: what was kept is deleted, and the medium stays as it is. Asks first.
    #[arg(long)]
    pub forget: bool,
    /// Does not ask.
    #[arg(long)]
    pub yes: bool,
    /// Says nothing while it waits for the medium.
    #[arg(long, short)]
    pub quiet: bool,
}

const SHOW_HELP: &str = "\
Columns:
  95 % interval   where the figure of the same run, repeated here now, lies 95 times of
                  100; of a slow medium: where its long-run rate lies.
                  varies A-B: rounds lay between these, too far apart for an interval;
                  levels A, B: they lay at two levels; one look: no time for rounds
  n               I/Os behind the figure
  p99             99 of 100 I/Os took no longer; - where they were too few
  slowest         the longest of these I/Os
  stop            why it ended: converged (certain enough), time, bytes, ops;
                  rounds: measured again as often as there was time

One number for a script:
  flashmark show --json | jq .summary.random_write_4k_iops";

/// Flags of `explain`.
#[derive(Debug, Args)]
pub struct ExplainFlags {
    /// The finding, as `flashmark show --findings` names it, or a word of the glossary; without it,
    /// all are listed.
    #[arg(value_name = "FINDING")]
    pub name: Option<String>,
}

/// Flags of `show`.
#[derive(Debug, Args)]
#[command(after_help = SHOW_HELP)]
pub struct ShowFlags {
    /// Which run: its id, the beginning of it, "latest", or a record file.
    #[arg(default_value = "latest")]
    pub run: String,
    /// All that was found, not only one screen of it.
    #[arg(long)]
    pub details: bool,
    /// Every cell with every metric.
    #[arg(long, visible_alias = "cells", conflicts_with = "details")]
    pub all: bool,
    /// Every finding with its evidence, its confidence, and what it means.
    #[arg(long, conflicts_with_all = ["all", "details", "json"])]
    pub findings: bool,
    /// Judges it for these uses: root-disk, camera, video=100Mbit, logger, database.
    #[arg(long = "for", value_delimiter = ',', value_name = "USE,..")]
    pub uses: Vec<String>,
    /// The record as JSON.
    #[arg(long, conflicts_with_all = ["all", "details"])]
    pub json: bool,
    /// A short table as Markdown, to paste into a forum or an issue; without paths and serial
    /// numbers.
    #[arg(long, conflicts_with_all = ["all", "details", "findings", "json"])]
    pub markdown: bool,
    /// Prints what came of its checks for a program instead: JUnit XML or annotations of a GitHub
    /// workflow. Figures for Bencher: `flashmark export --format bencher`.
    #[arg(long, value_enum, conflicts_with_all = ["all", "details", "findings", "json", "markdown"])]
    pub format: Option<OutcomeFormat>,
    /// What can be read of a damaged run at all, and what is lost; writes nothing.
    #[arg(long, conflicts_with_all = ["all", "details", "findings", "json", "markdown", "uses", "format"])]
    pub salvage: bool,
}

/// Flags of `runs`.
#[derive(Debug, Args)]
#[command(after_help = RUNS_HELP)]
pub struct RunsFlags {
    /// What the runs have measured, column by column, such as random-write-4k,dd; a name, a family,
    /// or all.
    #[arg(long, value_name = "COLUMNS")]
    pub columns: Option<String>,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

const RUNS_HELP: &str = "\
Families of columns: random, iozone, dd, fill, seek, hdparm, threads, completion, cpu, and all.
Examples:
  flashmark runs --columns random-write-4k,dd-write-64k,seeks
      the columns of published figures, of each run that is kept
  flashmark runs --columns all
      everything that is known, and how its columns are called (--json)";

/// Flags of `report`.
#[derive(Debug, Args)]
#[command(after_help = REPORT_HELP)]
pub struct ReportFlags {
    /// Which runs; without any the latest, and with --article none.
    pub runs: Vec<String>,
    /// Prints every figure of an article as published, 000 to 004 (`flashmark articles` lists
    /// them), with up to five runs beside it and the command that makes each column again.
    #[cfg(feature = "export")]
    #[arg(long, value_name = "NUMBER")]
    pub article: Option<String>,
    /// Where to write the page; with several runs, a directory for one page each. Without it, each
    /// page is kept with its run, and an article is printed.
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
      the same as a page

Articles count from 000 to 004. The pages of a site count from 1: article-5, which is
004, names the same. A bare 4 names none, as it could be either.";
#[cfg(not(feature = "export"))]
const REPORT_HELP: &str = "";

/// Flags of `compare`.
#[derive(Debug, Args)]
#[command(after_help = COMPARE_HELP)]
pub struct CompareFlags {
    /// Which runs: their names, record files, or labels. Several runs of one medium are its
    /// repeats, and say how certain a difference is; where all are of one medium, each name stands
    /// for itself, and all runs of a label are repeats. MEDIUM=RUN says which medium a run is of,
    /// where the reader hides it: runs with the same MEDIUM are of one.
    #[arg(required_unless_present = "before", value_name = "[MEDIUM=]RUN|LABEL")]
    pub runs: Vec<String>,
    /// Takes the runs as one experiment: how much of the differences the medium explains, how much
    /// this, and whether one depends on the other. Exit code 1 where nothing can be split.
    #[arg(long, value_enum, conflicts_with = "before")]
    pub by: Option<ByFlag>,
    /// The runs of one medium before something was changed: a run or a label.
    #[arg(long, value_name = "RUN|LABEL", requires = "after", conflicts_with = "runs")]
    pub before: Option<String>,
    /// Its runs after it.
    #[arg(long, value_name = "RUN|LABEL", requires = "before", conflicts_with = "runs")]
    pub after: Option<String>,
    /// Exit code 1 where a figure is surely slower by more than this, such as 10%, or where nothing
    /// could be told of any figure.
    #[arg(long, value_name = "PERCENT", requires = "before")]
    pub fail_if: Option<String>,
    /// Exit code 1 also where that cannot be told of a figure.
    #[arg(long, requires = "fail_if")]
    pub strict: bool,
    /// Writes the comparison there as JSON; - for standard output.
    #[arg(long, value_name = "FILE|-")]
    pub json: Option<PathBuf>,
    /// Writes it there as a page.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Tables as Markdown, to paste into a forum or an issue; without paths and serial numbers.
    #[arg(long, conflicts_with_all = ["json", "fail_if"])]
    pub markdown: bool,
    /// Prints what came of --fail-if for a program instead: JUnit XML, annotations of a GitHub
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
    /// The machine.
    Host,
    /// The card reader or USB bridge.
    Reader,
    /// The release of the kernel.
    Kernel,
    /// The I/O scheduler.
    Scheduler,
    /// Settings of the tests that differ between the runs.
    Setting,
}

const COMPARE_HELP: &str = "\
Examples:
  flashmark compare latest card-b.json
      which of two media is faster at what
  flashmark compare a=RUN a=RUN b=RUN b=RUN
      two cards in two readers: what the card explains, and what the reader
  flashmark compare --by host pi-a.json pi-b.json laptop-a.json laptop-b.json
      two cards in two hosts: the effect of each, and whether they depend on each other
  flashmark compare --before before --after after --fail-if 10%
      after `run --label before`, a change, and `run --label after`

Three runs of each label tell far more than one: a single run does not see changes
between runs. Where something cannot be told, it says how many more runs would tell.

Exit codes with --fail-if: 0 passed, 1 slower, or nothing could be told (with --strict:
or something could not). With --by: 0 split, 1 nothing could be split.";

/// Flags of `host-effects`.
#[cfg(feature = "lab")]
#[derive(Debug, Args)]
pub struct HostEffectsFlags {
    /// A directory (the medium under it is read), a file, or a block device that is not in use.
    #[arg(value_name = "DIR|DEVICE")]
    pub target: String,
    /// How often each change is tried, each time as it is, changed, changed, as it is.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub rounds: u32,
    /// How long each turn of reading lasts.
    #[arg(long, value_name = "DURATION", default_value = "500ms")]
    pub time: String,
    /// Your words for the run.
    #[arg(long)]
    pub label: Option<String>,
    /// Where results go.
    #[command(flatten)]
    pub outputs: Outputs,
}

/// Flags of `matrix`.
#[derive(Debug, Args)]
pub struct MatrixFlags {
    /// A block device, a regular file, or a directory (a file is made in it and removed). Needs
    /// root: file systems are made and mounted.
    pub target: String,
    /// Which file systems: ext2, ext3, ext4, ext4-nojournal, xfs, xfs-nolazy, btrfs, f2fs, jfs,
    /// nilfs2, vfat, exfat, or all.
    #[arg(long, value_delimiter = ',', value_name = "FS,..", default_value = "all")]
    pub fs: Vec<String>,
    /// Which schedulers: none, mq-deadline, kyber, bfq, or all that the kernel offers.
    #[arg(long, value_delimiter = ',', value_name = "NAME,..", default_value = "all")]
    pub scheduler: Vec<String>,
    /// Which work: record-ops, threads, rrd, untar, sqlite, logger, boot, trace:FILE (recorded
    /// block I/O), files:TRACE (recorded operations on files).
    #[arg(long, value_delimiter = ',', value_name = "WORK,..", default_value = "record-ops")]
    pub work: Vec<String>,
    /// Changes a setting of a work. May be given several times.
    #[arg(long, value_name = "WORK.SETTING=VALUE")]
    pub set: Vec<String>,
    /// A set of mount options, separated by commas; each further one is tried as well.
    #[arg(long, value_name = "OPTION,..", default_value = "noatime")]
    pub mount_options: Vec<String>,
    /// Whether mkfs is told of the medium's allocation units: no, yes, or both.
    #[arg(long, value_delimiter = ',', value_name = "yes|no", default_value = "no", value_parser = ["yes", "no"])]
    pub align: Vec<String>,
    /// How large an allocation unit is, for --align yes; without it what the medium says, or else 4
    /// MiB.
    #[arg(long, value_name = "SIZE")]
    pub au: Option<String>,
    /// How often each combination is tried at least.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub repeats: u32,
    /// How often those are tried at most that may be best and are not told apart.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub most_repeats: u32,
    /// The longest it may take, all sittings together, for example 8h.
    #[arg(long, value_name = "DURATION")]
    pub time_limit: Option<String>,
    /// How large the file is that is made in a directory.
    #[arg(long, value_name = "SIZE")]
    pub size: Option<String>,
    /// Allows the medium or file to be overwritten; names it by serial number, CID or by-id name
    /// (by its path where it has none), a partition by its own name or its medium's.
    #[arg(long, value_name = "ID")]
    pub erase: Option<String>,
    /// Says that what lies on it may be overwritten. A medium that is not empty asks for this in a
    /// script, and for the word on a terminal.
    #[arg(long, requires = "erase")]
    pub yes: bool,
    /// Your words for this run.
    #[arg(long)]
    pub label: Option<String>,
    /// Every random choice comes from this number; without it a new one is drawn and recorded, for
    /// a simulated medium 1.
    #[arg(long)]
    pub seed: Option<u64>,
    /// Writes a workbook there, with raw values and formulas.
    #[arg(long, value_name = "FILE")]
    pub xlsx: Option<PathBuf>,
    /// Writes the raw values there.
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Prints what would be done and does nothing.
    #[arg(long)]
    pub plan: bool,
    /// Where results go.
    #[command(flatten)]
    pub outputs: Outputs,
}

/// What `import` reads.
const IMPORT_HELP: &str = "\
It reads what these print: fio (JSON, text, terse), dd, iozone, hdparm, ioping, f3 (f3write, f3read,
f3probe), H2testw, bonnie++, sysbench fileio, diskspd, elbencho, iostat -x, seeker, flashbench,
CrystalDiskMark, KDiskMark, AS SSD, PiBenchmarks, YABS, Raspberry Pi Diagnostics; and Flashmark's own
records and tables. docs/importing.md says what becomes of each.";

/// Flags of `import`.
#[derive(Debug, Args)]
#[command(after_help = IMPORT_HELP)]
pub struct ImportFlags {
    /// Files with the output of other tools; - for standard input. What they are is found out from
    /// their content.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Says what would be imported and keeps nothing.
    #[arg(long)]
    pub plan: bool,
    /// Your words for these runs.
    #[arg(long)]
    pub label: Option<String>,
    /// Who made the medium, where the text does not say.
    #[arg(long)]
    pub vendor: Option<String>,
    /// Which model it is.
    #[arg(long)]
    pub model: Option<String>,
    /// How large it is, for example 32GB.
    #[arg(long, value_name = "SIZE")]
    pub capacity: Option<String>,
    /// What kind of medium it is: sd, emmc, usb, compact-flash, ssd, nvme, disk.
    #[arg(long)]
    pub kind: Option<String>,
    /// What an iozone table counts whose head was cut off: ops (operations) or kB a second.
    #[arg(long, value_name = "UNIT", value_parser = ["ops", "kB"])]
    pub iozone_unit: Option<String>,
}

/// Flags of `tests`.
#[derive(Debug, Args)]
pub struct TestsFlags {
    /// Only this test.
    pub test: Option<String>,
}

/// Flags of `watch`.
#[derive(Debug, Args)]
pub struct WatchFlags {
    /// Devices or partitions: kernel names (sda1), paths, or names under /dev/disk/by-id.
    #[arg(required = true, value_name = "DEV")]
    pub devices: Vec<String>,
    /// How long each look lasts, for example 1s or 100ms.
    #[arg(long, default_value = "1s", value_name = "DURATION")]
    pub interval: String,
    /// Ends after so many; without it, at Ctrl-C.
    #[arg(long, value_name = "N")]
    pub count: Option<u64>,
    /// A JSON object for each device and look, a line each, under the names that iostat uses.
    #[arg(long)]
    pub json: bool,
}

/// Flags of `capture`.
#[derive(Debug, Args)]
pub struct CaptureFlags {
    /// Device or partition: its kernel name (sda1), path, or name under /dev/disk/by-id.
    #[arg(value_name = "DEV", required_unless_present = "files", conflicts_with = "files")]
    pub device: Option<String>,
    /// Records what programs do with the files below this directory instead, for `matrix --work
    /// files:TRACE`.
    #[arg(long, value_name = "DIR")]
    pub files: Option<PathBuf>,
    /// Where the trace is written; best on another medium.
    #[arg(long, short, value_name = "TRACE")]
    pub output: PathBuf,
    /// Ends after so long, for example 60s; without it, at Ctrl-C.
    #[arg(long, value_name = "DURATION")]
    pub time: Option<String>,
    /// Ends when the trace is so large, for example 1GiB.
    #[arg(long, value_name = "SIZE")]
    pub size_limit: Option<String>,
    /// No progress on the screen.
    #[arg(long, short)]
    pub quiet: bool,
}

/// What to do with simulated media.
#[derive(Debug, Subcommand)]
pub enum SimCommand {
    /// Names the profiles, a line each.
    List,
    /// Prints a profile.
    Show {
        /// Its name.
        profile: String,
    },
    #[cfg(feature = "attach")]
    /// Makes a profile a block device of this machine, in wall-clock time, to try any tool on.
    /// Needs root.
    ///
    /// Prints the device's path and serves it until Ctrl-C. What is written is kept in memory and
    /// gone afterwards. Each profile is as slow as its original.
    Attach(AttachFlags),
    #[cfg(feature = "attach")]
    /// Ends what `attach` began, and cleans up after one that was killed.
    Detach(DetachFlags),
}

/// Flags of `sim attach`.
#[derive(Debug, Args)]
pub struct AttachFlags {
    /// Its name, or a TOML file of your own.
    pub profile: String,
    /// Another size than the profile's, for example 1GiB; a fake shrinks in proportion.
    #[arg(long)]
    pub size: Option<String>,
    /// Every chance comes from it.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Returns at once and goes on serving, until `flashmark sim detach`.
    #[arg(long)]
    pub background: bool,
    /// Takes from this file what the way to the medium costs, and measures it into the file where
    /// there is none: media of one file differ in nothing else.
    #[arg(long, hide = true)]
    pub way: Option<PathBuf>,
    /// Serves whoever started it with --background.
    #[arg(long, hide = true, conflicts_with = "background")]
    pub served: bool,
}

/// Flags of `sim detach`.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct DetachFlags {
    /// The device, as `attach` printed it.
    pub device: Option<PathBuf>,
    /// Everything that this user attached with --background, and what killed servers left.
    #[arg(long)]
    pub all: bool,
}

/// Flags of `publish`.
#[derive(Debug, Args)]
pub struct PublishFlags {
    /// Where the site is made. A directory that is no such site and not empty is never touched.
    pub dir: PathBuf,
    /// Which runs; without any, all of this machine that measured something.
    #[arg(conflicts_with = "database")]
    pub runs: Vec<String>,
    /// A collection that is a repository of records, instead of runs.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["database", "runs"])]
    pub collection: Option<PathBuf>,
    /// A collection instead of runs: sqlite:FILE, or postgres://.. where this build knows it.
    #[arg(long, value_name = "ADDRESS")]
    pub database: Option<String>,
    /// What the site is called; without it, what the repository says, or "Flashmark collection".
    #[arg(long)]
    pub title: Option<String>,
    /// The full address it will have, for example https://example.org/cards/; feed readers need it.
    /// Without it, the one that the repository says.
    #[arg(long, value_name = "URL")]
    pub address: Option<String>,
    /// Without the built-in reference data.
    #[arg(long)]
    pub no_reference: bool,
    /// Adds keys of medium and host, made with the secret in this file, so that a collection tells
    /// them apart and does not learn which they are.
    #[arg(long, value_name = "FILE", conflicts_with = "database")]
    pub keys: Option<PathBuf>,
}

/// Flags of `validate`.
#[derive(Debug, Args)]
#[command(override_usage = "flashmark validate FILE..")]
pub struct ValidateFlags {
    /// Records or published runs, plain or packed with gzip; of a directory, all below it.
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Prints only what is doubtful or refused, and the counts.
    #[arg(long)]
    pub quiet: bool,
}

/// What to do with a collection that is a repository of records.
#[derive(Debug, Subcommand)]
pub enum CollectionCommand {
    /// Makes a repository: settings, a page for contributors, workflows that judge pull requests
    /// and publish pages.
    Init(CollectionInitFlags),
    /// Judges the records of a repository, or those that changed.
    Check(CollectionCheckFlags),
}

/// Flags of `collection init`.
#[derive(Debug, Args)]
#[command(override_usage = "flashmark collection init DIR")]
pub struct CollectionInitFlags {
    /// A directory that is new, empty, or a fresh clone.
    pub dir: PathBuf,
    /// What the collection is called.
    #[arg(long, default_value = "Flashmark collection")]
    pub title: String,
    /// The address of its pages, for example https://example.org/cards/.
    #[arg(long, value_name = "URL")]
    pub address: Option<String>,
}

/// Flags of `collection check`.
#[derive(Debug, Args)]
#[command(override_usage = "flashmark collection check [DIR]")]
pub struct CollectionCheckFlags {
    /// The repository.
    #[arg(default_value = ".")]
    pub dir: PathBuf,
    /// Only what changed since this revision of git; changes outside the records are refused.
    #[arg(long, value_name = "REVISION")]
    pub since: Option<String>,
    /// The account that sent these changes; it may change its own records only.
    #[arg(long, value_name = "ACCOUNT", requires = "since")]
    pub sender: Option<String>,
}

/// Flags of `submit`.
#[derive(Debug, Args)]
pub struct SubmitFlags {
    /// Which run: its id, the beginning of it, "latest", or a record file.
    #[arg(value_name = "RUN", conflicts_with = "withdraw")]
    pub run: Option<String>,
    /// The address of the collection, for example https://cards.example.org; or a repository made
    /// by `collection init`: its directory, or an address of git.
    #[arg(long, value_name = "URL", env = "FLASHMARK_COLLECTION")]
    pub to: Option<String>,
    /// Your account at the forge, where the collection is a repository; git's github.user
    /// otherwise.
    #[arg(long, value_name = "ACCOUNT", conflicts_with_all = ["withdraw", "pending", "replace"])]
    pub sender: Option<String>,
    /// Prints all that would be sent, to the last digit, and sends nothing.
    #[arg(long, conflicts_with = "withdraw")]
    pub show: bool,
    /// Adds keys of medium and host, made with the secret in this file, so that a collection tells
    /// them apart and does not learn which they are.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["withdraw", "pending"])]
    pub keys: Option<PathBuf>,
    /// Sends it without asking.
    #[arg(long)]
    pub yes: bool,
    /// A token of that collection, or the one that was printed when the run was sent. Others can
    /// read a command line; the environment is better.
    #[arg(long, value_name = "TOKEN", env = "FLASHMARK_TOKEN", hide_env_values = true)]
    pub token: Option<String>,
    /// Puts the run in the place of this one of the collection; what was there stays readable as an
    /// earlier revision.
    #[arg(long, value_name = "ID", conflicts_with = "withdraw")]
    pub replace: Option<String>,
    /// Sends what could not be sent before: to the collection of --to, or each run to its own.
    #[arg(long, conflicts_with_all = ["run", "show", "replace", "withdraw"])]
    pub pending: bool,
    /// Takes this run out of the collection, for good.
    #[arg(long, value_name = "ID")]
    pub withdraw: Option<String>,
    /// Why it is taken out, for the record of the collection.
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
    /// A capture of flashmark's, a file of blktrace's (NAME.blktrace.0, or NAME for all
    /// processors), text of blkparse's, or a fio iolog (version 2 or 3).
    pub trace: PathBuf,
    /// A directory (a test file is made in it and removed), a regular file, a block device, or
    /// sim:PROFILE.
    pub target: String,
    /// 1: each request at its time; N: so many times as fast (0.5: half as fast); max: as fast as
    /// possible. What waited for another request when it was recorded always waits.
    #[arg(long, default_value = "1", value_name = "1|N|max")]
    pub speed: String,
    /// What becomes of a trace on a target of another size: squeezed or stretched to it, wrapped
    /// around at its end, or without the requests beyond it. Without this, a trace that is larger
    /// is refused.
    #[arg(long, value_name = "HOW")]
    pub fit: Option<FitFlag>,
    /// Requests in flight of a trace that does not say what waited for what (a fio iolog).
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub depth: u32,
    /// Leaves out writes, flushes and discards, so that nothing on the target changes.
    #[arg(long)]
    pub reads_only: bool,
    /// Your words for this run.
    #[arg(long)]
    pub label: Option<String>,
    /// The data that is written comes from this number.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// What may be touched, and how.
    #[command(flatten)]
    pub access: AccessFlags,
    /// Prints what is in the trace and what would be done, and does nothing.
    #[arg(long)]
    pub plan: bool,
    /// Where results go.
    #[command(flatten)]
    pub outputs: Outputs,
}

/// `--fit` as typed.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum FitFlag {
    /// The whole trace is squeezed or stretched to the target, each MiB as a whole.
    Scale,
    /// Places beyond the end go on at the beginning.
    Wrap,
    /// Requests beyond the end are left out.
    Skip,
}

/// Flags of `export`.
#[derive(Debug, Args)]
pub struct ExportFlags {
    /// Which runs; of a collection by their ids there, and without any all of it.
    #[arg(value_name = "RUN", required_unless_present_any = ["database", "all"])]
    pub runs: Vec<String>,
    /// All runs of this machine that measured something.
    #[arg(long, conflicts_with_all = ["runs", "database"])]
    pub all: bool,
    /// Only runs that ended at this time or later: 2026-11-01, 2026-11-01T12:00:00Z, or 30d for the
    /// last thirty days. Runs without a time, as those of simulated media, are left out.
    #[arg(long, value_name = "WHEN")]
    pub since: Option<String>,
    /// As what. All but xlsx, parquet and dataset go to standard output where no file is named.
    #[arg(long, value_enum, default_value_t = ExportFormat::Csv)]
    pub format: ExportFormat,
    /// Where to write it; Parquet makes two files, runs.parquet and cells.parquet, in that
    /// directory; a data set replaces one that is there.
    #[arg(long, short, value_name = "FILE|DIR|-")]
    pub output: Option<PathBuf>,
    /// Runs of this collection: sqlite:FILE, or postgres://.. where this build knows it.
    #[arg(long, value_name = "ADDRESS")]
    pub database: Option<String>,
    /// Adds keys of medium and host, made with the secret in this file, so that a collection tells
    /// them apart and does not learn which they are.
    #[arg(long, value_name = "FILE", conflicts_with = "database")]
    pub keys: Option<PathBuf>,
}

/// What to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// A row a cell.
    Csv,
    /// A workbook with a sheet of runs and a sheet of cells.
    Xlsx,
    /// A file of runs and a file of cells.
    Parquet,
    /// Parquet of runs, cells, curves and histograms, in directories by kind and month.
    Dataset,
    /// All of it, with histograms and curves.
    Json,
    /// As fio prints it (json+).
    Fio,
    /// Headline figures as gauges, for Prometheus.
    Openmetrics,
    /// Headline figures in Bencher Metric Format.
    Bencher,
}
