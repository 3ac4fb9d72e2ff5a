//! Consistency of rates with counts, times, histograms and curves.

use std::fmt;

use record::{CHECKPOINT_COMMITS, Cell, CountUnit, Estimate, Histogram, SeriesAxis, metric};

use super::Rejection;
use super::range::contradiction;

/// Largest ratio between a rate and the number of I/Os divided by their time: a cell sums up
/// several stretches, its figure may be that of the last one. In 8000 cells of 134 runs it was 3 %
/// at most.
const RATE_SLACK: f64 = 1.1;
/// Divisor for the shortest final part of a cell's time that has a rate of its own. Flashmark uses
/// the last quarter, less one window of a curve.
const PART: f64 = 50.0;
/// Least number of points with which a curve bounds the rates of its parts. A packed record has
/// every second point, every fourth and so on, down to 9, and dips may be missing between these. Of
/// 64 points, a quarter of the time has 16.
const MANY_POINTS: usize = 64;

/// Rejects rates that do not match the counted operations and bytes, and their time. I/Os also
/// count without an entry in the histogram, because of host stalls; other operations count only
/// with one. A rate over any other number of samples is wrong.
pub(super) fn check(place: impl fmt::Display, cell: &Cell) -> Result<(), Rejection> {
    let timed = cell.histogram.as_ref().map_or(cell.ops, Histogram::len);
    let counted = if cell.count_unit() == CountUnit::Ios { cell.ops } else { timed };
    for (name, rate, amount) in
        [(metric::IOPS, cell.metrics.iops, counted), (metric::BPS, cell.metrics.bps, cell.bytes)]
    {
        let Some(rate) = rate else { continue };
        let at = format!("{place}.metrics.{name}");
        let each = if name == metric::BPS { cell.bytes as f64 / cell.ops as f64 } else { 1.0 };
        check_rate(&at, rate, amount, cell.elapsed_ns, lowest_iops(cell) * each)?;
        // In other cells a rate may be that of the I/Os with a latency.
        if rate.n != timed {
            rests_on(&at, rate, counted)?;
        }
    }
    Ok(())
}

/// Lowest of the rates that a cell's figure may be made of, in I/Os per second: those of its rounds,
/// and the one that pays for deferred work, whose time is not in the cell's.
fn lowest_iops(cell: &Cell) -> f64 {
    let paid = cell.metrics.other.get(metric::PAID_IOPS).map(|paid| paid.value);
    cell.rounds.iter().map(|round| round.iops).chain(paid).fold(f64::INFINITY, f64::min)
}

/// Rejects a rate other than `amount` divided by the time; down to `lowest` it may be less.
fn check_rate(
    at: &str,
    rate: Estimate,
    amount: u64,
    elapsed_ns: u64,
    lowest: f64,
) -> Result<(), Rejection> {
    if amount == 0 || elapsed_ns == 0 {
        return Err(contradiction(at, "a rate where nothing was done, or in no time"));
    }
    let seconds = elapsed_ns as f64 / 1e9;
    let expected = amount as f64 / seconds;
    if is_within(rate.value, expected.min(lowest), expected) {
        return Ok(());
    }
    Err(contradiction(
        at,
        format_args!("{:?}, but {amount} in {seconds:?} s are {expected:?} a second", rate.value),
    ))
}

fn rests_on(at: &str, rate: Estimate, counted: u64) -> Result<(), Rejection> {
    if rate.n == counted {
        return Ok(());
    }
    Err(contradiction(at, format_args!("it rests on {} of {counted}", rate.n)))
}

fn is_within(value: f64, low: f64, high: f64) -> bool {
    value <= high * RATE_SLACK && value * RATE_SLACK >= low
}

