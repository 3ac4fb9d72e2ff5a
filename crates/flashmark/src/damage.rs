//! Damage of a run's files, in a line or two on the terminal.

use std::io::Write;

use record::text::printable;
use store::{Damage, RunDir};

/// Most places of a journal that are named one by one.
const MAX_LINES: usize = 5;

/// A line for each place of damage, up to five, and one with the number of the others.
pub fn lines<'a>(damage: impl Iterator<Item = &'a Damage>) -> Vec<String> {
    let all: Vec<String> = damage.map(|damage| printable(&damage.to_string())).collect();
    let mut shown: Vec<String> = all.iter().take(MAX_LINES).cloned().collect();
    if all.len() > MAX_LINES {
        shown.push(format!(
            "and {} more places of the journal; `flashmark show --salvage` names them all",
            all.len() - MAX_LINES
        ));
    }
    shown
}

/// All damage in one line; `None` if nothing is damaged.
pub fn line(damage: &[Damage]) -> Option<String> {
    match damage {
        [] => None,
        [one] => Some(printable(&one.to_string())),
        [first, rest @ ..] => {
            let first = printable(&first.to_string());
            Some(format!(
                "{first}; and {} more, `flashmark show --salvage` names them all",
                rest.len()
            ))
        }
    }
}

/// Prints the damage of a run's journal on standard error, a line each. Errors of printing are
/// ignored.
pub fn warn<'a>(dir: &RunDir, damage: impl Iterator<Item = &'a Damage>) {
    lines(damage).iter().for_each(|line| print_line(dir, line));
}

/// Prints one line about a run on standard error.
pub fn print_line(dir: &RunDir, line: &str) {
    let _ = writeln!(std::io::stderr(), "flashmark: {}: {line}", printable(dir.name()));
}
