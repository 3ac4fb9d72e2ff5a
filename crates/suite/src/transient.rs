//! Results of a medium whose rate was still changing during the measurement.
//!
//! A rate that changed in one direction by half of itself is no steady level: a falling rate is an
//! upper bound of the level, a rising one a lower bound, and there is no interval. A rate that
//! changed by less, or up and down, has an interval that contains the levels between which it
//! moved.

use record::{Bound, Cell, Estimate, Flag, test};

/// Tests that measure the course of a rate, or one pass over everything, and not a steady level.
const COURSES: [&str; 9] = [
    test::PRIME,
    test::ZERO_FILL,
    test::RANDOM_FILL,
    test::SUSTAINED,
    test::CAPACITY,
    test::VERIFY,
    test::READ_BACK,
    test::EXT2_FILL,
    test::EXT2_FORMAT,
];
/// Limits above which fifths of a cell are different states, as shares of their mean: their range,
/// and the rise of the line through them. Our choice, between the 20 and 10 % of SNIA's steady
/// state and a factor of two.
const PASSING_RANGE: f64 = 0.5;
const PASSING_SLOPE: f64 = 0.3;

/// Marks a cell's result as a bound, or widens its interval.
///
/// What a busy host explains is no change of the medium: the share of their time in which the I/Os
/// waited for a processor would make all fifths as fast as the fastest. With `in_rounds`, later
/// rounds show whether a rate of reads goes on falling.
pub(crate) fn mark_transient(cell: &mut Cell, in_rounds: bool) {
    let drift = cell.flags.iter().find_map(|flag| {
        if let Flag::Drifting { range, slope } = flag { Some((*range, *slope)) } else { None }
    });
    if let Some((range, slope)) = drift.filter(|_| !COURSES.contains(&cell.test.as_str())) {
        let is_of_host = cell.host_share() >= 1.0 - 1.0 / (1.0 + range / 2.0);
        let is_read = matches!(cell.test.as_str(), test::RANDOM_READ | test::SEQUENTIAL_READ);
        let is_passing = range >= PASSING_RANGE && slope.abs() >= PASSING_SLOPE;
        if is_passing && !is_of_host && !(in_rounds && is_read) {
            cell.flag_transient(if slope < 0.0 { Bound::AtMost } else { Bound::AtLeast });
        }
        let rates = [&mut cell.metrics.iops, &mut cell.metrics.bps];
        rates.into_iter().flatten().for_each(|rate| *rate = widened(*rate, range / 2.0));
    }
    if cell.transient().is_some() {
        cell.without_intervals();
    }
}

/// The rate with an interval of at least this share to both sides.
fn widened(rate: Estimate, share: f64) -> Estimate {
    let ci95 = rate.ci95.map(|[low, high]| {
        [low.min(rate.value / (1.0 + share)), high.max(rate.value * (1.0 + share))]
    });
    Estimate { ci95, ..rate }
}

#[cfg(test)]
mod tests {
    use record::PlannedCell;

    use super::*;
    use crate::CellOutcome;

    fn cell_with(test: &str, range: f64, slope: f64) -> Cell {
        let planned = PlannedCell {
            id: format!("{test}/1"),
            test: test.into(),
            params: record::Params::default(),
            max_ns: 1,
            max_written_bytes: 0,
        };
        let mut cell = CellOutcome::new(&planned).cell;
        cell.metrics.iops = Some(Estimate { value: 100.0, ci95: Some([98.0, 103.0]), n: 1000 });
        cell.flags = vec![Flag::Drifting { range, slope }];
        mark_transient(&mut cell, false);
        cell
    }

    #[test]
    fn a_drift_by_half_gives_a_bound_and_a_smaller_one_a_wider_interval() {
        let ends = |cell: &Cell| cell.metrics.iops.unwrap().ci95;
        let fell = cell_with("random-write", 1.9, -1.5);
        assert_eq!((fell.transient(), ends(&fell)), (Some(Bound::AtMost), None));
        assert_eq!(cell_with("random-write", 0.6, 0.5).transient(), Some(Bound::AtLeast));
        let swayed = cell_with("random-write", 0.6, 0.1);
        assert_eq!(swayed.transient(), None);
        assert!(ends(&swayed).is_some_and(|[low, high]| low < 77.0 && high > 129.0), "{swayed:?}");
        assert_eq!(
            ends(&cell_with("prime", 1.9, -1.5)),
            Some([98.0, 103.0]),
            "its course is what it is for"
        );
    }
}
