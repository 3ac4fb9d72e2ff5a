//! What is wrong with a run's files, in a line or two on the terminal.

use std::io::Write;

use report::words::clean;
use store::{Damage, RunDir};

/// As many places of a journal are named one by one.
const MOST_LINES: usize = 5;

/// A line for each place, and one for those that are too many.
pub fn lines<'a>(damage: impl Iterator<Item = &'a Damage>) -> Vec<String> {
    let all: Vec<String> = damage.map(|damage| clean(&damage.to_string())).collect();
    let mut shown: Vec<String> = all.iter().take(MOST_LINES).cloned().collect();
    if all.len() > MOST_LINES {
        shown.push(format!(
            "and {} more places of the journal; `flashmark show --salvage` names them all",
            all.len() - MOST_LINES
        ));
    }
    shown
}

/// All of it in one line; none where nothing is damaged.
pub fn line(damage: &[Damage]) -> Option<String> {
    match damage {
        [] => None,
        [one] => Some(clean(&one.to_string())),
        [first, rest @ ..] => {
            let first = clean(&first.to_string());
            Some(format!(
                "{first}; and {} more, `flashmark show --salvage` names them all",
                rest.len()
            ))
        }
    }
}

/// Says on standard error, a line each, what of a run's journal is damaged. Nobody need be there to
/// read it.
pub fn warn<'a>(dir: &RunDir, damage: impl Iterator<Item = &'a Damage>) {
    lines(damage).iter().for_each(|line| tell(dir, line));
}

/// One line about a run on standard error.
pub fn tell(dir: &RunDir, line: &str) {
    let _ = writeln!(std::io::stderr(), "flashmark: {}: {line}", clean(dir.name()));
}
