//! How well a medium serves a use: the words a verdict on it begins with. They are written and read
//! back here, so that whoever checks verdicts reads what the program writes.

use std::fmt;

/// How well a medium does what a use asks of it, the worst first; before them what nobody knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fitness {
    /// What the use needs was not measured.
    NotTested,
    /// It was measured, and the figures decide nothing.
    CannotTell,
    /// It fails at what the use needs.
    NotSuitable,
    /// It works, and is a nuisance or a risk.
    Poor,
    /// It does what is needed.
    Usable,
    /// It does what is needed with a reserve.
    Good,
}

impl Fitness {
    /// Every level, the worst first.
    pub const ALL: [Fitness; 6] = [
        Fitness::NotTested,
        Fitness::CannotTell,
        Fitness::NotSuitable,
        Fitness::Poor,
        Fitness::Usable,
        Fitness::Good,
    ];

    /// The level in words, as within a sentence: "not suitable".
    pub fn word(self) -> &'static str {
        match self {
            Fitness::NotTested => "not tested",
            Fitness::CannotTell => "cannot be told here",
            Fitness::NotSuitable => "not suitable",
            Fitness::Poor => "poor",
            Fitness::Usable => "usable",
            Fitness::Good => "good",
        }
    }

    /// What a verdict begins with: "Not suitable for a root disk".
    pub fn verdict(self, wanted: impl fmt::Display) -> String {
        format!("{} for {wanted}", capitalised(self.word()))
    }

    /// The level that a verdict on a use says; `None` of any other sentence.
    pub fn said(statement: &str) -> Option<Fitness> {
        Fitness::ALL.into_iter().find(|level| statement.starts_with(&level.verdict("")))
    }
}

/// The first letter large.
pub(crate) fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Use;

    #[test]
    fn what_is_written_is_read_back() {
        let uses =
            [Use::RootDisk, Use::Camera, Use::Video { mbit: 100 }, Use::Logger, Use::Database];
        for level in Fitness::ALL {
            for wanted in uses {
                let statement = format!("{}: so.", level.verdict(wanted));
                assert_eq!(Fitness::said(&statement), Some(level), "{statement}");
            }
        }
        assert_eq!(Fitness::said("Goods for a root disk."), None);
        assert_eq!(Fitness::said("Do not use it. It is a fake."), None);
        assert_eq!(Fitness::said(""), None);
    }
}
