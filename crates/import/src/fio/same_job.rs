//! Several forms of output of one job (`--output-format=normal,json+,terse`) as one result.

use std::collections::{BTreeMap, BTreeSet};

use record::units::KIB;
use record::{Cell, Direction};

use crate::imported_run::{ImportedRun, note};

/// Forms of fio's output as notes name them, the one with most details first.
pub(crate) const FORMS: [&str; 3] = ["JSON", "normal text", "terse text"];

/// Place of a result: index of its run, and its index there.
type ResultIndex = (usize, usize);

/// Removes results that the text also has in a form with more details, and notes it there.
pub(crate) fn keep_fullest_form(found: &mut [ImportedRun]) {
    let rank = |run: &ImportedRun| FORMS.iter().position(|form| *form == run.form);
    let mut forms_by_place: BTreeMap<ResultIndex, BTreeSet<usize>> = BTreeMap::new();
    let mut gone: BTreeSet<ResultIndex> = BTreeSet::new();
    for lesser in 1..FORMS.len() {
        for jobs in jobs_of(found, |run| rank(run) == Some(lesser)) {
            let fuller = |run: &ImportedRun| rank(run).is_some_and(|rank| rank < lesser);
            let is_free = |place: &ResultIndex| {
                !gone.contains(place)
                    && forms_by_place.get(place).is_none_or(|forms| !forms.contains(&lesser))
            };
            let same = fuller_form(found, &jobs, fuller, is_free);
            for (job, place) in same {
                forms_by_place.entry(place).or_default().insert(lesser);
                gone.insert(job);
            }
        }
    }
    for ((run, at), forms) in forms_by_place {
        let forms: Vec<&str> = forms.into_iter().map(|rank| FORMS[rank]).collect();
        let text = format!("the same job is in the text as fio's {}, too", forms.join(" and "));
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
