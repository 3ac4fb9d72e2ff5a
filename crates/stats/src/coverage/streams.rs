use crate::random::Random;
use crate::student::upper_tail;

/// Distribution of the times of a stream. All times are in units of a fast event; shares are 0..1.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// Independent, log-normal with this sigma of the logarithm.
    Independent { sigma: f64 },
    /// Log-normal, the logarithm an AR(1) process with this lag-1 correlation.
    Autoregressive { sigma: f64, rho: f64 },
    /// One event in every `period` costs `slow`, at a random phase.
    Periodic { period: u64, slow: f64 },
    /// Each event independently costs `slow` with probability `share`; all jittered by log-normal
    /// `sigma`.
    Mixture { share: f64, slow: f64, sigma: f64 },
    /// Two states that last geometrically many events, `stay` on average; events cost 1 in one and
    /// `slow` in the other, jittered by log-normal `sigma`.
    TwoState { stay: f64, slow: f64, sigma: f64 },
}

/// A source of completion times whose long-run rate and quantiles are known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stream {
    /// Short name for tables.
    pub name: &'static str,
    kind: Kind,
}

/// The streams on which the intervals are tested.
pub const STREAMS: [Stream; 10] = [
    Stream { name: "independent, sigma 0.2", kind: Kind::Independent { sigma: 0.2 } },
    Stream { name: "independent, sigma 1", kind: Kind::Independent { sigma: 1.0 } },
    Stream { name: "autoregressive, rho 0.5", kind: Kind::Autoregressive { sigma: 0.3, rho: 0.5 } },
    Stream { name: "autoregressive, rho 0.9", kind: Kind::Autoregressive { sigma: 0.3, rho: 0.9 } },
    Stream { name: "1 of 100 costs 50", kind: Kind::Periodic { period: 100, slow: 50.0 } },
    Stream { name: "1 of 16 costs 10", kind: Kind::Periodic { period: 16, slow: 10.0 } },
    Stream { name: "a tenth costs 20", kind: Kind::Mixture { share: 0.1, slow: 20.0, sigma: 0.1 } },
    Stream { name: "half costs 30", kind: Kind::Mixture { share: 0.5, slow: 30.0, sigma: 0.2 } },
    Stream {
        name: "tail: 0.5 % cost 6",
        kind: Kind::Mixture { share: 0.005, slow: 6.0, sigma: 0.1 },
    },
    Stream { name: "two states of 50", kind: Kind::TwoState { stay: 50.0, slow: 3.0, sigma: 0.1 } },
];

/// Time of one fast event: 1 ms, in nanoseconds.
const UNIT_NS: f64 = 1e6;

impl Stream {
    /// The long-run mean time per event, exactly.
    pub fn mean_ns(&self) -> f64 {
        let jitter = |sigma: f64| (sigma * sigma / 2.0).exp();
        UNIT_NS
            * match self.kind {
                Kind::Independent { sigma } | Kind::Autoregressive { sigma, .. } => jitter(sigma),
                Kind::Periodic { period, slow } => (slow + (period - 1) as f64) / period as f64,
                Kind::Mixture { share, slow, sigma } => {
                    (share * slow + 1.0 - share) * jitter(sigma)
                }
                Kind::TwoState { slow, sigma, .. } => (1.0 + slow) / 2.0 * jitter(sigma),
            }
    }

    /// The long-run `q`-quantile of the time per event, by bisection of the distribution; where
    /// events take one of two exact times, one of these.
    pub fn quantile_ns(&self, q: f64) -> f64 {
        let (mut low, mut high) = (1e-6_f64.ln(), 1e6_f64.ln());
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if self.share_below(middle) < q { low = middle } else { high = middle }
        }
        (UNIT_NS * high.exp()).round()
    }

    /// The share of events that take at most exp(`ln_units`).
    fn share_below(&self, ln_units: f64) -> f64 {
        let jittered = |cost: f64, sigma: f64| normal_below((ln_units - cost.ln()) / sigma);
        let exact = |cost: f64| f64::from(u8::from(ln_units >= cost.ln()));
        match self.kind {
            Kind::Independent { sigma } | Kind::Autoregressive { sigma, .. } => {
                jittered(1.0, sigma)
            }
            Kind::Periodic { period, slow } => {
                exact(1.0) + (exact(slow) - exact(1.0)) / period as f64
            }
            Kind::Mixture { share, slow, sigma } => {
                (1.0 - share) * jittered(1.0, sigma) + share * jittered(slow, sigma)
            }
            Kind::TwoState { slow, sigma, .. } => {
                f64::midpoint(jittered(1.0, sigma), jittered(slow, sigma))
            }
        }
    }

    /// The stream from a stationary start; equal seeds give equal times.
    pub fn start(&self, seed: u64) -> StreamState {
        let mut random = Random::new(seed);
        random.bits();
        let state = match self.kind {
            Kind::Autoregressive { .. } => random.normal(),
            Kind::Periodic { period, .. } => random.below(period) as f64,
            Kind::TwoState { .. } => random.below(2) as f64,
            Kind::Independent { .. } | Kind::Mixture { .. } => 0.0,
        };
        StreamState { kind: self.kind, random, state }
    }
}

/// The normal distribution function, as the limit of Student's for many degrees of freedom (to
/// 1e-6).
fn normal_below(x: f64) -> f64 {
    let tail = upper_tail(x.abs(), 1e6);
    if x < 0.0 { tail } else { 1.0 - tail }
}

/// A running stream.
#[derive(Debug, Clone)]
pub struct StreamState {
    kind: Kind,
    random: Random,
    /// The normal deviate, the phase or the state, as the kind has it.
    state: f64,
}

impl StreamState {
    /// The time that the next event takes.
    pub fn next_ns(&mut self) -> u64 {
        let units = match self.kind {
            Kind::Independent { sigma } => self.jitter(sigma),
            Kind::Autoregressive { sigma, rho } => {
                let fresh = self.random.normal();
                self.state = rho * self.state + (1.0 - rho * rho).sqrt() * fresh;
                (sigma * self.state).exp()
            }
            Kind::Periodic { period, slow } => {
                self.state = (self.state + 1.0) % period as f64;
                if self.state == 0.0 { slow } else { 1.0 }
            }
            Kind::Mixture { share, slow, sigma } => {
                let cost = if self.random.unit() < share { slow } else { 1.0 };
                cost * self.jitter(sigma)
            }
            Kind::TwoState { stay, slow, sigma } => {
                if self.random.unit() < 1.0 / stay {
                    self.state = 1.0 - self.state;
                }
                let cost = if self.state == 0.0 { 1.0 } else { slow };
                cost * self.jitter(sigma)
            }
        };
        (units * UNIT_NS).round() as u64
    }

    fn jitter(&mut self, sigma: f64) -> f64 {
        (sigma * self.random.normal()).exp()
    }
}
