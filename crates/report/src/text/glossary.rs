//! The glossary for a terminal: meaning of the terms in tables and screens.

use super::{AnsiStyle, MIN_WIDTH, Page};
use crate::markup::plain;

const GLOSSARY: &str = include_str!("../../docs/glossary.md");

/// The terms of the glossary, in its order, without duplicates: "p50" and "p99" are two terms.
pub fn words() -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for (names, _) in rows() {
        let new = each(&names).filter(|name| !words.iter().any(|word| word == name));
        words.extend(new.map(str::to_owned).collect::<Vec<_>>());
    }
    words
}

/// Meaning of a term, in lines of at most `width` columns; case does not matter. `None` if the term
/// is not in the glossary.
pub fn meaning(word: &str, width: usize) -> Option<String> {
    let is_it = |names: &str| each(names).any(|name| name.eq_ignore_ascii_case(word));
    let mut out =
        Page { text: String::new(), width: width.max(MIN_WIDTH), style: AnsiStyle(false) };
    for (names, means) in rows().iter().filter(|(names, _)| is_it(names)) {
        out.prose(&format!("{names}: {means}."), 2, |_, text| text.to_owned());
    }
    (!out.text.is_empty()).then_some(out.text)
}

fn each(names: &str) -> impl Iterator<Item = &str> {
    names.split(", ")
}

/// Rows of the glossary's tables: (terms, meaning).
fn rows() -> Vec<(String, String)> {
    let row = |line: &str| {
        let (names, means) = line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | ")?;
        Some((plain(names), plain(means)))
    };
    let lines: Vec<&str> = GLOSSARY.lines().collect();
    let is_head = |at: usize| lines.get(at + 1).is_some_and(|line| line.starts_with("|---"));
    lines
        .iter()
        .enumerate()
        .filter(|(at, _)| !is_head(*at))
        .filter_map(|(_, line)| row(line))
        .collect()
}

#[cfg(test)]
mod tests {
    use record::{Answer, Bound, Fitness};

    use super::*;

    #[test]
    fn each_word_of_the_tables_is_explained() {
        let p99 = meaning("P99", 80).expect("it is in the glossary");
        assert!(p99.starts_with("p50, p90, p95, p99, p99.9: percentiles of latency"), "{p99}");
        assert_eq!(meaning("no-such", 80), None);
        let levels = [Fitness::Good, Fitness::Usable, Fitness::Poor, Fitness::NotSuitable];
        let open = [Fitness::NotTested, Fitness::CannotTell];
        let bounds = [Bound::AtLeast, Bound::AtMost].map(Bound::words);
        let answers = [Answer::NoSign, Answer::Inconclusive, Answer::NotTested].map(Answer::words);
        let on_screen = ["genuine", "health", "wear unknown", "±", "~", "busy", "4k write", "read"];
        let levels = levels.into_iter().chain(open).map(Fitness::word);
        for word in levels.chain(bounds).chain(answers).chain(on_screen) {
            assert!(meaning(word, 80).is_some(), "{word}");
        }
        let words = words();
        assert!(words.len() > 60, "{}", words.len());
        assert_eq!(words.iter().filter(|word| *word == "work").count(), 1);
        for word in words {
            let text = meaning(&word, 60).expect("each has a meaning");
            assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
        }
    }
}