/// Rejects commits per second that do not match the commit times. They may be lower by each
/// commit's share of one checkpoint: it is in the time of the cell, but in no commit.
pub(super) fn check_commits(place: impl fmt::Display, cell: &Cell) -> Result<(), Rejection> {
    let Some(rate) = cell.metrics.iops else { return Ok(()) };
    let at = format!("{place}.metrics.{}", metric::IOPS);
    let Some(histogram) = cell.histogram.as_ref().filter(|histogram| !histogram.is_empty()) else {
        return Err(contradiction(at, "commits a second without the times of commits"));
    };
    let counted = histogram.len();
    rests_on(&at, rate, counted)?;
    let mean_ns = histogram.mean();
    let commits_ns = mean_ns * counted as f64;
    let checkpoint_ns = (cell.elapsed_ns as f64 - commits_ns).max(0.0);
    let most = 1e9 / mean_ns;
    let least = 1e9 / (mean_ns + checkpoint_ns / counted.min(CHECKPOINT_COMMITS) as f64);
    if commits_ns > cell.elapsed_ns as f64 * RATE_SLACK {
        let what = format!("commits of {commits_ns:.0} ns in {} ns", cell.elapsed_ns);
        return Err(contradiction(at, what));
    }
    if is_within(rate.value, least, most) {
        return Ok(());
    }
    Err(contradiction(
        at,
        format_args!("{:?}, but their times come to {least:?} to {most:?} a second", rate.value),
    ))
}

/// Rejects a final rate outside the range of its slowest and its fastest I/Os in succession, or
/// outside that of the cell's curve.
pub(super) fn check_sustained(place: impl fmt::Display, cell: &Cell) -> Result<(), Rejection> {
    let Some(rate) = cell.metrics.other.get(metric::SUSTAINED_BPS) else { return Ok(()) };
    let at = format!("{place}.metrics.{}", metric::SUSTAINED_BPS);
    let Some(of_ios) = rates_of_a_part(cell) else {
        return Err(contradiction(at, "a rate without I/Os that it is made of"));
    };
    let bounds = [("its I/Os come to", Some(of_ios)), ("its curve has", ends_of_curve(cell))];
    for (what, bound) in bounds {
        let Some([low, high]) = bound else { continue };
        if !is_within(rate.value, low, high) {
            let what = format!("{:?}, but {what} {low:?} to {high:?}", rate.value);
            return Err(contradiction(at, what));
        }
    }
    Ok(())
}

/// Bytes per second of the slowest and of the fastest I/Os that together fill a part of the time.
fn rates_of_a_part(cell: &Cell) -> Option<[f64; 2]> {
    let buckets: Vec<(u64, u64)> = cell.histogram.as_ref()?.buckets().collect();
    let all_ns: f64 = buckets.iter().map(|(ns, count)| *ns as f64 * *count as f64).sum();
    let under_way = f64::from(cell.params.queue_depth) * f64::from(cell.params.threads);
    let io_bytes = cell.bytes as f64 / cell.ops as f64;
    let rate = |buckets: &mut dyn Iterator<Item = &(u64, u64)>| {
        let (mut ios, mut took_ns) = (0.0, 0.0);
        for (ns, count) in buckets {
            let left = ((all_ns / PART - took_ns) / *ns as f64).ceil().clamp(0.0, *count as f64);
            ios += left;
            took_ns += left * *ns as f64;
        }
        ios * io_bytes * under_way * 1e9 / took_ns
    };
    let rates = [rate(&mut buckets.iter().rev()), rate(&mut buckets.iter())];
    rates.iter().all(|rate| rate.is_finite()).then_some(rates)
}

/// Lowest and highest rate over the time of a cell, if its curve has many points.
fn ends_of_curve(cell: &Cell) -> Option<[f64; 2]> {
    let is_over_time = |x: SeriesAxis| {
        matches!(x, SeriesAxis::ElapsedNs | SeriesAxis::Bytes | SeriesAxis::OffsetBytes)
    };
    let curve = cell.series.iter().find(|curve| {
        curve.y == SeriesAxis::Bps && is_over_time(curve.x) && curve.points.len() >= MANY_POINTS
    })?;
    let rates = || curve.points.iter().map(|[_, bps]| *bps);
    Some([rates().fold(f64::INFINITY, f64::min), rates().fold(0.0, f64::max)])
}
