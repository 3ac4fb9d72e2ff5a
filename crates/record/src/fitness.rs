//! Levels of a medium for a use, conditions of a level, and their words.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::text::capitalised;

/// Level of a medium for a use, the worst first; before them the two that decide nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Fitness {
    /// Something that the use needs was not measured.
    NotTested,
    /// It was measured, and the figures decide nothing.
    CannotTell,
    /// It fails at what the use needs.
    NotSuitable,
    /// It does what is needed, but is a nuisance or a risk.
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

    /// Beginning of a verdict: "Not suitable for a root disk".
    pub fn verdict(self, wanted: impl fmt::Display) -> String {
        format!("{} for {wanted}", capitalised(self.word()))
    }
}

/// A condition of a level that no run can prove.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Condition {
    /// No figure shows if a flush waits for flash.
    FlushHonest,
    /// The flush was not tested.
    FlushUntested,
    /// The figure is of a small span, on a medium that is fast only in small spans.
    SmallFiles,
    /// Both: a small span, and a flush that no figure shows.
    SmallFilesFlushHonest,
}

impl Condition {
    /// Condition in a few words: "if its flush is honest".
    pub const fn short(self) -> &'static str {
        match self {
            Condition::FlushHonest | Condition::FlushUntested => "if its flush is honest",
            Condition::SmallFiles => "if its files stay small",
            Condition::SmallFilesFlushHonest => "if its files stay small and its flush is honest",
        }
    }

    const fn why(self) -> &'static str {
        match self {
            Condition::FlushHonest => "which only a power cut can show",
            Condition::FlushUntested => "which was not tested",
            Condition::SmallFiles | Condition::SmallFilesFlushHonest => {
                "as random writes are slow over a large part of the medium"
            }
        }
    }
}

impl fmt::Display for Condition {
    /// Writes the condition with its reason: "if its flush is honest, which was not tested".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.short(), self.why())
    }
}
