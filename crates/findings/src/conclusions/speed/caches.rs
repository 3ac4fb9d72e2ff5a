//! Caches that make a medium look better than it is: for small spans, and at the beginning of a
//! long write until they are full.

use record::units::{MIB, quantity, significant};
use record::{Bound, Cell, Evidence, EvidenceNumber, Finding, Record, Series, metric, test};

use crate::conclusions::geometry::open_aus;
use crate::conclusions::speed::{places, throttling};
use crate::figures::figure::{self, LARGE_SPAN, Ratio, UsableEstimate, size};
use crate::figures::levels::{
    COARSENESSES, Cliff, MIN_FLASH, cliff, coarser, longest_fills, without_memory,
};
use crate::figures::span_sweep::{SPAN_RATIO, cached_bytes, fast_until, spans};
use crate::finding_builder::FindingBuilder;

/// The findings `span-cache` and `slc-cache`, if the record shows such a cache.
pub(crate) fn conclude(record: &Record) -> Vec<Finding> {
    [span_cache(record).or_else(|| combined(record)), slc_cliff(record)]
        .into_iter()
        .flatten()
        .collect()
}

/// `span-cache` for a medium with too little time to fill the cache with a span: the last places
/// were written again much faster than before.
fn combined(record: &Record) -> Option<Finding> {
    if record.medium.rotational == Some(true) {
        return None;
    }
    let seen = record
        .cells
        .iter()
        .filter(|cell| [test::SPAN_SWEEP, test::RANDOM_WRITE].contains(&cell.test.as_str()))
        .filter_map(|cell| {
            let own = UsableEstimate::bounding(cell, metric::IOPS)
                .filter(|own| own.bound == Some(Bound::AtLeast))?;
            Some((UsableEstimate::bounding(cell, metric::AGAIN_IOPS)?, own))
        });
    let (again, own) =
        seen.max_by(|a, b| (a.0.value / a.1.value).total_cmp(&(b.0.value / b.1.value)))?;
    let span = own.cell.params.span_bytes?;
    // The places written last are in the open units.
    if open_aus::open_bytes(record, 1e9 / own.value).is_some_and(|open_bytes| open_bytes > 0) {
        return None;
    }
    (again.value > SPAN_RATIO * own.value).then(|| {
        let statement = format!(
            "It is fast only when the same places are written again: {} IOPS, but {} at other places within {}. A cache holds the last writes; its size cannot be told here. Benchmarks on a small file measure the cache, not the medium.",
            significant(again.value),
            significant(own.value),
            size(span)
        );
        FindingBuilder::warning("span-cache", statement)
            .figures([&own])
            .figure(&again)
            .note(format!("threshold {SPAN_RATIO}x (docs/field/cheats.md#cheats-and-caches)"))
            .done()
    })
}

/// Largest rate (IOPS) of random writes within a span that a few open allocation units can explain:
/// a share `open / span` of the writes hits an open unit and costs nothing. The share is raised by
/// 25 % for units cut by the ends of the span.
fn explained_by_open_units(slow_iops: f64, open_bytes: u64, span: u64) -> f64 {
    let hit = 1.25 * open_bytes as f64 / span as f64;
    if hit >= 0.9 { f64::INFINITY } else { slow_iops / (1.0 - hit) }
}

/// Random writes of 4 KiB that are significantly faster within a small span than over a large one.
pub(crate) struct SpanContrast<'a> {
    /// All spans in bytes with their figures, the smallest first.
    spans: Vec<(u64, UsableEstimate<'a>)>,
    /// Index of the fastest small span, and index of the largest one.
    fast: usize,
    slow: usize,
    /// Index of the first slow span.
    end: usize,
}

impl<'a> SpanContrast<'a> {
    /// `None` for a disk, whose heads move less within a small span.
    pub fn of(record: &'a Record) -> Option<SpanContrast<'a>> {
        if record.medium.rotational == Some(true) {
            return None;
        }
        let spans = spans(record);
        let slow = spans.iter().rposition(|(span, _)| *span >= LARGE_SPAN)?;
        let value = |at: usize| spans[at].1.value;
        let is_small = |at: &usize| spans[*at].0 * 4 <= spans[slow].0;
        let fast =
            (0..spans.len()).filter(is_small).max_by(|a, b| value(*a).total_cmp(&value(*b)))?;
        let end = fast_until(&spans, (value(fast) * value(slow)).sqrt())?;
        Ratio::of(&spans[fast].1, &spans[slow].1).is_above(SPAN_RATIO).then_some(SpanContrast {
            spans,
            fast,
            slow,
            end,
        })
    }

    /// Write rate over the largest span.
    pub fn over_all(&self) -> &UsableEstimate<'a> {
        &self.spans[self.slow].1
    }
}

