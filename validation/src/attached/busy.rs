//! `cargo validation attached --busy`: attached media beside a program that loads both processors
//! and the disk in bursts, compared with the same media in virtual time, which have no host: no
//! first line may say anything that no quiet run says.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};
use record::units::significant;
use record::{Fitness, Outcome, Record, Severity};

use super::conclusions::{CHEATS, both_ways};
use super::is_wanted;
use super::load::Load;
use super::medium::{Program, run};

/// Cards, sticks, disks, fakes, a liar: from one write a second to thousands.
const MEDIA: [&str; 20] = [
    "cf-lexar-300x",
    "cf-sandisk-ultra",
    "sd-class4",
    "sd-worst",
    "class6",
    "class10",
    "class10-bypass",
    "a1",
    "a2",
    "usb2-voyager",
    "usb2-kingston",
    "usb2-cruzer",
    "usb3-extreme",
    "emmc",
    "disk-5400",
    "disk-7200",
    "fake-wrap",
    "fake-limbo",
    "flush-liar",
    "worn",
];

/// Suite with the tests behind the first lines, in three minutes at most.
const SUITE: &str = r#"
name = "busy"
about = "what first lines rest on"
time_limit = "4m"

[[test]]
name = "capacity"
cache = "24MiB"
max_time = "20s"

[[test]]
name = "prime"
span = "256MiB"
passes = 1
max_time = "12s"

[[test]]
name = "sequential-write"
block = "1MiB"
span = "256MiB"
total = "256MiB"
min_time = "1s"
max_time = "5s"

[[test]]
name = "random-write"
block = ["4KiB", "16KiB"]
span = "256MiB"
total = "256MiB"
overwhelm = "16MiB"
overwhelm_time = "20%"
max_time = "60s"

[[test]]
name = "flush-cost"
form = "flushed"
rounds = 8
max_time = "8s"

[[test]]
name = "commit"
max_time = "8s"

[[test]]
name = "log-append"
time = "8s"
"#;

/// Quiet runs of each medium. Near a limit the first line is a matter of chance, so the busy run
/// may say what any of them says.
const QUIET: u64 = 9;

/// Largest error of the headline, as a share.
const TOLERANCE: f64 = 0.10;

/// First lines of a run, and its headline.
struct FirstLines {
    /// Level of each use ("verdict-database: good"), and findings against the medium.
    lines: BTreeSet<String>,
    /// Random writes of 4 KiB, in IOPS.
    headline: Option<f64>,
    /// Share of the time in which the host stalled, 0 to 1.
    host_stall_share: f64,
}

impl FirstLines {
    fn of(record: &Record) -> FirstLines {
        let is_adverse = |finding: &&record::Finding| {
            CHEATS.contains(&finding.id.as_str()) && finding.severity != Severity::Info
        };
        let level = |finding: &record::Finding| {
            match finding.level() {
                // A level that cannot be told is never wrong.
                Some(level) if level < Fitness::NotSuitable => None,
                Some(level) => Some(format!("{}: {}", finding.id, level.word())),
                None => Some(format!("{}: no level", finding.id)),
            }
        };
        let findings = || record.findings.iter();
        let verdicts =
            findings().filter(|finding| finding.id.starts_with("verdict-")).filter_map(level);
        let adverse = findings().filter(is_adverse).map(|finding| finding.id.clone());
        let is_unusable = |finding: &&record::Finding| {
            finding.id == "verdict" && matches!(finding.outcome, Some(Outcome::Unusable { .. }))
        };
        let not_at_all = findings().find(is_unusable).map(|_| "do not use it".to_owned());
        let is_headline = |cell: &&record::Cell| {
            cell.test == "random-write" && cell.params.block_bytes == Some(4096)
        };
        let headline =
            record.cells.iter().find(is_headline).and_then(|cell| Some(cell.metrics.iops?.value));
        let stalls = |cell: &record::Cell| Some(cell.host_state.as_ref()?.host_stall_ns);
        let stall_ns: u64 = record.cells.iter().filter_map(stalls).sum();
        let all_ns: u64 = record.cells.iter().map(|cell| cell.elapsed_ns).sum();
        FirstLines {
            lines: verdicts.chain(adverse).chain(not_at_all).collect(),
            headline,
            host_stall_share: stall_ns as f64 / all_ns.max(1) as f64,
        }
    }
}

/// Runs of one medium, busy and quiet.
struct Row {
    profile: &'static str,
    busy: FirstLines,
    quiet: Vec<FirstLines>,
}

impl Row {
    /// Lines that no quiet run has, and findings against the medium that only the busy run lacks.
    fn wrong(&self) -> Vec<String> {
        let is_new = |line: &&String| !self.quiet.iter().any(|quiet| quiet.lines.contains(*line));
        let extra = self.busy.lines.iter().filter(is_new).map(|line| format!("said {line}"));
        let always = |line: &&String| {
            !line.starts_with("verdict-")
                && self.quiet.iter().all(|quiet| quiet.lines.contains(*line))
        };
        let first = self.quiet.first().map(|quiet| &quiet.lines);
        let missing = first
            .into_iter()
            .flatten()
            .filter(always)
            .filter(|line| !self.busy.lines.contains(*line));
        extra.chain(missing.map(|line| format!("did not say {line}"))).collect()
    }

