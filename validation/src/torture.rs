//! `cargo validation torture`: provokes forbidden losses at random and often, and counts them.
//!
//! The trials are tests of the program (`crates/flashmark/tests/it/torture/`, and those of `crash`
//! and `span`), which `./test` runs a few times each. Here they run often, and report what they
//! tried and what was lost.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::tests_program;

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
    environment_variable: fn(&Flags) -> (&'static str, u64),
}

const PARTS: &[Part] = &[
    Part {
        name: "kills",
        tests: &["crash::no_finished_cell", "torture::kills"],
        environment_variable: |flags| ("KILLS", kills_each(flags.kills)),
    },
    Part {
        name: "spans",
        tests: &["span::"],
        environment_variable: |flags| ("SPANS", flags.spans),
    },
    Part {
        name: "stops",
        tests: &["torture::stops"],
        environment_variable: |flags| ("STOPS", flags.times),
    },
    Part {
        name: "results",
        tests: &["torture::results"],
        environment_variable: |flags| ("RESULTS", flags.times),
    },
    Part {
        name: "medium",
        tests: &["torture::medium", "vm::away"],
        environment_variable: |flags| ("GONE", flags.times.div_ceil(5)),
    },
    Part {
        name: "power",
        tests: &["torture::power"],
        environment_variable: |flags| ("CUTS", flags.times),
    },
    Part {
        name: "cards",
        tests: &["vm::cards", "vm::restored", "vm::in_use"],
        environment_variable: |flags| ("CARDS", flags.times),
    },
];

/// Number of kills of each command, so that all together are `kills`: run on a simulated medium and
/// on a loop device, capacity, replay and submit once each; run in a directory a tenth, matrix and
/// capture a fifth of that.
fn kills_each(kills: u64) -> u64 {
    (kills * 10).div_ceil(55)
}

/// Page with the table.
const PAGE: &str = "docs/reliability.md";

/// Counts of trials of one kind.
#[derive(Default)]
struct Row {
    tries: u64,
    counts: BTreeMap<String, u64>,
    lost: Vec<String>,
}

/// Rows by part and kind, in the order in which they were reported.
#[derive(Default)]
struct Rows(Vec<((String, String), Row)>);

/// Runs the study and prints the table. An error if something was lost.
pub fn run(root: &Path, flags: &Flags) -> Result<()> {
    ensure!(
        rustix::process::geteuid().is_root(),
        "torture makes loop devices and virtual machines: start it as root"
    );
    let (mut rows, mut failed, mut seed) = (Rows::default(), Vec::new(), flags.seed);
    let (began, lasts) = (Instant::now(), Duration::from_secs_f64(flags.hours.max(0.0) * 3600.0));
    let program = tests_program::built(root)?;
    let parts: Vec<&Part> = PARTS
        .iter()
        .filter(|part| flags.only.is_empty() || flags.only.iter().any(|name| name == part.name))
        .collect();
    loop {
        let one = |part: &Part| torment(root, &program, part, flags, seed);
        for (part, came) in
            if flags.at_once { side_by_side(&parts, one) } else { one_by_one(&parts, one) }
        {
            let (passed, lines) = came?;
            lines.iter().for_each(|line| rows.add(line));
            if !passed {
                failed.push(format!("{} (seed {seed})", part.name));
            }
        }
        seed += 1;
        if began.elapsed() >= lasts {
            break;
        }
    }
    let table = rows.table(flags, seed - 1, began.elapsed());
    print!("\n{table}");
    for ((part, what), row) in &rows.0 {
        row.lost.iter().for_each(|lost| println!("\n{part}, {what}: {lost}"));
    }
    if flags.write {
        // Tables of different calls are side by side.
        let (which, command) = match flags.only.join(", ") {
            all if all.is_empty() => (String::new(), "cargo validation torture".to_owned()),
            parts => (
                format!(": {parts}"),
                format!("cargo validation torture --only {}", flags.only.join(",")),
            ),
        };
        crate::section::keep(
            &root.join(PAGE),
            &format!("What was tried{which}"),
            &command,
            &table,
        )?;
    }
    if failed.is_empty() {
        Ok(())
    } else {
        bail!("something was lost, or could not be tried: {}", failed.join(", "))
    }
}

/// Result of the tests of a part: true if they passed, and their reports.
type Came = Result<(bool, Vec<Value>)>;

fn one_by_one<'a>(parts: &[&'a Part], torment: impl Fn(&Part) -> Came) -> Vec<(&'a Part, Came)> {
    parts.iter().map(|part| (*part, torment(part))).collect()
}

