//! Results of the combinations so far, and the choice of those that are worth another repeat.

use std::collections::{BTreeMap, BTreeSet};

use record::units::saturating_sum;
use record::{Cell, Stop};
use stats::{ContestRank, RankedGroup, contest, is_open};

use super::Combination;

/// Results of each combination so far, by its number.
#[derive(Clone, Debug, Default)]
pub struct Results {
    figures: Vec<BTreeMap<u32, f64>>,
    /// Those that could not be tried.
    failed: BTreeSet<usize>,
    larger_is_better: BTreeMap<String, bool>,
    /// Times of the tries, making and unmounting the file system included, in nanoseconds: by work
    /// and file system.
    took_ns: BTreeMap<(String, String), Vec<u64>>,
}

impl Results {
    /// Results from the cells of earlier sessions.
    pub fn of(combinations: &[Combination], cells: &[Cell]) -> Results {
        let mut results =
            Results { figures: vec![BTreeMap::new(); combinations.len()], ..Results::default() };
        let counts = |cell: &&Cell| {
            cell.label("part").is_empty()
                && cell.stop != Stop::Interrupted
                && !cell.is_failed_by_medium()
        };
        for cell in cells.iter().filter(counts) {
            let Some((combination, repeat)) = Combination::of_cell(cell) else { continue };
            if let Some(number) = combinations.iter().position(|known| *known == combination) {
                results.add(combinations, number, repeat, cell);
            }
        }
        results
    }

    /// Adds a headline cell.
    pub fn add(&mut self, combinations: &[Combination], number: usize, repeat: u32, cell: &Cell) {
        match (cell.stop, cell.work_result()) {
            (Stop::Error, _) | (_, None) => {
                self.failed.insert(number);
            }
            (_, Some((figure, larger))) => {
                self.figures[number].insert(repeat, figure);
                self.larger_is_better.insert(combinations[number].work.clone(), larger);
            }
        }
    }

    /// Removes the failure of this combination: the medium has failed.
    pub fn remove_failure(&mut self, number: usize) {
        self.failed.remove(&number);
    }

    /// Adds the time of one try.
    pub fn took(&mut self, combination: &Combination, ns: u64) {
        self.took_ns
            .entry((combination.work.clone(), combination.filesystem.clone()))
            .or_default()
            .push(ns);
    }

    /// True if this repeat need not be tried: it is done, or the combination has failed.
    pub fn is_over(&self, number: usize, repeat: u32) -> bool {
        self.figures[number].contains_key(&repeat) || self.failed.contains(&number)
    }

    /// Number of tries with a figure.
    pub fn done(&self) -> usize {
        self.figures.iter().map(BTreeMap::len).sum()
    }

    /// Combinations that could not be tried, by their numbers.
    pub fn failed(&self) -> &BTreeSet<usize> {
        &self.failed
    }

    /// Combinations of a work, the best first, by their numbers.
    pub fn places(&self, combinations: &[Combination], work: &str) -> Vec<RankedGroup> {
        let of_work = |number: usize| combinations[number].work == work;
        let figures = |number: usize| {
            let kept = of_work(number) && !self.failed.contains(&number);
            if kept { self.figures[number].values().copied().collect() } else { Vec::new() }
        };
        let groups: Vec<Vec<f64>> = (0..combinations.len()).map(figures).collect();
        contest(&groups, self.larger_is_better.get(work).copied().unwrap_or(true))
    }

    /// Combinations that are worth another repeat: for each work whose best two are not
    /// significantly different, the best and all that may be as good.
    pub fn contenders(&self, combinations: &[Combination]) -> Vec<usize> {
        let mut works: Vec<&str> =
            combinations.iter().map(|combination| combination.work.as_str()).collect();
        works.sort_unstable();
        works.dedup();
        let mut contenders = Vec::new();
        for work in works {
            let places = self.places(combinations, work);
            if is_open(&places) {
                let near = places.iter().filter(|placed| {
                    matches!(placed.rank, ContestRank::Best | ContestRank::Unclear)
                });
                contenders.extend(near.map(|placed| placed.group));
            }
        }
        contenders
    }

    /// Expected time of a try in nanoseconds, as the mean of similar ones: the same work on the
    /// same file system, else the same work, else any. `None` before the first.
    pub fn expected_ns(&self, combination: &Combination) -> Option<u64> {
        let mean = |fits: &dyn Fn(&(String, String)) -> bool| {
            let all: Vec<u64> = self
                .took_ns
                .iter()
                .filter(|(key, _)| fits(key))
                .flat_map(|(_, ns)| ns.iter().copied())
                .collect();
            (!all.is_empty()).then(|| saturating_sum(all.iter().copied()) / all.len() as u64)
        };
        mean(&|(work, filesystem)| {
            *work == combination.work && *filesystem == combination.filesystem
        })
        .or_else(|| mean(&|(work, _)| *work == combination.work))
        .or_else(|| mean(&|_| true))
    }
}
