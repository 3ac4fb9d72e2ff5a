//! Tables of what records come to: files of lines that a person of the field can read and add to.

use std::fmt::Write as _;
use std::panic::catch_unwind;

/// What was asked of a record comes to: a word, all that is said, and how sure it is.
#[derive(Default)]
pub(crate) struct RowAnswer {
    pub word: String,
    pub statement: String,
    pub confidence: Option<f64>,
}

impl RowAnswer {
    pub fn word(word: impl Into<String>) -> RowAnswer {
        let word = word.into();
        RowAnswer { statement: word.clone(), word, confidence: None }
    }

    /// Their number, or "no", and what they say.
    pub fn of_lines(lines: &[String]) -> RowAnswer {
        let word = if lines.is_empty() { "no".to_owned() } else { lines.len().to_string() };
        RowAnswer { word, statement: lines.join("\n"), confidence: None }
    }

    /// True of "word", "told" (anything but no), "\"what is said\"", "-\"what is not\"" and "~0.9",
    /// the confidence to a hundredth.
    fn is(&self, expected: &str) -> bool {
        let bare = expected.strip_prefix('-').unwrap_or(expected);
        match bare.strip_prefix('~') {
            Some(share) => {
                let share: f64 = share.parse().unwrap_or_else(|_| panic!("{bare} is no share"));
                self.confidence.is_some_and(|sure| (sure - share).abs() < 0.01)
            }
            None if bare.starts_with('"') => {
                self.statement.contains(bare.trim_matches('"')) != expected.starts_with('-')
            }
            None if bare == "told" => self.word != "no",
            None => self.word == expected,
        }
    }
}

/// Asks every line of a file, and fails with those that come to something else or cannot be read.
///
/// A line is `what is asked | the record, with {} for the figure | figure expected.., figure ..`;
/// figures of several parts have `:` between them, for `{1}` and `{2}`.
#[track_caller]
pub(crate) fn check_table(file: &str, answer: fn(asked: &str, given: &str) -> RowAnswer) {
    let mut wrong = String::new();
    for (number, line) in lines(file) {
        let [asked, given, cases] = &parts(&line, '|')[..] else {
            panic!("line {number} has not three parts: {line}")
        };
        for case in parts(cases, ',') {
            let words = parts(&case, ' ');
            let Some((figure, expected)) = words.split_first().filter(|(_, it)| !it.is_empty())
            else {
                panic!("line {number}: {case:?} has no figure and what is expected of it")
            };
            let mut given = given.replace("{}", figure);
            for (part, at) in figure.split(':').zip(1..) {
                given = given.replace(&format!("{{{at}}}"), part);
            }
            let found = catch_unwind(|| {
                let found = answer(asked, &given);
                let is_as_expected = expected.iter().all(|word| found.is(word));
                (!is_as_expected)
                    .then(|| format!("{} ~{:?}: {}", found.word, found.confidence, found.statement))
            });
            if let Some(found) = found.unwrap_or_else(|panic| Some(unread(&*panic))) {
                let _ = writeln!(wrong, "line {number}, {asked}, {case}: it is {found}");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

fn unread(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
    format!("a line that cannot be read: {}", text.unwrap_or_default())
}

/// Parts between these letters, but not within quotation marks.
pub(crate) fn parts(text: &str, letter: char) -> Vec<String> {
    let mut is_quoted = false;
    let parts = text.split(|at: char| {
        is_quoted ^= at == '"';
        at == letter && !is_quoted
    });
    parts
        .map(|part| part.trim().to_owned())
        .filter(|part| letter == '|' || !part.is_empty())
        .collect()
}

/// The lines of the file with their numbers: those that go on put together, names filled in.
fn lines(file: &str) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    let mut names: Vec<(String, String)> = Vec::new();
    for (line, number) in file.lines().zip(1..) {
        match line.strip_prefix(' ') {
            Some(rest) => match lines.last_mut() {
                Some((_, line)) => line.push_str(&format!(" {}", rest.trim())),
                None => panic!("line {number} goes on, and nothing is before it"),
            },
            None if !line.starts_with('#') && !line.is_empty() => lines.push((number, line.into())),
            None => {}
        }
    }
    lines.retain_mut(|(_, line)| {
        for (name, text) in names.iter().rev() {
            *line = line.replace(name, text);
        }
        let named = line.strip_prefix("let ").and_then(|line| line.split_once(" = "));
        names.extend(named.map(|(name, text)| (format!("${name}"), text.to_owned())));
        // A longer name may begin with a shorter one.
        names.sort_by_key(|(name, _)| name.len());
        named.is_none()
    });
    lines
}
