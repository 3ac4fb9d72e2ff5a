//! Choice of the runs that are compared.

use std::collections::BTreeSet;

use stats::Random;

/// Runs of one side of a comparison with three.
const TRIPLE: usize = 3;
/// Most comparisons of triples that are drawn.
const DRAWN: usize = 20;
/// Draws without a new triple after which the search ends.
const DRAWS: usize = 2000;

/// Runs before and after, by their indices in their pools.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sides {
    pub before: Vec<usize>,
    pub after: Vec<usize>,
}

/// Pools from which the runs of the two sides are drawn.
#[derive(Clone, Copy, Debug)]
pub enum Pools {
    /// Both sides from one pool of this size.
    Same(usize),
    /// Before from a pool of the first size, after from one of the second.
    Two(usize, usize),
}

impl Pools {
    /// Every run before with every run after; never a run with itself.
    pub fn singles(self) -> Vec<Sides> {
        let (before, after, is_same) = match self {
            Pools::Same(runs) => (runs, runs, true),
            Pools::Two(before, after) => (before, after, false),
        };
        let pairs = (0..before).flat_map(|a| (0..after).map(move |b| (a, b)));
        let pairs = pairs.filter(|(a, b)| !is_same || a != b);
        pairs.map(|(a, b)| Sides { before: vec![a], after: vec![b] }).collect()
    }

    /// Up to twenty different draws of three runs a side, no run on both sides; the same for the
    /// same seed. Empty if there are too few runs.
    pub fn triples(self, seed: u64) -> Vec<Sides> {
        let mut random = Random::for_purpose(seed, "triples");
        let mut drawn = BTreeSet::new();
        for _ in 0..DRAWS {
            match self.draw(&mut random) {
                Some(sides) if drawn.len() < DRAWN => drop(drawn.insert(sides)),
                _ => break,
            }
        }
        drawn.into_iter().collect()
    }

    fn draw(self, random: &mut Random) -> Option<Sides> {
        match self {
            Pools::Same(runs) => {
                let of_both = some_of(runs, 2 * TRIPLE, random)?;
                let (before, after) = of_both.split_at(TRIPLE);
                Some(Sides { before: sorted(before), after: sorted(after) })
            }
            Pools::Two(before, after) => Some(Sides {
                before: sorted(&some_of(before, TRIPLE, random)?),
                after: sorted(&some_of(after, TRIPLE, random)?),
            }),
        }
    }
}

/// Draws `wanted` different indices of a pool, in random order; `None` if it has fewer.
fn some_of(pool: usize, wanted: usize, random: &mut Random) -> Option<Vec<usize>> {
    let mut all: Vec<usize> = (0..pool).collect();
    random.shuffle(&mut all);
    all.truncate(wanted);
    (all.len() == wanted).then_some(all)
}

fn sorted(runs: &[usize]) -> Vec<usize> {
    let mut runs = runs.to_vec();
    runs.sort_unstable();
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_run_meets_every_other_and_never_itself() {
        assert_eq!(Pools::Two(2, 3).singles().len(), 6);
        let same = Pools::Same(3).singles();
        assert_eq!(same.len(), 6);
        assert!(same.iter().all(|sides| sides.before != sides.after), "{same:?}");
    }

    #[test]
    fn triples_of_one_pool_share_no_run() {
        for runs in [6, 7, 20] {
            let drawn = Pools::Same(runs).triples(1);
            assert_eq!(drawn.len(), 20, "of {runs} runs");
            for Sides { before, after } in &drawn {
                let all: BTreeSet<usize> = before.iter().chain(after).copied().collect();
                assert_eq!(all.len(), 6, "{before:?} {after:?}");
                assert!(all.iter().all(|run| *run < runs));
            }
        }
    }

    #[test]
    fn triples_are_different_and_follow_the_seed() {
        let drawn = Pools::Two(6, 6).triples(1);
        assert_eq!(drawn.iter().collect::<BTreeSet<_>>().len(), 20);
        assert_eq!(drawn, Pools::Two(6, 6).triples(1));
        assert_ne!(drawn, Pools::Two(6, 6).triples(2));
    }

    #[test]
    fn a_small_pool_has_few_triples_or_none() {
        assert_eq!(Pools::Two(3, 3).triples(1).len(), 1);
        assert_eq!(Pools::Two(3, 4).triples(1).len(), 4);
        assert!(Pools::Two(2, 6).triples(1).is_empty());
        assert!(Pools::Same(5).triples(1).is_empty());
    }
}
