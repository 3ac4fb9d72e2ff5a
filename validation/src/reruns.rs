//! `cargo validation reruns`: counts how often the 95 % interval of a run contains the figure of
//! another run of the same command.
//!
//! `flashmark check` runs again and again on a file system whose rate the kernel keeps steady, on a
//! directory of the system's disk, and on both beside a program that loads processors and disk in
//! bursts. Runs alternate between these, so that other load on the machine affects all.

pub mod checks;
mod shares;
pub mod storage;
pub mod throttle;

use std::fmt::{self, Write as _};
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use serde_json::Value;

use crate::attached::load::Load;
use crate::section;
use checks::{Checks, FIGURES, Figure, StudyFlags, figures, goals_missed, in_words};
use shares::Agreement;
use storage::{OnDisk, Storage, Throttled, scratch};
use throttle::Caps;

/// Page with the table, and the marks around it.
pub const PAGE: &str = "docs/truth.md";
const NAME: &str = "cargo validation reruns";
const HEADING: &str = "Repetitions on real machines";

/// Percent of the figures of other runs that a 95 % interval should contain.
const EXPECTED: std::ops::RangeInclusive<f64> = 90.0..=98.0;
/// Widest interval at a steady rate, in standard deviations.
const WIDEST: f64 = 4.0;

/// Flags of the study.
#[derive(clap::Args)]
pub struct Flags {
    /// Number of runs of each target.
    #[arg(long, default_value_t = 20)]
    runs: usize,
    /// Targets to check. Without it, all.
    #[arg(long, value_delimiter = ',', value_name = "TARGET,..")]
    only: Vec<Target>,
    #[command(flatten)]
    study: StudyFlags,
}

/// Storage that is checked again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Target {
    /// File system on a loop device, throttled by the kernel.
    Loop,
    /// Directory on the disk of the checkout.
    Directory,
    /// File system on a loop device, during a load in bursts.
    LoopBusy,
    /// Directory on the disk, during a load in bursts.
    DirectoryBusy,
}

impl Target {
    fn is_throttled(self) -> bool {
        matches!(self, Target::Loop | Target::LoopBusy)
    }

    fn is_busy(self) -> bool {
        matches!(self, Target::LoopBusy | Target::DirectoryBusy)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Target::Loop => "loop",
            Target::Directory => "directory",
            Target::LoopBusy => "loop-busy",
            Target::DirectoryBusy => "directory-busy",
        })
    }
}

/// Figures of one run.
type Run = [Option<Figure>; 4];

/// The runs of one target.
struct Series {
    target: Target,
    /// File with a line of JSON for each run, as `check` printed it.
    kept: Option<PathBuf>,
    runs: Vec<Run>,
}

impl Series {
    /// Begins with the runs that an earlier call kept in `keep`.
    fn begin(target: Target, keep: Option<&Path>) -> Result<Series> {
        let kept = keep.map(|keep| keep.join(format!("{target}.jsonl")));
        let runs = match kept.as_deref().filter(|kept| kept.exists()) {
            Some(kept) => read(kept).with_context(|| format!("reading {}", kept.display()))?,
            None => Vec::new(),
        };
        Ok(Series { target, kept, runs })
    }

    fn add(&mut self, printed: &Value) -> Result<()> {
        if let Some(kept) = &self.kept {
            let mut file = OpenOptions::new().create(true).append(true).open(kept)?;
            writeln!(file, "{printed}").with_context(|| format!("writing {}", kept.display()))?;
        }
        self.runs.push(figures(printed));
        eprintln!("{} run {}: {}", self.target, self.runs.len(), in_words(printed));
        Ok(())
    }

    /// Agreement of its runs, in the order of [`FIGURES`].
    fn agreements(&self) -> [Option<Agreement>; 4] {
        let figure = |at: usize| self.runs.iter().filter_map(|run| run[at]).collect::<Vec<_>>();
        std::array::from_fn(|at| Agreement::of(&figure(at)))
    }
}

/// Reads the runs of a file of lines.
fn read(kept: &Path) -> Result<Vec<Run>> {
    let text = fs::read_to_string(kept)?;
    text.lines().map(|line| Ok(figures(&serde_json::from_str(line)?))).collect()
}

/// Storage behind the targets, each made when it is first needed.
struct Places {
    throttled: Option<Throttled>,
    on_disk: Option<OnDisk>,
}

