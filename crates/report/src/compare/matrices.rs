//! Comparison of one work in two or more matrices: its table with a row for each combination, and
//! sentences.

use findings::{FasterMedium, FastestMedium, MatrixComparison, MediaComparison};
use record::text::printable;

use super::Ranges;
use super::names::Names;
use super::works::{MediaRow, media_table};
use crate::tables::Table;
use crate::words;

/// "untar on file systems, operations per second".
pub(super) fn title(matrix: &MatrixComparison) -> String {
    let unit = if matrix.larger_is_better { "per second" } else { "in seconds" };
    format!("Matrix: {}, {unit}", printable(&matrix.work))
}

/// A row for each combination.
pub(super) fn table(
    comparison: &MediaComparison,
    matrix: &MatrixComparison,
    names: &Names,
    ranges: Ranges,
) -> Table {
    let rows = matrix.rows.iter().map(|row| MediaRow {
        name: printable(&row.combination),
        figures: row.figures.iter().map(|it| it.map(|found| ranges.number(found))).collect(),
        pair: row.fastest.map(FastestMedium::of_first),
        fastest: row.fastest,
    });
    media_table("File system and scheduler", comparison, names, rows)
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
