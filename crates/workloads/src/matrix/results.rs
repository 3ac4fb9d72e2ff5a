//! Results of the combinations so far, and the choice of those that are worth another repeat.

use std::collections::{BTreeMap, BTreeSet};

use record::units::saturating_sum;
use record::{Cell, Combination, Stop};
use stats::{ContestRank, RankedGroup, contest, is_open};

/// Results of each combination so far, by its number.
pub(super) struct Results<'a> {
    pub combinations: &'a [Combination],
    figures: Vec<BTreeMap<u32, f64>>,
    /// Those that could not be tried.
    pub failed: BTreeSet<usize>,
    larger_is_better: BTreeMap<&'a str, bool>,
    /// Times of the tries, making and unmounting the file system included, in nanoseconds.
    took_ns: Vec<(usize, u64)>,
}

impl<'a> Results<'a> {
    /// Results from the cells of earlier sessions.
    pub fn of(combinations: &'a [Combination], cells: &[Cell]) -> Results<'a> {
        let mut results = Results {
            combinations,
            figures: vec![BTreeMap::new(); combinations.len()],
            failed: BTreeSet::new(),
            larger_is_better: BTreeMap::new(),
            took_ns: Vec::new(),
        };
        for cell in cells.iter().filter(|cell| cell.is_headline() && cell.is_of_combination()) {
            let combination = Combination::of(cell);
            if let Some(number) = combinations.iter().position(|known| *known == combination)
                && let Ok(repeat) = cell.label("repeat").parse()
            {
                results.add(number, repeat, cell);
            }
        }
        results
    }

    /// Adds a headline cell.
    pub fn add(&mut self, number: usize, repeat: u32, cell: &Cell) {
        match (cell.stop, cell.work_result()) {
            (Stop::Error, _) | (_, None) => {
                self.failed.insert(number);
            }
            (_, Some((figure, larger))) => {
                self.figures[number].insert(repeat, figure);
                self.larger_is_better.insert(&self.combinations[number].work, larger);
            }
        }
    }

    /// Adds the time of one try.
    pub fn took(&mut self, number: usize, ns: u64) {
        self.took_ns.push((number, ns));
    }

    /// True if this repeat need not be tried: it is done, or the combination has failed.
    pub fn is_over(&self, number: usize, repeat: u32) -> bool {
        self.figures[number].contains_key(&repeat) || self.failed.contains(&number)
    }

    /// Number of tries with a figure.
    pub fn done(&self) -> usize {
        self.figures.iter().map(BTreeMap::len).sum()
    }

    /// Combinations of a work, the best first, by their numbers.
    pub fn places(&self, work: &str) -> Vec<RankedGroup> {
        let figures = |(number, combination): (usize, &Combination)| {
            let kept = combination.work == work && !self.failed.contains(&number);
            if kept { self.figures[number].values().copied().collect() } else { Vec::new() }
        };
        let groups: Vec<Vec<f64>> = self.combinations.iter().enumerate().map(figures).collect();
        contest(&groups, self.larger_is_better.get(work).copied().unwrap_or(true))
    }

    /// Combinations that are worth another repeat: for each work whose best two are not
    /// significantly different, the best and all that may be as good.
    pub fn contenders(&self) -> Vec<usize> {
        let works: BTreeSet<&str> =
            self.combinations.iter().map(|combination| combination.work.as_str()).collect();
        let open = works.into_iter().map(|work| self.places(work)).filter(|places| is_open(places));
        let is_near =
            |placed: &RankedGroup| matches!(placed.rank, ContestRank::Best | ContestRank::Unclear);
        open.flatten().filter(is_near).map(|placed| placed.group).collect()
    }

    /// Expected time of a try in nanoseconds, as the mean of similar ones: the same work on the
    /// same file system, else the same work, else any. `None` before the first.
    pub fn expected_ns(&self, number: usize) -> Option<u64> {
        let this = &self.combinations[number];
        let similar: [&dyn Fn(&Combination) -> bool; 3] = [
            &|other| other.work == this.work && other.filesystem == this.filesystem,
            &|other| other.work == this.work,
            &|_| true,
        ];
        similar.iter().find_map(|is_similar| {
            let took =
                self.took_ns.iter().filter(|(number, _)| is_similar(&self.combinations[*number]));
            let took: Vec<u64> = took.map(|(_, ns)| *ns).collect();
            (!took.is_empty()).then(|| saturating_sum(took.iter().copied()) / took.len() as u64)
        })
    }
}
