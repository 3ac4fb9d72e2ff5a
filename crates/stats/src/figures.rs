//! The figures of a cell, from its evidence: counts, times, latencies and rounds. The program that
//! measures makes them here, and a collection makes them again, so that no figure of a record has to
//! be believed.

use std::collections::BTreeMap;

use record::{Cell, Estimate, Flag, Histogram, Latency, MIN_ROUNDS, Round, metric};

use crate::{
    NORMAL, RareEvents, RoundRate, drift_between, median, of_repetition, quantile_ranks,
    repetition_half_width, smallest_sample,
};

/// Rare slow I/Os that are expected on any flash, seen or not: 0.5 % (docs/field/ftl.md#profiles,
/// "Jitter"), 5 times as long. The notes say 3 to 10 times; with this value, intervals are valid on
/// models of 3 to 6 times and of 3 to 10 times alike (docs/truth.md).
pub const TAIL_OF_FLASH: RareEvents = RareEvents { share: 0.005, excess: 4.0 };
/// Confidence of an interval that is wider than that of 95 % by the root of two, which holds 95 % of
/// repetitions.
const OF_REPETITION: f64 = 0.9944;
/// Factor by which an interval may extend beyond the rates of its rounds: the result is a mean of
/// them, so a wider interval is implausible.
const BEYOND: f64 = 1.5;
/// Least half-width on a real host, in the logarithm: what differs between runs that agree in
/// everything they see (docs/truth.md, "Repetitions on real machines").
pub const FLOOR: f64 = 0.02;

/// Latencies and percentiles; a percentile with too few samples is absent
/// (docs/field/statistics.md#percentiles).
pub fn latency(histogram: &Histogram, worst_ns: u64) -> Latency {
    let n = histogram.len();
    // A histogram knows its values to the width of a bucket.
    let quantile = |share: f64| histogram.quantile(share).min(worst_ns);
    let at = |share: f64| (n >= smallest_sample(share)).then(|| quantile(share));
    Latency {
        n,
        min: histogram.min(),
        mean: histogram.mean(),
        p50: at(0.50),
        p90: at(0.90),
        p95: at(0.95),
        p99: at(0.99),
        p99_9: at(0.999),
        max: worst_ns,
        ci95: BTreeMap::new(),
    }
}

/// Latencies of several stretches together. The interval of a percentile is that of a repetition,
/// from order statistics, and no narrower than `known`, which a single stretch showed.
pub fn latency_of_rounds(histogram: &Histogram, worst_ns: u64, known: Option<&Latency>) -> Latency {
    let mut all = Latency { ci95: percentile_ends(histogram), ..latency(histogram, worst_ns) };
    for (name, [low, high]) in known.into_iter().flat_map(|known| &known.ci95) {
        if let Some(ends) = all.ci95.get_mut(name) {
            *ends = [ends[0].min(*low), ends[1].max(*high)];
        }
    }
    all
}

/// 95 % intervals of percentiles of a repetition from order statistics, in nanoseconds.
fn percentile_ends(histogram: &Histogram) -> BTreeMap<String, [u64; 2]> {
    let ends = |share| {
        let (low, high) = quantile_ranks(histogram.len(), share, OF_REPETITION)?;
        Some([low, high].map(|rank| histogram.order_statistic(rank)))
    };
    let named = [("p50", 0.50), ("p99", 0.99)].into_iter();
    named.filter_map(|(name, share)| Some((name.to_owned(), ends(share)?))).collect()
}

/// I/Os a second: so many in so many nanoseconds.
pub fn per_second(ios: u64, busy_ns: u64) -> f64 {
    ios as f64 / (busy_ns as f64 / 1e9)
}

/// I/Os a second of a cell: all I/Os over all time, or less where deferred work was paid for. A round
/// that paid counts with the time that it would have taken at its rate.
pub fn rate(cell: &Cell) -> f64 {
    let of_rounds: f64 = cell.rounds.iter().map(|round| round.ops as f64 / round.iops).sum();
    let rate = cell.ops as f64 / of_rounds.max(cell.elapsed_ns as f64 / 1e9);
    let has_debt = cell.flags.iter().any(|flag| matches!(flag, Flag::Debt { .. }));
    let paid = cell.metrics.other.get(metric::PAID_IOPS);
    let paid = paid.filter(|_| has_debt && cell.rounds.is_empty());
    paid.map_or(rate, |paid| rate.min(paid.value))
}

