//! `misalignment`, `management-unit`: writes that do not fit the units of the medium
//! (docs/field/allocation-units.md#management-unit).

use record::units::Nanos;
use record::{Cell, Finding, Record, metric, test};

use crate::figure::{self, Ratio, UsableEstimate, size};
use crate::finding_builder::FindingBuilder;

/// Least ratio for a penalty of misaligned writes.
const PENALTY: f64 = 1.3;

/// The findings `misalignment` and `management-unit`.
pub(crate) fn conclude(record: &Record) -> Vec<Finding> {
    [misalignment(record), management_unit(record)].into_iter().flatten().collect()
}

/// IOPS, or bytes per second if there are none.
pub(crate) fn rate(cell: &Cell) -> Option<UsableEstimate<'_>> {
    UsableEstimate::of(cell, metric::IOPS).or_else(|| UsableEstimate::of(cell, metric::BPS))
}

/// The most expensive misaligned writes, compared with aligned ones of the same size.
pub(crate) fn worst_misalignment(record: &Record) -> Option<(u64, Ratio)> {
    misaligned(record)
        .into_iter()
        .map(|(block, _, _, ratio)| (block, ratio))
        .max_by(|a, b| a.1.value.total_cmp(&b.1.value))
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
fn misalignment(record: &Record) -> Option<Finding> {
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
            .note(format!("{ratio}; threshold {PENALTY}x (docs/field/cheats.md#cheats-and-caches)"))
            .with_confidence(ratio.above(PENALTY))
            .done(),
    )
}

/// `management-unit`: the smallest size whose aligned writes are free of a cost that shifted ones
/// have (docs/field/allocation-units.md#management-unit): it covers a whole unit. Medians are used,
/// because merges of allocation units occur irregularly.
fn management_unit(record: &Record) -> Option<Finding> {
    if record.medium.rotational == Some(true) {
        return None;
    }
    let cells = |form: &'static str| {
        figure::cells(record, test::MANAGEMENT_UNIT)
            .filter(move |cell| cell.params.form.as_deref() == Some(form))
    };
    let median = |cell: &Cell| {
        cell.metrics.latency_ns.as_ref().filter(|latency| latency.n >= 16)?.p50.filter(|ns| *ns > 0)
    };
    let mut pairs: Vec<(u64, &Cell, u64, &Cell, u64)> = cells("aligned")
        .filter_map(|aligned| {
            let shifted = cells("misaligned")
                .find(|cell| cell.params.block_bytes == aligned.params.block_bytes)?;
            Some((
                aligned.params.block_bytes?,
                aligned,
                median(aligned)?,
                shifted,
                median(shifted)?,
            ))
        })
        .collect();
    pairs.sort_by_key(|pair| pair.0);
    let dearer = |(_, _, aligned_ns, _, shifted_ns): &&(u64, &Cell, u64, &Cell, u64)| {
        *shifted_ns as f64 >= PENALTY * *aligned_ns as f64
    };
    let (block, aligned, aligned_ns, shifted, shifted_ns) = *pairs.iter().find(dearer)?;
    // If even the smallest size has the penalty, the unit may be smaller.
    let at_most = if pairs.first().is_some_and(|first| first.0 == block) { "at most " } else { "" };
    let statement = format!(
        "It maps data in pieces of {at_most}{}: a write of that size takes {} longer when it is not aligned.",
        size(block),
        Nanos(shifted_ns - aligned_ns)
    );
    let line = |cell: &Cell, ns: u64| format!("{}: median {}", figure::named(cell), Nanos(ns));
    Some(
        FindingBuilder::info("management-unit", statement)
            .note(format!("management_unit_bytes {block}"))
            .note(line(aligned, aligned_ns))
            .note(line(shifted, shifted_ns))
            .note("docs/field/allocation-units.md#management-unit")
            .done(),
    )
}
