//! Columns of several runs as text: a table if it fits the screen, else a block for each run.

use std::collections::BTreeMap;

use record::{FigureColumn, columns_of};

use super::ColumnFigure;
use crate::display;

/// A run by its name, with its figures by the names of their columns.
pub type RunFigures = (String, BTreeMap<String, ColumnFigure>);

/// The chosen columns (names, families, "all") of each run, at most `width` columns wide where
/// possible; unknown names are ignored.
pub fn columns_text(runs: &[RunFigures], choice: &[String], width: usize) -> String {
    let columns = shown(runs, choice);
    if columns.is_empty() {
        return "No run has a figure for these columns.\n".to_owned();
    }
    let heads = columns.iter().map(|column| column.head.clone());
    let mut lines: Vec<Vec<String>> = vec![std::iter::once(String::new()).chain(heads).collect()];
    lines.extend(runs.iter().map(|(name, figures)| {
        let cells =
            columns.iter().map(|column| figures.get(&column.name).map_or_else(none, figure_text));
        std::iter::once(name.clone()).chain(cells).collect()
    }));
    table(&lines, width).unwrap_or_else(|| blocks(runs, &columns))
}

/// The chosen columns that runs have figures for, and those named explicitly.
pub fn shown(runs: &[RunFigures], choice: &[String]) -> Vec<FigureColumn> {
    let mut known: Vec<FigureColumn> = Vec::new();
    for figure in runs.iter().flat_map(|(_, figures)| figures.values()) {
        if !known.iter().any(|it| it.name == figure.column.name) {
            known.push(figure.column.clone());
        }
    }
    columns_of(choice.iter().map(String::as_str), &known)
}

fn none() -> String {
    "-".to_owned()
}

/// "28.3 MB/s (27.9 to 28.8)".
fn figure_text(figure: &ColumnFigure) -> String {
    format!("{} ({})", figure.text(), figure.interval())
}

/// All rows as an aligned table; `None` if it is wider than the screen.
pub(crate) fn table(lines: &[Vec<String>], width: usize) -> Option<String> {
    let count = lines.first()?.len();
    let widest = |at: usize| lines.iter().map(|line| display::width(&line[at])).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count).map(widest).collect();
    if widths.iter().sum::<usize>() + 2 * (count - 1) > width {
        return None;
    }
    let mut text = String::new();
    for line in lines {
        let padded: Vec<String> =
            line.iter().zip(&widths).map(|(cell, width)| display::padded(cell, *width)).collect();
        text += padded.join("  ").trim_end();
        text.push('\n');
    }
    Some(text)
}

/// Each run as a block with a line per figure; runs without figures have a name and "-".
fn blocks(runs: &[RunFigures], columns: &[FigureColumn]) -> String {
    let widest = columns.iter().map(|column| display::width(&column.head)).max().unwrap_or(0);
    let mut text = String::new();
    for (name, figures) in runs {
        text += &format!("{name}\n");
        let of: Vec<&ColumnFigure> =
            columns.iter().filter_map(|column| figures.get(&column.name)).collect();
        if of.is_empty() {
            text += "    -\n";
        }
        for figure in of {
            let head = display::padded(&figure.column.head, widest);
            text += &format!("    {head}  {}\n", figure_text(figure));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::{Estimate, column_named};

    fn run(name: &str, figures: &[(&str, f64)]) -> RunFigures {
        let figure = |(name, value): &(&str, f64)| {
            let column = column_named(name).expect("a column");
            let figure = Estimate { value: *value, ci95: Some([value * 0.9, value * 1.1]), n: 9 };
            (column.name.clone(), ColumnFigure { column, figure, repeats: None })
        };
        (name.to_owned(), figures.iter().map(figure).collect())
    }

    fn runs() -> [RunFigures; 2] {
        [run("card-1", &[("dd-write-64k", 28.3), ("seeks", 900.0)]), run("card-2", &[])]
    }

    fn text(choice: &[&str], width: usize) -> String {
        let choice: Vec<String> = choice.iter().map(ToString::to_string).collect();
        columns_text(&runs(), &choice, width)
    }

    #[test]
    fn a_table_where_it_fits_and_a_block_a_run_where_not() {
        insta::assert_snapshot!(text(&["seeks", "dd"], 80), @"
                Seeks                     dd write, 64 KiB
        card-1  900 seeks/s (810 to 990)  28.3 MB/s (25.5 to 31.1)
        card-2  -                         -
        ");
        insta::assert_snapshot!(text(&["seeks", "dd"], 50), @"
        card-1
            Seeks             900 seeks/s (810 to 990)
            dd write, 64 KiB  28.3 MB/s (25.5 to 31.1)
        card-2
            -
        ");
        assert_eq!(text(&["hdparm"], 80), "No run has a figure for these columns.\n");
        assert!(text(&["hdparm-cache"], 80).contains("hdparm -T"), "named, though nobody has it");
    }
}
