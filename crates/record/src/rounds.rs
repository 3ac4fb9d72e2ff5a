//! Differences between the rounds of a cell.

use crate::{Cell, Flag, metric};

/// Largest factor between the ends of an interval that is printed as one.
const WIDEST: f64 = 2.0;
/// Fewest rounds that say anything about a repetition and have an interval of their own.
pub const MIN_ROUNDS: usize = 3;
/// Least factor between levels; both our choice.
const APART: f64 = 1.25;

/// Rounds on a host or medium that changes too much for an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum UnsteadyRounds {
    /// The slowest and the fastest round.
    Range([f64; 2]),
    /// Two levels, the slower first: half of the range or more is between them.
    Levels([f64; 2]),
}

impl Cell {
    /// True if there was no time to measure it again: it then has no interval of a repetition.
    pub fn is_one_look(&self) -> bool {
        self.flags.iter().any(|flag| matches!(flag, Flag::OneLook { .. }))
    }

    /// Range or levels of a rate or its inverse, in place of an interval that is too wide: in the
    /// unit of the metric, the lower first.
    pub fn variation(&self, name: &str) -> Option<UnsteadyRounds> {
        let metrics = &self.metrics;
        let value = match name {
            metric::IOPS => metrics.iops?.value,
            metric::BPS => metrics.bps?.value,
            metric::ACCESS_TIME_NS => metrics.value(name)?,
            _ => return None,
        };
        let of = |[from, to]: [f64; 2]| match name {
            metric::ACCESS_TIME_NS => [value / to, value / from],
            _ => [value * from, value * to],
        };
        Some(match self.unsteady()? {
            UnsteadyRounds::Range(factors) => UnsteadyRounds::Range(of(factors)),
            UnsteadyRounds::Levels(factors) => UnsteadyRounds::Levels(of(factors)),
        })
    }

    /// Range or levels as factors of the figure.
    fn unsteady(&self) -> Option<UnsteadyRounds> {
        let iops = self.metrics.iops.filter(|_| self.rounds.len() >= MIN_ROUNDS)?;
        iops.ci95.filter(|[low, high]| *high > WIDEST * *low)?;
        let mut factors: Vec<f64> =
            self.rounds.iter().map(|round| round.iops / iops.value).collect();
        factors.sort_unstable_by(f64::total_cmp);
        let range = [*factors.first()?, *factors.last()?];
        let levels = levels(&factors);
        Some(levels.map_or(UnsteadyRounds::Range(range), UnsteadyRounds::Levels))
    }
}

/// Means of two groups with at least two rounds each, half of the range or more apart; `factors`
/// ascend.
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
    use crate::{Estimate, Params, Round};

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
        assert_eq!(cell([50.0, 140.0], &even).unsteady(), Some(UnsteadyRounds::Range([0.6, 1.5])));
        assert_eq!(cell([50.0, 140.0], &even[..2]).unsteady(), None, "two rounds have no interval");
        let two = [50.0, 54.0, 150.0, 148.0, 152.0];
        assert_eq!(cell([40.0, 160.0], &two).unsteady(), Some(UnsteadyRounds::Levels([0.52, 1.5])));
        let one_off = [50.0, 150.0, 148.0, 152.0];
        assert_eq!(
            cell([40.0, 160.0], &one_off).unsteady(),
            Some(UnsteadyRounds::Range([0.5, 1.52]))
        );
    }
}
