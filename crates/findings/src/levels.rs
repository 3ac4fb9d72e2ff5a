//! Levels of a curve: where a rate stays, and where it falls.

use record::units::MIB;
use record::{Cell, Record, Series, SeriesAxis, test};

use crate::figure;

/// A fast beginning and what is left after it.
pub(crate) struct Cliff {
    /// Where in the series it lies, in the unit of its first axis, from its beginning.
    pub at: f64,
    /// Level of each stretch: (its end, rate).
    pub levels: Vec<(f64, f64)>,
}

/// A step of a quarter is one; neighbouring stretches that differ by less are one level
/// (docs/field/statistics.md#change-points).
const STEP: f64 = 1.25;

/// The points of a curve that are numbers, with a value above 0.
pub(crate) fn known_points(series: &Series) -> Vec<[f64; 2]> {
    let is_known = |[x, y]: &[f64; 2]| x.is_finite() && y.is_finite() && *y > 0.0;
    series.points.iter().copied().filter(is_known).collect()
}

/// The levels of a rate along something: (end on the first axis, rate). Change points cut it into
/// stretches of at least 8 windows; those that differ by less than a quarter are joined, the
/// closest first, until all neighbours differ. Empty below 16 windows and above 1024.
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

/// The rates, each replaced by the median of itself and its neighbours: a single slow write makes a
/// short window slow, and no level.
fn without_outliers(points: &[[f64; 2]]) -> Vec<f64> {
    let at = |index: usize| points[index.min(points.len() - 1)][1];
    (0..points.len())
        .map(|index| {
            let (a, b, c) = (at(index.saturating_sub(1)), at(index), at(index + 1));
            a.max(b).min(a.min(b).max(c))
        })
        .collect()
}

/// The cliffs of a rate that falls from level to level and never rises. `origin` is where the first
/// axis begins.
pub(crate) fn cliff(series: &Series, origin: f64) -> Option<Cliff> {
    let mut cliff = first_fall(series, origin)?;
    cliff.levels = without_end(without_dips(cliff.levels));
    cliff.at = cliff.levels[0].0;
    (cliff.levels.len() > 1 && cliff.levels.windows(2).all(|pair| pair[1].1 < pair[0].1))
        .then_some(cliff)
}

/// What is slower than what comes before it and after it, for no longer than this share of the
/// whole, is no level: the host or the medium paused.
const DIP: f64 = 0.1;

/// The levels without dips; what a dip parted is one level again, where it is one.
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

/// The levels without a last one that is no longer than a dip: a pause that the end cut short is
/// not what lasts.
fn without_end(mut levels: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    if let [.., before, last] = levels.as_slice()
        && last.0 - before.0 <= DIP * last.0
    {
        levels.pop();
    }
    levels
}

/// The levels of a rate whose first change is a fall, whatever comes later.
pub(crate) fn first_fall(series: &Series, origin: f64) -> Option<Cliff> {
    let levels: Vec<(f64, f64)> =
        levels(series).into_iter().map(|(end, rate)| (end - origin, rate)).collect();
    let falls = levels.len() > 1 && levels[1].1 < levels[0].1;
    // Eight windows must really be fast: the first stretch cannot be shorter than that, and would
    // hide a few behind their mean.
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

/// Windows that tell what comes after the beginning.
const AFTERWARDS: usize = 8;

/// The curve without its beginning, as far as that is faster than what follows at once: a fill that
/// begins again after a pause meets an empty memory, wherever it goes on.
pub(crate) fn without_memory(series: &Series, origin: f64) -> Series {
    let begun = begun_at(series, origin);
    let end = origin + begun + LEAST_FLASH;
    let within = series.points.iter().take_while(|point| point[0] <= end).count();
    let mut following: Vec<f64> =
        series.points.iter().skip(within).take(AFTERWARDS).map(|point| point[1]).collect();
    let typical = stats::median(&mut following).unwrap_or(f64::INFINITY);
    // Of a fill that has gone on for longer than memory takes, what is still fast further on is no
    // memory.
    let goes_on = begun >= LEAST_FLASH
        && series.points.get(within + 1).is_some_and(|point| point[1] > STEP * typical);
    let last = series.points[..within]
        .iter()
        .rposition(|point| point[1] > STEP * typical)
        .filter(|_| !goes_on);
    let taken = last.map_or(0, |last| last + 2);
    Series { points: series.points.iter().skip(taken).copied().collect(), ..series.clone() }
}

/// Two windows in one: what both took for what both wrote.
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

/// Where the first window of a curve begins, as its second one shows.
pub(crate) fn begun_at(series: &Series, origin: f64) -> f64 {
    match series.points.as_slice() {
        [first, second, ..] => (2.0 * first[0] - second[0] - origin).max(0.0),
        _ => 0.0,
    }
}

/// The rate of a fill against what was written.
pub(crate) fn along(cell: &Cell) -> Option<&Series> {
    cell.series.iter().find(|series| series.y == SeriesAxis::Bps && series.x == SeriesAxis::Bytes)
}

/// How many bytes a curve has up to here, and their mean rate.
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

/// What runs full sooner is memory and not flash.
pub(crate) const LEAST_FLASH: f64 = (128 * MIB) as f64;

/// The tests that fill: the one made for it, or else those that come near.
pub(crate) fn longest_fills(record: &Record) -> &'static [&'static str] {
    if figure::form(record, test::SUSTAINED, "first").is_some() {
        &[test::SUSTAINED]
    } else {
        &[test::PRIME, test::RANDOM_FILL]
    }
}

#[cfg(test)]
mod tests;
