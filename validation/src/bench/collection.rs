//! `cargo validation bench collection`: time of a page of the table and of a submission on a large
//! collection, on SQLite and on PostgreSQL.

#[path = "../../../crates/store/src/collection/tests/cluster.rs"]
mod cluster;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use record::collection::Query;
use record::{Published, Record};
use stats::Random;
use store::collection::{Address, Collection};

use super::made::{self, Made};
use super::served::Served;
use crate::section::Section;
use crate::{machine, released};

const TABLE: Section<'static> = Section {
    page: "docs/performance.md",
    heading: "Collections",
    name: "cargo validation bench collection",
};
/// Runs that are added together while the collection is made.
const BATCH: usize = 1000;
/// Threads that send requests: as many as a small server has cores, and as many again that wait.
const ASKERS: usize = 4;
/// Submissions, one after the other.
const SUBMISSIONS: u64 = 500;
/// Targets in milliseconds at the 99th percentile.
const PAGE_MS: f64 = 25.0;
const SUBMISSION_MS: f64 = 20.0;

/// Flags of the bench.
#[derive(clap::Args)]
pub struct Flags {
    /// Number of runs.
    #[arg(long, default_value_t = 1_000_000)]
    pub runs: u64,
    /// Number of models.
    #[arg(long, default_value_t = 20_000)]
    pub models: u64,
    /// Number of cells in each run.
    #[arg(long, default_value_t = 60)]
    pub cells: u64,
    /// Requests per second.
    #[arg(long, default_value_t = 200)]
    pub rate: u64,
    /// Duration of the requests, in seconds.
    #[arg(long, default_value_t = 20)]
    pub seconds: u64,
    /// Record whose submission is measured too: a real run has histograms and curves, generated
    /// runs have none.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Server to measure. Without it, a release build is made.
    #[arg(long, value_name = "FILE")]
    pub program: Option<PathBuf>,
    /// Directory for the collections; each takes 10 to 22 kB per run.
    #[arg(long, default_value = "target")]
    pub dir: PathBuf,
    /// Write the table to docs/performance.md.
    #[arg(long)]
    pub write: bool,
}

/// Measures, prints the table, and fails if a target is missed.
pub fn run(root: &Path, flags: &Flags) -> Result<()> {
    ensure!(flags.runs >= flags.models && flags.models > 0, "each model needs a run");
    let program = released::given_or_built(flags.program.as_deref(), root, "flashmark-site")?;
    let dir = tempfile::tempdir_in(&flags.dir)
        .with_context(|| format!("no directory can be made in {}", flags.dir.display()))?;
    let file = dir.path().join("collection.db");
    let sqlite = Address::Sqlite(file.clone());
    let mut rows =
        measure("SQLite", &program, flags, &sqlite, || Ok(()), || Ok(fs::metadata(&file)?.len()))?;
    drop(dir);
    match cluster::Cluster::start()? {
        Some(cluster) => {
            let url = cluster.database()?;
            // The housekeeping of PostgreSQL would do this a minute later.
            let settle = || cluster.psql(&url, "VACUUM ANALYZE").map(drop);
            rows.extend(measure(
                "PostgreSQL",
                &program,
                flags,
                &Address::parse(&url)?,
                settle,
                || cluster.bytes(),
            )?);
        }
        None => eprintln!("PostgreSQL is left out"),
    }
    let table = table(flags, &rows)?;
    TABLE.publish(root, &table, flags.write)?;
    let missed: Vec<String> = rows.into_iter().filter_map(|row| row.missed).collect();
    ensure!(missed.is_empty(), "missed: {}", missed.join(", "));
    Ok(())
}

/// One line of the table.
struct Row {
    line: String,
    /// What misses its target, if it does.
    missed: Option<String>,
}

impl Row {
    /// Times in milliseconds, and their target.
    fn times(what: &str, on: &str, mut times: Vec<f64>, target_ms: f64) -> Row {
        times.sort_by(f64::total_cmp);
        let [median, tail, slowest] = [0.5, 0.99, 1.0].map(|share| quantile(&times, share));
        let holds = tail < target_ms;
        Row {
            line: format!(
                "| {what} | {on} | {median:.2} ms | {tail:.2} ms | {slowest:.2} ms | < {target_ms} ms | {} |\n",
                super::word(holds)
            ),
            missed: (!holds).then(|| format!("{what} on {on}")),
        }
    }

