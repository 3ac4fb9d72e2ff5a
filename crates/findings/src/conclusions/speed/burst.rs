//! Random writes that are fast until a cache is full.

use record::units::KIB;
use record::{Finding, Record, metric};

use crate::figures::figure::{self, Ratio, UsableEstimate, times};
use crate::figures::span_sweep::SPAN_RATIO;
use crate::finding_builder::FindingBuilder;

/// `write-burst`: the first random writes of 4 KiB were faster than those that last.
pub(crate) fn conclude(record: &Record) -> Option<Finding> {
    let lasting = figure::random_write(record, 4 * KIB)?;
    let burst = UsableEstimate::of(lasting.cell, metric::BURST_IOPS)?;
    let ratio = Ratio::of(&burst, &lasting);
    ratio.is_above(SPAN_RATIO).then(|| {
        let statement = format!(
            "Its first {} random writes of 4 KiB are {} faster, {}, than those that last, {}: a cache takes them. Short benchmarks measure the cache.",
            burst.n,
            times(ratio.value),
            burst.text(),
            lasting.text(),
        );
        FindingBuilder::warning("write-burst", statement)
            .figures([&burst, &lasting])
            .note(&ratio)
            .note(format!("threshold {SPAN_RATIO}x (docs/field/cheats.md#cheats-and-caches)"))
            .with_confidence(ratio.above(SPAN_RATIO))
            .done()
    })
}
