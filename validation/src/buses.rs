//! `cargo validation buses`: the program on media behind the kernel's own drivers of USB, SD, NVMe
//! and SCSI, in virtual machines: it must name them correctly, and report media that are pulled
//! out, fail, stop answering or are exchanged.
//!
//! The trials are tests (`validation/tests/torture/vm/buses/`), which report the result of each.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::programs::interrupts;
use crate::section::Section;
use crate::tests_program::{TestPrograms, Tests, built, try_all};

/// Names of the buses in the tests.
const BUSES: [&str; 6] = ["usb", "uas", "sd", "emmc", "nvme", "scsi"];
const TESTS: &str = "vm::buses::";
const TABLE: Section<'static> =
    Section { page: "docs/buses.md", heading: "What was tried", name: "cargo validation buses" };

/// Flags of the study.
#[derive(clap::Args)]
pub struct Flags {
    /// Buses to test. Without it, all.
    #[arg(long, value_delimiter = ',', value_parser = BUSES)]
    pub only: Vec<String>,
    /// Write the table to docs/buses.md; only if all buses were tested.
    #[arg(long, conflicts_with = "only")]
    pub write: bool,
}

/// Runs the study and prints the table. An error if a trial failed.
pub fn run(root: &Path, flags: &Flags) -> Result<()> {
    ensure!(
        rustix::process::geteuid().is_root(),
        "buses starts virtual machines on this machine's files: start it as root"
    );
    let programs = built(root)?;
    let interrupted = interrupts()?;
    let buses: Vec<&str> = BUSES
        .into_iter()
        .filter(|bus| flags.only.is_empty() || flags.only.iter().any(|name| name == bus))
        .collect();
    let began = Instant::now();
    // As many at a time as there are processors.
    let most = std::thread::available_parallelism().map_or(1, usize::from);
    let start = |bus: &&str| try_on(root, &programs, bus);
    let Some(tried) = try_all(&buses, most, &interrupted, start)? else {
        bail!("interrupted; the virtual machines are gone");
    };
    let mut rows = Vec::new();
    for tests in &tried {
        rows.extend(tests.reports()?);
    }
    let table = table(&rows, began.elapsed());
    TABLE.publish(root, &table, flags.write && !rows.is_empty())?;
    ensure!(!rows.is_empty(), "nothing was tried: the tests say above what is missing");
    let is_good = tried.iter().all(Tests::passed);
    ensure!(is_good, "something was not as it should be");
    Ok(())
}

fn try_on(root: &Path, programs: &TestPrograms, bus: &str) -> Result<Tests> {
    let scratch = tempfile::Builder::new().prefix("flashmark-buses-").tempdir_in("/var/tmp");
    let scratch = scratch.context("cannot make a directory for the media")?;
    Tests::start(root, programs, &[TESTS], scratch, |tests, scratch| {
        tests.env("FLASHMARK_BUSES", bus).env("FLASHMARK_SCRATCH", scratch);
        Ok(())
    })
}

/// Report of a trial.
#[derive(serde::Deserialize)]
struct Report {
    bus: String,
    driver: String,
    trial: String,
    outcome: String,
    good: bool,
}

/// Makes a line for each trial from the reports of the tests.
fn table(reports: &[Report], took: Duration) -> String {
    let faults = reports.iter().filter(|report| !report.good).count();
    let minutes = took.as_secs().div_ceil(60);
    let mut text = format!(
        "`cargo validation buses`, {minutes} min: {} lines, {faults} of them not as they should be.\n\n\
         | bus | driver | trial | outcome |\n|---|---|---|---|\n",
        reports.len(),
    );
    for report in reports {
        let Report { bus, driver, trial, .. } = report;
        let fault = if report.good { "" } else { "**NOT AS IT SHOULD BE:** " };
        let outcome = cell(&report.outcome);
        writeln!(text, "| {bus} | {driver} | {trial} | {fault}{outcome} |").ok();
    }
    text
}

/// Text for a cell of a table: one line, no column separator, limited in length.
fn cell(words: &str) -> String {
    let line = words.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|");
    match line.char_indices().nth(400) {
        Some((end, _)) => format!("{} ..", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_written_as_a_table() {
        let report = |trial: &str, outcome: &str, good: bool| Report {
            bus: "usb".to_owned(),
            driver: "usb-storage".to_owned(),
            trial: trial.to_owned(),
            outcome: outcome.to_owned(),
            good,
        };
        let rows =
            [report("identity", "usb", true), report("a read fails", "exit 0\na | b", false)];
        insta::assert_snapshot!(table(&rows, Duration::from_secs(61)), @r"
        `cargo validation buses`, 2 min: 2 lines, 1 of them not as they should be.

        | bus | driver | trial | outcome |
        |---|---|---|---|
        | usb | usb-storage | identity | usb |
        | usb | usb-storage | a read fails | **NOT AS IT SHOULD BE:** exit 0 a \| b |
        ");
        assert_eq!(cell(&"é".repeat(500)).chars().count(), 403);
    }
}
