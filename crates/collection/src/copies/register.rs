//! Runs held in memory in which copies are searched.

use std::collections::{BTreeMap, BTreeSet};

use record::MediumKind;
use record::collection::Model;

use super::{KnownRuns, RunMarks, RunSketch};

/// Store of runs in memory, named by their numbers.
#[derive(Debug, Default)]
pub struct CopyRegister {
    runs: BTreeMap<usize, RunMarks>,
    exact: BTreeMap<String, Vec<usize>>,
    /// Measured runs by kind, vendor and model.
    near: BTreeMap<(MediumKind, String, String), Vec<usize>>,
}

/// A model without its capacity.
fn of_any_size(model: &Model) -> (MediumKind, String, String) {
    (model.kind, model.vendor.clone(), model.model.clone())
}

impl CopyRegister {
    /// Adds a run.
    pub fn add(&mut self, number: usize, marks: &RunMarks) {
        for mark in &marks.exact {
            self.exact.entry(mark.clone()).or_default().push(number);
        }
        if !marks.sketch.is_empty() && !marks.is_simulated {
            self.near.entry(of_any_size(&marks.model)).or_default().push(number);
        }
        self.runs.insert(number, marks.clone());
    }
}

impl KnownRuns for CopyRegister {
    type Name = usize;
    type Error = std::convert::Infallible;

    fn with_mark(
        &mut self,
        marks: &RunMarks,
        is_taken: &mut dyn FnMut(&usize) -> bool,
    ) -> Result<Option<usize>, Self::Error> {
        let found: BTreeSet<usize> =
            marks.exact.iter().filter_map(|mark| self.exact.get(mark)).flatten().copied().collect();
        let may_be = |number: &usize| marks.may_copy(self.runs[number].is_simulated);
        Ok(found.into_iter().find(|number| may_be(number) && is_taken(number)))
    }

    fn of_model(
        &mut self,
        marks: &RunMarks,
        is_taken: &mut dyn FnMut(&usize, &RunSketch) -> bool,
    ) -> Result<Option<usize>, Self::Error> {
        let mut known = self.near.get(&of_any_size(&marks.model)).into_iter().flatten();
        let is_found = |number: &&usize| is_taken(number, &self.runs[*number].sketch);
        Ok(known.find(is_found).copied())
    }
}
