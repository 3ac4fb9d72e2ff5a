//! Caches that make a medium look better than it is: a fast way for small spans, and a fast
//! beginning that runs full.

use record::units::{KIB, MIB, significant};
use record::{Bound, Cell, Content, Finding, Pattern, Record, Region, Series, SeriesAxis};

use crate::figure::{self, LARGE_SPAN, Ratio, SoundFigure, size};
use crate::finding_builder::FindingBuilder;
use crate::{open_aus, throttling};

/// A small span this much faster than a large one is cached
/// (docs/field/cheats.md#cheats-and-caches).
const SPAN_RATIO: f64 = 3.0;

/// `span-cache` and `slc-cache`.
pub(crate) fn conclude(record: &Record) -> Vec<Finding> {
    [span_cache(record).or_else(|| combined(record)), slc_cliff(record)]
        .into_iter()
        .flatten()
        .collect()
}

/// `span-cache` of a medium that had no time to get its cache into the span: the last places
/// written again, much faster than they were before.
fn combined(record: &Record) -> Option<Finding> {
    if record.medium.rotational == Some(true) {
        return None;
    }
    let seen = record
        .cells
        .iter()
        .filter(|cell| ["span-sweep", "random-write"].contains(&cell.test.as_str()))
        .filter_map(|cell| {
            let own = SoundFigure::bounding(cell, "iops")
                .filter(|own| own.bound == Some(Bound::AtLeast))?;
            Some((SoundFigure::bounding(cell, "again_iops")?, own))
        });
    let (again, own) =
        seen.max_by(|a, b| (a.0.value / a.1.value).total_cmp(&(b.0.value / b.1.value)))?;
    let span = own.cell.params.span_bytes?;
    // The places written last lie in the units that are open.
    if open_aus::open_bytes(record, 1e9 / own.value).is_some_and(|open_bytes| open_bytes > 0) {
        return None;
    }
    (again.value > SPAN_RATIO * own.value).then(|| {
        let statement = format!(
            "It is fast only where the same places are written again: {} writes a second then, {} at other places within {}. A cache keeps what was written last; how large it is cannot be told here. Benchmarks that use a small file measure the cache, not the medium.",
            significant(again.value),
            significant(own.value),
            size(span)
        );
        FindingBuilder::warning("span-cache", statement)
            .figures([&own])
            .note(format!("{}: the last places again: {} a second (n {}); told from {SPAN_RATIO} times on (docs/field/cheats.md#cheats-and-caches)", own.cell.id, significant(again.value), again.n))
            .done()
    })
}

/// Random 4 KiB writes over different spans that differ in nothing else, the smallest span first;
/// of equal spans the last.
fn spans(record: &Record) -> Vec<(u64, SoundFigure<'_>)> {
    let same = |cell: &&Cell| {
        let params = &cell.params;
        let random = matches!(
            params.pattern,
            None | Some(Pattern::Permutation | Pattern::Uniform | Pattern::Stratified)
        );
        random
            && crate::verdict::writes(cell)
            && params.block_bytes == Some(4 * KIB)
            && (params.threads, params.queue_depth) == (1, 1)
            && params.region != Some(Region::Front)
            && matches!(params.content, None | Some(Content::Incompressible))
    };
    // A sweep of its own is measured all in one way; without one, what other tests have at several
    // spans must do.
    let swept = figure::cells(record, "span-sweep").filter(same).count() >= 3;
    let mut spans: Vec<(u64, SoundFigure)> = Vec::new();
    for cell in
        figure::cells(record, if swept { "span-sweep" } else { "random-write" }).filter(same)
    {
        let Some((span, figure)) = cell
            .params
            .span_bytes
            .filter(|span| (1..1 << 60).contains(span))
            .zip(SoundFigure::of(cell, "iops").filter(|it| it.ci95.is_some()))
        else {
            continue;
        };
        spans.retain(|(other, _)| *other != span);
        spans.push((span, figure));
    }
    spans.sort_by_key(|(span, _)| *span);
    spans
}

/// What random writes within a span do at most where a few open allocation units explain it: a
/// write hits an open one in `open / span` of all cases and costs nothing then. A quarter more for
/// units that the span's ends cut.
fn explained_by_open_units(slow_iops: f64, open_bytes: u64, span: u64) -> f64 {
    let hit = 1.25 * open_bytes as f64 / span as f64;
    if hit >= 0.9 { f64::INFINITY } else { slow_iops / (1.0 - hit) }
}

