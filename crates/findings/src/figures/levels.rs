//! Levels of a curve: stretches with a constant rate, and falls between them.

use record::units::MIB;
use record::{Cell, Record, Series, SeriesAxis, test};

use crate::figures::figure;

/// A fast beginning followed by lower levels.
pub(crate) struct Cliff {
    /// Position along the first axis, from the beginning of the series.
    pub at: f64,
    /// Level of each stretch: (end, rate).
    pub levels: Vec<(f64, f64)>,
}

/// Least ratio of two levels; neighbouring stretches that differ by less are one level
/// (docs/field/statistics.md#change-points).
const STEP: f64 = 1.25;

/// Points of a curve with finite coordinates and a value above 0.
pub(crate) fn known_points(series: &Series) -> Vec<[f64; 2]> {
    let is_known = |[x, y]: &[f64; 2]| x.is_finite() && y.is_finite() && *y > 0.0;
    series.points.iter().copied().filter(is_known).collect()
}

/// Levels of a rate along the first axis: (end, rate). Change points cut it into stretches of at
/// least 8 windows; those that differ by less than 25 % are joined, the closest first, until all
/// neighbours differ. Empty with less than 16 or more than 1024 windows.
pub(crate) fn levels(series: &Series) -> Vec<(f64, f64)> {
    let points = known_points(series);
    if !(16..=1024).contains(&points.len()) {
        return Vec::new();
    }
    let rates = without_outliers(&points);
    // (index after the last window, windows, mean logarithm)
    let mut stretches: Vec<(usize, f64, f64)> = stats::change_points(&rates)
        .iter()
        .map(|s| (s.to, (s.to - s.from) as f64, s.mean.ln()))
        .collect();
    let gap = |pair: &[(usize, f64, f64)]| (pair[1].2 - pair[0].2).abs();
    while let Some(at) = (0..stretches.len().saturating_sub(1))
        .min_by(|a, b| gap(&stretches[*a..*a + 2]).total_cmp(&gap(&stretches[*b..*b + 2])))
    {
        if gap(&stretches[at..at + 2]) >= STEP.ln() {
            break;
        }
        let (to, n, log) = stretches.remove(at + 1);
        let first = stretches[at];
        stretches[at] = (to, first.1 + n, (first.1 * first.2 + n * log) / (first.1 + n));
    }
    stretches.into_iter().map(|(to, _, log)| (points[to - 1][0], log.exp())).collect()
}

/// Rates, each replaced by the median of itself and its neighbours: a single slow write makes a
/// short window slow, but is not a level.
fn without_outliers(points: &[[f64; 2]]) -> Vec<f64> {
    let at = |index: usize| points[index.min(points.len() - 1)][1];
    (0..points.len())
        .map(|index| {
            let (a, b, c) = (at(index.saturating_sub(1)), at(index), at(index + 1));
            a.max(b).min(a.min(b).max(c))
        })
        .collect()
}

/// The cliffs of a rate that falls from level to level and never rises. `origin` is the start of
/// the first axis.
pub(crate) fn cliff(series: &Series, origin: f64) -> Option<Cliff> {
    let mut cliff = first_fall(series, origin)?;
    cliff.levels = without_short_last_level(without_dips(cliff.levels));
    cliff.at = cliff.levels[0].0;
    (cliff.levels.len() > 1 && cliff.levels.windows(2).all(|pair| pair[1].1 < pair[0].1))
        .then_some(cliff)
}

/// Longest dip as a share of the whole: a shorter stretch that is slower than both neighbours is a
/// pause of host or medium, not a level.
pub(crate) const DIP: f64 = 0.1;

/// Levels without dips; equal levels on both sides of a dip are joined.
pub(crate) fn without_dips(mut levels: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let whole = levels.last().map_or(0.0, |level| level.0);
    let is_dip = |levels: &[(f64, f64)], at: usize| {
        let [before, here, after] = [levels[at - 1], levels[at], levels[at + 1]];
        here.1 < before.1.min(after.1) && here.0 - before.0 <= DIP * whole
    };
    while let Some(at) = (1..levels.len().saturating_sub(1)).find(|at| is_dip(&levels, *at)) {
        levels.remove(at);
        let (before, after) = (levels[at - 1].1, levels[at].1);
        if (before / after).max(after / before) < STEP {
            levels.remove(at - 1);
        }
    }
    levels
}

/// Levels without a last one that is no longer than a dip: a pause cut off by the end is not the
/// lasting rate.
fn without_short_last_level(mut levels: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    if let [.., before, last] = levels.as_slice()
        && last.0 - before.0 <= DIP * last.0
    {
        levels.pop();
    }
    levels
}