/// Least share of the fastest rate in a span that a cache holds as a whole; our choice.
const WHOLE: f64 = 0.5;

/// `span-cache`: fast within a small span, slow over a large one, by more than open allocation
/// units explain. If these were not measured it is `small-span`, which leaves the cause open.
fn span_cache(record: &Record) -> Option<Finding> {
    let SpanContrast { spans, fast, slow, end } = SpanContrast::of(record)?;
    let ((small_span, fast), (large_span, slow)) = (&spans[fast], &spans[slow]);
    let small = spans.iter().filter(|(span, _)| span * 4 <= *large_span);
    let (ratio, middle) = (Ratio::of(fast, slow), (fast.value * slow.value).sqrt());
    let (last_fast, first_slow) = (spans[end - 1].0, spans[end].0);
    let open_bytes = open_aus::open_bytes(record, 1e9 / slow.value);
    let beyond_units = |open_bytes: u64| {
        small.clone().any(|(span, figure)| {
            figure.value > SPAN_RATIO * explained_by_open_units(slow.value, open_bytes, *span)
                && figure.value >= middle
        })
    };
    if open_bytes.is_some_and(|open_bytes| !beyond_units(open_bytes)) {
        return None;
    }
    let estimate = cached_bytes(fast.value, slow.value, &spans[end..])
        .clamp(last_fast as f64, first_slow as f64);
    // Beyond its size a cache still takes the writes that hit it, and joins others.
    let whole = spans.iter().take_while(|(_, figure)| figure.value >= WHOLE * fast.value);
    let held = whole.last().map_or(0, |(span, _)| *span);
    let extent = format!("{} to {}", size(held), size(first_slow));
    let contrast = format!(
        "It is fast only in small spans: random writes of 4 KiB reach {} IOPS within {}, but {} over {}.",
        significant(fast.value),
        size(*small_span),
        significant(slow.value),
        size(*large_span)
    );
    let draft = match open_bytes {
        Some(_) => FindingBuilder::warning(
            "span-cache",
            format!("{contrast} Benchmarks on a small file measure its cache ({extent}), not the medium."),
        )
        .with_confidence(ratio.above(SPAN_RATIO)),
        None => FindingBuilder::info(
            "small-span",
            format!(
                "{contrast} The cause is a cache or a few open erase blocks. Not tested: which (tests span-sweep and open-aus)."
            ),
        ),
    };
    // Of a few open erase blocks it is no cache's.
    let bounds = [
        ("cache_bytes", estimate.round()),
        ("cache_low_bytes", held as f64),
        ("cache_high_bytes", first_slow as f64),
    ];
    let bounds = bounds.into_iter().filter(|_| open_bytes.is_some());
    let open = open_bytes.map(|bytes| format!("open erase blocks explain up to {}", size(bytes)));
    Some(
        draft
            .figures(spans.iter().map(|(_, figure)| figure))
            .notes(bounds.map(|(name, bytes)| EvidenceNumber::new(name, bytes)))
            .notes(open)
            .note(&ratio)
            .note(format!("threshold {SPAN_RATIO}x (docs/field/cheats.md#cheats-and-caches)"))
            .done(),
    )
}

/// A size with an uncertain value, in three digits.
fn roughly(bytes: f64) -> String {
    if bytes >= MIB as f64 {
        size(((bytes / 1e6).round() as u64).saturating_mul(1_000_000))
    } else {
        size(bytes.max(0.0) as u64)
    }
}

/// The longest fills with incompressible data that have a curve, each with the start of its curve.
fn fills(record: &Record) -> Vec<(&Cell, &Series, f64)> {
    let is_first = |cell: &&Cell| matches!(cell.params.form.as_deref(), None | Some("first"));
    let fills = longest_fills(record).iter().flat_map(|test| figure::cells(record, test));
    let curve = |cell| {
        // That of the first pass.
        let (series, origin) = figure::rates_over_bytes(cell).next()?;
        Some((cell, series, origin))
    };
    fills.filter(is_first).filter_map(curve).collect()
}

