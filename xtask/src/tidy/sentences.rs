//! Words that sentences do without: in what the program says, on its pages, and in the documents
//! (docs/style.md).

use super::Fault;
use super::project::Project;
use super::sources::Token;

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
fn literals(tokens: &[Token]) -> impl Iterator<Item = (usize, String)> {
    tokens.iter().filter(|token| !token.text.starts_with('\'')).filter_map(|token| {
        let (_, said) = token.text.split_once('"')?;
        let said = unescaped(said.rsplit_once('"')?.0);
        said.trim().contains(' ').then_some((token.line, said))
    })
}

/// A blank for each character of an escape.
fn unescaped(said: &str) -> String {
    let mut is_escaped = false;
    let blank = |c: char| {
        let begins = c == '\\' && !is_escaped;
        let is_part = begins || is_escaped;
        is_escaped = begins;
        if is_part { ' ' } else { c }
    };
    said.chars().map(blank).collect()
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
    let in_code = project.sources("crates/").flat_map(|(path, tokens)| {
        literals(tokens).map(move |(line, said)| (path, line, without(&said, '{', '}')))
    });
    let is_ours = |path: &str| !LEFT_ALONE.iter().any(|left| path.starts_with(left));
    let pages = project.all().filter(|(path, _)| is_ours(path));
    let on_pages = pages.flat_map(|(path, text)| {
        sentences_of_page(path, text).into_iter().map(move |(line, said)| (path, line, said))
    });
    let mut faults = Vec::new();
    for (path, line, sentence) in in_code.chain(on_pages) {
        faults.extend(refused(&sentence).map(|(word, instead)| {
            Fault::new(path, format!("line {line}: '{word}'; say {instead}"), why)
        }));
    }
    faults
}

/// The sentences of a document or of the template of a page, each with its line.
fn sentences_of_page(path: &str, text: &str) -> Vec<(usize, String)> {
    let is_template = path.contains("/templates/");
    if is_template && path.ends_with(".html") {
        let line = |line: &str| without(&without(line, '{', '}'), '<', '>');
        return (1..).zip(text.lines().map(line)).collect();
    }
    let is_document = path.ends_with(".md") && (is_template || path.starts_with("docs/"));
    if is_document { paragraphs(text) } else { Vec::new() }
}
