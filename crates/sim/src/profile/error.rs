//! Errors of a profile, with the file, the line and the key.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// An error in a profile: its place and its reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}, line {line}: {}{problem}", if .key.is_empty() { String::new() } else { format!("{key}: ", key = .key) })]
pub struct ProfileError {
    /// The profile's file, as the caller named it.
    pub file: String,
    /// Line in the file, counted from 1.
    pub line: usize,
    /// Key with its table, as `log_block.au`; empty if the text is not TOML.
    pub key: String,
    /// The problem and the correct form.
    pub problem: String,
}

impl ProfileError {
    /// An error of the TOML reader, at its span.
    pub(crate) fn reading(file: &str, text: &str, error: &toml::de::Error) -> ProfileError {
        let span = error.span().unwrap_or(0..0);
        let key = DeTable::parse(text)
            .ok()
            .and_then(|table| innermost(&table, &span))
            .unwrap_or_default();
        let problem = error.message().lines().collect::<Vec<_>>().join("; ");
        ProfileError { file: file.to_owned(), line: line_at(text, span.start), key, problem }
    }

    /// An error in the value of a key, given as its path of tables. If the key is absent, the line
    /// is that of its table.
    pub(crate) fn at(file: &str, text: &str, path: &[&str], problem: String) -> ProfileError {
        let start = DeTable::parse(text).ok().map_or(0, |table| start_of(&table, path));
        ProfileError {
            file: file.to_owned(),
            line: line_at(text, start),
            key: path.join("."),
            problem,
        }
    }
}

fn line_at(text: &str, byte: usize) -> usize {
    1 + text.as_bytes()[..byte.min(text.len())].iter().filter(|b| **b == b'\n').count()
}

/// Path of the innermost key whose name or value covers the span.
fn innermost(table: &Spanned<DeTable<'_>>, span: &Range<usize>) -> Option<String> {
    let covers = |outer: Range<usize>| {
        outer.start <= span.start && span.start < outer.end.max(outer.start + 1)
    };
    table.get_ref().iter().find_map(|(key, value)| {
        let name = key.get_ref().to_string();
        let below = match value.get_ref() {
            DeValue::Table(inner) => innermost(&Spanned::new(value.span(), inner.clone()), span),
            DeValue::Array(items) => items.iter().find_map(|item| match item.get_ref() {
                DeValue::Table(inner) => innermost(&Spanned::new(item.span(), inner.clone()), span),
                _ => None,
            }),
            _ => None,
        };
        match below {
            Some(below) => Some(format!("{name}.{below}")),
            None if covers(key.span()) || covers(value.span()) => Some(name),
            None => None,
        }
    })
}

/// First byte of the deepest existing part of a path. A number in the path is an index into an
/// array.
fn start_of(table: &Spanned<DeTable<'_>>, path: &[&str]) -> usize {
    let Some((first, rest)) = path.split_first() else { return table.span().start };
    let Some((key, mut value)) = table.get_ref().iter().find(|(key, _)| key.get_ref() == first)
    else {
        return table.span().start;
    };
    let mut rest = rest;
    if let (DeValue::Array(items), Some((index, after))) = (value.get_ref(), rest.split_first())
        && let Some(item) = index.parse().ok().and_then(|i: usize| items.get(i))
    {
        value = item;
        rest = after;
        if rest.is_empty() {
            return value.span().start;
        }
    }
    match value.get_ref() {
        DeValue::Table(inner) if !rest.is_empty() => {
            start_of(&Spanned::new(value.span(), inner.clone()), rest)
        }
        _ => key.span().start,
    }
}
