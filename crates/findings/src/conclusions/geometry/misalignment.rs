//! `misalignment`: writes that do not fit the units of the medium
//! (docs/field/allocation-units.md#management-unit).

use record::{Cell, Finding, Record, metric, test};

use crate::figures::figure::{self, Ratio, UsableEstimate, size};
use crate::finding_builder::FindingBuilder;

/// Least ratio for a penalty of misaligned writes.
const PENALTY: f64 = 1.3;

/// IOPS, or bytes per second if there are none.
fn rate(cell: &Cell) -> Option<UsableEstimate<'_>> {
    UsableEstimate::of(cell, metric::IOPS).or_else(|| UsableEstimate::of(cell, metric::BPS))
}

/// Each misaligned cell of the test with the aligned one of its size: (block, aligned, misaligned,
/// ratio of aligned to misaligned).
fn misaligned(record: &Record) -> Vec<(u64, UsableEstimate<'_>, UsableEstimate<'_>, Ratio)> {
    let shift = |cell: &Cell| cell.params.other.get("shift_bytes").copied().unwrap_or(0.0);
    let mut pairs = Vec::new();
    for shifted in figure::cells(record, test::MISALIGN).filter(|cell| shift(cell) > 0.0) {
        let block = shifted.params.block_bytes;
        let fits = |cell: &&Cell| {
            shift(cell) == 0.0
                && cell.params.block_bytes == block
                && cell.params.form == shifted.params.form
        };
        let fitting = figure::cells(record, test::MISALIGN).find(fits);
        let figures = fitting.and_then(rate).zip(rate(shifted));
        pairs.extend(figures.zip(block).map(|((aligned, shifted), block)| {
            (block, aligned.clone(), shifted.clone(), Ratio::of(&aligned, &shifted))
        }));
    }
    pairs
}

/// `misalignment`: the cost of misaligned writes.
pub(crate) fn conclude(record: &Record) -> Option<Finding> {
    let pairs = misaligned(record);
    let (block, aligned, shifted, ratio) = pairs
        .iter()
        .filter(|pair| pair.3.is_above(PENALTY))
        .max_by(|a, b| a.3.value.total_cmp(&b.3.value))?;
    let order = if shifted.cell.params.form.as_deref() == Some("random") {
        "Random writes"
    } else {
        "Sequential writes"
    };
    let shift = size(shifted.cell.params.other.get("shift_bytes").map_or(0, |bytes| *bytes as u64));
    let statement = format!(
        "{order} of {} are {} slower when shifted by {shift}: start partitions at a multiple of its erase block.",
        size(*block),
        figure::times(ratio.value)
    );
    Some(
        FindingBuilder::warning("misalignment", statement)
            .figures([aligned, shifted])
            .note(ratio)
            .note(format!("threshold {PENALTY}x (docs/field/cheats.md#cheats-and-caches)"))
            .with_confidence(ratio.above(PENALTY))
            .done(),
    )
}
