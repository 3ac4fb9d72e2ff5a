//! Several forms of output of one job (`--output-format=normal,json+`) as one result.

use std::collections::BTreeSet;

use record::Cell;
use record::units::{KIB, saturating_sum};

use crate::imported_run::{Fill, ImportedRun};

/// Forms of fio's output as notes name them, the one with most details first.
pub(crate) const FORMS: [&str; 2] = ["JSON", "normal text"];

/// True if both forms have the same job and direction.
fn is_of_job(a: &Cell, b: &Cell) -> bool {
    (a.params.direction, a.label("job")) == (b.params.direction, b.label("job"))
}

/// True if both forms have the same time to the millisecond and the same data.
fn is_same(a: &Cell, b: &Cell) -> bool {
    let agrees = |a: u64, b: u64| a > 0 && a == b;
    let is_same_data = agrees(a.ops, b.ops) || agrees(a.bytes / KIB, b.bytes / KIB);
    a.elapsed_ns == b.elapsed_ns && is_same_data
}

/// Removes results of the normal text that the text also has as JSON, and notes it there. Clones
/// that fio lists one by one may be one result that was added up.
pub(crate) fn keep_fullest_form(found: &mut [ImportedRun]) {
    let runs = found.iter().enumerate().filter(|(_, run)| run.form == FORMS[1]);
    let cells =
        runs.flat_map(|(at, run)| (0..).zip(&run.cells).map(move |(nth, it)| (at, nth, it)));
    let normal: Vec<_> = cells.map(|(at, nth, (_, cell))| ((at, nth), cell.clone())).collect();
    let mut twice: BTreeSet<(usize, usize)> = BTreeSet::new();
    for (_, cell) in
        found.iter_mut().filter(|run| run.form == FORMS[0]).flat_map(|it| &mut it.cells)
    {
        let mut same: Vec<_> = normal.iter().filter(|(_, one)| is_of_job(one, cell)).collect();
        let (all, kib) = (same.iter().map(|(_, one)| one.bytes / KIB), cell.bytes / KIB);
        if same.len() != cell.params.threads as usize || kib == 0 || kib != saturating_sum(all) {
            same.retain(|(_, one)| is_same(cell, one));
        }
        let text = format!("the same job is in the text as fio's {}, too", FORMS[1]);
        cell.note_if(!same.is_empty(), &text);
        twice.extend(same.iter().map(|(place, _)| *place));
    }
    for (at, run) in found.iter_mut().enumerate() {
        let mut places = (0..).map(|nth| (at, nth));
        run.cells.retain(|_| places.next().is_some_and(|place| !twice.contains(&place)));
    }
}
