//! `cargo validation torture`: provokes forbidden losses at random and often, and counts them.
//!
//! The trials are tests (`validation/tests/torture/`), and those of `crash` and `span`, which
//! `./test` runs a few times each. Here they run often, and report what they tried and what was
//! lost.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::programs::interrupts;
use crate::section::Section;
use crate::tests_program::{TestPrograms, Tests, built, try_all};

/// Flags of the study.
#[derive(clap::Args)]
pub struct Flags {
    /// Parts to run. Without it, all.
    #[arg(long, value_delimiter = ',', value_parser = clap::builder::PossibleValuesParser::new(PARTS.iter().map(|part| part.name)))]
    pub only: Vec<String>,
    /// Number of kills, over all commands.
    #[arg(long, default_value_t = 1000)]
    pub kills: u64,
    /// Number of random spans.
    #[arg(long, default_value_t = 10_000)]
    pub spans: u64,
    /// Number of repeats of everything else.
    #[arg(long, default_value_t = 20)]
    pub times: u64,
    /// Minimum duration, in hours; everything is repeated, each time with another seed.
    #[arg(long, default_value_t = 0.0)]
    pub hours: f64,
    /// Run all parts at the same time: most of them wait most of the time. Their output goes to
    /// target/torture.
    #[arg(long)]
    pub at_once: bool,
    /// Seed of all random choices.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Write the table to docs/reliability.md: one table of all parts, and one of each choice of
    /// parts.
    #[arg(long)]
    pub write: bool,
}

/// A part: its tests, and the variable and count that they get.
struct Part {
    name: &'static str,
    tests: &'static [&'static str],
    variable: &'static str,
    count: fn(&Flags) -> u64,
}

const fn part(
    name: &'static str,
    tests: &'static [&'static str],
    variable: &'static str,
    count: fn(&Flags) -> u64,
) -> Part {
    Part { name, tests, variable, count }
}

const PARTS: &[Part] = &[
    part("kills", &["crash::no_finished_cell", "kills::"], "KILLS", |of| kills_each(of.kills)),
    part("spans", &["span::"], "SPANS", |of| of.spans),
    part("stops", &["stops::"], "STOPS", |of| of.times),
    part("results", &["results::"], "RESULTS", |of| of.times),
    part("medium", &["vm::away"], "GONE", |of| of.times.div_ceil(5)),
    part("power", &["power::"], "CUTS", |of| of.times),
    part("cards", &["vm::cards", "vm::restored", "vm::in_use"], "CARDS", |of| of.times),
];

/// Number of kills of each command, so that all together are `kills`: run on a simulated medium and
/// on a loop device, capacity, replay and submit once each; run in a directory a tenth, matrix a
/// fifth of that.
fn kills_each(kills: u64) -> u64 {
    (kills * 10).div_ceil(53)
}

/// Page with the table.
const PAGE: &str = "docs/reliability.md";

/// Trials of one kind and what was lost in them: a report of a test, or the sum of several.
#[derive(serde::Deserialize)]
struct Row {
    part: String,
    what: String,
    tries: u64,
    counts: BTreeMap<String, u64>,
    lost: Vec<String>,
}

/// Runs the study and prints the table. An error if something was lost.
pub fn run(root: &Path, flags: &Flags) -> Result<()> {
    ensure!(
        rustix::process::geteuid().is_root(),
        "torture makes loop devices and virtual machines: start it as root"
    );
    let (mut rows, mut failed, mut seed) = (Vec::<Row>::new(), Vec::new(), flags.seed);
    let (began, lasts) = (Instant::now(), Duration::from_secs_f64(flags.hours.max(0.0) * 3600.0));
    let programs = built(root)?;
    let parts: Vec<&Part> = PARTS
        .iter()
        .filter(|part| flags.only.is_empty() || flags.only.iter().any(|name| name == part.name))
        .collect();
    let interrupted = interrupts()?;
    let most = if flags.at_once { parts.len() } else { 1 };
    loop {
        let start = |part: &&Part| torment(root, &programs, part, flags, seed);
        let Some(tried) = try_all(&parts, most, &interrupted, start)? else {
            bail!("interrupted");
        };
        for (part, tests) in parts.iter().zip(tried) {
            let reports = tests.reports()?;
            if !tests.passed() || reports.is_empty() {
                failed.push(format!("{} (seed {seed})", part.name));
            }
            reports.into_iter().for_each(|report| add(&mut rows, report));
        }
        seed += 1;
        if began.elapsed() >= lasts {
            break;
        }
    }
    let table = table(&rows, flags, seed - 1, began.elapsed());
    // Tables of different calls are side by side.
    let (which, name) = match flags.only.join(",") {
        all if all.is_empty() => (String::new(), "cargo validation torture".to_owned()),
        parts => (
            format!(": {}", flags.only.join(", ")),
            format!("cargo validation torture --only {parts}"),
        ),
    };
    let heading = &format!("What was tried{which}");
    Section { page: PAGE, heading, name: &name }.publish(root, &table, flags.write)?;
    for row in &rows {
        row.lost.iter().for_each(|lost| println!("\n{}, {}: {lost}", row.part, row.what));
    }
    ensure!(failed.is_empty(), "something was lost, or could not be tried: {}", failed.join(", "));
    Ok(())
}

