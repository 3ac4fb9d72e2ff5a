//! Wear caused by the run, and the remaining life that the medium reports
//! (docs/field/peers.md#wishes).

use record::units::{Bytes, saturating_sum, significant};
use record::{Cell, Finding, Pattern, Record};

use crate::conclusions::geometry;
use crate::figures::figure;
use crate::finding_builder::FindingBuilder;

/// Bytes written by a run, and an upper limit of the bytes programmed for them.
pub(crate) struct WearEstimate {
    /// Bytes that all cells of the run wrote.
    pub written_bytes: u64,
    /// Upper limit of the programmed bytes; `None` without a rate of sequential writes to compute
    /// it.
    pub programmed_bytes: Option<u64>,
}

impl WearEstimate {
    /// Wear from this record; `None` if nothing was written, and for a hard disk, which does not
    /// wear by writing.
    pub fn of(record: &Record) -> Option<WearEstimate> {
        let written_bytes = record.written_bytes();
        if written_bytes == 0 || record.medium.rotational == Some(true) {
            return None;
        }
        let rate = figure::sustained_write(record).map(|figure| figure.value);
        let unit_bytes = geometry::au_bytes(record);
        let programmed = |rate| {
            saturating_sum(record.cells.iter().map(|cell| programmed_bytes(cell, rate, unit_bytes)))
        };
        Some(WearEstimate { written_bytes, programmed_bytes: rate.map(programmed) })
    }

    /// "wrote 1.2 GB and may have programmed up to 40 GB (write amplification 33x)".
    pub fn text(&self) -> String {
        let wrote = format!("wrote {}", Bytes(self.written_bytes));
        match self.programmed_bytes {
            Some(programmed)
                if programmed > self.written_bytes.saturating_add(self.written_bytes / 4) =>
            {
                format!(
                    "{wrote} and may have programmed up to {} (write amplification {})",
                    Bytes(programmed),
                    crate::figures::figure::times(programmed as f64 / self.written_bytes as f64)
                )
            }
            _ => wrote,
        }
    }
}

/// Upper limit of the bytes that a cell programmed: as many as sequential writes could write in its
/// time, or a whole allocation unit for each write if that is less and the unit is known.
fn programmed_bytes(cell: &Cell, rate_bps: f64, unit_bytes: Option<u64>) -> u64 {
    if cell.written_bytes == 0
        || cell.params.pattern == Some(Pattern::Sequential)
        || cell.params.pattern.is_none()
    {
        return cell.written_bytes;
    }
    let by_time = (cell.elapsed_ns as f64 / 1e9 * rate_bps) as u64;
    let writes = cell
        .params
        .block_bytes
        .filter(|block| *block > 0)
        .map(|block| cell.written_bytes.div_ceil(block));
    let by_units =
        writes.zip(unit_bytes).map_or(u64::MAX, |(writes, unit)| writes.saturating_mul(unit));
    by_time.min(by_units).max(cell.written_bytes)
}

/// "20", "0.031": a share in percent.
fn share(percent: f64) -> String {
    let percent = percent.max(0.0);
    if percent.fract() == 0.0 { format!("{percent}") } else { significant(percent) }
}

/// `wear`: bytes written, most bytes programmed, and the remaining life that the medium reports.
pub(crate) fn conclude(record: &Record) -> Option<Finding> {
    let wear = WearEstimate::of(record)?;
    let whole = record.medium.capacity_bytes.filter(|capacity| *capacity > 0).map(|capacity| {
        let times = wear.programmed_bytes.unwrap_or(wear.written_bytes).max(wear.written_bytes)
            as f64
            / capacity as f64;
        format!("{} times its capacity", significant(times))
    });
    let (before, after) = (
        record.medium.health.clone().unwrap_or_default(),
        record.medium.health_after.clone().unwrap_or_default(),
    );
    let percent = |used: Option<f64>| used.filter(|used| (0.0..1000.0).contains(used));
    let (used_before, used_after) = (percent(before.used_percent), percent(after.used_percent));
    let life = match (used_before, used_after) {
        (Some(before), Some(after)) if after > before => {
            format!(
                " It reports that its used life rose from {} to {} %: {} % is left.",
                share(before),
                share(after),
                share(100.0 - after)
            )
        }
        (Some(_), Some(after)) => {
            format!(
                " It reports {} % of its rated life used, as before the run: {} % is left.",
                share(after),
                share(100.0 - after)
            )
        }
        (Some(before), None) => {
            format!(" It reported {} % of its rated life used before the run.", share(before))
        }
        (None, Some(after)) => {
            format!(
                " It reports {} % of its rated life used: {} % is left.",
                share(after),
                share(100.0 - after)
            )
        }
        (None, None) => " It does not report its remaining life.".to_owned(),
    };
    let share = whole.map(|whole| format!(", {whole}")).unwrap_or_default();
    let counted = after
        .written_bytes
        .zip(before.written_bytes)
        .and_then(|(after, before)| after.checked_sub(before));
    let state = after
        .pre_eol
        .or(before.pre_eol)
        .map(|state| format!("spare blocks: state {state} (1 normal, 2 80 % used, 3 urgent)"));
    let errors = after
        .media_errors
        .zip(before.media_errors)
        .map(|(after, before)| format!("media errors: {before} before, {after} after"));
    Some(
        FindingBuilder::info("wear", format!("This run {}{share}.{life}", wear.text()))
            .note(format!("written by all cells: {}", Bytes(wear.written_bytes)))
            .notes(
                wear.programmed_bytes
                    .map(|bytes| format!("programmed at most: {}, estimated from the time it took (docs/field/allocation-units.md#known-sizes, docs/field/cautions.md#cautions)", Bytes(bytes))),
            )
            .notes(counted.map(|bytes| format!("the medium's own count rose by {}", Bytes(bytes))))
            .notes(state)
            .notes(errors)
            .notes(after.source.or(before.source).map(|source| format!("health from {source}")))
            .done(),
    )
}
