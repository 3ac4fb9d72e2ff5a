//! Names of columns and of values, as SQL has them.

use record::MediumKind;
use record::collection::{Origin, SubmissionStatus};

use super::error::CollectionError;
use std::fmt::Write as _;

use record::collection::HeadlineFigure;

/// Name of the column of a figure, the same in `lines` (the median) and in `runs`.
pub(super) const fn figure(figure: HeadlineFigure) -> &'static str {
    figure.entry().column
}

/// Names of all columns of figures, separated by commas, in the order of `HeadlineFigure::ALL`.
pub(super) fn figures() -> String {
    HeadlineFigure::ALL.map(figure).join(", ")
}

/// Placeholders for `count` values: "$3, $4, $5".
pub(super) fn places(from: usize, count: usize) -> String {
    (from..from + count).map(|at| format!("${at}")).collect::<Vec<_>>().join(", ")
}

/// Assignments of placeholders to columns: "a = $3, b = $4".
pub(super) fn assignments(columns: &[&str], from: usize) -> String {
    let mut text = String::new();
    for (at, column) in (from..).zip(columns) {
        let comma = if text.is_empty() { "" } else { ", " };
        write!(text, "{comma}{column} = ${at}").expect("writing to a string does not fail");
    }
    text
}

pub(super) fn kind_named(name: &str) -> Result<MediumKind, CollectionError> {
    MediumKind::named(name)
        .ok_or_else(|| CollectionError::damaged(format!("'{name}' is no kind of medium")))
}

pub(super) fn origin_named(name: &str) -> Result<Origin, CollectionError> {
    Origin::named(name).ok_or_else(|| CollectionError::damaged(format!("'{name}' is no origin")))
}

pub(super) fn status_named(name: &str) -> Result<SubmissionStatus, CollectionError> {
    SubmissionStatus::named(name)
        .ok_or_else(|| CollectionError::damaged(format!("'{name}' is no status")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_set_to_values_in_their_order() {
        assert_eq!(assignments(&["a", "b"], 2), "a = $2, b = $3");
    }
}
