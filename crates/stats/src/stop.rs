use crate::{Drift, RateEstimator};

/// The rule that ends a measurement (docs/field/statistics.md#stop-rule).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StopRule {
    /// Never stop before this much measured time.
    pub min_ns: u64,
    /// Never stop before this many events. Events that have not been seen cannot widen an interval:
    /// a slow event of which there is one in n can only be expected in a run of 3 n events, so 30
    /// is enough only if every event is of the slow kind.
    pub min_events: u64,
    /// Half-width of the 95 % interval of the rate, as a share of the rate, at which the rate is
    /// known well enough.
    pub relative_half_width: f64,
    /// Stop after this much measured time, converged or not.
    pub max_ns: u64,
}

/// Decision of a stop rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopVerdict {
    /// The rate is not known well enough yet: go on measuring.
    Continue,
    /// The rate is known as well as was asked for.
    Converged,
    /// The time limit was reached first; the interval shows how well the rate is known.
    TimeUp,
}

impl StopRule {
    /// Judges a measurement that has lasted `elapsed_ns`: converged when
    /// [`RateEstimator::knows_rate_to`] holds and `drift` (of the fifths of the run,
    /// [`crate::Windows::drift`]) is no more than the noise explains; `None` means that drift is
    /// not tested. Takes some ten microseconds: call it each time the event count has grown by a
    /// twentieth or so, not after every event.
    pub fn judge(
        &self,
        elapsed_ns: u64,
        rate: &RateEstimator,
        drift: Option<Drift>,
    ) -> StopVerdict {
        if self.is_converged(elapsed_ns, rate, drift) {
            StopVerdict::Converged
        } else if elapsed_ns >= self.max_ns {
            StopVerdict::TimeUp
        } else {
            StopVerdict::Continue
        }
    }

    fn is_converged(&self, elapsed_ns: u64, rate: &RateEstimator, drift: Option<Drift>) -> bool {
        elapsed_ns >= self.min_ns
            && rate.events() >= self.min_events
            && rate.knows_rate_to(self.relative_half_width)
            && drift.is_none_or(|drift| drift.is_steady_within(self.relative_half_width))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: StopRule =
        StopRule { min_ns: 1000, min_events: 40, relative_half_width: 0.05, max_ns: 100_000 };

    /// `events` that alternate between 100 - `swing` and 100 + `swing` ns.
    fn alternating(events: u64, swing: u64) -> RateEstimator {
        let mut rate = RateEstimator::new();
        (0..events).for_each(|n| rate.push(100 - swing + 2 * swing * (n % 2)));
        rate
    }

    #[test]
    fn every_condition_has_to_hold() {
        let steady = Some(Drift { range: 0.0, slope: 0.0 });
        let falling = Some(Drift { range: 0.9, slope: -0.9 });
        assert_eq!(RULE.judge(5000, &alternating(50, 1), steady), StopVerdict::Converged);
        assert_eq!(RULE.judge(5000, &alternating(50, 1), None), StopVerdict::Converged);
        assert_eq!(RULE.judge(5000, &alternating(41, 99), steady), StopVerdict::Continue);
        assert_eq!(RULE.judge(5000, &alternating(50, 1), falling), StopVerdict::Continue);
    }

    #[test]
    fn each_condition_holds_from_its_limit_on() {
        let at = |elapsed_ns, events| RULE.judge(elapsed_ns, &alternating(events, 1), None);
        assert_eq!([at(999, 50), at(1000, 50)], [StopVerdict::Continue, StopVerdict::Converged]);
        assert_eq!([at(5000, 39), at(5000, 40)], [StopVerdict::Continue, StopVerdict::Converged]);
        let unsure = |elapsed_ns| RULE.judge(elapsed_ns, &alternating(41, 99), None);
        assert_eq!([unsure(99_999), unsure(100_000)], [StopVerdict::Continue, StopVerdict::TimeUp]);
        assert_eq!(RULE.judge(100_000, &RateEstimator::new(), None), StopVerdict::TimeUp);
        assert_eq!(at(100_000, 50), StopVerdict::Converged);
        let rate = alternating(41, 60);
        let known_to = (1..400)
            .find(|thousandth| rate.knows_rate_to(f64::from(*thousandth) / 1000.0))
            .expect("it is known to something");
        let judged = |thousandths: i32| {
            let rule = StopRule { relative_half_width: f64::from(thousandths) / 1000.0, ..RULE };
            rule.judge(5000, &rate, None)
        };
        let found = [known_to - 1, known_to].map(judged);
        assert_eq!(found, [StopVerdict::Continue, StopVerdict::Converged]);
    }

    #[test]
    fn a_narrow_interval_after_a_wide_first_half_is_not_believed() {
        let mut rate = alternating(40, 99);
        (0..4000).for_each(|_| rate.push(100));
        let narrow = rate.estimate().expect("an estimate").relative_half_width();
        assert!(narrow <= 0.05, "{narrow}");
        assert!(rate.knows_rate_to(0.05), "the first half is mostly quiet by now");
        let mut uneven = RateEstimator::new();
        (0..60).for_each(|n| uneven.push(100 + 60 * (n % 2) + 3 * n));
        (0..67).for_each(|_| uneven.push(250));
        let whole = uneven.estimate().expect("an estimate").relative_half_width();
        assert!(!uneven.knows_rate_to(whole * 0.99));
    }
}
