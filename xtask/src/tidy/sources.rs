//! What the sources may not contain.

use super::project::Project;
use super::{CRATES, Fault};

/// `main.rs` composes and picks the exit code; what does not fit in this many lines is something
/// else.
const MAIN_LINES: usize = 70;

/// Lines of code with their numbers: comments and the test module at the end of a file are left
/// out.
pub fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines: Vec<&str> = text.lines().collect();
    let tests_begin = (0..lines.len()).find(|&i| {
        lines[i].trim() == "#[cfg(test)]"
            && lines
                .get(i + 1)
                .is_some_and(|next| next.trim_start().starts_with("mod ") && next.contains('{'))
    });
    let end = tests_begin.unwrap_or(lines.len());
    lines
        .into_iter()
        .take(end)
        .enumerate()
        .map(|(i, line)| (i + 1, line))
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
}

/// Whether a file holds nothing but tests.
pub fn is_tests(path: &str) -> bool {
    path.contains("/tests/")
        || ["/tests.rs", "/testing.rs", "/trial.rs"].iter().any(|end| path.ends_with(end))
}

/// Whether `word` stands in `text` by itself.
fn has_word(text: &str, word: &str) -> bool {
    let part_of_a_name = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        !text[..at].chars().next_back().is_some_and(part_of_a_name)
            && !text[at + word.len()..].chars().next().is_some_and(part_of_a_name)
    })
}

/// Whether a line names a path such as `std::fs`, written out or in a group (`std::{fs, io}`,
/// `std::time::{Duration, Instant}`).
fn names(line: &str, path: &str) -> bool {
    if has_word(line, path) {
        return true;
    }
    let Some((parent, item)) = path.rsplit_once("::") else { return false };
    line.split_once(&format!("{parent}::{{"))
        .is_some_and(|(_, group)| has_word(group.split(';').next().unwrap_or(group), item))
}

/// Every byte that reaches a medium by a raw pointer does so in one crate.
pub fn unsafe_lives_in_blockio(project: &Project) -> Vec<Fault> {
    let word = concat!("uns", "afe");
    let lint = format!("{word}_code");
    let mut faults = Vec::new();
    for (path, text) in project
        .all()
        .filter(|(path, _)| path.ends_with(".rs") && !path.starts_with("crates/blockio/"))
    {
        for (number, line) in
            text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"))
        {
            let opens = ["{", "fn", "impl", "extern", "trait"]
                .iter()
                .any(|after| has_word_before(line, word, after));
            if opens || line.contains(&format!("allow({lint}")) {
                let why = "unsafe code lives in blockio, where every block says why it is sound";
                faults.push(Fault::new(path, format!("line {}: {word} code", number + 1), why));
            }
        }
    }
    faults
}

/// Whether `word`, standing by itself, is followed by `after`.
fn has_word_before(line: &str, word: &str, after: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        has_word(&line[at..], word) && line[at + word.len()..].trim_start().starts_with(after)
    })
}

/// The "must never know" column, read in the sources themselves.
pub fn crates_do_not_know_what_they_must_not(project: &Project) -> Vec<Fault> {
    let mut faults = Vec::new();
    for rules in CRATES {
        let folder = format!("crates/{}/src/", rules.name);
        for (path, text) in project.below(&folder, ".rs").filter(|(path, _)| !is_tests(path)) {
            for (number, line) in code(text) {
                for never in rules.never.iter().filter(|never| names(line, never)) {
                    faults.push(Fault::new(path, format!("line {number}: {never}"), rules.because));
                }
            }
        }
    }
    faults
}

/// Code that says it is not there yet.
pub fn nothing_is_left_to_do(project: &Project) -> Vec<Fault> {
    let leftovers = [concat!("to", "do!"), concat!("unimpl", "emented!"), concat!("db", "g!")];
    let mut faults = Vec::new();
    for (path, text) in project.all().filter(|(path, _)| path.ends_with(".rs")) {
        for (number, line) in
            text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"))
        {
            for leftover in leftovers.iter().filter(|leftover| {
                has_word(line, leftover.trim_end_matches('!')) && line.contains(**leftover)
            }) {
                let why = "what is not built is not there; what is there works";
                faults.push(Fault::new(path, format!("line {}: {leftover}", number + 1), why));
            }
        }
    }
    faults
}

/// A program's `main.rs` is short enough to be read as its table of contents.
pub fn main_only_composes(project: &Project) -> Vec<Fault> {
    let mains = project.all().filter(|(path, _)| path.ends_with("src/main.rs"));
    let long = mains
        .map(|(path, text)| (path, text.lines().count()))
        .filter(|(_, lines)| *lines >= MAIN_LINES);
    long.map(|(path, lines)| {
        Fault::new(
            path,
            format!("{lines} lines; must be under {MAIN_LINES}"),
            "main composes and picks the exit code, nothing else",
        )
    })
    .collect()
}