impl Places {
    fn make(root: &Path, series: &[Series]) -> Result<Places> {
        let is_wanted = |throttled| series.iter().any(|of| of.target.is_throttled() == throttled);
        Ok(Places {
            throttled: is_wanted(true).then(|| Throttled::make(root, Caps::CARD)).transpose()?,
            on_disk: is_wanted(false).then(|| OnDisk::make(root)).transpose()?,
        })
    }

    fn of(&self, target: Target) -> Result<&dyn Storage> {
        if target.is_throttled() {
            Ok(self.throttled.as_ref().context("no throttled storage was made")?)
        } else {
            Ok(self.on_disk.as_ref().context("no directory was made")?)
        }
    }
}

/// Makes the missing runs and prints the table. An error if a goal is missed, unless the table is
/// written.
pub fn run(root: &Path, flags: &Flags) -> Result<()> {
    let keep = flags.study.keep.as_deref();
    keep.map_or(Ok(()), fs::create_dir_all)?;
    let wanted = Target::value_variants().iter().copied();
    let mut series = wanted
        .filter(|target| flags.only.is_empty() || flags.only.contains(target))
        .map(|target| Series::begin(target, keep))
        .collect::<Result<Vec<_>>>()?;
    measure(root, flags, &mut series)?;
    let text = table(&series, flags);
    print!("{text}");
    let missed: Vec<String> = series.iter().flat_map(missed).collect();
    if flags.study.write {
        return section::keep(&root.join(PAGE), HEADING, NAME, &text);
    }
    ensure!(missed.is_empty(), "{} goals are missed", missed.len());
    Ok(())
}

/// Runs every target up to the requested number, in turn.
fn measure(root: &Path, flags: &Flags, series: &mut [Series]) -> Result<()> {
    if series.iter().all(|of| of.runs.len() >= flags.runs) {
        return Ok(());
    }
    let checks = Checks::prepare(root, &flags.study)?;
    let places = Places::make(root, series)?;
    let beside = scratch(root)?;
    for number in 0..flags.runs {
        for of in series.iter_mut().filter(|of| of.runs.len() <= number) {
            let load = of.target.is_busy().then(|| Load::begin(beside.path(), number as u64));
            let load = load.transpose()?;
            let checked = checks.run(places.of(of.target)?)?;
            drop(load);
            of.add(&checked.printed)?;
        }
    }
    Ok(())
}

fn table(series: &[Series], flags: &Flags) -> String {
    let heads = FIGURES.map(|(head, _)| format!(" {head} |")).concat();
    let Caps { read_bps, write_bps, read_iops, write_iops } = Caps::CARD;
    let mut text = format!(
        "`{NAME} --runs {}{}`: percent of the figures of other runs that lie inside\n\
         the 95 % interval of a run; in parentheses the mean half-width of the intervals and the standard\n\
         deviation of the runs, both in percent of the logarithm. `loop`: a file system on a loop device that\n\
         the kernel keeps below {} MB/s and {read_iops} IOPS of reads, {} MB/s and {write_iops} IOPS of writes.\n\
         `directory`: on the system's disk. `busy`: beside busy threads and synced writes, in bursts.\n\n\
         | target | runs |{heads}\n|---|---:|---:|---:|---:|---:|\n",
        flags.runs,
        flags.study.words(),
        read_bps / 1_000_000,
        write_bps / 1_000_000,
    );
    for of in series {
        let cells = of.agreements().map(|agreement| format!(" {} |", cell(agreement))).concat();
        writeln!(text, "| {} | {} |{cells}", of.target, of.runs.len()).ok();
    }
    let missed: Vec<String> = series.iter().flat_map(missed).collect();
    writeln!(
        text,
        "\nGoals: {} to {} % inside; on `loop` a half-width of at most {WIDEST} standard deviations. {}",
        EXPECTED.start(),
        EXPECTED.end(),
        goals_missed(&missed)
    )
    .ok();
    text
}

fn cell(agreement: Option<Agreement>) -> String {
    agreement.map_or("-".to_owned(), |Agreement { inside, half_width, deviation }| {
        format!("{inside:.0} ({half_width:.1}, {deviation:.1})")
    })
}

