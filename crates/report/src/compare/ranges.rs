//! Compared figures as text, with or without their ranges.

use findings::ComparedFigure;
use record::units::{interval, quantity, significant};

use crate::figure;

/// Ranges beside the figures of a table.
#[derive(Clone, Copy)]
pub enum Ranges {
    /// Only the figures.
    Without,
    /// Each figure with its interval.
    With,
}

/// Explanation of the ranges, for the line below a table.
pub(crate) const RANGES_MEAN: &str = "In parentheses: the 95 % interval of a single run; of several runs the lowest and the highest.";

impl Ranges {
    pub(super) fn quantity(self, metric: &str, found: ComparedFigure) -> String {
        let text = quantity(metric, found.value);
        let range = found.range.map(|ends| interval(metric, ends));
        let range = range.map(|range| record::units::without_unit(&range, &text).to_owned());
        self.beside(text, range)
    }

    /// A figure without its unit, which is above the table.
    pub(super) fn number(self, found: ComparedFigure) -> String {
        let range = found.range.map(|[low, high]| [low, high].map(significant).join(" to "));
        self.beside(significant(found.value), range)
    }

    fn beside(self, text: String, range: Option<String>) -> String {
        match self {
            Ranges::Without => text,
            Ranges::With => format!("{text} ({})", range.as_deref().unwrap_or(figure::ONE_RUN)),
        }
    }
}
