//! Several forms of output of one job (`--output-format=normal,json+`) as one result.

use std::collections::BTreeMap;

use record::Cell;
use record::units::{KIB, saturating_sum};

use crate::imported_run::{ImportedRun, note};

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
        self.elapsed_ns == other.elapsed_ns && is_same_data && self.job == other.job
    }
}

/// Removes results of the normal text that the text also has as JSON, and notes it there. Clones
/// that fio lists one by one may be one result that was added up.
pub(crate) fn keep_fullest_form(found: &mut [ImportedRun]) {
    let of = |form: &str| -> Vec<Facts> {
        let runs = found.iter().filter(|run| run.form == form);
        runs.flat_map(|run| &run.cells).map(|(_, cell)| Facts::of(cell)).collect()
    };
    let [json, normal] = FORMS.map(of);
    // KiB of the clones of each job.
    let mut clones: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for one in normal.iter().filter(|one| !json.iter().any(|known| known.is(one))) {
        clones.entry(&one.job).or_default().push(one.kib);
    }
    let is_sum = |known: &Facts| {
        let kib = clones.get(&*known.job);
        kib.is_some_and(|kib| {
            known.kib > 0
                && known.threads == kib.len()
                && known.kib == saturating_sum(kib.iter().copied())
        })
    };
    for run in found {
        let facts: Vec<Facts> = run.cells.iter().map(|(_, cell)| Facts::of(cell)).collect();
        if run.form == FORMS[0] {
            let is_twice = |one: &Facts| is_sum(one) || normal.iter().any(|known| known.is(one));
            for ((_, cell), _) in run.cells.iter_mut().zip(&facts).filter(|(_, one)| is_twice(one))
            {
                note(cell, format!("the same job is in the text as fio's {}, too", FORMS[1]));
            }
        } else if run.form == FORMS[1] {
            let is_twice =
                |known: &Facts, one: &Facts| known.is(one) || known.job == one.job && is_sum(known);
            let mut is_kept = facts.iter().map(|one| !json.iter().any(|it| is_twice(it, one)));
            run.cells.retain(|_| is_kept.next() == Some(true));
        }
    }
}
