//! Names of media in the tables of a comparison: their own if there is room, else letters that a
//! list explains.

use findings::MediaComparison;
use record::text::{capitalised, printable};

use crate::{display, words};

/// Longest name that fits the head of a column.
const LONGEST: usize = 14;
/// Most columns that have room for names.
const MOST: usize = 4;

/// The heads of columns, in the order of the media.
pub(super) struct Names {
    heads: Vec<String>,
    are_letters: bool,
}

impl Names {
    pub fn of(comparison: &MediaComparison) -> Names {
        let names: Vec<String> =
            comparison.media.iter().map(|medium| printable(&medium.name)).collect();
        if comparison.is_change {
            let heads = vec!["after".to_owned(), "before".to_owned()];
            return Names { heads, are_letters: true };
        }
        let heads: Option<Vec<String>> =
            comparison.media.iter().map(|medium| medium.head.as_deref().map(printable)).collect();
        if let Some(heads) = heads.filter(|heads| !heads.is_empty() && heads.len() <= MOST) {
            let are_letters = heads != names;
            return Names { heads, are_letters };
        }
        let has_room =
            names.len() <= MOST && names.iter().all(|name| display::width(name) <= LONGEST);
        let letters = || (0..names.len()).map(findings::letters).collect();
        Names { heads: if has_room { names.clone() } else { letters() }, are_letters: !has_room }
    }

    /// Head of a medium's column.
    pub fn head(&self, medium: usize) -> &str {
        self.heads.get(medium).map_or("", String::as_str)
    }

    /// The media, each with its head and its runs; for a change, the earlier one comes first.
    pub fn media(&self, comparison: &MediaComparison) -> Vec<String> {
        let line = |(at, medium): (usize, &findings::Compared)| {
            let typed = medium.typed.as_deref().map(|typed| format!("{}; ", printable(typed)));
            let typed = typed.unwrap_or_default();
            let runs = typed + &words::count(medium.runs.len(), "run");
            let name = printable(&medium.name);
            if self.are_letters {
                format!("{}: {name} ({runs})", self.lead(comparison, at))
            } else {
                format!("{name} ({runs})")
            }
        };
        let mut lines: Vec<String> = comparison.media.iter().enumerate().map(line).collect();
        if comparison.is_change {
            lines.reverse();
        }
        lines
    }

    /// A head for the start of a line; names that the user typed keep their case.
    pub fn lead(&self, comparison: &MediaComparison, at: usize) -> String {
        if comparison.is_change { capitalised(self.head(at)) } else { self.head(at).into() }
    }

    /// Heading of the page.
    pub fn heading(&self, comparison: &MediaComparison) -> String {
        let names: Vec<String> =
            comparison.media.iter().map(|medium| printable(&medium.name)).collect();
        match &names[..] {
            [after, before] if comparison.is_change => format!("{before}, then {after}"),
            _ => names.join(", "),
        }
    }
}
