//! Names of columns, as SQL has them.

use record::MediumKind;
use record::collection::Origin;

use super::error::CollectionError;
use std::fmt::Write as _;

use record::collection::HeadlineFigure;

/// The column of a figure: its name with underscores. The same in `lines` (the median) and in
/// `runs`.
pub(super) const fn figure(figure: HeadlineFigure) -> &'static str {
    match figure {
        HeadlineFigure::RandomWrite4k => "random_write_4k",
        HeadlineFigure::WorstStall => "worst_stall",
        HeadlineFigure::RandomWrite512 => "random_write_512",
        HeadlineFigure::RandomWrite16k => "random_write_16k",
        HeadlineFigure::RandomWrite64k => "random_write_64k",
        HeadlineFigure::SequentialWrite => "sequential_write",
        HeadlineFigure::RandomRead4k => "random_read_4k",
        HeadlineFigure::SequentialRead => "sequential_read",
        HeadlineFigure::RandomFill => "random_fill",
        HeadlineFigure::ZeroFill => "zero_fill",
    }
}

/// All of them, separated by commas, in the order of `HeadlineFigure::ALL`.
pub(super) fn figures() -> String {
    HeadlineFigure::ALL.map(figure).join(", ")
}

/// "$3, $4, $5": places for so many values from that one on.
pub(super) fn places(from: usize, count: usize) -> String {
    (from..from + count).map(|at| format!("${at}")).collect::<Vec<_>>().join(", ")
}

/// "a = $3, b = $4": columns set to values from that one on.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_called_as_its_figure() {
        assert!(HeadlineFigure::ALL.iter().all(|one| figure(*one) == one.name().replace('-', "_")));
        assert_eq!(assignments(&["a", "b"], 2), "a = $2, b = $3");
    }
}
