//! Cases as text: each under a title (`## ..`). A line builds the case; one that begins with `?` is a
//! question, with its answer indented below it, and one that begins with `#` is a remark. And rows, each
//! `question => answer`. With TRYCMD=overwrite the answers are written, to be looked at in the change.
#![allow(dead_code, reason = "a crate has cases, or rows")]

use std::fs;
use std::path::Path;

/// What is built line by line and asked.
pub trait Case {
    /// Adds to the case, or changes it.
    fn build(&mut self, line: &str);
    /// The answer to a question.
    fn answer(&mut self, question: &str) -> String;
}

/// Checks that each question of a file has the answer below it.
pub fn check<C: Case>(path: &Path, begin: impl Fn() -> C) {
    let expected = fs::read_to_string(path).unwrap();
    compare(path, &expected, &answered(&expected, begin));
}

/// Checks that each row of a file of this crate has the answer to its question.
pub fn check_rows(file: &str, answer: impl Fn(&str) -> String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let expected = fs::read_to_string(&path).unwrap();
    let row = |line: &str| match line.split_once(" => ") {
        Some((question, _)) if !line.starts_with('#') => {
            format!("{question} => {}\n", answer(question))
        }
        _ => format!("{line}\n"),
    };
    compare(&path, &expected, &expected.lines().map(row).collect::<String>());
}

fn compare(path: &Path, expected: &str, found: &str) {
    if std::env::var("TRYCMD").is_ok_and(|how| how == "overwrite") {
        return fs::write(path, found).unwrap();
    }
    let pairs = found.lines().zip(expected.lines().chain(std::iter::repeat("(the end)")));
    for (number, (found, expected)) in pairs.enumerate() {
        assert_eq!(found, expected, "{}:{}", path.display(), number + 1);
    }
    assert_eq!(found.lines().count(), expected.lines().count(), "{}", path.display());
}

/// The lines of a file with the answers of its cases.
fn answered<C: Case>(text: &str, begin: impl Fn() -> C) -> String {
    let mut case = begin();
    let mut lines = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with("  ")) {
        lines.push(line.to_owned());
        if line.starts_with("## ") {
            case = begin();
        } else if let Some(question) = line.strip_prefix("? ") {
            lines.extend(case.answer(question).lines().map(|line| format!("  {line}")));
        } else if !line.is_empty() && !line.starts_with('#') {
            case.build(line);
        }
    }
    lines.join("\n") + "\n"
}
