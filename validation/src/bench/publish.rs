//! `cargo validation bench publish`: time and memory for making a site of files from a large
//! collection.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use record::units::MIB;
use store::collection::{Address, Collection, Submission};

use super::made::{Made, submit};
use super::word;
use crate::footprint::peak_memory;
use crate::section::Section;
use crate::{machine, released};

const TABLE: Section<'static> = Section {
    page: "docs/performance.md",
    heading: "Publishing",
    name: "cargo validation bench publish",
};
/// Runs that are added together while the collection is made.
const BATCH: usize = 500;
/// Targets: longest time, and most memory.
const LONGEST: Duration = Duration::from_secs(60);
const MAX_BYTES: u64 = 1 << 30;

/// Flags of the bench.
#[derive(clap::Args)]
pub struct Flags {
    /// Number of media.
    #[arg(long, default_value_t = 10_000)]
    pub media: u64,
    /// Number of runs, over all media.
    #[arg(long, default_value_t = 20_000)]
    pub runs: u64,
    /// Number of cells in each run.
    #[arg(long, default_value_t = 60)]
    pub cells: u64,
    /// Record that becomes the newest run of each medium: a real run has histograms and curves,
    /// generated runs have none.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Program to measure. Without it, a release build is made.
    #[arg(long, value_name = "FILE")]
    pub program: Option<PathBuf>,
    /// Directory for the collection and the site.
    #[arg(long, default_value = "target")]
    pub dir: PathBuf,
    /// Write the table to docs/performance.md.
    #[arg(long)]
    pub write: bool,
}

/// Measures, prints the table, and fails if a target is missed.
pub fn run(root: &Path, flags: &Flags) -> Result<()> {
    ensure!(flags.runs >= flags.media && flags.media > 0, "each medium needs a run");
    let program = released::given_or_built(flags.program.as_deref(), root, "flashmark")?;
    let dir = tempfile::tempdir_in(&flags.dir)
        .with_context(|| format!("no directory can be made in {}", flags.dir.display()))?;
    let (file, site) = (dir.path().join("collection.db"), dir.path().join("site"));
    let what = make(&file, flags)?;
    let published = publish(&program, &file, &site)?;
    let (files, bytes) = size(&site)?;
    let (seconds, memory) = (published.took.as_secs_f64(), published.memory);
    let table = format!(
        "`{} --media {} --runs {} --cells {}{}`, {}. {what}\n\n| what | measured | target | |\n|---|---:|---:|---|\n\
         | time | {seconds:.1} s | ≤ {} s | {} |\n| peak resident memory | {} MiB | ≤ {} MiB | {} |\n| files | {files} | | |\n| size | {:.2} GB | | |\n",
        TABLE.name,
        flags.media,
        flags.runs,
        flags.cells,
        if flags.record.is_some() { " --record FILE" } else { "" },
        machine::description()?,
        LONGEST.as_secs(),
        word(published.took <= LONGEST),
        memory / MIB,
        MAX_BYTES / MIB,
        word(memory <= MAX_BYTES),
        bytes as f64 / 1e9,
    );
    TABLE.publish(root, &table, flags.write)?;
    ensure!(published.took <= LONGEST && memory <= MAX_BYTES, "a target is missed");
    Ok(())
}

/// Makes the collection; returns its description.
fn make(file: &Path, flags: &Flags) -> Result<String> {
    let collection = Collection::open(&Address::Sqlite(file.to_owned()))?;
    let made = Made::new(flags.runs, flags.media, flags.cells)?;
    submit(&collection, (0..flags.runs).map(|number| made.submission(number)), BATCH)?;
    let drawn = "Its runs were drawn, not measured: cells with rates, intervals and latencies but without histograms and curves.";
    let Some(record) = &flags.record else { return Ok(drawn.to_owned()) };
    let made = made.measured_as(&fs::read_to_string(record)?)?;
    let newest = |model| Submission {
        received: "2027-01-01T00:00:00Z".to_owned(),
        ..made.submission_of(model, flags.runs + model)
    };
    submit(&collection, (0..flags.media).map(newest), BATCH)?;
    let kilobytes = serde_json::to_vec(made.measured())?.len() / 1000;
    Ok(format!(
        "{drawn} Besides, each medium has one with {} cells of a measured run and {kilobytes} kB with all histograms and curves.",
        made.measured().cells.len()
    ))
}

struct Measured {
    took: Duration,
    memory: u64,
}

fn publish(program: &Path, file: &Path, site: &Path) -> Result<Measured> {
    let mut command = Command::new(program);
    command.arg("publish").arg(site).arg(format!("--database=sqlite:{}", file.display()));
    let begun = Instant::now();
    let memory = peak_memory(&mut command)?;
    Ok(Measured { took: begun.elapsed(), memory })
}

/// Number of files of a directory, and their bytes.
fn size(dir: &Path) -> Result<(u64, u64)> {
    let (mut files, mut bytes) = (0, 0);
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let found = if entry.file_type()?.is_dir() {
            size(&entry.path())?
        } else {
            (1, entry.metadata()?.len())
        };
        (files, bytes) = (files + found.0, bytes + found.1);
    }
    Ok((files, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measured_run_is_one_of_the_medium() -> Result<()> {
        let dir = tempfile::tempdir()?;
        let file = dir.path().join("collection.db");
        let record =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/records/flashmark-0.1.0-sim.json");
        let flags = Flags {
            media: 3,
            runs: 7,
            cells: 2,
            record: Some(record.into()),
            program: None,
            dir: dir.path().to_owned(),
            write: false,
        };
        make(&file, &flags)?;
        let lines = Collection::open(&Address::Sqlite(file))?.all_lines()?;
        let genuine: Vec<u64> =
            lines.iter().filter(|line| !line.is_fake).map(|line| line.runs).collect();
        assert_eq!((genuine.len(), lines.iter().map(|line| line.runs).sum::<u64>()), (3, 10));
        Ok(())
    }
}