    fn figure(what: &str, on: &str, words: &str) -> Row {
        Row { line: format!("| {what} | {on} | {words} | | | | |\n"), missed: None }
    }
}

/// Value below which this share of sorted values is.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let rank = (sorted.len() as f64 * share).ceil() as usize;
    sorted.get(rank.clamp(1, sorted.len().max(1)) - 1).copied().unwrap_or(f64::INFINITY)
}

fn ms(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

fn measure(
    on: &'static str,
    program: &Path,
    flags: &Flags,
    address: &Address,
    settle: impl Fn() -> std::io::Result<()>,
    size: impl Fn() -> std::io::Result<u64>,
) -> Result<Vec<Row>> {
    let collection = Collection::open(address)?;
    let made = Made::new(flags.runs, flags.models, flags.cells)?;
    let begun = Instant::now();
    made::submit(&collection, (0..flags.runs).map(|number| made.submission(number)), BATCH)?;
    let loaded = begun.elapsed().as_secs_f64();
    settle()?;
    let bytes = size()?;
    let (gigabytes, each) = (bytes as f64 / 1e9, bytes as f64 / 1e3 / flags.runs as f64);
    let per_second = flags.runs as f64 / loaded;
    let made_in = format!("{loaded:.0} s ({per_second:.0} runs a second)");
    let mut rows = vec![
        Row::figure("made, a thousand runs a transaction", on, &made_in),
        Row::figure(
            "size, with all indices",
            on,
            &format!("{gigabytes:.2} GB ({each:.1} kB a run)"),
        ),
    ];
    let mut add = |what: &str, times, target_ms| rows.push(Row::times(what, on, times, target_ms));
    let lines = |query: &Query| Ok(collection.lines(query)?);
    add("what a page of the table shows, one at a time", alone(flags, lines)?, PAGE_MS);
    let times = submissions(&collection, &made, |dice| dice.below(flags.models))?;
    add("a submission to the store", times, SUBMISSION_MS);
    let most = format!("a submission to the model with most runs ({})", made.most_runs());
    add(&most, submissions(&collection, &made, |_| 0)?, SUBMISSION_MS);
    drop(collection);
    let served = Served::start(program, &address.to_string())?;
    let table = |query: &Query| served.table(query);
    add("the page of the table by HTTP, one at a time", alone(flags, table)?, PAGE_MS);
    let what = format!("the page of the table by HTTP, {} a second", flags.rate);
    add(&what, paced(flags, table)?, PAGE_MS);
    rows.push(Row::figure("the largest of these pages, packed", on, &largest(&served)?));
    if let Some(file) = &flags.record {
        let run = Published::from(&Record::from_json(&fs::read_to_string(file)?)?);
        let (cells, kilobytes) = (run.cells.len(), serde_json::to_vec(&run)?.len() / 1000);
        let what =
            format!("a submission by HTTP of a real run of {cells} cells, {kilobytes} kB of JSON");
        rows.push(Row::times(&what, on, real_submissions(&served, &run)?, SUBMISSION_MS));
    }
    Ok(rows)
}

/// Times of pages, one after the other, with any sort and filter, in milliseconds.
fn alone<P>(flags: &Flags, page: impl Fn(&Query) -> Result<P>) -> Result<Vec<f64>> {
    let mut dice = made::random(1);
    let count = flags.rate * flags.seconds;
    (0..count)
        .map(|_| {
            let query = made::query(&mut dice);
            let begun = Instant::now();
            page(&query)?;
            Ok(ms(begun))
        })
        .collect()
}

/// Times of pages at a steady rate, whether earlier ones are done or not, in milliseconds. The time
/// counts from the moment at which a page was due.
fn paced<P>(flags: &Flags, page: impl Fn(&Query) -> Result<P> + Sync) -> Result<Vec<f64>> {
    let count = flags.rate * flags.seconds;
    let next = Mutex::new((0, made::random(2)));
    let begun = Instant::now();
    let ask = || {
        let mut times = Vec::new();
        loop {
            let (number, query) = {
                let mut next = next.lock().expect("nobody panics with it");
                if next.0 == count {
                    return Ok(times);
                }
                next.0 += 1;
                (next.0 - 1, made::query(&mut next.1))
            };
            let due = begun + Duration::from_secs_f64(number as f64 / flags.rate as f64);
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            page(&query)?;
            times.push(ms(due));
        }
    };
    std::thread::scope(|scope| {
        let askers: Vec<_> = (0..ASKERS).map(|_| scope.spawn(ask)).collect();
        let times = askers.into_iter().map(|asker| asker.join().expect("it does not panic"));
        Ok(times.collect::<Result<Vec<Vec<f64>>>>()?.concat())
    })
}

fn submissions(
    collection: &Collection,
    made: &Made,
    model: impl Fn(&mut Random) -> u64,
) -> Result<Vec<f64>> {
    let mut dice = made::random(3);
    (0..SUBMISSIONS)
        .map(|number| {
            let of = model(&mut dice);
            // No existing run has such a number.
            let submission = made.submission_of(of, made.runs() * 10 + of * SUBMISSIONS + number);
            let begun = Instant::now();
            collection.submit(submission)?;
            Ok(ms(begun))
        })
        .collect()
}

/// Kilobytes of the largest of a thousand pages.
fn largest(served: &Served) -> Result<String> {
    let mut dice = made::random(4);
    let bytes =
        (0..1000).map(|_| served.table(&made::query(&mut dice))).collect::<Result<Vec<usize>>>()?;
    Ok(format!("{:.0} kB", bytes.into_iter().max().unwrap_or_default() as f64 / 1e3))
}

fn real_submissions(served: &Served, run: &Published) -> Result<Vec<f64>> {
    (0..SUBMISSIONS)
        .map(|number| {
            // Another content each time.
            let run = Published { seed: number, ..run.clone() };
            let body = serde_json::to_vec(&run)?;
            let begun = Instant::now();
            served.submit(&body)?;
            Ok(ms(begun))
        })
        .collect()
}

fn table(flags: &Flags, rows: &[Row]) -> Result<String> {
    let mut text = format!(
        "`cargo validation bench collection --runs {} --models {} --cells {}`, {}. What is in it was drawn, not measured: runs of a model fall with the \
         root of its rank, 200 hosts, cells with rates, intervals and latencies but without histograms and curves. A query has any of the 14 orders, either \
         way round, and up to six filters; one of four is for a later page.\n\n",
        flags.runs,
        flags.models,
        flags.cells,
        machine::description()?,
    );
    text.push_str("| what | on | median | 99th percentile | slowest | target | |\n|---|---|---:|---:|---:|---:|---|\n");
    rows.iter().for_each(|row| text += &row.line);
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_of_what_was_seen() {
        let times: Vec<f64> = (1..=200).map(f64::from).collect();
        assert_eq!(
            [quantile(&times, 0.5), quantile(&times, 0.99), quantile(&times, 1.0)],
            [100.0, 198.0, 200.0]
        );
        assert_eq!(quantile(&[], 0.99), f64::INFINITY);
    }

    #[test]
    fn every_run_is_another_and_all_models_have_some() {
        let made = Made::new(500, 20, 3).unwrap();
        let runs: Vec<_> = (0..500).map(|number| made.submission(number)).collect();
        let models: std::collections::BTreeSet<_> =
            runs.iter().map(|one| one.run.model.clone()).collect();
        assert_eq!(models.len(), 20);
        let collection = Collection::open(&Address::Memory).unwrap();
        assert!(collection.submit_all(runs).unwrap().iter().all(|receipt| receipt.is_new));
        let mut dice = made::random(1);
        let found = (0..200)
            .filter(|_| collection.lines(&made::query(&mut dice)).unwrap().total > 0)
            .count();
        assert!(found > 60, "{found} of 200 queries find something");
    }
}
