//! `cargo validation buses`: the program on media behind the kernel's own drivers of USB, SD, NVMe
//! and SCSI, in virtual machines: it must name them correctly, and report media that are pulled
//! out, fail, stop answering or are exchanged.
//!
//! The trials are tests of the program (`crates/flashmark/tests/it/vm/buses/`), which report the
//! result of each.

use std::fmt::Write as _;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::tests_program;

/// Names of the buses in the tests.
const BUSES: [&str; 6] = ["usb", "uas", "sd", "emmc", "nvme", "scsi"];
const TESTS: &str = "vm::buses::";
const PAGE: &str = "docs/buses.md";
const LOOK: Duration = Duration::from_millis(100);

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
    let program = tests_program::built(root)?;
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, interrupted.clone()).context("listening for Ctrl-C")?;
    }
    let buses: Vec<&str> = BUSES
        .into_iter()
        .filter(|bus| flags.only.is_empty() || is_among(bus, &flags.only))
        .collect();
    let began = Instant::now();
    let Some(tried) = side_by_side(&buses, &interrupted, |bus| try_on(root, &program, bus))? else {
        bail!("interrupted; the virtual machines are gone");
    };
    let mut rows = Vec::new();
    for tests in &tried {
        rows.extend(tests_program::reports(&tests.reports_file())?);
    }
    let table = table(&rows, began.elapsed());
    print!("\n{table}");
    if flags.write && !rows.is_empty() {
        crate::section::keep(&root.join(PAGE), "What was tried", "cargo validation buses", &table)?;
    }
    ensure!(!rows.is_empty(), "nothing was tried: the tests say above what is missing");
    let is_good = tried.iter().all(|tests| tests.status.is_some_and(|status| status.success()));
    ensure!(is_good, "something was not as it should be");
    Ok(())
}

fn is_among(bus: &str, chosen: &[String]) -> bool {
    chosen.iter().any(|name| name == bus)
}

/// Running or ended tests of one bus. Dropping it removes everything they made, and their machine.
struct Tests {
    child: Child,
    status: Option<ExitStatus>,
    scratch: tempfile::TempDir,
}

impl Tests {
    fn started(command: &mut Command, scratch: tempfile::TempDir) -> Result<Tests> {
        let child = command.spawn().context("cannot start the tests")?;
        Ok(Tests { child, status: None, scratch })
    }

    fn reports_file(&self) -> PathBuf {
        reports_file_in(&self.scratch)
    }
}

impl Drop for Tests {
    fn drop(&mut self) {
        if self.status.is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

fn reports_file_in(scratch: &tempfile::TempDir) -> PathBuf {
    scratch.path().join("told")
}

fn try_on(root: &Path, program: &Path, bus: &str) -> Result<Tests> {
    let scratch = tempfile::Builder::new().prefix("flashmark-buses-").tempdir_in("/var/tmp");
    let scratch = scratch.context("cannot make a directory for the media")?;
    let mut tests =
        tests_program::about_to_try(root, program, &[TESTS], &reports_file_in(&scratch));
    tests.env("FLASHMARK_BUSES", bus).env("FLASHMARK_SCRATCH", scratch.path());
    Tests::started(&mut tests, scratch)
}

/// Tries all buses, as many at a time as there are processors; `None` after a signal.
fn side_by_side(
    buses: &[&str],
    interrupted: &AtomicBool,
    start: impl Fn(&str) -> Result<Tests>,
) -> Result<Option<Vec<Tests>>> {
    let most = thread::available_parallelism().map_or(1, NonZero::get);
    let (mut waiting, mut tried) = (buses.iter(), Vec::<Tests>::new());
    loop {
        if interrupted.load(Ordering::SeqCst) {
            return Ok(None);
        }
        let mut busy = 0;
        for tests in tried.iter_mut().filter(|tests| tests.status.is_none()) {
            tests.status = tests.child.try_wait().context("cannot wait for the tests")?;
            busy += usize::from(tests.status.is_none());
        }
        match waiting.as_slice() {
            [] if busy == 0 => break,
            [bus, ..] if busy < most => {
                tried.push(start(bus)?);
                waiting.next();
            }
            _ => thread::sleep(LOOK),
        }
    }
    // Ctrl-C at a terminal has already ended the tests.
    Ok((!interrupted.load(Ordering::SeqCst)).then_some(tried))
}

/// Makes a line for each trial from the reports of the tests.
fn table(rows: &[Value], took: Duration) -> String {
    let good = rows.iter().filter(|row| row["good"] == true).count();
    let minutes = took.as_secs().div_ceil(60);
    let mut text = format!(
        "`cargo validation buses`, {minutes} min: {} lines, {} of them not as they should be.\n\n\
         | bus | driver | trial | outcome |\n|---|---|---|---|\n",
        rows.len(),
        rows.len() - good
    );
    for row in rows {
        let word = |key: &str| cell(row[key].as_str().unwrap_or_default());
        let fault = if row["good"] == true { "" } else { "**NOT AS IT SHOULD BE:** " };
        let (bus, driver, trial) = (word("bus"), word("driver"), word("trial"));
        writeln!(text, "| {bus} | {driver} | {trial} | {fault}{} |", word("outcome")).ok();
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
    use serde_json::json;

    #[test]
    fn reports_are_written_as_a_table() {
        let report = |trial: &str, outcome: &str, good: bool| json!({ "bus": "usb", "driver": "usb-storage", "trial": trial, "outcome": outcome, "good": good });
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

    fn tests_of(program: &str, word: &str) -> Result<Tests> {
        Tests::started(Command::new(program).arg(word), tempfile::tempdir()?)
    }

    #[test]
    fn all_are_tried_and_how_each_ended_is_known() -> Result<()> {
        let buses = ["true", "false", "true", "true"];
        let tried = side_by_side(&buses, &AtomicBool::new(false), |bus| tests_of(bus, ""))?;
        let ended =
            tried.context("no signal came")?.iter().map(|tests| tests.status).collect::<Vec<_>>();
        let good: Vec<bool> =
            ended.iter().map(|status| status.is_some_and(|status| status.success())).collect();
        assert_eq!(good, [true, false, true, true]);
        Ok(())
    }

    #[test]
    fn a_signal_ends_the_tests_and_removes_what_they_made() -> Result<()> {
        let (interrupted, places) = (AtomicBool::new(false), std::sync::Mutex::new(Vec::new()));
        let tried = side_by_side(&["usb", "sd"], &interrupted, |_| {
            let tests = tests_of("sleep", "1000")?;
            interrupted.store(true, Ordering::SeqCst);
            places
                .lock()
                .expect("nobody panics")
                .push((tests.scratch.path().to_owned(), tests.child.id()));
            Ok(tests)
        })?;
        assert!(tried.is_none());
        for (place, process) in places.into_inner().expect("nobody panics") {
            assert!(!place.exists(), "{}", place.display());
            assert!(!Path::new(&format!("/proc/{process}")).exists(), "{process}");
        }
        Ok(())
    }
}
