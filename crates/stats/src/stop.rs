use crate::{Drift, RateEstimator};

/// When a measurement has said enough (flash.md F3).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StopRule {
    /// Never stop before this much measured time.
    pub min_ns: u64,
    /// Never stop before this many events. What has not been seen cannot widen an interval: a slow event of which there is
    /// one in n is only to be expected in a run of 3 n events, so 30 is enough only where every event is of the slow kind.
    pub min_events: u64,
    /// Half-width of the 95 % interval of the rate, as a share of the rate, at which it is good enough.
    pub relative_half_width: f64,
    /// Stop after this much measured time, converged or not.
    pub max_ns: u64,
}

/// What a stop rule says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Go on measuring.
    Continue,
    /// The rate is known as well as was asked for.
    Converged,
    /// The time is used up first; the interval says how well the rate is known.
    TimeUp,
}

impl StopRule {
    /// Judges a measurement that has lasted `elapsed_ns`: converged when [`RateEstimator::knows_rate_to`] says so and
    /// `drift` (of the fifths of the run, [`crate::Windows::drift`]) is no more than the noise explains; `None` means that
    /// drift is not asked about. Costs some ten microseconds: call it each time the event count has grown by a twentieth or
    /// so, not after every event.
    pub fn judge(&self, elapsed_ns: u64, rate: &RateEstimator, drift: Option<Drift>) -> Verdict {
        if self.is_converged(elapsed_ns, rate, drift) {
            Verdict::Converged
        } else if elapsed_ns >= self.max_ns {
            Verdict::TimeUp
        } else {
            Verdict::Continue
        }
    }

    fn is_converged(&self, elapsed_ns: u64, rate: &RateEstimator, drift: Option<Drift>) -> bool {
        elapsed_ns >= self.min_ns
            && rate.events() >= self.min_events
            && rate.knows_rate_to(self.relative_half_width)
            && drift.is_none_or(|drift| drift.is_steady_within(self.relative_half_width))
    }
}
