//! Programs that a study starts, and the signals that end it.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use signal_hook::consts::{SIGINT, SIGTERM};

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
    output_if(command, |_| false)
}

/// The same, of a program that may end with other exit codes than 0 too.
///
/// # Errors
/// If it does not start, or fails otherwise.
pub fn output_if(command: &mut Command, is_expected: impl Fn(i32) -> bool) -> Result<String> {
    let output = command.output().with_context(|| format!("{command:?} does not start"))?;
    let (stdout, stderr) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    ensure!(
        output.status.success() || output.status.code().is_some_and(is_expected),
        "{command:?}: {}: {}",
        output.status,
        if stderr.trim().is_empty() { stdout.trim() } else { stderr.trim() }
    );
    Ok(stdout.into_owned())
}

/// Results in the JSON that fio printed, below its messages.
///
/// # Errors
/// If there are none.
pub fn fio_results(text: &str) -> Result<Value> {
    let json = text.find('{').map(|at| &text[at..]).context("fio printed no JSON")?;
    Ok(serde_json::from_str(json)?)
}

/// Value of a number with its unit, of which the factors are given: "3.73M", "2.04ms".
///
/// # Errors
/// If it is no number, or has another unit.
pub fn with_unit(text: &str, units: &[(&str, f64)]) -> Result<f64> {
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let factor = units.iter().find(|(name, _)| *name == unit);
    let (_, factor) = factor.with_context(|| format!("{text} has no known unit"))?;
    Ok(number.parse::<f64>().with_context(|| format!("{text} is no number"))? * factor)
}

/// Flag that Ctrl-C sets. The signal also ends the child that measures; this process goes on, to
/// detach and remove what it made.
///
/// # Errors
/// If the signals cannot be listened for.
pub fn interrupts() -> Result<Arc<AtomicBool>> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, interrupted.clone()).context("listening for Ctrl-C")?;
    }
    Ok(interrupted)
}

/// An error after Ctrl-C.
///
/// # Errors
/// If the flag is set.
pub fn go_on(interrupted: &AtomicBool) -> Result<()> {
    ensure!(!interrupted.load(Ordering::Relaxed), "interrupted");
    Ok(())
}
