//! The command line as typed: runs exchanged with other tools and with collections.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Keeps results of many: imports, exports, judges and publishes them.
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
    /// Import the output of other tools as runs: fio, iozone, dd, f3, flashbench, hdparm, ioping
    /// and more.
    Import(ImportFlags),
    /// Export runs, or a whole collection: CSV, JSON or Parquet.
    Export(ExportFlags),
    /// Send a run to a public collection: shows what would be sent, and asks.
    Submit(SubmitFlags),
    /// Check whether a collection would accept these records, and name the faults of the others.
    Validate(ValidateFlags),
    /// Make a site of a collection, as static files: a table to sort, filter and compare, a page
    /// for each medium, all data.
    Publish(PublishFlags),
    /// Make a collection, a folder of records: settings, a page for contributors, workflows that
    /// check pull requests and publish pages.
    Init(InitFlags),
    /// Serve the pages of a collection and take records, which wait for a reviewer.
    Serve(ServeFlags),
    /// List the records that wait for a reviewer.
    Incoming(IncomingFlags),
    /// Put a record that waits into the collection.
    Accept(AcceptFlags),
    /// Remove a record that waits.
    Reject(RejectFlags),
    /// Keep the record on standard input for a reviewer.
    #[command(hide = true)]
    Receive(ReceiveFlags),
}

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

/// Formats that `import` reads.
const IMPORT_HELP: &str = "\
Output of these tools is recognised: fio (JSON, normal text), dd, iozone,
hdparm, ioping, f3 (f3write, f3read, f3probe), H2testw, bonnie++, sysbench
fileio, iostat -x, seeker, flashbench, CrystalDiskMark, KDiskMark,
PiBenchmarks, Raspberry Pi Diagnostics, badblocks, GNOME Disks, smartctl, nvme
smart-log, mmc extcsd; also Flashmark's own records.
docs/importing.md describes the result of each.";

/// Flags of `export`.
#[derive(Debug, Args)]
pub struct ExportFlags {
    /// Runs to export.
    #[arg(value_name = "RUN", required_unless_present = "all")]
    pub runs: Vec<String>,
    /// Export all runs of this machine that measured something.
    #[arg(long, conflicts_with = "runs")]
    pub all: bool,
    /// Earliest end of a run: 2026-11-01, 2026-11-01T12:00:00Z, or 30d for the last thirty days.
    /// Earlier runs, and runs without a time such as those of simulated media, are left out.
    #[arg(long, value_name = "WHEN")]
    pub since: Option<String>,
    /// Format of the export. All but parquet go to standard output if no file is named.
    #[arg(long, value_enum, default_value_t = ExportFormat::Csv)]
    pub format: ExportFormat,
    /// File or directory to write to. Parquet makes two files, runs.parquet and cells.parquet, in
    /// the directory.
    #[arg(long, short, value_name = "FILE|DIR|-")]
    pub output: Option<PathBuf>,
}

/// Format of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// One row for each cell.
    Csv,
    /// File of runs and file of cells.
    Parquet,
    /// Complete data, with histograms and curves.
    Json,
}

/// Flags of `publish`.
#[derive(Debug, Args)]
pub struct PublishFlags {
    /// Directory of the site. A directory that is not empty and no such site is never changed.
    pub dir: PathBuf,
    /// Runs to publish. Without any, all runs of this machine that measured something.
    pub runs: Vec<String>,
    /// Collection in a repository of records, instead of runs.
    #[arg(long, value_name = "DIR", conflicts_with = "runs")]
    pub collection: Option<PathBuf>,
    /// Title of the site. Without it, the title of the repository, or "Flashmark collection".
    #[arg(long)]
    pub title: Option<String>,
    /// Leave out the built-in reference data.
    #[arg(long)]
    pub no_reference: bool,
}

/// Flags of `validate`.
#[derive(Debug, Args)]
#[command(override_usage = "flashmark validate FILE..|DIR")]
pub struct ValidateFlags {
    /// Records or published runs, plain or compressed with gzip; a directory stands for all files
    /// below it. A collection that `init` made is checked as a whole.
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Print only doubtful and refused records, and the counts.
    #[arg(long)]
    pub quiet: bool,
    /// Of a collection, check only changes since this git revision; changes outside the records are
    /// refused.
    #[arg(long, value_name = "REVISION")]
    pub since: Option<String>,
    /// Account that sent these changes; it may change only its own records.
    #[arg(long, value_name = "ACCOUNT", requires = "since")]
    pub sender: Option<String>,
}

/// Flags of `init`.
#[derive(Debug, Args)]
pub struct InitFlags {
    /// Directory of the collection: new, empty, or a fresh clone.
    pub dir: PathBuf,
    /// Title of the collection.
    #[arg(long, default_value = "Flashmark collection")]
    pub title: String,
    /// Public address of its pages, for example https://example.org/cards/.
    #[arg(long, value_name = "URL")]
    pub address: Option<String>,
    /// Archive of the release that the workflows use: its address, and its SHA-256 behind a #.
    #[arg(long, value_name = "URL#SHA256")]
    pub release: Option<String>,
}

/// Flags of `serve`.
#[derive(Debug, Args)]
pub struct ServeFlags {
    /// Directory of the collection; its pages are in `site` there.
    pub dir: PathBuf,
    /// Address and port to listen at. Other machines reach 0.0.0.0; TLS is the work of a proxy.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    pub listen: SocketAddr,
}

/// Flags of `incoming`.
#[derive(Debug, Args)]
pub struct IncomingFlags {
    /// Directory of the collection.
    #[arg(default_value = ".")]
    pub dir: PathBuf,
}

/// Flags of `accept`.
#[derive(Debug, Args)]
pub struct AcceptFlags {
    /// Record, as `incoming` lists it, SENDER/ID, or the beginning of its id.
    pub id: String,
    /// Directory of the collection.
    #[arg(default_value = ".")]
    pub dir: PathBuf,
    /// Why a doubtful record is taken.
    #[arg(long, value_name = "REASON")]
    pub because: Option<String>,
}

/// Flags of `reject`.
#[derive(Debug, Args)]
pub struct RejectFlags {
    /// Record, as `incoming` lists it, SENDER/ID, or the beginning of its id.
    pub id: String,
    /// Directory of the collection.
    #[arg(default_value = ".")]
    pub dir: PathBuf,
}

/// Flags of `receive`.
#[derive(Debug, Args)]
pub struct ReceiveFlags {
    /// Directory of the collection.
    pub dir: PathBuf,
    /// Account that sends it.
    #[arg(long)]
    pub sender: String,
}

/// Flags of `submit`.
#[derive(Debug, Args)]
pub struct SubmitFlags {
    /// Run: its id, the beginning of it, "latest", or a record file.
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// Collection: its directory, its repository (OWNER/REPO of GitHub, or a git address), or the
    /// address of a mail slot, http(s)://..
    #[arg(long, value_name = "DIR|OWNER/REPO|URL", env = "FLASHMARK_COLLECTION")]
    pub to: Option<String>,
    /// Your account at the forge. Without it, that of gh, or git's github.user.
    #[arg(long, value_name = "ACCOUNT")]
    pub sender: Option<String>,
    /// Print everything that would be sent, to the last digit, and send nothing.
    #[arg(long)]
    pub show: bool,
    /// Send without asking.
    #[arg(long)]
    pub yes: bool,
}