/// Starts the tests of a part.
fn torment(
    root: &Path,
    programs: &TestPrograms,
    part: &Part,
    flags: &Flags,
    seed: u64,
) -> Result<Tests> {
    println!("== {}, seed {seed}", part.name);
    let scratch =
        tempfile::tempdir().context("cannot make a directory for the reports of the tests")?;
    Tests::start(root, programs, part.tests, scratch, |tests, _| {
        tests.env("FLASHMARK_SEED", seed.to_string());
        tests.env(format!("FLASHMARK_{}", part.variable), (part.count)(flags).to_string());
        if flags.at_once {
            let logs = root.join("target/torture");
            fs::create_dir_all(&logs).context("cannot make target/torture")?;
            let log = fs::File::create(logs.join(format!("{}-{seed}.log", part.name)))?;
            tests.stdout(log.try_clone()?).stderr(log);
        }
        Ok(())
    })
}

/// Adds a report to the row of its part and kind; rows are in the order of their first reports.
fn add(rows: &mut Vec<Row>, report: Row) {
    let is_same = |row: &&mut Row| row.part == report.part && row.what == report.what;
    let Some(row) = rows.iter_mut().find(is_same) else { return rows.push(report) };
    row.tries += report.tries;
    for (name, count) in report.counts {
        *row.counts.entry(name).or_default() += count;
    }
    row.lost.extend(report.lost);
}

fn table(rows: &[Row], flags: &Flags, last_seed: u64, took: Duration) -> String {
    let Flags { kills, spans, times, seed, .. } = flags;
    let at_once = if flags.at_once { " --at-once" } else { "" };
    let only = match flags.only.as_slice() {
        [] => String::new(),
        only => format!(" --only {}", only.join(",")),
    };
    let minutes = took.as_secs().div_ceil(60);
    let mut text = format!(
        "`cargo validation torture --kills {kills} --spans {spans} --times {times} --seed {seed}{at_once}{only}`, seeds {seed} to {last_seed}, \
         {minutes} min.\n\n| part | what | tries | of these | lost something |\n|---|---|---:|---|---:|\n"
    );
    for Row { part, what, tries, counts, lost } in rows {
        let counts: Vec<String> =
            counts.iter().map(|(name, count)| format!("{count} {name}")).collect();
        let (counts, lost) = (counts.join(", "), lost.len());
        writeln!(text, "| {part} | {what} | {tries} | {counts} | {lost} |").ok();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_reports_of_one_part_are_one_row() {
        let mut rows = Vec::new();
        let report = |lost: &[&str]| Row {
            part: "kills".to_owned(),
            what: "run".to_owned(),
            tries: 5,
            counts: [("alive".to_owned(), 4)].into(),
            lost: lost.iter().map(ToString::to_string).collect(),
        };
        add(&mut rows, report(&[]));
        add(&mut rows, report(&["a cell"]));
        let flags = Flags {
            only: vec!["kills".to_owned()],
            kills: 10,
            spans: 1,
            times: 1,
            hours: 0.0,
            at_once: false,
            seed: 3,
            write: false,
        };
        insta::assert_snapshot!(table(&rows, &flags, 4, Duration::from_secs(61)), @r"
        `cargo validation torture --kills 10 --spans 1 --times 1 --seed 3 --only kills`, seeds 3 to 4, 2 min.

        | part | what | tries | of these | lost something |
        |---|---|---:|---|---:|
        | kills | run | 10 | 8 alive | 1 |
        ");
    }

    #[test]
    fn kills_are_shared_out_over_the_commands() {
        // Five commands in full, a directory a tenth, matrix a fifth.
        let each = kills_each(1000);
        assert!(5 * each + each.div_ceil(10) + each.div_ceil(5) >= 1000, "{each}");
    }
}
