//! `cargo validation truth`: compares the results of `standard` on simulated media with the truth
//! about these media.
//!
//! docs/truth.md defines "true"; `--write` keeps the table there.

mod findings;
mod held;
mod long_run;
mod reruns;
mod runs;

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Result, ensure};
use held::{Coverage, Effort, Held, Lasting, Share, hold};
use sim::Profile;

use crate::section::Section;

/// Flags of the study.
#[derive(clap::Args)]
pub struct Flags {
    /// Profiles to measure, separated by commas. Without it, all.
    #[arg(long, value_delimiter = ',')]
    pub profiles: Vec<String>,
    /// Number of runs of each profile.
    #[arg(long, default_value_t = 200)]
    pub seeds: u64,
    /// Show every cell.
    #[arg(long)]
    pub cells: bool,
    /// Write the table to docs/truth.md.
    #[arg(long)]
    pub write: bool,
    #[command(flatten)]
    findings: findings::Flags,
    #[command(flatten)]
    reruns: reruns::Flags,
}

/// Page with the table.
const PAGE: &str = "docs/truth.md";
/// Number of I/Os of the truth: so many that its own chance is a fifth of a run's.
const EFFORT: Effort = Effort { times: 20, bounds: (100_000, 4_000_000) };
/// Percent of 95 % intervals that should contain the truth.
const EXPECTED: std::ops::RangeInclusive<f64> = 93.0..=97.0;

/// Measures, and prints the table.
pub fn run(root: &Path, flags: &Flags) -> Result<()> {
    if flags.findings.findings {
        return findings::run(root, &flags.findings, flags.write);
    }
    if flags.reruns.reruns {
        return reruns::run(root, &flags.reruns, flags.write);
    }
    let unknown = flags.profiles.iter().find(|name| Profile::builtin(name).is_none());
    ensure!(
        unknown.is_none(),
        "there is no profile '{}'; flashmark sim list names them",
        unknown.map_or("", String::as_str)
    );
    let wanted = |profile: &&Profile| {
        flags.profiles.is_empty() || flags.profiles.iter().any(|name| name == profile.name())
    };
    let profiles: Vec<&Profile> = Profile::all().iter().filter(wanted).collect();
    let seeds = flags.seeds;
    let held = findings::each(profiles.len() as u64, |index| {
        hold(profiles[index as usize], seeds, &[], EFFORT)
    });
    let table = table(&held, seeds, &flags.profiles);
    let section = Section { page: PAGE, heading: "The table", name: "cargo validation truth" };
    section.publish(root, &table, flags.write)?;
    if flags.cells {
        held.iter().for_each(|held| print!("{}", cells(held)));
    }
    Ok(())
}

fn table(held: &[Held], seeds: u64, only: &[String]) -> String {
    let only = match only {
        [] => String::new(),
        only => format!(" --profiles {}", only.join(",")),
    };
    let mut text = format!(
        "`cargo validation truth --seeds {seeds}{only}`: percent of the intervals that hold the long-run truth.\n\n"
    );
    text.push_str("| profile | IOPS | bytes/s | p50 | p99 | longest run | random write within 10 % of the full pass: 4 KiB, worst size | too fast to last: in all, not said; said without need |\n");
    text.push_str("|---|---:|---:|---:|---:|---:|---:|---:|\n");
    for held in held {
        let [iops, bps, p50, p99] = held.counts.coverage.map(marked);
        let [small, worst] = held.full_pass.map(percent);
        let Lasting { too_fast, without_caveat, needless } = held.counts.lasting;
        let minutes = held.longest_ns as f64 / 60e9;
        let lasting = format!("{too_fast}, {without_caveat}; {needless}");
        writeln!(text, "| {} | {iops} | {bps} | {p50} | {p99} | {minutes:.1} min | {small}, {worst} | {lasting} |", held.name).ok();
    }
    let mut sum = Held::default();
    held.iter().for_each(|held| sum.add(held));
    for (name, sums) in [("all", sum.counts.coverage), ("from rounds", sum.counts.of_rounds)] {
        let [iops, bps, p50, p99] = sums.map(marked);
        writeln!(text, "| **{name}** | {iops} | {bps} | {p50} | {p99} | | | |").ok();
    }
    let listed = |of: fn(&Held) -> Option<String>| {
        let of = |held: &Held| Some(format!("{} {}", of(held)?, held.name));
        let list: Vec<String> = held.iter().filter_map(of).collect();
        if list.is_empty() { "none".to_owned() } else { list.join(", ") }
    };
    let constant = listed(|held| {
        let Share { of, all } = held.counts.constant;
        (all > 0).then(|| format!("{of} of {all}"))
    });
    let failed = listed(|held| (held.failed > 0).then(|| held.failed.to_string()));
    let mixed = listed(|held| (held.mixed > 0).then(|| held.mixed.to_string()));
    text += &format!(
        "\nOutside 93 to 97 % in italics. Figures in which chance has no part, right to three digits: {constant}.\nCells not counted: failed by the medium: {failed}; measured while a cache filled up: {mixed}.\n"
    );
    text
}

/// Text of a coverage; in italics outside the expected range.
fn marked(coverage: Coverage) -> String {
    match coverage.percent() {
        None => "-".to_owned(),
        // The table is judged as it is printed.
        Some(percent) if EXPECTED.contains(&((percent * 10.0).round() / 10.0)) => {
            format!("{percent:.1}")
        }
        Some(percent) => format!("*{percent:.1}*"),
    }
}

fn percent(share: Share) -> String {
    share.percent().map_or("-".to_owned(), |percent| format!("{percent:.0}"))
}

fn cells(held: &Held) -> String {
    let mut text = format!("\n{}\n", held.name);
    for cell in &held.cells {
        let sides = |coverage: Coverage| {
            let share = |n: u32| 100.0 * f64::from(n) / f64::from(coverage.runs.max(1));
            format!(
                "{:5.1} (-{:.1} +{:.1})",
                coverage.percent().unwrap_or(f64::NAN),
                share(coverage.below),
                share(coverage.above)
            )
        };
        let coverage = cell.counts.coverage.map(sides);
        let (rate, p50, p99) = (&coverage[cell.rate], &coverage[2], &coverage[3]);
        let Lasting { too_fast, without_caveat, needless } = cell.counts.lasting;
        let lasts = cell.lasts.map_or(String::new(), |rate| {
            format!("  lasts {rate:.2}: {too_fast}, {without_caveat}; {needless}")
        });
        let (id, block, truth, off) =
            (&cell.id, cell.block_bytes, cell.truth.rate, 100.0 * cell.off);
        let Share { of, all } = cell.counts.bounds;
        let bounds = if all > 0 { format!("  bounds {of} of {all}") } else { String::new() };
        writeln!(text, "  {id:20} {block:>8} B  {truth:10.2}/s  off {off:+6.2} %  rate {rate:20} p50 {p50:20} p99 {p99:20}{lasts}{bounds}")
            .ok();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Too few runs for a share, enough to prove that figures are compared with the truth.
    #[test]
    fn three_runs_of_a_card_report_no_rate_above_the_sustained_one() {
        let card = Profile::builtin("class10").expect("it comes with the program");
        let writes = ["prime", "sequential-write", "random-write", "sector-write"];
        let held = hold(card, 3, &writes, Effort { times: 4, bounds: (20_000, 200_000) });
        let Lasting { without_caveat, .. } = held.counts.lasting;
        assert!(!held.cells.is_empty() && without_caveat == 0, "{:?}", held.counts);
        let table = table(&[held], 3, &["class10".to_owned()]);
        assert!(table.contains("\n| class10 | "), "{table}");
    }
}