/// Falls in the rate of a fill, without the part that memory took. Occasional pauses add noise: if
/// there is no fall, it is searched in windows two and four times as long.
fn flash_cliff(series: &Series, origin: f64) -> Option<Cliff> {
    let windows =
        std::iter::successors(Some(without_memory(series, origin)), |series| Some(coarser(series)));
    windows
        .take(COARSENESSES)
        .find_map(|series| cliff(&series, origin))
        .filter(|cliff| cliff.at >= MIN_FLASH && held_bytes(&cliff.levels) >= MIN_FLASH)
}

/// Most bytes that a cache held where a level ended: memory that is emptied at the rate of the next
/// level while it is filled takes more than its size.
fn held_bytes(levels: &[(f64, f64)]) -> f64 {
    levels.windows(2).map(|pair| pair[0].0 * (1.0 - pair[1].1 / pair[0].1)).fold(0.0, f64::max)
}

/// True if the longest fill shows a fast cache that became full.
pub(crate) fn has_cliff(record: &Record) -> bool {
    slc_levels(record).is_some()
}

/// Ratio up to which some places of a medium may be faster than all of it: the outer tracks of a
/// disk reach 1.3 times its mean.
const FASTER_PLACES: f64 = 1.6;

/// "Writes fall to 45.1 MB/s after 7.94 GB."
pub(crate) fn fall(record: &Record) -> Option<String> {
    // Of a short fill, one long write is a level of its own.
    let (_, _, found) = slc_levels(record).filter(|(cell, ..)| cell.test == test::SUSTAINED)?;
    let last = quantity(metric::BPS, found.levels.last()?.1);
    Some(format!("Writes fall to {last} after {}.", roughly(found.at)))
}

/// The fill whose rate falls to a lower level and stays there. A fall explained by heat belongs to
/// `throttling`.
fn slc_levels(record: &Record) -> Option<(&Cell, &Series, Cliff)> {
    // The tracks of a disk get shorter towards its end, and a slow part is none of a cache.
    let is_by_place = record.medium.rotational == Some(true) || places::slow_part(record).is_some();
    if is_by_place || throttling::is_heat(record) {
        return None;
    }
    let (cell, series, found) = fills(record)
        .into_iter()
        .find_map(|(cell, series, origin)| Some((cell, series, flash_cliff(series, origin)?)))?;
    let (first, last) = (found.levels.first()?, found.levels.last()?);
    // The first pieces of a fill all over the medium may lie where it is faster.
    let is_spread = cell.params.other.contains_key("piece_bytes");
    let is_fall = !is_spread || first.1 >= FASTER_PLACES * last.1;
    is_fall.then_some((cell, series, found))
}

/// `slc-cache`: a fast cache that a fill filled.
fn slc_cliff(record: &Record) -> Option<Finding> {
    let (cell, series, found) = slc_levels(record)?;
    let (first, last) = (found.levels.first()?, found.levels.last()?);
    let rate = |bps: f64| quantity(metric::BPS, bps);
    let (may_be_heat, heat) = throttling::heat_caveat(record, cell);
    let statement = format!(
        "Writes start at {} and fall to {} after {}: a fast cache is full{}. The sustained rate is {}.",
        rate(first.1),
        rate(last.1),
        roughly(found.at),
        if may_be_heat { ", or it is hot" } else { "" },
        rate(last.1)
    );
    let mut from = 0.0;
    let levels: Vec<Evidence> = found
        .levels
        .iter()
        .map(|(end, bps)| {
            let line = format!("{} from {} to {}", rate(*bps), roughly(from), roughly(*end));
            from = end.max(0.0);
            Evidence::on(cell, line)
        })
        .collect();
    let why = format!(
        "levels of '{}' over {} windows; threshold: a step of 25 % (docs/field/statistics.md#change-points)",
        series.name,
        series.points.len()
    );
    Some(
        FindingBuilder::warning("slc-cache", statement)
            .note(heat)
            .notes(levels)
            .note(EvidenceNumber::new("cache_bytes", found.at.round()))
            .note(why)
            .done(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_has_a_text_even_infinite_ones() {
        assert_eq!(roughly(8.4e6), "8.00 MB");
        assert!(!roughly(f64::MAX).is_empty() && !roughly(f64::NAN).is_empty());
    }

    #[test]
    fn open_units_explain_what_they_hit_and_a_quarter_more() {
        for (open_bytes, explained) in
            [(0, 100.0), (8, 100.0 / 0.9), (71, 100.0 / 0.1125), (72, f64::INFINITY)]
        {
            let found = explained_by_open_units(100.0, open_bytes, 100);
            assert!(found == explained || (found / explained - 1.0).abs() < 1e-12, "{found}");
        }
    }
}
