//! Main criterion of usability: random writes compared with the yardstick, bypasses for small ones,
//! and their wear.

use record::units::{Bytes, KIB, significant};
use record::{Bound, Finding, Record};

use crate::figures::Figures;
use crate::figures::figure::{self, Ratio, UsableEstimate, size};
use crate::finding_builder::FindingBuilder;
use record::figures::DISK_IOPS;

/// Largest IOPS at which every random write costs the merge of an allocation unit
/// (docs/field/published-figures.md#survey-of-microsd-cards, family H3).
const MERGE_IOPS: f64 = 10.0;
/// Small and larger block sizes, with the ratio of their IOPS from which on bandwidth does not
/// explain it: four times the bytes cost at most four times the time, eight times at most eight
/// (docs/field/published-figures.md#survey-of-microsd-cards,
/// docs/field/statistics.md#sampling-random-writes).
const BYPASSES: [(u64, u64, f64); 3] =
    [(4 * KIB, 16 * KIB, 5.0), (16 * KIB, 64 * KIB, 5.0), (512, 4 * KIB, 10.0)];
/// Least time in ns of a slow larger write.
const SLOW_WAY_NS: f64 = 5e6;

/// The findings `random-write`, `small-write-bypass` and `write-amplification`.
pub(crate) fn conclude(record: &Record) -> Vec<Finding> {
    [yardstick(record), bypass(record), amplification(record)].into_iter().flatten().collect()
}

/// Random writes of 4 KiB compared with a laptop disk, or those of 16 KiB if they are significantly
/// slower.
fn yardstick(record: &Record) -> Option<Finding> {
    let sizes = [4 * KIB, 16 * KIB, 512, 64 * KIB];
    let figures: Vec<UsableEstimate> =
        sizes.into_iter().filter_map(|block| figure::random_write(record, block)).collect();
    let weaker = Figures::of(record).weaker_small_write()?;
    let block = size(weaker.cell.params.block_bytes?);
    let times = weaker.value / DISK_IOPS;
    let merges = weaker.value < MERGE_IOPS;
    let (below, above) =
        (weaker.below(if merges { MERGE_IOPS } else { DISK_IOPS }), weaker.above(DISK_IOPS));
    let statement = format!(
        "Random writes of {block} reach {}: {} a 5400 rpm laptop disk (90 IOPS).",
        weaker.with_interval(),
        record::units::against(times)
    );
    let draft = match () {
        () if merges => FindingBuilder::warning(
            "random-write",
            format!("{statement} At this rate every random write makes the medium rewrite a whole erase block."),
        )
        .with_confidence(below),
        () if times < 1.0 => FindingBuilder::warning("random-write", statement).with_confidence(below),
        () => FindingBuilder::info("random-write", statement).with_confidence(above),
    };
    let over_disk = format!(
        "{} IOPS divided by the 90 IOPS of a laptop disk is {} (docs/field/published-figures.md#other-figures)",
        significant(weaker.value),
        significant(times)
    );
    Some(draft.figures(&figures).note(over_disk).done())
}

/// Factor by which a bound must exceed the threshold, as it has no interval.
const BEYOND: f64 = 1.5;

/// `small-write-bypass`: small writes are much faster than larger ones. A lower bound of small ones
/// and an upper bound of larger ones are used, too.
fn bypass(record: &Record) -> Option<Finding> {
    let figure = |block, side| {
        let bound = || {
            figure::random_write_bound(record, block).filter(|figure| figure.bound == Some(side))
        };
        figure::random_write(record, block).or_else(bound)
    };
    let is_bound =
        |small: &UsableEstimate, large: &UsableEstimate| small.bound.or(large.bound).is_some();
    let pair = |(small, large, limit): (u64, u64, f64)| {
        let (small, large) = (figure(small, Bound::AtLeast)?, figure(large, Bound::AtMost)?);
        // In a smaller span a few open units, or a cache, are enough.
        if small.cell.params.span_bytes != large.cell.params.span_bytes {
            return None;
        }
        let ratio = Ratio::of(&small, &large);
        let is_significant = if is_bound(&small, &large) {
            ratio.value > BEYOND * limit
        } else {
            ratio.is_above(limit)
        };
        (1e9 / large.value >= SLOW_WAY_NS && is_significant).then_some((small, large, ratio, limit))
    };
    let (small, large, ratio, limit) = BYPASSES.into_iter().find_map(pair)?;
    let (block, other) =
        (size(small.cell.params.block_bytes?), size(large.cell.params.block_bytes?));
    let statement = format!(
        "Small writes take a fast path: random writes of {block} reach {}, but of {other} {}. A benchmark of {block} alone overstates this medium {}.",
        small.with_interval(),
        if large.bound.is_some() {
            large.text()
        } else {
            format!("only {}", large.with_interval())
        },
        if is_bound(&small, &large) {
            format!("at least {}", figure::times(ratio.value))
        } else {
            figure::times(ratio.value)
        }
    );
    Some(
        FindingBuilder::warning("small-write-bypass", statement)
            .figures([&small, &large])
            .note(&ratio)
            .note(format!("threshold {limit}x (docs/field/statistics.md#sampling-random-writes)"))
            .with_confidence(ratio.above(limit))
            .done(),
    )
}

/// `write-amplification`: programmed bytes per written byte, estimated by time: a random write
/// takes as long as this many bytes of sequential writes.
fn amplification(record: &Record) -> Option<Finding> {
    let small = figure::random_write(record, 4 * KIB)?;
    let rate = figure::sustained_write(record)?;
    // A disk seeks; its random writes program nothing.
    if record.medium.rotational == Some(true) {
        return None;
    }
    let factor = rate.value / small.value / (4.0 * KIB as f64);
    if factor < 8.0 {
        return None;
    }
    let (total, times) = (record.written_bytes(), figure::times(factor));
    let statement = format!(
        "A random write of 4 KiB takes as long as a sequential write of {times} its size: write amplification is up to {times}, and the medium wears that much faster. This run wrote {}.",
        Bytes(total)
    );
    let draft = if factor >= 100.0 {
        FindingBuilder::warning("write-amplification", statement)
    } else {
        FindingBuilder::info("write-amplification", statement)
    };
    Some(draft.figures([&small, &rate]).note("an upper bound: all time counts as programming (docs/field/allocation-units.md#known-sizes, docs/field/cautions.md#cautions)").done())
}
