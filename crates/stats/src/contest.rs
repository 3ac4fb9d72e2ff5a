//! The best of several groups of results, and the groups that are not clearly worse.

use crate::sample::mean;
use crate::{LargerRate, RatioEstimate, compare};

/// The rank of a group of results relative to the best group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContestRank {
    /// It has the best results.
    Best,
    /// It is worse, with 95 % confidence.
    Worse,
    /// It differs by less than 10 %, with 95 % confidence.
    Same,
    /// There are too few results, or they vary too much, to decide.
    Unclear,
}

/// A group in a contest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankedGroup {
    /// Index among the groups that were given.
    pub group: usize,
    /// The geometric mean of its results.
    pub centre: f64,
    /// Ratio of its results to those of the best group; `None` for the best group itself, and if
    /// one of the two has fewer than two results.
    pub to_best: Option<RatioEstimate>,
    /// Rank relative to the best group.
    pub rank: ContestRank,
}

/// Groups of results (rates or times, all positive), the best first; groups without results, or
/// with one that is not positive, are left out.
///
/// Each is held against the group with the best mean by [`compare`]. Which group that is depends on
/// the same results, so the interval of a close second is a little too narrow;
/// `a_contest_of_equals_seldom_has_a_winner` below says how often that misleads.
pub fn contest(groups: &[Vec<f64>], larger_is_better: bool) -> Vec<RankedGroup> {
    let usable = |group: &&(usize, &Vec<f64>)| {
        !group.1.is_empty() && group.1.iter().all(|value| *value > 0.0 && value.is_finite())
    };
    let groups: Vec<(usize, &Vec<f64>)> = groups.iter().enumerate().collect();
    let centre =
        |values: &[f64]| mean(&values.iter().map(|value| value.ln()).collect::<Vec<_>>()).exp();
    let mut places: Vec<(usize, &Vec<f64>, f64)> = groups
        .iter()
        .filter(usable)
        .map(|(group, values)| (*group, *values, centre(values)))
        .collect();
    places.sort_by(|a, b| if larger_is_better { b.2.total_cmp(&a.2) } else { a.2.total_cmp(&b.2) });
    let Some((_, best, _)) = places.first().copied() else { return Vec::new() };
    let place = |(at, (group, values, centre)): (usize, &(usize, &Vec<f64>, f64))| {
        let to_best = (at > 0).then(|| compare(values, best)).flatten();
        let rank = match (at, to_best.map(|comparison| comparison.judgement)) {
            (0, _) => ContestRank::Best,
            (_, Some(LargerRate::Larger | LargerRate::Smaller)) => ContestRank::Worse,
            (_, Some(LargerRate::Same)) => ContestRank::Same,
            (_, Some(LargerRate::Unclear) | None) => ContestRank::Unclear,
        };
        RankedGroup { group: *group, centre: *centre, to_best, rank }
    };
    places.iter().enumerate().map(place).collect()
}

/// True if more results are needed to decide which of the best two is better, or that they are the
/// same. Always false for a single group.
pub fn is_open(places: &[RankedGroup]) -> bool {
    places.get(1).is_some_and(|second| second.rank == ContestRank::Unclear)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn ranks(groups: &[Vec<f64>], larger: bool) -> Vec<(usize, ContestRank)> {
        contest(groups, larger).into_iter().map(|placed| (placed.group, placed.rank)).collect()
    }

    #[test]
    fn rates_and_times_are_ranked_their_own_way() {
        use ContestRank::{Best, Same, Worse};
        let slow = vec![100.0, 101.0, 99.0];
        let groups = [slow, vec![200.0, 202.0, 199.0], vec![198.0, 201.0, 200.5], vec![]];
        assert_eq!(ranks(&groups, true), [(1, Best), (2, Same), (0, Worse)]);
        assert_eq!(ranks(&groups, false), [(0, Best), (2, Worse), (1, Worse)]);
    }

    #[test]
    fn single_results_and_wide_ones_leave_it_open() {
        let open = |groups: &[Vec<f64>]| is_open(&contest(groups, true));
        assert!(open(&[vec![100.0], vec![50.0]]));
        assert!(open(&[vec![100.0, 180.0, 140.0], vec![90.0, 160.0, 120.0]]));
        assert!(!open(&[vec![100.0, 101.0, 99.0], vec![50.0, 51.0, 49.5]]));
        assert!(!open(&[vec![100.0, 101.0, 99.0], vec![100.5, 100.0, 99.5]]));
        assert!(!open(&[vec![100.0]]) && !open(&[]) && !open(&[vec![1.0, f64::NAN], vec![2.0]]));
    }

    /// Share of false winners among twenty equal groups with a spread of 5 %, tested after every
    /// repeat from the third to the tenth.
    #[test]
    fn a_contest_of_equals_seldom_has_a_winner() {
        let mut random = Random::new(5);
        let mut misled = 0;
        for _ in 0..200 {
            let mut groups = vec![Vec::new(); 20];
            for repeat in 1..=10 {
                groups.iter_mut().for_each(|group: &mut Vec<f64>| {
                    group.push(100.0 * (0.05 * random.normal()).exp())
                });
                let places = contest(&groups, true);
                if repeat >= 3 && !is_open(&places) {
                    misled += usize::from(places[1].rank == ContestRank::Worse);
                    break;
                }
            }
        }
        assert!(misled <= 10, "{misled} of 200");
    }
}
