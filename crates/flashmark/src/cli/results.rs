//! Flags of the commands that show media, tests and results.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Flags of `list`.
#[derive(Debug, Args)]
pub struct ListFlags {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Ask each medium how much of its life is used (sysfs, smartctl, sdmon); nothing is read from
    /// it.
    #[arg(long)]
    pub health: bool,
}

/// Flags of `tests`.
#[derive(Debug, Args)]
pub struct TestsFlags {
    /// Test to show. Without it, all tests are listed.
    pub test: Option<String>,
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
}

const SHOW_HELP: &str = "\
Columns:
  95 % interval   range of the figure in 95 of 100 cases if the same run is
                  repeated here now.
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
    /// Write the latest figures of each medium to this file as gauges for Prometheus; - for standard
    /// output (docs/metrics.md).
    #[arg(long, value_name = "FILE|-", conflicts_with_all = ["columns", "json"])]
    pub openmetrics: Option<PathBuf>,
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
    #[arg(long, value_name = "NUMBER")]
    pub article: Option<String>,
    /// File of the page; with several runs, a directory with one page each. Without it, each page
    /// is kept with its run, and an article is printed.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// File of a picture with the verdict of one run, to post (SVG); no page is made.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["html", "article"])]
    pub svg: Option<PathBuf>,
}

const REPORT_HELP: &str = "\
Examples:
  flashmark report latest --html run.html
      the page of a run
  flashmark report latest --svg run.svg
      its verdict as a picture
  flashmark report --article 004 latest
      the table of an article with your medium beside it
  flashmark report --article 004 latest --html article.html
      the same table as a page

Articles are numbered 000 to 004. The pages of a site are numbered from 1:
article-5 is the same as 004. A bare 4 is refused, as it could be either.";

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
    /// Factor of which each level is compared with the first, by runs that are equal in everything
    /// else. Exit code 1, with the reason, if there are none.
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
    /// Uses to rank the media for: root-disk, camera, video, logger, database. Without it, all.
    #[arg(long = "for", value_delimiter = ',', value_name = "USE,..", conflicts_with = "before")]
    pub uses: Vec<String>,
    /// Print every figure, in a table for each kind of work.
    #[arg(long)]
    pub details: bool,
    /// Write the comparison to this file as JSON; - for standard output.
    #[arg(long, value_name = "FILE|-")]
    pub json: Option<PathBuf>,
    /// Write the comparison to this file as a page.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Print Markdown tables for a forum or an issue, without paths and serial numbers.
    #[arg(long, conflicts_with_all = ["json", "fail_if"])]
    pub markdown: bool,
}

const COMPARE_HELP: &str = "\
Examples:
  flashmark compare latest card-b.json
      which of two media is faster at what
  flashmark compare a=RUN a=RUN b=RUN b=RUN
      two cards in two readers: which is faster in which
  flashmark compare --by host pi.json laptop.json
      the same card in two hosts: how many times faster the second is
  flashmark compare --before before --after after --fail-if 10%
      after `run --label before`, a change, and `run --label after`

Make three runs of each label: a single run does not show changes between runs.
If a figure cannot be decided, the output gives the number of runs to add.

Exit codes with --fail-if: 0 passed, 1 slower, or no figure could be decided
(with --strict: or any could not). With --by: 0 compared, 1 no runs are equal
in everything else.";

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

/// Flags of `explain`.
#[derive(Debug, Args)]
pub struct ExplainFlags {
    /// Finding, as `flashmark show --findings` names it, or a word of the glossary. Without it, all
    /// are listed.
    #[arg(value_name = "FINDING")]
    pub name: Option<String>,
}
