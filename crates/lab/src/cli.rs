//! The command line as typed: work on file systems, traces, the present I/O of devices, simulated
//! media for other tools.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use session::flags::{AccessFlags, ResumeFlags};
use session::outputs::{Outputs, ProgressForm};

/// Measures file systems, schedulers, real work and traces.
#[derive(Debug, Parser)]
#[command(version, about, propagate_version = true, arg_required_else_help = true)]
pub struct Cli {
    /// Command to run.
    #[command(subcommand)]
    pub command: Command,
}

/// Command to run.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Compare file systems and schedulers with real work, and recommend which to use.
    Matrix(Box<MatrixFlags>),
    /// Replay recorded I/O (blktrace, fio iologs) as recorded, faster, or as fast as
    /// possible.
    Replay(Box<ReplayFlags>),
    /// Show the present I/O of devices, as `iostat -x` does. Needs no root.
    Watch(WatchFlags),
    /// Attach a simulated medium as a block device, in wall-clock time, for any tool. Needs root.
    ///
    /// Prints the path of the device and serves it until Ctrl-C. Written data is kept in memory and
    /// lost afterwards. Each profile is as slow as its original.
    Attach(AttachFlags),
    /// Detach what `attach` attached, and clean up after one that was killed.
    Detach(DetachFlags),
    /// Continue an interrupted matrix, for `flashmark resume`.
    #[command(hide = true)]
    Resume(ResumeFlags),
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
            Command::Matrix(flags) => flags.outputs.progress,
            Command::Replay(flags) => flags.outputs.progress,
            Command::Resume(flags) => flags.outputs.progress,
            _ => ProgressForm::Auto,
        }
    }
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
    /// Work to measure: record-ops, threads, rrd, untar, sqlite, logger, trace:FILE (recorded
    /// block I/O), files:TRACE (what strace wrote of a program; `strace -f -ttt -y -s 0 -e trace=%file,%desc -o TRACE PROGRAM`; writes through a mapping are not in it).
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

/// Flags of `replay`.
#[derive(Debug, Args)]
pub struct ReplayFlags {
    /// Trace: a file of blktrace (NAME.blktrace.0, or NAME for all
    /// processors) or a fio iolog (version 2 or 3).
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

/// Flags of `watch`.
#[derive(Debug, Args)]
pub struct WatchFlags {
    /// Devices or partitions: kernel names (sda1), paths, or names under /dev/disk/by-id.
    /// Without any, all disks, from boot to now.
    #[arg(value_name = "DEV")]
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

/// Flags of `attach`.
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
    /// Return at once and serve in the background, until `flashmark detach`.
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

/// Flags of `detach`.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct DetachFlags {
    /// Device, as printed by `attach`.
    pub device: Option<PathBuf>,
    /// Detach everything that this user attached with --background, and what killed servers left.
    #[arg(long)]
    pub all: bool,
}
