//! Several forms of output of one job (`--output-format=normal,json+`) as one result.

use std::collections::{BTreeMap, BTreeSet};

use record::units::KIB;
use record::{Cell, Direction};

use crate::imported_run::{ImportedRun, note};

/// Forms of fio's output as notes name them, the one with most details first.
pub(crate) const FORMS: [&str; 2] = ["JSON", "normal text"];

/// Place of a result: index of its run, and its index there.
type ResultIndex = (usize, usize);

/// Removes results of the normal text that the text also has as JSON, and notes it there.
pub(crate) fn keep_fullest_form(found: &mut [ImportedRun]) {
    let is = |form: &'static str| move |run: &ImportedRun| run.form == form;
    let (mut kept, mut gone) = (BTreeSet::<ResultIndex>::new(), BTreeSet::<ResultIndex>::new());
    for jobs in jobs_of(found, is(FORMS[1])) {
        for (job, place) in fuller_form(found, &jobs, is(FORMS[0]), |place| !kept.contains(place)) {
            kept.insert(place);
            gone.insert(job);
        }
    }
    for (run, at) in kept {
        let text = format!("the same job is in the text as fio's {}, too", FORMS[1]);
        note(&mut found[run].cells[at], text);
    }
    for (at, run) in found.iter_mut().enumerate() {
        run.retain(|cell| !gone.contains(&(at, cell)));
    }
}

/// Groups the results of these runs by job and direction.
fn jobs_of(found: &[ImportedRun], of: impl Fn(&ImportedRun) -> bool) -> Vec<Vec<ResultIndex>> {
    let mut jobs: BTreeMap<(&str, bool), Vec<ResultIndex>> = BTreeMap::new();
    for (run, one) in found.iter().enumerate().filter(|(_, run)| of(run)) {
        for (at, cell) in one.cells.iter().enumerate() {
            let writes = cell.params.direction == Some(Direction::Write);
            jobs.entry((cell.label("job"), writes)).or_default().push((run, at));
        }
    }
    jobs.into_values().collect()
}

/// Pairs results with those of a fuller form that are the same; several that fio lists one by one
/// may match one that was added up.
fn fuller_form(
    found: &[ImportedRun],
    jobs: &[ResultIndex],
    fuller: impl Fn(&ImportedRun) -> bool,
    is_free: impl Fn(&ResultIndex) -> bool,
) -> Vec<(ResultIndex, ResultIndex)> {
    let cell = |(run, at): ResultIndex| &found[run].cells[at];
    let places = found
        .iter()
        .enumerate()
        .filter(|(_, run)| fuller(run))
        .flat_map(|(run, one)| (0..one.cells.len()).map(move |at| (run, at)));
    let mut free: Vec<ResultIndex> =
        places.filter(|place| is_free(place) && is_alike(cell(*place), cell(jobs[0]))).collect();
    let mut same = Vec::new();
    let mut rest = Vec::new();
    for job in jobs {
        match free.iter().position(|place| is_same(cell(*place), cell(*job))) {
            Some(at) => same.push((*job, free.remove(at))),
            None => rest.push(*job),
        }
    }
    let kib = rest.iter().map(|job| cell(*job).bytes / KIB).sum::<u64>();
    let sum = free.iter().find(|place| {
        let sum = cell(**place);
        sum.params.threads as usize == rest.len() && sum.bytes / KIB == kib && kib > 0
    });
    same.extend(sum.iter().flat_map(|sum| rest.iter().map(|job| (*job, **sum))));
    same
}

/// True if both have the same job name and direction.
fn is_alike(a: &Cell, b: &Cell) -> bool {
    a.label("job") == b.label("job") && a.params.direction == b.params.direction
}

/// True if both have the same time to the millisecond and the same data, as far as both forms have
/// them.
fn is_same(a: &Cell, b: &Cell) -> bool {
    let agrees = |a: u64, b: u64| a > 0 && a == b;
    a.elapsed_ns == b.elapsed_ns && (agrees(a.ops, b.ops) || agrees(a.bytes / KIB, b.bytes / KIB))
}
