//! Where a source can be made wrong: numbers, comparisons, logic, arithmetic.

use std::fmt;

use crate::code::code_only;

/// A change at one place that makes a source wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// Of the file, from the top of the project.
    pub path: String,
    /// Number of the line, from 1.
    line: usize,
    /// Bytes of the file that are replaced.
    from: usize,
    was: String,
    becomes: String,
    /// The line as it is.
    pub shown: String,
}

impl Mutant {
    /// What becomes of what: `< -> <=`.
    pub fn change(&self) -> String {
        format!("{} -> {}", self.was.trim(), self.becomes.trim())
    }

    /// The file's text with the mutant in it.
    pub fn applied(&self, text: &str) -> String {
        format!("{}{}{}", &text[..self.from], self.becomes, &text[self.from + self.was.len()..])
    }
}

impl fmt::Display for Mutant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}:{}` {}: `{}`", self.path, self.line, self.change(), self.shown)
    }
}

/// What stands between spaces, and what it becomes.
const TURNED: [(&str, &str); 12] = [
    (" < ", " <= "),
    (" <= ", " < "),
    (" > ", " >= "),
    (" >= ", " > "),
    (" == ", " != "),
    (" != ", " == "),
    (" && ", " || "),
    (" || ", " && "),
    (" + ", " - "),
    (" - ", " + "),
    (" * ", " / "),
    (" / ", " * "),
];

/// Every mutant of a file, but for its tests.
pub fn mutants_of(path: &str, text: &str) -> Vec<Mutant> {
    let code = code_only(text);
    let mut all = Vec::new();
    let mut from = 0;
    for (number, line) in code.split('\n').enumerate() {
        let shown = || text[from..from + line.len()].trim().to_owned();
        let is_code = !["#", "use ", "pub use ", "mod ", "impl", "debug_assert"]
            .iter()
            .any(|begin| line.trim_start().starts_with(begin));
        let places = turned(line).chain(numbers(line)).filter(|_| is_code);
        all.extend(places.map(|(at, was, becomes)| Mutant {
            path: path.to_owned(),
            line: number + 1,
            from: from + at,
            was,
            becomes,
            shown: shown(),
        }));
        from += line.len() + 1;
    }
    all
}

fn turned(line: &str) -> impl Iterator<Item = (usize, String, String)> {
    TURNED.into_iter().flat_map(move |(was, becomes)| {
        line.match_indices(was).map(move |(at, _)| (at, was.to_owned(), becomes.to_owned()))
    })
}

/// Numbers but 0 and 1, a quarter larger: large enough to matter, small enough to look right.
fn numbers(line: &str) -> impl Iterator<Item = (usize, String, String)> {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let begins = move |at: usize| {
        line[..at].ends_with("..") || !line[..at].ends_with(|before| part(before) || before == '.')
    };
    let starts = line.char_indices().filter(move |(at, c)| c.is_ascii_digit() && begins(*at));
    starts.filter_map(move |(at, _)| {
        let rest = &line[at..];
        let end = rest
            .find(|c: char| !(c.is_ascii_digit() || c == '_' || c == '.'))
            .unwrap_or(rest.len());
        let was = rest[..end].trim_end_matches('.');
        // A range, a hexadecimal number, a number with a type or an exponent.
        if was.contains("..") || rest[was.len()..].starts_with(|c: char| part(c)) {
            return None;
        }
        Some((at, was.to_owned(), larger(was)?))
    })
}

fn larger(number: &str) -> Option<String> {
    let plain = number.replace('_', "");
    if plain.contains('.') {
        let value: f64 = plain.parse().ok().filter(|value| *value != 0.0)?;
        return Some(format!("{:?}", value * 1.25));
    }
    let value: u64 = plain.parse().ok().filter(|value| *value > 1)?;
    Some((value + (value / 4).max(1)).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_comparisons_and_logic_are_found_and_nothing_in_text() {
        let text = "// 5 < 6\nconst MOST: u64 = 2_000; // 7\nfn f(a: u8) -> bool { a <= 3 && \"4 < 5\" != r#\"6\"# }\nlet x = '8'; 0x10; 1; a.0; 2.5e3; 0..9; 0.25\n#[cfg(test)]\nmod tests { 7 }\n";
        let found: Vec<String> = mutants_of("a.rs", text)
            .iter()
            .map(|m| format!("{} {} -> {}", m.line, m.was.trim(), m.becomes.trim()))
            .collect();
        let expected = [
            "2 2_000 -> 2500",
            "3 <= -> <",
            "3 != -> ==",
            "3 && -> ||",
            "3 3 -> 4",
            "4 9 -> 11",
            "4 0.25 -> 0.3125",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_mutant_changes_its_place_alone() {
        let text = "let a = 2;\nlet b = 2;\n";
        let applied: Vec<String> =
            mutants_of("a.rs", text).iter().map(|mutant| mutant.applied(text)).collect();
        assert_eq!(applied, ["let a = 3;\nlet b = 2;\n", "let a = 2;\nlet b = 3;\n"]);
    }
}
