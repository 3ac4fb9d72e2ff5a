use crate::{Drift, drift, drift::ROUNDS, sample::mean};

/// SNIA's search for steady state, one round after the other
/// (docs/field/snia-and-uflip.md#snia-pts): reached when five consecutive rounds are within 20 % of
/// their mean and their least-squares line rises or falls by at most 10 %.
#[derive(Debug, Clone, PartialEq)]
pub struct SteadyState {
    rounds: Vec<f64>,
    most_rounds: usize,
}

/// State of a search for steady state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rounds {
    /// Another round is wanted.
    Seeking,
    /// Steady over the five rounds from `first` (0-based) on, whose mean is `mean`.
    Reached {
        /// The first of the five rounds, counted from 0.
        first: usize,
        /// The mean of the five.
        mean: f64,
        /// Range and slope of the five.
        drift: Drift,
    },
    /// The most rounds allowed were done without reaching steady state.
    NotReached,
}

impl SteadyState {
    /// A search that gives up after `most_rounds` (SNIA: 25).
    pub fn new(most_rounds: usize) -> Self {
        SteadyState { rounds: Vec::new(), most_rounds }
    }

    /// Adds the tracked value of the next round and returns the state of the search. Ignores rounds
    /// after steady state was reached.
    pub fn push(&mut self, value: f64) -> Rounds {
        if !matches!(self.state(), Rounds::Reached { .. }) {
            self.rounds.push(value);
        }
        self.state()
    }

    /// State of the search.
    pub fn state(&self) -> Rounds {
        match (self.rounds.last_chunk::<ROUNDS>(), drift(&self.rounds)) {
            (Some(last), Some(drift)) if drift.is_steady() => {
                Rounds::Reached { first: self.rounds.len() - ROUNDS, mean: mean(last), drift }
            }
            _ if self.rounds.len() >= self.most_rounds => Rounds::NotReached,
            _ => Rounds::Seeking,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rounds: &[f64], expected: Rounds) {
        let mut search = SteadyState::new(8);
        let last = rounds.iter().map(|&r| search.push(r)).last();
        assert_eq!(last, Some(expected), "{rounds:?}");
    }

    #[test]
    fn five_equal_rounds_are_steady() {
        let drift = Drift { range: 0.0, slope: 0.0 };
        check(&[100.0; 4], Rounds::Seeking);
        check(&[100.0; 5], Rounds::Reached { first: 0, mean: 100.0, drift });
    }

    #[test]
    fn a_burst_before_does_not_count() {
        let drift = Drift { range: 0.0, slope: 0.0 };
        check(
            &[900.0, 500.0, 100.0, 100.0, 100.0, 100.0, 100.0],
            Rounds::Reached { first: 2, mean: 100.0, drift },
        );
    }

    #[test]
    fn what_keeps_falling_is_never_steady() {
        let falling: Vec<f64> = (0..8).map(|n| 0.8_f64.powi(n)).collect();
        check(&falling, Rounds::NotReached);
    }
}
