//! Flags of the commands that measure a target, and of those that continue or undo it.

use std::num::NonZeroU32;

use clap::Args;

use crate::outputs::{Outputs, ProgressForm};
use program::exit::{Result, usage};

/// Flags of `check`.
#[derive(Debug, Args)]
#[command(override_usage = "flashmark check TARGET... [FLAGS]", after_help = CHECK_HELP)]
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
    #[arg(hide_short_help = true, long)]
    pub label: Option<String>,
    /// Seed of all random choices. Without it, a new one is drawn and recorded; for a simulated
    /// medium it is 1.
    #[arg(hide_short_help = true, long)]
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
    #[arg(hide_short_help = true, long, value_enum, value_name = "FORM", default_value_t)]
    pub progress: ProgressForm,
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
    #[arg(hide_short_help = true, long, value_delimiter = ',', value_name = "TEST,..")]
    pub skip: Vec<String>,
    /// Change a setting of a test; `flashmark tests` lists them. May be given several times.
    #[arg(long, value_name = "TEST.SETTING=VALUE")]
    pub set: Vec<String>,
    /// Claims of the box, separated by commas: capacity=32GB, class=10, uhs=1, video=30, app=A1,
    /// read=95MB/s, write=40MB/s; or your own limits: random-read=1500IOPS, random-write=500IOPS,
    /// p99=20ms, longest=1s (of 4 KiB random writes). Exit code 1 if one is not met.
    #[arg(long, value_name = "CLAIMS")]
    pub claim: Option<String>,
    /// Intended uses: root-disk, camera, video=100Mbit, logger, database. Exit code 1 if it is poor or
    /// not suitable for one of them.
    #[arg(long = "for", value_delimiter = ',', value_name = "USE,..")]
    pub uses: Vec<String>,
    /// Exit code 1 also if a use or a claim cannot be decided.
    #[arg(long)]
    pub strict: bool,
    /// Label of this run, any text.
    #[arg(hide_short_help = true, long)]
    pub label: Option<String>,
    /// Seed of all random choices. Without it, a new one is drawn and recorded; for a simulated
    /// medium it is 1.
    #[arg(hide_short_help = true, long)]
    pub seed: Option<u64>,
    /// Time limit of the run, for example 10m.
    #[arg(hide_short_help = true, long, value_name = "DURATION")]
    pub time_limit: Option<String>,
    /// Target precision of each rate (half the width of its interval), for example 2%; finer takes
    /// longer.
    #[arg(hide_short_help = true, long, value_name = "SHARE")]
    pub precision: Option<String>,
    /// Approximate duration of the run, for example 5m; more time gives narrower intervals.
    #[arg(long, value_name = "DURATION", conflicts_with_all = ["precision", "time_limit"])]
    pub time: Option<String>,
    /// Number of passes, all in one record; each measures every rate. From three passes on, the
    /// interval comes from the differences between them.
    #[arg(hide_short_help = true, long, value_name = "N")]
    pub repeat: Option<NonZeroU32>,
    /// Continue to measure a medium that was found to be a fake.
    #[arg(hide_short_help = true, long)]
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
    #[arg(hide_short_help = true, long, value_name = "OFFSET+SIZE")]
    pub span: Option<String>,
    /// I/O engine.
    #[arg(hide_short_help = true, long, value_name = "ENGINE", default_value = "auto", value_parser = ["auto", "uring", "psync"])]
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
    #[arg(hide_short_help = true, value_name = "TARGET")]
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
