//! The rate of random writes over spans of increasing size.

use record::units::KIB;
use record::{Cell, Content, Pattern, Record, Region, metric, test};

use crate::figures::figure::{self, Ratio, UsableEstimate};

/// Ratio from which on a small span is cached, compared with a large one
/// (docs/field/cheats.md#cheats-and-caches).
pub(crate) const SPAN_RATIO: f64 = 3.0;

/// Random 4 KiB writes over different spans with no other difference, the smallest span first; of
/// equal spans the last.
pub(crate) fn spans(record: &Record) -> Vec<(u64, UsableEstimate<'_>)> {
    let same = |cell: &&Cell| {
        let params = &cell.params;
        let random = matches!(
            params.pattern,
            None | Some(Pattern::Permutation | Pattern::Uniform | Pattern::Stratified)
        );
        random
            && crate::figures::figure::writes(cell)
            && params.block_bytes == Some(4 * KIB)
            && (params.threads, params.queue_depth) == (1, 1)
            && params.region != Some(Region::Front)
            && matches!(params.content, None | Some(Content::Incompressible))
    };
    // A separate sweep is measured uniformly; without one, cells of other tests at several spans
    // are used.
    let swept = figure::cells(record, test::SPAN_SWEEP).filter(same).count() >= 3;
    let mut spans: Vec<(u64, UsableEstimate)> = Vec::new();
    for cell in figure::cells(record, if swept { test::SPAN_SWEEP } else { test::RANDOM_WRITE })
        .filter(same)
    {
        let Some((span, figure)) = cell
            .params
            .span_bytes
            .filter(|span| (1..1 << 60).contains(span))
            .zip(UsableEstimate::of(cell, metric::IOPS).filter(|it| it.ci95.is_some()))
        else {
            continue;
        };
        spans.retain(|(other, _)| *other != span);
        spans.push((span, figure));
    }
    spans.sort_by_key(|(span, _)| *span);
    spans
}

/// Index of the first span slower than the geometric mean of fast and slow: the cache ends there.
/// `None` if the smallest span is slow, which rules out a span cache.
pub(crate) fn fast_until(spans: &[(u64, UsableEstimate<'_>)], middle: f64) -> Option<usize> {
    spans.iter().position(|(_, figure)| figure.value < middle).filter(|end| *end > 0)
}

/// Bytes within which random writes are fast, from the sweep; `None` if no span is faster than
/// others.
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

/// Size of the cache in bytes, from spans that are larger: in a span s a cache c is missed in 1 -
/// c/s of all cases, and a miss takes as long as a write over the largest span. Weighted mean of
/// the first two of them; spans with fewer misses have more weight.
pub(crate) fn cached_bytes(
    fast_iops: f64,
    slow_iops: f64,
    slower: &[(u64, UsableEstimate<'_>)],
) -> f64 {
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

#[cfg(test)]
mod tests;
