//! Combinations that only one of several matrices has, each with the reason.

use std::collections::BTreeSet;

use record::{Combination, Ended, Record};

use crate::compare::RunGroup;
use crate::matrix;

/// Most combinations named for a reason; of more only the first is.
const NAMED: usize = 2;

/// Reasons, each with the missing combinations.
#[derive(Default)]
pub(super) struct MissingCombinations(Vec<(String, Vec<String>)>);

impl MissingCombinations {
    /// Adds a missing combination with its reason; equal reasons are joined.
    pub fn add(&mut self, why: String, what: String) {
        match self.0.iter_mut().find(|(known, _)| *known == why) {
            Some((_, all)) => all.push(what),
            None => self.0.push((why, vec![what])),
        }
    }

    /// A line for each reason.
    pub fn lines(self) -> Vec<String> {
        let line = |(why, what): (String, Vec<String>)| match &what[..] {
            [only] if only.is_empty() => why,
            few if few.len() <= NAMED => format!("{}: {why}", few.join("; ")),
            many => format!("{} and {} more combinations: {why}", many[0], many.len() - 1),
        };
        self.0.into_iter().map(line).collect()
    }
}

/// Reason why a combination was not tried on a medium: left out of its matrix, or the matrix is not
/// finished.
pub(super) fn why_not_tried(records: &[&Record], combination: &Combination) -> String {
    let of_matrices = || records.iter().filter(|record| matrix::of(record).is_some());
    if of_matrices().next().is_none() {
        return "it has no matrix".to_owned();
    }
    let left_out = [
        format!("scheduler {}", combination.scheduler),
        combination.filesystem.clone(),
        format!("{} fitted to the AU", combination.filesystem),
        combination.work.clone(),
    ];
    let fits = |what: &str| left_out.iter().any(|name| name == what);
    let skipped = of_matrices().flat_map(|record| &record.skipped).find(|skip| fits(&skip.test));
    if let Some(skip) = skipped {
        return format!("left out, {}", skip.reason);
    }
    let is_whole = of_matrices().all(|record| record.run.ended == Ended::Complete);
    if is_whole { "not tried" } else { "its matrix is not finished" }.to_owned()
}

/// Sentence if only some of the media have a matrix.
pub(super) fn without_a_matrix(groups: &[RunGroup], works: &BTreeSet<&str>) -> Vec<String> {
    if works.is_empty() {
        return Vec::new();
    }
    let has = |group: &&RunGroup| group.records.iter().any(|record| matrix::of(record).is_some());
    let without: Vec<&str> =
        groups.iter().filter(|group| !has(group)).map(|group| group.name.as_str()).collect();
    if without.is_empty() {
        return Vec::new();
    }
    let works: Vec<&str> = works.iter().copied().collect();
    vec![format!("the matrix ({}): there is none of {}", works.join(", "), without.join(", "))]
}
