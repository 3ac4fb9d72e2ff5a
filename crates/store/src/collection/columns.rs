//! Names of columns, as SQL has them.

use std::fmt::Write as _;

use record::collection::Figure;

/// The column of a figure: its name with underscores. The same in `lines` (the median) and in `runs`.
pub(super) const fn figure(figure: Figure) -> &'static str {
    match figure {
        Figure::RandomWrite4k => "random_write_4k",
        Figure::WorstStall => "worst_stall",
        Figure::RandomWrite512 => "random_write_512",
        Figure::RandomWrite16k => "random_write_16k",
        Figure::RandomWrite64k => "random_write_64k",
        Figure::SequentialWrite => "sequential_write",
        Figure::RandomRead4k => "random_read_4k",
        Figure::SequentialRead => "sequential_read",
        Figure::RandomFill => "random_fill",
        Figure::ZeroFill => "zero_fill",
    }
}

/// All of them, separated by commas, in the order of `Figure::ALL`.
pub(super) fn figures() -> String {
    Figure::ALL.map(figure).join(", ")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_called_as_its_figure() {
        assert!(Figure::ALL.iter().all(|one| figure(*one) == one.name().replace('-', "_")));
        assert_eq!(assignments(&["a", "b"], 2), "a = $2, b = $3");
    }
}
