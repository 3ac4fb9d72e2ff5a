//! Rounds of a cell, and how far these differ.

use serde::{Deserialize, Serialize};

use crate::{Cell, metric};

/// One of several times that a cell was measured, apart from each other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Round {
    /// When it began, since the run did, in nanoseconds.
    pub began_ns: u64,
    /// I/Os of it that count.
    pub ops: u64,
    /// What these took, in nanoseconds.
    pub elapsed_ns: u64,
    /// Its rate, in I/Os a second.
    pub iops: f64,
    /// Half the width of its own 95 % interval, in the logarithm of the rate; absent where it is too
    /// short for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half_width: Option<f64>,
}

/// An interval whose ends are further apart than this factor is not printed as one.
const WIDEST: f64 = 2.0;
/// Fewer rounds than this have no interval of their own.
const FEWEST: usize = 3;
/// Levels are apart by this factor at least; both our choice.
const APART: f64 = 1.25;

/// Rounds of a machine or medium that changes too much for an interval, as factors of the cell's
/// figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unsteady {
    /// The slowest and the fastest round.
    Range([f64; 2]),
    /// Two levels, the slower first: half of the range or more lies between them.
    Levels([f64; 2]),
}

impl Cell {
    /// The words and the ends that stand in place of the interval of a rate or its inverse, where
    /// that is too wide: "varies" between the slowest and the fastest round, or "two levels".
    pub fn variation(&self, name: &str) -> Option<(&'static str, [f64; 2])> {
        let (words, factors) = match self.unsteady()? {
            Unsteady::Range(ends) => ("varies", ends),
            Unsteady::Levels(levels) => ("two levels", levels),
        };
        let metrics = &self.metrics;
        let [from, to] = factors;
        let ends = match name {
            metric::IOPS => factors.map(|factor| factor * metrics.iops.map_or(0.0, |it| it.value)),
            metric::BPS => factors.map(|factor| factor * metrics.bps.map_or(0.0, |it| it.value)),
            metric::ACCESS_TIME_NS => {
                let value = metrics.other.get(name)?.value;
                [value / to, value / from]
            }
            _ => return None,
        };
        Some((words, ends))
    }

    /// How the rounds differ, where the interval is too wide to be printed as one.
    pub fn unsteady(&self) -> Option<Unsteady> {
        let iops = self.metrics.iops.filter(|_| self.rounds.len() >= FEWEST)?;
        iops.ci95.filter(|[low, high]| *high > WIDEST * *low)?;
        let mut factors: Vec<f64> =
            self.rounds.iter().map(|round| round.iops / iops.value).collect();
        factors.sort_unstable_by(f64::total_cmp);
        let range = [*factors.first()?, *factors.last()?];
        let levels = levels(&factors);
        Some(levels.map_or(Unsteady::Range(range), Unsteady::Levels))
    }
}

/// The means of two groups with two rounds each at least, between which lies half of the range;
/// `factors` ascend.
fn levels(factors: &[f64]) -> Option<[f64; 2]> {
    let inner = 2..factors.len().checked_sub(1)?;
    let gap = |at: usize| factors[at] / factors[at - 1];
    let at = inner.max_by(|a, b| gap(*a).total_cmp(&gap(*b)))?;
    let range = factors.last()? / factors.first()?;
    let mean = |group: &[f64]| group.iter().sum::<f64>() / group.len() as f64;
    (gap(at) > APART.max(range.sqrt())).then(|| [mean(&factors[..at]), mean(&factors[at..])])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Estimate, Params};

    fn cell(ci95: [f64; 2], rates: &[f64]) -> Cell {
        let mut cell = Cell::begun("a", "random-write", Params::default());
        cell.metrics.iops = Some(Estimate { value: 100.0, ci95: Some(ci95), n: 9 });
        let round = |iops: &f64| Round {
            began_ns: 0,
            ops: 1,
            elapsed_ns: 1,
            iops: *iops,
            half_width: None,
        };
        cell.rounds = rates.iter().map(round).collect();
        cell
    }

    #[test]
    fn rounds_are_unsteady_where_their_interval_spans_more_than_a_factor_of_two() {
        let even = [60.0, 90.0, 100.0, 130.0, 150.0];
        assert_eq!(cell([75.0, 140.0], &even).unsteady(), None);
        assert_eq!(cell([50.0, 140.0], &even).unsteady(), Some(Unsteady::Range([0.6, 1.5])));
        assert_eq!(cell([50.0, 140.0], &even[..2]).unsteady(), None, "two rounds have no interval");
        let two = [50.0, 54.0, 150.0, 148.0, 152.0];
        assert_eq!(cell([40.0, 160.0], &two).unsteady(), Some(Unsteady::Levels([0.52, 1.5])));
        let one_off = [50.0, 150.0, 148.0, 152.0];
        assert_eq!(cell([40.0, 160.0], &one_off).unsteady(), Some(Unsteady::Range([0.5, 1.52])));
    }
}