    /// Median headline of the quiet runs.
    fn truth(&self) -> Option<f64> {
        stats::median(
            &mut self.quiet.iter().filter_map(|quiet| quiet.headline).collect::<Vec<f64>>(),
        )
    }

    /// Ratio of both headlines, and true if it is too far off; `None` if there is no headline, as
    /// for a fake.
    fn ratio(&self) -> Option<(f64, bool)> {
        let ratio = self.busy.headline? / self.truth()?;
        Some((ratio, (ratio - 1.0).abs() > TOLERANCE))
    }

    fn line(&self) -> String {
        let figure = |value: Option<f64>| value.map_or("-".to_owned(), significant);
        let ratio = self.ratio().map_or("-".to_owned(), |(ratio, is_off)| {
            format!("{ratio:.3}{}", if is_off { " **off**" } else { "" })
        });
        let wrong = self.wrong();
        let difference = if wrong.is_empty() {
            "as quiet".to_owned()
        } else {
            format!("**{}**", wrong.join(", "))
        };
        let (busy, truth) = (figure(self.busy.headline), figure(self.truth()));
        format!(
            "| {} | {truth} | {busy} | {ratio} | {difference} | {:.1} % |",
            self.profile,
            self.busy.host_stall_share * 100.0
        )
    }
}

/// Makes the table; returns it with the goals that are missed.
pub fn compare(program: &Program, root: &Path, only: &[String]) -> Result<(String, Vec<String>)> {
    let home = tempfile::tempdir()?;
    let suite = home.path().join("busy.toml");
    fs::write(&suite, SUITE)?;
    let suite = format!("--suite={}", suite.display());
    let run = |target: &[&str], seed: u64| {
        // As a user would, at normal priority.
        let program = Command::new(program.word());
        run(program, home.path(), &[target, &[&suite]].concat(), seed)
    };
    let mut rows = Vec::new();
    for profile in MEDIA.iter().filter(|name| is_wanted(only, name)) {
        let load = || Load::begin(&root.join("target"), rows.len() as u64).map(Some);
        let (quiet, busy) = both_ways(profile, 1..=QUIET, program, load, run)?;
        let quiet = quiet.iter().map(FirstLines::of).collect();
        let row = Row { profile, busy: FirstLines::of(&busy), quiet };
        eprintln!("{}", row.line());
        rows.push(row);
    }
    ensure!(!rows.is_empty(), "no such profile among {}", MEDIA.join(", "));
    Ok((table(&rows)?, missed(&rows)))
}

fn table(rows: &[Row]) -> Result<String> {
    let mut text = format!(
        "`cargo validation attached --busy`; bursts of 0.2 to 3 s with pauses as long, a busy thread a processor and synced writes of 4 MiB. Target: what is said first \
         is what one of {QUIET} runs\nin virtual time says, the headline within 10 % of their median.\n\n\
         | medium | random writes of 4 KiB a second, quiet | busy | ratio | said first | host seen to stand still |\n|---|---:|---:|---:|---|---:|\n"
    );
    rows.iter().try_for_each(|row| writeln!(text, "{}", row.line()))?;
    Ok(text)
}

fn missed(rows: &[Row]) -> Vec<String> {
    let of = |row: &Row| {
        let off = row.ratio().filter(|(_, is_off)| *is_off);
        let off = off.map(|(ratio, _)| format!("headline {ratio:.3}"));
        let wrong: Vec<String> = row.wrong().into_iter().chain(off).collect();
        (!wrong.is_empty()).then(|| format!("{}: {}", row.profile, wrong.join(", ")))
    };
    rows.iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_lines(lines: &[&str], headline: f64) -> FirstLines {
        FirstLines {
            lines: lines.iter().map(ToString::to_string).collect(),
            headline: Some(headline),
            host_stall_share: 0.0,
        }
    }

    #[test]
    fn findings_of_no_quiet_run_and_missing_adverse_findings_are_wrong() {
        let quiet = || {
            vec![
                first_lines(&["verdict-logger: good", "capacity"], 2.0),
                first_lines(&["verdict-logger: poor", "capacity"], 3.0),
            ]
        };
        let wrong = |lines: &[&str]| {
            Row { profile: "a1", busy: first_lines(lines, 2.0), quiet: quiet() }.wrong()
        };
        assert!(wrong(&["verdict-logger: poor", "capacity"]).is_empty());
        assert!(wrong(&["capacity"]).is_empty(), "a verdict that is not given is not wrong");
        assert_eq!(
            wrong(&["verdict-logger: not suitable", "capacity"]),
            ["said verdict-logger: not suitable"]
        );
        assert_eq!(wrong(&["verdict-logger: good"]), ["did not say capacity"]);
    }

    #[test]
    fn the_headline_is_held_against_the_middle_of_the_quiet_runs() {
        let quiet = || [90.0, 100.0, 500.0].map(|headline| first_lines(&[], headline)).into();
        let missed = |headline| {
            missed(&[Row { profile: "a1", busy: first_lines(&[], headline), quiet: quiet() }])
        };
        assert!(missed(109.0).is_empty());
        assert_eq!(missed(89.0), ["a1: headline 0.890"]);
    }
}
