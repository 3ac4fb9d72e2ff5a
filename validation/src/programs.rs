//! Programs that a study starts and that have to succeed.

use std::process::Command;

use anyhow::{Context, Result, ensure};

/// Runs a program; what it says is seen.
///
/// # Errors
/// Where it does not start or fails.
pub fn succeed(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("{command:?} does not start"))?;
    ensure!(status.success(), "{command:?}: {status}");
    Ok(())
}

/// What a program writes to standard output; what it says on standard error is seen only where it
/// fails.
///
/// # Errors
/// Where it does not start or fails.
pub fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("{command:?} does not start"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?}: {}", said.trim());
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
