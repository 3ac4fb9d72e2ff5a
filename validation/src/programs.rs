//! Programs that a study starts and that must succeed.

use std::process::Command;

use anyhow::{Context, Result, ensure};

/// Runs a program; its output is shown.
///
/// # Errors
/// If it does not start or fails.
pub fn succeed(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("{command:?} does not start"))?;
    ensure!(status.success(), "{command:?}: {status}");
    Ok(())
}

/// Runs a program; returns its standard output. Its standard error is shown only if it fails.
///
/// # Errors
/// If it does not start or fails.
pub fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("{command:?} does not start"))?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?}: {}", stderr.trim());
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
