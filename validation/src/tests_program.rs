//! The program with the tests, which studies run often or for long.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tempfile::TempDir;

use crate::programs::output;

/// File of the reports.
const REPORTS: &str = "reports";
const LOOK: Duration = Duration::from_millis(100);

/// Builds the program and the tests.
///
/// # Errors
/// If cargo cannot build it.
pub fn built(root: &Path) -> Result<TestPrograms> {
    let build = |words: &[&str], name: &str| {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(words).args(["--locked", "--target-dir=target", "--message-format=json"]);
        let text = output(cargo.current_dir(root).stderr(Stdio::inherit()))?;
        let artifacts = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let executable = artifacts
            .filter(|built| built["target"]["name"] == name)
            .find_map(|built| Some(PathBuf::from(built["executable"].as_str()?)));
        executable.with_context(|| format!("cargo built no {name}"))
    };
    let words = ["test", "--manifest-path=validation/Cargo.toml", "--test=torture", "--no-run"];
    let program = build(&["build", "--workspace", "--bins"], "flashmark")?;
    Ok(TestPrograms { program, tests: build(&words, "torture")? })
}

/// The program, and the tests that torture it.
pub struct TestPrograms {
    program: PathBuf,
    tests: PathBuf,
}

/// Running or ended tests. Dropping them removes everything they made, and their machines.
pub struct Tests {
    child: Child,
    status: Option<ExitStatus>,
    scratch: TempDir,
}

impl Tests {
    /// Starts these tests, including those that take minutes; `set` changes their command. They
    /// append their reports, a line of JSON each, to a file in `scratch`.
    ///
    /// # Errors
    /// If they do not start.
    pub fn start(
        root: &Path,
        programs: &TestPrograms,
        tests: &[&str],
        scratch: TempDir,
        set: impl FnOnce(&mut Command, &Path) -> Result<()>,
    ) -> Result<Tests> {
        let mut command = Command::new(&programs.tests);
        command.args(tests).arg("--include-ignored").current_dir(root.join("validation"));
        command.env("FLASHMARK_PROGRAM", &programs.program);
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("FLASHMARK_TALLY", scratch.path().join(REPORTS));
        set(command.env("PATH", format!("{path}:/usr/sbin:/sbin")), scratch.path())?;
        Tests::started(&mut command, scratch)
    }

    fn started(command: &mut Command, scratch: TempDir) -> Result<Tests> {
        let child = command.spawn().context("cannot start the tests")?;
        Ok(Tests { child, status: None, scratch })
    }

    /// True if they have ended and passed.
    pub fn passed(&self) -> bool {
        self.status.is_some_and(|status| status.success())
    }

    /// Their reports; empty if there are none.
    ///
    /// # Errors
    /// If the reports cannot be read.
    pub fn reports<T: DeserializeOwned>(&self) -> Result<Vec<T>> {
        let text = match std::fs::read_to_string(self.scratch.path().join(REPORTS)) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            read => read.context("cannot read the reports of the tests")?,
        };
        let reports: serde_json::Result<Vec<T>> = text.lines().map(serde_json::from_str).collect();
        reports.context("a report of a test cannot be read")
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

/// Tries everything, at most this many at a time; `None` after a signal.
///
/// # Errors
/// If tests do not start.
pub fn try_all<T>(
    all: &[T],
    most: usize,
    interrupted: &AtomicBool,
    start: impl Fn(&T) -> Result<Tests>,
) -> Result<Option<Vec<Tests>>> {
    let (mut waiting, mut tried) = (all.iter(), Vec::<Tests>::new());
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
            [next, ..] if busy < most => {
                tried.push(start(next)?);
                waiting.next();
            }
            _ => std::thread::sleep(LOOK),
        }
    }
    // Ctrl-C at a terminal has already ended the tests.
    Ok((!interrupted.load(Ordering::SeqCst)).then_some(tried))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tests_of(program: &str, word: &str) -> Result<Tests> {
        Tests::started(Command::new(program).arg(word), tempfile::tempdir()?)
    }

    #[test]
    fn all_are_tried_and_how_each_ended_is_known() -> Result<()> {
        let buses = ["true", "false", "true", "true"];
        let tried = try_all(&buses, 2, &AtomicBool::new(false), |bus| tests_of(bus, ""))?;
        let good: Vec<bool> = tried.context("no signal came")?.iter().map(Tests::passed).collect();
        assert_eq!(good, [true, false, true, true]);
        Ok(())
    }

    #[test]
    fn a_signal_ends_the_tests_and_removes_what_they_made() -> Result<()> {
        let (interrupted, places) = (AtomicBool::new(false), std::sync::Mutex::new(Vec::new()));
        let tried = try_all(&["usb", "sd"], 2, &interrupted, |_| {
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