/// Which of the spans is the first that is slower than the geometric middle between fast and slow:
/// there the cache ends. What is slow in the smallest span is no cache of spans.
fn fast_until(spans: &[(u64, SoundFigure<'_>)], middle: f64) -> Option<usize> {
    spans.iter().position(|(_, figure)| figure.value < middle).filter(|end| *end > 0)
}

/// How many bytes random writes are fast in, as the sweep shows; `None` where no span is faster
/// than others.
pub(crate) fn fast_within(record: &Record) -> Option<f64> {
    let spans = spans(record);
    let (_, slow) = spans.last()?;
    let (_, fast) = spans.iter().max_by(|a, b| a.1.value.total_cmp(&b.1.value))?;
    if !Ratio::of(fast, slow).is_above(SPAN_RATIO) {
        return None;
    }
    let end = fast_until(&spans, (fast.value * slow.value).sqrt())?;
    Some(
        cached_bytes(fast.value, slow.value, &spans[end..])
            .clamp(spans[end - 1].0 as f64, spans[end].0 as f64),
    )
}

/// `span-cache`: fast within a small span, slow over a large one, by more than open allocation
/// units explain. Where these were not counted it is `small-span`, which leaves open what does it.
fn span_cache(record: &Record) -> Option<Finding> {
    // A disk's heads travel less within a small span.
    if record.medium.rotational == Some(true) {
        return None;
    }
    let spans = spans(record);
    let (large_span, slow) = spans.iter().rev().find(|(span, _)| *span >= LARGE_SPAN)?;
    let small: Vec<&(u64, SoundFigure)> =
        spans.iter().filter(|(span, _)| span * 4 <= *large_span).collect();
    let (small_span, fast) =
        small.iter().copied().max_by(|a, b| a.1.value.total_cmp(&b.1.value))?;
    let (ratio, middle) = (Ratio::of(fast, slow), (fast.value * slow.value).sqrt());
    let end = fast_until(&spans, middle)?;
    if !ratio.is_above(SPAN_RATIO) {
        return None;
    }
    let (last_fast, first_slow) = (spans[end - 1].0, spans[end].0);
    let open_bytes = open_aus::open_bytes(record, 1e9 / slow.value);
    let beyond_units = |open_bytes: u64| {
        small.iter().any(|(span, figure)| {
            figure.value > SPAN_RATIO * explained_by_open_units(slow.value, open_bytes, *span)
                && figure.value >= middle
        })
    };
    if open_bytes.is_some_and(|open_bytes| !beyond_units(open_bytes)) {
        return None;
    }
    let estimate = cached_bytes(fast.value, slow.value, &spans[end..])
        .clamp(last_fast as f64, first_slow as f64);
    let extent = if first_slow <= 4 * last_fast {
        format!("about {}", roughly(estimate))
    } else {
        format!("at least {}, less than {}", size(last_fast), size(first_slow))
    };
    let contrast = format!(
        "It is fast only within small spans: {} random writes of 4 KiB a second within {}, {} over {}.",
        significant(fast.value),
        size(*small_span),
        significant(slow.value),
        size(*large_span)
    );
    let draft = match open_bytes {
        Some(_) => FindingBuilder::warning(
            "span-cache",
            format!("{contrast} Benchmarks that use a small file measure its cache ({extent}), not the medium."),
        )
        .surely(ratio.above(SPAN_RATIO)),
        None => FindingBuilder::info(
            "small-span",
            format!(
                "{contrast} A cache does that, or a few open allocation units; which of them was not tested (tests span-sweep and open-aus)."
            ),
        ),
    };
    let lines = spans.iter().map(|(span, figure)| format!("span {}: {figure}", size(*span)));
    let open =
        open_bytes.map(|bytes| format!("open allocation units explain up to {}", size(bytes)));
    let bounds = format!("cache_bytes {} (between {last_fast} and {first_slow})", estimate.round());
    Some(
        draft
            .notes(lines)
            .note(bounds)
            .notes(open)
            .note(format!(
                "{ratio}; told from {SPAN_RATIO} on (docs/field/cheats.md#cheats-and-caches)"
            ))
            .done(),
    )
}

/// How much of a span is cached, from the spans that are too large: in a span of s a cache of c is
/// missed in 1 - c/s of all cases, and a miss takes as long as a write over the largest span. The
/// mean of what the first two of them show, weighed with how little of them is missed.
fn cached_bytes(fast_iops: f64, slow_iops: f64, slower: &[(u64, SoundFigure<'_>)]) -> f64 {
    let (hit_s, miss_s) = (1.0 / fast_iops, 1.0 / slow_iops);
    let shown = slower.iter().take(2).map(|(span, figure)| {
        let missed = ((1.0 / figure.value - hit_s) / (miss_s - hit_s)).clamp(0.0, 1.0);
        (*span as f64 * (1.0 - missed), 1.0 / (*span as f64).powi(2))
    });
    let (sum, weights) = shown.fold((0.0, 0.0), |(sum, weights), (bytes, weight)| {
        (sum + bytes * weight, weights + weight)
    });
    sum / weights
}

/// A size that is known roughly, to three digits.
fn roughly(bytes: f64) -> String {
    if bytes >= MIB as f64 {
        size(((bytes / 1e6).round() as u64).saturating_mul(1_000_000))
    } else {
        size(bytes.max(0.0) as u64)
    }
}

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

/// The levels of a rate along something: (end on the first axis, rate). Change points cut it into
/// stretches of at least 8 windows; those that differ by less than a quarter are joined, the
/// closest first, until all neighbours differ. Empty below 16 windows and above 1024.
pub(crate) fn levels(series: &Series) -> Vec<(f64, f64)> {
    let points: Vec<[f64; 2]> = series
        .points
        .iter()
        .copied()
        .filter(|[x, y]| x.is_finite() && y.is_finite() && *y > 0.0)
        .collect();
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

/// The tests that fill: the one made for it, or else those that come near.
pub(crate) fn longest_fills(record: &Record) -> &'static [&'static str] {
    if figure::form(record, "sustained", "first").is_some() {
        &["sustained"]
    } else {
        &["prime", "random-fill"]
    }
}

/// The longest fill with incompressible data that has a curve, and where the curve begins.
fn fills(record: &Record) -> Vec<(&Cell, &Series, f64)> {
    let first = |series: &&Series| {
        series.y == SeriesAxis::Bps
            && matches!(series.x, SeriesAxis::Bytes | SeriesAxis::OffsetBytes)
            && !series.name.contains("pass 2")
    };
    let mut fills: Vec<(&Cell, &Series, f64)> = Vec::new();
    for test in longest_fills(record).iter().copied() {
        for cell in figure::cells(record, test)
            .filter(|cell| matches!(cell.params.form.as_deref(), None | Some("first")))
        {
            let Some(series) = cell.series.iter().find(first) else { continue };
            let origin = if series.x == SeriesAxis::OffsetBytes {
                cell.params.span_offset_bytes.unwrap_or(0) as f64
            } else {
                0.0
            };
            fills.push((cell, series, origin));
        }
    }
    fills
}

/// What runs full sooner is memory and not flash.
const LEAST_FLASH: f64 = (128 * MIB) as f64;

/// The cliffs of a fill after what memory took. Pauses that come now and then move windows up and
/// down: where no cliff shows, it is looked for in windows twice and four times as long.
fn flash_cliff(series: &Series, origin: f64) -> Option<Cliff> {
    let windows =
        std::iter::successors(Some(without_memory(series, origin)), |series| Some(coarser(series)));
    windows
        .take(COARSENESSES)
        .find_map(|series| cliff(&series, origin))
        .filter(|cliff| cliff.at >= LEAST_FLASH)
}

const COARSENESSES: usize = 3;
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
fn coarser(series: &Series) -> Series {
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

/// Whether the longest fill met a fast cache that ran full.
pub(crate) fn has_cliff(record: &Record) -> bool {
    slc_cliff(record).is_some()
}

/// `slc-cache`: the rate of a fill falls to a lower level and stays there. What heat explains is
/// said by `throttling`.
fn slc_cliff(record: &Record) -> Option<Finding> {
    // The tracks of a disk get shorter towards its end.
    if throttling::is_heat(record) || record.medium.rotational == Some(true) {
        return None;
    }
    let (cell, series, found) = fills(record)
        .into_iter()
        .find_map(|(cell, series, origin)| Some((cell, series, flash_cliff(series, origin)?)))?;
    let (first, last) = (found.levels.first()?, found.levels.last()?);
    let rate = |bps: f64| figure::quantity("bps", bps);
    let (is_doubted, heat) = throttling::doubt(record, cell);
    let statement = format!(
        "Writing begins at {} and falls to {} after {}: a fast cache ran full{}. What lasts is {}.",
        rate(first.1),
        rate(last.1),
        roughly(found.at),
        if is_doubted { ", or it became hot" } else { "" },
        rate(last.1)
    );
    let mut from = 0.0;
    let levels: Vec<String> = found
        .levels
        .iter()
        .map(|(end, bps)| {
            let line = format!(
                "{}: {} from {} to {}",
                figure::named(cell),
                rate(*bps),
                roughly(from),
                roughly(*end)
            );
            from = end.max(0.0);
            line
        })
        .collect();
    let why = format!(
        "levels of '{}' over {} windows; told from a step of a quarter on (docs/field/statistics.md#change-points)",
        series.name,
        series.points.len()
    );
    Some(
        FindingBuilder::warning("slc-cache", statement)
            .note(heat)
            .notes(levels)
            .note(format!("cache_bytes {}", found.at.round()))
            .note(why)
            .done(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_size_is_too_large_to_be_said() {
        assert_eq!(roughly(8.4e6), "8.00 MB");
        assert!(!roughly(f64::MAX).is_empty() && !roughly(f64::NAN).is_empty());
    }
}
