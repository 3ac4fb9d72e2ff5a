//! What the media of a comparison are called in its tables: by name where there is room, else by
//! letters that a list explains.

use findings::MediaComparison;

use crate::{display, words};

/// A longer name has no room at the head of a column.
const LONGEST: usize = 14;
/// So many columns have room for names.
const MOST: usize = 4;

/// The heads of columns, in the order of the media.
pub(super) struct Names {
    heads: Vec<String>,
    are_letters: bool,
}

impl Names {
    pub fn of(comparison: &MediaComparison) -> Names {
        let names: Vec<String> =
            comparison.media.iter().map(|medium| words::clean(&medium.name)).collect();
        if comparison.is_change {
            let heads = vec!["after".to_owned(), "before".to_owned()];
            return Names { heads, are_letters: true };
        }
        let heads: Option<Vec<String>> = comparison
            .media
            .iter()
            .map(|medium| medium.head.as_deref().map(words::clean))
            .collect();
        if let Some(heads) = heads.filter(|heads| !heads.is_empty() && heads.len() <= MOST) {
            let are_letters = heads != names;
            return Names { heads, are_letters };
        }
        let has_room =
            names.len() <= MOST && names.iter().all(|name| display::width(name) <= LONGEST);
        let letters = || (0..names.len()).map(findings::letters).collect();
        Names { heads: if has_room { names.clone() } else { letters() }, are_letters: !has_room }
    }

    /// What stands for a medium at the head of its column.
    pub fn head(&self, medium: usize) -> &str {
        self.heads.get(medium).map_or("", String::as_str)
    }

    /// The media, each with what stands for it and its runs; of a change what was before comes
    /// first.
    pub fn media(&self, comparison: &MediaComparison) -> Vec<String> {
        let line = |(at, medium): (usize, &findings::Compared)| {
            let typed = medium.typed.as_deref().map(|typed| format!("{}; ", words::clean(typed)));
            let typed = typed.unwrap_or_default();
            let runs = typed + &words::count(medium.runs.len(), "run");
            let name = words::clean(&medium.name);
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

    /// A head as it begins a line; what is typed as it is keeps its letters.
    fn lead(&self, comparison: &MediaComparison, at: usize) -> String {
        if comparison.is_change { words::capitalised(self.head(at)) } else { self.head(at).into() }
    }

    /// What a page of the comparison is called.
    pub fn heading(&self, comparison: &MediaComparison) -> String {
        let names: Vec<String> =
            comparison.media.iter().map(|medium| words::clean(&medium.name)).collect();
        match &names[..] {
            [after, before] if comparison.is_change => format!("{before}, then {after}"),
            _ => names.join(", "),
        }
    }
}
