//! The program with the tests, which studies run often or for long.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// Builds the program with the tests.
///
/// # Errors
/// If cargo cannot build it.
pub fn built(root: &Path) -> Result<PathBuf> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // The whole workspace, so that nothing is built twice with different features.
    cargo.args([
        "test",
        "--locked",
        "--workspace",
        "--test",
        "it",
        "--no-run",
        "--message-format",
        "json",
    ]);
    let output =
        cargo.current_dir(root).stderr(Stdio::inherit()).output().context("cannot start cargo")?;
    ensure!(output.status.success(), "the tests cannot be built");
    let text = String::from_utf8(output.stdout).context("cargo told something else than text")?;
    let artifacts = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let is_it = |built: &Value| {
        built["target"]["name"] == "it"
            && built["manifest_path"]
                .as_str()
                .is_some_and(|path| path.ends_with("crates/flashmark/Cargo.toml"))
    };
    let program = artifacts
        .filter(is_it)
        .find_map(|built| Some(PathBuf::from(built["executable"].as_str()?)));
    program.context("cargo built no tests of the program")
}

/// Command for these tests, including those that take minutes. They append their reports, a line of
/// JSON each, to a file.
pub fn about_to_try(root: &Path, program: &Path, tests: &[&str], reports_file: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(tests).arg("--include-ignored").current_dir(root.join("crates/flashmark"));
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("FLASHMARK_TALLY", reports_file).env("PATH", format!("{path}:/usr/sbin:/sbin"));
    command
}

/// Reports of tests in a file; empty if the file is missing.
///
/// # Errors
/// If it cannot be read, or holds anything but lines of JSON.
pub fn reports(file: &Path) -> Result<Vec<Value>> {
    let text = match std::fs::read_to_string(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        read => read.context("cannot read what the tests told")?,
    };
    let lines: serde_json::Result<Vec<Value>> = text.lines().map(serde_json::from_str).collect();
    lines.context("a test told something else than a line of JSON")
}