/// Levels of a rate whose first change is a fall, whatever comes later.
pub(crate) fn first_fall(series: &Series, origin: f64) -> Option<Cliff> {
    let levels: Vec<(f64, f64)> =
        levels(series).into_iter().map(|(end, rate)| (end - origin, rate)).collect();
    let falls = levels.len() > 1 && levels[1].1 < levels[0].1;
    // At least eight windows must be fast: the first stretch cannot be shorter, and its mean would
    // hide a few.
    let middle = |levels: &[(f64, f64)]| (levels[0].1 * levels[1].1).sqrt();
    let fast = |levels: &[(f64, f64)]| {
        series
            .points
            .iter()
            .filter(|[x, y]| x - origin <= levels[0].0 && *y > middle(levels))
            .count()
    };
    (falls && fast(&levels) >= 8).then(|| Cliff { at: levels[0].0, levels })
}

pub(crate) const COARSENESSES: usize = 3;

/// Windows that show the rate after the beginning.
const AFTERWARDS: usize = 8;

/// The curve without its beginning, if that is faster than the part directly after it: a fill that
/// continues after a pause meets an empty memory cache at any position.
pub(crate) fn without_memory(series: &Series, origin: f64) -> Series {
    let begun = begun_at(series, origin);
    let end = origin + begun + MIN_FLASH;
    let within = series.points.iter().take_while(|point| point[0] <= end).count();
    let mut following: Vec<f64> =
        series.points.iter().skip(within).take(AFTERWARDS).map(|point| point[1]).collect();
    let typical = stats::median(&mut following).unwrap_or(f64::INFINITY);
    // If a fill was longer than memory can take, a fast part later on is not due to memory.
    let goes_on = begun >= MIN_FLASH
        && series.points.get(within + 1).is_some_and(|point| point[1] > STEP * typical);
    let last = series.points[..within]
        .iter()
        .rposition(|point| point[1] > STEP * typical)
        .filter(|_| !goes_on);
    let taken = last.map_or(0, |last| last + 2);
    Series { points: series.points.iter().skip(taken).copied().collect(), ..series.clone() }
}

/// Joins pairs of windows: total bytes over total time.
pub(crate) fn coarser(series: &Series) -> Series {
    let mut from = begun_at(series, 0.0);
    let pair = |pair: &[[f64; 2]]| {
        let (mut bytes, mut seconds) = (0.0, 0.0);
        for [to, bps] in pair {
            let own = to - std::mem::replace(&mut from, *to);
            (bytes, seconds) = (bytes + own, seconds + own / bps);
        }
        [pair[pair.len() - 1][0], bytes / seconds]
    };
    Series { points: series.points.chunks(2).map(pair).collect(), ..series.clone() }
}

/// Start of the first window of a curve, computed from its second one.
pub(crate) fn begun_at(series: &Series, origin: f64) -> f64 {
    match series.points.as_slice() {
        [first, second, ..] => (2.0 * first[0] - second[0] - origin).max(0.0),
        _ => 0.0,
    }
}

/// Curve of the rate against the bytes written.
pub(crate) fn along(cell: &Cell) -> Option<&Series> {
    cell.series.iter().find(|series| series.y == SeriesAxis::Bps && series.x == SeriesAxis::Bytes)
}

/// Bytes of a curve up to this position, and their mean rate in bytes per second.
pub(crate) fn mean_until(series: &Series, bytes: f64) -> Option<(f64, f64)> {
    let begin = begun_at(series, 0.0);
    let (mut from, mut seconds) = (begin, 0.0);
    for [to, bps] in series
        .points
        .iter()
        .take_while(|[to, _]| *to <= bytes)
        .filter(|[_, bps]| bps.is_finite() && *bps > 0.0)
    {
        seconds += (to - from) / bps;
        from = *to;
    }
    (seconds > 0.0).then(|| (from - begin, (from - begin) / seconds))
}

/// Least size of a flash cache: a smaller one is memory.
pub(crate) const MIN_FLASH: f64 = (128 * MIB) as f64;

/// Tests that fill: the one made for it, or else similar ones.
pub(crate) fn longest_fills(record: &Record) -> &'static [&'static str] {
    if figure::form(record, test::SUSTAINED, "first").is_some() {
        &[test::SUSTAINED]
    } else {
        &[test::PRIME, test::RANDOM_FILL]
    }
}

#[cfg(test)]
mod tests;
