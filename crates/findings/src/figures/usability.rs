//! Usability of cells for a verdict, a rank, a class, advice, and for findings against a medium.
//! This is the only place that decides it: all code that concludes, ranks, shows or publishes a
//! figure asks here.

use std::borrow::Cow;

use record::{Cell, Flag, Record, not_medium_reason};

use crate::figures::genuineness;

pub use crate::figures::cell_usability::ExclusionReason;
pub(crate) use crate::figures::cell_usability::{
    bound, host_stalled, is_impossible, of_any, of_cell,
};

/// Reason why no figure of this cell may be used as a level; `None` if it may.
pub fn exclusion(record: &Record, cell: &Cell) -> Option<ExclusionReason> {
    of_cell(cell).or_else(|| of_run(record))
}

/// Cells with figures that may be used as a level. The rules for the run are evaluated once: a log
/// may have 100,000 cells.
pub(crate) fn cells(record: &Record) -> impl Iterator<Item = &Cell> {
    of_a_medium(record).filter(|cell| of_cell(cell).is_none())
}

/// Cells of a run with figures that may be used at all: all, or none of them.
pub(crate) fn of_a_medium(record: &Record) -> impl Iterator<Item = &Cell> {
    let cells = if of_run(record).is_none() { record.cells.as_slice() } else { &[] };
    cells.iter()
}

/// Reason why no figure of a whole run may be used, ranked or published as a medium's.
pub fn of_run(record: &Record) -> Option<ExclusionReason> {
    if not_medium_reason(&record.flags, &record.cells).is_some() {
        return Some(ExclusionReason::NoMedium);
    }
    genuineness::is_fake(record).then_some(ExclusionReason::Fake)
}

/// Reason why this cell may not be used against the medium: an adverse finding needs more than
/// others.
pub fn adverse_exclusion(record: &Record, cell: &Cell) -> Option<ExclusionReason> {
    exclusion(record, cell)
        .or_else(|| host_stalled(cell))
        .or_else(|| is_host_cached(record).then_some(ExclusionReason::HostCached))
}

/// Reason why no figure of a record may stand beside those of other media.
pub(crate) fn of_record(record: &Record) -> Option<ExclusionReason> {
    let is_cached = record.flags.contains(&Flag::HostCached);
    of_run(record).or_else(|| is_cached.then_some(ExclusionReason::HostCached))
}

/// Cells that may be used against the medium.
pub(crate) fn adverse_cells(record: &Record) -> impl Iterator<Item = &Cell> {
    let is_cached = is_host_cached(record);
    cells(record).filter(move |cell| !is_cached && host_stalled(cell).is_none())
}

/// True if the device was in the host's page cache.
pub(crate) fn is_host_cached(record: &Record) -> bool {
    record.flags.contains(&Flag::HostCached)
        || record.cells.iter().any(|cell| cell.flags.contains(&Flag::HostCached))
}

/// The record without the cells with host stalls: findings against a medium are drawn from this.
pub(crate) fn without_host_stalls(record: &Record) -> Cow<'_, Record> {
    if !record.cells.iter().any(|cell| host_stalled(cell).is_some()) {
        return Cow::Borrowed(record);
    }
    let mut quiet = record.clone();
    quiet.cells.retain(|cell| host_stalled(cell).is_none());
    Cow::Owned(quiet)
}

#[cfg(test)]
mod tests {
    use record::collection::HeadlineFigure;

    use super::*;
    use crate::testing::record_in_words;

    const FAKE: &str = "; capacity 512B metrics.type=2 metrics.real_bytes=4GiB";

    /// A card of which each cell has this word, and the record this one.
    fn card(of_record: &str, of_cells: &str) -> Record {
        record_in_words(&format!(
            "{of_record}; random-write 4KiB 700/s {of_cells}; random-write 16KiB 600/s {of_cells}; \
             sequential-write 1MiB 40/s {of_cells}",
        ))
    }

    #[test]
    fn a_figure_that_may_not_be_used_is_used_nowhere() {
        for (of_record, of_cells) in [
            ("", "stop=error"),
            ("", "flag=cached"),
            ("", "flag=transient,bound=at-least"),
            ("flag=memory-filesystem", ""),
            ("", FAKE),
        ] {
            let record = card(of_record, of_cells);
            let case = format!("{of_record} {of_cells}");
            assert!(exclusion(&record, &record.cells[0]).is_some(), "{case}");
            let mut figures = crate::headline(&record).figures.into_keys();
            assert!(figures.all(|figure| figure == HeadlineFigure::WorstStall), "{case}");
            let ranks = crate::compare(&[record.clone(), card("", "")]).ranks;
            assert!(ranks.iter().all(|rank| rank.order.len() <= 1), "{case} is ranked");
            let findings = crate::conclude::conclude(&record);
            let praises = |finding: &&record::Finding| {
                finding.id == "classes" || finding.id.starts_with("advice")
            };
            assert_eq!(findings.iter().find(praises), None, "{case}");
        }
    }
}
