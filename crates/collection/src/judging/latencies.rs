//! Consistency of a cell's latencies with each other and with their histogram.

use std::fmt;

use record::limits::MAX_NS;
use record::{Cell, CountUnit, Histogram, Latency};

use super::Rejection;
use super::range::{MAX_OPS, contradiction, within};

/// Relative tolerance for the three digits of a histogram and the resolution of the clock.
const DIGITS: f64 = 0.002;
/// Relative tolerance for other tools: they use coarser buckets (fio: 1.6 %), and take percentiles
/// and extremes from another clock than the histogram.
const COARSE: f64 = 0.05;
/// Longest latency of a histogram, an hour: longer ones are counted as this.
const CEILING_NS: u64 = 3_600_000_000_000;

/// Number of I/Os that may be missing because of a host stall, however few there are in all.
const FEW_OF_THE_HOST: u64 = 16;

/// The percentiles of a record, each with its name and share.
fn percentiles(latency: &Latency) -> [(&'static str, f64, Option<u64>); 5] {
    [
        ("p50", 0.50, latency.p50),
        ("p90", 0.90, latency.p90),
        ("p95", 0.95, latency.p95),
        ("p99", 0.99, latency.p99),
        ("p99_9", 0.999, latency.p99_9),
    ]
}

/// Rejects latencies of a cell that cannot be true.
pub(super) fn check(place: impl fmt::Display, cell: &Cell) -> Result<(), Rejection> {
    let place = format!("{place}.metrics.latency_ns");
    if let Some(latency) = &cell.metrics.latency_ns {
        check_order(&place, latency)?;
    }
    let Some(histogram) = &cell.histogram else { return Ok(()) };
    let is_plausible = match cell.count_unit() {
        CountUnit::Ios => {
            (histogram.len()..=histogram.len() + of_the_host(cell, histogram)).contains(&cell.ops)
        }
        // Each of these takes at least one I/O.
        CountUnit::Commits | CountUnit::Lines => histogram.len() <= cell.ops,
    };
    if !is_plausible {
        let what =
            format!("the histogram has {} entries, the cell {} I/Os", histogram.len(), cell.ops);
        return Err(contradiction(place, what));
    }
    match &cell.metrics.latency_ns {
        // The latencies of a part of the I/Os need not equal those of all.
        Some(latency) if latency.n == histogram.len() && latency.n > 0 => {
            check_against(&place, latency, histogram, slack(cell))
        }
        Some(latency) if latency.n > histogram.len() => Err(contradiction(
            place,
            format_args!("{} latencies, {} in the histogram", latency.n, histogram.len()),
        )),
        _ => Ok(()),
    }
}

/// I/Os in flight during a host stall: they count, but have no latency. At most [`FEW_OF_THE_HOST`]
/// or a tenth of all, so that a sender cannot claim any number.
fn of_the_host(cell: &Cell, histogram: &Histogram) -> u64 {
    let claimed = cell.host_state.as_ref().map_or(0, |host_state| host_state.left_out);
    claimed.min((histogram.len() / 10).max(FEW_OF_THE_HOST))
}

/// Relative tolerance of a cell; larger if another tool measured it.
fn slack(cell: &Cell) -> f64 {
    if cell.labels.contains_key("tool") { COARSE } else { DIGITS }
}

/// Rejects percentiles that are not in ascending order.
fn check_order(place: &str, latency: &Latency) -> Result<(), Rejection> {
    within(format_args!("{place}.n"), latency.n as f64, 0.0, MAX_OPS)?;
    within(format_args!("{place}.max"), latency.max as f64, 0.0, MAX_NS)?;
    within(format_args!("{place}.mean"), latency.mean, 0.0, MAX_NS)?;
    let known =
        percentiles(latency).into_iter().filter_map(|(name, _, value)| Some((name, value?)));
    let ascending = [("min", latency.min)].into_iter().chain(known).chain([("max", latency.max)]);
    let mut last = ("min", latency.min);
    for (name, value) in ascending {
        if !is_near_or_above(value as f64, last.1 as f64, DIGITS) {
            return Err(contradiction(
                place,
                format_args!("{name} is {value} ns, {} is {} ns", last.0, last.1),
            ));
        }
        last = (name, value);
    }
    let (mean, min, max) = (latency.mean, latency.min as f64, latency.max as f64);
    if !is_near_or_above(mean, min, DIGITS) || !is_near_or_above(max, mean, DIGITS) {
        return Err(contradiction(
            place,
            format_args!("a mean of {mean:?} ns lies outside {min:?} to {max:?} ns"),
        ));
    }
    check_intervals(place, latency)
}

fn check_intervals(place: &str, latency: &Latency) -> Result<(), Rejection> {
    for (name, [low, high]) in &latency.ci95 {
        if !percentiles(latency).iter().any(|(known, ..)| known == name) {
            return Err(contradiction(
                format_args!("{place}.ci95"),
                format_args!("there is no percentile '{name}'"),
            ));
        }
        within(format_args!("{place}.ci95.{name}"), *high as f64, *low as f64, MAX_NS)?;
    }
    Ok(())
}

fn check_against(
    place: &str,
    latency: &Latency,
    histogram: &Histogram,
    slack: f64,
) -> Result<(), Rejection> {
    let off = |name: &str, stated: f64, counted: f64| {
        Err(contradiction(
            place,
            format_args!("{name} is {stated:?} ns, and {counted:?} ns by the histogram"),
        ))
    };
    // A histogram has 33,000 buckets, nearly all of them empty: one pass over them.
    let buckets: Vec<(u64, u64)> = histogram.buckets().collect();
    let is_capped = latency.max >= CEILING_NS;
    let (min, max) = (histogram.min(), histogram.max());
    if !is_near(latency.min.max(1) as f64, min as f64, slack) {
        return off("min", latency.min as f64, min as f64);
    }
    if !is_capped && !is_near(latency.max as f64, max as f64, slack) {
        return off("max", latency.max as f64, max as f64);
    }
    let mean = buckets.iter().map(|(ns, n)| *ns as f64 * *n as f64).sum::<f64>() / latency.n as f64;
    if !is_capped && !is_near(latency.mean, mean, slack) {
        return off("mean", latency.mean, mean);
    }
    for (name, share, stated) in percentiles(latency) {
        let Some(stated) = stated.map(|ns| ns as f64) else { continue };
        // Tools choose differently between the two neighbours of a percentile.
        let rank = (share * latency.n as f64).ceil() as u64;
        let [low, high] = [rank.saturating_sub(1), rank.saturating_add(1)]
            .map(|rank| at_rank(&buckets, rank) as f64);
        if !is_near_or_above(stated, low, slack) || !is_near_or_above(high, stated, slack) {
            return off(name, stated, at_rank(&buckets, rank) as f64);
        }
    }
    Ok(())
}

/// The sample with a rank, counted from 1.
fn at_rank(buckets: &[(u64, u64)], rank: u64) -> u64 {
    let mut seen = 0u64;
    let reached = buckets.iter().find(|(_, n)| {
        seen = seen.saturating_add(*n);
        seen >= rank
    });
    reached.or(buckets.last()).map_or(0, |(ns, _)| *ns)
}

/// True if two times (ns) are equal within the relative tolerance and two nanoseconds.
fn is_near(a: f64, b: f64, slack: f64) -> bool {
    is_near_or_above(a, b, slack) && is_near_or_above(b, a, slack)
}

/// True if the value is not below `floor` by more than that tolerance.
fn is_near_or_above(value: f64, floor: f64, slack: f64) -> bool {
    value >= floor - floor.abs() * slack - 2.0
}