fn side_by_side<'a>(
    parts: &[&'a Part],
    torment: impl Fn(&Part) -> Came + Sync,
) -> Vec<(&'a Part, Came)> {
    let torment = &torment;
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            parts.iter().map(|part| (*part, scope.spawn(move || torment(part)))).collect();
        let ended = threads.into_iter().map(|(part, thread)| (part, thread.join()));
        ended
            .map(|(part, came)| {
                (part, came.unwrap_or_else(|_| bail!("{} was not tried to its end", part.name)))
            })
            .collect()
    })
}

/// Runs the tests of a part.
fn torment(root: &Path, program: &Path, part: &Part, flags: &Flags, seed: u64) -> Came {
    println!("== {}, seed {seed}", part.name);
    let scratch = tempfile::tempdir().context("cannot make a directory for what the tests tell")?;
    let tally = scratch.path().join("tally");
    let (name, count) = (part.environment_variable)(flags);
    let mut tests = tests_program::about_to_try(root, program, part.tests, &tally);
    tests
        .env("FLASHMARK_SEED", seed.to_string())
        .env(format!("FLASHMARK_{name}"), count.to_string());
    if flags.at_once {
        let logs = root.join("target/torture");
        std::fs::create_dir_all(&logs).context("cannot make target/torture")?;
        let log = std::fs::File::create(logs.join(format!("{}-{seed}.log", part.name)))
            .context("cannot keep what a part prints")?;
        tests.stdout(log.try_clone().context("cannot keep what a part prints")?).stderr(log);
    }
    let passed = tests.status().context("cannot start the tests")?.success();
    let lines = tests_program::reports(&tally)?;
    println!("== {}, seed {seed}: {}", part.name, if passed { "ended" } else { "FAILED" });
    Ok((passed && !lines.is_empty(), lines))
}

impl Rows {
    fn add(&mut self, report: &Value) {
        let word = |key: &str| report[key].as_str().unwrap_or_default().to_owned();
        let key = (word("part"), word("what"));
        let at = self.0.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
            self.0.push((key, Row::default()));
            self.0.len() - 1
        });
        let row = &mut self.0[at].1;
        row.tries += report["tries"].as_u64().unwrap_or_default();
        for (name, count) in report["counts"].as_object().into_iter().flatten() {
            *row.counts.entry(name.clone()).or_default() += count.as_u64().unwrap_or_default();
        }
        row.lost.extend(
            report["lost"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|lost| Some(lost.as_str()?.to_owned())),
        );
    }

    fn table(&self, flags: &Flags, last_seed: u64, took: Duration) -> String {
        let only = if flags.only.is_empty() {
            String::new()
        } else {
            format!(" --only {}", flags.only.join(","))
        };
        let (kills, spans, times, seed) = (flags.kills, flags.spans, flags.times, flags.seed);
        let at_once = if flags.at_once { " --at-once" } else { "" };
        let minutes = took.as_secs().div_ceil(60);
        let mut text = format!(
            "`cargo validation torture --kills {kills} --spans {spans} --times {times} --seed {seed}{at_once}{only}`, seeds {seed} to {last_seed}, \
             {minutes} min.\n\n"
        );
        text.push_str(
            "| part | what | tries | of these | lost something |\n|---|---|---:|---|---:|\n",
        );
        for ((part, what), row) in &self.0 {
            let counts: Vec<String> =
                row.counts.iter().map(|(name, count)| format!("{count} {name}")).collect();
            writeln!(
                text,
                "| {part} | {what} | {} | {} | {} |",
                row.tries,
                counts.join(", "),
                row.lost.len()
            )
            .ok();
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn two_reports_of_one_part_are_one_row() {
        let mut rows = Rows::default();
        let report = |lost: &[&str]| json!({ "part": "kills", "what": "run", "tries": 5, "counts": { "alive": 4 }, "lost": lost });
        rows.add(&report(&[]));
        rows.add(&report(&["a cell"]));
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
        insta::assert_snapshot!(rows.table(&flags, 4, Duration::from_secs(61)), @r"
        `cargo validation torture --kills 10 --spans 1 --times 1 --seed 3 --only kills`, seeds 3 to 4, 2 min.

        | part | what | tries | of these | lost something |
        |---|---|---:|---|---:|
        | kills | run | 10 | 8 alive | 1 |
        ");
    }

    #[test]
    fn kills_are_shared_out_over_the_commands() {
        // Five commands in full, a directory a tenth, matrix and capture a fifth each.
        let each = kills_each(1000);
        assert!(5 * each + each.div_ceil(10) + 2 * each.div_ceil(5) >= 1000, "{each}");
    }
}
