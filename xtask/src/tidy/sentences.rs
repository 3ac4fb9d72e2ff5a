//! Words that sentences do without: in what the program says, on its pages, and in the documents
//! (docs/style.md).

use super::Fault;
use super::project::Project;
use super::sources::{code, is_tests};

/// How a word that is no term of the field begins, and what is said instead.
pub const WORDS: [(&str, &str); 18] = [
    ("as far as the few samples", "(few samples)"),
    ("as seen", "maximum or minimum"),
    ("% certain", "% confidence"),
    ("certain to", "± or confidence"),
    ("come to rest", "reach a steady state"),
    ("doubt", "caveat"),
    ("flatter", "overstate"),
    ("go together", "are autocorrelated"),
    ("in a row", "sequential; of counts, in succession"),
    ("in sequence", "sequential"),
    ("lane", "thread or queue depth"),
    ("lay there", "was there"),
    ("lies there", "is there"),
    ("out of sequence", "random"),
    ("overwhelm", "fill"),
    ("passing state", "transient state"),
    ("primed", "preconditioned"),
    ("unfit", "not suitable"),
];

/// The page that quotes the words, and pages that cite how others say it.
const LEFT_ALONE: [&str; 2] = ["docs/style.md", "docs/field/"];

/// Text that names something: a series of records that are kept, a mode that is typed.
const NAMES: [&str; 2] = ["rate while overwhelming", "doubtful"];

/// The sentences of a source: its string literals of more than one word, each with its line.
fn literals(text: &str) -> Vec<(usize, String)> {
    let end = code(text).last().map_or(0, |(number, _)| number);
    let source: Vec<char> =
        text.lines().take(end).flat_map(|line| line.chars().chain(['\n'])).collect();
    let (mut at, mut line, mut found) = (0, 1, Vec::new());
    while at < source.len() {
        match source[at] {
            '\n' => line += 1,
            '/' if source.get(at + 1) == Some(&'/') => {
                while source.get(at).is_some_and(|c| *c != '\n') {
                    at += 1;
                }
                continue;
            }
            '\'' if source.get(at + 1) == Some(&'\\') => at += 3,
            '\'' if source.get(at + 2) == Some(&'\'') => at += 2,
            '"' => {
                let begins = line;
                let hashes = source[..at].iter().rev().take_while(|c| **c == '#').count();
                let is_raw = source[..at - hashes].last() == Some(&'r');
                let mut said = String::new();
                at += 1;
                while at < source.len() {
                    let c = source[at];
                    let closes = source[at + 1..].iter().take(hashes).filter(|c| **c == '#');
                    if c == '"' && closes.count() == hashes {
                        break;
                    }
                    line += usize::from(c == '\n');
                    if c == '\\' && !is_raw {
                        at += 1;
                        line += usize::from(source.get(at) == Some(&'\n'));
                        said.push(' ');
                    } else {
                        said.push(c);
                    }
                    at += 1;
                }
                if said.trim().contains(' ') {
                    found.push((begins, said));
                }
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Without what stands between these marks: placeholders, tags, code.
fn without(text: &str, open: char, close: char) -> String {
    let (mut depth, mut left) = (false, String::new());
    for c in text.chars() {
        match depth {
            false if c == open => depth = true,
            true if c == close => depth = false,
            false => left.push(c),
            true => {}
        }
    }
    left
}

/// The paragraphs of a document, each in one line with the number of its first: no code, no tables.
fn paragraphs(text: &str) -> Vec<(usize, String)> {
    let (mut found, mut is_code, mut is_open): (Vec<(usize, String)>, _, _) =
        (Vec::new(), false, false);
    for (number, line) in (1..).zip(text.lines()) {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        let is_prose = !is_code && !is_fence && !line.starts_with("    ") && !line.starts_with('|');
        if !is_prose || line.trim().is_empty() {
            is_open = false;
        } else if let Some((_, paragraph)) = found.last_mut().filter(|_| is_open) {
            paragraph.push(' ');
            paragraph.push_str(line.trim());
        } else {
            found.push((number, line.trim().to_owned()));
            is_open = true;
        }
    }
    found.into_iter().map(|(number, text)| (number, without(&text, '`', '`'))).collect()
}

/// The words of a sentence that are refused.
fn refused(sentence: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let text = NAMES.iter().fold(sentence.to_lowercase(), |text, name| text.replace(name, ""));
    let begins_there = |text: &str, at: usize| {
        !text[..at].chars().next_back().is_some_and(|c| c.is_alphanumeric() || "_-".contains(c))
    };
    WORDS
        .into_iter()
        .filter(move |(word, _)| text.match_indices(word).any(|(at, _)| begins_there(&text, at)))
}

/// Sentences are in the field's words.
pub fn sentences_are_in_the_fields_words(project: &Project) -> Vec<Fault> {
    let why = "a stranger understands a sentence in ten seconds (docs/style.md)";
    let is_ours = |path: &str| !LEFT_ALONE.iter().any(|left| path.starts_with(left));
    let mut faults = Vec::new();
    for (path, text) in project.all().filter(|(path, _)| is_ours(path)) {
        let is_source = path.starts_with("crates/") && path.contains("/src/") && !is_tests(path);
        let sentences = match path.rsplit_once('.').map(|(_, ending)| ending) {
            Some("rs") if is_source => literals(text)
                .into_iter()
                .map(|(number, said)| (number, without(&said, '{', '}')))
                .collect(),
            Some("html") if path.contains("/templates/") => (1..)
                .zip(text.lines())
                .map(|(number, line)| (number, without(&without(line, '{', '}'), '<', '>')))
                .collect(),
            Some("md") if path.starts_with("docs/") || path.contains("/templates/") => {
                paragraphs(text)
            }
            _ => Vec::new(),
        };
        for (number, sentence) in sentences {
            faults.extend(refused(&sentence).map(|(word, instead)| {
                Fault::new(path, format!("line {number}: '{word}'; say {instead}"), why)
            }));
        }
    }
    faults
}
