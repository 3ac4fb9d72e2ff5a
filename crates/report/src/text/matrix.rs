//! Screen at the end of a matrix.

use findings::matrix::Matrix;
use record::Record;
use record::text::printable;

use super::{fold, paragraph, plain};
use crate::matrix::{commands, fragmentation, ranking, state, threads};
use crate::{caveats, display, words};

/// All results of a matrix, for a terminal of `width` columns.
pub fn details(record: &Record, matrix: &Matrix, width: usize) -> String {
    let mut out = paragraph(&words::medium_line(record), width);
    if let Some(state) = state(record) {
        out += &paragraph(&state, width);
    }
    for work in &matrix.works {
        out += "\n";
        out += &paragraph(&printable(&work.statement()), width);
        if !work.places.is_empty() {
            out += &plain(&ranking(work), width);
        }
        for (combination, reason) in &work.failed {
            out += &paragraph(
                &format!("  failed: {}: {}", printable(&combination.words()), printable(reason)),
                width,
            );
        }
    }
    if let Some(best) = matrix.overall.first() {
        out += "\n";
        out += &paragraph(&printable(&best.statement()), width);
    }
    if let Some(table) = fragmentation(matrix) {
        out += "\nFragmentation of the files\n";
        out += &plain(&table, width);
    }
    if let Some(table) = threads(record) {
        out += "\nThreads, MB/s\n";
        out += &plain(&table, width);
    }
    if let Some((combination, lines)) = commands(record, matrix) {
        out += "\n";
        out += &paragraph(&format!("To have {}", printable(&combination)), width);
        for (what, line) in lines {
            // Commands stay on one line.
            let line = display::unbroken(&printable(&line));
            out += &fold(&format!("  # {what}\n"), width, true);
            out += &format!("  {line}\n");
        }
    }
    for (reason, what) in caveats::skipped(record) {
        out += &paragraph(&format!("Left out: {}: {reason}", what.join(", ")), width);
    }
    out
}
