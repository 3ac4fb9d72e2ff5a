//! How large each crate may be, from `ceilings.toml`: a house that nobody measures grows.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use toml::{Table, Value};

use super::Fault;
use super::project::Project;
use super::sources::is_tests;

const CEILINGS: &str = "ceilings.toml";
/// A ceiling is the count of lines rounded up to the next multiple of this.
const STEP: usize = 25;
const WHY: &str = "lines are paid for by everybody who builds, tests and reads: the total only falls, and a crate grows by what another one gives";

/// Lines of Rust, blank lines included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Lines {
    code: usize,
    tests: usize,
}

impl Lines {
    fn all(self) -> usize {
        self.code + self.tests
    }

    fn of(path: &str, text: &str) -> Lines {
        let all = text.lines().count();
        let tests = if is_tests(path) { all } else { lines_in_test_modules(text) };
        Lines { code: all - tests, tests }
    }
}

impl std::iter::Sum for Lines {
    fn sum<I: Iterator<Item = Lines>>(lines: I) -> Lines {
        lines.fold(Lines::default(), |sum, it| Lines {
            code: sum.code + it.code,
            tests: sum.tests + it.tests,
        })
    }
}

/// Lines from each `#[cfg(test)]` before a `mod NAME {` to the bracket that closes it, as rustfmt
/// lays them.
fn lines_in_test_modules(text: &str) -> usize {
    let mut inside = 0;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let opens = |next: &&str| next.trim_start().starts_with("mod ") && next.ends_with('{');
        if line.trim() != "#[cfg(test)]" || lines.peek().filter(|next| opens(next)).is_none() {
            continue;
        }
        let end = format!("{}}}", &line[..line.len() - line.trim_start().len()]);
        inside += 2 + lines.by_ref().skip(1).take_while(|line| **line != end).count() + 1;
    }
    inside
}

/// The crate that a source belongs to: a folder below `crates/`, or a folder at the top.
fn crate_of(path: &str) -> Option<&str> {
    path.strip_prefix("crates/").unwrap_or(path).split_once('/').map(|(name, _)| name)
}

fn counts(project: &Project) -> BTreeMap<&str, Lines> {
    let mut counts = BTreeMap::<&str, Lines>::new();
    for (path, text) in project.rust() {
        let lines = counts.entry(crate_of(path).unwrap_or(path)).or_default();
        *lines = [*lines, Lines::of(path, text)].into_iter().sum();
    }
    counts
}

/// Lines of code and tests of each crate, the largest first, and their sum.
pub fn table(project: &Project) -> String {
    let mut rows: Vec<_> = counts(project).into_iter().collect();
    rows.sort_by_key(|(_, lines)| std::cmp::Reverse(lines.all()));
    rows.push(("all", rows.iter().map(|(_, lines)| *lines).sum()));
    let mut text = format!("{:12} {:>8} {:>8} {:>8}\n", "crate", "code", "tests", "all");
    for (name, lines) in rows {
        let _ = writeln!(text, "{name:12} {:8} {:8} {:8}", lines.code, lines.tests, lines.all());
    }
    text
}

/// Each crate has exactly the ceiling that its count asks for, and all together stay below the
/// total.
pub fn crates_keep_their_ceilings(project: &Project) -> Vec<Fault> {
    let ceilings: Table = project.text(CEILINGS).unwrap_or_default().parse().unwrap_or_default();
    let number = |value: &Value| value.as_integer().and_then(|it| usize::try_from(it).ok());
    let crates = ceilings.get("crates").and_then(Value::as_table).cloned().unwrap_or_default();
    let counts = counts(project);
    let mut faults = Vec::new();
    for (name, lines) in &counts {
        let due = lines.all().next_multiple_of(STEP);
        let ceiling = crates.get(*name).and_then(number).unwrap_or_default();
        if ceiling != due {
            let what =
                format!("{name} has {} lines: its ceiling is {due}, not {ceiling}", lines.all());
            faults.push(Fault::new(CEILINGS, what, WHY));
        }
    }
    let gone = crates.keys().filter(|name| !counts.contains_key(name.as_str()));
    faults.extend(gone.map(|name| Fault::new(CEILINGS, format!("{name} is not there"), WHY)));
    let sum = counts.values().copied().sum::<Lines>().all();
    let total = ceilings.get("total").and_then(number).unwrap_or_default();
    if sum > total {
        let what = format!("all crates have {sum} lines, {} more than the total", sum - total);
        faults.push(Fault::new(CEILINGS, what, WHY));
    }
    faults
}