/// Sets the rates of a cell from its counts, times and rounds, with the interval of a repetition;
/// true if the rounds suffice for one. Otherwise the interval stays as far from the rate as it is.
pub fn set_rates(cell: &mut Cell) -> bool {
    let value = rate(cell);
    let ends = interval_of_rounds(cell, value);
    let Some(iops) = &mut cell.metrics.iops else { return false };
    // Two rounds tell less than the one stretch that the cell began with.
    let kept = iops.ci95.map(|ends| ends.map(|end| value * (end / iops.value)));
    (iops.value, iops.n) = (value, cell.ops);
    if let Some(bps) = &mut cell.metrics.bps {
        (bps.value, bps.n) = (value * cell.bytes as f64 / cell.ops as f64, cell.ops);
    }
    if let Some(ends) = ends.or(kept) {
        set_interval(cell, ends);
    }
    ends.is_some()
}

/// The interval of a repetition that the rounds of a cell show around its rate, in I/Os a second;
/// `None` of fewer than three.
fn interval_of_rounds(cell: &Cell, value: f64) -> Option<[f64; 2]> {
    let rates = round_rates(cell);
    let half = repetition_half_width(&rates)?;
    let each = || rates.iter().map(|round| round.rate);
    let (slowest, fastest) = (each().fold(f64::INFINITY, f64::min), each().fold(0.0, f64::max));
    let low = (value * (-half).exp()).max(slowest / BEYOND);
    Some([low * (-unseen(cell, value)).exp(), (value * half.exp()).min(fastest * BEYOND)])
}

/// Possible slowdown of the next run by rare slow I/Os that were not seen, in the logarithm.
fn unseen(cell: &Cell, iops: f64) -> f64 {
    let longest_ns = cell.metrics.latency_ns.as_ref().map_or(0, |latency| latency.max) as f64;
    let typical_ns = 1e9 / iops * f64::from(cell.params.threads.max(1));
    TAIL_OF_FLASH.unseen(longest_ns, typical_ns, RareEvents::MISSED / cell.ops.max(1) as f64)
}

/// The rates of the cell's rounds.
pub fn round_rates(cell: &Cell) -> Vec<RoundRate> {
    let rate = |round: &Round| RoundRate {
        rate: round.iops,
        length: round.elapsed_ns as f64,
        half_width: round.half_width,
    };
    cell.rounds.iter().map(rate).collect()
}

/// Drift of a host during a run, in the logarithm of a rate, as the rounds of its cells show it;
/// `None` if no cell has rounds.
pub fn drift_of_run(cells: &[Cell]) -> Option<f64> {
    let of_each = cells.iter().filter_map(|cell| drift_between(&round_rates(cell)));
    median(&mut of_each.collect::<Vec<_>>())
}

/// Distances from the rate of a cell to the ends of its interval, slow and fast, in the logarithm,
/// with the drift of the host; `of_run` is that of the other cells. `None` without an interval.
///
/// Rounds within a minute share what changes from one minute to the next, so their number does not
/// reduce the drift: it is added whole.
pub fn distances_on_a_host(cell: &Cell, of_run: Option<f64>) -> Option<[f64; 2]> {
    let Estimate { value, ci95, .. } = cell.metrics.iops?;
    let drifts = [drift_between(&round_rates(cell)), of_run].into_iter().flatten();
    let drifted = of_repetition(NORMAL * drifts.fold(0.0, f64::max));
    let is_once = cell.rounds.len() < MIN_ROUNDS;
    let with_drift = |far: f64| if is_once { far.hypot(drifted) } else { far.max(drifted) };
    Some(ci95?.map(|end| (end / value).ln().abs()).map(|far| with_drift(far).max(FLOOR)))
}

/// Sets the interval of the rate, and of the figures that are made from it.
pub fn set_interval(cell: &mut Cell, ends: [f64; 2]) {
    let metrics = &mut cell.metrics;
    let Some(iops) = &mut metrics.iops else { return };
    iops.ci95 = Some(ends);
    if let Some(bps) = metrics.bps.as_mut().filter(|bps| bps.ci95.is_some()) {
        bps.ci95 = Some(ends.map(|end| end / iops.value * bps.value));
    }
    if let Some(known) = metrics.other.get_mut(metric::ACCESS_TIME_NS) {
        *known = inverse(1e9, *iops);
    }
}

/// `unit` over a rate: the time of one I/O in nanoseconds is `inverse(1e9, iops)`. The ends of the
/// interval are exchanged. A rate that may be 0 has no upper bound for its inverse: then there is
/// no interval. The rate itself must not be 0.
pub fn inverse(unit: f64, rate: Estimate) -> Estimate {
    let ci95 = rate.ci95.filter(|[low, _]| *low > 0.0).map(|[low, high]| [unit / high, unit / low]);
    Estimate { value: unit / rate.value, ci95, n: rate.n }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inverse_turns_the_interval_round() {
        let of = |low| inverse(1e3, Estimate { value: 4.0, ci95: Some([low, 5.0]), n: 7 });
        assert_eq!(of(2.0), Estimate { value: 250.0, ci95: Some([200.0, 500.0]), n: 7 });
        assert_eq!(of(0.0).ci95, None);
    }
}
