//! Conclusions about the same medium, simulated and attached as a real block device, side by side;
//! and about a loop device over a plain file, which is none of these media.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result};
use host::LoopOptions;
use host::loopdev::attach_with;
use record::{Finding, Record, Severity};

use super::medium::{Medium, Program, run, with_priority};
use super::{SEED, is_wanted};

/// Media with different conclusions: a simple card, one with a fast buffer for small writes, a
/// page-mapped one, a fake.
const MEDIA: [&str; 4] = ["sd-class4", "class10-bypass", "a1", "fake-wrap"];

/// Conclusions about the host or this run, not about the medium.
const OF_THE_RUN: [&str; 5] = ["host", "impossible", "health", "wear", "usb-split"];

/// Conclusions that call a medium a cheat.
const CHEATS: [&str; 11] = [
    "span-cache",
    "small-span",
    "compression",
    "repeats-recognised",
    "equal-rewrites-skipped",
    "small-write-bypass",
    "slc-cache",
    "throttling",
    "front-area",
    "pattern-cheat",
    "capacity",
];

/// Size of the file of the loop device, in bytes, for tests that search for cheats.
const LOOP_BYTES: u64 = 1 << 30;
const LOOKING: &str = "prime,random-write,sequential-write,zero-fill,random-fill,span-sweep,content-sweep,pattern,misalign,front-area,management-unit,flush-cost,capacity";

/// Findings of a record about the medium, by their ids.
fn about_the_medium(record: Record) -> BTreeMap<String, Finding> {
    let is_one = |finding: &Finding| {
        !OF_THE_RUN.contains(&finding.id.as_str())
            && !finding.id.starts_with("advice")
            && !finding.id.starts_with("verdict-")
    };
    let findings = record.findings.into_iter().filter(is_one);
    findings.map(|finding| (finding.id.clone(), finding)).collect()
}

/// Sizes in a statement, which must be the same on both ways: "4 MiB", "8 GiB". Rates and counts
/// differ by the time of the way.
fn sizes(statement: &str) -> Vec<String> {
    let words: Vec<&str> =
        statement.split(|c: char| c.is_whitespace() || c == ',' || c == ';').collect();
    let is_size = |pair: &&[&str]| {
        ["KiB", "MiB", "GiB"].iter().any(|unit| pair[1].trim_end_matches(['.', ':']) == *unit)
    };
    words
        .windows(2)
        .filter(is_size)
        .map(|pair| format!("{} {}", pair[0], pair[1].trim_end_matches(['.', ':'])))
        .collect()
}

/// Makes the table; returns it with the differences.
pub fn compare(program: &Program, only: &[String]) -> Result<(String, Vec<String>)> {
    let home = tempfile::tempdir()?;
    let run = |target: &[&str], words: &[&str]| {
        let words = [target, &["--suite=quick"], words].concat();
        let record = run(with_priority(program.word())?, home.path(), &words, SEED)?;
        Ok(about_the_medium(record))
    };
    let mut wrong = Vec::new();
    let mut table =
        "| medium | conclusion | simulated | attached |\n|---|---|---|---|\n".to_owned();
    for profile in MEDIA.into_iter().filter(|name| is_wanted(only, name)) {
        let capacity = if profile.starts_with("fake") { ",capacity" } else { "" };
        let only = format!(
            "--only=prime,sequential-write,sequential-read,random-read,align-read,random-write,open-aus{capacity}"
        );
        // The suite ends after a minute, which is too short to probe a slow medium.
        let words = [
            only.as_str(),
            "--set=capacity.cache=64MiB",
            "--set=capacity.max_time=2m",
            "--set=open-aus.max_time=45s",
            "--time-limit=6m",
        ];
        let simulated = run(&[&format!("sim:{profile}")], &words)?;
        let attached = run(&Medium::attach(program, profile)?.target(), &words)?;
        let ids: BTreeSet<&String> = simulated.keys().chain(attached.keys()).collect();
        for id in ids {
            let findings = [simulated.get(id), attached.get(id)];
            let [here, there] =
                findings.map(|it| it.map(|finding| (finding.severity, sizes(&finding.statement))));
            if here != there {
                wrong.push(format!("{profile}: {id}"));
            }
            let [here, there] =
                findings.map(|it| it.map_or("-".to_owned(), |it| it.statement.replace('|', "/")));
            writeln!(table, "| {profile} | {id} | {here} | {there} |")?;
        }
    }
    if is_wanted(only, "loop") {
        let claimed = on_a_loop_device(home.path(), run)?;
        writeln!(
            table,
            "\nOn a loop device over a file, asked with all tests that look for cheats: {}.",
            if claimed.is_empty() { "none is claimed".to_owned() } else { claimed.join("; ") }
        )?;
        wrong.extend(claimed.into_iter().map(|claim| format!("loop device: {claim}")));
    }
    Ok((table, wrong))
}

/// Claims of cheats about a loop device, which are false.
fn on_a_loop_device(
    home: &Path,
    run: impl FnOnce(&[&str], &[&str]) -> Result<BTreeMap<String, Finding>>,
) -> Result<Vec<String>> {
    let image = home.join("image");
    File::create(&image)?.set_len(LOOP_BYTES)?;
    let options = LoopOptions { direct_io: true, ..LoopOptions::default() };
    let device = attach_with(&image, options).context("a loop device needs root")?;
    let node = device.path().display().to_string();
    let only = format!("--only={LOOKING}");
    let findings = run(&[&node, "--erase", &node, "--yes"], &[&only])?;
    // The claim that its capacity is real is not one of a cheat.
    let is_cheat = |finding: &Finding| {
        CHEATS.contains(&finding.id.as_str())
            && (finding.id != "capacity" || finding.severity != Severity::Info)
    };
    let cheats = findings.into_values().filter(is_cheat);
    Ok(cheats.map(|finding| format!("{}: {}", finding.id, finding.statement)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_compared_and_rates_are_not() {
        assert_eq!(
            sizes("It says 64 GiB, it has 8 GiB; 2.75 IOPS of 4 KiB. 9.4 MB/s"),
            ["64 GiB", "8 GiB", "4 KiB"]
        );
    }
}