/// Goals that a target misses.
fn missed(series: &Series) -> Vec<String> {
    let mut missed = Vec::new();
    for ((figure, _), agreement) in FIGURES.into_iter().zip(series.agreements()) {
        let target = series.target;
        let Some(Agreement { inside, half_width, deviation }) = agreement else {
            missed.push(format!("{target}, {figure}: no intervals to count"));
            continue;
        };
        if !EXPECTED.contains(&inside) {
            missed.push(format!("{target}, {figure}: {inside:.1} % inside"));
        }
        if target == Target::Loop && half_width > WIDEST * deviation {
            let times = half_width / deviation;
            missed.push(format!(
                "{target}, {figure}: a half-width of {times:.1} standard deviations"
            ));
        }
    }
    missed
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes runs of one figure, each with an interval of this factor on both sides.
    fn series(target: Target, values: &[f64], factor: f64) -> Series {
        let run = |value: &f64| {
            let figure = Figure { value: *value, ci95: Some([value / factor, value * factor]) };
            [Some(figure); 4]
        };
        Series { target, kept: None, runs: values.iter().map(run).collect() }
    }

    fn flags() -> Flags {
        let study =
            StudyFlags { program: None, keep: None, budget: Some("15s".to_owned()), write: false };
        Flags { runs: 3, only: Vec::new(), study }
    }

    #[test]
    fn the_table_has_a_line_a_target_and_the_goals_below() {
        let mut bare = series(Target::DirectoryBusy, &[100.0, 101.0], 1.001);
        bare.runs.iter_mut().for_each(|run| run[1] = None);
        insta::assert_snapshot!(table(&[series(Target::Loop, &[100.0, 101.0, 103.0], 1.021), bare], &flags()), @r"
    `cargo validation reruns --runs 3 --budget 15s`: percent of the figures of other runs that lie inside
    the 95 % interval of a run; in parentheses the mean half-width of the intervals and the standard
    deviation of the runs, both in percent of the logarithm. `loop`: a file system on a loop device that
    the kernel keeps below 40 MB/s and 2000 IOPS of reads, 20 MB/s and 1000 IOPS of writes.
    `directory`: on the system's disk. `busy`: beside busy threads and synced writes, in bursts.

    | target | runs | sequential read | sequential write | random read, 4 KiB | random write, 4 KiB |
    |---|---:|---:|---:|---:|---:|
    | loop | 3 | 67 (2.1, 1.5) | 67 (2.1, 1.5) | 67 (2.1, 1.5) | 67 (2.1, 1.5) |
    | directory-busy | 2 | 0 (0.1, 0.7) | - | 0 (0.1, 0.7) | 0 (0.1, 0.7) |

    Goals: 90 to 98 % inside; on `loop` a half-width of at most 4 standard deviations. Missed:

    - loop, sequential read: 66.7 % inside
    - loop, sequential write: 66.7 % inside
    - loop, random read, 4 KiB: 66.7 % inside
    - loop, random write, 4 KiB: 66.7 % inside
    - directory-busy, sequential read: 0.0 % inside
    - directory-busy, sequential write: no intervals to count
    - directory-busy, random read, 4 KiB: 0.0 % inside
    - directory-busy, random write, 4 KiB: 0.0 % inside
    ");
    }

    #[test]
    fn intervals_that_are_too_wide_count_where_the_rate_is_steady() {
        let values: Vec<f64> = (0..20).map(|number| 100.0 + f64::from(number % 3)).collect();
        let mut odd = values;
        odd[0] = 130.0;
        // 18 of 19 others are inside for 19 runs, none for the odd one: 90 %; a deviation of 6 %.
        assert_eq!(missed(&series(Target::Loop, &odd, 1.2)), [""; 0]);
        assert_eq!(missed(&series(Target::Directory, &odd, 1.31)).len(), 4);
        let wide = missed(&series(Target::Loop, &odd, 1.5));
        assert_eq!(wide.len(), 8, "{wide:?}");
        assert!(wide[1].contains("standard deviations"), "{wide:?}");
    }

    #[test]
    fn a_study_goes_on_where_it_was_kept() -> Result<()> {
        let keep = tempfile::tempdir()?;
        let printed = |value: f64| serde_json::json!({"summary": {"sequential_read_bps": value}});
        let mut first = Series::begin(Target::LoopBusy, Some(keep.path()))?;
        first.add(&printed(1.0))?;
        first.add(&printed(2.0))?;
        let next = Series::begin(Target::LoopBusy, Some(keep.path()))?;
        assert_eq!(next.runs, first.runs);
        assert_eq!(next.runs.len(), 2);
        assert!(Series::begin(Target::Loop, Some(keep.path()))?.runs.is_empty());
        Ok(())
    }
}
