//! `cargo validation bench publish`: time and memory for making a site of files from a large
//! collection.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use record::collection::RunHeadline;
use record::units::MIB;
use record::{Published, Record};
use store::collection::{Address, Collection, Submission};

use super::made::Made;
use crate::footprint::high_water;
use crate::{released, section};

/// Page with the table, and its heading.
const PAGE: &str = "docs/performance.md";
const HEADING: &str = "Publishing";
const NAME: &str = "cargo validation bench publish";
/// Runs that are added together while the collection is made.
const BATCH: usize = 500;
/// Interval at which the memory is read.
const LOOK: Duration = Duration::from_millis(10);
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
    let holds = |yes: bool| if yes { "holds" } else { "**missed**" };
    let table = format!(
        "`{NAME} --media {} --runs {} --cells {}{}`, {}, Linux {}. {what}\n\n| what | measured | target | |\n|---|---:|---:|---|\n\
         | time | {seconds:.1} s | ≤ {} s | {} |\n| peak resident memory | {} MiB | ≤ {} MiB | {} |\n| files | {files} | | |\n| size | {:.2} GB | | |\n",
        flags.media,
        flags.runs,
        flags.cells,
        if flags.record.is_some() { " --record FILE" } else { "" },
        super::processor()?,
        super::kernel()?,
        LONGEST.as_secs(),
        holds(published.took <= LONGEST),
        memory / MIB,
        MAX_BYTES / MIB,
        holds(memory <= MAX_BYTES),
        bytes as f64 / 1e9,
    );
    print!("{table}");
    if flags.write {
        section::keep(&root.join(PAGE), HEADING, NAME, &table)?;
    }
    ensure!(published.took <= LONGEST && memory <= MAX_BYTES, "a target is missed");
    Ok(())
}

/// Makes the collection; returns its description.
fn make(file: &Path, flags: &Flags) -> Result<String> {
    let real = match &flags.record {
        None => None,
        Some(file) => {
            let run = Published::from(&Record::from_json(&fs::read_to_string(file)?)?);
            Some((findings::headline(&run.to_record("bench")), run))
        }
    };
    let collection = Collection::open(&Address::Sqlite(file.to_owned()))?;
    let made = Made::new(flags.runs, flags.media, flags.cells);
    let mut batch = Vec::with_capacity(BATCH);
    let mut add = |submission: Submission, is_last: bool| -> Result<()> {
        batch.push(submission);
        if batch.len() == BATCH || is_last {
            collection.submit_all(std::mem::take(&mut batch))?;
        }
        Ok(())
    };
    for number in 0..flags.runs {
        add(made.submission(number), number + 1 == flags.runs)?;
    }
    let drawn = "Its runs were drawn, not measured: cells with rates, intervals and latencies but without histograms and curves.";
    let Some((headline, run)) = real else { return Ok(drawn.to_owned()) };
    for model in 0..flags.media {
        add(
            real_run(made.submission_of(model, flags.runs + model), &run, &headline),
            model + 1 == flags.media,
        )?;
    }
    let kilobytes = serde_json::to_vec(&run)?.len() / 1000;
    Ok(format!(
        "{drawn} Besides, each medium has one that was measured, of {} cells and {kilobytes} kB with all histograms and curves.",
        run.cells.len()
    ))
}

/// Submission of a generated medium with the cells of a measured run.
fn real_run(drawn: Submission, run: &Published, headline: &RunHeadline) -> Submission {
    let of = drawn.run;
    let run = Published {
        seed: of.seed,
        kind: of.kind,
        vendor: of.vendor,
        model: of.model,
        capacity_bytes: of.capacity_bytes,
        profile: None,
        ..run.clone()
    };
    Submission {
        run,
        headline: headline.clone(),
        received: "2027-01-01T00:00:00Z".to_owned(),
        ..drawn
    }
}

struct Measured {
    took: Duration,
    memory: u64,
}

fn publish(program: &Path, file: &Path, site: &Path) -> Result<Measured> {
    let begun = Instant::now();
    let mut child = Command::new(program)
        .arg("publish")
        .arg(site)
        .args(["--database", &format!("sqlite:{}", file.display())])
        .stdout(Stdio::null())
        .spawn()
        .with_context(|| format!("cannot run {}", program.display()))?;
    let status = format!("/proc/{}/status", child.id());
    let mut memory = 0;
    let ended = loop {
        if let Some(ended) = child.try_wait()? {
            break ended;
        }
        // The kernel keeps the peak only until the process ends.
        memory = memory
            .max(fs::read_to_string(&status).ok().and_then(|text| high_water(&text)).unwrap_or(0));
        std::thread::sleep(LOOK);
    };
    let took = begun.elapsed();
    ensure!(ended.success(), "publish ended with {ended}");
    Ok(Measured { took, memory })
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
