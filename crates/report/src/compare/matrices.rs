//! Comparison of one work in two or more matrices: its table with a row for each combination, and
//! sentences.

use findings::{CombinationRow, FasterMedium, FastestMedium, MatrixComparison, MediaComparison};
use record::text::printable;

use super::Ranges;
use super::names::Names;
use super::works::{columns, fastest};
use crate::tables::Table;
use crate::words;

/// "untar on file systems, operations per second".
pub(super) fn title(matrix: &MatrixComparison) -> String {
    let unit = if matrix.larger_is_better { "per second" } else { "in seconds" };
    format!("Matrix: {}, {unit}", printable(&matrix.work))
}

/// A row for each combination, a column for each medium, and the faster medium with its ratio.
pub(super) fn table(
    comparison: &MediaComparison,
    matrix: &MatrixComparison,
    names: &Names,
    ranges: Ranges,
) -> Table {
    let columns = columns(comparison);
    let is_pair = columns.len() == 2;
    let last = if is_pair { format!("{} is", names.head(0)) } else { "Fastest".to_owned() };
    let heads = columns.iter().map(|at| format!("#{}", names.head(*at)));
    let first = std::iter::once("File system and scheduler".to_owned());
    let mut table = Table::named(first.chain(heads).chain(std::iter::once(last)).collect());
    for row in &matrix.rows {
        let figure = |at: &usize| {
            let figure = row.figures.get(*at).copied().flatten();
            figure.map_or("-".to_owned(), |found| ranges.number(found))
        };
        let difference = if is_pair { of_pair(row) } else { fastest(row.fastest, names) };
        let cells = std::iter::once(printable(&row.combination))
            .chain(columns.iter().map(figure))
            .chain(std::iter::once(difference))
            .collect();
        table.push(cells, Vec::new());
    }
    table
}

/// Comparison of the first of two media with the second.
fn of_pair(row: &CombinationRow) -> String {
    let Some(found) = row.fastest.map(FastestMedium::of_first) else { return String::new() };
    match found.ci95 {
        Some(_) => super::judged(&found),
        None => format!("cannot be told: {}, one try", super::times(found.ratio)),
    }
}

/// "Of 12 combinations A is faster in 5; 2 cannot be told."
pub(super) fn sentences(comparison: &MediaComparison, matrix: &MatrixComparison) -> Vec<String> {
    let fastest: Vec<FastestMedium> = matrix.rows.iter().filter_map(|row| row.fastest).collect();
    let of =
        |judgement: FasterMedium| fastest.iter().filter(move |it| it.found.judgement == judgement);
    let wins = |at: usize| of(FasterMedium::Faster).filter(|it| it.medium == at).count();
    let word = if comparison.media.len() == 2 { "faster" } else { "the fastest" };
    let mut difference: Vec<String> = comparison
        .media
        .iter()
        .enumerate()
        .map(|(at, medium)| (wins(at), &medium.name))
        .filter(|(wins, _)| *wins > 0)
        .map(|(wins, name)| format!("{} is {word} in {wins}", printable(name)))
        .collect();
    let same = of(FasterMedium::Same).count();
    let rest = fastest.len() - of(FasterMedium::Faster).count() - same;
    let are = if same == 1 { "is" } else { "are" };
    difference.extend((same > 0).then(|| format!("{same} {are} equal within 10 %")));
    difference.extend((rest > 0).then(|| format!("{rest} cannot be told")));
    vec![format!("Of {}: {}.", words::count(fastest.len(), "combination"), difference.join("; "))]
}
