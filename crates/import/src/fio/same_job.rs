//! Several forms of output of one job (`--output-format=normal,json+`) as one result.

use std::collections::BTreeSet;

use record::Cell;
use record::units::{KIB, saturating_sum};

use crate::imported_run::{Fill, ImportedRun};

/// Forms of fio's output as notes name them, the one with most details first.
pub(crate) const FORMS: [&str; 2] = ["JSON", "normal text"];

/// What both forms have of a result.
struct Facts {
    elapsed_ns: u64,
    ops: u64,
    kib: u64,
    threads: usize,
    job: String,
}

impl Facts {
    fn of(cell: &Cell) -> Facts {
        Facts {
            elapsed_ns: cell.elapsed_ns,
            ops: cell.ops,
            kib: cell.bytes / KIB,
            threads: cell.params.threads as usize,
            job: format!("{:?} {}", cell.params.direction, cell.label("job")),
        }
    }

    /// True if both have the same time to the millisecond and the same data.
    fn is(&self, other: &Facts) -> bool {
        let agrees = |a: u64, b: u64| a > 0 && a == b;
        let is_same_data = agrees(self.ops, other.ops) || agrees(self.kib, other.kib);
        self.elapsed_ns == other.elapsed_ns && is_same_data
    }
}

/// Removes results of the normal text that the text also has as JSON, and notes it there. Clones
/// that fio lists one by one may be one result that was added up.
pub(crate) fn keep_fullest_form(found: &mut [ImportedRun]) {
    let runs = found.iter().enumerate().filter(|(_, run)| run.form == FORMS[1]);
    let cells =
        runs.flat_map(|(at, run)| (0..).zip(&run.cells).map(move |(nth, it)| (at, nth, it)));
    let normal: Vec<_> = cells.map(|(at, nth, (_, cell))| ((at, nth), Facts::of(cell))).collect();
    let mut twice: BTreeSet<(usize, usize)> = BTreeSet::new();
    for (_, cell) in
        found.iter_mut().filter(|run| run.form == FORMS[0]).flat_map(|it| &mut it.cells)
    {
        let known = Facts::of(cell);
        let mut same: Vec<_> = normal.iter().filter(|(_, one)| one.job == known.job).collect();
        let kib = saturating_sum(same.iter().map(|(_, one)| one.kib));
        if same.len() != known.threads || known.kib == 0 || known.kib != kib {
            same.retain(|(_, one)| known.is(one));
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
